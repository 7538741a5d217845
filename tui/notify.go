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

// Notify says how the screen calls the user who looks elsewhere.
type Notify string

// The ways there are.
const (
	NotifyAuto Notify = "auto" // bell, and a notification where the terminal knows one
	NotifyBell Notify = "bell"
	NotifyOff  Notify = "off"
)

// ParseNotify reads a way to call the user; nothing at all means [NotifyAuto].
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
	// notifyEvery is the shortest time between two calls: what happens in a burst
	// calls once.
	notifyEvery = 5 * time.Second
	// idleTime is how long nobody may have typed before a gate rings in a terminal
	// that does not say whether its window has the focus.
	idleTime = 10 * time.Second
)

// attention is whether the user looks at the screen, as far as is known.
type attention int

const (
	attentionUnknown attention = iota // the terminal does not say
	attentive
	elsewhere
)

// popup is the kind of notification that a terminal knows.
type popup int

const (
	popupNone   popup = iota
	popupOSC9         // of iTerm2, and what others took over from it
	popupOSC777       // of urxvt
	popupOSC99        // of kitty
)

// notifier calls the user who looks elsewhere: when something waits for an
// answer, and when a run has ended.
type notifier struct {
	mode  Notify
	raw   func(sequence any) tea.Cmd // sends a sequence to the terminal as it is
	looks attention
	popup popup
	tmux  bool
	last  time.Time // of the newest call
	typed time.Time // of the newest key
	count int       // of the waits for a quiet keyboard
}

func newNotifier(mode Notify, now time.Time) notifier {
	if mode == "" {
		mode = NotifyAuto
	}
	return notifier{mode: mode, raw: tea.Raw, typed: now}
}

// idleMsg says that idleTime may have passed since the newest key.
type idleMsg struct{ count int }

// learn finds out from the environment of the terminal which notification it
// knows, and asks it whether it reports its focus.
func (n *notifier) learn(env tea.EnvMsg) tea.Cmd {
	if n.mode == NotifyOff {
		return nil
	}
	term, program := env.Getenv("TERM"), env.Getenv("TERM_PROGRAM")
	n.popup, n.tmux = popupOf(env.Getenv), env.Getenv("TMUX") != ""
	switch {
	case term == "" || term == "linux" || strings.HasPrefix(term, "dumb") || program == "Apple_Terminal":
		return nil // shows what it does not understand
	case n.tmux || env.Getenv("STY") != "":
		return nil // answers, and reports no focus all the same unless told to
	}
	return n.raw(ansi.RequestModeFocusEvent)
}

// popupOf is the notification that a terminal knows by its environment. Most
// ignore one that they do not know.
func popupOf(getenv func(string) string) popup {
	term, program := getenv("TERM"), getenv("TERM_PROGRAM")
	has := func(name string) bool { return getenv(name) != "" }
	switch {
	case has("TMUX"):
		return popupOSC9 // it hides the terminal around it
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

// told takes what the terminal says of its modes: one that knows how to report
// the focus has it until it says otherwise.
func (n *notifier) told(m tea.ModeReportMsg) {
	if m.Mode == ansi.ModeFocusEvent && !m.Value.IsNotRecognized() && n.looks == attentionUnknown {
		n.looks = attentive
	}
}

// press notes that the user types.
func (n *notifier) press(now time.Time) { n.typed = now }

// waits calls for something that waits for an answer.
func (n *notifier) waits(text string, now time.Time) tea.Cmd {
	if n.looks != attentionUnknown || n.mode == NotifyOff {
		return n.call(text, now)
	}
	// Nobody knows where the user looks, but who types looks here.
	quiet := now.Sub(n.typed)
	if quiet >= idleTime {
		return n.ring(now)
	}
	n.count++
	count := n.count
	return tea.Tick(idleTime-quiet, func(time.Time) tea.Msg { return idleMsg{count} })
}

// idle rings for what still waits, unless somebody has typed since.
func (n *notifier) idle(m idleMsg, still bool, now time.Time) tea.Cmd {
	if m.count != n.count || !still || now.Sub(n.typed) < idleTime {
		return nil
	}
	return n.ring(now)
}

// call calls the user with a text, where the user is known to look elsewhere.
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

// due reports whether a call is no part of a burst, and takes it for made.
func (n *notifier) due(now time.Time) bool {
	if !n.last.IsZero() && now.Sub(n.last) < notifyEvery {
		return false
	}
	n.last = now
	return true
}

// sequence is what has the terminal show a text as a notification. Whatever the
// text, nothing in it can end the sequence or begin another.
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

// attend calls the user for what a batch of events has brought: questions that
// have opened, or the end of the run that went on before.
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
		return nil // whoever stopped it knows
	}
	return m.notify.call(fmt.Sprintf("%s: %s", r.Status, untrusted.FirstLine(m.run.Goal)), now)
}
