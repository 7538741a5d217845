package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/intent"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// job is a unit of work for a run.
type job struct {
	id       int    // in the queue
	words    string // as the user typed it; "" if it was no goal
	typed    string // text that may mention things by an @; "" if it cannot
	goal     string
	mentions []prompt.Mention       // in the goal
	fresh    bool                   // the mentions were read just now
	create   bool                   // make a plan, but run nothing
	run      bool                   // with create: run the plan instead of storing it
	execute  *session.Execute       // the plan to carry out
	resume   string                 // the run to resume
	decided  *event.FailureResolved // how to continue after the failed step
	compact  bool                   // summarize the conversation
	undo     bool                   // undo the last summary
}

// plans reports whether the goal of the job needs a plan.
func (j job) plans() bool { return j.goal != "" && j.execute == nil }

// name describes the job in a few words.
func (j job) name() string {
	switch {
	case j.resume != "":
		return "resume " + j.resume
	case j.execute != nil:
		return "run the plan " + string(j.execute.Plan.Title)
	case j.compact:
		return "summarize the conversation"
	case j.undo:
		return "restore the conversation"
	default:
		return j.goal
	}
}

// prepared holds what a run needs before it can start.
type prepared struct {
	ctx       context.Context // canceled if the job is stopped before it begins
	job       job
	jobConfig jobConfig // the settings at its start
	info      prompt.ModelInfo
	models    prompt.Models  // that plan in place of it
	all       plan.Catalogue // all tools
	catalogue plan.Catalogue // the tools on offer
	compacted *compaction    // set if the conversation was summarized
	priors    map[string]int64
	journal   Journal    // of the resumed run
	run       *agent.Run // the resumed run; not started if there is none
	events    []event.Event
	facts     intent.Facts // about the names in the goal
	awaited   []string     // servers that did not start in time
	tight     string       // why the context window is too small, and what to do; "" if it is not
	missing   []string     // tools that the run still needs and no server offers
	dirty     int          // files with uncommitted changes
	unfound   error        // why there is no model
	err       error
	look      bool     // only shows what there is; starts nothing
	left      []string // sentences about what happened to leftover processes
}

// drop releases a preparation that is no longer needed.
func (p prepared) drop() {
	if p.journal != nil {
		_ = p.journal.Close() // nothing was written to it
	}
}

// look finds out what the session works with, to show it: first the model, then
// the tools, whose servers may have to start.
func (s *Session) look(ctx context.Context) {
	t := s.jobConfig()
	s.findBranch()
	s.workers.Go(func() {
		info, err := s.cfg.Model.Describe(ctx, t.model)
		s.prepared <- prepared{jobConfig: t, info: info, err: err, look: true}
		within, cancel := context.WithTimeout(ctx, plan.ServerWait(s.cfg.ReadyWithin, s.cfg.Tools.Status(), nil))
		defer cancel()
		all := s.cfg.Tools.Ready(within)
		if all == nil {
			all = plan.Catalogue{} // known to be empty
		}
		s.prepared <- prepared{jobConfig: t, all: all, look: true}
	})
}

// enqueue starts a job, or queues it while another one runs.
func (s *Session) enqueue(ctx context.Context, j job) {
	s.jobs++
	j.id = s.jobs
	switch {
	case s.busy():
		s.queue = append(s.queue, j)
		s.publishQueue()
	case s.choosing != nil:
		s.queue = append(s.queue, j) // until the choice is resolved
		s.publishQueue()
	default:
		s.prepare(ctx, j)
	}
}

// prepare gets the model and the tools for a run, once the user has decided
// whether the project's servers may start.
func (s *Session) prepare(ctx context.Context, j job) {
	if j.words != "" {
		_ = s.publish(event.ChatUser{Text: untrusted.Text(j.words), Mentions: j.mentions})
	}
	if j.undo {
		s.doing = j.name()
		s.publishQueue()
		s.undo()
		s.doing = ""
		s.publishQueue()
		s.next(ctx)
		return
	}
	s.modelUse.stopReading()
	ctx, s.preparing = context.WithCancel(ctx)
	s.doing = j.name()
	s.publishQueue()
	answered, t := s.servers.answered, s.jobConfig()
	if j.compact {
		answered = nil // it needs no tools
	}
	s.workers.Go(func() {
		if answered != nil {
			select {
			case <-answered:
			case <-ctx.Done():
			}
		}
		s.prepared <- s.preparation().gather(ctx, j, t)
	})
}

// gather gets the resumed run, the model and the tools. It compacts the
// conversation if that leaves too little room for the goal.
func (s preparation) gather(ctx context.Context, j job, t jobConfig) prepared {
	p := prepared{ctx: ctx, job: j, jobConfig: t, run: agent.NewRun(nil), priors: map[string]int64{}}
	if s.cfg.Copy != nil && !j.compact {
		if p.err = s.cfg.Copy.Refresh(ctx, j.resume); p.err != nil {
			p.err = fmt.Errorf("%w: %w", errNoCopy, p.err)
			return p
		}
	}
	dirty := s.countsDirty(ctx, j)
	if j.resume != "" {
		if p.err = s.reopen(ctx, &p); p.err != nil || !p.run.Resumable() {
			return p
		}
	}
	if s.wantsModel(p) {
		p.info, p.err = s.cfg.Model.Describe(ctx, t.model)
		if errors.Is(p.err, prompt.ErrNoModel) && ctx.Err() == nil && (j.plans() || s.doesWithout(p)) {
			p.info, p.err, p.unfound = prompt.ModelInfo{}, nil, p.err
		}
	}
	if p.err != nil {
		return p
	}
	p.facts = s.survey(ctx, j)
	chain, routed, unclear := s.reach(ctx, &p)
	asks := !routed || chain.NeedsModel()
	if p.err = s.fitModels(ctx, &p, asks); p.err != nil {
		return p
	}
	p.missing = p.run.MissingTools(p.catalogue)
	if p.err = s.unwritten(ctx, &p); p.err != nil {
		return p
	}
	if p.unfound != nil && j.plans() && !routed {
		p.err = s.unrouted(p.unfound, unclear)
		return p
	}
	if j.plans() && asks || j.compact {
		p.compacted = s.compact(ctx, p)
	}
	if !s.cfg.DryRun {
		medians, err := s.cfg.Store.MedianDurations()
		if err != nil {
			s.cfg.Logger.Warn("durations seen before", "error", err)
		}
		maps.Copy(p.priors, medians)
	}
	p.dirty, p.err = dirty(), ctx.Err()
	return p
}

// wantsModel reports whether the job may need a model. A plan that consists of
// calls needs none, unless a failure leads to replanning.
func (s preparation) wantsModel(p prepared) bool {
	if p.job.execute == nil || s.cfg.Attended || p.job.execute.Synthesize {
		return true
	}
	proposed := p.job.execute.Plan
	return slices.ContainsFunc(proposed.Steps, func(step plan.Step) bool {
		return step.Executor == plan.ExecutorAgent || step.Executor == plan.ExecutorSelf || step.Args == nil ||
			proposed.FailureOf(step, p.job.execute.OnFailure) == plan.OnFailureReplan
	})
}

// doesWithout reports whether the job can be done without a model.
func (s preparation) doesWithout(p prepared) bool {
	switch j := p.job; {
	case j.compact:
		return true
	case j.execute != nil:
		return true // unless a step needs one, see unwritten
	default:
		return j.resume != "" && !p.run.NeedsModel()
	}
}

// errNoCopy reports that a run cannot work in a copy of the workspace.
var errNoCopy = errors.New("the run cannot start")

// errNotOpened reports that a run cannot be resumed.
var errNotOpened = errors.New("the run cannot be resumed")

// reopen reads the run to resume.
func (s preparation) reopen(ctx context.Context, p *prepared) error {
	var err error
	if p.journal, p.events, err = s.cfg.Store.ReopenRun(p.job.resume); err != nil {
		return fmt.Errorf("%w: %w", errNotOpened, err)
	}
	for _, e := range p.events {
		if err := p.run.Apply(e); err != nil {
			return fmt.Errorf("%w, because its journal does not fit together: %w", errNotOpened, err)
		}
	}
	if !SameFolder(p.run.Workspace, s.cfg.Workspace) {
		return fmt.Errorf("%w here: it worked in %s; go there and resume it", errNotOpened, p.run.Workspace)
	}
	if err := s.innerUndone(p); err != nil || s.cfg.EndLeft == nil {
		return err
	}
	// Leftover processes must end before the question whether their step took
	// effect.
	for _, left := range event.LeftProcesses(p.events) {
		if word := s.cfg.EndLeft(ctx, left); word != "" {
			p.left = append(p.left, word)
		}
	}
	return nil
}

// begin starts a run from its preparation.
func (s *Session) begin(ctx context.Context, p prepared) {
	s.describe(p)
	if p.look {
		s.expect(ctx)
		return
	}
	if p.err == nil {
		p.err = p.ctx.Err() // the job may have been stopped after its preparation
	}
	s.preparing()
	s.preparing, s.doing, s.awaited, s.skip = nil, "", nil, nil
	defer func() {
		if s.preparing == nil { // otherwise the queue of the next job was already published
			s.publishQueue()
		}
	}()
	s.compacted(p)
	for _, word := range p.left {
		s.publishNote("warn", word)
	}
	if p.tight != "" && !s.modelUse.warned {
		s.modelUse.warned = true
		s.publishNote("info", p.tight)
	}
	if p.job.compact {
		s.next(ctx)
		return
	}
	if reply, refused := s.refusal(p); refused {
		p.drop()
		_ = s.publish(reply)
		s.next(ctx)
		return
	}
	for _, server := range p.awaited {
		s.trouble(server, "has not started yet; the run starts without its tools")
	}
	if p.job.resume != "" {
		limits := p.run.Limits
		if s.cfg.Raise != nil {
			limits = s.cfg.Raise(limits)
		}
		limits, _ = s.cfg.SessionLimits.Lease(limits, s.account.used, p.run.Usage, s.account.ms, p.run.Elapsed().Milliseconds())
		if s.cfg.Copy != nil {
			if _, err := s.cfg.Copy.Begin(p.run.ID); err != nil {
				p.drop()
				_ = s.publish(failed(event.ReasonNotOpened, err.Error()))
				s.next(ctx)
				return
			}
		}
		s.takeUp(ctx, p, limits, nil)
		return
	}
	if err := s.start(ctx, p); err != nil {
		_ = s.publish(failed(event.ReasonStepFailed, err.Error()))
		s.next(ctx)
	}
}

func failed(reason event.Reason, sentence string) event.ChatReply {
	return event.ChatReply{Status: event.StatusFailed, Reason: reason, Text: untrusted.Text(sentence)}
}

// refusal returns the reply for a job that does not begin, and whether it is
// refused.
func (s *Session) refusal(p prepared) (reply event.ChatReply, refused bool) {
	switch {
	case errors.Is(p.err, context.Canceled):
		return event.ChatReply{Status: event.StatusCancelled, Reason: event.ReasonInterrupted, Text: "stopped before it started"}, true
	case errors.Is(p.err, errNotOpened), errors.Is(p.err, errNoCopy):
		return failed(event.ReasonNotOpened, p.err.Error()), true
	case errors.Is(p.err, errNoArgs):
		return failed(event.ReasonNoArgs, p.err.Error()), true
	case errors.As(p.err, new(agent.InvalidGoalError)):
		return failed(event.ReasonInvalidGoal, p.err.Error()), true
	case p.err != nil:
		reply = failed(event.ReasonNoModel, p.err.Error())
		reply.Asks = errors.Is(p.err, errNoWords)
		return reply, true
	case len(p.missing) > 0:
		return failed(event.ReasonNotOpened, fmt.Sprintf("%v: it needs %s, which no server offers now; resume it with the same servers", errNotOpened, strings.Join(p.missing, ", "))), true
	case p.job.resume != "" && p.run.Undone != nil:
		return failed(event.ReasonNotOpened, "the run "+agent.ShortID(p.run.ID)+" is undone, so its steps cannot be continued: start its goal or plan again"), true
	case p.job.resume != "" && !p.run.Resumable():
		result := p.run.Result
		return event.ChatReply{
			Run: p.run.ID, Status: result.Status, Reason: result.Reason,
			Text: untrusted.Text("Run " + agent.ShortID(p.run.ID) + " is completed; there is nothing to resume."),
		}, true
	}
	if _, spent := s.account.lease(s.cfg.Limits); spent != "" {
		return failed(agent.SpentReason(spent), "this session has used up its budget of "+spent+" (guard "+spent+"): raise it in [session_limits] of the configuration, or start a new session"), true
	}
	return event.ChatReply{}, false
}

// newEngine creates the engine of a run that starts or resumes.
func (s *Session) newEngine(id string, journal Journal, create bool) *engine {
	e := &engine{
		id: id, journal: journal, model: s.cfg.Model, tools: s.cfg.Tools, admit: s.cfg.Admit, log: s.cfg.Logger, now: s.cfg.Now,
		run: agent.NewRun(nil), arrivals: s.arrivals, publish: s.deliver, offer: s.cfg.offering, attended: s.cfg.Attended, crashed: s.cfg.Crashed, warnings: &s.warnings,
	}
	if create {
		e.amend = func(record event.Data) event.Data { return s.store(e, record) }
	}
	e.plan = func(ctx context.Context, under *call, c agent.CallPlan) event.Data {
		return s.callPlan(ctx, e, under, c)
	}
	s.engines = append(s.engines, e)
	return e
}

// newRun returns a new run id.
func (s *Session) newRun() string { return "r-" + s.cfg.NewID(s.cfg.Now()) }

// open starts a new run with its own journal.
func (s *Session) open(ctx context.Context, id string, started event.RunStarted, of *child) (*engine, error) {
	if s.cfg.Copy != nil && of == nil {
		copied, err := s.cfg.Copy.Begin(id)
		if err != nil {
			return nil, err
		}
		started.Copied = copied
	}
	journal, err := s.cfg.Store.CreateJournal("run", id)
	if err != nil {
		return nil, err
	}
	started.Workspace, started.Session, started.DryRun, started.RequireVerified = s.cfg.Workspace, s.id, s.cfg.DryRun, s.cfg.RequireVerified
	started.Attended, started.InDoubt, started.Review = s.cfg.Attended, s.cfg.InDoubt, s.cfg.Review
	e := s.newEngine(id, journal, started.PlanOnly)
	e.prompting, e.priors, e.child = started.Prompting, started.Priors, of
	// shutDown turns the end of ctx into a stop and records it.
	e.begin(context.WithoutCancel(ctx), started)
	s.afterAdvance(e)
	return e, nil
}

// start starts a new run.
func (s *Session) start(ctx context.Context, p prepared) error {
	prompting := p.jobConfig.prompting
	prompting.Conversation, prompting.Mentions = slices.Clip(s.conversation.messages), p.job.mentions
	prompting.ContextWindow, prompting.ModelTools, prompting.Models = p.info.ContextWindow, p.info.Tools, p.models
	prompting = prompting.DrivenBy(p.info)
	prompting.Vision, prompting.Sketch, prompting.WritesCalls = p.info.Vision, p.facts.Sketch, p.info.WritesCalls
	prompting.ReadSpeed = p.info.Speed.Read
	prompting.BytesPerToken = cmp.Or(prompting.BytesPerToken, p.info.BytesPerToken)
	prompting.Servers = instructions(s.cfg.Tools.Status(), p.catalogue)
	if p.job.create { // the user asked for a plan
		prompting.ForcePlan, prompting.SkipPlan, prompting.PlanTools = true, false, false
	}
	limits, _ := s.account.lease(s.cfg.Limits)
	started := event.RunStarted{
		Goal: untrusted.Text(p.job.goal), Model: p.info.Name, Limits: limits, Rules: s.rules(p.job.goal, p.plan()),
		Catalogue: p.catalogue, Priors: p.priors, Prompting: prompting, PlanOnly: p.job.create && !p.job.run, SkipSynthesis: p.job.run, Routing: s.preparation().routing(p.jobConfig.prompting, p.facts),
		Dirty: p.dirty, OnFailure: s.cfg.OnFailure, Read: slices.Clip(s.conversation.read),
	}
	if x := p.job.execute; x != nil {
		if started.Goal == "" {
			started.Goal = x.Plan.Title
		}
		started.Plan, started.OnFailure, started.SkipSynthesis = &x.Plan, x.OnFailure, !x.Synthesize || p.info.Name == ""
		started.Limits, started.Strict = ofPlan(limits), x.Strict
		if x.Synthesize && p.info.Name == "" && !s.cfg.DryRun {
			s.publishNote("warn", "there will be no answer, because there is no model; start Ollama, or choose one with --host and --model")
		}
	}
	_, err := s.open(ctx, s.newRun(), started, nil)
	return err
}

// ofPlan returns the limits of a run whose plan is given. Its steps are
// unbounded, unless the bound is one that does not grow.
func ofPlan(l event.Limits) event.Limits {
	if l.GrowSteps {
		l.MaxSteps = 0
	}
	return l
}

// takeUp resumes a run. It publishes the earlier events again, so that listeners
// can fold them.
func (s *Session) takeUp(ctx context.Context, p prepared, limits event.Limits, of *child) *engine {
	_ = s.publish(session.Resuming{Run: p.run.ID, Upto: p.run.Seq})
	for _, e := range p.events {
		s.deliver(e)
	}
	was := p.started()
	e := s.newEngine(p.run.ID, p.journal, was.PlanOnly)
	e.run, e.prompting, e.priors, e.child = p.run, was.Prompting, p.priors, of
	e.prompting.Models = p.models
	first := []event.Data{event.RunResumed{
		From: p.run.Seq, Session: s.id, Model: p.info.Name, Tools: p.info.Tools, Window: p.info.ContextWindow, Small: p.info.Small, Vision: p.info.Vision, Speed: p.info.Speed.Read, Loops: p.info.Loops, Measured: p.info.Fit.Record(), WritesCalls: p.info.WritesCalls, Models: &p.models, Limits: limits, Rules: s.rules(string(p.run.Goal), p.plan(), p.run.Rules()...),
		Catalogue: p.catalogue, Priors: p.priors, Attended: s.cfg.Attended, InDoubt: s.cfg.InDoubt, RequireVerified: s.cfg.RequireVerified,
		// A decision about one step does not start a review of the rest.
		Review: s.cfg.Review && p.job.decided == nil && of == nil,
	}}
	if p.job.decided != nil {
		first = append(first, *p.job.decided)
	}
	e.begin(context.WithoutCancel(ctx), first...)
	s.afterAdvance(e)
	return e
}

// plan returns the plan that the run started or will start with, nil if there is
// none.
func (p prepared) plan() *plan.Plan {
	if p.job.execute != nil {
		return &p.job.execute.Plan
	}
	return p.started().Plan
}

// started returns the event that the resumed run started with.
func (p prepared) started() event.RunStarted {
	if len(p.events) > 0 {
		if started, ok := p.events[0].Data.(event.RunStarted); ok {
			return started
		}
	}
	return event.RunStarted{}
}
