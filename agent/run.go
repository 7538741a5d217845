package agent

import (
	"replan/planning"
)

// Run is the state of one run after the events applied so far. The engine and the
// screen each apply the same events to a Run of their own, so they cannot
// disagree. The zero value is a run that plans with a model and has not started.
// Only Apply changes a Run. It is not safe for concurrent use.
type Run struct {
	Terms
	Clock
	Toolbox
	Planning
	Board
	Permissions
	OpenQuestions
	Conversations
	ModelCalls
	Ledger
	Meter
	Acceptance
	PlanReviews
	Outcome
	flight
	uncommittedFiles
	queues queues
}

// NewRun returns a run that has not started. planners makes its plans; nil plans
// in three phases with a model. Whoever replays the events of a run must pass the
// same planners as the original engine.
func NewRun(planners planning.Planners) *Run {
	r := &Run{}
	r.Planning.by(planners)
	return r
}

// rehearse returns a run in which nothing is called, to tell which calls of the plan on a
// board would ask: placeholders stand for values that are not known yet.
func rehearse(t *Terms, tools *Toolbox, permissions Permissions, b Board) *Run {
	r := &Run{Toolbox: newToolbox(tools.Catalogue, tools.gateRules()), Permissions: permissions, Board: b}
	r.Terms.rehearse(t)
	return r
}

// What needs several parts is made here, which shows at a glance who reaches what.

func (r *Run) roster() roster     { return roster{&r.Board, &r.Conversations, &r.Outcome} }
func (r *Run) recorder() recorder { return recorder{&r.Ledger, &r.Clock, &r.Board, r.roster()} }
func (r *Run) origins() origins {
	return origins{r.agreed(), &r.Terms, &r.Toolbox, &r.Ledger, &r.Planning, r.roster()}
}
func (r *Run) caller() caller     { return caller{r.origins(), &r.Permissions} }
func (r *Run) preparer() preparer { return preparer{r.caller(), &r.Permissions} }
func (r *Run) scheduler() scheduler {
	return scheduler{r.preparer(), &r.Terms, &r.Toolbox, &r.Board, &r.Ledger, &r.Planning, &r.Conversations, &r.Outcome, &r.Clock, &r.Meter, &r.queues}
}
func (r *Run) briefing() briefing { return briefing{r.caller(), &r.ModelCalls, &r.Meter} }
func (r *Run) dialogue() dialogue { return dialogue{r.scheduler(), r.briefing()} }
func (r *Run) guards() guards     { return guards{r.caller(), &r.Meter, &r.Clock, &r.flight} }
func (r *Run) checker() checker   { return checker{r.caller(), &r.Clock, &r.Meter} }
func (r *Run) answers() answers {
	return answers{r.origins(), &r.ModelCalls, &r.Clock, &r.Meter, &r.Acceptance}
}

func (r *Run) closer() closer {
	return closer{
		answers: r.answers(), flight: &r.flight, questions: &r.OpenQuestions, permissions: &r.Permissions, reviews: &r.PlanReviews,
		uncommitted: &r.uncommittedFiles, queues: &r.queues, guards: r.guards(), checker: r.checker(), briefing: r.briefing(),
	}
}

func (r *Run) starter() starter {
	return starter{checker: r.checker(), queues: &r.queues, guards: r.guards(), briefing: r.briefing()}
}

func (r *Run) planmaker() planmaker {
	return planmaker{closer: r.closer(), starter: r.starter(), checker: r.checker()}
}

func (r *Run) decision() decision {
	return decision{
		closer: r.closer(), starter: r.starter(), planmaker: r.planmaker(), planOnly: r.planOnly,
		board: &r.Board, planning: &r.Planning, outcome: &r.Outcome, questions: &r.OpenQuestions, reviews: &r.PlanReviews,
	}
}

func (r *Run) tracker() tracker {
	return tracker{r.dialogue(), r.recorder(), &r.flight, &r.OpenQuestions, &r.Acceptance, &r.ModelCalls}
}
func (r *Run) arranger() arranger { return arranger{r.tracker(), &r.PlanReviews, r.guards()} }
func (r *Run) resumer() resumer   { return resumer{r.arranger(), &r.Terms, &r.Toolbox} }
