package notify_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/tui/notify"
)

// terminal records what a notifier sends to a terminal with a known environment.
type terminal struct {
	*notify.Notifier
	now  time.Time
	sent []string
}

func newTerminal(mode notify.Mode, env ...string) *terminal {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	term := &terminal{Notifier: notify.New(mode, now), now: now}
	term.Send = func(sequence any) tea.Cmd {
		term.sent = append(term.sent, fmt.Sprint(sequence))
		return nil
	}
	term.report(tea.EnvMsg(env))
	return term
}

func (term *terminal) report(msg tea.Msg) { term.Update(msg, true, term.now) }

// alerts returns what was sent since, without the query for focus reports.
func (term *terminal) alerts() string {
	var alerts []string
	for _, sequence := range term.sent {
		if sequence != ansi.RequestModeFocusEvent {
			alerts = append(alerts, sequence)
		}
	}
	term.sent = nil
	return strings.Join(alerts, "")
}

func TestEnvironmentSelectsProtocol(t *testing.T) {
	for name, c := range map[string]struct {
		env  []string
		mode notify.Mode
		want string
	}{
		"bell and notification":       {[]string{"TERM=xterm-256color"}, notify.Auto, "\a\x1b]9;replan: Gate\a"},
		"kitty":                       {[]string{"TERM=xterm-kitty"}, "", "\a\x1b]99;i=replan:d=1;replan: Gate\a"},
		"foot":                        {[]string{"TERM=foot"}, "", "\a\x1b]777;notify;replan;Gate\a"},
		"VTE":                         {[]string{"TERM=xterm", "VTE_VERSION=7600"}, "", "\a\x1b]777;notify;replan;Gate\a"},
		"inside tmux":                 {[]string{"TERM=tmux-256color", "TMUX=/tmp/x"}, "", "\a\x1bPtmux;\x1b\x1b]9;replan: Gate\a\x1b\\"},
		"inside screen":               {[]string{"TERM=screen", "STY=1.x"}, "", "\a"},
		"Windows Terminal":            {[]string{"TERM=xterm", "WT_SESSION=x"}, "", "\a"},
		"terminal without a protocol": {[]string{"TERM=linux"}, "", "\a"},
		"bell alone":                  {[]string{"TERM=xterm-kitty"}, notify.Bell, "\a"},
		"off":                         {[]string{"TERM=xterm-kitty"}, notify.Off, ""},
	} {
		t.Run(name, func(t *testing.T) {
			term := newTerminal(c.mode, c.env...)
			term.report(tea.BlurMsg{})
			term.Ask("Gate", term.now)
			if got := term.alerts(); got != c.want {
				t.Errorf("sent %q, want %q", got, c.want)
			}
		})
	}
}

func TestFocusedTerminalGetsNoAlert(t *testing.T) {
	for name, reports := range map[string][]tea.Msg{
		"the focus came back":          {tea.BlurMsg{}, tea.FocusMsg{}},
		"the terminal reports no loss": {tea.ModeReportMsg{Mode: ansi.ModeFocusEvent, Value: ansi.ModeReset}},
	} {
		t.Run(name, func(t *testing.T) {
			term := newTerminal("", "TERM=xterm")
			for _, report := range reports {
				term.report(report)
			}
			term.now = term.now.Add(time.Minute)
			term.Ask("Gate", term.now)
			term.Alert("completed", term.now)
			if got := term.alerts(); got != "" {
				t.Errorf("sent %q", got)
			}
		})
	}
}

func TestBurstAlertsOnce(t *testing.T) {
	term := newTerminal("", "TERM=xterm")
	term.report(tea.BlurMsg{})
	for _, c := range []struct {
		after  time.Duration
		alerts bool
	}{{0, true}, {2 * time.Second, false}, {5 * time.Second, true}} {
		term.now = term.now.Add(c.after)
		term.Ask("Gate", term.now)
		if got := term.alerts(); (got != "") != c.alerts {
			t.Errorf("%v later it sends %q", c.after, got)
		}
	}
}

func TestTextCannotEndNotification(t *testing.T) {
	for _, env := range []string{"TERM=xterm", "TERM=xterm-kitty", "TERM=foot"} {
		term := newTerminal("", env)
		term.report(tea.BlurMsg{})
		term.Ask("fs\a\x1b]0;owned\x07\x1b\\\u009c;title\n", term.now)
		got := strings.TrimSuffix(strings.TrimPrefix(term.alerts(), "\a\x1b]"), "\a")
		if got == "" || strings.ContainsAny(got, "\a\x1b\n\u009c") {
			t.Errorf("with %s it sends %q", env, got)
		}
	}
}

func TestBellWaitsForIdleKeyboardWithoutFocusReports(t *testing.T) {
	term := newTerminal("", "TERM=tmux", "TMUX=x")
	term.now = term.now.Add(time.Minute)
	term.KeyPressed(term.now)
	term.now = term.now.Add(3 * time.Second)
	term.Ask("Gate", term.now)
	if got := term.alerts(); got != "" {
		t.Fatalf("while the user types it sends %q", got)
	}
	term.now = term.now.Add(7 * time.Second)
	term.Update(term.Idle(), false, term.now)
	if got := term.alerts(); got != "" {
		t.Errorf("after the answer it sends %q", got)
	}
	term.report(term.Idle())
	if got := term.alerts(); got != "\a" {
		t.Errorf("when the keyboard is idle it sends %q", got)
	}
}

func TestFocusReportsAreRequestedOnlyIfSupported(t *testing.T) {
	for env, want := range map[string]bool{
		"TERM=xterm-256color": true, "TERM=linux": false, "TERM=dumb": false,
		"TERM_PROGRAM=Apple_Terminal": false, "TERM=tmux TMUX=x": false, "TERM=screen STY=1.x": false,
	} {
		if got := len(newTerminal("", strings.Fields(env)...).sent) > 0; got != want {
			t.Errorf("with %s: got a request %v", env, got)
		}
	}
	if sent := newTerminal(notify.Off, "TERM=xterm").sent; len(sent) > 0 {
		t.Errorf("a notifier that is off sends %q", sent)
	}
}

func TestParseModeKnowsEveryMode(t *testing.T) {
	for name, want := range map[string]notify.Mode{"": notify.Auto, "auto": notify.Auto, " Bell ": notify.Bell, "off": notify.Off} {
		if got, err := notify.ParseMode(name); got != want || err != nil {
			t.Errorf("%q: got %q, %v", name, got, err)
		}
	}
	if _, err := notify.ParseMode("loud"); err == nil {
		t.Error("an unknown mode is accepted")
	}
}
