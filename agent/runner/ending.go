package runner

import (
	"cmp"
	"fmt"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// spent returns what the run has used since it began or was resumed, and its time.
func (e *engine) spent() (event.Usage, time.Duration) {
	return e.run.Usage.Since(e.usageBefore), e.run.Elapsed() - e.elapsedBefore
}

// called returns the calls of tools that returned results since the run began or was
// resumed, and how long those of each tool took, in ms.
func (e *engine) called() (calls []plan.HistoryItem, durations map[string][]int64) {
	durations = map[string][]int64{}
	for _, h := range e.run.History[min(e.historyBefore, len(e.run.History)):] {
		if tool, err := e.run.Catalogue.Find(h.Tool); err == nil && h.Status == plan.ItemCompleted {
			durations[tool.QualifiedName()] = append(durations[tool.QualifiedName()], h.MS)
			calls = append(calls, h)
		}
	}
	return calls, durations
}

// authored returns a new plan of the run with who made it.
func (e *engine) authored(p plan.Plan) plan.Plan {
	if e.run.ModelPlans() {
		p.PlannedBy = cmp.Or(e.run.Models().Of(prompt.PurposePlan).Name, e.run.Model)
	}
	p.Provenance = e.run.Authored()
	return p
}

// reply returns the session's reply at the end of the run.
func (r *activeRun) reply(dryRun bool) event.ChatReply {
	e := r.engine
	reply := event.ChatReply{Run: e.id, Status: event.StatusFailed, Reason: event.ReasonStepFailed}
	if !e.published {
		reply.Run = ""
	}
	switch {
	case r.unsaved != nil:
		reply.Text = untrusted.Text(r.unsaved.Error())
	case e.broken != nil:
		reply.Text = untrusted.Text(e.broken.Error())
	default:
		reply.Status, reply.Reason = e.run.Result.Status, e.run.Result.Reason
		reply.Text, reply.Results = untrusted.Text(r.closing(dryRun)), untrusted.Text(e.run.Results())
	}
	used, elapsed := e.spent()
	reply.Usage, reply.MS = &used, elapsed.Milliseconds()
	reply.Read = append([]rule.Provenance{}, e.run.Read()...)
	return reply
}

// closing returns the final words of a run: its answer, else its outcome.
func (r *activeRun) closing(dryRun bool) string {
	run := r.engine.run
	switch {
	case run.Result.Answer != "":
		return string(run.Result.Answer)
	case run.Result.Error != "":
		return string(run.Result.Error)
	case r.stored != "":
		return fmt.Sprintf("The plan `%[1]s` is stored: look at it with `/plan show %[1]s`, run it with `/plan run %[1]s`.", r.stored)
	case dryRun:
		return fmt.Sprintf("Dry run: %d of %d steps resolved, nothing was called.", run.Done(), len(run.Steps))
	default:
		return fmt.Sprintf("%s: %d of %d steps done.", run.Plan.Title, run.Done(), len(run.Steps))
	}
}

// remarks returns what the user said to the run that it did not take. One that the user
// stopped takes them along.
func (r *activeRun) remarks() []string {
	if result := r.engine.run.Result; result != nil && result.Status == event.StatusCancelled {
		return nil
	}
	return r.engine.run.UserMessages
}

// run returns the run as its events have made it.
func (r *activeRun) run() *agent.Run { return r.engine.run }

// mentions returns what the goal mentions.
func (r *activeRun) mentions() []prompt.Mention { return r.engine.prompting.Mentions }

// inner reports whether another run requested this one.
func (r *activeRun) inner() bool { return r.child != nil }

// askedModel reports whether the run has asked a model since it began or was resumed.
func (r *activeRun) askedModel() bool {
	return r.engine.run.Usage.ModelCalls > r.engine.usageBefore.ModelCalls
}

// record records the tools' durations and the shape of their results for later runs.
func (r *activeRun) record(cfg *Config) {
	calls, durations := r.engine.called()
	if cfg.DryRun || len(calls) == 0 {
		return
	}
	if err := cfg.Store.AddDurations(durations); err != nil {
		cfg.Logger.Warn("note how long tools took", "error", err)
	}
	if err := cfg.Store.NoteCalls(cfg.Workspace, r.engine.run.Catalogue, calls); err != nil {
		cfg.Logger.Warn("note what tools returned", "error", err)
	}
}
