package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/intent"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// sideQuestions answers questions about the current or last run beside it, one at a time. Each
// is a small run of its own that no journal holds, whose rules deny what may change anything.
type sideQuestions struct {
	session    string // the id
	supplies   supplies
	workers    workerParts
	workspace  string
	events     *publisher
	background *background
	overview   *overview

	conversation *conversation

	account *account
	rules   *rulebook
	warmer  *warmer
	runs    *runs

	lastRun string // the newest run that has ended, "" for none
	failed  bool   // it has failed
	asked   int
	waiting []sideQuestion
	current *sideQuestion // being answered, nil for none
}

// sideQuestion is a question with what it is answered from, as it was when its turn came.
type sideQuestion struct {
	id     int
	text   string
	about  prompt.About
	ended  string            // the run that it is about, if that has ended; "" for none
	read   []rule.Provenance // the untrusted text that the conversation and the run may hold
	config jobConfig
	rules  []rule.Rule
	limits event.Limits
	cancel context.CancelCauseFunc
}

// errSideCanceled ends the answer to a side question that the user canceled.
var errSideCanceled = errors.New("canceled by the user")

// remember notes that a run has ended, and whether it failed.
func (q *sideQuestions) remember(reply event.ChatReply) {
	if reply.Run != "" {
		q.lastRun, q.failed = reply.Run, reply.Status == event.StatusFailed
	}
}

// answersGoal reports whether a goal clearly asks about the last run, which has failed: "why
// did it fail".
func (q *sideQuestions) answersGoal(goal string) bool {
	_, about := agent.AnswerAbout(prompt.About{}, goal)
	return about && q.failed && q.supplies.routing.Planner.ByWords()
}

// answerGoal answers a goal that asks about the last run in the chat, from the state of the run.
func (q *sideQuestions) answerGoal(goal string) {
	_ = q.events.publish(event.ChatUser{Text: untrusted.Text(goal)})
	answer := &sideAnswer{sideQuestion: sideQuestion{text: goal, ended: q.lastRun}, from: q}
	q.background.run(func() func() {
		err := answer.readRun()
		return func() {
			if err != nil {
				_ = q.events.publish(failedReply(event.ReasonNotOpened, "the run that it is about cannot be read: "+err.Error()))
				return
			}
			text, _ := agent.AnswerAbout(answer.about, goal)
			_ = q.events.publish(event.ChatReply{Text: untrusted.Text(text)})
		}
	})
}

// replay notes the runs of an earlier process of the session.
func (q *sideQuestions) replay(data event.Data) {
	if d, ok := data.(event.ChatReply); ok {
		q.remember(d)
	}
}

// command carries out the commands about side questions.
func (q *sideQuestions) command(ctx context.Context, c session.Command) {
	switch c := c.(type) {
	case session.AskSideQuestion:
		q.ask(ctx, c.Question)
	case session.CancelSideQuestion:
		if q.current != nil {
			q.current.cancel(errSideCanceled)
		}
	}
}

// ask answers a question, after those that wait.
func (q *sideQuestions) ask(ctx context.Context, text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	q.asked++
	asked := sideQuestion{id: q.asked, text: text}
	_ = q.events.publish(session.SideProgress{ChatSide: asked.blank(), Waits: q.current != nil})
	if q.current != nil {
		q.waiting = append(q.waiting, asked)
		return
	}
	q.begin(ctx, asked)
}

// blank returns the question without an answer.
func (s sideQuestion) blank() event.ChatSide {
	return event.ChatSide{ID: s.id, Question: untrusted.Text(s.text)}
}

// begin has a worker answer a question.
func (q *sideQuestions) begin(ctx context.Context, asked sideQuestion) {
	answering, cancel := context.WithCancelCause(ctx)
	asked.cancel = cancel
	q.current = &asked
	q.warmer.stopReading()
	asked.read = q.conversation.untrusted()
	if now := q.runs.newest(); now != nil {
		asked.about, asked.read = now.About(), append(asked.read, now.Read()...)
	} else {
		asked.ended = q.lastRun
	}
	asked.config, asked.rules = q.overview.jobConfig(), slices.Concat([]rule.Rule{rule.OnlyReads()}, q.rules.of(asked.text, nil))
	spent := ""
	asked.limits, spent = q.account.lease()
	answer := &sideAnswer{sideQuestion: asked, from: q}
	q.background.run(func() func() {
		var end event.ChatSide
		if spent != "" {
			end = asked.failed(event.StatusFailed, "this session has used up its budget of "+spent+" (guard "+spent+"): raise it in [session_limits] of the configuration, or start a new session")
		} else {
			end = answer.write(answering)
		}
		return func() { q.finish(ctx, end) }
	})
}

// finish takes the end of the current question. The journal does not get what ends with the
// session.
func (q *sideQuestions) finish(ctx context.Context, end event.ChatSide) {
	q.current.cancel(nil)
	q.current = nil
	q.account.spend(end.Usage, end.MS)
	if end.Usage.ModelCalls > 0 {
		q.warmer.worked(q.workers.now())
	}
	if ctx.Err() == nil {
		_ = q.events.publish(end)
	}
}

// next begins the question that waits longest, unless another one is being answered.
func (q *sideQuestions) next(ctx context.Context) {
	if q.current == nil && len(q.waiting) > 0 {
		asked := q.waiting[0]
		q.waiting = q.waiting[1:]
		q.begin(ctx, asked)
	}
}

// failed returns the end of a question without an answer.
func (s sideQuestion) failed(status event.Status, why string) event.ChatSide {
	end := s.blank()
	end.Status, end.Error = status, untrusted.Text(why)
	return end
}

// sideAnswer writes the answer to one question, in a worker. It sees nothing of the session but
// what the question holds.
type sideAnswer struct {
	sideQuestion
	from *sideQuestions // only its fields that never change
}

// write answers the question: from the state of the run, by its words, or with a model.
func (a *sideAnswer) write(ctx context.Context) event.ChatSide {
	begun := a.from.workers.now()
	end := a.answer(ctx)
	if end.MS == 0 {
		end.MS = max(a.from.workers.now().Sub(begun).Milliseconds(), 0)
	}
	if context.Cause(ctx) != nil && end.Status != event.StatusCompleted {
		end.Status, end.Error = event.StatusCanceled, untrusted.Text(interruption(ctx).Error())
		if errors.Is(context.Cause(ctx), errSideCanceled) {
			end.Error = untrusted.Text(errSideCanceled.Error())
		}
	}
	return end
}

func (a *sideAnswer) answer(ctx context.Context) event.ChatSide {
	if err := a.readRun(); err != nil {
		return a.failed(event.StatusFailed, "the run that it is about cannot be read: "+err.Error())
	}
	if a.from.supplies.routing.Planner.ByWords() {
		if text, ok := agent.AnswerAbout(a.about, a.text); ok {
			end := a.blank()
			end.Text, end.Status = untrusted.Text(text), event.StatusCompleted
			return end
		}
	}
	started, err := a.prepare(ctx)
	if err != nil {
		return a.failed(event.StatusFailed, err.Error())
	}
	return a.carryOut(ctx, started)
}

// readRun reads the run that has ended.
func (a *sideAnswer) readRun() error {
	if a.ended == "" {
		return nil
	}
	events, err := a.from.supplies.archive.store.ReadRun(a.ended)
	if err != nil {
		return err
	}
	run := agent.NewRun(nil)
	for _, e := range events {
		if err := run.Apply(e); err != nil {
			return err
		}
	}
	a.about, a.read = run.About(), append(a.read, run.Read()...)
	return nil
}

// prepare returns the event that starts the run of the question: a chain that its words mean
// and that only reads, else one turn of a chat.
func (a *sideAnswer) prepare(ctx context.Context) (started event.RunStarted, err error) {
	from := a.from.supplies
	info, err := from.model.Describe(ctx, a.config.model)
	var noModel error
	if errors.Is(err, prompt.ErrNoModel) && ctx.Err() == nil {
		info, noModel, err = prompt.ModelInfo{}, err, nil
	}
	if err != nil {
		return started, err
	}
	within, cancel := context.WithTimeout(ctx, from.goalWithin)
	all, _ := from.tools.ReadyFor(within, []string{everyTool})
	cancel()
	catalog := a.config.offered(all)
	started = event.RunStarted{
		Goal: untrusted.Text(a.text), Model: info.Name, Limits: a.limits, Rules: a.rules, Catalog: catalog, Workspace: a.from.workspace,
		Routing: a.config.routing(from.routing, a.facts(ctx)), Attended: true, InDoubt: event.DoubtAbort, OnFailure: plan.OnFailureAbort,
		Read: plan.Newest(a.read),
	}
	chain, routed, unclear := agent.Route(started.Routing, a.text, catalog, info.Name != "")
	effect := slices.IndexFunc(catalog, func(t plan.Tool) bool { return !t.ReadOnly && t.Trusted && slices.Contains(chain.Tools(), t.Name) })
	switch {
	case routed && effect < 0:
		started.Routing.Planner = event.PlannerRouter
		a.about = prompt.About{}
		started.Prompting = a.prompting(info, catalog)
		return started, nil
	case noModel != nil && routed:
		return started, fmt.Errorf("a side question only reads, and this would call %s: send it as a goal", catalog[effect].Name)
	case noModel != nil && unclear != nil:
		return started, fmt.Errorf("%w %w. %s", unclear, noModel, askWithoutModel)
	case noModel != nil:
		return started, fmt.Errorf("%w. %s", noModel, askWithoutModel)
	}
	started.Routing.Planner = event.PlannerNone
	started.Prompting = a.prompting(info, catalog)
	started.Prompting.About = &a.about
	return started, nil
}

// askWithoutModel lists what a side question can ask without a model.
const askWithoutModel = "Without a model you can ask: what failed, why did step 3 fail, how far is it, what changed, what is X, where is X used"

// facts searches the workspace for the names in the question.
func (a *sideAnswer) facts(ctx context.Context) (facts intent.Facts) {
	if survey := a.from.supplies.survey; survey != nil && a.from.supplies.routing.Planner.ByWords() {
		facts = survey(ctx, a.text)
	}
	return facts
}

// prompting returns what shapes the requests. They begin with what the requests of runs begin
// with, so that the server of the model has read that. By itself a model does not think first.
func (a *sideAnswer) prompting(info prompt.ModelInfo, catalog plan.Catalog) prompt.Prompting {
	prompting := a.config.prompting
	prompting.Think = cmp.Or(prompting.Think, prompt.ThinkOff)
	prompting = prompting.DrivenBy(info)
	prompting.ContextWindow, prompting.ModelTools, prompting.Vision, prompting.WritesCalls = info.ContextWindow, info.Tools, info.Vision, info.WritesCalls
	prompting.ReadSpeed, prompting.BytesPerToken = info.Speed.Read, cmp.Or(prompting.BytesPerToken, info.BytesPerToken)
	prompting.Models, prompting.Mentions, prompting.PlanTools, prompting.ForcePlan = prompt.Models{}, nil, false, false
	prompting.Servers = instructions(a.from.supplies.tools.Status(), catalog)
	return prompting
}

// carryOut carries out the run of the question, and tells how far it is.
func (a *sideAnswer) carryOut(ctx context.Context, started event.RunStarted) event.ChatSide {
	w, arrivals := a.from.workers, make(chan workerEvents, 64)
	var e *engine
	var shown string
	e = newEngine(engineParts{
		id: fmt.Sprintf("%s-side-%d", a.from.session, a.id), journal: noJournal{}, run: agent.NewRun(nil), prompting: started.Prompting,
		model: w.model, tools: w.tools, admit: w.admit, log: w.log, now: w.now, arrivals: arrivals, crashed: w.crashed, warnings: new(warnings),
		publish: func(event.Event) {
			progress := a.progress(e.current())
			if key := fmt.Sprint(len(progress.Text), progress.Thinking, progress.Calls); key != shown {
				shown = key
				a.from.background.publishLater(progress)
			}
		},
	})
	new(Job).carryOut(ctx, e, arrivals, started) // which denies what a rule would ask about
	run := e.current()
	end := a.progress(run).ChatSide
	used, took := e.spent()
	end.Usage, end.MS = used, max(took.Milliseconds(), 1)
	if problem := e.problem(); problem != nil {
		end.Status, end.Error = event.StatusFailed, untrusted.Text(problem.Error())
		return end
	}
	end.Status, end.Error = run.Result.Status, run.Result.Error
	switch {
	case run.Result.Answer != "":
		end.Text = run.Result.Answer
	case end.Status == event.StatusCompleted:
		end.Text = untrusted.Text(run.Results())
	}
	return end
}

// progress tells how far the answer of a run is.
func (a *sideAnswer) progress(run *agent.Run) session.SideProgress {
	p := session.SideProgress{ChatSide: a.blank(), Model: untrusted.Text(run.Model)}
	p.Text, p.Usage = untrusted.Text(run.Synthesis.Text), run.Usage
	p.Thinking = p.Text == "" && run.Synthesis.Thinking != ""
	calls := run.Steps
	if run.Chat != nil {
		calls = run.Chat.Calls
	}
	for _, call := range calls {
		made := event.SideCall{Tool: call.Step.Tool, Args: call.Args, Error: call.Error, Done: call.Status.Ended()}
		if made.Args == nil {
			made.Args = call.Step.Args
		}
		if call.Attempt > 0 || made.Done {
			p.Calls = append(p.Calls, made)
		}
	}
	return p
}
