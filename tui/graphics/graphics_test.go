package graphics

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/kitty"
)

// run runs a command with all that follow from it, and returns what it writes to the
// terminal and the messages that remain.
func run(cmd tea.Cmd) (raw string, msgs []tea.Msg) {
	if cmd == nil {
		return "", nil
	}
	msg := cmd()
	if list := reflect.ValueOf(msg); list.IsValid() && list.Type().ConvertibleTo(reflect.TypeFor[[]tea.Cmd]()) {
		for _, c := range list.Convert(reflect.TypeFor[[]tea.Cmd]()).Interface().([]tea.Cmd) {
			more, rest := run(c)
			raw, msgs = raw+more, append(msgs, rest...)
		}
		return raw, msgs
	}
	if r, ok := msg.(tea.RawMsg); ok {
		return r.Msg.(string), nil
	}
	return "", append(msgs, msg)
}

// drawing is a terminal that has answered the query.
func drawing(t *testing.T) *Terminal {
	t.Helper()
	term := New()
	if raw, _ := run(term.Update(tea.EnvMsg{"TERM=xterm-kitty"})); raw == "" {
		t.Fatal("the terminal is not asked")
	}
	term.Update(answer("OK"))
	return term
}

func answer(text string) tea.Msg {
	return uv.KittyGraphicsEvent{Options: kitty.Options{ID: queryID}, Payload: []byte(text)}
}

// show shows pictures and has them arrive.
func show(term *Terminal, pictures ...Picture) string {
	raw, msgs := run(term.Show(pictures))
	for _, msg := range msgs {
		more, _ := run(term.Update(msg))
		raw += more
	}
	return raw
}

// noise is a picture that PNG cannot make small.
func noise(width, height int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for i := range width * height {
		n := uint32(i) * 2654435761                                                                   //nolint:gosec // any bits
		img.SetRGBA(i%width, i/width, color.RGBA{uint8(n >> 24), uint8(n >> 16), uint8(n >> 8), 255}) //nolint:gosec // as above
	}
	return img
}

func TestOnlyTerminalsThatDrawPlaceholdersAreAsked(t *testing.T) {
	for name, c := range map[string]struct {
		env  tea.EnvMsg
		asks bool
	}{
		"kitty":                {tea.EnvMsg{"TERM=xterm-kitty"}, true},
		"Ghostty":              {tea.EnvMsg{"TERM=xterm-ghostty"}, true},
		"Ghostty as xterm":     {tea.EnvMsg{"TERM=xterm-256color", "TERM_PROGRAM=ghostty"}, true},
		"tmux in kitty":        {tea.EnvMsg{"TERM=tmux-256color", "TMUX=/tmp/t", "KITTY_WINDOW_ID=1"}, false},
		"tmux in Ghostty":      {tea.EnvMsg{"TERM=screen-256color", "TMUX=/tmp/t", "TERM_PROGRAM=ghostty"}, false},
		"Zellij in kitty":      {tea.EnvMsg{"TERM=xterm-kitty", "ZELLIJ=0"}, false},
		"WezTerm":              {tea.EnvMsg{"TERM=xterm-256color", "TERM_PROGRAM=WezTerm"}, false},
		"Konsole":              {tea.EnvMsg{"TERM=xterm-256color", "KONSOLE_VERSION=240800"}, false},
		"iTerm2":               {tea.EnvMsg{"TERM=xterm-256color", "TERM_PROGRAM=iTerm.app"}, false},
		"an unknown terminal":  {tea.EnvMsg{"TERM=xterm-256color"}, false},
		"no environment known": {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			term := New()
			raw, _ := run(term.Update(c.env))
			if (raw != "") != c.asks {
				t.Errorf("sent %q", raw)
			}
			if c.asks && raw != "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\\x1b[16t" {
				t.Errorf("asked %q", raw)
			}
			term.Update(answer("OK"))
			if term.Draws() != c.asks {
				t.Errorf("draws: %v", term.Draws())
			}
		})
	}
}

func TestNothingIsSentUntilTheTerminalAgrees(t *testing.T) {
	p := Picture{Key: "a", Pixels: noise(4, 4), Columns: 1, Rows: 1}
	for name, msg := range map[string]tea.Msg{
		"no answer":         nil,
		"a refusal":         answer("ENOTSUPPORTED"),
		"another's picture": uv.KittyGraphicsEvent{Options: kitty.Options{ID: queryID + 1}, Payload: []byte("OK")},
	} {
		t.Run(name, func(t *testing.T) {
			term := New()
			term.Update(tea.EnvMsg{"TERM=xterm-kitty"})
			term.Update(msg)
			if raw := show(term, p); raw != "" || term.Cells("a") != nil {
				t.Errorf("sent %q", raw)
			}
		})
	}
}

func TestPictureIsSentOnceAndWhole(t *testing.T) {
	term := drawing(t)
	p := Picture{Key: "a", Pixels: noise(64, 48), Columns: 7, Rows: 3}
	raw := show(term, p)
	var encoded strings.Builder
	parts := regexp.MustCompile(`\x1b_G([^;\x1b]*);?([^\x1b]*)\x1b\\`).FindAllStringSubmatch(raw, -1)
	for i, part := range parts {
		if len(part[2]) > 4096 {
			t.Errorf("part %d has %d bytes", i, len(part[2]))
		}
		if !strings.Contains(part[1], "q=2") {
			t.Errorf("part %d lets the terminal answer: %s", i, part[1])
		}
		encoded.WriteString(part[2])
	}
	if len(parts) < 3 || !strings.HasSuffix(raw, "\x1b_Ga=p,U=1,q=2,i=16,p=1,c=7,r=3\x1b\\") {
		t.Errorf("%d parts, the last is %q", len(parts), parts[len(parts)-1][1])
	}
	content, err := base64.StdEncoding.DecodeString(encoded.String())
	if err != nil {
		t.Fatal(err)
	}
	got, err := png.Decode(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []image.Point{{}, {63, 0}, {20, 30}, {63, 47}} {
		if color.RGBAModel.Convert(got.At(at.X, at.Y)) != p.Pixels.RGBAAt(at.X, at.Y) {
			t.Errorf("pixel %v is %v", at, got.At(at.X, at.Y))
		}
	}
	if again := show(term, p); again != "" {
		t.Errorf("sent again: %.80q", again)
	}
}

func TestEveryCellNamesItsPictureAndItsPlace(t *testing.T) {
	for name, method := range map[string]ansi.Method{"by characters": ansi.WcWidth, "by clusters": ansi.GraphemeWidth} {
		t.Run(name, func(t *testing.T) {
			term := drawing(t)
			show(term, Picture{Key: "a", Pixels: noise(4, 4), Columns: 80, Rows: 24})
			screen := uv.NewScreenBuffer(82, 25)
			screen.Method = method
			uv.NewStyledString(strings.Join(term.Cells("a"), "\n")+"|").Draw(screen, screen.Bounds())
			for y := range 24 {
				for x := range 80 {
					cell := screen.CellAt(x, y)
					if want := string([]rune{kitty.Placeholder, kitty.Diacritic(y), kitty.Diacritic(x)}); cell.Content != want || cell.Width != 1 {
						t.Fatalf("cell %d,%d is %+q of width %d", x, y, cell.Content, cell.Width)
					}
					if cell.Style.Fg != ansi.IndexedColor(16) {
						t.Fatalf("cell %d,%d has color %v", x, y, cell.Style.Fg)
					}
				}
			}
			if after := screen.CellAt(80, 23); after.Content != "|" || after.Style.Fg != nil {
				t.Errorf("what follows is %+v", after)
			}
		})
	}
}

func TestPictureIsDrawnOnlyOnceItHasArrived(t *testing.T) {
	term := drawing(t)
	before := term.Version
	_, msgs := run(term.Show([]Picture{{Key: "a", Pixels: noise(4, 4), Columns: 1, Rows: 1}}))
	if term.Cells("a") != nil {
		t.Error("drawn before it was sent")
	}
	term.Update(msgs[0])
	if term.Cells("a") == nil || term.Version == before {
		t.Error("not drawn when it has arrived")
	}
}

func TestPictureThatLeavesTheScreenIsDeleted(t *testing.T) {
	term := drawing(t)
	a, b := Picture{Key: "a", Pixels: noise(4, 4), Columns: 1, Rows: 1}, Picture{Key: "b", Pixels: noise(4, 4), Columns: 1, Rows: 1}
	show(term, a)
	if raw := show(term, b); !strings.HasPrefix(raw, "\x1b_Ga=d,d=I,q=2,i=16\x1b\\") || !strings.Contains(raw, "i=17") {
		t.Errorf("another picture sends %q", raw)
	}
	if term.Cells("a") != nil {
		t.Error("the first is still drawn")
	}
	if raw := show(term); raw != "\x1b_Ga=d,d=I,q=2,i=17\x1b\\" {
		t.Errorf("no picture sends %q", raw)
	}
}

func TestPictureThatArrivesTooLateIsDeleted(t *testing.T) {
	term := drawing(t)
	_, msgs := run(term.Show([]Picture{{Key: "a", Pixels: noise(4, 4), Columns: 1, Rows: 1}}))
	show(term)
	if raw, _ := run(term.Update(msgs[0])); raw != "\x1b_Ga=d,d=I,q=2,i=16\x1b\\" {
		t.Errorf("sent %q", raw)
	}
}

func TestPictureOfAnotherSizeIsOnlyPlacedAnew(t *testing.T) {
	term := drawing(t)
	p := Picture{Key: "a", Pixels: noise(40, 40), Columns: 4, Rows: 2}
	_, msgs := run(term.Show([]Picture{p}))
	p.Columns, p.Rows = 2, 1
	const placed = "\x1b_Ga=p,U=1,q=2,i=16,p=1,c=2,r=1\x1b\\"
	if raw := show(term, p); raw != placed {
		t.Errorf("sent %q", raw)
	}
	if raw, _ := run(term.Update(msgs[0])); raw != placed {
		t.Errorf("the picture arrived with the old size, and this was sent: %q", raw)
	}
	if lines := term.Cells("a"); len(lines) != 1 || ansi.StringWidth(lines[0]) != 2 {
		t.Errorf("drawn as %q", lines)
	}
}

func TestPictureInAnotherResolutionIsSentAnew(t *testing.T) {
	term := drawing(t)
	p := Picture{Key: "a", Pixels: noise(4, 4), Columns: 1, Rows: 1}
	show(term, p)
	p.Pixels = noise(40, 40)
	if raw := show(term, p); !strings.Contains(raw, "f=100") || !strings.Contains(raw, "i=16") {
		t.Errorf("sent %q", raw)
	}
}

func TestSizeOfCellsIsAskedForAfterAResize(t *testing.T) {
	term := drawing(t)
	_, msgs := run(term.Update(tea.WindowSizeMsg{}))
	if raw, _ := run(term.Update(msgs[0])); raw != "\x1b[16t" {
		t.Errorf("sent %q", raw)
	}
	if New().Update(tea.WindowSizeMsg{}) != nil {
		t.Error("asked a terminal that draws no pictures")
	}
}

func TestPicturesAreSentAgainOnceTheTerminalKeepsItsSize(t *testing.T) {
	term := drawing(t)
	show(term, Picture{Key: "a", Pixels: noise(4, 4), Columns: 1, Rows: 1})
	first, last := term.Update(tea.WindowSizeMsg{}), term.Update(tea.WindowSizeMsg{})
	if _, msgs := run(first); len(msgs) != 1 || term.Update(msgs[0]) != nil {
		t.Error("sent while the size still changes")
	}
	_, msgs := run(last)
	if raw, _ := run(term.Update(msgs[0])); !strings.Contains(raw, "a=p,U=1,q=2,i=16") {
		t.Errorf("sent %q", raw)
	}
	if term.Cells("a") == nil {
		t.Error("the picture is not drawn meanwhile")
	}
}

func TestPictureIsNoLargerThanItsPixelsAndItsRoom(t *testing.T) {
	term := drawing(t)
	term.Update(uv.CellSizeEvent{Width: 8, Height: 16})
	for name, c := range map[string]struct{ width, height, columns, rows int }{
		"small": {20, 20, 3, 2},
		"wide":  {1600, 160, 40, 2},
		"high":  {160, 1600, 4, 20},
		"dot":   {1, 1, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := term.Place("a", noise(c.width, c.height), 40, 20)
			if p.Columns != c.columns || p.Rows != c.rows {
				t.Errorf("takes %d×%d cells", p.Columns, p.Rows)
			}
		})
	}
}

func TestProgramEndsAfterItsPicturesAreDeleted(t *testing.T) {
	term := drawing(t)
	if got := term.BeforeQuit(tea.QuitMsg{}, time.Nanosecond); got != (tea.QuitMsg{}) {
		t.Errorf("without pictures: %v", got)
	}
	show(term, Picture{Key: "a", Pixels: noise(4, 4), Columns: 1, Rows: 1})
	if got := term.BeforeQuit(tea.FocusMsg{}, time.Nanosecond); got != (tea.FocusMsg{}) {
		t.Errorf("another message became %v", got)
	}
	raw, msgs := run(func() tea.Msg { return term.BeforeQuit(tea.QuitMsg{}, time.Nanosecond) })
	if raw != "\x1b_Ga=d,d=I,q=2,i=16\x1b\\" || len(msgs) != 1 || msgs[0] != (tea.QuitMsg{}) {
		t.Errorf("sent %q, then %v", raw, msgs)
	}
	if raw := show(term, Picture{Key: "b", Pixels: noise(4, 4), Columns: 1, Rows: 1}); raw != "" {
		t.Errorf("sent after the end: %q", raw)
	}
}
