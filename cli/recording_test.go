package cli_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"flag"
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/teatest/v2"

	"replan/cli"
	"replan/cli/demo"
	"replan/themes"
	"replan/tui"
	"replan/tui/notify"
)

var record = flag.String("record", "", "write a recording of the demo to this SVG file")

// The test plays the demo at the pace of a person and writes the README's animated
// picture: go test ./cli -run TestRecordDemo -record "$PWD/docs/demo.svg".
func TestRecordDemo(t *testing.T) {
	if *record == "" {
		t.Skip("it only writes a picture, if -record names its file")
	}
	folder := filepath.Join(os.TempDir(), "demo") // the header shows it
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) }) // after the session has ended
	r := openRecorder(t, folder, tea.WindowSizeMsg{Width: 100, Height: 30})
	key := func(text string) tea.KeyPressMsg { return tea.KeyPressMsg{Code: []rune(text)[0], Text: text} }

	r.until("demo-script")
	r.hold(1500 * time.Millisecond)
	r.press(enterKey)
	r.until("step 4 waits")
	r.allow()
	r.until("step 8 waits")
	r.allow()
	r.poster = r.held()
	r.until("✓ done")
	r.hold(3 * time.Second)
	r.press(tabKey)
	r.press(key("t"))
	r.hold(3 * time.Second)
	r.press(escapeKey)
	r.press(key("v"))
	r.hold(3 * time.Second)

	if err := os.WriteFile(*record, r.svg(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// recorder is the demo on a screen whose frames are kept.
type recorder struct {
	*tui.Model
	t       *testing.T
	size    tea.WindowSizeMsg
	program *teatest.TestModel
	lit     string // the key of an open gate that takes keys
	poster  int    // the frame that stands where nothing moves

	mu     sync.Mutex
	news   chan struct{} // closed when a frame is drawn
	frames []recorded
}

// recorded is one frame and how long it stays.
type recorded struct {
	drawn   time.Time
	held    time.Duration // longer than it took until the next
	content string
}

func openRecorder(t *testing.T, folder string, size tea.WindowSizeMsg) *recorder {
	ctx, cancel := context.WithCancel(context.Background())
	d, err := cli.OpenDemo(ctx, folder, 8*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	theme := new(themes.Set).New(themes.Auto, true, themes.Mode{})
	r := &recorder{
		t: t, size: size, news: make(chan struct{}), lit: theme.Styles.Key.Bold(true).Render("y") + " ",
		Model: tui.New(d.Session(), tui.Options{Intro: demo.Intro("enter"), Suggestions: []string{demo.Goal}, Version: "demo", Notify: notify.Off}),
	}
	r.program = teatest.NewTestModel(t, r, teatest.WithInitialTermSize(size.Width, size.Height))
	var feeding sync.WaitGroup
	feeding.Go(func() { tui.Forward(ctx, d.Session().Events(), r.program.Send) })
	t.Cleanup(func() {
		cancel()
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		feeding.Wait()
		if err := r.program.Quit(); err != nil {
			t.Error(err)
		}
		r.program.WaitFinished(t, teatest.WithFinalTimeout(longest))
	})
	return r
}

// Update drops what the terminal of the test says about colors.
func (r *recorder) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if _, ok := msg.(tea.ColorProfileMsg); ok {
		return r, nil
	}
	_, cmd := r.Model.Update(msg)
	return r, cmd
}

// View draws the screen and keeps the frame.
func (r *recorder) View() tea.View {
	v := r.Model.View()
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.frames); n == 0 || r.frames[n-1].content != v.Content {
		r.frames = append(r.frames, recorded{drawn: time.Now(), content: v.Content})
	}
	close(r.news)
	r.news = make(chan struct{})
	return v
}

// until waits for a frame with the text, styled or not.
func (r *recorder) until(text string) {
	r.t.Helper()
	limit := time.NewTimer(longest)
	defer limit.Stop()
	for {
		r.mu.Lock()
		news, frame := r.news, ""
		if n := len(r.frames); n > 0 {
			frame = r.frames[n-1].content
		}
		r.mu.Unlock()
		if strings.Contains(frame, text) || strings.Contains(ansi.Strip(frame), text) {
			return
		}
		select {
		case <-news:
		case <-limit.C:
			r.t.Fatalf("timed out: %q; the screen shows\n%s", text, plainText(frame))
		}
	}
}

// press presses a key and waits for the next frame.
func (r *recorder) press(key tea.KeyPressMsg) {
	r.mu.Lock()
	news := r.news
	r.mu.Unlock()
	r.program.Send(key)
	<-news
}

// allow waits until the gate takes keys, gives time to read it, and opens it.
func (r *recorder) allow() {
	r.until(r.lit)
	r.hold(3 * time.Second)
	r.press(tea.KeyPressMsg{Code: 'y', Text: "y"})
}

// held returns the index of the frame that was held last.
func (r *recorder) held() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := len(r.frames) - 1; i > 0; i-- {
		if r.frames[i].held > 0 {
			return i
		}
	}
	return 0
}

// hold shows the newest frame for that long.
func (r *recorder) hold(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.frames[len(r.frames)-1].held = d
}

// The cells of the picture, in pixels, and its background where a cell has none.
const (
	cellWidth, cellHeight = 8.4, 16.5
	background            = "#16161e"
	foreground            = "#c0caf5"

	shortestFrame = 150 * time.Millisecond
	longestFrame  = 600 * time.Millisecond // without hold: a compiler is not worth watching
)

// svg returns the recording. Each row of the screen is drawn once for each text that
// it had, and shown while it had it.
func (r *recorder) svg() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	starts, total := r.times()
	ms := func(d time.Duration) int64 { return d.Milliseconds() }
	rows := map[string][][2]int64{} // SVG of a row → when it is shown
	var order []string
	posters := map[string]bool{}
	for i, f := range r.frames {
		if starts[i] < 0 {
			continue
		}
		end := total
		for j := i + 1; j < len(starts); j++ {
			if starts[j] >= 0 {
				end = starts[j]
				break
			}
		}
		screen := uv.NewScreenBuffer(r.size.Width, r.size.Height)
		uv.NewStyledString(f.content).Draw(screen, screen.Bounds())
		for y, line := range screen.Lines {
			text := svgRow(line, y)
			if text == "" {
				continue
			}
			if _, known := rows[text]; !known {
				order = append(order, text)
			}
			shown := rows[text]
			if n := len(shown); n > 0 && shown[n-1][1] == ms(starts[i]) {
				shown[n-1][1] = ms(end)
			} else {
				shown = append(shown, [2]int64{ms(starts[i]), ms(end)})
			}
			rows[text] = shown
			posters[text] = posters[text] || i == r.poster
		}
	}
	return r.picture(order, rows, posters, ms(total))
}

// times returns when each frame starts, -1 for one that is left out because others
// follow at once, and the length of the recording.
func (r *recorder) times() ([]time.Duration, time.Duration) {
	starts := make([]time.Duration, len(r.frames))
	var now, kept time.Duration
	for i, f := range r.frames {
		lasts := longestFrame
		if i+1 < len(r.frames) {
			lasts = min(lasts, r.frames[i+1].drawn.Sub(f.drawn))
		}
		if starts[i] = now; i == 0 || i == r.poster || now-kept >= shortestFrame || max(lasts, f.held) >= shortestFrame {
			kept = now
		} else {
			starts[i] = -1
		}
		now += max(lasts, f.held)
	}
	return starts, now
}

// picture joins the rows with the animations that show them.
func (r *recorder) picture(order []string, rows map[string][][2]int64, posters map[string]bool, total int64) []byte {
	var body, style bytes.Buffer
	classes := map[string]string{}
	for _, text := range order {
		shown := rows[text]
		if len(shown) == 1 && shown[0] == [2]int64{0, total} {
			body.WriteString(text + "\n")
			continue
		}
		var frames strings.Builder
		at := func(ms int64, visible bool) {
			fmt.Fprintf(&frames, "%.3f%%{visibility:%s}", 100*float64(ms)/float64(total), map[bool]string{true: "visible", false: "hidden"}[visible])
		}
		if shown[0][0] > 0 {
			at(0, false)
		}
		for _, s := range shown {
			at(s[0], true)
			if s[1] < total {
				at(s[1], false)
			}
		}
		class, known := classes[frames.String()]
		if !known {
			class = fmt.Sprintf("a%d", len(classes))
			classes[frames.String()] = class
			fmt.Fprintf(&style, "@keyframes %s{%s}.%s{animation:%s %dms step-end infinite}\n", class, frames.String(), class, class, total)
		}
		hidden := ` visibility="hidden"`
		if posters[text] {
			hidden = ""
		}
		fmt.Fprintf(&body, "<g class=%q%s>%s</g>\n", class, hidden, text)
	}
	width, height := float64(r.size.Width)*cellWidth, float64(r.size.Height)*cellHeight
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="-12 -12 %.0f %.0f" font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" fill="%s">
<title>The demo of replan on a terminal of %d by %d cells</title>
<style>text{white-space:pre}
%s@media (prefers-reduced-motion: reduce){g{animation:none!important}}</style>
<rect x="-12" y="-12" width="100%%" height="100%%" rx="8" fill="%s"/>
%s</svg>
`, width+24, height+24, width+24, height+24, foreground, r.size.Width, r.size.Height, style.String(), background, body.String())
}

// svgRow draws one row of the screen: runs of cells that look the same.
func svgRow(line uv.Line, y int) string {
	var b strings.Builder
	x := 0
	for i := 0; i < len(line); {
		j, width := i, 0
		var text strings.Builder
		for ; j < len(line) && line[j].Style.Equal(&line[i].Style); j++ {
			text.WriteString(line[j].Content)
			width += line[j].Width
		}
		b.WriteString(svgRun(&line[i].Style, text.String(), x, y, width))
		x, i = x+width, j
	}
	return b.String()
}

// svgRun draws cells that look the same.
func svgRun(s *uv.Style, text string, x, y, width int) string {
	var b strings.Builder
	fg, bg := hex(s.Fg), hex(s.Bg)
	if s.Attrs&uv.AttrReverse != 0 {
		fg, bg = background, foreground
		if s.Fg != nil {
			bg = hex(s.Fg)
		}
	}
	left, top := float64(x)*cellWidth, float64(y)*cellHeight
	if bg != "" {
		fmt.Fprintf(&b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`, left, top, float64(width)*cellWidth, cellHeight, bg)
	}
	if strings.TrimSpace(text) == "" && s.Attrs&uv.AttrStrikethrough == 0 {
		return b.String()
	}
	fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" textLength="%.1f"`, left, top+12.5, float64(width)*cellWidth)
	for _, a := range []struct {
		name, value string
		holds       bool
	}{
		{"fill", fg, fg != ""},
		{"font-weight", "bold", s.Attrs&uv.AttrBold != 0},
		{"font-style", "italic", s.Attrs&uv.AttrItalic != 0},
		{"opacity", "0.6", s.Attrs&uv.AttrFaint != 0},
		{"text-decoration", "line-through", s.Attrs&uv.AttrStrikethrough != 0},
		{"text-decoration", "underline", s.Underline != 0 && s.Attrs&uv.AttrStrikethrough == 0},
	} {
		if a.holds {
			fmt.Fprintf(&b, ` %s="%s"`, a.name, a.value)
		}
	}
	b.WriteString(">")
	_ = xml.EscapeText(&b, []byte(text)) // a builder never fails
	b.WriteString("</text>")
	return b.String()
}

// hex returns a color as SVG writes it, "" for none.
func hex(c color.Color) string {
	if c == nil {
		return ""
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
