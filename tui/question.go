package tui

import (
	"replan/agent"
	"replan/agent/event"
	"replan/tui/ask"
)

// openQuestions returns the questions about steps of a run that wait for the
// user.
func (m *Model) openQuestions(r *agent.Run) []ask.Asking {
	var out []ask.Asking
	for _, q := range r.Questions() {
		out = append(out, m.questionOf(r, q))
	}
	return out
}

// questionOf adds the details to display to a question of the run.
func (m *Model) questionOf(r *agent.Run, q agent.Question) ask.Question {
	asked := ask.Question{Question: q, Run: r.ID, Time: m.resumes}
	if s := r.Step(q.Step); s != nil {
		asked.Attempt, asked.Expects = s.Attempt, s.Step.ExpectedOutcome
	}
	asked.NoReplan = ask.WhyNoReplan(r, q.Replan)
	return asked
}

// takeUp opens the dialog of a failed step of an ended run, and reports whether
// that is possible.
func (m *Model) takeUp(s *agent.StepState) bool {
	if !m.resumable() || s.Status != agent.StepFailed {
		return false
	}
	r := m.shown.run
	args := s.Args
	if args == nil {
		args = s.Step.Args
	}
	q := m.questionOf(r, agent.Question{
		Step: s.Step.Index, Title: s.Step.Title, Tool: s.Step.Tool, Reason: s.Error, Args: args, Denied: s.Failure == event.FailureDenied,
		Replan: m.modelName() != "" || m.options.Planners != nil,
	})
	q.Over = true
	m.reopened = &q
	m.ask.Forget(r.ID)
	return true
}
