package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// Job describes a single run for a Go program that brings its own tools. It is a plan, or
// a goal and its planners, and a function that carries out calls. One of Plan, Goal and
// Past is required, and so is Call if a step calls a tool.
type Job struct {
	ID       string            // of the run; "" is "run"
	Plan     *plan.Plan        // run as is; nil plans the goal
	Goal     string            // "" is the plan's
	Planners planning.Planners // make the first plan of a goal and every replan; nil asks Model in three phases
	Model    Model             // nil: no model, so no step can be model work

	// Call carries out one call, in its own goroutine. The result may be any
	// value that JSON can represent. An error means that the tool did not do its
	// work, unless it comes from ctx. ctx ends at the step's time limit and when
	// the run is stopped. What the call did is then unknown: the step is in
	// doubt unless its tool is read-only.
	Call func(ctx context.Context, call plan.ToolCall) (any, error)
	// Preview returns what a call would do, for the gate. It is called only for
	// tools that the catalog marks as previewing.
	Preview func(ctx context.Context, call plan.ToolCall) (plan.ToolPreview, error)
	// Catalog describes the tools. nil takes every tool that the plan names,
	// each assumed to have effects. Planning a goal requires a catalog.
	Catalog plan.Catalog
	Priors  map[string]int64 // observed median duration per tool, in ms
	// Profiles are the sub-agents that agent steps may name; a plan that names
	// another one is invalid.
	Profiles []prompt.Profile
	// Prompting is the context of planning. Run fills in what Model can do, and
	// Profiles.
	Prompting prompt.Prompting

	Limits     event.Limits   // zero is event.DefaultLimits, or on resume the run's earlier limits
	OnFailure  plan.OnFailure // default for steps if the plan has none; "" is abort for a plan, replan for a goal
	Synthesize bool           // have Model write an answer at the end
	DryRun     bool           // resolve and report steps, but call nothing
	PlanOnly   bool           // of a goal: end with its plan

	// Rules say which calls run, ask or are blocked; calls that match no rule
	// ask. nil lets every call run, since a program that passes a function to a
	// plan trusts it with that plan. A step that requests its own gate still
	// asks.
	Rules []rule.Rule
	// Gate answers a gate; nil denies. Gate, Review, Doubt and Failure are each
	// called in their own goroutine, with a ctx that ends with the run.
	Gate func(ctx context.Context, gate event.GateRequested) event.Decision
	// Review examines a plan before it runs, may change it, and decides whether
	// it runs. Every plan of the run is held for it; nil holds none.
	Review func(ctx context.Context, plan *agent.Review) event.ReviewDecision
	// Doubt decides about a step that may or may not have taken effect; nil uses
	// InDoubt.
	Doubt   func(ctx context.Context, question agent.Question) event.DoubtDecision
	InDoubt event.DoubtDecision // "" is abort
	// Failure says how the run continues after a failure that would end it, if a
	// model can replan or other steps are left. With event.FailureRetry it may
	// return args that replace the plan's. nil lets the run end.
	Failure func(ctx context.Context, question agent.Question) (decision event.FailureDecision, args map[string]any)

	// Journal stores the durable events before they are acted on; nil stores
	// none. Run does not close it.
	Journal Journal
	// Past holds the earlier events of the run, as read from its journal. The run
	// resumes after them. Plan, Goal, ID, OnFailure, Synthesize and DryRun are
	// then taken from the run.
	Past []event.Event
	// Events receives every event in order, after it is in the journal. The run
	// waits for it to return.
	Events func(event.Event)
}

// Run carries out a job and returns after the run has ended and every call has
// returned. The Result alone says how the run ended: a run that failed, or that
// ctx stopped, is no error.
//
// The error says why the run could not start or could not be journaled; the
// Result then holds the events so far. For an invalid plan it is a
// *plan.InvalidPlanError; for a missing model it wraps prompt.ErrNoModel.
//
// For a completed run in Past, Run returns the old Result and does nothing.
func Run(ctx context.Context, job Job) (event.Result, error) {
	arrivals := make(chan workerEvents, 64) // buffered, so that workers and run do not wait for each other
	e := job.newEngine(arrivals)
	first, err := job.prepare(ctx, e)
	if err != nil || len(first) == 0 {
		return e.current().Snapshot(true).Result, err
	}
	job.carryOut(ctx, e, arrivals, first...)
	if err := e.problem(); err != nil {
		return e.current().Snapshot(true).Result, err
	}
	return *e.current().Result, nil
}

// carryOut carries out the run of an engine, and returns once it is over and its workers have
// ended. The job answers its questions.
func (j *Job) carryOut(ctx context.Context, e *engine, arrivals <-chan workerEvents, first ...event.Data) {
	a := asker{job: j, engine: e, asked: map[string]bool{}}
	ended := ctx.Done()
	e.begin(context.WithoutCancel(ctx), first...) // the end of ctx is recorded as a stop
	for !e.over() {
		a.ask()
		select {
		case first := <-arrivals:
			batch, _ := e.drained(first, arrivals)
			e.apply(slices.DeleteFunc(batch, func(d event.Data) bool { return !e.awaits(d) }))
		case <-ended:
			ended = nil
			e.stop(interruption(ctx))
		}
	}
	e.leave(arrivals)
}

// newEngine creates the engine of the job's run.
func (j *Job) newEngine(arrivals chan<- workerEvents) *engine {
	return newEngine(engineParts{
		id: cmp.Or(j.ID, "run"), journal: j.stored(), model: j.Model, tools: functions{call: j.Call, preview: j.Preview},
		log: slog.New(slog.DiscardHandler), now: time.Now, arrivals: arrivals, publish: j.Events,
		run: agent.NewRun(j.Planners), warnings: new(warnings),
	})
}

// stored returns the journal of the job; a dry run has none.
func (j *Job) stored() Journal {
	if j.Journal == nil || j.DryRun {
		return noJournal{}
	}
	return j.Journal
}

// prepare returns the first events of the run, none if it is already over.
func (j *Job) prepare(ctx context.Context, e *engine) ([]event.Data, error) {
	for _, past := range j.Past {
		if err := e.takeUp(past); err != nil {
			return nil, fmt.Errorf("take up the run: its events do not fit together: %w", err)
		}
	}
	switch {
	case len(j.Past) > 0 && e.current().Undone != nil:
		return nil, errors.New("take up the run: it is undone, so its steps cannot be continued; start its goal or plan again")
	case len(j.Past) > 0 && e.current().Result != nil && !e.current().Resumable():
		return nil, nil
	case len(j.Past) > 0 && !e.current().Resumable():
		return nil, errors.New("take up the run: it was a dry run, which leaves nothing to take up")
	case len(j.Past) == 0 && j.Plan == nil && j.Goal == "":
		return nil, errors.New("start the run: there is nothing to do; give a plan, a goal, or the events of a run to take up")
	}
	info, err := j.describe(ctx, e)
	if err != nil {
		return nil, err
	}
	if len(j.Past) > 0 {
		return []event.Data{j.resumed(e, info)}, nil
	}
	started := j.started(info)
	if j.Plan != nil {
		faults, _ := plan.Validate(*j.Plan, plan.Rules{Catalog: started.Catalog, CheckTools: true, PartialArgs: info.Name != "", Profiles: started.Prompting.ProfileNames()})
		if len(faults) > 0 {
			return nil, fmt.Errorf("start the run: %w", plan.FaultError(faults))
		}
	}
	return []event.Data{started}, nil
}

// describe asks the model to describe itself. The model may be missing if nothing
// needs it.
func (j *Job) describe(ctx context.Context, e *engine) (prompt.ModelInfo, error) {
	needed := len(j.Past) == 0 && j.Plan == nil && j.Planners == nil || len(j.Past) > 0 && e.current().NeedsModel()
	var info prompt.ModelInfo
	err := error(prompt.ErrNoModel)
	if j.Model != nil {
		info, err = j.Model.Describe(ctx, "")
	}
	switch {
	case err == nil:
		return info, nil
	case errors.Is(err, prompt.ErrNoModel) && !needed:
		return prompt.ModelInfo{}, nil // only the steps that need it will fail
	default:
		return info, fmt.Errorf("start the run: a goal without planners of its own needs a model: %w", err)
	}
}

// started returns the event that starts a new run.
func (j *Job) started(info prompt.ModelInfo) event.RunStarted {
	started := event.RunStarted{
		Goal: untrusted.Text(j.Goal), Model: info.Name, Limits: j.Limits, Rules: j.rules(), Catalog: j.Catalog, Priors: j.Priors,
		Prompting: j.Prompting,
		Plan:      j.Plan, OnFailure: j.OnFailure, SkipSynthesis: !j.Synthesize || info.Name == "", DryRun: j.DryRun, PlanOnly: j.PlanOnly,
		Attended: j.attended(), InDoubt: j.inDoubt(), Review: j.Review != nil,
	}
	started.Prompting = started.Prompting.DrivenBy(info)
	started.Prompting.ContextWindow, started.Prompting.ModelTools = info.ContextWindow, info.Tools
	started.Prompting.Vision, started.Prompting.WritesCalls, started.Prompting.Profiles = info.Vision, info.WritesCalls, j.Profiles
	started.Prompting.ReadSpeed = info.Speed.Read
	started.Prompting.BytesPerToken = cmp.Or(started.Prompting.BytesPerToken, info.BytesPerToken)
	if started.Limits == (event.Limits{}) {
		started.Limits = event.DefaultLimits()
	}
	if j.Plan != nil {
		started.Goal = cmp.Or(started.Goal, cmp.Or(j.Plan.Goal, j.Plan.Title))
		started.Limits = ofPlan(started.Limits)
		if j.Catalog == nil {
			started.Catalog = named(*j.Plan)
		}
	}
	return started
}

// resumed returns the event that resumes a run after its past events were
// applied.
func (j *Job) resumed(e *engine, info prompt.ModelInfo) event.RunResumed {
	resumed := resumedBy(info)
	resumed.From, resumed.Limits, resumed.Rules, resumed.Catalog, resumed.Priors = e.current().Seq, j.Limits, j.rules(), j.Catalog, j.Priors
	resumed.Attended, resumed.InDoubt, resumed.Review = j.attended(), j.inDoubt(), j.Review != nil && !e.current().ReviewsPlans()
	switch was := e.current().Limits; {
	case resumed.Limits == (event.Limits{}):
		resumed.Limits = was
	case was.GrowSteps && was.MaxSteps == 0:
		resumed.Limits = ofPlan(resumed.Limits)
	}
	if resumed.Catalog == nil {
		resumed.Catalog = e.current().Catalog
	}
	return resumed
}

func (j *Job) attended() bool { return j.Doubt != nil || j.Failure != nil }

// inDoubt returns the answer for steps in doubt if the program is not asked.
func (j *Job) inDoubt() event.DoubtDecision {
	if j.Doubt != nil {
		return ""
	}
	return event.DoubtDecision(cmp.Or(string(j.InDoubt), string(event.DoubtAbort)))
}

func (j *Job) rules() []rule.Rule {
	if j.Rules != nil {
		return j.Rules
	}
	return []rule.Rule{{Tool: "*", Verdict: rule.VerdictRun, Untrusted: true, Source: byProgram, Why: "the program gave this tool to the plan"}}
}

// byProgram marks a rule or an answer as given by the Go program.
const byProgram = "program"

// asker passes open gates and questions to the program, each once.
type asker struct {
	job    *Job
	engine *engine
	asked  map[string]bool
}

func (a *asker) ask() {
	run := a.engine.current()
	for _, g := range run.Gates {
		if a.first("gate/" + g.Gate) {
			a.gate(g.GateRequested)
		}
	}
	if run.AwaitsReview() && a.first(fmt.Sprintf("review/%d", run.Revision)) {
		a.review(run.Review())
	}
	for _, q := range run.Questions() {
		if q.Doubt && a.job.Doubt == nil {
			continue // the run answers it itself
		}
		if a.first(fmt.Sprintf("%t/%s/%d", q.Doubt, q.Step, run.Step(q.Step).Attempt)) {
			a.question(q)
		}
	}
}

func (a *asker) first(key string) bool {
	seen := a.asked[key]
	a.asked[key] = true
	return !seen
}

func (a *asker) gate(g event.GateRequested) {
	ask := a.job.Gate
	a.engine.inquire(func(ctx context.Context) event.Data {
		resolved := event.GateResolved{Gate: g.Gate, Call: g.Call, Decision: event.Deny, Scope: event.ScopeOnce, By: policy.ByNobody}
		if ask != nil {
			resolved.Decision, resolved.By = ask(ctx, g), byProgram
		}
		return resolved
	})
}

// review asks the program to review a plan. Changes that make the plan invalid
// were refused when they were made.
func (a *asker) review(v *agent.Review) {
	look := a.job.Review
	a.engine.inquire(func(ctx context.Context) event.Data {
		if look == nil {
			return v.Event(event.ReviewRefuse, policy.ByNobody)
		}
		decision := look(ctx, v)
		return v.Event(decision, byProgram)
	})
}

func (a *asker) question(q agent.Question) {
	doubt, failure := a.job.Doubt, a.job.Failure
	a.engine.inquire(func(ctx context.Context) event.Data {
		if q.Doubt {
			return event.DoubtResolved{Step: q.Step, Decision: doubt(ctx, q), By: byProgram}
		}
		resolved := event.FailureResolved{Step: q.Step, Decision: event.FailureAbort, By: byProgram}
		if failure != nil {
			resolved.Decision, resolved.Args = failure(ctx, q)
		}
		return resolved
	})
}

// named returns the tools that the steps of a plan name.
func named(p plan.Plan) plan.Catalog {
	tools := plan.Catalog{}
	calls := map[string]bool{} // by steps; what only checks call does not need to change anything
	for _, step := range p.Steps {
		calls[step.Tool] = true
	}
	for _, tool := range p.Tools() {
		server, name, qualified := strings.Cut(tool, ":")
		if !qualified {
			server, name = byProgram, tool
		}
		tools = append(tools, plan.Tool{Server: server, Name: name, ReadOnly: !calls[tool]})
	}
	return tools
}

// functions implements the tools of a Go program.
type functions struct {
	NoServers
	call    func(context.Context, plan.ToolCall) (any, error)
	preview func(context.Context, plan.ToolCall) (plan.ToolPreview, error)
}

// Call carries out a call and converts its result to a JSON value.
func (f functions) Call(ctx context.Context, call plan.ToolCall) (any, error) {
	if f.call == nil {
		return nil, &plan.ToolError{Tool: call.Tool.Name, Message: "the job has no function that carries out calls"}
	}
	result, err := f.call(ctx, call)
	if err == nil {
		result, err = jsonValue(result)
	}
	if err != nil {
		return nil, ofFunction(call.Tool, err)
	}
	return result, nil
}

// ofFunction wraps the error of a function as a tool error, unless it already is
// one or comes from the context.
func ofFunction(tool plan.Tool, err error) error {
	var toolError *plan.ToolError
	if errors.As(err, &toolError) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &plan.ToolError{Tool: tool.Name, Message: err.Error()}
}

// Preview returns what a call would do.
func (f functions) Preview(ctx context.Context, call plan.ToolCall) (plan.ToolPreview, error) {
	if f.preview == nil {
		return plan.ToolPreview{}, nil
	}
	return f.preview(ctx, call)
}

// jsonValue converts the result of a function to what a journal would return.
// References can then descend into it, and a resume sees the same value.
func jsonValue(v any) (any, error) {
	switch v.(type) {
	case nil, string, bool:
		return v, nil
	}
	data, err := plan.EncodeJSON(v)
	if err != nil {
		return nil, fmt.Errorf("the result cannot be encoded as JSON: %w", err)
	}
	return plan.DecodeValue(data)
}

// noJournal is the journal of a run that is not stored.
type noJournal struct{}

func (noJournal) Append(...event.Event) error { return nil }
func (noJournal) Close() error                { return nil }
