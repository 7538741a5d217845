package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// tracker applies what happens to steps, their gates and their calls, and decides what follows
// from it.
type tracker struct {
	dialogue      dialogue
	scheduler     scheduler
	preparer      preparer
	caller        caller
	origins       origins
	recorder      recorder
	steps         roster
	terms         *Terms
	tools         *Toolbox
	board         *Board
	ledger        *Ledger
	planning      *Planning
	outcome       *Outcome
	conversations *Conversations
	models        *ModelCalls
	permissions   *Permissions
	questions     *OpenQuestions
	acceptance    *Acceptance
	flight        *flight
	clock         *Clock
	meter         *Meter
}

// applyStepRetry makes a failed step wait for its next attempt.
func (r tracker) applyStepRetry(d event.StepRetry) {
	s := r.steps.Step(d.Index)
	if s == nil {
		return
	}
	if s.retry(d) { // what it waits for does not hold yet
		r.ledger.remove(d.Index, d.Attempt)
	}
	r.recorder.retryAt(s, d.At)
	r.scheduler.enqueue(s)
}

// applyStepSkipped skips a step and its dependents.
func (r tracker) applyStepSkipped(d event.StepSkipped) {
	s := r.steps.Step(d.Index)
	if s == nil {
		return
	}
	notTaken := s.skipped(d)
	r.recorder.record(s, plan.ItemSkipped)
	r.scheduler.enqueue(s)
	if notTaken {
		r.scheduler.releaseNotTaken(s)
		return
	}
	r.scheduler.skipDependents(s)
}

// applyStepInDoubt asks about a step that may have taken effect.
func (r tracker) applyStepInDoubt(d event.StepInDoubt) {
	r.questions.found(d.Index, d.Attempt)
	s := r.back(d.Index, d.Attempt)
	if s == nil {
		return
	}
	s.doubt(d)
	r.recorder.endAttempt(s, d.Attempt)
	r.recorder.record(s, plan.ItemInDoubt)
	r.ask(s)
	r.scheduler.enqueue(s)
}

// applyGateRequested opens the gate of a waiting step. A call that changes nothing
// passes it.
func (r tracker) applyGateRequested(e event.Event, d event.GateRequested) {
	s := r.steps.Step(d.Step)
	if s == nil {
		return
	}
	call := d.Call
	if call == "" { // an older replan wrote it
		call = callHash(r.tools.facts(s.Step.Tool).Tool, d.Args)
	}
	waits := s.openGate(d, call)
	r.scheduler.enqueue(s)
	if !waits {
		return
	}
	r.permissions.openGate(&Gate{GateRequested: d, RequestedAt: e.Time})
	r.recorder.askedGate(s, d)
}

// applyStepCompleted stores the result of an attempt.
func (r tracker) applyStepCompleted(d event.StepCompleted) {
	if s := r.steps.Step(d.Index); d.DryRun && (s == nil || s.Status == StepPending) {
		r.applyDry(d)
		return
	}
	s := r.back(d.Index, d.Attempt)
	if s == nil {
		r.recorder.endOrphan(d.Index, d.Attempt, StepCompleted, d.MS)
		return
	}
	s.complete(d)
	r.recorder.endAttempt(s, d.Attempt)
	if d.Reply != nil {
		r.meter.reply(*d.Reply)
		r.models.replied(Exchange{Purpose: prompt.PurposeStep, Step: d.Index, Attempt: d.Attempt, Reply: *d.Reply}, r.terms.modelTerms())
	}
	r.meter.spend(s.account(d.Run, d.Usage))
	r.recorder.record(s, plan.ItemCompleted)
	switch {
	case s.byModel():
		r.dialogue.settleCall(s)
	case s.Draft:
		r.readyDrafts()
	case len(ChecksOf(s.Step)) > 0:
		r.beginChecks(s)
		r.dialogue.leaveLoop(s)
		r.scheduler.enqueue(s)
	default:
		r.scheduler.release(s)
		r.dialogue.leaveLoop(s)
		r.scheduler.enqueue(s) // a sub-agent was waiting here with its answer
	}
}

func (r tracker) applyStepStarted(d event.StepStarted) {
	s := r.steps.Step(d.Index)
	s.start(d, r.clock.Now, r.clock.Elapsed())
	r.recorder.begin(s, d.Rule)
	r.scheduler.overtake(s)
	if s.Polls == 0 && !s.isItem() { // the calls of a step that waits, or for its items, are one execution
		r.meter.beginStep()
	}
	if s.byModel() {
		r.meter.beginInner()
		s.inner().count(s.Step.Tool, d.Args)
	}
	switch d.Executor {
	case plan.ExecutorTool:
		facts := r.tools.facts(d.Tool)
		r.tools.called(facts)
		r.meter.call(facts.Tool.ReadOnly)
		r.flight.callStarts(d.Index, d.Attempt)
	case plan.ExecutorAgent:
		r.dialogue.beginLoop(s)
	default:
		r.flight.modelStarts()
		if d.Request != nil {
			s.sawInPart(d.Request.Partial)
			r.models.asked(&Exchange{Purpose: d.Request.Purpose, Step: d.Index, Attempt: d.Attempt, Request: *d.Request}, r.clock.Now)
		}
	}
	r.scheduler.enqueue(s)
}

// applyDry completes a step of a dry run without a call.
func (r tracker) applyDry(d event.StepCompleted) {
	s := r.steps.Step(d.Index)
	if s == nil || s.Status != StepPending {
		return
	}
	s.completeDry(d)
	if !s.isItem() {
		r.meter.beginStep()
	}
	if s.Step.Executor == plan.ExecutorTool {
		facts := r.tools.facts(s.Step.Tool)
		r.tools.called(facts)
		r.meter.dryCall(facts.Tool.ReadOnly)
	}
	r.recorder.record(s, plan.ItemCompleted)
	if s.byModel() {
		r.meter.beginInner()
		s.inner().conversation().made(s.Step.Tool, d.Args)
		r.dialogue.settleCall(s)
	} else {
		r.scheduler.release(s)
	}
	r.scheduler.enqueue(s)
}

// back marks an attempt as no longer in flight and returns its step, or nil if
// the plan has changed since.
func (r tracker) back(index string, number int) *StepState {
	s := r.steps.Step(index)
	current := s != nil && s.Status == StepRunning && s.Attempt == number
	if !r.flight.callReturns(index, number) && current && s.Step.Executor == plan.ExecutorSelf && !s.expands() {
		r.flight.modelReturns()
	}
	if !current {
		return nil
	}
	return s
}

func (r tracker) applyStepFailed(d event.StepFailed) {
	if s := r.steps.Step(d.Index); s != nil && s.Status == StepChecking && (d.Failure == event.FailureCheck || d.Failure == event.FailureTimeout) {
		r.applyRefuted(s, d)
		return
	}
	s := r.back(d.Index, d.Attempt)
	if s == nil {
		// It failed before it started. It still counts as an attempt, so that a
		// plan that cannot be executed uses up its budget.
		s = r.steps.Step(d.Index)
		if s == nil || s.Status == StepCompleted || s.attemptsTotal() >= d.Attempt {
			r.recorder.endOrphan(d.Index, d.Attempt, StepFailed, d.MS)
			return
		}
		s.tryInVain(d.Attempt)
		if !s.isItem() {
			r.meter.beginStep()
		}
		if s.byModel() {
			r.meter.beginInner()
		}
		r.permissions.closeGate(s.Gate)
	}
	if s.Step.Executor == plan.ExecutorSelf && !s.expands() {
		d.Reply = cmp.Or(d.Reply, &reply.Reply{MS: d.MS})
	}
	if d.Reply != nil {
		r.meter.reply(*d.Reply)
		r.models.replied(Exchange{Purpose: prompt.PurposeStep, Step: d.Index, Attempt: d.Attempt, Reply: *d.Reply, Error: d.Error}, r.terms.modelTerms())
	}
	r.meter.spend(s.account(d.Run, d.Usage))
	s.fail(d)
	r.recorder.endAttempt(s, d.Attempt)
	if s.heldBack(d) {
		r.holdBack(s)
		return
	}
	r.recorder.record(s, plan.ItemFailed)
	switch {
	case s.byModel():
		r.dialogue.handleCallFailure(s)
	case !s.Draft:
		r.handleFailure(s)
	}
	r.dialogue.leaveLoop(s)
	r.scheduler.enqueue(s)
}

// handleFailure decides what follows from a failed step. If that would end the run and
// the user is present and has something to decide, it asks the user instead.
func (r tracker) handleFailure(s *StepState) {
	switch {
	case !s.isItem() || r.scheduler.retries(s):
	case r.endsItems(s):
		r.stopItems(s)
		return
	default:
		r.hearsNo(s)
		r.scheduler.skipDependents(s)
		return
	}
	status, reason := event.StatusFailed, event.ReasonStepFailed
	sentence := fmt.Sprintf("step %s (%s) failed: %s", s.Step.Index, s.Step.Title, headline(string(s.Error)))
	switch {
	case s.Failure == event.FailureDenied:
		if r.hearsNo(s) {
			r.planning.failStep(s.Step.Index, string(s.Error))
			return
		}
		reason, sentence = event.ReasonDenied, s.deniedWords()
	case s.Failure == event.FailureInterrupted:
		status, reason, sentence = event.StatusCanceled, event.ReasonInterrupted, headline(string(s.Error))
	case !s.Failure.Replannable():
		r.outcome.end(event.StatusFailed, event.ReasonGuard, sentence)
		return
	case r.scheduler.retries(s), r.refills(s):
		return
	default:
		switch follows := r.board.Plan.FailureOf(s.Step, r.terms.fallback()); {
		case follows == plan.OnFailureAbort:
		case follows == plan.OnFailureReplan && r.meter.Limits.NoReplan:
		case follows == plan.OnFailureSkip:
			r.scheduler.skipDependents(s)
			return
		default:
			if r.terms.DryRun() {
				break // a dry run reports what would happen and plans nothing new
			}
			if r.origins.canReplan() {
				if !r.planning.wantsReplan() {
					r.planning.failStep(s.Step.Index, string(s.Error))
				}
				return
			}
			sentence += "; it asks for a replan, and there is no model to make one"
		}
	}
	switch {
	case r.terms.DryRun():
		// The run would end here, but a dry run also shows the steps that do not
		// depend on this one.
		r.scheduler.skipDependents(s)
		r.outcome.endDry(status, reason, sentence)
	case r.terms.attended() && !r.outcome.ends() && r.leavesAChoice(s):
		r.ask(s)
	default:
		r.outcome.end(status, reason, sentence)
	}
}

// hearsNo makes the reason why the user declined a call the request for a new plan of the rest.
// It reports whether there is one: without a reason, the user has still to say what follows.
func (r tracker) hearsNo(s *StepState) bool {
	reason, _ := s.Declined()
	if reason == "" || r.outcome.ends() || !r.canReplan() {
		return false
	}
	r.planning.keepMessages(string(reason))
	r.dialogue.applyRemarks()
	return true
}

// canReplan reports whether the run may still make a new plan of the rest.
func (r tracker) canReplan() bool {
	return r.origins.canReplan() && !r.meter.Limits.NoReplan && r.meter.replansLeft() > 0 && !r.terms.DryRun()
}

// leavesAChoice reports whether the user has something to decide after a failed step.
// If nothing can replan, a denial is final, and so is the failure of the last step:
// a resume tries it again.
func (r tracker) leavesAChoice(s *StepState) bool {
	switch {
	case r.origins.canReplan() || r.questions.asks():
		return true
	case s.gate().denied():
		return false
	}
	return slices.ContainsFunc(r.board.Steps, func(other *StepState) bool {
		return other != s && !other.Status.Ended() && other.skipReason() == ""
	})
}

// refills asks a model once more for the arguments that the tool refused: small models
// copy a text nearly right. A change by one of the workspace's own operators is made whole
// or not at all, so that nothing has happened.
func (r tracker) refills(s *StepState) bool {
	if s.Failure != event.FailureTool || r.terms.Model == "" || s.isItem() {
		return false
	}
	if facts := r.tools.facts(s.Step.Tool); facts.Err != nil || !facts.Tool.Trusted || !facts.Tool.Previews {
		return false
	}
	if !s.refill() {
		return false
	}
	r.scheduler.enqueue(s)
	return true
}

// holdBack lets a call that its tool refused to run wait for its gate. Nothing was done, so no
// budget counts it.
func (r tracker) holdBack(s *StepState) {
	r.tools.uncalled(r.tools.facts(s.Step.Tool))
	if !s.isItem() {
		r.meter.takeBackStep()
	}
	r.meter.takeBackCall()
	if s.byModel() {
		r.meter.takeBackInner()
		s.inner().uncount(s.Step.Tool, s.Args)
	}
	r.scheduler.enqueue(s)
}

func (r tracker) applyGateResolved(d event.GateResolved) {
	for _, g := range r.permissions.Gates {
		if g.Gate != d.Gate {
			continue
		}
		if d.Call != "" && d.Call != g.Call {
			return // it answers another call, which had a gate of this name
		}
		r.permissions.closeGate(d.Gate)
		s := r.steps.Step(g.Step)
		if s == nil {
			return
		}
		s.leaveGate()
		r.recorder.answeredGate(s, d)
		if d.Decision == event.Edit {
			r.edit(s, g.Args, d.Args)
			return
		}
		s.gate().answer(d)
		r.scheduler.enqueue(s)
		if d.Decision == event.Allow {
			accepted := r.permissions.acceptChange(g)
			if granted := r.permissions.grant(g, r.tools.facts(g.QualifiedTool()).Tool, d); accepted || granted {
				r.scheduler.enqueueAll()
			}
		}
		if g.Items > 0 {
			r.answerItems(s, d)
		}
		return
	}
}

// askAgain reopens the gates, open or passed, of calls that are no longer the ones that
// the user saw. A resume may bring other tools, or the same ones with other effects.
func (r tracker) askAgain() {
	r.steps.every(func(s *StepState) {
		if s.Status != StepWaiting && (s.Status != StepPending || !s.gate().allowed()) || r.preparer.bound(s) {
			return
		}
		r.permissions.closeGate(s.Gate)
		s.leaveGate()
		s.reask()
	})
}

// edit replaces the arguments that a gate showed with those of the user. The gate
// opens again for the new call.
func (r tracker) edit(s *StepState, before, args map[string]any) {
	if args == nil {
		args = map[string]any{}
	}
	var left []rule.Provenance
	for _, p := range r.origins.provenance(s) {
		stays := p.Arg != "" && plan.EqualValues(before[p.Arg], args[p.Arg])
		for name, value := range args {
			stays = stays || p.Arg == "" && plan.EqualValues(before[name], value)
		}
		if stays {
			left = append(left, p)
		}
	}
	s.editCall(args, left)
	r.scheduler.enqueue(s)
}

// answerItems applies the answer at the gate of an item to all items of its step.
func (r tracker) answerItems(s *StepState, d event.GateResolved) {
	of := s.item().owner()
	if of == nil {
		return
	}
	if of.fanOut().asking() == s {
		of.fanOut().setAsker(nil)
	}
	for _, item := range of.Items {
		if d.Decision == event.Deny && item.Status == StepPending {
			item.gate().answer(d)
		}
	}
	if d.Decision == event.Allow {
		of.gate().allowItems(r.tools.facts(s.Step.Tool).Tool)
	}
	for _, item := range of.Items {
		r.scheduler.enqueue(item)
	}
}

// ask opens the question about a step.
func (r tracker) ask(s *StepState) {
	if !r.outcome.ends() && !s.awaitsAnswer() {
		s.askUser(true)
		r.questions.add(s)
	}
}

// answered closes the question about a step.
func (r tracker) answered(s *StepState) {
	s.askUser(false)
	r.questions.remove(s)
}

// again makes a step wait for a new attempt, and resets everything that permits
// one.
func (r tracker) again(s *StepState) {
	if r.scheduler.onlyRechecks(s) {
		r.beginChecks(s)
		s.countAfresh()
		return
	}
	s.again()
}

// applyDoubtResolved applies the decision about a step in doubt.
func (r tracker) applyDoubtResolved(d event.DoubtResolved) {
	s := r.steps.Step(d.Step)
	if s == nil || s.Status != StepInDoubt {
		return
	}
	r.recorder.decided(s, AskedDoubt, string(d.Decision), d.By)
	switch d.Decision {
	case event.DoubtDone:
		r.answered(s)
		s.completeAsTold()
		r.recorder.record(s, plan.ItemCompleted)
		if len(ChecksOf(s.Step)) > 0 {
			r.beginChecks(s)
			s.checks().loseResult()
			break
		}
		r.scheduler.release(s)
		r.dialogue.settleCall(s)
	case event.DoubtRerun:
		r.answered(s)
		s.interruption().rerun(isUnattended(d.By))
		r.again(s)
		r.scheduler.enqueue(s.whole()) // a step that another item has stopped waited for the answer
	default:
		r.outcome.end(event.StatusFailed, event.ReasonInDoubt, fmt.Sprintf("step %s (%s) may or may not have taken effect: %s; find out, and resume the run with --in-doubt done or rerun", d.Step, s.Step.Title, s.Error))
	}
	r.scheduler.enqueue(s)
}

// applyFailureResolved continues after a failed step as decided. After a resume,
// the step already waits for another attempt.
func (r tracker) applyFailureResolved(d event.FailureResolved) {
	s := r.steps.Step(d.Step)
	if s == nil || s.byModel() || s.Status != StepFailed && s.Status != StepPending {
		return
	}
	r.answered(s)
	r.recorder.decided(s, AskedFailure, string(d.Decision), d.By)
	decision := d.Decision
	if decision == event.FailureReplan && !r.origins.canReplan() {
		decision = event.FailureAbort
	}
	switch decision {
	case event.FailureRetry:
		if d.Args != nil && s.Failure == event.FailureCheck {
			s.forgetFailure() // the user asks for another call
		}
		r.again(s)
		if d.Args != nil {
			s.write(d.Args)
		}
	case event.FailureSkip:
		if s.skipByUser() {
			r.recorder.record(s, plan.ItemSkipped)
		}
		r.scheduler.skipDependents(s)
	case event.FailureReplan:
		s.failAgain()
		r.planning.failStep(s.Step.Index, cmp.Or(string(s.Error), "the user asks for a new plan"))
	default:
		status, reason := event.StatusFailed, event.ReasonStepFailed
		sentence := fmt.Sprintf("step %s (%s) failed: %s", s.Step.Index, s.Step.Title, headline(string(s.Error)))
		switch s.Failure {
		case event.FailureDenied:
			if reason = event.ReasonDenied; s.isDeclined() {
				sentence = s.deniedWords()
			}
		case event.FailureInterrupted:
			status, reason = event.StatusCanceled, event.ReasonInterrupted
		}
		r.outcome.end(status, reason, sentence)
	}
	r.scheduler.enqueue(s)
}

// fill takes the arguments that a model wrote for a step if the resulting call
// fits its tool.
func (r tracker) fill(s *StepState, text string) {
	args, err := reply.ParseArgs(text)
	if err != nil {
		s.request().fail(err.Error())
		return
	}
	signature := r.tools.facts(s.Step.Tool).Signature
	if !slices.Contains(signature.Names(), prompt.ReasonArg) {
		delete(args, prompt.ReasonArg)
	}
	args = signature.Settle(args)
	if why := faultyText(string(r.terms.Goal), s.Step.Args, args); why != "" {
		s.request().refuse(args, why)
		return
	}
	call := s.Step
	call.Args, call.DependsOn, call.Checks = merge(s.Step.Args, args), nil, nil
	faults, _ := plan.Validate(plan.Plan{Title: call.Title, Steps: []plan.Step{call}}, plan.Rules{Catalog: r.tools.Catalog, CheckTools: true, Strict: r.terms.strict(), Named: true})
	for _, f := range faults {
		if f.Code == plan.CodeBadArgs {
			s.request().fail(f.Message)
			return
		}
	}
	s.request().take(args)
}

// applyTurn applies the reply to a turn of a sub-agent, or to its planning.
func (r tracker) applyTurn(d event.ModelReplied) {
	r.flight.modelReturns()
	r.meter.reply(d.Reply)
	s := r.steps.Step(d.Step)
	if s == nil || s.Status != StepRunning || s.Attempt != d.Attempt || s.Loop == nil || !s.Loop.Asking {
		return // the plan has changed since
	}
	defer r.scheduler.enqueue(s)
	l := s.Loop
	l.replied(d.Reply, r.clock.Now)
	s.count(l.Tokens)
	switch _, plans := l.planRequest(); {
	case plans:
		l.ownPlan(d, r.outcome.ends())
	case d.Error != "":
		l.noReply(d, r.outcome.ends(), r.dialogue.promptContext(l))
	default:
		r.dialogue.handleReply(l, d.Reply)
	}
}

// applyChatTurn applies a chat reply that requests calls.
func (r tracker) applyChatTurn(d event.ModelReplied) {
	r.flight.modelReturns()
	r.meter.reply(d.Reply)
	r.conversations.chat().replied(d.Reply, r.clock.Now)
	r.outcome.continueAnswer()
	r.dialogue.handleReply(r.conversations.Chat, d.Reply)
}

// applyDeadline ends the loop whose time is up.
func (r tracker) applyDeadline(id string) {
	for _, s := range r.conversations.working() {
		if id != s.Loop.timer() || s.Loop.over() {
			continue
		}
		if s.Loop.stands() || r.clock.Now.Before(s.Loop.deadline()) {
			r.clock.unfire(id) // its clock stood in the meantime
			continue
		}
		s.Loop.fail(event.FailureTimeout, "it took longer than the "+s.Loop.limit().String()+" it may")
		r.scheduler.enqueue(s)
	}
}

// isUnattended reports whether no user made a decision: an option did, or no user was present.
func isUnattended(by string) bool {
	return strings.HasPrefix(by, "--") || strings.HasPrefix(by, "nobody ")
}

// faultyText says why a text that a model wrote cannot be meant, "" if it can: it is the goal
// itself, or see [planning.FaultyRewrite].
func faultyText(goal string, given, written map[string]any) string {
	plain := func(text string) string {
		return strings.ToLower(strings.Trim(strings.Join(strings.Fields(text), " "), "."))
	}
	for _, name := range []string{"new", "text"} {
		if text, _ := written[name].(string); text != "" && plain(text) == plain(goal) {
			return name + " repeats the goal; write what it asks for"
		}
	}
	before, _ := merge(given, written)["old"].(string)
	after, _ := written["new"].(string)
	if before != "" && after != "" {
		return planning.FaultyRewrite(before, after)
	}
	return ""
}

// headlineKept bounds the error text in the sentence that ends a run, in runes;
// the history keeps the full error.
const headlineKept = 300

// headline returns the first non-empty line of an error.
func headline(text string) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.TrimSpace(line)
	if runes := []rune(line); len(runes) > headlineKept {
		return string(runes[:headlineKept]) + "…"
	}
	if rest != "" {
		return line + " …"
	}
	return line
}
