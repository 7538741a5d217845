package tui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/agent/event"
	"replan/internal/untrusted"
)

// Notify selects how the screen alerts a user who looks elsewhere.
type Notify string

// The notification modes.
const (
	NotifyAuto Notify = "auto" // bell, and a notification if the terminal supports one
	NotifyBell Notify = "bell"
	NotifyOff  Notify = "off"
)

// ParseNotify parses a notification mode; "" means [NotifyAuto]. Unknown modes
// are an error.
func ParseNotify(name string) (Notify, error) {
	switch n := Notify(strings.ToLower(strings.TrimSpace(name))); n {
	case "":
		return NotifyAuto, nil
	case NotifyAuto, NotifyBell, NotifyOff:
		return n, nil
	default:
		return "", fmt.Errorf("there is no way %q to call you: choose auto, bell or off", name)
	}
}

const (
	// notifyEvery is the minimum time between two alerts: a burst of events
	// alerts once.
	notifyEvery = 5 * time.Second
	// idleTime is how long the keyboard must be idle before a gate rings in a
	// terminal that does not report focus.
	idleTime = 10 * time.Second
)

// attention records whether the user looks at the screen, if known.
type attention int

const (
	attentionUnknown attention = iota // the terminal does not say
	attentive
	elsewhere
)

// popup is the notification protocol of a terminal.
type popup int

const (
	popupNone   popup = iota
	popupOSC9         // iTerm2 and terminals that adopted its protocol
	popupOSC777       // urxvt
	popupOSC99        // kitty
)

// notifier alerts a user who looks elsewhere: when something waits for an
// answer, and when a run ends.
type notifier struct {
	mode  Notify
	raw   func(sequence any) tea.Cmd // sends a raw sequence to the terminal
	looks attention
	popup popup
	tmux  bool
	last  time.Time // time of the last alert
	typed time.Time // time of the last key
	count int       // number of waits for an idle keyboard
}

func newNotifier(mode Notify, now time.Time) notifier {
	if mode == "" {
		mode = NotifyAuto
	}
	return notifier{mode: mode, raw: tea.Raw, typed: now}
}

// idleMsg reports that idleTime may have passed since the last key.
type idleMsg struct{ count int }

// learn determines the notification protocol from the terminal's environment
// and asks whether the terminal reports focus.
func (n *notifier) learn(env tea.EnvMsg) tea.Cmd {
	if n.mode == NotifyOff {
		return nil
	}
	term, program := env.Getenv("TERM"), env.Getenv("TERM_PROGRAM")
	n.popup, n.tmux = popupOf(env.Getenv), env.Getenv("TMUX") != ""
	switch {
	case term == "" || term == "linux" || strings.HasPrefix(term, "dumb") || program == "Apple_Terminal":
		return nil // prints sequences it does not understand
	case n.tmux || env.Getenv("STY") != "":
		return nil // answers the query, but reports no focus unless configured to
	}
	return n.raw(ansi.RequestModeFocusEvent)
}

// popupOf guesses the notification protocol from the terminal's environment.
// Most terminals ignore an unknown one.
func popupOf(getenv func(string) string) popup {
	term, program := getenv("TERM"), getenv("TERM_PROGRAM")
	has := func(name string) bool { return getenv(name) != "" }
	switch {
	case has("TMUX"):
		return popupOSC9 // tmux hides the terminal around it
	case has("STY"), term == "", term == "linux", strings.HasPrefix(term, "dumb"), program == "Apple_Terminal", has("WT_SESSION"):
		return popupNone
	case has("KITTY_WINDOW_ID"), strings.HasPrefix(term, "xterm-kitty"):
		return popupOSC99
	case strings.HasPrefix(term, "foot"), strings.HasPrefix(term, "rxvt"), has("VTE_VERSION"), has("KONSOLE_VERSION"):
		return popupOSC777
	default:
		return popupOSC9
	}
}

// told handles a mode report. A terminal that supports focus reports is assumed
// to have the focus until it says otherwise.
func (n *notifier) told(m tea.ModeReportMsg) {
	if m.Mode == ansi.ModeFocusEvent && !m.Value.IsNotRecognized() && n.looks == attentionUnknown {
		n.looks = attentive
	}
}

// press records that the user types.
func (n *notifier) press(now time.Time) { n.typed = now }

// waits alerts the user that something waits for an answer.
func (n *notifier) waits(text string, now time.Time) tea.Cmd {
	if n.looks != attentionUnknown || n.mode == NotifyOff {
		return n.call(text, now)
	}
	// It is unknown where the user looks, but a user who types looks here.
	quiet := now.Sub(n.typed)
	if quiet >= idleTime {
		return n.ring(now)
	}
	n.count++
	count := n.count
	return tea.Tick(idleTime-quiet, func(time.Time) tea.Msg { return idleMsg{count} })
}

// idle rings if something still waits and nobody has typed since.
func (n *notifier) idle(m idleMsg, still bool, now time.Time) tea.Cmd {
	if m.count != n.count || !still || now.Sub(n.typed) < idleTime {
		return nil
	}
	return n.ring(now)
}

// call alerts the user with a text if the user is known to look elsewhere.
func (n *notifier) call(text string, now time.Time) tea.Cmd {
	if n.mode == NotifyOff || n.looks != elsewhere || !n.due(now) {
		return nil
	}
	sequence := "\a"
	if n.mode == NotifyAuto {
		sequence += n.sequence(text)
	}
	return n.raw(sequence)
}

func (n *notifier) ring(now time.Time) tea.Cmd {
	if !n.due(now) {
		return nil
	}
	return n.raw("\a")
}

// due reports whether an alert is due, that is, outside a burst, and records it
// as sent.
func (n *notifier) due(now time.Time) bool {
	if !n.last.IsZero() && now.Sub(n.last) < notifyEvery {
		return false
	}
	n.last = now
	return true
}

// sequence returns the escape sequence that shows text as a notification. No
// text can end the sequence or begin another.
func (n *notifier) sequence(text string) string {
	const most = 120 // cells
	text = ansi.Truncate(untrusted.Line(text), most, "...")
	out := ""
	switch n.popup {
	case popupOSC9:
		out = ansi.Notify("replan: " + text)
	case popupOSC777:
		out = ansi.URxvtExt("notify", "replan", strings.ReplaceAll(text, ";", ","))
	case popupOSC99:
		out = ansi.DesktopNotification("replan: "+text, "i=replan", "d=1")
	}
	if n.tmux && out != "" {
		out = ansi.TmuxPassthrough(out)
	}
	return out
}

// attend alerts the user to the results of a batch of events: new questions, or
// the end of the run that was under way before.
func (m *Model) attend(before string) tea.Cmd {
	if m.options.Replay || m.retold != nil {
		return nil
	}
	now := m.options.Now()
	if fresh := m.ask.Fresh; len(fresh) > 0 {
		m.ask.Fresh = nil
		step, what, _ := fresh[0].Brief()
		text := strings.TrimSpace(fresh[0].Name() + " " + what + " " + step)
		if n := len(fresh); n > 1 {
			text = fmt.Sprintf("%d questions wait: %s", n, text)
		}
		return m.notify.waits(text, now)
	}
	if m.review.Fresh {
		m.review.Fresh = false
		return m.notify.waits("Review: "+untrusted.FirstLine(m.review.Review.Plan().Title), now)
	}
	if before == "" || m.going() == before || m.run == nil || m.run.ID != before {
		return nil
	}
	r := m.run.Result
	if r == nil || r.Status == event.StatusCancelled {
		return nil // the user who stopped it knows
	}
	return m.notify.call(fmt.Sprintf("%s: %s", r.Status, untrusted.FirstLine(m.run.Goal)), now)
}
