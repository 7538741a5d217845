package tui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/agent/event"
	"replan/tui/ask"
	"replan/tui/dag"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/replay"
	"replan/tui/review"
)

// Faded is the end of the time of the oldest notice.
func (m *Model) Faded() tea.Msg { return toastMsg{m.toasts.count} }

// Batch is the message that Forward makes of events.
func Batch(events []event.Event, arrived time.Time) tea.Msg {
	return eventsMsg{events: fold(events), arrived: arrived}
}

// Answer is the message of the answer to a query.
func Answer[T any](value T) tea.Msg { return keymap.AnswerMsg[T]{Value: value} }

// JournalAnswer is the answer to the query for the events of a run.
func JournalAnswer(run string, events []event.Event, err error) tea.Msg {
	return keymap.JournalMsg{Run: run, Events: events, Err: err}
}

// Beat is one beat of the clock.
func Beat(at time.Time) tea.Msg { return tickMsg(at) }

// IsBeat reports whether a message is one.
func IsBeat(m tea.Msg) bool { _, ok := m.(tickMsg); return ok }

// Frame is how long a frame of an animation lasts.
func (m *Model) Frame() time.Duration { return m.clock.frame() }

// Rested is the end of the newest grace time of the gate dialog, RestedBefore
// that of the one before it.
func (m *Model) Rested() tea.Msg       { return ask.GraceMsg{Count: m.ask.Count} }
func (m *Model) RestedBefore() tea.Msg { return ask.GraceMsg{Count: m.ask.Count - 1} }

// IsEdited reports whether a message says that the editor has ended.
func IsEdited(m tea.Msg) bool { _, ok := m.(editedMsg); return ok }

// ReviewRested is the end of the newest grace time of the review.
func (m *Model) ReviewRested() tea.Msg { return review.RestMsg{Count: m.review.Count} }

// Reviewing reports whether a plan is looked over on the screen.
func (m *Model) Reviewing() bool { return m.review.Shown() }

// Beating reports whether the clock is going.
func (m *Model) Beating() bool { return m.clock.beating }

// Focus names the pane that takes the keys.
func (m *Model) Focus() string { return [panes]string{"chat", "plan", "step"}[m.focus] }

// Typed is the text in the input.
func (m *Model) Typed() string { return m.input.Area.Value() }

// Selected is the row that is chosen in the plan.
func (m *Model) Selected() string { m.dag.Layout(); return m.dag.Selected }

// GateOpen reports whether the gate dialog is on the screen.
func (m *Model) GateOpen() bool { return m.ask.Showing() }

// HelpOpen reports whether help is on the screen.
func (m *Model) HelpOpen() bool { return m.help.Open }

// Action is one of the tables of actions.
type Action struct {
	ID, Key, Does string
	Keys          []string
}

// Actions is every action there is.
func (m *Model) Actions() []Action {
	var out []Action
	for _, g := range m.groups {
		for _, a := range g.Actions {
			out = append(out, Action{a.ID, a.Key.Help().Key, a.Key.Help().Desc, a.Key.Keys()})
		}
	}
	return out
}

// KeyNamed is a press of the key with that name.
func KeyNamed(name string) tea.KeyPressMsg { return keymap.KeyNamed(name) }

// Idle is the end of the newest wait for a quiet keyboard.
func (m *Model) Idle() tea.Msg { return idleMsg{m.notify.count} }

// OnRaw has f hear each sequence that the notifier sends to the terminal.
func (m *Model) OnRaw(f func(sequence string)) {
	m.notify.raw = func(sequence any) tea.Cmd {
		f(fmt.Sprint(sequence))
		return nil
	}
}

// Played is the first message of a player that a command comes to, nil where it
// comes to none.
func Played(cmd tea.Cmd) tea.Msg {
	if cmd == nil {
		return nil
	}
	switch msg := cmd().(type) {
	case replay.PlayMsg:
		return msg
	case tea.BatchMsg:
		for _, c := range msg {
			if played := Played(c); played != nil {
				return played
			}
		}
	}
	return nil
}

// Paused is the end of the newest pause after an edit of arguments.
func (m *Model) Paused() tea.Msg { return ask.CheckMsg{Count: m.ask.Edits} }

// Transcript is all of the chat, drawn.
func (m *Model) Transcript() string {
	var text strings.Builder
	for i := range m.chat.Blocks {
		for _, line := range m.chat.LinesOf(i) {
			text.WriteString(ansi.Strip(line.Text))
			text.WriteByte('\n')
		}
	}
	return text.String()
}

// ShowList shows plans as lists, where the graph would fit too.
func (m *Model) ShowList() { m.dag.Graph.Mode = dag.GraphNever }

// Pane is what a pane draws by itself, without its frame.
type Pane struct {
	Name  string
	Lines []string
}

// Panes draws the panes in view one by one.
func (m *Model) Panes() []Pane {
	m.View() // lays the screen out
	chat := func(width int) Pane {
		lines := m.overInput(draw.Padded(m.chat.Lines()), width)
		title, note := m.chatNotice()
		return Pane{"chat", append(lines, strings.TrimSpace(title+" "+note))}
	}
	step := Pane{"step", m.detail.Lines()}
	plan := Pane{"plan", append([]string{strings.TrimSpace(m.dag.Title() + "  " + m.dag.Summary())}, m.dag.Lines()...)}
	if m.layout.wide {
		title := strings.TrimSpace(m.detail.Title(m.layout.right.W-6) + "  " + m.detail.Place())
		step.Lines = append([]string{title}, step.Lines...)
		return []Pane{chat(m.layout.left.W - 2), plan, step}
	}
	switch m.focus {
	case panePlan:
		return []Pane{plan}
	case paneStep:
		return []Pane{step}
	}
	return []Pane{chat(m.layout.width)}
}

// Edges draws the header, the notices and the footer.
func (m *Model) Edges() []string {
	m.View()
	notices := make([]string, len(m.toasts.list))
	m.toasts.lay(m.look, m.layout.width, notices, len(notices))
	return append(append([]string{m.header()}, notices...), m.footer())
}

// Front draws what stands in front of the panes alone, a dialog or what asks, with
// the footer under it. It is nil where nothing does.
func (m *Model) Front() []string {
	m.View() // lays the screen out
	var lines []string
	switch over := m.over(); {
	case m.layout.small:
		return nil
	case over != nil:
		lines = over.Draw(m.layout.width, m.layout.height-2)
	case m.layout.sheet.H > 0:
		lines = m.ask.Draw(m.layout.sheet.W, m.layout.sheet.H)
	default:
		return nil
	}
	return append(lines, m.footer())
}
