package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"replan/agent"
	"replan/agent/policy"
	"replan/planning"
)

// readyWithin bounds how long a run waits for servers that are starting.
const readyWithin = 10 * time.Second

// job is something that a run is to do.
type job struct {
	words   string // as the user typed it; "" where it was no goal
	goal    string
	create  bool                   // a plan is wanted, nothing is to be run
	execute *Execute               // the plan to carry out
	resume  string                 // the run to take up
	decided *agent.FailureResolved // how it goes on after the step that failed
}

// name says what a job is about in a few words.
func (j job) name() string {
	switch {
	case j.resume != "":
		return "resume " + j.resume
	case j.execute != nil:
		return "run the plan " + j.execute.Plan.Title
	default:
		return j.goal
	}
}

// prepared is what a run needs before it can start.
type prepared struct {
	ctx       context.Context // ends where the job is stopped before it begins
	job       job
	info      planning.ModelInfo
	catalogue planning.Catalogue
	priors    map[string]int64
	journal   Journal // of the run that is resumed
	run       agent.Run
	events    []agent.Event
	missing   []string // tools that the run still needs and nobody offers
	err       error
	look      bool // only to show what there is, nothing is to be started
}

// drop lets go of what was prepared and is not wanted any more.
func (p prepared) drop() {
	if p.journal != nil {
		_ = p.journal.Close() // nothing was written to it
	}
}

// look finds out what the session works with, so that it can be shown.
func (s *Session) look(ctx context.Context) {
	s.workers.Go(func() {
		info, err := s.cfg.Model.Describe(ctx)
		s.prepared <- prepared{info: info, err: err, look: true}
	})
}

// put starts a job, or queues it while another goes on.
func (s *Session) put(ctx context.Context, j job) {
	if s.engine != nil || s.preparing != nil {
		s.queue = append(s.queue, j)
		s.tellOf("info", "queued: "+j.name())
		return
	}
	s.prepare(ctx, j)
}

// prepare gets what a run needs: the model and the tools, once the user has
// said whether the project's servers may start.
func (s *Session) prepare(ctx context.Context, j job) {
	if j.words != "" {
		_ = s.say(agent.ChatUser{Text: j.words})
	}
	ctx, s.preparing = context.WithCancel(ctx)
	answered := s.answered
	s.workers.Go(func() {
		if answered != nil {
			select {
			case <-answered:
			case <-ctx.Done():
			}
		}
		s.prepared <- s.gather(ctx, j)
	})
}

// gather gets the run that is resumed, the model and the tools.
func (s *Session) gather(ctx context.Context, j job) prepared {
	p := prepared{ctx: ctx, job: j, priors: map[string]int64{}}
	if j.resume != "" {
		if p.err = s.reopen(&p); p.err != nil || !p.run.Resumable() {
			return p
		}
	}
	if s.wantsModel(p) {
		p.info, p.err = s.cfg.Model.Describe(ctx)
		if errors.Is(p.err, planning.ErrNoModel) && ctx.Err() == nil && (j.execute != nil && (s.cfg.DryRun || !needsWords(j.execute.Plan)) || j.resume != "" && !p.run.NeedsModel()) {
			p.info, p.err = planning.ModelInfo{}, nil // only the steps that need one will fail
		}
	}
	if p.err != nil {
		return p
	}
	within, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	p.catalogue = s.cfg.Tools.Ready(within)
	p.missing = p.run.MissingTools(p.catalogue)
	if s.cfg.Durations != nil {
		medians, err := s.cfg.Durations.Medians()
		if err != nil {
			s.cfg.Logger.Warn("durations seen before", "error", err)
		}
		maps.Copy(p.priors, medians)
	}
	p.err = ctx.Err()
	return p
}

// wantsModel reports whether a model may be needed: a plan whose steps are all
// calls does without one, unless a failure is to be replanned.
func (s *Session) wantsModel(p prepared) bool {
	if p.job.execute == nil || s.cfg.Attended || p.job.execute.Synthesize {
		return true
	}
	plan := p.job.execute.Plan
	return slices.ContainsFunc(plan.Steps, func(step planning.Step) bool {
		return step.Executor == planning.ExecutorAgent || step.Executor == planning.ExecutorSelf || step.Args == nil ||
			plan.FailureOf(step, p.job.execute.OnFailure) == planning.OnFailureReplan
	})
}

// needsWords reports whether a plan has steps that only a model can carry out:
// rather than run half of it, it is not begun without one.
func needsWords(plan planning.Plan) bool {
	return slices.ContainsFunc(plan.Steps, func(step planning.Step) bool {
		return step.Executor == planning.ExecutorAgent || step.Executor == planning.ExecutorSelf
	})
}

// errNotOpened says that a run cannot be taken up.
var errNotOpened = errors.New("the run cannot be resumed")

// reopen reads the run that is to be resumed.
func (s *Session) reopen(p *prepared) error {
	if s.cfg.Reopen == nil {
		return fmt.Errorf("%w: no runs are kept here", errNotOpened)
	}
	var err error
	if p.journal, p.events, err = s.cfg.Reopen(p.job.resume); err != nil {
		return fmt.Errorf("%w: %w", errNotOpened, err)
	}
	for _, e := range p.events {
		if err := p.run.Apply(e); err != nil {
			return fmt.Errorf("%w, because its journal does not fit together: %w", errNotOpened, err)
		}
	}
	if p.run.Workspace != s.cfg.Workspace {
		return fmt.Errorf("%w here: it worked in %s; go there and resume it", errNotOpened, p.run.Workspace)
	}
	return nil
}

// begin starts a run with what was prepared for it.
func (s *Session) begin(ctx context.Context, p prepared) {
	s.describe(p)
	if p.look {
		return
	}
	if p.err == nil {
		p.err = p.ctx.Err() // it may have been stopped while this was on its way here
	}
	s.preparing()
	s.preparing = nil
	if reply, refused := s.refusal(p); refused {
		p.drop()
		_ = s.say(reply)
		s.next(ctx)
		return
	}
	for _, server := range s.status.Servers {
		if server.State == planning.ServerStarting {
			s.trouble(server.Name, "has not started yet; the run begins without its tools")
		}
	}
	var err error
	if p.job.resume != "" {
		err = s.takeUp(ctx, p)
	} else {
		err = s.start(ctx, p)
	}
	if err != nil {
		p.drop()
		_ = s.say(failed(agent.ReasonStepFailed, err.Error()))
		s.next(ctx)
		return
	}
	s.settle()
}

func failed(reason agent.Reason, sentence string) agent.ChatReply {
	return agent.ChatReply{Status: agent.StatusFailed, Reason: reason, Text: sentence}
}

// refusal says why a job does not begin, where it does not.
func (s *Session) refusal(p prepared) (reply agent.ChatReply, refused bool) {
	switch {
	case errors.Is(p.err, context.Canceled):
		return agent.ChatReply{Status: agent.StatusCancelled, Reason: agent.ReasonInterrupted, Text: "stopped before it began"}, true
	case errors.Is(p.err, errNotOpened):
		return failed(agent.ReasonNotOpened, p.err.Error()), true
	case p.err != nil:
		return failed(agent.ReasonNoModel, p.err.Error()), true
	case len(p.missing) > 0:
		return failed(agent.ReasonNotOpened, fmt.Sprintf("%v: it still needs %s, which no server offers now; resume it with the servers that it was started with", errNotOpened, strings.Join(p.missing, ", "))), true
	case p.job.resume != "" && !p.run.Resumable():
		result := p.run.Result
		return agent.ChatReply{
			Run: p.run.ID, Status: result.Status, Reason: result.Reason,
			Text: "The run " + p.run.ID + " is completed; there is nothing left to resume.",
		}, true
	}
	if _, spent := s.cfg.SessionLimits.Lease(s.cfg.Limits, s.used, agent.Usage{}, s.took, 0); spent != "" {
		return failed(agent.SpentReason(spent), "this session has used up its budget of "+spent+" (guard "+spent+"): raise it in [session_limits] of the configuration, or start a new session"), true
	}
	return agent.ChatReply{}, false
}

// newEngine makes the engine of a run.
func (s *Session) newEngine(id string, journal Journal, j job) *engine {
	e := &engine{
		id: id, journal: journal, model: s.cfg.Model, tools: s.cfg.Tools, log: s.cfg.Logger, now: s.cfg.Now,
		arrivals: s.arrivals, publish: s.publish,
	}
	if j.create {
		e.amend = s.store
	}
	s.engine, s.stored, s.unstored = e, "", nil
	return e
}

// start starts a new run.
func (s *Session) start(ctx context.Context, p prepared) error {
	id := "r-" + s.cfg.NewID(s.cfg.Now())
	journal, err := s.cfg.Open("run", id)
	if err != nil {
		return err
	}
	prompting := s.cfg.Prompting
	prompting.Conversation = s.conversation
	prompting.ContextWindow = p.info.ContextWindow
	if p.job.create {
		prompting.ForcePlan = true // a plan is what was asked for
	}
	limits, _ := s.cfg.SessionLimits.Lease(s.cfg.Limits, s.used, agent.Usage{}, s.took, 0)
	started := agent.RunStarted{
		Goal: p.job.goal, Workspace: s.cfg.Workspace, Session: s.id, Model: p.info.Name, Limits: limits,
		Rules: s.rules(p.job.goal, p.plan()), Catalogue: p.catalogue, Priors: p.priors, Prompting: prompting,
		PlanOnly: p.job.create, DryRun: s.cfg.DryRun, Attended: s.cfg.Attended, InDoubt: s.cfg.InDoubt,
	}
	if x := p.job.execute; x != nil {
		if started.Goal == "" {
			started.Goal = x.Plan.Title
		}
		started.Plan, started.OnFailure, started.SkipSynthesis = &x.Plan, x.OnFailure, !x.Synthesize || p.info.Name == ""
		started.Limits = ofPlan(limits)
		if x.Synthesize && p.info.Name == "" && !s.cfg.DryRun {
			s.tellOf("warn", "no answer will be written, since there is no model to write it; start Ollama, or choose one with --host and --model")
		}
	}
	// The end of ctx is a stop, and told as one by shutDown.
	s.newEngine(id, journal, p.job).begin(context.WithoutCancel(ctx), started)
	return nil
}

// ofPlan are the limits of a run whose plan is there: nobody asked for a bound
// of its steps, unless the bound is one that does not grow.
func ofPlan(l agent.Limits) agent.Limits {
	if l.GrowSteps {
		l.MaxSteps = 0
	}
	return l
}

// takeUp resumes a run. What happened before is told again, so that whoever
// listens can fold it.
func (s *Session) takeUp(ctx context.Context, p prepared) error {
	_ = s.say(agent.SessionResuming{Run: p.run.ID, Upto: p.run.Seq})
	for _, e := range p.events {
		s.publish(e)
	}
	limits := p.run.Limits
	if s.cfg.Raise != nil {
		limits = s.cfg.Raise(limits)
	}
	limits, _ = s.cfg.SessionLimits.Lease(limits, s.used, p.run.Usage, s.took, p.run.Elapsed().Milliseconds())
	j := p.job
	j.create = p.started().PlanOnly
	e := s.newEngine(p.run.ID, p.journal, j)
	e.run = p.run
	first := []agent.Data{agent.RunResumed{
		From: p.run.Seq, Session: s.id, Model: p.info.Name, Limits: limits, Rules: s.rules(p.run.Goal, p.plan(), p.run.Rules()...),
		Catalogue: p.catalogue, Priors: p.priors, Attended: s.cfg.Attended, InDoubt: s.cfg.InDoubt,
	}}
	if p.job.decided != nil {
		first = append(first, *p.job.decided)
	}
	e.begin(context.WithoutCancel(ctx), first...)
	return nil
}

// plan is the plan that the run was or is to be started with; nil where there
// is none.
func (p prepared) plan() *planning.Plan {
	if p.job.execute != nil {
		return &p.job.execute.Plan
	}
	return p.started().Plan
}

// started is what the run that is resumed was started with.
func (p prepared) started() agent.RunStarted {
	if len(p.events) > 0 {
		if started, ok := p.events[0].Data.(agent.RunStarted); ok {
			return started
		}
	}
	return agent.RunStarted{}
}

// rules are the gate rules of a run: tests run where the user's own words, or
// the plan that the user gave, ask for them.
//
// What the flags of an earlier start said holds on where those of this one say
// nothing else.
func (s *Session) rules(goal string, given *planning.Plan, earlier ...agent.Rule) []agent.Rule {
	trust := policy.Trust{Workspace: s.cfg.Trusted, Tests: policy.AsksForTests(goal) || policy.PlansTests(given)}
	flags, others := split(s.cfg.Rules)
	earlier, _ = split(earlier)
	for _, rule := range earlier {
		if !slices.Contains(flags, rule) {
			flags = append(flags, rule)
		}
	}
	return slices.Concat(flags, others, policy.BuiltIn(trust))
}

// split sorts rules into those of flags and all others.
func split(rules []agent.Rule) (flags, others []agent.Rule) {
	for _, rule := range rules {
		if rule.Source == agent.SourceFlag {
			flags = append(flags, rule)
		} else {
			others = append(others, rule)
		}
	}
	return flags, others
}

// store gives a plan that was created to whoever keeps plans.
func (s *Session) store(record agent.Data) agent.Data {
	created, ok := record.(agent.PlanCreated)
	if !ok || s.cfg.Keep == nil || s.cfg.DryRun {
		return record
	}
	kept, err := s.cfg.Keep(created.Plan)
	if err != nil {
		s.unstored = fmt.Errorf("the plan cannot be stored: %w", err)
		return record
	}
	created.Plan, s.stored = kept, kept.ID
	return created
}

// closed sees to what remains of a run whose workers have gone.
func (s *Session) closed(e *engine) {
	if err := e.close(); err != nil {
		s.cfg.Logger.Error("close the journal", "run", e.id, "error", err)
	}
	s.engine = nil
	reply := agent.ChatReply{Run: e.id, Status: agent.StatusFailed, Reason: agent.ReasonStepFailed}
	if !e.told {
		reply.Run = ""
	}
	if e.broken != nil {
		reply.Text = e.broken.Error()
	} else {
		reply.Status, reply.Reason = e.run.Result.Status, e.run.Result.Reason
		reply.Text = s.closing(e)
	}
	if s.unstored != nil {
		reply.Status, reply.Reason, reply.Text = agent.StatusFailed, agent.ReasonStepFailed, s.unstored.Error()
	}
	used, took := e.run.Usage.Since(e.used), (e.run.Elapsed() - e.took).Milliseconds()
	reply.Usage, reply.MS = &used, took
	s.spend(used, took)
	s.learn(e)
	s.conversation = append(s.conversation,
		planning.Message{Role: planning.RoleUser, Content: e.run.Goal},
		planning.Message{Role: planning.RoleAssistant, Content: reply.Text},
	)
	_ = s.say(reply)
}

// closing is what is said of a run that is over: its answer, else what became
// of it.
func (s *Session) closing(e *engine) string {
	result := e.run.Result
	switch {
	case result.Answer != "":
		return result.Answer
	case result.Error != "":
		return result.Error
	case s.stored != "":
		return fmt.Sprintf("The plan `%[1]s` is stored: look at it with `/plan show %[1]s`, run it with `/plan run %[1]s`.", s.stored)
	case s.cfg.DryRun:
		return fmt.Sprintf("Dry run: %d of %d steps resolved, nothing was called.", e.run.Done(), len(e.run.Steps))
	default:
		return fmt.Sprintf("%s: %d of %d steps done.", e.run.Plan.Title, e.run.Done(), len(e.run.Steps))
	}
}

// spend takes what a run has used from the budget of the session.
func (s *Session) spend(used agent.Usage, took int64) {
	s.used.PromptTokens += used.PromptTokens
	s.used.CompletionTokens += used.CompletionTokens
	s.used.ToolCalls += used.ToolCalls
	s.took += took
}

// learn notes how long the tools of a run took.
func (s *Session) learn(e *engine) {
	if s.cfg.Durations == nil || s.cfg.DryRun {
		return
	}
	samples := map[string][]int64{}
	for _, h := range e.run.History[min(e.known, len(e.run.History)):] {
		if tool, err := e.run.Catalogue.Find(h.Tool); err == nil && h.Status == planning.ItemCompleted {
			samples[tool.QualifiedName()] = append(samples[tool.QualifiedName()], h.MS)
		}
	}
	if len(samples) == 0 {
		return
	}
	if err := s.cfg.Durations.Add(samples); err != nil {
		s.cfg.Logger.Warn("note how long tools took", "error", err)
	}
}

func (s *Session) next(ctx context.Context) {
	if len(s.queue) > 0 {
		j := s.queue[0]
		s.queue = s.queue[1:]
		s.prepare(ctx, j)
	}
}
