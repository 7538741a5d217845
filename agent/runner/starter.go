package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/runner/intake"
	"replan/internal/untrusted"
	"replan/planning/intent"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// starter begins the run of a prepared job, or says why it does not begin.
type starter struct {
	terms        startTerms
	events       *publisher
	overview     *overview
	conversation *conversation
	account      *account
	warmer       *warmer
	rules        *rulebook
	runs         *runs

	tight bool // it was said that the context window is too small
}

// startTerms are what runs begin with beside their job.
type startTerms struct {
	routing   event.Routing
	onFailure plan.OnFailure
	raise     func(event.Limits) event.Limits // adjusts the limits of a resumed run; nil keeps them
	copy      WorkingCopy                     // nil is the workspace itself
	servers   func() []plan.ServerStatus
	dryRun    bool
	now       func() time.Time
}

// preparedJob is a job with what its run needs before it can start. It is a value.
type preparedJob struct {
	job       intake.Job
	jobConfig jobConfig // the settings at its start
	info      prompt.ModelInfo
	models    prompt.Models // that plan in place of it
	all       plan.Catalog  // all tools
	catalog   plan.Catalog  // the tools on offer
	summary   *summary      // set if the conversation was summarized
	priors    map[string]int64
	past      pastRun      // the run to resume
	facts     intent.Facts // about the names in the goal
	awaited   []string     // servers that did not start in time
	tight     string       // why the context window is too small, and what to do; "" if it is not
	missing   []string     // tools that the run still needs and no server offers
	dirty     int          // files with uncommitted changes
	unfound   error        // why there is no model
	err       error        // why the job does not begin
}

// drop releases a job that does not begin.
func (p preparedJob) drop() { p.past.drop() }

// begin begins what was prepared. stopped tells that the job was stopped meanwhile.
func (s *starter) begin(ctx context.Context, p preparedJob, stopped error) {
	s.overview.foundModel(p.jobConfig.model, p.info, cmp.Or(p.unfound, p.err))
	s.overview.foundTools(p.all)
	p.err = cmp.Or(p.err, stopped)
	s.shorten(p)
	for _, word := range p.past.left {
		s.events.note("warn", word)
	}
	if p.tight != "" && !s.tight {
		s.tight = true
		s.events.note("info", p.tight)
	}
	if p.job.Compact {
		return
	}
	reply, refused := p.refusal()
	if spent := s.account.spent(); !refused && spent != "" {
		reply, refused = failedReply(agent.SpentReason(spent), "this session has used up its budget of "+spent+" (guard "+spent+"): raise it in [session_limits] of the configuration, or start a new session"), true
	}
	if refused {
		p.drop()
		_ = s.events.publish(reply)
		return
	}
	for _, server := range p.awaited {
		s.overview.trouble(server, "has not started yet; the run starts without its tools")
	}
	if words := p.unseen(); words != "" {
		s.events.note("warn", words)
	}
	if p.job.Resume != "" {
		s.resume(ctx, p)
		return
	}
	if p.answerless() && !s.terms.dryRun {
		s.events.note("warn", "there will be no answer, because there is no model; start Ollama, or choose one with --host and --model")
	}
	if _, err := s.runs.start(ctx, s.runs.newID(), s.started(p), nil); err != nil {
		_ = s.events.publish(failedReply(event.ReasonStepFailed, err.Error()))
	}
}

// shorten applies the summary written during a preparation.
func (s *starter) shorten(p preparedJob) {
	c := p.summary
	switch {
	case c != nil:
		s.conversation.shorten(*c)
		s.account.spend(c.used, 0)
		if c.used.ModelCalls > 0 {
			s.warmer.worked(s.terms.now())
		}
		_ = s.events.publish(c.event)
		s.overview.weigh()
	case !p.job.Compact:
	case errors.Is(p.err, context.Canceled):
		s.events.note("info", "stopped: the conversation stays as it is")
	case p.err != nil:
		s.events.note("warn", "the conversation stays as it is: "+p.err.Error())
	default:
		s.events.note("info", "there is nothing to summarize: the newest messages always stay as they are")
	}
}

// resume resumes a run, within limits that may have been raised since.
func (s *starter) resume(ctx context.Context, p preparedJob) {
	run := p.past.run
	limits := run.Limits
	if s.terms.raise != nil {
		limits = s.terms.raise(limits)
	}
	if s.terms.copy != nil {
		if _, err := s.terms.copy.Begin(run.ID); err != nil {
			p.drop()
			_ = s.events.publish(failedReply(event.ReasonNotOpened, err.Error()))
			return
		}
	}
	resumed := resumedBy(p.info)
	resumed.Models, resumed.Catalog, resumed.Priors = &p.models, p.catalog, p.priors
	resumed.Limits = s.account.leaseAgain(limits, run.Usage, run.Elapsed())
	s.runs.resume(ctx, p.past, resumed, p.job.Decided, nil)
}

// started returns the event that starts a new run.
func (s *starter) started(p preparedJob) event.RunStarted {
	limits, _ := s.account.lease()
	prompting := p.promptingOf(s.conversation.history())
	prompting.Servers = instructions(s.terms.servers(), p.catalog)
	started := event.RunStarted{
		Goal: untrusted.Text(p.job.Goal), Model: p.info.Name, Limits: limits,
		Catalog: p.catalog, Priors: p.priors, Prompting: prompting, PlanOnly: p.job.Create && !p.job.Run, SkipSynthesis: p.job.Run, Routing: p.routing(s.terms.routing),
		Dirty: p.dirty, OnFailure: s.terms.onFailure, Read: s.conversation.untrusted(),
	}
	if x := p.job.Execute; x != nil {
		started.Goal = cmp.Or(started.Goal, x.Plan.Title)
		started.Plan, started.OnFailure, started.SkipSynthesis = &x.Plan, x.OnFailure, !x.Synthesize || p.info.Name == ""
		started.Limits, started.Strict = ofPlan(limits), x.Strict
	}
	started.Rules = s.rules.of(p.job.Goal, started.Plan)
	return started
}

// promptingOf returns what shapes the requests of the new run, with the conversation.
func (p preparedJob) promptingOf(conversation []prompt.Message) prompt.Prompting {
	prompting := p.jobConfig.prompting
	prompting.Conversation, prompting.Mentions = conversation, p.job.Mentions
	prompting.ContextWindow, prompting.ModelTools, prompting.Models = p.info.ContextWindow, p.info.Tools, p.models
	prompting = prompting.DrivenBy(p.info)
	prompting.Vision, prompting.Sketch, prompting.WritesCalls = p.info.Vision, p.facts.Sketch, p.info.WritesCalls
	prompting.ReadSpeed = p.info.Speed.Read
	prompting.BytesPerToken = cmp.Or(prompting.BytesPerToken, p.info.BytesPerToken)
	if p.job.Create { // the user asked for a plan
		prompting.ForcePlan, prompting.SkipPlan, prompting.PlanTools = true, false, false
	}
	return prompting
}

// answerless reports whether the plan is to end with an answer that no model can write.
func (p preparedJob) answerless() bool {
	x := p.job.Execute
	return x != nil && x.Synthesize && p.info.Name == ""
}

// refusal returns the reply for a job that does not begin, and whether it is
// refused.
func (p preparedJob) refusal() (reply event.ChatReply, refused bool) {
	run := p.past.run
	switch {
	case errors.Is(p.err, context.Canceled):
		return event.ChatReply{Status: event.StatusCanceled, Reason: event.ReasonInterrupted, Text: "stopped before it started"}, true
	case errors.Is(p.err, errNotOpened), errors.Is(p.err, errNoCopy):
		return failedReply(event.ReasonNotOpened, p.err.Error()), true
	case errors.Is(p.err, errNoArgs):
		return failedReply(event.ReasonNoArgs, p.err.Error()), true
	case errors.As(p.err, new(agent.InvalidGoalError)):
		return failedReply(event.ReasonInvalidGoal, p.err.Error()), true
	case p.err != nil:
		reply = failedReply(event.ReasonNoModel, p.err.Error())
		reply.Asks = errors.Is(p.err, errNoWords)
		if unclear, ok := errors.AsType[agent.UnclearGoalError](p.err); ok {
			reply.Near = unclear.Near
		}
		return reply, true
	case len(p.missing) > 0:
		return failedReply(event.ReasonNotOpened, fmt.Sprintf("%v: it needs %s, which no server offers now; resume it with the same servers", errNotOpened, strings.Join(p.missing, ", "))), true
	case p.job.Resume != "" && run.Undone != nil:
		return failedReply(event.ReasonNotOpened, "the run "+agent.ShortID(run.ID)+" is undone, so its steps cannot be continued: start its goal or plan again"), true
	case p.job.Resume != "" && !run.Resumable():
		return event.ChatReply{
			Run: run.ID, Status: run.Result.Status, Reason: run.Result.Reason,
			Text: untrusted.Text("Run " + agent.ShortID(run.ID) + " is completed; there is nothing to resume."),
		}, true
	}
	return event.ChatReply{}, false
}

// instructions is what the servers of tools say about themselves, by name.
func instructions(servers []plan.ServerStatus, tools plan.Catalog) map[string]untrusted.Text {
	texts := map[string]untrusted.Text{}
	for _, server := range servers {
		if server.Instructions != "" && slices.ContainsFunc(tools, func(t plan.Tool) bool { return t.Server == server.Name }) {
			texts[server.Name] = server.Instructions
		}
	}
	return texts
}
