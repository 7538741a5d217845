package agent

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning"
	"replan/planning/intent"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// Next returns what may be done now. It never returns more than there are free
// slots for, and nothing twice once the records of its actions are applied. It
// changes nothing. An empty result means that the run waits for an event or is
// over.
func (r *Run) Next() []Action {
	if !r.Active() {
		return nil
	}
	return r.decision().next()
}

// decision decides what may be done now. It holds a copy of the parts of a run, so that
// nothing that it does reaches the run.
type decision struct{ State }

func (r *Run) decision() *decision { return &decision{r.State} }

// next returns what may be done now in a run that is not over.
func (r *decision) next() []Action {
	if lost := r.nextLost(); len(lost) > 0 {
		return lost // even if the run ends, so that the doubt is not lost with it
	}
	if r.ends() {
		return r.nextEnding()
	}
	if doubts := r.nextDoubts(); len(doubts) > 0 {
		return doubts
	}
	if blocked := r.overdue(); blocked != nil {
		return []Action{*blocked}
	}
	if records := r.nextRecords(); len(records) > 0 {
		return records
	}
	actions := r.deadline()
	switch {
	case r.asks():
		return actions
	case r.Planning.active():
		return append(actions, r.nextPlanning()...)
	case r.Planning.wantsReplan():
		return append(actions, r.nextReplan()...)
	case r.Synthesis.answersDirectly():
		return append(actions, r.nextChat()...)
	case r.ReviewPending():
		return actions
	case r.Revision > 0 && r.planOnly:
		return r.finish(ending{status: event.StatusCompleted, reason: event.ReasonGoalMet})
	case r.Revision > 0 && !r.settled():
		return append(actions, r.nextSteps()...)
	default:
		return append(actions, r.nextAnswer()...)
	}
}

// nextEnding completes the run once nothing is in flight.
func (r *decision) nextEnding() []Action {
	if checks := r.checksBeforeEnd(); len(checks) > 0 {
		return checks
	}
	if !r.quiet() {
		return nil
	}
	const whatToDo = "; find out, and resume the run with --in-doubt done or rerun"
	e, doubtful := *r.Outcome.endsAs(), r.doubtful()
	if e.answer == "" && r.answers().answersByRule() && e.reason != event.ReasonInterrupted {
		e.answer = r.answers().ruled()
	}
	switch {
	case e.reason == event.ReasonStepFailed && len(doubtful) > 0:
		// Failures can be retried; a doubt cannot, until somebody has checked it.
		e.reason = event.ReasonInDoubt
		e.error += "; in doubt: step " + strings.Join(doubtful, ", step ") + whatToDo
	case e.reason == event.ReasonInDoubt && len(doubtful) > 1:
		e.error = "the steps " + strings.Join(doubtful, ", ") + " may or may not have taken effect" + whatToDo
	}
	return []Action{{Record: event.RunCompleted{Result: r.answers().result(e)}}}
}

// doubtful returns the steps that are in doubt.
func (r *decision) doubtful() []string {
	var out []string
	r.roster().every(func(s *StepState) {
		if s.Status == StepInDoubt {
			out = append(out, s.Step.Index)
		}
	})
	return out
}

// nextRecords returns records that follow from the state alone: skipped phases
// and budgets that run low.
func (r *decision) nextRecords() []Action {
	var out []Action
	for _, s := range r.Planning.unreportedSkips() {
		if s.Phase > 0 && r.Revision == 0 {
			out = append(out, Action{Record: event.PhaseSkipped{Phase: s.Phase, Label: string(prompt.Phases[s.Phase-1]), Reason: untrusted.Text(s.Reason)}})
		}
	}
	out = append(out, r.nextDirty()...)
	for _, b := range r.guards().budgets() {
		if b.low() && !r.Meter.hasWarned(b.guard) {
			out = append(out, Action{Record: event.BudgetWarned{Guard: b.guard, Used: b.used, Limit: b.limit}})
		}
	}
	return out
}

// nextPlanning asks the model for the next phase, or takes the outcome of
// planning. During a phase, read-only steps of the draft may start.
func (r *decision) nextPlanning() []Action {
	if r.Planning.waits() {
		return r.nextDrafts()
	}
	if meaning := r.Planning.unreportedRoute(); meaning != nil {
		return []Action{{Record: *meaning}}
	}
	if looks := r.Planning.looks(); len(looks) > 0 {
		return r.nextLooks(looks)
	}
	if request, more := r.Planning.nextRequest(); more {
		if r.Model == "" {
			return r.finish(ending{event.StatusFailed, event.ReasonPlannerError, "there is no model to plan with; start Ollama, or choose one with --host and --model", ""})
		}
		if blocked := r.guards().stopped(event.GuardTokens, ""); blocked != nil {
			return blocked
		}
		if r.flight.modelsUnderWay() >= r.modelSlots() {
			return nil
		}
		request.Model = r.prompting.Models.Of(request.Purpose).Name // a resume may have changed it
		call := CallModel{Request: request, Again: r.Revision > 0}
		if phase := request.Purpose.Phase(); phase > 0 {
			return []Action{{event.PhaseStarted{Phase: phase, Label: string(request.Purpose), Request: request}, call}}
		}
		return []Action{{event.ModelRequested{Purpose: request.Purpose, Request: request}, call}}
	}
	if r.Revision > 0 {
		return r.takeReplan(r.Planning.outcome())
	}
	return r.takePlan(r.Planning.outcome())
}

// takePlan turns the outcome of the pipeline into actions.
func (r *decision) takePlan(o planning.Outcome) []Action {
	switch o.Kind {
	case planning.OutcomePlanned:
		o.Plan.OnFailure = cmp.Or(r.userOnFailure, o.Plan.OnFailure)
		return warned(o, event.PlanCreated{Plan: o.Plan, Revision: 1, Drafts: o.Drafts})
	case planning.OutcomeDirect:
		return r.answerDirectly()
	case planning.OutcomeAnalysed:
		return r.finish(ending{status: event.StatusCompleted, reason: event.ReasonDirect, answer: o.Text})
	case planning.OutcomeSilent:
		return r.finish(ending{event.StatusFailed, event.ReasonPlannerError, cmp.Or(o.Reason, "the model sent no plan"), ""})
	case planning.OutcomeEmpty:
		return []Action{{Record: event.PlanEmpty{Reason: untrusted.Text(cmp.Or(o.Reason, "the planner proposed no steps"))}}}
	default:
		return r.planningFailed(o)
	}
}

// warned adds a note to a new plan with all its warnings for the user.
func warned(o planning.Outcome, made event.Data) []Action {
	out := []Action{{Record: made}}
	if len(o.Warnings) == 0 {
		return out
	}
	words := make([]string, len(o.Warnings))
	for i, w := range o.Warnings {
		words[i] = w.Message
	}
	return append(out, Action{Record: event.Note{Level: "warn", Text: untrusted.Text("of this plan: " + strings.Join(words, "; "))}})
}

// answerDirectly requests an answer to the goal without a plan.
func (r *decision) answerDirectly() []Action {
	if r.Model == "" {
		return r.finish(ending{event.StatusFailed, event.ReasonPlannerError, "there is no model to answer; start Ollama, or choose one with --host and --model", ""})
	}
	if blocked := r.guards().stopped(event.GuardTokens, ""); blocked != nil {
		return blocked
	}
	var remarks []prompt.Message
	for _, text := range r.UserMessages {
		remarks = append(remarks, prompt.Remark(text))
	}
	request := prompt.ChatRequest(r.briefing().brief(), false, remarks...)
	return []Action{{event.SynthesisStarted{Direct: true, Request: request}, CallModel{Request: request, Tools: r.briefing().readable(prompt.ChatTools(r.briefing().brief()))}}}
}

// takeReplan turns the outcome of a replan into actions.
func (r *decision) takeReplan(o planning.Outcome) []Action {
	switch o.Kind {
	case planning.OutcomePlanned:
		return warned(o, event.PlanDiff{
			Revision: r.Revision + 1, Reason: untrusted.Text(r.Planning.reason()), Plan: o.Plan,
			Removed: list(o.Diff.Removed), Added: list(o.Diff.Added), Revised: list(o.Diff.Revised),
		})
	case planning.OutcomeRefused:
		return []Action{{Record: event.ReplanRefused{Attempt: r.Usage.Replans, Reason: untrusted.Text(o.Reason)}}}
	case planning.OutcomeGaveUp, planning.OutcomeEmpty:
		return r.finish(ending{event.StatusFailed, event.ReasonGaveUp, cmp.Or(o.Reason, "the planner found no other way"), ""})
	default:
		if r.Planning.onlyRemark() {
			return []Action{{Record: event.ReplanRefused{Attempt: r.Usage.Replans, Reason: untrusted.Text(cmp.Or(o.Reason, "planning failed"))}}}
		}
		return r.planningFailed(o)
	}
}

// planningFailed ends the run. A plan that is too long for the remaining step
// budget counts as exhausting that budget.
func (r *decision) planningFailed(o planning.Outcome) []Action {
	left := r.stepsLeft()
	for _, f := range o.Faults {
		if f.Code == "too_many_steps" && left >= 0 && r.mayPropose() >= max(left, 1) {
			return []Action{{Record: event.GuardBlocked{
				Guard: event.GuardSteps, Used: int64(r.Usage.Steps), Limit: int64(r.maxSteps()),
				Reason: untrusted.Text(fmt.Sprintf("the new plan does not fit into the rest of the step budget (%d of %d used)", r.Usage.Steps, r.maxSteps())),
			}}}
		}
	}
	if r.Revision == 0 && !r.hasOwn() {
		return []Action{{Record: event.PlanEmpty{Reason: untrusted.Text(cmp.Or(o.Reason, "planning failed"))}}}
	}
	return r.finish(ending{event.StatusFailed, event.ReasonPlannerError, cmp.Or(o.Reason, "planning failed"), ""})
}

func (r *decision) finish(e ending) []Action {
	if !r.quiet() {
		return nil
	}
	return []Action{{Record: event.RunCompleted{Result: r.answers().result(r.answers().orUnverified(e))}}}
}

// nextReplan passes a failed step to the planner once nothing is in flight.
func (r *decision) nextReplan() []Action {
	if len(r.roster().activeLoops()) > 0 {
		return r.nextOfLoops() // a working sub-agent may finish
	}
	free := r.guards().freeSlots()
	if checks := r.checker().nextChecks(r.queues[needCheck], &free); len(checks) > 0 {
		return checks
	}
	if !r.quiet() {
		return nil
	}
	step, err := r.Planning.failure()
	if !r.canReplan() {
		return r.finish(ending{event.StatusFailed, event.ReasonStepFailed, "step " + step + " failed: " + headline(err) + "; it asks for a replan, and there is no model to make one", ""})
	}
	for _, guard := range []string{event.GuardReplans, event.GuardSteps, event.GuardTokens} {
		if blocked := r.guards().stopped(guard, ""); blocked != nil {
			return blocked
		}
	}
	if blocked := r.guards().sameFailure(); blocked != nil {
		return blocked
	}
	var remaining []string
	for _, s := range r.remaining() {
		remaining = append(remaining, s.Index)
	}
	return []Action{{Record: event.ReplanStarted{
		Attempt: r.Usage.Replans + 1, Step: step, Error: untrusted.Text(r.Planning.reason()), Request: untrusted.Text(r.Planning.request()), Remaining: list(remaining),
	}}}
}

// nextAnswer requests the answer, and completes the run with it.
func (r *decision) nextAnswer() []Action {
	if checks := r.nextAcceptance(); len(checks) > 0 {
		return checks
	}
	switch {
	case r.Synthesis.Again():
		return r.askForAnswer()
	case r.Synthesis.Done:
		e := ending{status: event.StatusCompleted, reason: event.ReasonGoalMet, answer: r.Synthesis.Text}
		switch {
		case r.Synthesis.Direct && r.Synthesis.Error != "":
			e = ending{event.StatusFailed, event.ReasonPlannerError, string(r.Synthesis.Error), ""}
		case r.Synthesis.Direct:
			e.reason = event.ReasonDirect
		case r.answers().incomplete(), r.answers().missingAnswer() != "":
			e.reason = event.ReasonPartial
		}
		if !r.Synthesis.Direct {
			e.answer = r.answers().supported(e.answer)
		}
		if r.Synthesis.Error != "" && !r.Synthesis.Direct {
			e.answer = r.answers().unwritten()
		}
		return r.finish(e)
	case r.Synthesis.Started || !r.quiet():
		return nil
	case r.Synthesis.Direct:
		return r.answerDirectly() // it was lost when the program ended
	case r.Outcome.endsDryAs() != nil:
		return r.finish(*r.Outcome.endsDryAs())
	case r.answers().answersByRule():
		e := ending{status: event.StatusCompleted, reason: event.ReasonGoalMet, answer: r.answers().ruled()}
		switch s := r.answers().firstWordless(); {
		case s != nil: // nobody asked to skip it, so the order was not carried out
			e.status, e.reason = event.StatusFailed, event.ReasonStepFailed
			e.error = fmt.Sprintf("step %s (%s) needs a model, and there is none", s.Step.Index, s.Step.Title)
		case r.answers().incomplete(), r.Route != nil && intent.NoTestsRun(r.Route.Intent, r.History):
			e.reason = event.ReasonPartial
		case intent.NothingFound(r.answers().meant(), r.History):
			e.reason = event.ReasonNothingFound
		case intent.NothingToCommit(r.answers().meant(), r.History):
			e.reason = event.ReasonNothingToCommit
		}
		return r.finish(e)
	case r.skipSynthesis || r.dryRun || r.Model == "":
		e := ending{status: event.StatusCompleted, reason: event.ReasonGoalMet}
		if r.answers().incomplete() {
			e.reason = event.ReasonPartial
		}
		return r.finish(e)
	}
	return r.askForAnswer()
}

// askForAnswer asks the model for the answer. A model that has replied with a plan or a
// call is held to a format.
func (r *decision) askForAnswer() []Action {
	if blocked := r.guards().stopped(event.GuardTokens, ""); blocked != nil {
		return blocked
	}
	request := prompt.SynthesisRequest(r.briefing().brief(), r.Plan, r.answers().SynthesisItems(), r.answers().Evidence())
	if r.Synthesis.Again() {
		request = prompt.HeldAnswer(request)
	}
	return []Action{{event.SynthesisStarted{Request: request}, CallModel{Request: request, Tools: plan.Offer(r.Catalogue)}}}
}

// overdue ends the run when its time is up.
func (r *decision) overdue() *Action {
	limit := r.Limits.MaxDurationMS
	used := r.Elapsed().Milliseconds()
	if limit <= 0 || used < limit {
		return nil
	}
	return &Action{Record: event.GuardBlocked{
		Guard: event.GuardTime, Used: used, Limit: limit,
		Reason: untrusted.Text(fmt.Sprintf("the run took longer than its limit of %s", time.Duration(limit)*time.Millisecond)),
	}}
}

// deadline requests a timer for the end of the run's time.
func (r *decision) deadline() []Action {
	if r.Limits.MaxDurationMS <= 0 || r.fired(event.GuardTime) {
		return nil
	}
	return []Action{{Effect: Wake{ID: event.GuardTime, At: r.reaches(time.Duration(r.Limits.MaxDurationMS) * time.Millisecond)}}}
}

// list turns nil into an empty list, so that JSON shows [] and not null.
func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}
