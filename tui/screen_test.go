package tui_test

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/testgarbage"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/themes"
	"replan/tui"
	"replan/tui/draw"
	"replan/tui/panetest"
)

func TestMain(m *testing.M) {
	testgarbage.CollectLess()
	time.Local = time.UTC // for the dates on the screen
	goleak.VerifyTestMain(m, endsByItself()...)
}

// fakeSession takes commands and has no events of its own.
type fakeSession struct {
	mu     sync.Mutex
	sent   []any // commands and queries
	events chan event.Event
	got    chan struct{} // one for each command
	file   func(args map[string]any) (plan.FileChange, error)
	can    session.Abilities
}

func newFakeSession() *fakeSession {
	return &fakeSession{events: make(chan event.Event, 4096), got: make(chan struct{}, 4096)}
}

func (f *fakeSession) Events() <-chan event.Event { return f.events }

func (f *fakeSession) Send(c session.Command) { f.note(c) }

func (f *fakeSession) Abilities() session.Abilities { return f.can }

func (f *fakeSession) note(sent any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent = append(f.sent, sent)
	f.got <- struct{}{}
}

func (f *fakeSession) commands() []any {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]any{}, f.sent...)
}

// asks is a query that the screen made. A fakeSession does not answer it: tests do,
// by the answers of a story.
type asks string

func (f *fakeSession) Runs(context.Context) ([]agent.Summary, error) {
	f.note(asks("runs"))
	return nil, session.ErrClosed
}

func (f *fakeSession) Journal(_ context.Context, run string) ([]event.Event, error) {
	f.note(asks("journal " + run))
	return nil, session.ErrClosed
}

func (f *fakeSession) Conversations(context.Context) ([]session.Conversation, error) {
	f.note(asks("conversations"))
	return nil, session.ErrClosed
}

func (f *fakeSession) Models(context.Context) (session.Models, error) {
	f.note(asks("models"))
	return session.Models{}, session.ErrClosed
}

func (f *fakeSession) ServerLog(_ context.Context, server string, after int64) (session.ServerLog, error) {
	f.note(asks(fmt.Sprintf("log %s %d", server, after)))
	return session.ServerLog{}, session.ErrClosed
}

func (f *fakeSession) Servers(context.Context) (session.Servers, error) {
	f.note(asks("servers"))
	return session.Servers{}, session.ErrClosed
}

func (f *fakeSession) Settings(context.Context) (session.Settings, error) {
	f.note(asks("settings"))
	return session.Settings{}, session.ErrClosed
}

func (f *fakeSession) Completions(_ context.Context, of session.Completing) (session.Completions, error) {
	f.note(asks("completions " + string(of)))
	return session.Completions{}, session.ErrClosed
}

func (f *fakeSession) PreviewCall(_ context.Context, _, gate string, args map[string]any) (plan.ToolPreview, error) {
	f.note(asks("file of " + gate))
	if f.file == nil {
		return plan.ToolPreview{}, nil
	}
	file, err := f.file(args)
	return plan.ToolPreview{File: &file}, err
}

func (f *fakeSession) FileHead(_ context.Context, name string) (session.FileHead, error) {
	f.note(asks("file " + name))
	return session.FileHead{}, session.ErrClosed
}

func (f *fakeSession) PreviewUndo(_ context.Context, run string) (event.Undo, error) {
	f.note(asks("undo " + run))
	return event.Undo{}, session.ErrClosed
}

func (f *fakeSession) PreviewRedo(_ context.Context, run string) (event.Undo, error) {
	f.note(asks("redo " + run))
	return event.Undo{}, session.ErrClosed
}

const intro = "**replan** plans your goal and runs the plan beside this chat.\n\n- `tab` goes to the plan\n- `?` shows every key"

// screen drives a model like Bubble Tea, but waits for nothing.
type screen struct {
	t       *testing.T
	m       *tui.Model
	session *fakeSession
}

// shortPauses end at once, and answers wait for no other letter.
var shortPauses = draw.Pauses{Grace: time.Nanosecond, Answer: -1, Check: time.Nanosecond, Toast: time.Nanosecond, NextToast: time.Nanosecond}

func open(t *testing.T, o tui.Options, width, height int) *screen {
	t.Helper()
	return openOn(t, newFakeSession(), o, width, height)
}

// openOn opens the screen of a session.
func openOn(t *testing.T, f *fakeSession, o tui.Options, width, height int) *screen {
	t.Helper()
	s := &screen{t: t, session: f}
	o.Pauses = shortPauses
	s.m = tui.New(s.session, o)
	s.m.Update(tea.WindowSizeMsg{Width: width, Height: height})
	return s
}

// show delivers the events of a story in one batch.
func (s *screen) show(st *story) *screen {
	s.m.Update(tui.Batch(st.Events, st.Now))
	s.answered(st)
	s.m.Update(tui.Beat(st.Now))
	return s
}

// answered delivers the answers to the queries of a story.
func (s *screen) answered(st *story) {
	for _, a := range st.Answers {
		s.m.Update(a)
	}
}

// press presses keys and carries out the commands that do not wait for time.
func (s *screen) press(keys ...tea.KeyPressMsg) *screen {
	for _, k := range keys {
		_, cmd := s.m.Update(k)
		s.carryOut(cmd)
		s.rest()
	}
	return s
}

// rest waits until a stage that a key opened takes keys.
func (s *screen) rest() {
	if over := s.m.RestedLater(); over != nil {
		s.m.Update(over)
	}
}

// carryOut runs a command and the commands of its batch or sequence.
func (s *screen) carryOut(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	several := reflect.TypeFor[[]tea.Cmd]()
	got := cmd()
	if tui.IsPreviewed(got) {
		_, cmd = s.m.Update(got)
		s.carryOut(cmd)
	}
	if msg := reflect.ValueOf(got); msg.IsValid() && msg.CanConvert(several) {
		for _, c := range msg.Convert(several).Interface().([]tea.Cmd) {
			s.carryOut(c)
		}
	}
}

// text returns the text on the screen, without colors.
func (s *screen) text() string {
	return strings.Join(s.lines(), "\n")
}

func (s *screen) lines() []string {
	lines := strings.Split(ansi.Strip(s.m.View().Content), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

// pane returns what one pane draws, without colors and without its frame.
func (s *screen) pane(name string) string {
	s.t.Helper()
	for _, p := range s.m.Panes() {
		if p.Name == name {
			return panetest.Stripped(p.Lines)
		}
	}
	s.t.Fatalf("the pane %q is not in view", name)
	return ""
}

// panes returns all visible panes, one below the other.
func (s *screen) panes() string {
	var out []string
	for _, p := range s.m.Panes() {
		out = append(out, "["+p.Name+"]\n"+s.pane(p.Name))
	}
	return strings.Join(out, "\n\n")
}

// front returns the dialog in front of the panes, without colors and without
// blank margins, or the panes if there is none. A golden of it changes with the
// dialog only.
func (s *screen) front() string {
	s.t.Helper()
	lines := s.m.Front()
	if lines == nil {
		return s.panes()
	}
	footer := strings.TrimRight(ansi.Strip(lines[len(lines)-1]), " ")
	lines = lines[:len(lines)-1]
	margin := math.MaxInt
	for i, line := range lines {
		lines[i] = strings.TrimRight(ansi.Strip(line), " ")
		if lines[i] != "" {
			margin = min(margin, len(lines[i])-len(strings.TrimLeft(lines[i], " ")))
		}
	}
	for i, line := range lines {
		lines[i] = line[min(margin, len(line)):]
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n") + "\n" + footer
}

func (s *screen) wants(text string) {
	s.t.Helper()
	if !strings.Contains(s.text(), text) {
		s.t.Errorf("%q is not on the screen:\n%s", text, s.text())
	}
}

func (s *screen) lacks(text string) {
	s.t.Helper()
	if strings.Contains(s.text(), text) {
		s.t.Errorf("%q is on the screen:\n%s", text, s.text())
	}
}

var (
	enter     = tea.KeyPressMsg{Code: tea.KeyEnter}
	escape    = tea.KeyPressMsg{Code: tea.KeyEscape}
	tabKey    = tea.KeyPressMsg{Code: tea.KeyTab}
	backTab   = tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift}
	upKey     = tea.KeyPressMsg{Code: tea.KeyUp}
	downKey   = tea.KeyPressMsg{Code: tea.KeyDown}
	backspace = tea.KeyPressMsg{Code: tea.KeyBackspace}
	space     = tea.KeyPressMsg{Code: tea.KeySpace, Text: " "}
	pageUp    = tea.KeyPressMsg{Code: tea.KeyPgUp}
	pageDown  = tea.KeyPressMsg{Code: tea.KeyPgDown}
	leftKey   = tea.KeyPressMsg{Code: tea.KeyLeft}
	rightKey  = tea.KeyPressMsg{Code: tea.KeyRight}
	f1        = tea.KeyPressMsg{Code: tea.KeyF1}
)

var ctrlO, ctrlX = ctrl('o'), ctrl('x')

func ctrl(r rune) tea.KeyPressMsg { return tea.KeyPressMsg{Code: r, Mod: tea.ModCtrl} }

func letters(s string) []tea.KeyPressMsg {
	var keys []tea.KeyPressMsg
	for _, r := range s {
		keys = append(keys, tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	return keys
}

func TestMainViewsAtEverySize(t *testing.T) {
	for _, name := range mainViews {
		for _, size := range stateSizes {
			t.Run(fmt.Sprintf("%s/%dx%d", name, size.w, size.h), func(t *testing.T) {
				golden.RequireEqual(t, inState(t, states[name](), size.w, size.h).text()+"\n")
			})
		}
	}
}

func TestPanesOfOtherStatesAtEverySize(t *testing.T) {
	for _, name := range otherStates() {
		for _, size := range stateSizes {
			t.Run(fmt.Sprintf("%s/%dx%d", name, size.w, size.h), func(t *testing.T) {
				golden.RequireEqual(t, inState(t, states[name](), size.w, size.h).panes()+"\n")
			})
		}
	}
}

// TestHeaderTabsAndFooterOfOtherStates holds what is drawn around the panes that
// have goldens of their own.
func TestHeaderTabsAndFooterOfOtherStates(t *testing.T) {
	var out strings.Builder
	edges := func(name string, st func() *story) {
		for _, size := range stateSizes {
			m := inState(t, st(), size.w, size.h).m
			lines := slices.Insert(m.Edges(), 1, m.Tabs()...)
			fmt.Fprintf(&out, "%s, %dx%d\n%s\n\n", name, size.w, size.h, panetest.Stripped(lines))
		}
	}
	for _, name := range otherStates() {
		edges(name, states[name])
	}
	edges("no model", func() *story { return newStory().Session(panetest.NoModel(prompt.TroubleUnreachable, "")) })
	golden.RequireEqual(t, out.String())
}

func TestPanesOnANarrowScreen(t *testing.T) {
	for _, c := range []struct {
		name string
		w, h int
		keys []tea.KeyPressMsg
	}{
		{"plan 80x24", 80, 24, []tea.KeyPressMsg{escape, tabKey}},
		{"plan 40x12", 40, 12, []tea.KeyPressMsg{escape, tabKey}},
		{"step 80x24", 80, 24, []tea.KeyPressMsg{escape, tabKey, tabKey}},
		{"args 40x12", 40, 12, append([]tea.KeyPressMsg{escape, tabKey, tabKey}, letters("1")...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, tui.Options{Theme: themes.Dark}, c.w, c.h).show(newStory().Revised())
			s.m.Update(s.m.Rested())
			s.press(c.keys...)
			golden.RequireEqual(t, s.front()+"\n")
		})
	}
}

// TestTheMainViewInItsColors draws the main view of a run with a revised plan in
// colors: at four sizes in three palettes, and in ASCII.
func TestTheMainViewInItsColors(t *testing.T) {
	for _, c := range []struct {
		name string
		o    tui.Options
	}{
		{"dark", tui.Options{Theme: themes.Dark}},
		{"light", tui.Options{Theme: themes.Light}},
		{"no color", tui.Options{NoColor: true}},
		{"ascii", tui.Options{ASCII: true, NoColor: true}},
	} {
		for _, size := range []struct{ w, h int }{{200, 50}, {120, 36}, {80, 24}, {40, 12}} {
			t.Run(fmt.Sprintf("%s %dx%d", c.name, size.w, size.h), func(t *testing.T) {
				s := open(t, c.o, size.w, size.h).show(newStory().Tested())
				s.press(tabKey)
				golden.RequireEqual(t, s.m.View().Content+"\n")
			})
		}
	}
}

func TestNoColorOptionEmitsNoColors(t *testing.T) {
	all, names := everyState()
	for _, name := range names {
		s := open(t, tui.Options{NoColor: true, Intro: intro}, 120, 36).show(all[name]())
		for _, code := range []string{"\x1b[38", "\x1b[48", ";38;", ";48;"} {
			if strings.Contains(s.m.View().Content, code) {
				t.Errorf("state %s has the color sequence %q", name, code)
			}
		}
	}
}

func TestASCIIOptionDrawsOnlyASCII(t *testing.T) {
	all, names := everyState()
	for _, name := range names {
		for _, size := range []struct{ w, h int }{{120, 36}, {40, 12}, {10, 3}} {
			s := open(t, tui.Options{ASCII: true, Intro: intro}, size.w, size.h).show(all[name]())
			s.press(f1)
			for _, r := range s.text() {
				if r > 0x7E {
					t.Fatalf("state %s at %v has %q:\n%s", name, size, r, s.text())
				}
			}
			s.press(escape)
			for _, r := range s.text() {
				if r > 0x7E {
					t.Fatalf("state %s at %v has %q:\n%s", name, size, r, s.text())
				}
			}
		}
	}
}

// TestEverySizeIsFilledExactly draws any state at any size, after a few keys.
func TestEverySizeIsFilledExactly(t *testing.T) {
	keys := []tea.KeyPressMsg{enter, escape, tabKey, backTab, upKey, downKey, pageUp, pageDown, f1, ctrl('g'), ctrl('u'), ctrl('j'), altA, ctrlR, ctrl('s'), ctrlO, ctrlX, ctrl('t'), space, leftKey, rightKey, backspace, ctrlF, altY, alt('t'), alt('u')}
	keys = append(keys, letters("jkgGf12345tv?yrnlxospedaAJKu{\"ä世")...)
	all, names := everyState()
	rapid.Check(t, func(r *rapid.T) {
		o := tui.Options{Theme: themes.Dark, Intro: intro, ASCII: rapid.Bool().Draw(r, "ascii")}
		s := &screen{t: t, session: newFakeSession()}
		s.m = tui.New(s.session, o)
		st := all[rapid.SampledFrom(names).Draw(r, "state")]()
		s.m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
		s.m.Update(tui.Batch(st.Events, st.Now))
		s.m.Update(s.m.Rested())
		s.m.Update(s.m.ReviewRested())
		for range rapid.IntRange(0, 8).Draw(r, "turns") {
			s.m.Update(rapid.SampledFrom(keys).Draw(r, "key"))
			if rapid.Bool().Draw(r, "quiet") {
				s.m.Update(s.m.Rested())
				s.m.Update(s.m.ReviewRested())
			}
			w, h := rapid.IntRange(1, 210).Draw(r, "width"), rapid.IntRange(1, 62).Draw(r, "height")
			s.m.Update(tea.WindowSizeMsg{Width: w, Height: h})
			s.m.Update(tui.Beat(st.Now.Add(time.Second)))
			lines := strings.Split(s.m.View().Content, "\n")
			if len(lines) != h {
				r.Fatalf("%dx%d: %d lines\n%s", w, h, len(lines), s.text())
			}
			for i, line := range lines {
				if got := ansi.StringWidth(line); got != w {
					r.Fatalf("%dx%d: line %d is %d cells wide: %q\n%s", w, h, i+1, got, line, s.text())
				}
			}
		}
	})
}
