package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"
	"github.com/charmbracelet/x/exp/teatest/v2"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/cli"
	"replan/cli/demo"
	"replan/themes"
	"replan/tui"
	"replan/tui/draw"
	"replan/tui/notify"
)

// longest limits waits for something that may never happen.
const longest = 2 * time.Minute

// The test plays the whole demo with the real model server, tools, tests, gates,
// session and screen. Only times in the events are fixed, before the screen
// applies them.
func TestDemoStory(t *testing.T) {
	for _, size := range []tea.WindowSizeMsg{{Width: 120, Height: 36}, {Width: 80, Height: 24}, {Width: 40, Height: 12}} {
		t.Run(fmt.Sprintf("%dx%d", size.Width, size.Height), func(t *testing.T) {
			if testing.Short() && size.Width != 120 {
				t.Skip("repeats the story at another size")
			}
			t.Setenv("GOGC", lessCollection) // of the go command
			if size.Width != 120 {
				t.Setenv("GOFLAGS", "-vet=off -ldflags=-w") // one size tests it with go vet, as users do
			}
			s := openStory(t, size)
			s.until("the model and the tools are known", func() bool { return s.known })
			s.golden("opened")

			s.press(enterKey)
			s.untilGate("4")
			s.golden("first-gate")
			s.press(escapeKey)
			s.golden("first-gate-away")
			s.press(tabKey)
			s.golden("first-gate-plan")
			s.openGate()

			s.untilGate("8")
			s.golden("second-gate")
			if size.Width == 120 {
				s.styled("second-gate-styled")
			}
			s.press(escapeKey)
			small := size.Height == 12
			if small {
				// How far the list has scrolled depends on the frames that were drawn
				// while the plan ran: go to the first step and back to the gate.
				s.press(tea.KeyPressMsg{Code: 'g', Text: "g"}, tea.KeyPressMsg{Code: 'a', Text: "a"})
			}
			s.golden("second-gate-plan")
			if small {
				s.press(tea.KeyPressMsg{Code: 'f', Text: "f"})
			}
			s.wantsStyled("a step that the revision took out is struck through", s.theme.Styles.Struck.Render("Test slug"))
			s.wantsStyled("one that it added is marked", s.theme.Styles.Added.Render(s.theme.Glyphs.Added+" "))
			s.openGate()

			s.until("the answer is there", func() bool { return s.replied })
			s.press(backTabKey)
			s.golden("answer")
			s.press(tabKey)
			s.golden("answer-plan")
			s.press(tabKey)
			s.golden("answer-step")
		})
	}
}

var (
	enterKey   = tea.KeyPressMsg{Code: tea.KeyEnter}
	escapeKey  = tea.KeyPressMsg{Code: tea.KeyEscape}
	tabKey     = tea.KeyPressMsg{Code: tea.KeyTab}
	backTabKey = tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift}
)

// story is the demo on a screen of a given size. It wraps the real model for
// teatest and watches it. The fields after mu are guarded by it.
type story struct {
	*tui.Model
	t       *testing.T
	size    tea.WindowSizeMsg
	theme   themes.Theme
	program *teatest.TestModel
	feed    *feed

	mu      sync.Mutex
	news    chan struct{} // closed when a frame is drawn
	frame   string        // the newest frame
	synced  int           // the newest sync that the frame reflects
	syncs   int           // number of syncs sent
	folded  int           // number of events in the frame
	run     agent.Run
	known   bool // the session has reported its model and tools
	replied bool
	model   string
	ends    []event.Status // of the runs
}

// Messages that tell the watcher what a frame reflects: a number of events, or
// everything sent before.
type (
	foldedMsg int
	syncMsg   int
)

// openStory opens the demo. What is typed for the user is the goal of the first act if
// no suggestions are given.
func openStory(t *testing.T, size tea.WindowSizeMsg, suggestions ...string) *story {
	if suggestions == nil {
		suggestions = []string{demo.Goal}
	}
	ctx, cancel := context.WithCancel(context.Background())
	d, err := cli.OpenDemo(ctx, t.TempDir(), 0)
	if err != nil {
		t.Fatal(err)
	}
	s := &story{
		t: t, size: size, theme: new(themes.Set).New(themes.Auto, true, themes.Mode{}),
		news: make(chan struct{}), feed: newFeed(d),
		// Notifications are off: their timer would outlive the story.
		Model: tui.New(d.Session(), tui.Options{Intro: demo.Intro("enter"), Suggestions: suggestions, Version: "test", Notify: notify.Off, Pauses: draw.Pauses{Grace: 20 * time.Millisecond, Answer: 20 * time.Millisecond}}),
	}
	s.program = teatest.NewTestModel(t, s, teatest.WithInitialTermSize(size.Width, size.Height))
	var feeding sync.WaitGroup
	feeding.Go(func() { s.feed.relay(d.Session().Events()) })
	feeding.Go(func() {
		tui.Forward(ctx, s.feed.out, func(m tea.Msg) {
			s.program.Send(m)
			s.program.Send(foldedMsg(s.feed.taken()))
		})
	})
	t.Cleanup(func() {
		cancel()
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		feeding.Wait()
		if err := s.program.Quit(); err != nil {
			t.Error(err)
		}
		s.program.WaitFinished(t, teatest.WithFinalTimeout(longest))
	})
	return s
}

// Update handles the watcher's messages and passes all others to the real model.
func (s *story) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.ColorProfileMsg:
		return s, nil // the golden frames use all colors
	case foldedMsg:
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, e := range s.feed.events(s.folded, int(msg)) {
			s.fold(e)
		}
		s.folded = int(msg)
		return s, nil
	case syncMsg:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.synced = int(msg)
		return s, nil
	}
	_, cmd := s.Model.Update(msg)
	return s, cmd
}

// View draws the real model and keeps the frame.
func (s *story) View() tea.View {
	v := s.Model.View()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frame = v.Content
	close(s.news)
	s.news = make(chan struct{})
	return v
}

// fold applies an event that the screen has received.
func (s *story) fold(e event.Event) {
	switch d := e.Data.(type) {
	case session.Status:
		s.known, s.model = s.known || d.Model != "" && d.ContextTokens > 0, string(d.Model)
		return
	case event.ChatReply:
		s.replied = true
		return
	case event.RunCompleted:
		s.ends = append(s.ends, d.Status)
	}
	_, starts := e.Data.(event.RunStarted)
	if starts && s.run.ID != "" {
		s.run = agent.Run{}
	}
	if starts || e.Run == s.run.ID && s.run.ID != "" {
		if err := s.run.Apply(e); err != nil && !e.Data.Kind().Passing() {
			s.t.Errorf("apply event %d: %v", e.Seq, err)
		}
	}
}

// until waits for a frame that meets cond.
func (s *story) until(what string, cond func() bool) {
	s.t.Helper()
	limit := time.NewTimer(longest)
	defer limit.Stop()
	for {
		s.mu.Lock()
		ok, news, frame := cond(), s.news, s.frame
		s.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-news:
		case <-limit.C:
			s.t.Fatalf("timed out: %s; the screen shows\n%s", what, plainText(frame))
		}
	}
}

// press presses keys and waits for the next frame.
func (s *story) press(keys ...tea.KeyPressMsg) {
	s.t.Helper()
	for _, k := range keys {
		s.program.Send(k)
	}
	s.syncs++
	s.program.Send(syncMsg(s.syncs))
	s.until("a frame after the key", func() bool { return s.synced >= s.syncs })
}

// untilGate waits until the gate of the step accepts keys and no other step is
// running.
func (s *story) untilGate(step string) {
	s.t.Helper()
	s.until("the gate of step "+step, func() bool {
		for _, other := range s.run.Steps {
			if other.Status == agent.StepRunning {
				return false
			}
		}
		return len(s.run.Gates) == 1 && s.run.Gates[0].Step == step && s.takesKeys()
	})
}

// takesKeys reports whether the screen shows a gate whose keys are lit. They are
// faint during the grace period.
func (s *story) takesKeys() bool {
	return strings.Contains(s.frame, s.theme.Styles.Key.Bold(true).Render("y")+" ")
}

// openGate brings the gate to the front and allows the call.
func (s *story) openGate() {
	s.t.Helper()
	s.press(tea.KeyPressMsg{Code: 'g', Mod: tea.ModCtrl})
	s.until("the gate takes keys", s.takesKeys)
	s.press(tea.KeyPressMsg{Code: 'y', Text: "y"})
}

// answered sends what is typed, and allows what a gate asks until the run has ended.
func (s *story) answered() {
	s.t.Helper()
	s.mu.Lock()
	ended := len(s.ends)
	s.replied = false
	s.mu.Unlock()
	s.press(enterKey)
	for over := false; !over; {
		s.until("a gate or the answer", func() bool {
			over = s.replied && len(s.ends) > ended
			return over || len(s.run.Gates) > 0 && s.takesKeys()
		})
		if !over {
			s.press(tea.KeyPressMsg{Code: 'y', Text: "y"})
		}
	}
}

// golden compares the text of the screen with a golden file.
func (s *story) golden(name string) {
	s.t.Helper()
	s.mu.Lock()
	frame := s.frame
	s.mu.Unlock()
	s.t.Run(name, func(t *testing.T) {
		lines := strings.Split(ansi.Strip(frame), "\n")
		if len(lines) != s.size.Height {
			t.Errorf("got %d lines, want %d", len(lines), s.size.Height)
		}
		for i, line := range lines {
			if w := ansi.StringWidth(line); w > s.size.Width {
				t.Errorf("line %d is %d cells wide, want at most %d: %q", i+1, w, s.size.Width, line)
			}
		}
		golden.RequireEqual(t, plainText(frame))
	})
}

// styled compares the screen with its colors and attributes with a golden file.
func (s *story) styled(name string) {
	s.t.Helper()
	s.mu.Lock()
	frame := s.frame
	s.mu.Unlock()
	s.t.Run(name, func(t *testing.T) { golden.RequireEqual(t, frame+"\n") })
}

// wantsStyled checks that a styled text is on the screen.
func (s *story) wantsStyled(why, text string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !strings.Contains(s.frame, text) {
		s.t.Errorf("%s: %q is not in\n%s", why, text, s.frame)
	}
}

// plainText returns a frame without styles and trailing blanks.
func plainText(frame string) string {
	lines := strings.Split(ansi.Strip(frame), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// feed passes a session's events to the screen and counts them. It replaces
// times and temporary paths by fixed ones, so that the screen is the same in
// every run.
type feed struct {
	out    chan event.Event
	steady *strings.Replacer
	began  time.Time // start of the run
	now    time.Time

	mu   sync.Mutex
	sent []event.Event
}

// A run's events are one second apart, and every measured duration is the same.
const (
	tickOfStory = time.Second
	measured    = `"${1}ms":300`
)

var (
	measuredMS  = regexp.MustCompile(`"(duration_)?ms":\d+`)
	testSeconds = regexp.MustCompile(`\d+(\.\d{2,3})s\b`) // as go test writes them
)

func newFeed(d *cli.DemoSession) *feed {
	return &feed{
		out:    make(chan event.Event, 1<<16), // more than the story has, so that sends never block
		steady: strings.NewReplacer(d.Workspace(), "/src/pages"),
		now:    time.Date(2026, 11, 21, 11, 42, 0, 0, time.UTC),
	}
}

// relay passes on a session's events until it ends.
func (f *feed) relay(events <-chan event.Event) {
	defer close(f.out)
	for e := range events {
		e = f.still(e)
		f.mu.Lock()
		f.sent = append(f.sent, e)
		f.out <- e
		f.mu.Unlock()
	}
}

// taken returns the number of events that the screen has received.
func (f *feed) taken() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.sent) - len(f.out)
}

// events returns a range of the sent events.
func (f *feed) events(from, to int) []event.Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sent[from:to:to]
}

// still returns the event with the fixed values.
func (f *feed) still(e event.Event) event.Event {
	line, err := e.MarshalJSON()
	if err != nil {
		panic(fmt.Sprintf("marshal an event of the session: %v", err))
	}
	text := measuredMS.ReplaceAllString(f.steady.Replace(string(line)), measured)
	text = testSeconds.ReplaceAllStringFunc(text, func(s string) string {
		_, decimals, _ := strings.Cut(s, ".")
		return "0." + strings.Repeat("0", len(decimals)-len("s")) + "s"
	})
	original := e.Data
	if err := e.UnmarshalJSON([]byte(text)); err != nil {
		panic(fmt.Sprintf("unmarshal an event of the session: %v", err))
	}
	if strings.HasPrefix(string(original.Kind()), "session.") {
		e.Data = reread(original, []byte(text))
	}
	if !e.Data.Kind().Passing() {
		f.now = f.now.Add(tickOfStory)
	}
	e.Time = f.now
	switch d := e.Data.(type) {
	case event.RunStarted:
		f.began = f.now
	case event.RunCompleted:
		d.DurationMS = f.now.Sub(f.began).Milliseconds()
		e.Data = d
	}
	return e
}

// reread decodes an event about the session from its line, because the decoder of
// events knows only those of runs.
func reread(original event.Data, line []byte) event.Data {
	envelope := struct {
		Data any `json:"data"`
	}{reflect.New(reflect.TypeOf(original)).Interface()}
	if err := json.Unmarshal(line, &envelope); err != nil {
		panic(fmt.Sprintf("unmarshal %s: %v", original.Kind(), err))
	}
	return reflect.ValueOf(envelope.Data).Elem().Interface().(event.Data)
}
