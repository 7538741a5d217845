package notify

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/internal/untrusted"
)

// Mode selects how to alert a user who looks elsewhere.
type Mode string

// The notification modes.
const (
	Auto Mode = "auto" // bell, and a notification if the terminal supports one
	Bell Mode = "bell"
	Off  Mode = "off"
)

// ParseMode parses a notification mode; "" means [Auto]. Unknown modes are an
// error.
func ParseMode(name string) (Mode, error) {
	switch m := Mode(strings.ToLower(strings.TrimSpace(name))); m {
	case "":
		return Auto, nil
	case Auto, Bell, Off:
		return m, nil
	default:
		return "", fmt.Errorf("unknown notification mode %q: choose auto, bell or off", name)
	}
}

const (
	// alertInterval is the minimum time between two alerts: a burst of events
	// alerts once.
	alertInterval = 5 * time.Second
	// idleTime is how long the keyboard must be idle before a question rings
	// in a terminal that does not report focus.
	idleTime = 10 * time.Second
)

// focus records whether the terminal's window has the focus, if known.
type focus int

const (
	focusUnknown focus = iota // the terminal does not say
	focused
	unfocused
)

// protocol is the notification protocol of a terminal.
type protocol int

const (
	none   protocol = iota
	osc9            // iTerm2 and terminals that adopted its protocol
	osc777          // urxvt
	osc99           // kitty
)

// Notifier alerts a user who looks elsewhere: when a question waits for an
// answer, and when a run ends.
type Notifier struct {
	// Send sends a raw sequence to the terminal. [New] sets it to [tea.Raw].
	Send func(sequence any) tea.Cmd

	mode      Mode
	focus     focus
	protocol  protocol
	tmux      bool
	lastAlert time.Time
	lastKey   time.Time
	waits     int // number of waits for an idle keyboard
}

// New returns a notifier in a mode; "" means [Auto].
func New(mode Mode, now time.Time) *Notifier {
	if mode == "" {
		mode = Auto
	}
	return &Notifier{Send: tea.Raw, mode: mode, lastKey: now}
}

// On reports whether the notifier may alert, so that the terminal should report
// its focus.
func (n *Notifier) On() bool { return n.mode != Off }

// IdleMsg reports that the keyboard may have been idle long enough to ring.
type IdleMsg struct{ wait int }

// Idle returns the message that ends the newest wait for an idle keyboard.
func (n *Notifier) Idle() IdleMsg { return IdleMsg{n.waits} }

// Update handles what the terminal reports about itself and its focus, and the
// end of a wait for an idle keyboard. Open tells whether a question still waits
// for an answer.
func (n *Notifier) Update(msg tea.Msg, open bool, now time.Time) tea.Cmd {
	switch msg := msg.(type) {
	case tea.EnvMsg:
		return n.learn(msg)
	case tea.ModeReportMsg:
		// A terminal that supports focus reports is assumed to have the focus
		// until it says otherwise.
		if msg.Mode == ansi.ModeFocusEvent && !msg.Value.IsNotRecognized() && n.focus == focusUnknown {
			n.focus = focused
		}
	case tea.FocusMsg:
		n.focus = focused
	case tea.BlurMsg:
		n.focus = unfocused
	case IdleMsg:
		if msg == n.Idle() && open && now.Sub(n.lastKey) >= idleTime {
			return n.ring(now)
		}
	}
	return nil
}

// KeyPressed records when the user last pressed a key.
func (n *Notifier) KeyPressed(now time.Time) { n.lastKey = now }

// learn determines the notification protocol from the terminal's environment
// and asks whether the terminal reports focus.
func (n *Notifier) learn(env tea.EnvMsg) tea.Cmd {
	if !n.On() {
		return nil
	}
	n.protocol, n.tmux = protocolOf(env.Getenv), env.Getenv("TMUX") != ""
	switch {
	case plain(env.Getenv):
		return nil // prints sequences it does not understand
	case n.tmux || env.Getenv("STY") != "":
		return nil // answers the query, but reports no focus unless configured to
	}
	return n.Send(ansi.RequestModeFocusEvent)
}

// plain reports whether a terminal prints the sequences it does not understand.
func plain(getenv func(string) string) bool {
	term := getenv("TERM")
	return term == "" || term == "linux" || strings.HasPrefix(term, "dumb") || getenv("TERM_PROGRAM") == "Apple_Terminal"
}

// protocolOf guesses the notification protocol from the terminal's environment.
// Most terminals ignore an unknown one.
func protocolOf(getenv func(string) string) protocol {
	term := getenv("TERM")
	has := func(name string) bool { return getenv(name) != "" }
	switch {
	case has("TMUX"):
		return osc9 // tmux hides the terminal around it
	case has("STY"), plain(getenv), has("WT_SESSION"):
		return none
	case has("KITTY_WINDOW_ID"), strings.HasPrefix(term, "xterm-kitty"):
		return osc99
	case strings.HasPrefix(term, "foot"), strings.HasPrefix(term, "rxvt"), has("VTE_VERSION"), has("KONSOLE_VERSION"):
		return osc777
	default:
		return osc9
	}
}

// Ask alerts the user to a question that waits for an answer. If the terminal
// does not report focus, it rings once the keyboard is idle: a user who types
// sees the question.
func (n *Notifier) Ask(text string, now time.Time) tea.Cmd {
	if n.focus != focusUnknown || !n.On() {
		return n.Alert(text, now)
	}
	idle := now.Sub(n.lastKey)
	if idle >= idleTime {
		return n.ring(now)
	}
	n.waits++
	end := n.Idle()
	return tea.Tick(idleTime-idle, func(time.Time) tea.Msg { return end })
}

// Alert alerts the user with a text if the window is known to lack the focus.
func (n *Notifier) Alert(text string, now time.Time) tea.Cmd {
	if !n.On() || n.focus != unfocused || !n.due(now) {
		return nil
	}
	sequence := "\a"
	if n.mode == Auto {
		sequence += n.notification(text)
	}
	return n.Send(sequence)
}

// ring rings the bell.
func (n *Notifier) ring(now time.Time) tea.Cmd {
	if !n.due(now) {
		return nil
	}
	return n.Send("\a")
}

// due reports whether an alert is due, that is, outside a burst, and records it
// as sent.
func (n *Notifier) due(now time.Time) bool {
	if !n.lastAlert.IsZero() && now.Sub(n.lastAlert) < alertInterval {
		return false
	}
	n.lastAlert = now
	return true
}

// notification returns the escape sequence that shows a text as a notification.
// No text can end the sequence or begin another.
func (n *Notifier) notification(text string) string {
	const longest = 120 // cells
	text = ansi.Truncate(untrusted.Line(text), longest, "...")
	sequence := ""
	switch n.protocol {
	case osc9:
		sequence = ansi.Notify("replan: " + text)
	case osc777:
		sequence = ansi.URxvtExt("notify", "replan", strings.ReplaceAll(text, ";", ","))
	case osc99:
		sequence = ansi.DesktopNotification("replan: "+text, "i=replan", "d=1")
	}
	if n.tmux && sequence != "" {
		sequence = ansi.TmuxPassthrough(sequence)
	}
	return sequence
}
