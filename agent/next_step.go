package agent

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"replan/planning"
)

// retryBase is the pause before the second attempt of a step; it doubles with
// each further one.
const retryBase = 500 * time.Millisecond

// slots counts what is free while Next collects what may start.
type slots struct {
	tools, models int
	steps         int // of the step budget; -1 where there is no limit
	calls         int // of the tool call budget; -1 where there is no limit
}

func (r *Run) freeSlots() slots {
	concurrency := r.Limits.MaxConcurrency
	if concurrency <= 0 {
		concurrency = DefaultLimits().MaxConcurrency
	}
	free := slots{tools: concurrency - len(r.inFlight), models: r.modelSlots() - r.modelBusy, steps: r.stepsLeft(), calls: -1}
	if limit := r.Limits.MaxToolCalls; limit > 0 {
		free.calls = max(limit-r.Usage.ToolCalls, 0)
	}
	return free
}

func (r *Run) modelSlots() int { return max(r.Limits.ModelSlots, 1) }

// nextSteps starts what is ready, longest remaining path first.
func (r *Run) nextSteps() []Action {
	var ready []*StepState
	for _, s := range r.Steps {
		if r.ready(s) {
			ready = append(ready, s)
		}
	}
	r.byWeight(ready)
	free := r.freeSlots()
	var out []Action
	for _, s := range ready {
		out = append(out, r.advance(s, &free)...)
	}
	return out
}

// nextDrafts starts ready read-only steps while the plan is still streaming in.
func (r *Run) nextDrafts() []Action {
	if r.Revision > 0 {
		return nil
	}
	free := r.freeSlots()
	var out []Action
	for _, s := range r.Steps {
		tool, err := r.Catalogue.Find(s.Step.Tool)
		early := err == nil && tool.ReadOnly && s.Step.Executor == planning.ExecutorTool && s.Step.Args != nil && !s.Step.Gate
		if free.tools <= 0 || free.steps == 0 || free.calls == 0 {
			break
		}
		if !early || s.Status != StepPending || s.Attempt > 0 || Decide(r.rules, tool).Verdict != VerdictRun || !r.soundDraft(s.Step) {
			continue
		}
		out = append(out, r.advance(s, &free)...)
	}
	return out
}

// soundDraft reports whether a drafted step stands on its own: nothing it
// needs is still to come, and its arguments fit its tool.
func (r *Run) soundDraft(step planning.Step) bool {
	if len(step.DependsOn) > 0 || len(planning.References(step.Args)) > 0 {
		return false
	}
	faults, _ := planning.Validate(
		planning.Plan{Title: step.Title, Steps: []planning.Step{step}},
		planning.Rules{Catalogue: r.Catalogue, CheckTools: true},
	)
	return len(faults) == 0
}

// ready reports whether all that a step depends on is done.
func (r *Run) ready(s *StepState) bool {
	if s.Status == StepBroken {
		return r.retries(s)
	}
	if s.Status != StepPending || s.filling {
		return false
	}
	return s.waits == 0
}

// advance returns what brings one ready step forward, as far as there is a
// free slot for it, and takes the slot.
func (r *Run) advance(s *StepState, free *slots) []Action {
	if s.Status == StepBroken {
		pause := retryBase << min(s.Attempt-s.tried-1, 6)
		return []Action{{Record: StepRetry{Index: s.Step.Index, Attempt: s.Attempt, Error: s.Error, At: r.Now.Add(pause)}}}
	}
	number := r.attempts[s.Step.Index] + 1
	fail := func(kind FailureKind, sentence string) []Action {
		if free.steps == 0 {
			return r.stopped(GuardSteps)
		}
		free.steps--
		return []Action{{Record: StepFailed{Index: s.Step.Index, Attempt: number, Error: sentence, Failure: kind}}}
	}
	if r.Now.Before(s.RetryAt) {
		if timer := fmt.Sprintf("retry/%s/%d", s.Step.Index, number); !r.fired[timer] {
			return []Action{{Effect: Wake{ID: timer, At: s.RetryAt}}}
		}
	}
	switch s.Step.Executor {
	case planning.ExecutorSelf:
		return r.startSelf(s, number, free)
	case planning.ExecutorAgent:
		return fail(FailureArgs, fmt.Sprintf("there is no profile %q to carry it out", s.Step.Profile))
	}
	tool, err := r.Catalogue.Find(s.Step.Tool)
	if err != nil {
		return fail(FailureArgs, err.Error())
	}
	rule := r.ruleFor(s, tool)
	if free.tools <= 0 && (rule.Verdict == VerdictRun || s.approved) {
		return nil
	}
	if len(s.missing) > 0 && s.filled == nil {
		if s.fillError != "" {
			return fail(FailureModel, "the model did not fill in "+strings.Join(s.missing, " and ")+": "+s.fillError)
		}
		return r.fillArgs(s, tool, free)
	}
	args, err := r.resolve(s)
	if err != nil {
		return fail(FailureArgs, err.Error())
	}
	switch {
	case s.denied:
		return fail(FailureDenied, "denied at the gate")
	case rule.Verdict == VerdictBlock:
		return fail(FailureDenied, "denied by a rule: "+rule.Why)
	case rule.Verdict == VerdictAsk && !s.approved:
		return []Action{{Effect: r.gate(s, tool, args, rule, number)}}
	}
	return r.startTool(s, tool, args, number, free)
}

// ruleFor returns the rule that decides about a step's call; a plan may ask for
// a gate, and exempts from none. A tool that any revision put behind a gate
// stays behind one in the steps of a replan.
func (r *Run) ruleFor(s *StepState, tool planning.Tool) Rule {
	rule := Decide(r.rules, tool)
	if (s.Step.Gate || s.replanned && r.gated[tool.QualifiedName()]) && rule.Verdict == VerdictRun {
		return Rule{Tool: tool.Name, Verdict: VerdictAsk, Source: "plan", Why: "the plan asks for a gate here"}
	}
	return rule
}

// startTool begins one call of a tool.
func (r *Run) startTool(s *StepState, tool planning.Tool, args map[string]any, number int, free *slots) []Action {
	switch {
	case free.steps == 0:
		return r.stopped(GuardSteps)
	case free.calls == 0:
		return r.stopped(GuardToolCalls)
	}
	free.tools--
	free.steps--
	free.calls--
	timeout := s.Step.Timeout
	if timeout == 0 {
		timeout = time.Duration(r.Limits.StepTimeoutMS) * time.Millisecond
	}
	return []Action{{
		r.started(s, args, number),
		CallTool{Index: s.Step.Index, Attempt: number, Tool: tool, Args: args, Hashes: s.hashes, Timeout: timeout},
	}}
}

// startSelf has the model carry a step out in its own words.
func (r *Run) startSelf(s *StepState, number int, free *slots) []Action {
	if free.models <= 0 {
		return nil
	}
	for _, guard := range []string{GuardSteps, GuardTokens} {
		if blocked := r.stopped(guard); blocked != nil {
			return blocked
		}
	}
	free.models--
	free.steps--
	request := planning.StepRequest(r.brief(), r.Plan, s.Step, r.inputs(s.Step))
	return []Action{{
		r.started(s, nil, number),
		CallModel{Request: request, Index: s.Step.Index, Attempt: number},
	}}
}

// fillArgs has the model write the arguments that the plan left out.
func (r *Run) fillArgs(s *StepState, tool planning.Tool, free *slots) []Action {
	if free.models <= 0 {
		return nil
	}
	if blocked := r.stopped(GuardTokens); blocked != nil {
		return blocked
	}
	free.models--
	request := planning.ArgsRequest(r.brief(), r.Plan, s.Step, tool, r.inputs(s.Step))
	return []Action{{
		ModelRequested{Purpose: request.Purpose, Step: s.Step.Index, Request: request},
		CallModel{Request: request},
	}}
}

func (r *Run) started(s *StepState, args map[string]any, number int) StepStarted {
	return StepStarted{
		Index: s.Step.Index, Attempt: number, Title: s.Step.Title, Executor: s.Step.Executor, Tool: s.Step.Tool,
		DependsOn: s.Step.DependsOn, ExpectedOutcome: s.Step.ExpectedOutcome, Args: args, Draft: s.Draft,
	}
}

// inputs returns the completed items of history that a step depends on.
func (r *Run) inputs(step planning.Step) []planning.HistoryItem {
	needed := map[string]bool{}
	for _, d := range r.graph.Dependencies(step.Index) {
		needed[d] = true
	}
	var out []planning.HistoryItem
	for _, h := range r.History {
		if needed[h.Index] && h.Status == planning.ItemCompleted {
			out = append(out, h)
		}
	}
	return out
}

// resolve returns the arguments of a step's next call: those of the plan with
// their references resolved, and those that the model filled in beside them.
func (r *Run) resolve(s *StepState) (map[string]any, error) {
	args, err := planning.ResolveArgs(s.Step.Args, r.variables)
	if err != nil {
		return nil, err
	}
	return merge(args, s.filled), nil
}

// gate is the question that a call must pass.
func (r *Run) gate(s *StepState, tool planning.Tool, args map[string]any, rule Rule, number int) OpenGate {
	return OpenGate{
		Gate: GateRequested{
			Gate: r.gateID(s.Step.Index), Step: s.Step.Index, Title: s.Step.Title,
			Tool: tool.Name, Server: tool.Server, Trusted: tool.Trusted, Rule: rule, Args: args,
			Provenance: r.provenance(s.Step),
		},
		Attempt: number,
		Tool:    tool,
	}
}

// gateID names the gate of a step's next attempt in this revision, so that a
// question about a call that the plan has dropped since is not taken for one
// about the call that came in its place.
func (r *Run) gateID(index string) string {
	return fmt.Sprintf("%s.%d.%d", index, r.Revision, r.attempts[index]+1)
}

// provenance says which arguments of a step carry text from another step's
// result. References are exact.
func (r *Run) provenance(step planning.Step) []Provenance {
	var out []Provenance
	for _, arg := range slices.Sorted(maps.Keys(step.Args)) {
		for _, ref := range planning.References(step.Args[arg]) {
			for _, s := range r.Steps {
				if s.Step.ResultVariable == ref.Name {
					out = append(out, Provenance{Arg: arg, Step: s.Step.Index, Tool: s.Step.Tool})
				}
			}
		}
	}
	return out
}
