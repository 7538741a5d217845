package ask

import (
	"slices"

	"replan/agent"
	"replan/agent/event"
	"replan/tui/live"
	"replan/tui/wording"
)

// Pending collects what waits for the user. These are the gates of the session and of its
// runs, and the steps that only the user can decide about.
type Pending struct {
	Runs *live.Runs
	// Muted hides all questions, as in a replay.
	Muted bool

	session  []OpenGate // gates of the session itself
	reopened *Question  // a failed step of an ended run that the user decides about; nil for none
}

// Open adds a gate of the session.
func (p *Pending) Open(run string, d event.GateRequested) {
	p.session = append(p.session, OpenGate{Run: run, Ask: d, Session: true})
}

// Resolve removes a gate of the session.
func (p *Pending) Resolve(run, gate string) {
	p.session = slices.DeleteFunc(p.session, func(g OpenGate) bool { return g.Run == run && g.Ask.Gate == gate })
}

// Reopen asks about a failed step of an ended run. canReplan reports whether a
// planner could plan the rest again.
func (p *Pending) Reopen(r *agent.Run, s *agent.StepState, canReplan bool) {
	args := s.Args
	if args == nil {
		args = s.Step.Args
	}
	q := p.question(r, agent.Question{
		Step: s.Step.Index, Title: s.Step.Title, Tool: s.Step.Tool, Reason: s.Error, Args: args,
		Denied: s.Failure == event.FailureDenied, Declined: wording.IsDeclined(s), Replan: canReplan,
	})
	q.Over = true
	p.reopened = &q
}

// Reopened reports whether there is a question about a failed step of an ended run.
func (p *Pending) Reopened() bool { return p.reopened != nil }

// Withdraw withdraws the question about a failed step of an ended run.
func (p *Pending) Withdraw() { p.reopened = nil }

// List returns all that waits for the user, the session's gates first.
func (p *Pending) List() []Request {
	var out []Request
	for _, g := range p.session {
		out = append(out, g)
	}
	switch {
	case p.Muted, p.Runs.Repeating():
	case p.Runs.Busy():
		for _, r := range p.Runs.All() {
			if r.Active() {
				out = append(out, p.ofRun(r.State)...)
			}
		}
	case p.reopened != nil:
		out = append(out, *p.reopened)
	}
	return out
}

// ofRun returns the gates and the questions of a run under way.
func (p *Pending) ofRun(r *agent.Run) []Request {
	var out []Request
	granted := wording.Grants(r)
	for _, g := range r.Gates {
		out = append(out, OpenGate{
			Run: r.ID, Ask: g.GateRequested, Tools: r.Catalog, Fits: r.EditCheck(g.Gate), Allowed: granted, Goal: r.Goal.Visible(),
			Repeats: wording.Repeats(r, g.GateRequested), Heard: r.FollowsDecline(g.Step),
		})
	}
	for _, q := range r.Elicitations {
		out = append(out, elicitation(r.ID, q))
	}
	for _, q := range r.Questions() {
		out = append(out, p.question(r, q))
	}
	return out
}

// question adds the details to display to a question of the run.
func (p *Pending) question(r *agent.Run, q agent.Question) Question {
	asked := Question{Question: q, Run: r.ID, Tools: r.Catalog, Time: p.Runs.Resumes(), NoReplan: WhyNoReplan(r, q.Replan)}
	if s := r.Step(q.Step); s != nil {
		asked.Attempt, asked.Expects = s.Attempt, s.Step.ExpectedOutcome
	}
	return asked
}

// Review returns the run whose plan waits for the user's review, nil for none.
func (p *Pending) Review() *agent.Run {
	if p.Muted {
		return nil
	}
	return p.Runs.Held()
}

// StepOf returns the step of the first request about a run, "" for none. In a
// replay, it is the step of the recorded question.
func (p *Pending) StepOf(r *agent.Run, d *Dialog) string {
	if !p.Muted {
		return d.StepOf(r.ID)
	}
	if q := r.Questions(); len(q) > 0 {
		return q[0].Step
	}
	return ""
}
