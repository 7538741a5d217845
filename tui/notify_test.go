package tui_test

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/agent/event"
	"replan/tui"
)

// terminal is a screen in a terminal of which the environment and the time are
// known. What it is sent beside its frames is kept.
type terminal struct {
	*screen
	now time.Time
	raw []string
}

func inTerminal(t *testing.T, o tui.Options, env ...string) *terminal {
	term := &terminal{now: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)}
	o.Now = func() time.Time { return term.now }
	term.screen = open(t, o, 120, 36)
	term.m.OnRaw(func(sequence string) { term.raw = append(term.raw, sequence) })
	term.update(tea.EnvMsg(env))
	return term
}

func (term *terminal) update(msg tea.Msg) { term.m.Update(msg) }

func (term *terminal) told(st *story) { term.update(tui.Batch(st.events, st.now)) }

// calls is what was sent since, but for the question about the focus.
func (term *terminal) calls() string {
	var out []string
	for _, raw := range term.raw {
		if raw != ansi.RequestModeFocusEvent {
			out = append(out, raw)
		}
	}
	term.raw = nil
	return strings.Join(out, "")
}

func TestWhoLooksElsewhereIsCalledForAGate(t *testing.T) {
	for name, c := range map[string]struct {
		env    []string
		notify tui.Notify
		want   string
	}{
		"bell and notification":    {[]string{"TERM=xterm-256color"}, tui.NotifyAuto, "\a\x1b]9;replan: Gate fs.patch step 4\a"},
		"kitty":                    {[]string{"TERM=xterm-kitty"}, "", "\a\x1b]99;i=replan:d=1;replan: Gate fs.patch step 4\a"},
		"foot":                     {[]string{"TERM=foot"}, "", "\a\x1b]777;notify;replan;Gate fs.patch step 4\a"},
		"inside tmux":              {[]string{"TERM=tmux-256color", "TMUX=/tmp/x"}, "", "\a\x1bPtmux;\x1b\x1b]9;replan: Gate fs.patch step 4\a\x1b\\"},
		"a terminal that has none": {[]string{"TERM=linux"}, "", "\a"},
		"bell alone":               {[]string{"TERM=xterm-kitty"}, tui.NotifyBell, "\a"},
		"off":                      {[]string{"TERM=xterm-kitty"}, tui.NotifyOff, ""},
	} {
		t.Run(name, func(t *testing.T) {
			term := inTerminal(t, tui.Options{Notify: c.notify}, c.env...)
			term.update(tea.BlurMsg{})
			term.told(newStory().gated())
			if got := term.calls(); got != c.want {
				t.Errorf("sent %q, want %q", got, c.want)
			}
		})
	}
}

func TestWhoLooksAtTheScreenIsNotCalled(t *testing.T) {
	for name, looks := range map[string]tea.Msg{
		"the focus came back":          tea.FocusMsg{},
		"the terminal reports no loss": tea.ModeReportMsg{Mode: ansi.ModeFocusEvent, Value: ansi.ModeReset},
	} {
		t.Run(name, func(t *testing.T) {
			term := inTerminal(t, tui.Options{}, "TERM=xterm-256color")
			if _, lost := looks.(tea.FocusMsg); lost {
				term.update(tea.BlurMsg{})
			}
			term.update(looks)
			term.now = term.now.Add(time.Minute)
			term.told(newStory().finished())
			term.told(newStory().gated())
			if got := term.calls(); got != "" {
				t.Errorf("sent %q", got)
			}
		})
	}
}

func TestTheEndOfARunCallsOnce(t *testing.T) {
	st := newStory().answering()
	term := inTerminal(t, tui.Options{}, "TERM=xterm-256color")
	term.told(st)
	term.update(tea.BlurMsg{})
	end := newStory().finished()
	term.update(tui.Batch(end.events[len(st.events):], end.now))
	if got, want := term.calls(), "\a\x1b]9;replan: completed: "+storyGoal+"\a"; got != want {
		t.Errorf("sent %q, want %q", got, want)
	}
	term = inTerminal(t, tui.Options{}, "TERM=xterm-256color")
	st = newStory().tested()
	term.told(st)
	term.update(tea.BlurMsg{})
	end = newStory().stopped()
	term.update(tui.Batch(end.events[len(st.events):], end.now))
	if got := term.calls(); got != "" {
		t.Errorf("the run was stopped by the user, who is told %q", got)
	}
}

func TestABurstCallsOnce(t *testing.T) {
	term := inTerminal(t, tui.Options{}, "TERM=xterm-256color")
	term.update(tea.BlurMsg{})
	st := newStory().crowded()
	term.told(st)
	if got, want := term.calls(), "\a\x1b]9;replan: 5 questions wait: Gate fs.patch step 2\a"; got != want {
		t.Errorf("sent %q, want %q", got, want)
	}
	term.now = term.now.Add(2 * time.Second)
	late := more(st)
	term.update(tui.Batch(late.run(patching("1", "auth/late.go", patchRule)).events, st.now))
	if got := term.calls(); got != "" {
		t.Errorf("two seconds later it sends %q", got)
	}
	term.now = term.now.Add(5 * time.Second)
	later := more(late)
	term.update(tui.Batch(later.run(event.GateResolved{Gate: "2.1.1", Decision: event.Edit}, event.GateRequested{Gate: "2.1.1e1", Step: "2", Tool: "fs.patch", Rule: patchRule}).events, st.now))
	if got := term.calls(); got == "" {
		t.Error("what opens long after the burst calls nobody")
	}
}

func TestWhatIsWrittenOutsideEndsNoNotification(t *testing.T) {
	const evil = "fs\a\x1b]0;owned\x07\x1b\\\u009c;title\n"
	for _, term := range []string{"TERM=xterm", "TERM=xterm-kitty", "TERM=foot"} {
		screen := inTerminal(t, tui.Options{}, term)
		screen.update(tea.BlurMsg{})
		st := newStory().gated()
		gate := st.events[len(st.events)-1].Data.(event.GateRequested)
		gate.Tool = evil
		st.events[len(st.events)-1].Data = gate
		screen.told(st)
		got := strings.TrimSuffix(strings.TrimPrefix(screen.calls(), "\a\x1b]"), "\a")
		if got == "" || strings.ContainsAny(got, "\a\x1b\n\u009c") {
			t.Errorf("with %s it sends %q", term, got)
		}
	}
}

func TestWhereTheTerminalSaysNothingOfItsFocusTheBellWaitsForQuiet(t *testing.T) {
	term := inTerminal(t, tui.Options{}, "TERM=tmux", "TMUX=x")
	term.now = term.now.Add(time.Minute)
	term.update(letters("x")[0])
	term.now = term.now.Add(3 * time.Second)
	term.told(newStory().gated())
	if got := term.calls(); got != "" {
		t.Fatalf("somebody types, and it sends %q", got)
	}
	term.now = term.now.Add(7 * time.Second)
	term.update(term.m.Idle())
	if got := term.calls(); got != "\a" {
		t.Errorf("nobody types any more, and it sends %q", got)
	}

	term = inTerminal(t, tui.Options{}, "TERM=tmux", "TMUX=x")
	term.told(newStory().gated())
	term.now = term.now.Add(7 * time.Second)
	term.update(letters("j")[0]) // whoever does that has seen it
	term.now = term.now.Add(3 * time.Second)
	term.update(term.m.Idle())
	if got := term.calls(); got != "" {
		t.Errorf("somebody reads the gate, and it sends %q", got)
	}

	term = inTerminal(t, tui.Options{}, "TERM=tmux", "TMUX=x")
	term.now = term.now.Add(time.Hour)
	term.told(newStory().finished())
	if got := term.calls(); got != "" {
		t.Errorf("for the end of a run it sends %q", got)
	}
	term.told(newStory().gated())
	term.calls()
}

func TestTheTerminalIsAskedForItsFocusOnlyWhereItUnderstands(t *testing.T) {
	for env, want := range map[string]bool{"TERM=xterm-256color": true, "TERM=linux": false, "TERM=dumb": false, "TERM_PROGRAM=Apple_Terminal": false, "TMUX=x": false} {
		term := inTerminal(t, tui.Options{}, env)
		if env == "TMUX=x" {
			term = inTerminal(t, tui.Options{}, env, "TERM=tmux")
		}
		if got := len(term.raw) > 0; got != want {
			t.Errorf("with %s it is asked: %v", env, got)
		}
		if !term.m.View().ReportFocus {
			t.Error("the terminal is not to report its focus")
		}
	}
	if off := open(t, tui.Options{Notify: tui.NotifyOff}, 80, 24); off.m.View().ReportFocus {
		t.Error("the terminal reports its focus for nothing")
	}
}

func TestAReplayCallsNobody(t *testing.T) {
	term := inTerminal(t, tui.Options{Replay: true}, "TERM=xterm")
	term.update(tea.BlurMsg{})
	term.told(newStory().finished())
	if got := term.calls(); got != "" {
		t.Errorf("sent %q", got)
	}
}
