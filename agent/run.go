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

	cachedServices *services // by services; its parts are those of this Run
}

// NewRun returns a run that has not started. planners makes its plans; nil plans
// in three phases with a model. Whoever replays the events of a run must pass the
// same planners as the original engine.
func NewRun(planners planning.Planners) *Run {
	r := &Run{}
	r.Planning.by(planners)
	return r
}

// services are what needs several parts of a run. Each names the parts and the other services that
// it reaches.
type services struct {
	of *Run

	// For both, and for questions about the run.
	roster   roster
	origins  origins
	caller   caller
	evidence evidence
	answers  answers
	briefing briefing
	guards   guards
	checker  checker

	// For the next action.
	gateopener  gateopener
	callstarter callstarter
	requester   requester
	reporter    reporter
	starter     starter
	doubts      doubts
	notices     notices
	closer      closer
	planmaker   planmaker
	decision    decision

	// After an event.
	preparer   preparer
	scheduler  scheduler
	recorder   recorder
	counter    counter
	dialogue   dialogue
	gatekeeper gatekeeper
	expander   expander
	decider    decider
	drafter    drafter
	tracker    tracker
	planwriter planwriter
	arranger   arranger
	approver   approver
	resumer    resumer
}

// services returns the services of the run. They are made once, and again for a copy of a Run,
// which has parts of its own.
func (r *Run) services() *services {
	if r.cachedServices == nil || r.cachedServices.of != r {
		r.cachedServices = newServices(r)
	}
	return r.cachedServices
}

// newServices makes what needs several parts of a run, which shows at a glance who reaches what.
func newServices(r *Run) *services {
	s := &services{of: r}
	s.roster = roster{&r.Board, &r.Conversations, &r.Outcome}
	s.origins = origins{
		terms: &r.Terms, tools: &r.Toolbox, ledger: &r.Ledger, planning: &r.Planning, board: &r.Board, steps: &s.roster,
	}
	s.caller = caller{
		origins: &s.origins, terms: &r.Terms, tools: &r.Toolbox, planning: &r.Planning, board: &r.Board,
		permissions: &r.Permissions,
	}
	s.evidence = evidence{terms: &r.Terms, tools: &r.Toolbox, board: &r.Board, acceptance: &r.Acceptance}
	s.answers = answers{
		terms: &r.Terms, tools: &r.Toolbox, ledger: &r.Ledger, planning: &r.Planning, board: &r.Board, outcome: &r.Outcome,
		clock: &r.Clock, meter: &r.Meter, evidence: &s.evidence,
	}
	s.briefing = briefing{
		terms: &r.Terms, tools: &r.Toolbox, board: &r.Board, conversations: &r.Conversations, permissions: &r.Permissions,
		models: &r.ModelCalls, meter: &r.Meter,
	}
	s.guards = guards{
		steps: &s.roster, tools: &r.Toolbox, board: &r.Board, planning: &r.Planning, conversations: &r.Conversations,
		permissions: &r.Permissions, flight: &r.flight, meter: &r.Meter, clock: &r.Clock,
	}
	s.checker = checker{
		terms: &r.Terms, tools: &r.Toolbox, board: &r.Board, outcome: &r.Outcome, acceptance: &r.Acceptance,
		queues: &r.queues, clock: &r.Clock, caller: &s.caller, guards: &s.guards, origins: &s.origins,
	}

	s.gateopener = gateopener{
		tools: &r.Toolbox, steps: &s.roster, permissions: &r.Permissions, caller: &s.caller, guards: &s.guards,
	}
	s.callstarter = callstarter{
		tools: &r.Toolbox, board: &r.Board, caller: &s.caller, origins: &s.origins, guards: &s.guards, briefing: &s.briefing,
	}
	s.requester = requester{
		terms: &r.Terms, tools: &r.Toolbox, board: &r.Board, conversations: &r.Conversations, origins: &s.origins,
		guards: &s.guards, briefing: &s.briefing,
	}
	s.reporter = reporter{
		terms: &r.Terms, tools: &r.Toolbox, board: &r.Board, clock: &r.Clock, caller: &s.caller, guards: &s.guards,
	}
	s.starter = starter{
		queues: &r.queues, guards: &s.guards, checker: &s.checker, gates: &s.gateopener, calls: &s.callstarter,
		models: &s.requester, reporter: &s.reporter,
	}
	s.doubts = doubts{terms: &r.Terms, questions: &r.OpenQuestions, steps: &s.roster}
	s.notices = notices{
		terms: &r.Terms, planning: &r.Planning, board: &r.Board, ledger: &r.Ledger, uncommitted: &r.uncommittedFiles,
		guards: &s.guards,
	}
	s.closer = closer{
		terms: &r.Terms, planning: &r.Planning, board: &r.Board, outcome: &r.Outcome, conversations: &r.Conversations,
		flight: &r.flight, answers: &s.answers, evidence: &s.evidence, doubts: &s.doubts, guards: &s.guards,
		checker: &s.checker, briefing: &s.briefing,
	}
	s.planmaker = planmaker{
		terms: &r.Terms, planning: &r.Planning, board: &r.Board, steps: &s.roster, flight: &r.flight, meter: &r.Meter,
		closer: &s.closer, starter: &s.starter, calls: &s.callstarter, checker: &s.checker, guards: &s.guards,
	}
	s.decision = decision{
		terms: &r.Terms, board: &r.Board, planning: &r.Planning, outcome: &r.Outcome, questions: &r.OpenQuestions,
		reviews: &r.PlanReviews, doubts: &s.doubts, notices: &s.notices, guards: &s.guards, planmaker: &s.planmaker,
		starter: &s.starter, closer: &s.closer,
	}

	s.preparer = preparer{
		caller: &s.caller, terms: &r.Terms, tools: &r.Toolbox, permissions: &r.Permissions,
	}
	s.scheduler = scheduler{
		preparer: &s.preparer, caller: &s.caller, steps: &s.roster, terms: &r.Terms, tools: &r.Toolbox, board: &r.Board,
		queues: &r.queues, clock: &r.Clock, meter: &r.Meter,
	}
	s.recorder = recorder{ledger: &r.Ledger, clock: &r.Clock, board: &r.Board, steps: &s.roster}
	s.counter = counter{
		flight: &r.flight, meter: &r.Meter, models: &r.ModelCalls, tools: &r.Toolbox, terms: &r.Terms, clock: &r.Clock,
	}
	s.dialogue = dialogue{
		scheduler: &s.scheduler, briefing: &s.briefing, terms: &r.Terms, tools: &r.Toolbox, board: &r.Board,
		planning: &r.Planning, conversations: &r.Conversations, outcome: &r.Outcome, permissions: &r.Permissions,
		clock: &r.Clock, steps: &s.roster, counter: &s.counter,
	}
	s.gatekeeper = gatekeeper{
		steps: &s.roster, tools: &r.Toolbox, permissions: &r.Permissions, origins: &s.origins, preparer: &s.preparer,
		recorder: &s.recorder, scheduler: &s.scheduler,
	}
	s.expander = expander{
		steps: &s.roster, board: &r.Board, permissions: &r.Permissions, clock: &r.Clock, counter: &s.counter,
		preparer: &s.preparer, recorder: &s.recorder, scheduler: &s.scheduler,
	}
	s.decider = decider{
		steps: &s.roster, terms: &r.Terms, board: &r.Board, planning: &r.Planning, outcome: &r.Outcome,
		questions: &r.OpenQuestions, meter: &r.Meter, dialogue: &s.dialogue, expander: &s.expander, recorder: &s.recorder,
		scheduler: &s.scheduler,
	}
	s.drafter = drafter{
		steps: &s.roster, terms: &r.Terms, tools: &r.Toolbox, board: &r.Board, ledger: &r.Ledger, origins: &s.origins,
		caller: &s.caller, recorder: &s.recorder,
	}
	s.tracker = tracker{
		steps: &s.roster, permissions: &r.Permissions, clock: &r.Clock, counter: &s.counter, dialogue: &s.dialogue,
		drafter: &s.drafter, decider: &s.decider, recorder: &s.recorder, scheduler: &s.scheduler,
	}
	s.planwriter = planwriter{
		terms: &r.Terms, board: &r.Board, planning: &r.Planning, outcome: &r.Outcome, ledger: &r.Ledger, clock: &r.Clock,
		meter: &r.Meter, briefing: &s.briefing, counter: &s.counter,
	}
	s.arranger = arranger{
		steps: &s.roster, tools: &r.Toolbox, board: &r.Board, ledger: &r.Ledger, planning: &r.Planning,
		permissions: &r.Permissions, clock: &r.Clock, meter: &r.Meter, origins: &s.origins, drafter: &s.drafter,
		expander: &s.expander, decider: &s.decider, recorder: &s.recorder, scheduler: &s.scheduler,
	}
	s.approver = approver{
		steps: &s.roster, tools: &r.Toolbox, board: &r.Board, permissions: &r.Permissions, reviews: &r.PlanReviews,
		outcome: &r.Outcome, clock: &r.Clock, meter: &r.Meter, expander: &s.expander, recorder: &s.recorder,
		scheduler: &s.scheduler,
	}
	s.resumer = resumer{
		steps: &s.roster, tools: &r.Toolbox, board: &r.Board, questions: &r.OpenQuestions, caller: &s.caller,
		decider: &s.decider, recorder: &s.recorder, scheduler: &s.scheduler,
	}
	return s
}
