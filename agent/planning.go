package agent

import (
	"strings"
	"time"

	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// Planning is the making of plans: the pipeline in progress, why a new plan is wanted, and
// what the screen shows of it.
type Planning struct {
	Route        *event.RouteMatched // how the goal's words led to the plan; nil if they did not
	Phases       [3]Phase            // analysis, review, plan
	Replanning   *Replanning         // set during the request for a new plan
	UserMessages []string            // from the user, not yet passed to a model

	planners      planning.Planners   // make the plans; nil means the three phases with a model
	routed        *event.RouteMatched // meaning of the goal's words, if they plan the goal
	pipeline      planning.Planner    // first planning or replan in progress; nil if none
	awaits        bool                // the model is working on its request
	reportedSkips int                 // skipped phases that were reported
	lookedAt      []plan.HistoryItem  // calls that the planner of the goal read the results of

	failedStep  string // a failed step that the planner must handle; "" if none
	failedError string // of the step, or what the plan's acceptance refutes
	remark      string // the user's remark that asks for a new plan
}

// Phase is the state of one planning phase.
type Phase struct {
	Status    PhaseStatus
	StartedAt time.Time
	MS        int64
	Tokens    int    // prompt and completion
	Text      string // streamed so far
	Thinking  string
	Reason    untrusted.Text // why it was skipped or failed
}

// PhaseStatus is the status of a phase.
type PhaseStatus string

// Statuses of a phase.
const (
	PhasePending   PhaseStatus = ""
	PhaseRunning   PhaseStatus = "running"
	PhaseCompleted PhaseStatus = "completed"
	PhaseSkipped   PhaseStatus = "skipped"
	PhaseFailed    PhaseStatus = "failed"
)

// Replanning is a replan in progress.
type Replanning struct {
	Attempt     int
	Step        string
	Error       untrusted.Text
	UserRequest string // the user's request
	StartedAt   time.Time
	Text        string // streamed so far
	Thinking    string
}

// by sets the planners of a run that has not started.
func (p *Planning) by(planners planning.Planners) { p.planners = planners }

// hasOwn reports whether other planners than the phases make the plans.
func (p *Planning) hasOwn() bool { return p.planners != nil }

// canReplan reports whether a run with this model has a planner for the rest.
func (p *Planning) canReplan(model string) bool { return p.hasOwn() || model != "" }

// makers returns the planners of this run.
func (p *Planning) makers() planning.Planners {
	if p.planners != nil {
		return p.planners
	}
	return planning.Phases()
}

// begin begins to make a plan.
func (p *Planning) begin(pipeline planning.Planner) { p.pipeline = pipeline }

// finish ends the making of a plan.
func (p *Planning) finish() { p.pipeline = nil }

// restart begins to plan the goal once more.
func (p *Planning) restart(pipeline planning.Planner) {
	p.pipeline, p.reportedSkips, p.Phases = pipeline, 0, [3]Phase{}
}

// route begins with a plan that follows from the words of the goal.
func (p *Planning) route(meaning event.RouteMatched, pipeline planning.Planner) {
	p.routed, p.pipeline = &meaning, pipeline
}

// matched records how the words of the goal led to the plan.
func (p *Planning) matched(d event.RouteMatched) { p.Route = &d }

// stopReplan ends a replan without its plan.
func (p *Planning) stopReplan() { p.Replanning = nil }

// byWords reports whether the words of the goal plan it.
func (p *Planning) byWords() bool { return p.routed != nil }

// unreportedRoute returns the meaning of the words; ok is false once it is recorded.
func (p *Planning) unreportedRoute() (route event.RouteMatched, ok bool) {
	if p.Route != nil {
		return event.RouteMatched{}, false
	}
	return valueOf(p.routed)
}

// active reports whether a plan is being made.
func (p *Planning) active() bool { return p.pipeline != nil }

// waits reports whether the model is working on a request of the planner.
func (p *Planning) waits() bool { return p.awaits }

// nextRequest returns the next request to the model; more is false once there is an outcome.
func (p *Planning) nextRequest() (request prompt.Request, more bool) { return p.pipeline.Next() }

// outcome returns what the planner has come to.
func (p *Planning) outcome() planning.Outcome { return p.pipeline.Outcome() }

// unplanned reports whether planning failed and must start over.
func (p *Planning) unplanned() bool {
	if p.pipeline == nil {
		return true
	}
	switch p.pipeline.Outcome().Kind {
	case planning.OutcomeEmpty, planning.OutcomeSilent, planning.OutcomeFailed:
		return true
	default:
		return false
	}
}

// unreportedSkips returns the skipped phases that are not recorded yet.
func (p *Planning) unreportedSkips() []planning.SkippedPhase {
	if p.pipeline == nil {
		return nil
	}
	skipped := p.pipeline.Skipped()
	return skipped[min(p.reportedSkips, len(skipped)):]
}

// await records that the model works on a request of the planner.
func (p *Planning) await() { p.awaits = true }

// absorb passes a reply to the planner.
func (p *Planning) absorb(r reply.Reply) {
	p.awaits = false
	if p.pipeline != nil {
		p.pipeline.Absorb(r)
	}
}

// unanswered tells the planner that no complete reply came. If the user stopped
// the run, the planner asks again after a resume.
func (p *Planning) unanswered(kind event.FailureKind, reason string, partial reply.Reply, stopping bool) {
	p.awaits = false
	switch {
	case p.pipeline == nil, kind == event.FailureInterrupted && stopping:
	case kind == event.FailureTooLong && !p.asksInPassing(): // the request for the plan would be longer
		p.pipeline = planning.Unanswerable(reason)
	default:
		p.pipeline.Fail(reason, partial)
	}
}

// asksInPassing reports whether the planner can do without a reply to its current
// request, and its next request is shorter.
func (p *Planning) asksInPassing() bool {
	request, _ := p.pipeline.Next()
	return request.Purpose == prompt.PurposeReview || request.Purpose == prompt.PurposeTools
}

// looks returns the steps that the planner wants carried out before it asks a model. There
// are none if it wants nothing, or knows their results.
func (p *Planning) looks() []plan.Step {
	if looker, ok := p.pipeline.(planning.Looker); ok {
		return looker.Looks()
	}
	return nil
}

// looked tells the planner the results of those steps.
func (p *Planning) looked(items []plan.HistoryItem) {
	p.lookedAt = items
	p.pipeline.(planning.Looker).Looked(items)
}

// looksTaken returns the results of those steps.
func (p *Planning) looksTaken() []plan.HistoryItem { return p.lookedAt }

// startPhase starts a phase.
func (p *Planning) startPhase(phase int, now time.Time) {
	p.Phases[phase-1] = Phase{Status: PhaseRunning, StartedAt: now}
	p.awaits = true
}

// streamPhase adds a piece of a phase's reply.
func (p *Planning) streamPhase(d event.PhaseDelta) {
	phase := &p.Phases[d.Phase-1]
	phase.Text, phase.Thinking = phase.Text+d.Text, phase.Thinking+d.Thinking
}

// completePhase takes the reply of a phase.
func (p *Planning) completePhase(d event.PhaseCompleted) {
	phase := &p.Phases[d.Phase-1]
	phase.Status, phase.MS, phase.Tokens = PhaseCompleted, d.MS, d.Tokens
	phase.Text, phase.Thinking = d.Reply.Text, d.Reply.Thinking
}

// failPhase records why a phase failed.
func (p *Planning) failPhase(d event.PhaseFailed, now time.Time) {
	phase := &p.Phases[d.Phase-1]
	phase.Status, phase.Reason, phase.MS = PhaseFailed, d.Reason, now.Sub(phase.StartedAt).Milliseconds()
}

// skipPhase records why a phase was skipped.
func (p *Planning) skipPhase(d event.PhaseSkipped) {
	p.Phases[d.Phase-1] = Phase{Status: PhaseSkipped, Reason: d.Reason}
	p.reportedSkips++
}

// loseRequest drops the request under way, which is sent again.
func (p *Planning) loseRequest() {
	p.awaits = false
	for i, phase := range p.Phases {
		if phase.Status == PhaseRunning {
			p.Phases[i] = Phase{}
		}
	}
}

// replan begins a new plan for the rest.
func (p *Planning) replan(d event.ReplanStarted, now time.Time) {
	p.Replanning = &Replanning{Attempt: d.Attempt, Step: d.Step, Error: d.Error, UserRequest: string(d.Request), StartedAt: now}
}

// streamReplan adds a piece of the planner's reply.
func (p *Planning) streamReplan(d event.ReplanDelta) {
	if r := p.Replanning; r != nil {
		r.Text, r.Thinking = r.Text+d.Text, r.Thinking+d.Thinking
	}
}

// replanned ends a replan with its plan.
func (p *Planning) replanned() {
	p.pipeline = nil
	p.dropReplan()
}

// refuse ends a replan without a plan. After a failed step the planner gets another request; if
// only the user asked for a replan, the plan stays.
func (p *Planning) refuse(reason untrusted.Text) {
	p.pipeline, p.Replanning = nil, nil
	switch {
	case !p.wantsReplan():
	case p.onlyRemark():
		p.remark = ""
	default:
		p.failedError += "\nThe last answer was refused: " + string(reason)
	}
}

// dropReplan forgets why a new plan was wanted.
func (p *Planning) dropReplan() {
	p.Replanning, p.failedStep, p.failedError, p.remark = nil, "", "", ""
}

// failStep hands a failed step to the planner.
func (p *Planning) failStep(index, err string) { p.failedStep, p.failedError = index, err }

// refute hands what the acceptance refutes to the planner.
func (p *Planning) refute(sentence string) { p.failedError = sentence }

// wantsReplan reports whether a new plan is wanted: because of a failure, or of the user's
// remark.
func (p *Planning) wantsReplan() bool { return p.hasFailure() || p.remark != "" }

// hasFailure reports whether there is a failure that the planner must handle.
func (p *Planning) hasFailure() bool { return p.failedStep != "" || p.failedError != "" }

// onlyRemark reports whether only the user asks for a new plan.
func (p *Planning) onlyRemark() bool { return !p.hasFailure() }

// failure returns the failed step, "" if none failed, and the error.
func (p *Planning) failure() (step, err string) { return p.failedStep, p.failedError }

// request returns the user's remark that asks for a new plan.
func (p *Planning) request() string { return p.remark }

// reason returns why there is a new plan.
func (p *Planning) reason() string {
	if p.onlyRemark() {
		return "the user says: " + p.remark
	}
	return p.failedError
}

// keepMessages keeps messages of the user until a model sees them.
func (p *Planning) keepMessages(texts ...string) { p.UserMessages = append(p.UserMessages, texts...) }

// takeMessages returns those messages, for whoever sees them now.
func (p *Planning) takeMessages() []string {
	texts := p.UserMessages
	p.UserMessages = nil
	return texts
}

// applyRemarks makes the messages of the user the request for a new plan.
func (p *Planning) applyRemarks() {
	p.remark = strings.TrimSpace(p.remark + "\n" + strings.Join(p.takeMessages(), "\n"))
}

// taken returns how the words of the goal led to the plan; ok is false if they did not.
func (p *Planning) taken() (route event.RouteMatched, ok bool) { return valueOf(p.Route) }

// isRouted reports whether words have planned the goal.
func (p *Planning) isRouted() bool { return p.Route != nil }

// messages returns what the user said that no model has seen.
func (p *Planning) messages() []string { return p.UserMessages }
