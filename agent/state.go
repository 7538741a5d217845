package agent

// State is all that a run knows: its parts, each of which owns its data. What needs several
// parts is made here, which shows at a glance who can reach what.
type State struct {
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
	uncommitted
	queues queues
}

func (s *State) roster() roster     { return roster{&s.Board, &s.Conversations, &s.Outcome} }
func (s *State) recorder() recorder { return recorder{&s.Ledger, &s.Clock, s.roster()} }
func (s *State) origins() origins {
	return origins{&s.Terms, &s.Toolbox, &s.Ledger, &s.Planning, s.roster()}
}
func (s *State) rulings() rulings     { return rulings{s.origins(), &s.Permissions} }
func (s *State) caller() caller       { return caller{s.rulings()} }
func (s *State) scheduler() scheduler { return scheduler{s.caller(), &s.Clock, &s.Meter, &s.queues} }
func (s *State) briefing() briefing   { return briefing{s.rulings(), &s.ModelCalls, &s.Meter} }
func (s *State) dialogue() dialogue   { return dialogue{s.scheduler(), s.briefing()} }
func (s *State) guards() guards       { return guards{s.rulings(), &s.Meter, &s.Clock, &s.flight} }
func (s *State) checker() checker     { return checker{s.caller(), &s.Clock, &s.Meter} }
func (s *State) answers() answers {
	return answers{s.origins(), &s.ModelCalls, &s.Clock, &s.Meter, &s.Acceptance}
}

// Step returns the state of the step, or inner call, with this index; nil if
// there is none.
func (s *State) Step(index string) *StepState { return s.roster().Step(index) }

// settled reports whether every step of the plan has finally ended.
func (s *State) settled() bool {
	return s.quiet() && len(s.Gates) == 0 && s.queues.empty()
}

// canReplan reports whether a planner is available.
func (s *State) canReplan() bool { return s.hasOwn() || s.Model != "" }
