package tui

import (
	"errors"
	"path/filepath"

	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/tui/dag"
	"replan/tui/dialog"
	"replan/tui/draw"
	"replan/tui/graphics"
	"replan/tui/keymap"
	"replan/tui/panes"
	"replan/tui/replay"
	"replan/tui/step"
	"replan/tui/telling"
)

// handleEvents applies a batch of events and updates the panes.
func (m *Model) handleEvents(b eventsMsg) tea.Cmd {
	before := m.live.Active()
	for _, e := range b.events {
		m.clock.Record(e.Time, b.arrived)
		m.message.ApplyEvent(e)
		m.applyEvent(e)
	}
	m.look.Now = m.clock.Now()
	if b.closed {
		m.closed, m.live.Preparing = true, false
	}
	var settings tea.Cmd
	if m.kept && m.dialogs.settings.Shown() {
		settings = m.outbox.ask(keymap.QuerySettings)
	}
	m.kept = false
	var models tea.Cmd
	if m.relist {
		models = m.outbox.ask(keymap.QueryModels)
	}
	m.relist = false
	open := m.scene().New()
	cmd := tea.Batch(settings, models, m.ask.Set(m.pending.List()), m.review.Set(m.pending.Review(), m.live.Resumes), m.dialogs.changes.Begin())
	if guard := m.scene().New(); guard != nil && guard != open && !m.input.Empty() {
		cmd = tea.Batch(cmd, guard.StartTyping()) // it opened over a text that is being typed
	}
	if m.servers.stale {
		m.servers.stale = false
		cmd = tea.Batch(cmd, m.outbox.ask(keymap.QueryServers))
	}
	if m.servers.address != "" {
		cmd = tea.Batch(cmd, m.clipboard(m.servers.address))
		m.servers.address = ""
	}
	m.refresh()
	return tea.Batch(cmd, m.alert(before), m.Animate())
}

// applyEvent applies one event to its run or to the state of the session.
func (m *Model) applyEvent(e event.Event) {
	if m.live.Repeats(e) {
		m.feed.repeat(e)
		return
	}
	m.toasts.Notify(e.Data)
	m.servers.observe(e.Data, m.dialogs.servers.Shown())
	if m.feed.handle(e) {
		if _, ok := e.Data.(event.RunStarted); ok && m.options.Replay {
			m.inputNamesReplay("replay of "+untrusted.Line(e.Run), "replay of "+telling.ShortID(e.Run))
		}
		return
	}
	switch d := e.Data.(type) {
	case session.Status:
		m.handleStatus(d)
	case session.Kept:
		m.showKept(d)
	case session.Chosen:
		if words := m.dialogs.models.Chosen(d, m.status); words != "" {
			m.chat.Add(m.chat.Notice(untrusted.Text(words))...)
		}
	case session.ChangesOffered:
		m.dialogs.changes.Open(d.Changes)
	case session.ChangesSettled:
		m.dialogs.changes.Settled(d.SettledChanges)
	case session.UndoRefused:
		m.dialogs.undo.Take(d.Undo)
	case event.ChatUndone:
		m.undone(d)
	case session.Returned:
		m.returned(d)
	case session.History:
		m.input.Restore(d)
	case session.Queue:
		m.caughtUp = true
		if d.Doing != "" && m.live.Active() == "" {
			m.live.Preparing = true // even if sent before the session's first status
		}
		m.handleQueue(d)
	case event.ChatCompacted:
		m.chat.Add(m.chat.Compacted(d))
	case session.Resuming:
		m.feed.announce(d)
	case event.ChatUser:
		m.handleUser(d)
	case event.ChatReply:
		m.feed.reply(d)
		m.chat.Introduce(m.live.Preparing)
	case event.Note:
		m.showNote(d)
	case event.GateRequested:
		m.pending.Open(e.Run, d)
	case event.GateResolved:
		m.pending.Resolve(e.Run, d.Gate)
	default:
		handleJob(m, d)
	}
}

// handleJob shows the progress or the end of what the session does for the user beside
// its runs.
func handleJob(m *Model, d event.Data) {
	switch d := d.(type) {
	case session.PullProgress:
		handlePull(m, d)
	case session.Removed:
		handleRemoved(m, d)
	case session.LoginProgress:
		handleLogin(m, d)
	}
}

// showNote shows a note of the session in the chat.
func (m *Model) showNote(d event.Note) {
	m.review.Refused(d.Text.Line())
	if d.Level == "warn" {
		m.dialogs.servers.Refused(d.Text.Visible())
	}
	m.chat.Add(m.chat.Note(d.Level, d.Text.Visible()))
}

// showKept says that a choice was saved, or why not.
func (m *Model) showKept(d session.Kept) {
	m.kept = true
	short := func(path string) string { return draw.ShortPath(path, m.home) }
	if m.dialogs.settings.Shown() {
		short = filepath.Base // the dialog shows the path
	}
	words := telling.Kept(d, short)
	if d.Problem != "" {
		m.message.Set(words) // too long for a notice
		return
	}
	if d.Key == panes.ChatWidth || d.Key == panes.PlanHeight || d.Key == dialog.KeyRecent {
		return // the panes and the palette show it
	}
	m.toasts.Show("info", words)
}

// handlePull shows how far the download of a model has come, or how it ended.
func handlePull(m *Model, d session.PullProgress) {
	m.pull = d
	if m.dialogs.models.Pulled(d) {
		m.relist = true
	}
	if !d.Ended {
		return
	}
	m.pull = session.PullProgress{}
	level := "info"
	if d.Problem != "" {
		level = "warn"
		m.chat.Add(m.chat.Note("warn", d.Problem.Visible()))
	}
	m.toasts.Show(level, telling.PullEnd(d))
}

// handleRemoved says that a model was removed, or why not.
func handleRemoved(m *Model, d session.Removed) {
	shown := m.dialogs.models.Removed(d)
	m.relist = m.relist || shown
	switch {
	case d.Problem == "":
		m.toasts.Show("info", untrusted.Line(d.Model)+" is removed")
	case !shown:
		m.chat.Add(m.chat.Note("warn", d.Problem.Visible()))
	}
}

// handleStatus applies the session's status.
func (m *Model) handleStatus(d session.Status) {
	m.caughtUp = true
	m.servers.notices(m.status, d, m.live.Shown().State, m.toasts.Show)
	m.dag.Lose(telling.LostServers(d.Servers))
	m.status, m.servers.looking = d, false
	if dialog := m.dialogs.servers; dialog.Shown() && dialog.Changed(d.Servers) {
		m.servers.stale = true
	}
	m.chat.SetState(m.chatState())
	if !m.chat.Greets() {
		m.chat.Introduce(m.live.Preparing)
	}
}

// handleQueue stores the queue of the session. When the session stops preparing, its
// request is finished.
func (m *Model) handleQueue(d session.Queue) {
	if m.input.Queue.Doing != "" && d.Doing == "" {
		m.live.Finish()
	}
	m.input.Queue = d
	m.chat.Invalidate()
}

// returned puts back into the input a text that was rejected or removed from
// the queue.
func (m *Model) returned(d session.Returned) {
	if d.Reason != "" {
		m.live.Finish()
		m.chat.Add(m.chat.Note("warn", d.Reason.Visible()))
		m.chat.ToEnd()
	}
	m.input.PutBack(d.Text)
}

// handleUser shows what the user sent.
func (m *Model) handleUser(d event.ChatUser) {
	if m.caughtUp { // the history of a continued session starts nothing
		m.live.Prepare()
	}
	if m.live.Active() == "" {
		m.chat.Settle()
	}
	m.chat.Message(d, m.live.Preparing)
	m.input.Remember(string(d.Text))
}

// handleAnswer passes the answer to a query to the part of the screen that asked. It
// reports whether msg is an answer.
func (m *Model) handleAnswer(msg tea.Msg) (cmd tea.Cmd, taken bool) {
	switch a := msg.(type) {
	case keymap.AnswerMsg[session.Completions]:
		m.dialogs.palette.Update(a)
		cmd = m.carryOut(m.input.Update(a))
	case keymap.AnswerMsg[session.Picture]:
		m.detail.Picture(a.Value, a.Err)
	case keymap.JournalMsg:
		cmd = m.playRecalled(a)
	case drawnMsg:
		cmd = m.outbox.ask(pastRuns)
	case pastRunsMsg:
		m.past = a
	case keymap.Answer:
		err := a.Failure()
		if errors.Is(err, session.ErrClosed) {
			break
		}
		if err != nil {
			m.showNote(event.Note{Level: "warn", Text: untrusted.Text(err.Error())})
		}
		if next := m.dialogs.answered(msg); next != nil { // even a partial answer
			cmd = m.outbox.ask(next)
		}
	default:
		return nil, false
	}
	m.refresh()
	return cmd, true
}

// pictures asks for a picture that the step pane would draw, and has the terminal hold
// those that it draws.
func pictures(m *Model) tea.Cmd {
	if m.player != nil {
		return nil // its screen does
	}
	var wanted tea.Cmd
	var drawn []graphics.Picture
	if m.panes.Layout().Step.H > 0 {
		drawn = m.detail.Pictures()
		if q := m.detail.Wanted(); q != nil {
			wanted = m.outbox.ask(q)
		}
	}
	show := m.graphics.Show(drawn)
	if show != nil && m.control != nil {
		show = replay.Outward(show)
	}
	return tea.Batch(wanted, show)
}

// reopenFailure asks about a failed step of an ended run, and reports whether
// that is possible.
func (m *Model) reopenFailure(s *agent.StepState) bool {
	if !m.live.Resumable() || s.Status != agent.StepFailed {
		return false
	}
	r := m.live.Shown().State
	m.pending.Reopen(r, s, m.frameState().Model() != "" || m.options.Planners != nil)
	m.ask.Forget(r.ID)
	return true
}

// refresh updates the panes after events.
func (m *Model) refresh() {
	m.chat.Invalidate()
	shown := m.live.Shown().State
	m.dag.SetState(m.planState())
	m.dag.Invalidate()
	m.detail.Show(shown, subjectOf(m.dag.Chosen()))
	m.detail.Invalidate()
	if m.dialogs.settings.Shown() {
		m.dialogs.settings.Changed(m.settingValues())
	}
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
