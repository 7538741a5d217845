package planning

import (
	"cmp"
	"slices"

	"replan/internal/english"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// NewReplanner returns the planner for the remaining work after a failure.
// Finished steps stay as they are; a valid answer is merged with them (see
// [plan.Revise]). An answer without steps gives up, and one equal to the remaining
// steps is refused: it would fail again. Where a small model has to try once more, rules
// make the plan.
func NewReplanner(b prompt.Brief, s prompt.Situation) Planner {
	r := newReplanner(b, s)
	if r.outcome.Kind != OutcomePending {
		return r
	}
	if outcome, ok := r.again(); ok {
		r.outcome = outcome
		return r
	}
	r.request = prompt.ReplanRequest(b, s, r.most)
	return r
}

// newReplanner computes how much may be proposed. If no steps are left, it asks
// nothing.
func newReplanner(b prompt.Brief, s prompt.Situation) *replanner {
	r := &replanner{brief: b, situation: s, most: b.MaxSteps}
	if s.StepsLeft >= 0 && (r.most <= 0 || s.StepsLeft < r.most) {
		r.most = s.StepsLeft
	}
	if s.StepsLeft == 0 {
		r.outcome = Outcome{Kind: OutcomeFailed, Reason: "no step may run any more, so there is nothing to plan; raise max_steps"}
	}
	return r
}

// replanner is the state of a replan between two calls of the model.
type replanner struct {
	brief     prompt.Brief
	situation prompt.Situation
	most      int // maximum number of proposed steps; 0 means no bound
	request   prompt.Request
	repairs   repairs
	outcome   Outcome
}

func (r *replanner) Next() (prompt.Request, bool) {
	if r.outcome.Kind != OutcomePending {
		return prompt.Request{}, false
	}
	return r.request, true
}

func (r *replanner) Outcome() Outcome { return r.outcome }

func (r *replanner) Skipped() []SkippedPhase { return nil }

func (r *replanner) Fail(reason string, reply reply.Reply) {
	if r.outcome.Kind == OutcomePending {
		r.repairs.unanswered(r.request.Purpose, reason, reply)
		r.repair()
	}
}

func (r *replanner) Absorb(answer reply.Reply) {
	if r.outcome.Kind != OutcomePending {
		return
	}
	outcome, faults := r.judge(reply.ReadProposal(answer, true))
	if len(faults) == 0 {
		r.outcome = outcome
		return
	}
	r.repairs.faulty(answer, faults)
	r.repair()
}

// repair requests the plan again, up to the limit.
func (r *replanner) repair() {
	request, ok := r.repairs.next(r.brief, prompt.RepairContext{Situation: &r.situation})
	if !ok {
		r.outcome = r.repairs.unrepaired(OutcomeFailed)
		return
	}
	r.request = request
}

// judge returns the outcome of a proposal, or its faults.
func (r *replanner) judge(proposed reply.Proposal) (Outcome, []plan.Fault) {
	if proposed.Read && len(proposed.Plan.Steps) == 0 && len(proposed.Faults) == 0 {
		return Outcome{Kind: OutcomeGaveUp, Reason: emptyReason(proposed, "the model sees no way on")}, nil
	}
	faults, revised := r.check(proposed)
	switch {
	case len(faults) > 0:
		return Outcome{}, faults
	case plan.SameSteps(revised.Proposed, r.situation.Remaining):
		if r.situation.Failed == "" {
			return Outcome{Kind: OutcomeRefused, Reason: "the new plan is the plan as it was"}, nil
		}
		return Outcome{Kind: OutcomeRefused, Reason: "the new plan repeats the steps that failed"}, nil
	}
	return Outcome{Kind: OutcomePlanned, Plan: revised.Plan, Diff: revised.Diff, Warnings: append(proposed.Warnings(), plan.WordingWarnings(r.brief.Catalog, revised.Plan, r.situation.Plan)...)}, nil
}

// check merges the proposal with the finished steps and returns its faults.
func (r *replanner) check(proposed reply.Proposal) ([]plan.Fault, plan.Revised) {
	// Repetitions of finished steps do not count, so they pass here. Far longer
	// plans need no check.
	if n := len(proposed.Plan.Steps); r.most > 0 && n > r.most+len(r.situation.Finished) {
		return append(proposed.Faults, r.tooMany(n)), plan.Revised{}
	}
	tail := r.inherit(reply.FinishSteps(r.brief.Catalog, r.brief.Prompting.ProfileNames(), proposed.Plan.Steps))
	small := r.brief.For(prompt.PurposeReplan).Prompting.Small
	tail = r.withhold(tail, small)
	if small {
		tail = r.dropDone(tail)
	}
	revised := r.follow(plan.Revise(r.situation.Plan, r.situation.Finished, tail))
	if len(proposed.Plan.Risks) > 0 {
		revised.Plan.Risks = proposed.Plan.Risks // of the remaining work
	}
	// The bound applies to the new steps only, and the merged plan holds all of
	// them.
	faults := slices.DeleteFunc(checkProposal(r.brief, revised.Plan, proposed.Faults, 0, r.results()), func(f plan.Fault) bool {
		return f.Code == plan.CodeBadIndex && r.situation.Finished[f.Step] // of an old journal, and run already
	})
	if n := len(revised.Proposed); r.most > 0 && n > r.most {
		faults = append(faults, r.tooMany(n))
	}
	if len(proposed.Faults) == 0 && len(revised.Proposed) == 0 {
		faults = append(faults, plan.Fault{
			Code: plan.CodeNoSteps, Path: "/steps",
			Message: "every step of the new plan repeats a finished one; propose the remaining steps, or no steps and a reason",
		})
	}
	if small && len(proposed.Faults) == 0 && len(revised.Proposed) > 0 {
		faults = append(faults, idle(r.brief, revised.Plan)...)
	}
	return faults, revised
}

// withhold keeps effects out of the new plan of a goal that only asks. Those of a small
// model are left out, those of others wait at a gate.
func (r *replanner) withhold(steps []plan.Step, small bool) []plan.Step {
	effects := map[string]bool{}
	for _, f := range unwanted(r.brief, plan.Plan{Steps: steps}) {
		effects[f.Step] = true
	}
	if small && len(effects) < len(steps) {
		return without(steps, func(s plan.Step) bool { return effects[s.Index] })
	}
	for i, s := range steps {
		steps[i].Gate = s.Gate || effects[s.Index]
	}
	return steps
}

// dropDone leaves out the steps that only repeat a call whose result is known, under
// another index. Small models begin a new plan by looking again, and then go no further.
func (r *replanner) dropDone(steps []plan.Step) []plan.Step {
	instead := map[string]string{}
	for _, s := range steps {
		for _, done := range r.situation.Plan.Steps {
			taken := slices.ContainsFunc(steps, func(other plan.Step) bool { return other.Index == done.Index })
			if r.situation.Finished[done.Index] && !taken && s.ResultVariable == "" && sameCall(done, s) && r.stillHolds(done) {
				instead[s.Index] = done.Index
			}
		}
	}
	kept := slices.DeleteFunc(slices.Clone(steps), func(s plan.Step) bool { return instead[s.Index] != "" })
	for i, s := range kept {
		var needs []string
		for _, d := range s.DependsOn {
			needs = appendOnce(needs, cmp.Or(instead[d], d))
		}
		kept[i].DependsOn = needs
	}
	return kept
}

// stillHolds reports whether the result of a finished step that only reads is as it would
// be now. Nothing has changed since, or only other files than the one that it read.
func (r *replanner) stillHolds(done plan.Step) bool {
	c := completion{brief: r.brief}
	at := slices.IndexFunc(r.situation.History, func(item plan.HistoryItem) bool {
		return item.Index == done.Index && item.Parent == "" && item.Status == plan.ItemCompleted
	})
	return c.reads(done) && at >= 0 && !slices.ContainsFunc(r.situation.History[at+1:], func(item plan.HistoryItem) bool {
		call := plan.Step{Executor: plan.ExecutorTool, Tool: item.Tool, Args: item.Args}
		tool, err := r.brief.Catalog.Find(item.Tool)
		undone := err == nil && tool.Trusted && tool.Previews && item.Status == plan.ItemFailed // all or nothing
		return c.changes(call) && !undone && (done.Tool != "fs.read" || sameFile(done, call))
	})
}

// results returns the results of the finished steps, by their variables.
func (r *replanner) results() map[string]any {
	variables := map[string]string{}
	for _, s := range r.situation.Plan.Steps {
		if s.ResultVariable != "" && r.situation.Finished[s.Index] {
			variables[s.Index] = s.ResultVariable
		}
	}
	known := map[string]any{}
	for _, item := range r.situation.History {
		if name, ok := variables[item.Index]; ok && item.Parent == "" && item.Status == plan.ItemCompleted {
			known[name] = item.Result
		}
	}
	return known
}

func (r *replanner) tooMany(n int) plan.Fault {
	return plan.Fault{
		Code: plan.CodeTooManySteps, Path: "/steps",
		Message: "the new plan has " + english.Count(n, "step") + ", and there may be at most " + english.Count(r.most, "step") + " now",
	}
}

// follow makes the first steps of a list depend on the finished steps; otherwise
// they could not see those results.
func (r *replanner) follow(revised plan.Revised) plan.Revised {
	var ends []string
	graph := plan.NewGraph(r.situation.Plan)
	isFinished := func(index string) bool { return r.situation.Finished[index] }
	for _, s := range r.situation.Plan.Steps {
		if isFinished(s.Index) && !slices.ContainsFunc(graph.Dependents(s.Index), isFinished) {
			ends = append(ends, s.Index)
		}
	}
	frozen := len(revised.Plan.Steps) - len(revised.Proposed)
	for i, s := range revised.Proposed {
		if s.Leads && len(s.DependsOn) == 0 {
			s.DependsOn = slices.Clone(ends)
		}
		s.Leads = false
		revised.Proposed[i], revised.Plan.Steps[frozen+i] = s, s
	}
	return revised
}

// inherit copies fields that the reply omits from a remaining step with the same
// tool: its time limit, retries, on_failure and place in the answer.
func (r *replanner) inherit(steps []plan.Step) []plan.Step {
	for i, s := range steps {
		at := slices.IndexFunc(r.situation.Remaining, func(old plan.Step) bool { return old.Index == s.Index && old.Tool == s.Tool })
		if at < 0 {
			continue
		}
		old := r.situation.Remaining[at]
		if s.Timeout == 0 {
			steps[i].Timeout = old.Timeout
		}
		if s.Retries == 0 {
			steps[i].Retries = old.Retries
		}
		if s.OnFailure == plan.OnFailureDefault {
			steps[i].OnFailure = old.OnFailure
		}
		steps[i].Synthesize = s.Synthesize || old.Synthesize
		if s.Extra == nil {
			steps[i].Extra = old.Extra
		}
	}
	return steps
}
