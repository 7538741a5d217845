package runner

import (
	"cmp"
	"time"

	"replan/agent/event"
	"replan/planning/pace"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// onDisk reports whether an event of the run is on disk.
func (e *engine) onDisk() bool { return e.published }

// problem returns why the run cannot go on, because its journal cannot be written or the
// core has failed; nil if it can.
func (e *engine) problem() error { return e.broken }

// wait waits until all workers of a run that is over have ended. The caller must keep
// reading what they still send.
func (e *engine) wait() { e.workers.Wait() }

// close closes the journal.
func (e *engine) close() error { return e.journal.Close() }

// mentions returns what the goal mentions.
func (e *engine) mentions() []prompt.Mention { return e.prompting.Mentions }

// spent returns what the run has used since it began or was resumed, and its time.
func (e *engine) spent() (event.Usage, time.Duration) {
	return e.run.Usage.Since(e.usageBefore), e.run.Elapsed() - e.elapsedBefore
}

// called returns the calls of tools that returned results since the run began or was
// resumed. It also returns how long those of each tool took, in ms.
func (e *engine) called() (calls []plan.HistoryItem, durations map[string][]int64) {
	durations = map[string][]int64{}
	for _, h := range e.run.History[min(e.historyBefore, len(e.run.History)):] {
		if tool, err := e.run.Catalog.Find(h.Tool); err == nil && h.Status == plan.ItemCompleted {
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

// planning returns what shapes the requests of a run that is to make a plan for this one.
func (e *engine) planning() prompt.Prompting {
	prompting := e.prompting
	prompting.ForcePlan, prompting.SkipPlan, prompting.PlanTools = true, false, false
	return prompting
}

// answering returns the model of the run, for the runs that its plan tools start.
func (e *engine) answering() prompt.ModelInfo {
	return prompt.ModelInfo{
		Name: e.run.Model, Tools: e.run.ModelTools(), ContextWindow: e.run.ContextWindow, Small: e.prompting.Small, Loops: e.prompting.Loops,
		Vision: e.prompting.Vision, WritesCalls: e.prompting.WritesCalls, Fit: e.run.Measured().Finding(), Speed: pace.Speed{Read: e.prompting.ReadSpeed},
	}
}

// time returns the time of now, also to workers.
func (e *engine) time() time.Time { return e.now() }
