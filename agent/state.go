package agent

func (r *Run) roster() roster     { return roster{&r.Board, &r.Conversations, &r.Outcome} }
func (r *Run) recorder() recorder { return recorder{&r.Ledger, &r.Clock, r.roster()} }
func (r *Run) origins() origins {
	return origins{&r.Terms, &r.Toolbox, &r.Ledger, &r.Planning, r.roster()}
}
func (r *Run) caller() caller       { return caller{r.origins(), &r.Permissions} }
func (r *Run) scheduler() scheduler { return scheduler{r.caller(), &r.Clock, &r.Meter, &r.queues} }
func (r *Run) briefing() briefing   { return briefing{r.caller(), &r.ModelCalls, &r.Meter} }
func (r *Run) dialogue() dialogue   { return dialogue{r.scheduler(), r.briefing()} }
func (r *Run) guards() guards       { return guards{r.caller(), &r.Meter, &r.Clock, &r.flight} }
func (r *Run) checker() checker     { return checker{r.caller(), &r.Clock, &r.Meter} }
func (r *Run) answers() answers {
	return answers{r.origins(), &r.ModelCalls, &r.Clock, &r.Meter, &r.Acceptance}
}

// Step returns the state of the step, or inner call, with this index; nil if
// there is none.
func (r *Run) Step(index string) *StepState { return r.roster().Step(index) }

func (r *Run) closer() closer {
	return closer{
		answers: r.answers(), flight: &r.flight, OpenQuestions: &r.OpenQuestions, Permissions: &r.Permissions, PlanReviews: &r.PlanReviews,
		uncommitted: &r.uncommitted, queues: &r.queues, guards: r.guards(), checker: r.checker(), briefing: r.briefing(),
	}
}

func (r *Run) starter() starter {
	return starter{checker: r.checker(), queues: &r.queues, guards: r.guards(), briefing: r.briefing()}
}

func (r *Run) planmaker() planmaker {
	return planmaker{closer: r.closer(), starter: r.starter(), checker: r.checker()}
}

func (r *Run) tracker() tracker {
	return tracker{r.dialogue(), r.recorder(), &r.flight, &r.OpenQuestions, &r.Acceptance, &r.ModelCalls}
}
func (r *Run) arranger() arranger { return arranger{r.tracker(), &r.PlanReviews, r.guards()} }
func (r *Run) resumer() resumer   { return resumer{r.arranger(), &r.Terms, &r.Toolbox} }
