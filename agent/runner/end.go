package runner

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// store saves a newly created plan in the store.
func (s *Session) store(e *engine, record event.Data) event.Data {
	created, ok := record.(event.PlanCreated)
	if !ok || s.cfg.DryRun {
		return record
	}
	if e.run.ModelPlans() {
		created.Plan.PlannedBy = cmp.Or(e.run.Models().Of(prompt.PurposePlan).Name, e.run.Model)
	}
	created.Plan.Provenance = e.run.Authored()
	kept, err := s.cfg.Store.SavePlan(created.Plan)
	if err != nil {
		e.unstored = fmt.Errorf("the plan cannot be stored: %w", err)
		return record
	}
	created.Plan, e.stored = kept, kept.ID
	return created
}

// closed finishes a run after its workers have stopped.
func (s *Session) closed(e *engine) {
	if err := e.journal.Close(); err != nil {
		s.cfg.Logger.Error("close the journal", "run", e.id, "error", err)
	}
	s.engines = slices.DeleteFunc(s.engines, func(other *engine) bool { return other == e })
	s.learn(e)
	s.modelUse.calibrate(e.run)
	s.findBranch()
	if e.run.Result == nil || e.run.Result.Status != event.StatusCancelled {
		defer s.redirect(e.run.UserMessages)
	}
	if e.child != nil {
		e.child.end(s.outcome(e))
		return
	}
	reply := event.ChatReply{Run: e.id, Status: event.StatusFailed, Reason: event.ReasonStepFailed}
	if !e.published {
		reply.Run = ""
	}
	if e.broken != nil {
		reply.Text = untrusted.Text(e.broken.Error())
	} else {
		reply.Status, reply.Reason = e.run.Result.Status, e.run.Result.Reason
		reply.Text, reply.Results = untrusted.Text(e.closing(s.cfg.DryRun)), untrusted.Text(e.run.Results())
	}
	if e.unstored != nil {
		reply.Status, reply.Reason, reply.Text, reply.Results = event.StatusFailed, event.ReasonStepFailed, untrusted.Text(e.unstored.Error()), ""
	}
	used, elapsed := e.run.Usage.Since(e.usageBefore), (e.run.Elapsed() - e.elapsedBefore).Milliseconds()
	reply.Usage, reply.MS = &used, elapsed
	s.account.spend(used, elapsed)
	s.conversation.ask(string(e.run.Goal), e.prompting.Mentions)
	s.conversation.reply(string(reply.Content()))
	reply.Read = append([]rule.Provenance{}, e.run.Read()...)
	s.conversation.note(reply)
	s.weigh() // first, so that a reader of the reply sees the size that includes it
	_ = s.publish(reply)
}

// redirect keeps remarks that a run did not take: another current run takes them, or
// they become the next goal.
func (s *Session) redirect(remarks []string) {
	for _, text := range remarks {
		if !s.steer(text, "") {
			s.jobs++
			left := wordsJob(text)
			left.id = s.jobs
			s.queue = append(s.queue, left)
			s.publishNote("info", "the run ended before it arrived, so it is the next goal: "+text)
		}
	}
}

// closing returns the final words of a run: its answer, else its outcome.
func (e *engine) closing(dryRun bool) string {
	result := e.run.Result
	switch {
	case result.Answer != "":
		return string(result.Answer)
	case result.Error != "":
		return string(result.Error)
	case e.stored != "":
		return fmt.Sprintf("The plan `%[1]s` is stored: look at it with `/plan show %[1]s`, run it with `/plan run %[1]s`.", e.stored)
	case dryRun:
		return fmt.Sprintf("Dry run: %d of %d steps resolved, nothing was called.", e.run.Done(), len(e.run.Steps))
	default:
		return fmt.Sprintf("%s: %d of %d steps done.", e.run.Plan.Title, e.run.Done(), len(e.run.Steps))
	}
}

// learn records what a run has shown: when the model last worked, how its server
// counts tokens, the tools' durations, and the shape of their results.
func (s *Session) learn(e *engine) {
	if e.run.Usage.ModelCalls > e.usageBefore.ModelCalls {
		s.modelUse.active = e.run.Now
	}
	if s.cfg.DryRun {
		return
	}
	samples := map[string][]int64{}
	var calls []plan.HistoryItem
	for _, h := range e.run.History[min(e.historyBefore, len(e.run.History)):] {
		if tool, err := e.run.Catalogue.Find(h.Tool); err == nil && h.Status == plan.ItemCompleted {
			samples[tool.QualifiedName()] = append(samples[tool.QualifiedName()], h.MS)
			calls = append(calls, h)
		}
	}
	if len(samples) == 0 {
		return
	}
	if err := s.cfg.Store.AddDurations(samples); err != nil {
		s.cfg.Logger.Warn("note how long tools took", "error", err)
	}
	if err := s.cfg.Store.NoteCalls(s.cfg.Workspace, e.run.Catalogue, calls); err != nil {
		s.cfg.Logger.Warn("note what tools returned", "error", err)
	}
}

// next starts the next queued job, unless something blocks it.
func (s *Session) next(ctx context.Context) {
	switch {
	case s.busy() || s.choosing != nil:
		return
	case len(s.queue) == 0:
		s.expect(ctx)
		return
	}
	j := s.queue[0]
	s.queue = s.queue[1:]
	if j.names() && !j.fresh { // the mentioned things may have changed since
		s.admitting = append([]job{j}, s.admitting...)
		s.publishQueue()
		s.readNext(ctx)
		return
	}
	s.prepare(ctx, j)
}

// theUser is who stops a run or cancels a step, unless somebody else is named.
const theUser = "the user"

func (s *Session) stopAll(why error) {
	if len(s.queue) > 0 {
		var names []string
		for _, j := range s.queue {
			names = append(names, j.name())
		}
		s.publishNote("info", "no longer queued: "+strings.Join(names, "; "))
		s.queue = nil
		s.publishQueue()
	}
	s.cancelMentions()
	if s.choosing != nil {
		s.choosing()
	}
	if s.preparing != nil {
		s.preparing()
	}
	s.stopEngines(why)
}

// stopEngines stops the current runs, innermost first. An inner run is thus over
// before the run that requested it learns of its end.
func (s *Session) stopEngines(why error) {
	for _, e := range slices.Backward(s.engines) {
		e.stop(why)
		s.afterAdvance(e)
	}
}

// cancel stops one running step and reports whether there is one.
func (e *engine) cancel(index string, why error) bool {
	s := e.run.Step(index)
	if s == nil {
		return false
	}
	if len(s.Items) > 0 && s.Status == agent.StepRunning {
		return e.cancelItems(s, why)
	}
	c := e.calls[event.Attempt{Index: index, Number: s.Attempt}]
	if l := s.Loop; l != nil && s.Status == agent.StepRunning && !l.Asking {
		// Its last turn has returned; only the calls of that turn are running.
		e.apply([]event.Data{event.StepFailed{
			Index: index, Attempt: s.Attempt, Error: untrusted.Text(why.Error()), Failure: event.FailureInterrupted,
			MS: e.since(s.StartedAt),
		}})
		return true
	}
	if c == nil {
		return false
	}
	c.stop(why)
	return true
}

// cancelItems stops the running items of a step, and keeps the others from beginning. It
// reports whether there was one.
func (e *engine) cancelItems(s *agent.StepState, why error) bool {
	failed, found := agent.CancelItems(s, why.Error())
	if found {
		e.apply([]event.Data{failed})
	}
	for _, item := range s.Items {
		found = e.cancel(item.Step.Index, why) || found
	}
	return found
}
