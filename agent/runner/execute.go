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
	"replan/agent/rule"
	"replan/planning"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// Job is one run of a Go program that brings its own tools: a plan, or a goal
// and whoever plans it, and a function that carries out a call. Only one of
// Plan, Goal and Past and, where a step calls a tool, Call have to be there.
type Job struct {
	ID       string            // of the run; "" is "run"
	Plan     *plan.Plan        // carried out as it is; nil has the goal planned
	Goal     string            // "" is the plan's
	Planners planning.Planners // make the first plan of a goal, and every new one; nil asks Model in three phases
	Model    Model             // nil means that there is none: no step can be the model's own words

	// Call carries out one call, in a goroutine of its own. Its result may be
	// anything that JSON can hold. Its error is the tool's own word that it did
	// not do its work, but for one of ctx, which ends at the step's time limit
	// and when the run is stopped: nobody knows then what the call did, and a
	// step whose tool is not marked as read-only is in doubt.
	Call func(ctx context.Context, call plan.ToolCall) (any, error)
	// Preview says what a call would do, for the gate. It is asked only of
	// tools that the catalogue says it can be asked of.
	Preview func(ctx context.Context, call plan.ToolCall) (plan.ToolPreview, error)
	// Catalogue describes the tools. nil is every tool that the plan names,
	// each taken to have effects; a goal that is planned needs one.
	Catalogue plan.Catalogue
	Priors    map[string]int64 // median duration seen per tool, ms
	// Profiles are the sub-agents that agent steps name. A plan that names
	// another is not valid.
	Profiles []prompt.Profile

	Limits     event.Limits   // the zero value is event.DefaultLimits, or on a resume what the run had
	OnFailure  plan.OnFailure // where neither step nor plan says; "" is abort for a plan, replan for a goal
	Synthesize bool           // have Model write an answer at the end
	DryRun     bool           // steps are resolved and told, nothing is called

	// Rules say which calls run, ask and are blocked; about what no rule speaks,
	// it is asked. nil lets every call run: whoever gives a function to a plan
	// trusts it with that plan. A step that asks for a gate of its own asks even
	// so.
	Rules []rule.Rule
	// Gate answers a gate; nil denies. It is called in a goroutine of its own,
	// as Review, Doubt and Failure are, and ctx ends with the run.
	Gate func(ctx context.Context, gate event.GateRequested) event.Decision
	// Review looks a plan over before it runs, may change it, and says whether it
	// does: every plan of the run is held until then. nil holds none.
	Review func(ctx context.Context, plan *agent.Review) event.ReviewDecision
	// Doubt says what is to become of a step that may or may not have taken
	// effect; nil is InDoubt.
	Doubt   func(ctx context.Context, question agent.Question) event.DoubtDecision
	InDoubt event.DoubtDecision // "" is abort
	// Failure says how the run goes on after a failure that would end it; with
	// event.FailureRetry it may return args to use in place of the plan's. nil
	// lets it end.
	Failure func(ctx context.Context, question agent.Question) (decision event.FailureDecision, args map[string]any)

	// Journal takes the durable events before anything is done because of them;
	// nil keeps nothing. It is not closed.
	Journal Journal
	// Past is what has happened in the run so far, as its journal holds it: the
	// run is taken up where that ends. Plan, Goal, ID, OnFailure, Synthesize and
	// DryRun are the run's own then.
	Past []event.Event
	// Events takes every event in order, once it is in the journal. The run
	// waits for it.
	Events func(event.Event)
}

// Run carries out a job and returns once it is over and every call has come
// back. How the run ended is said by the Result alone: one that failed, or that
// was stopped because ctx ended, is no error. The error says why a run could not
// begin (a plan that is not valid is a *plan.InvalidPlanError, and where a
// model is needed it wraps prompt.ErrNoModel) or could not be kept; the Result
// is what there is by then.
//
// A run that is taken up again when it has completed has its old Result, and
// nothing is done.
func Run(ctx context.Context, job Job) (event.Result, error) {
	arrivals := make(chan arrival, 64) // so that a worker need not wait for the run, nor the run for it
	e := job.newEngine(arrivals)
	first, err := job.prepare(ctx, e)
	if err != nil || len(first) == 0 {
		return e.run.Standing(true).Result, err
	}
	a := asker{job: &job, engine: e, asked: map[string]bool{}}
	ended := ctx.Done()
	e.begin(context.WithoutCancel(ctx), first...) // the end of ctx is a stop, and told as one
	for !e.over() {
		a.ask()
		select {
		case first := <-arrivals:
			batch, _ := e.drained(first, arrivals)
			e.take(slices.DeleteFunc(batch, func(d event.Data) bool { return !e.awaits(d) }))
		case <-ended:
			ended = nil
			e.stop()
		}
	}
	e.leave(arrivals)
	if e.broken != nil {
		return e.run.Standing(true).Result, e.broken
	}
	return *e.run.Result, nil
}

// newEngine makes the engine of the job's run.
func (j *Job) newEngine(arrivals chan<- arrival) *engine {
	e := &engine{
		id: cmp.Or(j.ID, "run"), journal: j.Journal, model: j.Model, tools: functions{j.Call, j.Preview},
		log: slog.New(slog.DiscardHandler), now: time.Now, arrivals: arrivals, publish: j.Events,
		run: agent.NewRun(j.Planners),
	}
	if e.journal == nil || j.DryRun {
		e.journal = unkept{}
	}
	return e
}

// prepare returns what the run begins with; nothing where it is over already.
func (j *Job) prepare(ctx context.Context, e *engine) ([]event.Data, error) {
	for _, past := range j.Past {
		if err := e.run.Apply(past); err != nil {
			return nil, fmt.Errorf("take up the run: its events do not fit together: %w", err)
		}
		e.id = past.Run
	}
	switch {
	case len(j.Past) > 0 && e.run.Result != nil && !e.run.Resumable():
		return nil, nil
	case len(j.Past) > 0 && !e.run.Resumable():
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
		faults, _ := plan.Validate(*j.Plan, plan.Rules{Catalogue: started.Catalogue, CheckTools: true, PartialArgs: info.Name != "", Profiles: started.Prompting.ProfileNames()})
		if len(faults) > 0 {
			return nil, fmt.Errorf("start the run: %w", plan.FaultError(faults))
		}
	}
	return []event.Data{started}, nil
}

// describe asks the model who it is; it may be missing where nothing needs it.
func (j *Job) describe(ctx context.Context, e *engine) (prompt.ModelInfo, error) {
	needed := len(j.Past) == 0 && j.Plan == nil && j.Planners == nil || len(j.Past) > 0 && e.run.NeedsModel()
	var info prompt.ModelInfo
	err := error(prompt.ErrNoModel)
	if j.Model != nil {
		info, err = j.Model.Describe(ctx, "")
	}
	switch {
	case err == nil:
		return info, nil
	case errors.Is(err, prompt.ErrNoModel) && !needed:
		return prompt.ModelInfo{}, nil // only the steps that need one will fail
	default:
		return info, fmt.Errorf("start the run: a goal without planners of its own needs a model: %w", err)
	}
}

// started opens a new run.
func (j *Job) started(info prompt.ModelInfo) event.RunStarted {
	started := event.RunStarted{
		Goal: j.Goal, Model: info.Name, Limits: j.Limits, Rules: j.rules(), Catalogue: j.Catalogue, Priors: j.Priors,
		Prompting: prompt.Prompting{ContextWindow: info.ContextWindow, ModelTools: info.Tools, Profiles: j.Profiles},
		Plan:      j.Plan, OnFailure: j.OnFailure, SkipSynthesis: !j.Synthesize || info.Name == "", DryRun: j.DryRun,
		Attended: j.attended(), InDoubt: j.inDoubt(), Review: j.Review != nil,
	}
	if started.Limits == (event.Limits{}) {
		started.Limits = event.DefaultLimits()
	}
	if j.Plan != nil {
		started.Goal = cmp.Or(started.Goal, cmp.Or(j.Plan.Goal, j.Plan.Title))
		started.Limits = ofPlan(started.Limits)
		if j.Catalogue == nil {
			started.Catalogue = named(*j.Plan)
		}
	}
	return started
}

// resumed takes a run up again whose events are folded.
func (j *Job) resumed(e *engine, info prompt.ModelInfo) event.RunResumed {
	resumed := event.RunResumed{
		From: e.run.Seq, Model: info.Name, Tools: info.Tools, Window: info.ContextWindow, Limits: j.Limits, Rules: j.rules(), Catalogue: j.Catalogue, Priors: j.Priors,
		Attended: j.attended(), InDoubt: j.inDoubt(), Review: j.Review != nil && !e.run.Holds(),
	}
	switch was := e.run.Limits; {
	case resumed.Limits == (event.Limits{}):
		resumed.Limits = was
	case was.GrowSteps && was.MaxSteps == 0:
		resumed.Limits = ofPlan(resumed.Limits)
	}
	if resumed.Catalogue == nil {
		resumed.Catalogue = e.run.Catalogue
	}
	return resumed
}

func (j *Job) attended() bool { return j.Doubt != nil || j.Failure != nil }

// inDoubt is the answer to steps in doubt where the program is not asked.
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

// byProgram says of a rule or an answer that the Go program gave it.
const byProgram = "program"

// byNobody says of an answer that there was nobody to give one.
const byNobody = "nobody was there to be asked"

// asker puts open gates and questions to the program, each once.
type asker struct {
	job    *Job
	engine *engine
	asked  map[string]bool
}

func (a *asker) ask() {
	run := a.engine.run
	for _, g := range run.Gates {
		if a.first("gate/" + g.Gate) {
			a.gate(g.GateRequested)
		}
	}
	if run.Held() && a.first(fmt.Sprintf("review/%d", run.Revision)) {
		a.review(run.Review())
	}
	for _, q := range run.Questions() {
		if q.Doubt && a.job.Doubt == nil {
			continue // the run answers it by itself
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
	e, ask := a.engine, a.job.Gate
	e.workers.Go(func() {
		resolved := event.GateResolved{Gate: g.Gate, Decision: event.Deny, Scope: event.ScopeOnce, By: byNobody}
		if ask != nil {
			resolved.Decision, resolved.By = ask(e.ctx, g), byProgram
		}
		e.bring(resolved)
	})
}

// review has the program look a plan over. What it changed that makes no valid
// plan was refused when it did.
func (a *asker) review(v *agent.Review) {
	e, look := a.engine, a.job.Review
	e.workers.Go(func() {
		if look == nil {
			e.bring(v.Said(event.ReviewRefuse, byNobody))
			return
		}
		decision := look(e.ctx, v)
		e.bring(v.Said(decision, byProgram))
	})
}

func (a *asker) question(q agent.Question) {
	e, doubt, failure := a.engine, a.job.Doubt, a.job.Failure
	e.workers.Go(func() {
		if q.Doubt {
			e.bring(event.DoubtResolved{Step: q.Step, Decision: doubt(e.ctx, q), By: byProgram})
			return
		}
		resolved := event.FailureResolved{Step: q.Step, Decision: event.FailureAbort, By: byProgram}
		if failure != nil {
			resolved.Decision, resolved.Args = failure(e.ctx, q)
		}
		e.bring(resolved)
	})
}

// named is the tools that the steps of a plan name.
func named(p plan.Plan) plan.Catalogue {
	tools := plan.Catalogue{}
	seen := map[string]bool{}
	for _, step := range p.Steps {
		if step.Tool == "" || seen[step.Tool] {
			continue
		}
		seen[step.Tool] = true
		server, name, qualified := strings.Cut(step.Tool, ":")
		if !qualified {
			server, name = byProgram, step.Tool
		}
		tools = append(tools, plan.Tool{Server: server, Name: name})
	}
	return tools
}

// functions are the tools of a Go program.
type functions struct {
	call    func(context.Context, plan.ToolCall) (any, error)
	preview func(context.Context, plan.ToolCall) (plan.ToolPreview, error)
}

// Call carries out a call and makes a JSON value of its result.
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

// ofFunction makes the error of a function the word of its tool, unless it is
// one or comes of the context.
func ofFunction(tool plan.Tool, err error) error {
	var said *plan.ToolError
	if errors.As(err, &said) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &plan.ToolError{Tool: tool.Name, Message: err.Error()}
}

// Preview says what a call would do.
func (f functions) Preview(ctx context.Context, call plan.ToolCall) (plan.ToolPreview, error) {
	if f.preview == nil {
		return plan.ToolPreview{}, nil
	}
	return f.preview(ctx, call)
}

// jsonValue makes of what a function returned what a journal would give back,
// so that references descend into it and a resume sees the same.
func jsonValue(v any) (any, error) {
	switch v.(type) {
	case nil, string, bool:
		return v, nil
	}
	data, err := plan.EncodeJSON(v)
	if err != nil {
		return nil, fmt.Errorf("the result is nothing that JSON can hold: %w", err)
	}
	return plan.DecodeValue(data)
}

// unkept is the journal of a run that nobody keeps.
type unkept struct{}

func (unkept) Append(...event.Event) error { return nil }
func (unkept) Close() error                { return nil }
