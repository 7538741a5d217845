package tui_test

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/agent/event"
	"replan/tui"
	"replan/tui/notify"
	"replan/tui/panetest"
)

// terminal is a screen in a terminal with a known environment and time. It keeps
// the sequences that are sent outside of frames.
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

func (term *terminal) deliver(st *story) { term.update(tui.Batch(st.Events, st.Now)) }

// notifications returns the sequences sent since, without the request for focus
// reports.
func (term *terminal) notifications() string {
	var out []string
	for _, raw := range term.raw {
		if raw != ansi.RequestModeFocusEvent {
			out = append(out, raw)
		}
	}
	term.raw = nil
	return strings.Join(out, "")
}

func TestGateNotifiesOnlyUnfocusedTerminal(t *testing.T) {
	for name, c := range map[string]struct {
		focus tea.Msg
		want  string
	}{
		"unfocused": {tea.BlurMsg{}, "\a\x1b]9;replan: Gate fs.patch step 4\a"},
		"focused":   {tea.FocusMsg{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			term := inTerminal(t, tui.Options{}, "TERM=xterm-256color")
			term.update(c.focus)
			term.deliver(newStory().Gated())
			if got := term.notifications(); got != c.want {
				t.Errorf("sent %q, want %q", got, c.want)
			}
		})
	}
}

func TestEndOfRunNotifiesOnce(t *testing.T) {
	st := newStory().Answering()
	term := inTerminal(t, tui.Options{}, "TERM=xterm-256color")
	term.deliver(st)
	term.update(tea.BlurMsg{})
	end := newStory().Finished()
	term.update(tui.Batch(end.Events[len(st.Events):], end.Now))
	if got, want := term.notifications(), "\a\x1b]9;replan: completed: "+panetest.StoryGoal+"\a"; got != want {
		t.Errorf("sent %q, want %q", got, want)
	}
	term = inTerminal(t, tui.Options{}, "TERM=xterm-256color")
	st = newStory().Tested()
	term.deliver(st)
	term.update(tea.BlurMsg{})
	end = newStory().Stopped()
	term.update(tui.Batch(end.Events[len(st.Events):], end.Now))
	if got := term.notifications(); got != "" {
		t.Errorf("after a stop by the user it sends %q", got)
	}
}

func TestBurstNotifiesOnce(t *testing.T) {
	term := inTerminal(t, tui.Options{}, "TERM=xterm-256color")
	term.update(tea.BlurMsg{})
	st := newStory().Crowded()
	term.deliver(st)
	if got, want := term.notifications(), "\a\x1b]9;replan: 5 questions wait: Gate fs.patch step 2\a"; got != want {
		t.Errorf("sent %q, want %q", got, want)
	}
	term.now = term.now.Add(2 * time.Second)
	late := more(st)
	term.update(tui.Batch(late.Run(panetest.Patching("1", "auth/late.go", panetest.PatchRule)).Events, st.Now))
	if got := term.notifications(); got != "" {
		t.Errorf("two seconds later it sends %q", got)
	}
	term.now = term.now.Add(5 * time.Second)
	later := more(late)
	term.update(tui.Batch(later.Run(event.GateResolved{Gate: "2.1.1", Decision: event.Edit}, event.GateRequested{Gate: "2.1.1e1", Step: "2", Tool: "fs.patch", Rule: panetest.PatchRule}).Events, st.Now))
	if got := term.notifications(); got == "" {
		t.Error("a gate long after the burst sends nothing")
	}
}

func TestBellWaitsForIdleWithoutFocusReports(t *testing.T) {
	term := inTerminal(t, tui.Options{}, "TERM=tmux", "TMUX=x")
	term.now = term.now.Add(time.Minute)
	term.update(letters("x")[0])
	term.now = term.now.Add(3 * time.Second)
	term.deliver(newStory().Gated())
	if got := term.notifications(); got != "" {
		t.Fatalf("while the user types it sends %q", got)
	}
	term.now = term.now.Add(7 * time.Second)
	term.update(term.m.Idle())
	if got := term.notifications(); got != "\a" {
		t.Errorf("when the keyboard is idle it sends %q", got)
	}

	term = inTerminal(t, tui.Options{}, "TERM=tmux", "TMUX=x")
	term.deliver(newStory().Gated())
	term.now = term.now.Add(7 * time.Second)
	term.update(letters("j")[0]) // whoever presses it has seen the gate
	term.now = term.now.Add(3 * time.Second)
	term.update(term.m.Idle())
	if got := term.notifications(); got != "" {
		t.Errorf("while the user reads the gate it sends %q", got)
	}

	term = inTerminal(t, tui.Options{}, "TERM=tmux", "TMUX=x")
	term.now = term.now.Add(time.Hour)
	term.deliver(newStory().Finished())
	if got := term.notifications(); got != "" {
		t.Errorf("at the end of a run it sends %q", got)
	}
	term.deliver(newStory().Gated())
	term.notifications()
}

func TestFocusReportsAreOffWithNotifications(t *testing.T) {
	for mode, want := range map[notify.Mode]bool{"": true, notify.Bell: true, notify.Off: false} {
		if got := open(t, tui.Options{Notify: mode}, 80, 24).m.View().ReportFocus; got != want {
			t.Errorf("mode %q: got focus reports %v", mode, got)
		}
	}
}

func TestReplaySendsNoNotification(t *testing.T) {
	term := inTerminal(t, tui.Options{Replay: true}, "TERM=xterm")
	term.update(tea.BlurMsg{})
	term.deliver(newStory().Finished())
	if got := term.notifications(); got != "" {
		t.Errorf("sent %q", got)
	}
}
