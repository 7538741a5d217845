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
	"go.uber.org/goleak"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/cli"
	"replan/cli/demo"
	"replan/themes"
	"replan/tui"
	"replan/tui/draw"
)

// longest bounds a wait for something that never comes.
const longest = 2 * time.Minute

// The demo's whole story on real parts: its model over HTTP, its tools, its
// tests, its gates, the session and the screen. Only what a clock says is made
// steady, in the events, before the screen folds them.
func TestTheStoryOfTheDemo(t *testing.T) {
	for _, size := range []tea.WindowSizeMsg{{Width: 120, Height: 36}, {Width: 80, Height: 24}, {Width: 40, Height: 12}} {
		t.Run(fmt.Sprintf("%dx%d", size.Width, size.Height), func(t *testing.T) {
			if testing.Short() && size.Width != 120 {
				t.Skip("the same story at another size")
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
			s.golden("second-gate-plan")
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

// story is the demo on a screen of a given size. It is the model that teatest
// drives: the real one, watched. What the watcher knows is guarded by mu.
type story struct {
	*tui.Model
	t       *testing.T
	size    tea.WindowSizeMsg
	theme   themes.Theme
	program *teatest.TestModel
	feed    *feed

	mu      sync.Mutex
	news    chan struct{} // closed when a frame is drawn
	frame   string        // the newest
	synced  int           // the newest sync that a frame was drawn after
	syncs   int           // how many were sent
	folded  int           // events that the frame shows
	run     agent.Run
	known   bool // the status of the session has come, with its model and its tools
	replied bool
}

// The messages by which the watcher learns what a frame shows: so many events,
// or everything that was sent before.
type (
	foldedMsg int
	syncMsg   int
)

// openStory opens the demo.
func openStory(t *testing.T, size tea.WindowSizeMsg) *story {
	leaks := goleak.IgnoreCurrent()
	ctx, cancel := context.WithCancel(context.Background())
	d, err := cli.OpenDemo(ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &story{
		t: t, size: size, theme: themes.New(themes.Auto, true, themes.Mode{}),
		news: make(chan struct{}), feed: newFeed(d),
		// Nobody is called who looks elsewhere: the wait for that outlives the story.
		Model: tui.New(d.Session(), tui.Options{Intro: demo.Intro("enter"), Suggestion: demo.Goal, Version: "test", Notify: tui.NotifyOff, Pauses: draw.Pauses{Grace: 20 * time.Millisecond}}),
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
		goleak.VerifyNone(t, leaks,
			// Neither teatest's wait for an interrupt nor the clock of the
			// highlighter's regular expressions can be stopped.
			goleak.IgnoreAnyFunction("github.com/charmbracelet/x/exp/teatest/v2.NewTestModel.func2"),
			goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock"))
	})
	return s
}

// Update passes messages on to the real model and reads those for the watcher.
func (s *story) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.ColorProfileMsg:
		return s, nil // the pictures are those of a terminal with all colours
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

// View draws the real model and keeps what it drew.
func (s *story) View() tea.View {
	v := s.Model.View()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frame = v.Content
	close(s.news)
	s.news = make(chan struct{})
	return v
}

// fold folds an event that is on the screen by now.
func (s *story) fold(e event.Event) {
	switch d := e.Data.(type) {
	case session.Status:
		s.known = s.known || d.Model != "" && d.ContextTokens > 0
		return
	case event.ChatReply:
		s.replied = true
		return
	}
	if _, starts := e.Data.(event.RunStarted); starts || e.Run == s.run.ID && s.run.ID != "" {
		if err := s.run.Apply(e); err != nil && !e.Data.Kind().Passing() {
			s.t.Errorf("the event %d does not fold: %v", e.Seq, err)
		}
	}
}

// until waits for a frame on which cond holds.
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
			s.t.Fatalf("%s: never on the screen, which shows\n%s", what, plainText(frame))
		}
	}
}

// press presses keys and waits for the frame that follows.
func (s *story) press(keys ...tea.KeyPressMsg) {
	s.t.Helper()
	for _, k := range keys {
		s.program.Send(k)
	}
	s.syncs++
	s.program.Send(syncMsg(s.syncs))
	s.until("what a key does", func() bool { return s.synced >= s.syncs })
}

// untilGate waits until nothing but the gate of that step goes on, and until
// the gate takes keys.
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

// takesKeys reports whether the screen shows a gate whose keys are lit: until
// its time of grace is over they are faint.
func (s *story) takesKeys() bool {
	return strings.Contains(s.frame, s.theme.Styles.Key.Bold(true).Render("y")+" ")
}

// openGate brings the gate back to the front and opens it.
func (s *story) openGate() {
	s.t.Helper()
	s.press(tea.KeyPressMsg{Code: 'g', Mod: tea.ModCtrl})
	s.until("the gate takes keys", s.takesKeys)
	s.press(tea.KeyPressMsg{Code: 'y', Text: "y"})
}

// golden holds the text of the screen.
func (s *story) golden(name string) {
	s.t.Helper()
	s.mu.Lock()
	frame := s.frame
	s.mu.Unlock()
	s.t.Run(name, func(t *testing.T) {
		lines := strings.Split(ansi.Strip(frame), "\n")
		if len(lines) != s.size.Height {
			t.Errorf("%d lines are drawn on a screen of %d", len(lines), s.size.Height)
		}
		for i, line := range lines {
			if w := ansi.StringWidth(line); w > s.size.Width {
				t.Errorf("line %d is %d cells wide on a screen of %d: %q", i+1, w, s.size.Width, line)
			}
		}
		golden.RequireEqual(t, plainText(frame))
	})
}

// styled holds the screen with its colours and attributes.
func (s *story) styled(name string) {
	s.t.Helper()
	s.mu.Lock()
	frame := s.frame
	s.mu.Unlock()
	s.t.Run(name, func(t *testing.T) { golden.RequireEqual(t, frame+"\n") })
}

// wantsStyled holds that a styled text is on the screen.
func (s *story) wantsStyled(why, text string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !strings.Contains(s.frame, text) {
		s.t.Errorf("%s: %q is not in\n%s", why, text, s.frame)
	}
}

// plainText is a frame without styles and without blanks at the ends of lines.
func plainText(frame string) string {
	lines := strings.Split(ansi.Strip(frame), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// feed hands a session's events to the screen, and counts them. What a clock or
// a temporary folder put into them is replaced by what stays the same, so that
// the screen lays out text that is the same in every run.
type feed struct {
	out    chan event.Event
	steady *strings.Replacer
	began  time.Time // of the run
	now    time.Time

	mu   sync.Mutex
	sent []event.Event
}

// A run's events come a second apart, and whatever is measured took so long.
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
		out:    make(chan event.Event, 1<<16), // more than the story has: a send never waits
		steady: strings.NewReplacer(d.Workspace(), "/src/pages"),
		now:    time.Date(2026, 11, 21, 11, 42, 0, 0, time.UTC),
	}
}

// relay hands on what a session says until it ends.
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

// taken is how many events the screen's side has taken out.
func (f *feed) taken() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.sent) - len(f.out)
}

// events is a part of what was sent.
func (f *feed) events(from, to int) []event.Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sent[from:to:to]
}

// still makes an event the same in every run.
func (f *feed) still(e event.Event) event.Event {
	line, err := e.MarshalJSON()
	if err != nil {
		panic(fmt.Sprintf("a session's event cannot be written: %v", err))
	}
	text := measuredMS.ReplaceAllString(f.steady.Replace(string(line)), measured)
	text = testSeconds.ReplaceAllStringFunc(text, func(s string) string {
		_, decimals, _ := strings.Cut(s, ".")
		return "0." + strings.Repeat("0", len(decimals)-len("s")) + "s"
	})
	told := e.Data
	if err := e.UnmarshalJSON([]byte(text)); err != nil {
		panic(fmt.Sprintf("a session's event cannot be read: %v", err))
	}
	if strings.HasPrefix(string(told.Kind()), "session.") {
		e.Data = reread(told, []byte(text))
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

// reread reads what a session reports about itself back from its line: the
// decoder of events knows only what happens in runs.
func reread(told event.Data, line []byte) event.Data {
	envelope := struct {
		Data any `json:"data"`
	}{reflect.New(reflect.TypeOf(told)).Interface()}
	if err := json.Unmarshal(line, &envelope); err != nil {
		panic(fmt.Sprintf("%s cannot be read: %v", told.Kind(), err))
	}
	return reflect.ValueOf(envelope.Data).Elem().Interface().(event.Data)
}
