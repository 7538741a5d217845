package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/agent/event"
	"replan/tui/ask"
	"replan/tui/clock"
	"replan/tui/draw"
	"replan/tui/input"
	"replan/tui/keymap"
	"replan/tui/panes"
	"replan/tui/replay"
)

// Faded is the end of the time of the oldest notice.
func (m *Model) Faded() tea.Msg { return m.toasts.End() }

// Batch is the message that Forward makes of events.
func Batch(events []event.Event, arrived time.Time) tea.Msg {
	return eventsMsg{events: coalesce(events), arrived: arrived}
}

// Over is the message of the end of the session.
func Over() tea.Msg { return eventsMsg{closed: true} }

// JournalAnswer is the answer to the query for the events of a run.
func JournalAnswer(run string, events []event.Event, err error) tea.Msg {
	return keymap.JournalMsg{Run: run, Events: events, Err: err}
}

// Beat is one beat of the clock.
func Beat(at time.Time) tea.Msg { return clock.BeatMsg(at) }

// Frame is how long a frame of an animation lasts.
func (m *Model) Frame() time.Duration { return m.animation.clock.Frame() }

// Rested is the end of the newest grace time of the gate dialog.
func (m *Model) Rested() tea.Msg { return m.ask.Guard().Over(0) }

// RestedBefore is the end of the grace time before it.
func (m *Model) RestedBefore() tea.Msg { return m.ask.Guard().Over(1) }

// RestedLater is the end of the grace time of a stage that a key of the gate dialog opened,
// nil for none.
func (m *Model) RestedLater() tea.Msg {
	if !m.ask.Guard().Ignores() || !m.ask.Guard().InStage() {
		return nil
	}
	return m.Rested()
}

// IsEdited reports whether a message says that the editor has ended.
func IsEdited(m tea.Msg) bool { _, ok := m.(input.EditedMsg); return ok }

// ReviewRested is the end of the newest grace time of the review.
func (m *Model) ReviewRested() tea.Msg {
	return m.review.Guard().Over(0)
}

// ChangesRested is the end of the newest grace time of the offered changes.
func (m *Model) ChangesRested() tea.Msg {
	return m.dialogs.changes.Guard().Over(0)
}

// Reviewing reports whether a plan is being reviewed on the screen.
func (m *Model) Reviewing() bool { return m.review.Shown() }

// Beating reports whether the clock is running.
func (m *Model) Beating() bool {
	tried := m.animation.clock // a copy: Start changes the clock
	return tried.Start() == nil
}

// Focus names the pane that takes the keys.
func (m *Model) Focus() string { return [panes.Panes]string{"chat", "plan", "step"}[m.panes.Focus()] }

// Typed is the text in the input.
func (m *Model) Typed() string { return m.input.Text() }

// Selected is the selected row of the plan.
func (m *Model) Selected() string { m.dag.Chosen(); return m.dag.Selected() }

// GateOpen reports whether the gate dialog is on the screen.
func (m *Model) GateOpen() bool { return m.ask.Showing() }

// HelpOpen reports whether help is on the screen.
func (m *Model) HelpOpen() bool { return m.dialogs.help.Shown() }

// Action is one of the tables of actions.
type Action struct {
	ID, Key, Does string
	Keys          []string
	InPalette     bool
	Answers       bool // in the palette while something is open
}

// Actions returns every action.
func (m *Model) Actions() []Action {
	var out []Action
	for _, g := range m.groups {
		for _, a := range g.Actions {
			out = append(out, Action{a.ID, a.Key.Help().Key, a.Key.Help().Desc, a.Key.Keys(), g.Place.Acts() && !a.KeyOnly, g.Place.Answers()})
		}
	}
	return out
}

// KeyNamed is a press of the key with that name.
func KeyNamed(name string) tea.KeyPressMsg { return keymap.KeyNamed(name) }

// Idle is the end of the newest wait for a quiet keyboard.
func (m *Model) Idle() tea.Msg { return m.alerts.notify.Idle() }

// OnRaw calls f with each sequence that the notifier sends to the terminal.
func (m *Model) OnRaw(f func(sequence string)) {
	m.alerts.notify.Send = func(sequence any) tea.Cmd {
		f(fmt.Sprint(sequence))
		return nil
	}
}

// Played returns the first message of a player that a command returns, nil if
// there is none.
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

// ShowList shows plans as lists even if the graph fits.
func (m *Model) ShowList() { m.dag.ShowList() }

// Drawing is the content of a pane, without its frame.
type Drawing struct {
	Name  string
	Lines []string
}

// Panes draws the panes in view one by one.
func (m *Model) Panes() []Drawing {
	m.View() // lays the screen out
	chat := func(width int) Drawing {
		lines := m.input.ListOver(draw.Padded(m.chat.View()), width)
		title, note := m.chat.EdgeLabels()
		return Drawing{"chat", append(lines, strings.TrimSpace(title+" "+note))}
	}
	step := Drawing{"step", m.detail.View()}
	plan := Drawing{"plan", append([]string{strings.TrimSpace(m.dag.Title() + "  " + m.dag.Summary())}, m.dag.View()...)}
	if m.panes.Layout().Wide {
		title := strings.TrimSpace(m.detail.Title(m.panes.Layout().Right.W-6) + "  " + m.detail.Place())
		step.Lines = append([]string{title}, step.Lines...)
		return []Drawing{chat(m.panes.Layout().Left.W - 2), plan, step}
	}
	switch m.panes.Focus() {
	case panes.Plan:
		return []Drawing{plan}
	case panes.Step:
		return []Drawing{step}
	}
	return []Drawing{chat(m.panes.Layout().Width)}
}

// Edges draws the header, the notices and the footer.
func (m *Model) Edges() []string {
	m.View()
	notices := make([]string, 10)
	m.toasts.Draw(m.styles, m.panes.Layout().Width, notices)
	notices = slices.DeleteFunc(notices, func(line string) bool { return line == "" })
	return append(append([]string{m.frame.Header(m.situation.state(), m.panes.Layout().Width)}, notices...), m.footer.draw(m.panes.Layout().Width))
}

// Tabs draws the row of tabs: one line, none where the screen has no tabs.
func (m *Model) Tabs() []string {
	m.View() // lays the screen out
	if m.panes.Layout().Tabs.H == 0 {
		return nil
	}
	return []string{m.frame.Tabs(m.view.tabs(), m.panes.Layout().Width)}
}

// Front draws only the dialog or request in front of the panes, with the footer
// below it. It returns nil if there is none.
func (m *Model) Front() []string {
	m.View() // lays the screen out
	var lines []string
	switch over := m.dialogs.front(); {
	case m.panes.Layout().Small:
		return nil
	case over != nil:
		lines = over.View(draw.Rect{W: m.panes.Layout().Width, H: m.panes.Layout().Height - 2})
	case m.panes.Layout().Sheet.H > 0:
		lines = m.ask.View(m.panes.Layout().Sheet)
	default:
		return nil
	}
	return append(lines, m.footer.draw(m.panes.Layout().Width))
}

// IsFileStep reports whether a message is a step of editing the file of a call.
func IsFileStep(m tea.Msg) bool {
	switch m.(type) {
	case ask.EditedMsg, ask.FileMsg:
		return true
	}
	return false
}

// IsPreviewed reports whether a message says what edited arguments would do.
func IsPreviewed(m tea.Msg) bool { _, previewed := m.(ask.PreviewedMsg); return previewed }

// SetEditor sets the user's editor for gates.
func (m *Model) SetEditor(command ...string) { m.ask.SetEditor(command) }

// Sections are the lines of help of all parts.
func Sections() []keymap.Section { return sections() }
