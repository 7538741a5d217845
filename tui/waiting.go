package tui

import (
	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/tui/ask"
	"replan/tui/keymap"
	"replan/tui/live"
	"replan/tui/review"
)

// waiting is what waits for the user: open gates and questions, and a plan for review. Gates
// and questions come before a plan.
type waiting struct {
	pending *ask.Pending // of the runs on the screen
	live    *live.Runs
	ask     *ask.Dialog
	review  *review.Dialog
	aside   bool // the gate or question is hidden for a side question
}

// waitingActions are the actions on what waits for the user.
func waitingActions() keymap.Table[*waiting] {
	return keymap.Table[*waiting]{
		{ID: "gate", Keys: "ctrl+g", Does: "show the open gate or question", Refuse: keymap.Needs((*waiting).any, "No gate is open."), Do: keymap.Calls((*waiting).reopen)},
	}
}

// any reports whether something waits for an answer.
func (w *waiting) any() bool { return w.asked() != "" || w.reviewing() }

// asked returns what the shown request waits at: "gate" or "question"; "" for none.
func (w *waiting) asked() string { return w.ask.WaitsFor() }

// reviewing reports whether a plan waits for review.
func (w *waiting) reviewing() bool { return w.review.Waits() }

// askedStep returns the step of a run that the dialog is about, also while it is hidden; ""
// for none.
func (w *waiting) askedStep(run string) string { return w.ask.StepOf(run) }

// asksForSession reports whether the open question is one of the session, not of a run.
func (w *waiting) asksForSession() bool { return w.ask.AsksForSession() }

// reopen shows what waits for an answer.
func (w *waiting) reopen() {
	if w.asked() == "" {
		w.review.Reopen()
		return
	}
	w.ask.Reopen()
}

// makeWay hides the gate or question for a side question.
func (w *waiting) makeWay() {
	w.aside = w.aside || w.ask.Showing()
	w.ask.LookAround()
}

// lookBack shows again what was hidden for a side question, if it still waits. A text that is
// being typed in the input keeps it hidden.
func (w *waiting) lookBack(untyped bool) tea.Cmd {
	back := w.aside && untyped
	w.aside = false
	if !back {
		return nil
	}
	return w.ask.Return()
}

// update shows what waits now.
func (w *waiting) update() tea.Cmd {
	return tea.Batch(w.show(), w.review.Set(w.pending.Review(), w.live.Resumes()))
}

// show shows the gates and questions that are open now.
func (w *waiting) show() tea.Cmd { return w.ask.Set(w.pending.List()) }

// takeTurns hides a plan for review while a gate or question is on the screen.
func (w *waiting) takeTurns() tea.Cmd { return w.review.Hide(w.ask.Showing()) }

// withdraw withdraws the question of an ended run if the requests answer it, or if the user
// left its dialog. No run waits for the answer.
func (w *waiting) withdraw(rs keymap.Requests) tea.Cmd {
	answered := keymap.Has[keymap.Answered](rs)
	if !w.pending.Reopened() || !answered && (w.ask.Open() || keymap.Has[keymap.ShowGate](rs)) {
		return nil
	}
	w.pending.Withdraw()
	w.live.Await(answered)
	return w.show()
}

// reopenFailure asks about a failed step of an ended run, if that is possible. plans means
// that a model or a rule can plan anew.
func (w *waiting) reopenFailure(s *agent.StepState, plans bool) tea.Cmd {
	if !w.live.Resumable() || s.Status != agent.StepFailed {
		return nil
	}
	r := w.live.Shown().State
	w.pending.Reopen(r, s, plans)
	w.ask.Forget(r.ID)
	cmd := w.show()
	w.ask.Guard().AskedFor()
	return cmd
}

// clearMessage takes back what a gate or a question says about an early key.
func (w *waiting) clearMessage() { w.ask.Guard().ClearMessage() }

// disarm drops the answer to a gate or a question that waits for another letter.
func (w *waiting) disarm() { w.ask.Guard().Disarm() }
