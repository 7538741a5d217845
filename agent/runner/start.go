package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/planning/intent"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// job is something that a run is to do.
type job struct {
	id       int    // in the queue
	words    string // as the user typed it; "" where it was no goal
	typed    string // with what names something by an @; "" where nothing can
	goal     string
	mentions []prompt.Mention       // what the goal names
	fresh    bool                   // they were read just now
	create   bool                   // a plan is wanted, nothing is to be run
	execute  *Execute               // the plan to carry out
	resume   string                 // the run to take up
	decided  *event.FailureResolved // how it goes on after the step that failed
	compact  bool                   // the conversation is to be summed up
	undo     bool                   // it is to be as it was before that
}

// plans reports whether the goal of the job is to be planned.
func (j job) plans() bool { return j.goal != "" && j.execute == nil }

// name says what a job is about in a few words.
func (j job) name() string {
	switch {
	case j.resume != "":
		return "resume " + j.resume
	case j.execute != nil:
		return "run the plan " + j.execute.Plan.Title
	case j.compact:
		return "sum up the conversation"
	case j.undo:
		return "put the conversation back as it was"
	default:
		return j.goal
	}
}

// prepared is what a run needs before it can start.
type prepared struct {
	ctx       context.Context // ends where the job is stopped before it begins
	job       job
	jobTerms  jobTerms // that it began under
	info      prompt.ModelInfo
	all       plan.Catalogue // every tool there is
	catalogue plan.Catalogue // those on offer
	compacted *compaction    // the conversation was summed up
	priors    map[string]int64
	journal   Journal    // of the run that is resumed
	run       *agent.Run // that is resumed; not started where none is
	events    []event.Event
	facts     intent.Facts // about the names in the goal
	awaited   []string     // servers that were waited for and have not started
	missing   []string     // tools that the run still needs and nobody offers
	dirty     int          // files with changes that are not committed
	unfound   error        // why there is no model
	err       error
	look      bool     // only to show what there is, nothing is to be started
	left      []string // what became of processes that were left behind, in words
}

// drop lets go of what was prepared and is not wanted any more.
func (p prepared) drop() {
	if p.journal != nil {
		_ = p.journal.Close() // nothing was written to it
	}
}

// look finds out what the session works with, so that it can be shown: the
// model, and then the tools, for which servers may have to start.
func (s *Session) look(ctx context.Context) {
	t := s.jobTerms()
	s.findBranch()
	s.workers.Go(func() {
		info, err := s.cfg.Model.Describe(ctx, t.model)
		s.prepared <- prepared{jobTerms: t, info: info, err: err, look: true}
		within, cancel := context.WithTimeout(ctx, s.cfg.ReadyWithin)
		defer cancel()
		all := s.cfg.Tools.Ready(within)
		if all == nil {
			all = plan.Catalogue{} // known to be none
		}
		s.prepared <- prepared{jobTerms: t, all: all, look: true}
	})
}

// put starts a job, or queues it while another goes on.
func (s *Session) put(ctx context.Context, j job) {
	s.jobs++
	j.id = s.jobs
	switch {
	case s.busy():
		s.queue = append(s.queue, j)
		s.tellQueue()
	case s.choosing != nil:
		s.queue = append(s.queue, j) // for as long as it takes to find out what it will work with
		s.tellQueue()
	default:
		s.prepare(ctx, j)
	}
}

// prepare gets what a run needs: the model and the tools, once the user has
// said whether the project's servers may start.
func (s *Session) prepare(ctx context.Context, j job) {
	if j.words != "" {
		_ = s.say(event.ChatUser{Text: j.words, Mentions: j.mentions})
	}
	if j.undo {
		s.doing = j.name()
		s.tellQueue()
		s.undo()
		s.doing = ""
		s.tellQueue()
		s.next(ctx)
		return
	}
	ctx, s.preparing = context.WithCancel(ctx)
	s.doing = j.name()
	s.tellQueue()
	answered, t := s.answered, s.jobTerms()
	if j.compact {
		answered = nil // no tool is needed for it
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

// gather gets the run that is resumed, the model and the tools, and makes room
// for the goal where the conversation takes too much of it.
func (s preparation) gather(ctx context.Context, j job, t jobTerms) prepared {
	p := prepared{ctx: ctx, job: j, jobTerms: t, run: agent.NewRun(nil), priors: map[string]int64{}}
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
	if p.info.Name != "" && j.resume == "" {
		p.jobTerms.prompting.Profiles = s.windows(ctx, t.prompting.Profiles)
	}
	p.facts = s.survey(ctx, j)
	chain, routed, unclear := s.reach(ctx, &p)
	p.missing = p.run.MissingTools(p.catalogue)
	if p.err = s.unwritten(ctx, &p); p.err != nil {
		return p
	}
	if p.unfound != nil && j.plans() && !routed {
		p.err = s.unrouted(p.unfound, unclear)
		return p
	}
	if j.plans() && (!routed || chain.NeedsModel()) || j.compact {
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

// wantsModel reports whether a model may be needed: a plan whose steps are all
// calls does without one, unless a failure is to be replanned.
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

// doesWithout reports whether a job can be done although there is no model.
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

// errNoArgs says that a plan cannot be run without a model.
var errNoArgs = errors.New("the plan needs a model")

// unwritten says why a plan is not begun where there is no model: a step is the
// model's work, or has args that a model is to fill in.
func (s preparation) unwritten(ctx context.Context, p *prepared) error {
	if p.job.execute == nil || s.cfg.DryRun {
		return nil
	}
	proposed := p.job.execute.Plan
	var open []string
	for _, step := range proposed.Steps {
		tool, err := p.catalogue.Find(step.Tool)
		if step.Executor != plan.ExecutorTool || err != nil {
			continue
		}
		if missing := plan.MissingArgs(tool, step.Args); len(missing) > 0 {
			what := "all"
			if step.Args != nil {
				what = strings.Join(missing, " and ")
			}
			open = append(open, fmt.Sprintf("%s of step %s (%s)", what, step.Index, step.Tool))
		}
	}
	if len(open) > 0 && p.info.Name == "" && p.unfound == nil { // nobody has asked for it yet
		info, err := s.cfg.Model.Describe(ctx, p.jobTerms.model)
		if err != nil && !errors.Is(err, prompt.ErrNoModel) {
			return err
		}
		p.info, p.unfound = info, err
	}
	switch {
	case p.unfound == nil:
		return nil
	case len(open) > 0:
		return fmt.Errorf("%w to fill in args: %s; write them into the plan, or choose a model: %w", errNoArgs, strings.Join(open, ", "), p.unfound)
	case needsWords(proposed):
		return p.unfound
	default:
		return nil
	}
}

// needsWords reports whether a plan has steps that only a model can carry out:
// rather than run half of it, it is not begun without one.
func needsWords(p plan.Plan) bool {
	return slices.ContainsFunc(p.Steps, func(step plan.Step) bool {
		return step.Executor == plan.ExecutorAgent || step.Executor == plan.ExecutorSelf
	})
}

// errNotOpened says that a run cannot be taken up.
var errNotOpened = errors.New("the run cannot be resumed")

// reopen reads the run that is to be resumed.
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
	if s.cfg.EndLeft == nil {
		return nil
	}
	// Before anybody is asked whether a step took effect, it has stopped doing so.
	for _, left := range event.LeftProcesses(p.events) {
		if word := s.cfg.EndLeft(ctx, left); word != "" {
			p.left = append(p.left, word)
		}
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
	s.preparing, s.doing, s.awaited = nil, "", nil
	defer func() {
		if s.preparing == nil { // else the next has been told of
			s.tellQueue()
		}
	}()
	s.compacted(p)
	for _, word := range p.left {
		s.tellOf("warn", word)
	}
	if p.job.compact {
		s.next(ctx)
		return
	}
	if reply, refused := s.refusal(p); refused {
		p.drop()
		_ = s.say(reply)
		s.next(ctx)
		return
	}
	for _, server := range p.awaited {
		s.trouble(server, "has not started yet; the run begins without its tools")
	}
	if p.job.resume != "" {
		limits := p.run.Limits
		if s.cfg.Raise != nil {
			limits = s.cfg.Raise(limits)
		}
		limits, _ = s.cfg.SessionLimits.Lease(limits, s.account.used, p.run.Usage, s.account.ms, p.run.Elapsed().Milliseconds())
		s.takeUp(ctx, p, limits, nil)
		return
	}
	if err := s.start(ctx, p); err != nil {
		_ = s.say(failed(event.ReasonStepFailed, err.Error()))
		s.next(ctx)
	}
}

func failed(reason event.Reason, sentence string) event.ChatReply {
	return event.ChatReply{Status: event.StatusFailed, Reason: reason, Text: sentence}
}

// refusal says why a job does not begin, where it does not.
func (s *Session) refusal(p prepared) (reply event.ChatReply, refused bool) {
	switch {
	case errors.Is(p.err, context.Canceled):
		return event.ChatReply{Status: event.StatusCancelled, Reason: event.ReasonInterrupted, Text: "stopped before it began"}, true
	case errors.Is(p.err, errNotOpened):
		return failed(event.ReasonNotOpened, p.err.Error()), true
	case errors.Is(p.err, errNoArgs):
		return failed(event.ReasonNoArgs, p.err.Error()), true
	case p.err != nil:
		return failed(event.ReasonNoModel, p.err.Error()), true
	case len(p.missing) > 0:
		return failed(event.ReasonNotOpened, fmt.Sprintf("%v: it still needs %s, which no server offers now; resume it with the servers that it was started with", errNotOpened, strings.Join(p.missing, ", "))), true
	case p.job.resume != "" && !p.run.Resumable():
		result := p.run.Result
		return event.ChatReply{
			Run: p.run.ID, Status: result.Status, Reason: result.Reason,
			Text: "The run " + p.run.ID + " is completed; there is nothing left to resume.",
		}, true
	}
	if _, spent := s.account.lease(s.cfg.Limits); spent != "" {
		return failed(agent.SpentReason(spent), "this session has used up its budget of "+spent+" (guard "+spent+"): raise it in [session_limits] of the configuration, or start a new session"), true
	}
	return event.ChatReply{}, false
}

// newEngine makes the engine of a run that is about to go on.
func (s *Session) newEngine(id string, journal Journal, create bool) *engine {
	e := &engine{
		id: id, journal: journal, model: s.cfg.Model, tools: s.cfg.Tools, log: s.cfg.Logger, now: s.cfg.Now,
		run: agent.NewRun(nil), arrivals: s.arrivals, publish: s.publish, offer: s.offering,
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

// newRun is the id of a new run.
func (s *Session) newRun() string { return "r-" + s.cfg.NewID(s.cfg.Now()) }

// open begins a new run with a journal of its own.
func (s *Session) open(ctx context.Context, id string, started event.RunStarted, of *child) (*engine, error) {
	journal, err := s.cfg.Store.CreateJournal("run", id)
	if err != nil {
		return nil, err
	}
	started.Workspace, started.Session, started.DryRun = s.cfg.Workspace, s.id, s.cfg.DryRun
	started.Attended, started.InDoubt, started.Review = s.cfg.Attended, s.cfg.InDoubt, s.cfg.Review
	e := s.newEngine(id, journal, started.PlanOnly)
	e.prompting, e.priors, e.child = started.Prompting, started.Priors, of
	// The end of ctx is a stop, and told as one by shutDown.
	e.begin(context.WithoutCancel(ctx), started)
	s.settle(e)
	return e, nil
}

// start starts a new run.
func (s *Session) start(ctx context.Context, p prepared) error {
	prompting := p.jobTerms.prompting
	prompting.Conversation, prompting.Mentions = slices.Clip(s.conversation.messages), p.job.mentions
	prompting.ContextWindow, prompting.ModelTools = p.info.ContextWindow, p.info.Tools
	if p.job.create { // a plan is what was asked for
		prompting.ForcePlan, prompting.SkipPlan, prompting.PlanTools = true, false, false
	}
	limits, _ := s.account.lease(s.cfg.Limits)
	started := event.RunStarted{
		Goal: p.job.goal, Model: p.info.Name, Limits: limits, Rules: s.rules(p.job.goal, p.plan()),
		Catalogue: p.catalogue, Priors: p.priors, Prompting: prompting, PlanOnly: p.job.create, Routing: s.preparation().routing(p.jobTerms.prompting, p.facts),
		Dirty: p.dirty, OnFailure: s.cfg.OnFailure,
	}
	if x := p.job.execute; x != nil {
		if started.Goal == "" {
			started.Goal = x.Plan.Title
		}
		started.Plan, started.OnFailure, started.SkipSynthesis = &x.Plan, x.OnFailure, !x.Synthesize || p.info.Name == ""
		started.Limits, started.Strict = ofPlan(limits), x.Strict
		if x.Synthesize && p.info.Name == "" && !s.cfg.DryRun {
			s.tellOf("warn", "no answer will be written, since there is no model to write it; start Ollama, or choose one with --host and --model")
		}
	}
	_, err := s.open(ctx, s.newRun(), started, nil)
	return err
}

// ofPlan are the limits of a run whose plan is there: nobody asked for a bound
// of its steps, unless the bound is one that does not grow.
func ofPlan(l event.Limits) event.Limits {
	if l.GrowSteps {
		l.MaxSteps = 0
	}
	return l
}

// takeUp resumes a run. What happened before is told again, so that whoever
// listens can fold it.
func (s *Session) takeUp(ctx context.Context, p prepared, limits event.Limits, of *child) *engine {
	_ = s.say(session.Resuming{Run: p.run.ID, Upto: p.run.Seq})
	for _, e := range p.events {
		s.publish(e)
	}
	was := p.started()
	e := s.newEngine(p.run.ID, p.journal, was.PlanOnly)
	e.run, e.prompting, e.priors, e.child = p.run, was.Prompting, p.priors, of
	first := []event.Data{event.RunResumed{
		From: p.run.Seq, Session: s.id, Model: p.info.Name, Tools: p.info.Tools, Window: p.info.ContextWindow, Limits: limits, Rules: s.rules(p.run.Goal, p.plan(), p.run.Rules()...),
		Catalogue: p.catalogue, Priors: p.priors, Attended: s.cfg.Attended, InDoubt: s.cfg.InDoubt,
		// A word on one step is to be done, and nothing else looked over for it.
		Review: s.cfg.Review && p.job.decided == nil && of == nil,
	}}
	if p.job.decided != nil {
		first = append(first, *p.job.decided)
	}
	e.begin(context.WithoutCancel(ctx), first...)
	s.settle(e)
	return e
}

// plan is the plan that the run was or is to be started with; nil where there
// is none.
func (p prepared) plan() *plan.Plan {
	if p.job.execute != nil {
		return &p.job.execute.Plan
	}
	return p.started().Plan
}

// started is what the run that is resumed was started with.
func (p prepared) started() event.RunStarted {
	if len(p.events) > 0 {
		if started, ok := p.events[0].Data.(event.RunStarted); ok {
			return started
		}
	}
	return event.RunStarted{}
}
