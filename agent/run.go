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

// What needs several parts is made here, which shows at a glance who reaches what. It is made for
// each event, so the larger ones take the smaller ones out of each other.

func (r *Run) roster() roster { return roster{&r.Board, &r.Conversations, &r.Outcome} }

func (r *Run) origins() origins {
	return origins{
		terms: &r.Terms, tools: &r.Toolbox, ledger: &r.Ledger, planning: &r.Planning, board: &r.Board, steps: r,
	}
}

func (r *Run) caller() caller {
	return caller{
		origins: r.origins(), terms: &r.Terms, tools: &r.Toolbox, planning: &r.Planning, board: &r.Board,
		permissions: &r.Permissions,
	}
}

func (r *Run) answers() answers {
	return answers{
		terms: &r.Terms, tools: &r.Toolbox, ledger: &r.Ledger, planning: &r.Planning, board: &r.Board, outcome: &r.Outcome,
		acceptance: &r.Acceptance, models: &r.ModelCalls, clock: &r.Clock, meter: &r.Meter,
	}
}

func (r *Run) briefing() briefing {
	return briefing{
		terms: &r.Terms, tools: &r.Toolbox, board: &r.Board, conversations: &r.Conversations, permissions: &r.Permissions,
		models: &r.ModelCalls, meter: &r.Meter,
	}
}

func (r *Run) checker() checker {
	return checker{
		caller: r.caller(), guards: r.guards(), origins: r.origins(), tools: &r.Toolbox, clock: &r.Clock, meter: &r.Meter,
	}
}

func (r *Run) guards() guards {
	return guards{
		steps: r, tools: &r.Toolbox, board: &r.Board, planning: &r.Planning, conversations: &r.Conversations,
		permissions: &r.Permissions, flight: &r.flight, meter: &r.Meter, clock: &r.Clock,
	}
}

func (r *Run) starter() starter {
	return starter{
		checker: r.checker(), caller: r.caller(), origins: r.origins(), guards: r.guards(), briefing: r.briefing(),
		terms: &r.Terms, tools: &r.Toolbox, board: &r.Board, steps: r, queues: &r.queues, permissions: &r.Permissions,
		conversations: &r.Conversations, clock: &r.Clock, meter: &r.Meter,
	}
}

func (r *Run) closer() closer {
	return closer{
		answers: r.answers(), guards: r.guards(), checker: r.checker(), briefing: r.briefing(), terms: &r.Terms,
		tools: &r.Toolbox, ledger: &r.Ledger, planning: &r.Planning, board: &r.Board, steps: r, outcome: &r.Outcome,
		acceptance: &r.Acceptance, questions: &r.OpenQuestions, permissions: &r.Permissions, reviews: &r.PlanReviews,
		uncommitted: &r.uncommittedFiles, queues: &r.queues, flight: &r.flight, clock: &r.Clock, meter: &r.Meter,
	}
}

func (r *Run) planmaker() planmaker {
	return planmaker{
		closer: r.closer(), starter: r.starter(), checker: r.checker(), origins: r.origins(), guards: r.guards(),
		briefing: r.briefing(), terms: &r.Terms, planning: &r.Planning, board: &r.Board, steps: r,
		conversations: &r.Conversations, queues: &r.queues, flight: &r.flight, meter: &r.Meter,
	}
}

func (r *Run) preparer() preparer {
	return preparer{
		caller: r.caller(), terms: &r.Terms, tools: &r.Toolbox, permissions: &r.Permissions,
	}
}

func (r *Run) scheduler() scheduler {
	prepares := r.preparer()
	return scheduler{
		preparer: prepares, caller: prepares.caller, steps: r.roster(), terms: &r.Terms, tools: &r.Toolbox, board: &r.Board,
		ledger: &r.Ledger, planning: &r.Planning, queues: &r.queues, clock: &r.Clock, meter: &r.Meter,
	}
}

func (r *Run) dialogue() dialogue {
	return dialogue{
		scheduler: r.scheduler(), briefing: r.briefing(), terms: &r.Terms, tools: &r.Toolbox, board: &r.Board,
		planning: &r.Planning, conversations: &r.Conversations, outcome: &r.Outcome, permissions: &r.Permissions,
		clock: &r.Clock,
	}
}

func (r *Run) recorder() recorder {
	return recorder{
		ledger: &r.Ledger, clock: &r.Clock, board: &r.Board, steps: r.roster(),
	}
}

func (r *Run) tracker() tracker {
	talks := r.dialogue()
	schedules := &talks.scheduler
	return tracker{
		dialogue: talks, scheduler: *schedules, preparer: schedules.preparer, caller: schedules.caller,
		origins: schedules.caller.origins, recorder: r.recorder(), steps: schedules.steps, terms: &r.Terms, tools: &r.Toolbox, board: &r.Board, ledger: &r.Ledger,
		planning: &r.Planning, outcome: &r.Outcome, conversations: &r.Conversations, models: &r.ModelCalls,
		permissions: &r.Permissions, questions: &r.OpenQuestions, acceptance: &r.Acceptance, flight: &r.flight,
		clock: &r.Clock, meter: &r.Meter,
	}
}

func (r *Run) arranger() arranger {
	return arranger{
		tracker: r.tracker(), dialogue: r.dialogue(), scheduler: r.scheduler(), caller: r.caller(), origins: r.origins(),
		guards: r.guards(), briefing: r.briefing(), recorder: r.recorder(), steps: r.roster(), terms: &r.Terms,
		tools: &r.Toolbox, board: &r.Board, ledger: &r.Ledger, planning: &r.Planning, outcome: &r.Outcome,
		conversations: &r.Conversations, models: &r.ModelCalls, permissions: &r.Permissions, acceptance: &r.Acceptance,
		reviews: &r.PlanReviews, flight: &r.flight, clock: &r.Clock, meter: &r.Meter,
	}
}

func (r *Run) resumer() resumer {
	return resumer{
		arranger: r.arranger(), tracker: r.tracker(), dialogue: r.dialogue(), scheduler: r.scheduler(), caller: r.caller(),
		recorder: r.recorder(), steps: r.roster(), terms: &r.Terms, tools: &r.Toolbox, board: &r.Board, planning: &r.Planning,
		outcome: &r.Outcome, conversations: &r.Conversations, models: &r.ModelCalls, permissions: &r.Permissions,
		questions: &r.OpenQuestions, acceptance: &r.Acceptance, flight: &r.flight, clock: &r.Clock, meter: &r.Meter,
	}
}

func (r *Run) decision() decision {
	return decision{
		closer: r.closer(), starter: r.starter(), planmaker: r.planmaker(), terms: &r.Terms,
		board: &r.Board, planning: &r.Planning, outcome: &r.Outcome, questions: &r.OpenQuestions, reviews: &r.PlanReviews,
	}
}
