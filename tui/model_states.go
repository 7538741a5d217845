package tui

import (
	"strconv"

	"replan/planning/intent"
	"replan/tui/chat"
	"replan/tui/dag"
	"replan/tui/dialog"
	"replan/tui/input"
	"replan/tui/panes"
	"replan/tui/step"
)

// This file says what each part needs to know of the others.

// chatState returns what the chat needs to know. It draws the lines about current
// work, so call it once for each message.
func (m *Model) chatState() chat.State {
	frame, place := m.situation.state(), m.panes.Layout().Chat
	s := chat.State{
		Size:     place,
		Activity: m.frame.Activity(frame, place.W),
		Replayed: m.options.Replay, Closed: m.session.ended(),
		Advice:  "Try again, choose a larger model (" + m.keys.Name("models") + "), or read its replies (" + m.keys.Name("exchanges") + ").",
		Problem: m.session.now().Problem.Line(), Notes: m.session.now().Instructions.Line(),
		Shown: m.live.Shown().State, Typed: !m.input.Empty(),
	}
	if !m.options.Replay && !m.session.ended() && m.live.Can.NoGoals == "" {
		s.OrderKeys, s.RemedyKey = chat.OrderKeys(m.keys)
		s.Remedy = m.jobs.remedy(m.session.now())
	}
	if r := m.dag.Chosen(); r != nil && r.Step != nil && m.panes.Focus() == panes.Step {
		s.Opened = r.Step.Step.Index
	}
	if !m.options.Replay && m.live.Can.NoResume == "" {
		s.ResumeKey = m.keys.ResumeNames()
	}
	s.SuspendKey = m.keys.Name("suspend")
	if m.chat.OnlyNotes() && len(s.Activity) == 0 && place.H > 0 {
		s.Welcome = m.frame.Welcome(frame, place.W, place.H)
	}
	return s
}

// planState returns what the plan needs to know.
func (m *Model) planState() dag.State {
	s := dag.State{
		Size: m.panes.Layout().Plan, Focused: m.panes.Focus() == panes.Plan, FillsScreen: m.panes.Layout().Mapped,
		Live: m.live.Shown().Active(), Resumable: m.live.Resumable(), Recorded: m.live.Recorded,
	}
	if run := m.live.Shown().State; run != nil {
		s.Asked = m.pending.StepOf(run, m.ask)
	}
	return s
}

// inputState returns what the input needs to know.
func (m *Model) inputState() input.State {
	return input.State{
		Focused: m.panes.Focus() == panes.Chat, Covered: m.focus.covered(), Closed: m.session.ended(), Can: m.live.Can,
		Busy: m.live.Busy(), Running: m.live.Active() != "", Steerable: m.live.Steerable(),
		NoModel: m.session.now().Trouble.Kind != "" && m.chat.Greets(), Blocked: m.session.now().Problem.Line() != "",
	}
}

// settingValues returns the values in force of settings that this session can
// change.
func (m *Model) settingValues() map[string]string {
	values := dialog.SessionValues(m.session.now())
	m.appearance.values(values)
	m.panes.Values(values)
	values[chat.KeyShowThinking] = strconv.FormatBool(m.chat.ShowsThinking)
	return values
}

// helpPage returns what help lists now.
func (m *Model) helpPage() dialog.HelpPage {
	page := dialog.HelpPage{Groups: m.groups, Here: m.focus.topic(), Replay: m.live.Recorded, Commands: m.input.Commands()}
	if over := m.dialogs.front(); over != nil {
		page.Now = over.Actions().Offered(over.Hints())
	}
	return page
}

// palettePage returns what the palette offers now.
func (m *Model) palettePage() dialog.PalettePage {
	set, theme := m.appearance.chosenTheme()
	return dialog.PalettePage{
		Groups: m.offered(), Here: m.focus.topic(), Themes: set, Theme: theme,
		Now: m.fitting(), Rare: m.useless(), Busy: m.live.Busy(), NoStop: m.exits.noRun(), NoModel: m.needsModel,
		Goals: m.options.Examples, Folder: m.session.now().Workspace, Replay: m.options.Replay,
		NoText: m.input.NoCommand, Type: m.input.Start, Mention: m.input.Mention,
	}
}

// fitting returns the actions that fit the moment, the most fitting first: at a gate its answer,
// during a run what acts on it, and after one what can be done about it.
func (m *Model) fitting() []string {
	switch run := m.live.Shown().State; {
	case m.options.Replay:
		return nil
	case m.waiting.any():
		return []string{"gate", "run.stop", "run.steer", "gate.allowed"}
	case m.live.Busy():
		return []string{"run.steer", "run.stop", "chat.drop_queued", "plan.timeline"}
	case run != nil && run.Undone != nil:
		return []string{"plan.redo", "runs", "chat.shell"}
	case run != nil:
		return []string{"plan.undo", "plan.timeline", "chat.export", "runs", "chat.shell"}
	default:
		return []string{"runs", "chat.shell"}
	}
}

// useless returns the actions that have nothing to act on in the runs on the screen. They may
// still find something in an earlier session.
func (m *Model) useless() (ids []string) {
	run := m.live.Shown().State
	if run == nil {
		ids = append(ids, "run.ask")
	}
	if !m.dialogs.mayUndo() {
		ids = append(ids, "plan.undo")
	}
	if run == nil || run.Undone == nil {
		ids = append(ids, "plan.redo")
	}
	return ids
}

// needsModel returns why a goal cannot be reached now, "" if a model can plan it or no model is
// needed.
func (m *Model) needsModel(goal string) string {
	if m.session.now().Problem == "" || (intent.Facts{}).RouteWords(goal, intent.Policy{}).Ready() {
		return ""
	}
	return "It needs a model, and there is none."
}

// subjectOf returns the subject of the step pane for a row of the plan, nil for
// none.
func subjectOf(r *dag.Row) *step.Subject {
	if r == nil {
		return nil
	}
	s := &step.Subject{Key: r.Key, Step: r.Step, Revision: r.Revision}
	switch r.Kind {
	case dag.RowStep:
		s.Kind = step.SubjectStep
	case dag.RowGone:
		s.Kind = step.SubjectGone
	case dag.RowRevision:
		s.Kind = step.SubjectRevision
	case dag.RowCalls, dag.RowCall:
		s.Kind = step.SubjectCall
	case dag.RowGroup:
		g := r.Group
		s.Kind = step.SubjectGroup
		s.Group = &step.Group{Label: g.Label, First: g.First, Last: g.Last, Open: g.Open, Steps: g.Steps, Counts: g.Counts, Class: g.Class}
	}
	return s
}
