package tui

import (
	"slices"
	"strconv"

	"replan/planning/prompt"
	"replan/tui/chat"
	"replan/tui/dag"
	"replan/tui/dialog"
	"replan/tui/frame"
	"replan/tui/input"
	"replan/tui/keymap"
	"replan/tui/panes"
	"replan/tui/step"
)

// This file says what each part needs to know of the others.

// chatState returns what the chat needs to know. It draws the lines about current
// work, so call it once for each message.
func (m *Model) chatState() chat.State {
	frame, place := m.frameState(), m.panes.Layout().Chat
	s := chat.State{
		Size:     place,
		Activity: m.frame.Activity(frame, place.W),
		Replayed: m.options.Replay, Closed: m.session.ended(),
		Advice:  "Try again, choose a larger model (" + m.keys.Name("models") + "), or read its replies (" + m.keys.Name("exchanges") + ").",
		Problem: m.session.now().Problem.Line(), Notes: m.session.now().Instructions.Line(),
	}
	if !m.options.Replay && m.live.Can.NoResume == "" {
		s.ResumeKey = m.keys.ResumeNames()
	}
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
		Focused: m.panes.Focus() == panes.Chat, Covered: m.view.covered(), Closed: m.session.ended(), Can: m.live.Can,
		Busy: m.live.Busy(), Running: m.live.Active() != "", Steerable: m.live.Steerable(),
		NoModel: m.session.now().Trouble.Kind != "" && m.chat.Greets(), Blocked: m.session.now().Problem.Line() != "",
	}
}

// frameState returns what the frame around the panes shows.
func (m *Model) frameState() frame.State {
	run := m.live.Current()
	s := m.session.frameState()
	s.Run, s.Active, s.Preparing, s.Stopping = run.State, run.Active(), m.live.Preparing(), m.live.Stopping()
	s.Waiting, s.Reviewing = m.ask.WaitsFor(), m.review.Waits()
	if s.Preparing {
		s.Preparation = m.input.Preparing(m.chat.CommandSent())
		if m.holdsGoals() {
			s.Preparation = "waiting for your answer (" + m.keys.Name("gate") + ")"
		}
	}
	if !s.Active {
		return s
	}
	for _, r := range m.live.All() {
		s.Runs = append(s.Runs, r.State)
	}
	s.AskedStep = m.ask.StepOf(run.State.ID) // also while the dialog is hidden
	_, _, s.Requests.Tools = run.Requested(prompt.PurposeTools)
	_, _, s.Requests.Repair = run.Requested(prompt.PurposeRepair)
	s.Requests.ArgumentsOf, _, s.Requests.Arguments = run.Requested(prompt.PurposeStep)
	if run.State.Synthesis.Started {
		_, s.Requests.AnswerSince, s.Requests.Answer = run.Requested(prompt.PurposeSynthesis)
		if !s.Requests.Answer {
			_, s.Requests.AnswerSince, s.Requests.Answer = run.Requested(prompt.PurposeChat)
		}
		narrator := m.chat.Narrator(run.State.ID)
		s.Requests.Writing, s.Requests.CallsShown = narrator.Writing(), narrator.Cards() > 0
	}
	return s
}

// footer returns the contents of the last line.
func (m *Model) footer() frame.Footer {
	message := m.message.Text
	switch over := m.dialogs.front(); {
	case message != "":
	case over == m.review:
		message = m.review.Guard().Message()
	case over == nil && m.ask.Showing():
		message = m.ask.Guard().Message()
	}
	return frame.Footer{Quitting: m.exits.asks(), Message: message, Hints: m.hints()}
}

// hints returns the keys available now, the most useful first.
func (m *Model) hints() []keymap.Hint {
	over := m.dialogs.front()
	switch {
	case over != nil:
		return armed(over.Actions().Offered(over.Hints()), m.review.Guard().Waiting())
	case m.view.searching():
		return chat.SearchHints(m.keys)
	case m.ask.Showing():
		return armed(m.ask.Hints(), m.ask.Guard().Waiting())
	case m.input.Listing():
		return m.input.Hints()
	}
	run := m.live.Current().State
	k := frame.Keys{
		Focus: m.panes.Focus(), Waiting: m.ask.WaitsFor(), Reviewing: m.review.Waits(), Typed: !m.input.Empty(), Active: m.live.Active() != "",
		Busy: m.live.Busy(), Resumable: run != nil && run.Resumable() && m.live.Can.NoResume == "", Mapped: m.exits.mapping(),
	}
	switch m.panes.Focus() {
	case panes.Chat:
		k.Input, k.Queue = m.input.Hints(), m.input.QueueHints()
	case panes.Plan:
		k.Plan = m.dag.Hints(!m.live.Recorded, m.dialogs.undoable())
	}
	k.Played = m.playback.state()
	return m.frame.Hints(k)
}

// armed marks the hint of an action that acts in a moment.
func armed(hints []keymap.Hint, id string) []keymap.Hint {
	for i := range hints {
		hints[i].Armed = slices.Contains(hints[i].IDs, id)
	}
	return hints
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
	page := dialog.HelpPage{Groups: m.groups, Here: m.topic(), Replay: m.live.Recorded, Commands: m.input.Commands()}
	if over := m.dialogs.front(); over != nil {
		page.Now = over.Actions().Offered(over.Hints())
	}
	return page
}

// palettePage returns what the palette offers now.
func (m *Model) palettePage() dialog.PalettePage {
	set, theme := m.appearance.chosenTheme()
	return dialog.PalettePage{
		Groups: m.offered(), Here: m.topic(), Themes: set, Theme: theme,
		Goals: m.options.Examples, Folder: m.session.now().Workspace, Replay: m.options.Replay,
		NoText: m.input.NoCommand, Type: m.input.Start, Mention: m.input.Mention,
	}
}

// topic returns the place that help is about.
func (m *Model) topic() keymap.Place {
	switch over := m.dialogs.front(); {
	case over != nil:
		return over.Place()
	case m.playback.on() && m.panes.Focus() == panes.Chat:
		return keymap.PlaceReplay
	}
	return m.here()
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
