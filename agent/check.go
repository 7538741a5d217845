package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/expression"
	"replan/planning/intent"
	"replan/planning/plan"
)

// CallCheck calls the read-only tool of a check. Next returns it until the
// check.completed event comes; the runner executes it once per round of checks.
type CallCheck struct {
	Check   event.CheckCompleted // without its outcome
	Values  map[string]any       // of the names in its expression, but for the result of the call
	Tool    plan.Tool
	Paths   map[string]string // see CallTool
	Round   int
	Timeout time.Duration
	Limit   string // whose limit Timeout is, in a few words
}

// Once returns the key of the check.
func (c CallCheck) Once() string {
	return fmt.Sprintf("check/%s/%d/%d/%d", c.Check.Index, c.Check.Attempt, c.Round, c.Check.Check)
}

// Returned returns the event for a call that took ms.
func (c CallCheck) Returned(result any, ms int64) event.CheckCompleted {
	c.Values["result"] = result
	done := evaluated(c.Check, c.Values)
	if runsTests(c.Tool) && intent.Untested(result) {
		done = untested(done)
	}
	done.MS = ms
	return done
}

// ToolFailed returns the event for a call that its tool answered with an error. The
// tool looked, so the check does not hold.
func (c CallCheck) ToolFailed(reason string, ms int64) event.CheckCompleted {
	done := c.Check
	done.State, done.Reason, done.MS = plan.StateRefuted, untrusted.Text(reason), ms
	return done
}

// Unanswered returns the event for a call that brought no answer, which says nothing
// about the world.
func (c CallCheck) Unanswered(reason string, ms int64) event.CheckCompleted {
	done := c.Check
	done.State, done.Reason, done.MS = plan.StateUnchecked, untrusted.Text(reason), ms
	return done
}

// evaluated returns a check with the outcome of its expression. An expression without
// an answer, such as one about a field that is not there, does not hold.
func evaluated(c event.CheckCompleted, values map[string]any) event.CheckCompleted {
	c.State, c.Saw = plan.StateRefuted, []expression.Sight{}
	compiled, err := expression.Compile(c.Expect, nil)
	if err != nil {
		c.Reason = untrusted.Text(err.Error())
		return c
	}
	holds, saw, err := compiled.Holds(values)
	c.Saw = append(c.Saw, saw...)
	switch {
	case err != nil:
		c.Reason = untrusted.Text(err.Error())
	case holds:
		c.State = plan.StateVerified
	}
	return c
}

// untested returns a check about tests where there were none: that none of them fails
// shows nothing.
func untested(c event.CheckCompleted) event.CheckCompleted {
	if c.State == plan.StateVerified {
		c.State, c.Reason = plan.StateUnchecked, plan.NoTests
	}
	return c
}

// runsTests reports whether a tool is the workspace's own that runs tests.
func runsTests(t plan.Tool) bool { return t.Trusted && t.Name == "test.run" }

// looksAtNoTests reports whether an expression of a check is about tests, and there were none. A
// wait is over all the same.
func (r decision) looksAtNoTests(subject checkSubject, names []string) bool {
	s := subject.step
	if s != nil && s.Step.Until != nil && len(subject.done) == 0 {
		return false
	}
	for _, name := range names {
		from := []*StepState{s}
		if s == nil || name != "result" && name != s.Step.ResultVariable {
			from = producersFor(r.Run, cmp.Or(s, &StepState{}), name)
		}
		for _, other := range from {
			if runsTests(r.facts(other.Step.Tool).Tool) && intent.Untested(other.Result) {
				return true
			}
		}
	}
	return false
}

// checkSubject is a step whose work is done, or, without one, the plan's acceptance.
type checkSubject struct {
	step   *StepState // nil for the acceptance
	checks []plan.Check
	done   []event.CheckCompleted
	number int // of the step's attempt, or of the revision
	round  int
}

// ChecksOf returns the checks of a step: what it waits for, and then its own.
func ChecksOf(s plan.Step) []plan.Check {
	if s.ForEach != nil {
		return nil // its items have them
	}
	if s.Until == nil {
		return s.Checks
	}
	return append([]plan.Check{{Expect: s.Until.Expect}}, s.Checks...)
}

// titleOf returns what events call a check: its title, or its expression.
func titleOf(c plan.Check) untrusted.Text { return cmp.Or(c.Title, untrusted.Text(c.Expect)) }

func subjectOf(s *StepState) checkSubject {
	return checkSubject{step: s, checks: ChecksOf(s.Step), done: s.Checked, number: s.Attempt, round: s.checks.round}
}

// over reports whether all checks are evaluated.
func (c checkSubject) over() bool { return len(c.done) >= len(c.checks) }

// nextChecks evaluates the checks of the steps whose work is done.
func (r decision) nextChecks(q queue, free *slots) []Action {
	var out []Action
	// Those whose call is under way come first, so that no more run than there are slots.
	waiting := slices.SortedFunc(slices.Values(q), func(a, b *StepState) int { return cmp.Compare(a.checks.since, b.checks.since) })
	for _, s := range waiting[:min(len(waiting), recordsAtOnce)] {
		subject := subjectOf(s)
		if subject.over() {
			failed := event.StepFailed{Index: s.Step.Index, Attempt: s.Attempt, Error: untrusted.Text(refutation(s.Checked)), Failure: event.FailureCheck, MS: s.MS}
			return append(out, Action{Record: failed})
		}
		actions := r.nextCheck(subject, free)
		if len(actions) > 0 && s.Step.Until != nil && len(s.Checked) == 0 {
			if actions = r.poll(s, actions); actions[0].mayEnd() {
				return append(out, actions...)
			}
		}
		out = append(out, actions...)
	}
	return out
}

// poll returns the next actions of a step that waits, given those of its condition: it
// continues, calls again later, or fails because its time is up.
func (r decision) poll(s *StepState, actions []Action) []Action {
	found, evaluated := actions[0].Record.(event.CheckCompleted)
	if !evaluated || found.State == plan.StateVerified {
		return actions
	}
	why := cmp.Or(string(found.Reason), plan.SawWords(found.Saw))
	left := s.Step.Until.For - (r.Elapsed() - s.waitingFrom) // without the time in which the run was stopped
	if left <= 0 {
		sentence := fmt.Sprintf("it waited %s, and %s does not hold", s.Step.Until.For, s.Step.Until.Expect)
		if why != "" {
			sentence += " (" + why + ")"
		}
		return []Action{{Record: event.StepFailed{Index: s.Step.Index, Attempt: s.Attempt, Error: untrusted.Text(sentence), Failure: event.FailureTimeout, MS: (r.Elapsed() - s.waitingFrom).Milliseconds()}}}
	}
	at := r.Now.Add(min(s.Step.Until.Every, left))
	return []Action{{Record: event.StepRetry{Index: s.Step.Index, Attempt: s.Attempt, Error: untrusted.Text("not yet: " + cmp.Or(why, s.Step.Until.Expect+" does not hold")), At: at}}}
}

// checksBeforeEnd evaluates what is left when the run is about to end, as calls that run may
// finish. After a stop nothing can be called; a resume evaluates it.
func (r decision) checksBeforeEnd() []Action {
	if r.Paused || r.Outcome.endsAs().reason == event.ReasonTimeBudget {
		return nil
	}
	free := r.freeSlots()
	return r.nextChecks(r.queues[needCheck], &free)
}

// nextAcceptance evaluates the plan's acceptance, after its last step.
func (r decision) nextAcceptance() []Action {
	subject := r.Acceptance.acceptanceOf(&r.Board)
	if r.Revision == 0 || r.dryRun || r.Synthesis.Direct || r.Synthesis.Started && !r.Synthesis.Done || subject.over() {
		return nil
	}
	free := r.freeSlots()
	return r.nextCheck(subject, &free)
}

// accepting reports whether the plan's acceptance is being evaluated.
func (r decision) accepting() bool {
	return !r.ends() && !r.Planning.wantsReplan() && !r.Planning.active() && r.Revision > 0 && !r.ReviewPending() && !r.asks() && r.settled() && r.nextAcceptance() != nil
}

// nextCheck evaluates the next check, or has its tool called if a slot is free.
func (r decision) nextCheck(subject checkSubject, free *slots) []Action {
	check := subject.checks[len(subject.done)]
	done := event.CheckCompleted{
		Attempt: subject.number, Check: len(subject.done) + 1, Title: titleOf(check), Expect: check.Expect,
		Saw: []expression.Sight{},
	}
	if subject.step != nil {
		done.Index = subject.step.Step.Index
	}
	values := r.checkValues(subject.step, expression.NamesOf(check.Expect))
	if why := r.unknownTo(subject, check); why != "" {
		done.State, done.Reason = plan.StateUnchecked, untrusted.Text(why)
		return []Action{{Record: done}}
	}
	if check.Tool == "" {
		if done = evaluated(done, values); r.looksAtNoTests(subject, expression.NamesOf(check.Expect)) {
			done = untested(done)
		}
		return []Action{{Record: done}}
	}
	if free.tools <= 0 {
		return nil
	}
	call, why := r.checkCall(subject, check, free)
	if why != "" {
		done.State, done.Reason = plan.StateUnchecked, untrusted.Text(why)
		return []Action{{Record: done}}
	}
	free.tools--
	facts := r.facts(check.Tool)
	free.start(facts, 0) // it is no step of its own
	done.Tool, done.Args = facts.Tool.QualifiedName(), call
	timeout, limit := r.timeLimit(plan.Step{}, facts.Tool)
	return []Action{{Effect: CallCheck{Check: done, Values: values, Tool: facts.Tool, Paths: judgedPaths(r.Run, &StepState{}, facts), Round: subject.round, Timeout: timeout, Limit: limit}}}
}

// unknownTo returns which value a check looks at that nobody knows, "" if there is none.
func (r decision) unknownTo(subject checkSubject, check plan.Check) string {
	names := expression.NamesOf(check.Expect)
	for _, reference := range plan.References(check.Args) {
		names = append(names, reference.Name)
	}
	values := r.checkValues(subject.step, names)
	for _, name := range names {
		own := subject.step != nil && (name == subject.step.Step.ResultVariable || name == "result" && check.Tool == "")
		_, there := values[name]
		switch {
		case own && subject.step.checks.unknownResult:
			return "nobody knows the result of the step"
		case !own && !there && name != "result":
			return name + " has no value"
		}
	}
	return ""
}

// checkValues returns the values of names, as the checks of a step see them.
func (r decision) checkValues(s *StepState, names []string) map[string]any {
	values := make(map[string]any, len(names)+1)
	for _, name := range names {
		if v, ok := r.value(name); ok {
			values[name] = v
		}
		if s == nil {
			continue
		}
		if v, ok := s.item.values[name]; ok {
			values[name] = v
			continue
		}
		switch name {
		case s.Step.ResultVariable, "result":
			values[name] = s.Result
		case "args":
			values[name] = s.Args
		}
	}
	return values
}

// checkCall returns the args of a check's call, or why it cannot be made. A check asks
// nobody: a call that needs a gate is not made.
func (r decision) checkCall(subject checkSubject, check plan.Check, free *slots) (args map[string]any, why string) {
	facts := r.facts(check.Tool)
	switch {
	case facts.Err != nil:
		return nil, facts.Err.Error()
	case !facts.Tool.ReadOnly:
		return nil, facts.Tool.QualifiedName() + " is not read-only"
	case free.left.calls <= free.reserved.calls || free.left.discovery <= free.reserved.discovery:
		return nil, "no calls are left for it"
	case r.Limits.MaxCallsPerTool > 0 && facts.timesCalled()+free.starting[facts]+free.reservedPerTool[facts] >= r.Limits.MaxCallsPerTool:
		return nil, "no calls of " + facts.Tool.QualifiedName() + " are left"
	}
	probe := StepState{Step: plan.Step{Title: check.Title, Executor: plan.ExecutorTool, Tool: check.Tool, Args: check.Args}}
	var names []string
	for _, reference := range plan.References(check.Args) {
		names = append(names, reference.Name)
	}
	if subject.step == nil {
		probe.author.read = r.authorRead(probe.Step)
	} else {
		probe.Step.Index, probe.replanned, probe.item = subject.step.Step.Index, subject.step.replanned, subject.step.item
		probe.author.read = slices.Concat(subject.step.author.read, r.checkedText(subject.step, check))
	}
	args, err := plan.ResolveArgs(check.Args, r.checkValues(subject.step, names))
	if err != nil {
		return nil, err.Error()
	}
	if args == nil {
		args = map[string]any{}
	}
	if args, _ = r.fit(facts, args); facts.Signature.Check(args) != nil {
		return nil, fmt.Sprintf("the args of %s do not fit: %v", check.Tool, facts.Signature.Check(args))
	}
	probe.call.args = args
	switch matched := r.ruleFor(&probe, facts); matched.Verdict {
	case rule.VerdictRun:
		return args, ""
	case rule.VerdictBlock:
		return nil, deniedBy(matched)
	default:
		return nil, "its call would need a gate: " + string(matched.Why)
	}
}

// checkedText returns the text that a call of a check carries of the step that it is
// about: of its result, its args, and what decided that it was called.
func (r *Run) checkedText(s *StepState, check plan.Check) []rule.Provenance {
	var out []rule.Provenance
	for _, arg := range argsWithReferences(check.Args) {
		for _, ref := range plan.References(check.Args[arg]) {
			switch ref.Name {
			case "result", s.Step.ResultVariable:
				out = append(out, rule.Provenance{Arg: arg, Step: s.Step.Index, Tool: s.Step.Tool, Exact: true})
			case "args":
				for _, p := range r.provenance(s) {
					p.Arg = arg
					out = append(out, p)
				}
			}
		}
	}
	out = append(out, r.deciding(s, out)...)
	if slices.Contains(r.passedBy(), s) {
		out = append(out, rule.Provenance{Step: s.Step.Index, Tool: s.Step.Tool, Decides: true})
	}
	return out
}

// applyCheck records a check, and ends its step if it was the last one and all hold.
func (r fold) applyCheck(d event.CheckCompleted) {
	if d.Index == "" {
		r.applyAccepted(d)
		return
	}
	s := r.Step(d.Index)
	if s == nil || s.Status != StepChecking || s.Attempt != d.Attempt || d.Check != len(s.Checked)+1 {
		return
	}
	r.countCheck(d)
	s.Checked, s.checks.since = append(s.Checked, d), r.Seq
	if !subjectOf(s).over() || refutation(s.Checked) != "" {
		r.enqueue(s)
		return
	}
	s.Status = StepCompleted
	r.amend(s, plan.ItemCompleted)
	r.release(s)
	r.enqueue(s)
}

// amend records what the checks say about the last attempt of a step.
func (r fold) amend(s *StepState, status plan.ItemStatus) {
	r.endAttempt(s, s.Attempt)
	for i := len(r.History) - 1; i >= 0; i-- {
		if item := &r.History[i]; item.Index == s.Step.Index && item.Attempt == s.Attempt {
			if item.Status, item.Error = status, s.Error; status == plan.ItemCompleted {
				item.Result = s.Result
			}
			return
		}
	}
}

// checkUnchecked has the checks evaluated again of completed steps and items with one that
// was not.
func (r fold) checkUnchecked() {
	unchecked := func(s *StepState) bool {
		return s.Status == StepCompleted && slices.ContainsFunc(s.Checked, func(c event.CheckCompleted) bool { return c.State == plan.StateUnchecked })
	}
	for _, s := range r.Steps {
		if unchecked(s) {
			r.beginChecks(s)
		}
		if s.Status != StepCompleted || !slices.ContainsFunc(s.Items, unchecked) {
			continue
		}
		s.Status = StepRunning // until its items have ended again
		r.Ledger.remove(s.Step.Index, s.Attempt)
		for _, item := range s.Items {
			if unchecked(item) {
				r.beginChecks(item)
				item.item.ended = false
				s.fan.left++
			}
		}
	}
}

// countCheck counts the call of a check.
func (r fold) countCheck(d event.CheckCompleted) {
	if d.Tool != "" {
		r.facts(d.Tool).called()
		r.Meter.call(true)
	}
}

// beginChecks has the checks of a step evaluated, from the first.
func (r fold) beginChecks(s *StepState) {
	s.Status, s.Checked, s.Error, s.Failure = StepChecking, nil, "", ""
	s.checks.round++
	s.checks.since = r.Seq
}

// applyRefuted fails a step whose work is done, but not what was expected of it.
func (r fold) applyRefuted(s *StepState, d event.StepFailed) {
	s.Status, s.Error, s.Failure = StepFailed, d.Error, d.Failure
	r.amend(s, plan.ItemFailed)
	r.deal(s)
	r.enqueue(s)
}

// onlyRechecks reports whether the work of a step is done, but its checks are not evaluated
// or refute it. A new attempt then evaluates them again and does not repeat the work.
func (r ledger) onlyRechecks(s *StepState) bool {
	if s.Status == StepChecking {
		return true
	}
	return s.Status == StepFailed && s.Failure == event.FailureCheck && !s.expands() && (s.Step.Executor == plan.ExecutorAgent || !r.repeatable(s))
}

// refersToFinished reports whether the results that the args of a step refer to are
// there already, so that a new plan cannot change what they mean.
func (r ledger) refersToFinished(step plan.Step, old map[string]*StepState) bool {
	finished := map[string]bool{}
	for _, s := range old {
		if name := s.Step.ResultVariable; name != "" {
			finished[name] = s.Status == StepCompleted
		}
	}
	return !slices.ContainsFunc(plan.References(step.Args), func(ref plan.Reference) bool {
		done, result := finished[ref.Name]
		return result && !done
	})
}

// applyAccepted records a check of the plan's acceptance. After the last one, a refuted
// one leads to a replan, or ends the run.
func (r fold) applyAccepted(d event.CheckCompleted) {
	if d.Attempt != r.Revision || d.Check != len(r.Accepted)+1 {
		return
	}
	r.countCheck(d)
	r.Acceptance.accept(d)
	sentence := refutation(r.Accepted)
	if !r.Acceptance.acceptanceOf(&r.Board).over() || sentence == "" {
		return
	}
	follows := cmp.Or(r.Plan.OnFailure, r.fallback)
	if follows == plan.OnFailureReplan && !r.Limits.NoReplan && r.canReplan() && !r.ends() {
		r.Planning.refute("the steps have ended, but " + sentence)
		return
	}
	r.end(event.StatusFailed, event.ReasonRefuted, "the steps have ended, but "+sentence)
}

// orUnverified returns how a run ends that requires everything to be verified.
func (r decision) orUnverified(e ending) ending {
	if !r.requireVerified || e.status != event.StatusCompleted || r.Revision == 0 || r.planOnly || r.dryRun {
		return e
	}
	evidence := r.Evidence()
	for _, v := range evidence {
		if v.State != plan.StateVerified {
			e.status, e.reason = event.StatusFailed, event.ReasonUnverified
			e.error = fmt.Sprintf("%d of %d verified; --require-verified needs all, and %q is %s", plan.CountVerified(evidence), len(evidence), v.Title, v.State)
			return e
		}
	}
	if len(evidence) == 0 {
		e.status, e.reason, e.error = event.StatusFailed, event.ReasonUnverified, "the plan has no check, and --require-verified needs at least one"
	}
	return e
}

// refutation says which checks do not hold, and what they saw; "" if none is refuted.
func refutation(checked []event.CheckCompleted) string {
	var refuted []string
	for _, c := range checked {
		if c.State != plan.StateRefuted {
			continue
		}
		words := fmt.Sprintf("the check %q does not hold", c.Title)
		if string(c.Title) != c.Expect {
			words += ": " + c.Expect
		}
		switch saw := plan.SawWords(c.Saw); {
		case c.Reason != "":
			words += " (" + string(c.Reason) + ")"
		case saw != "":
			words += ", since " + saw
		}
		refuted = append(refuted, words)
	}
	return strings.Join(refuted, "; ")
}
