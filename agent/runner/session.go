package runner

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"replan/agent/event"
	"replan/agent/runner/intake"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/intent"
	"replan/planning/prompt"
)

// Session is a conversation and the runs it starts, one at a time. A single
// goroutine owns it: commands go in, one ordered stream of events comes out. Each of its
// parts owns its data; the session passes them commands and what workers send.
type Session struct {
	serverLogs
	id       string
	stream   chan event.Event
	requests chan request
	done     chan struct{}
	cancel   context.CancelFunc

	// What workers send.
	arrivals     chan workerEvents // unbuffered: once a run's workers are gone, all their events were received
	endedRuns    chan *activeRun
	planCalls    chan *child // runs requested by plan tools
	stoppedCalls chan *child // those of planCalls that were stopped
	serverWaits  chan serverWait
	preparedJobs chan preparedJob
	results      chan func()
	newStatus    chan struct{} // of the servers of tools

	events       *publisher
	background   *background
	input        *input
	pictures     pictures
	intake       *intake.Intake
	starter      *starter
	runs         *runs
	children     *children
	answers      *answers
	rules        *rulebook
	gates        *serverGates
	conversation *conversation
	account      *account
	measurements *measurements
	overview     *overview
	settings     *settings
	chooser      *chooser
	saver        *saver
	scout        *scout
	warmer       *warmer
	installer    *installer
	servers      *servers
	changes      *changes
	undoer       *undoer
	sides        *sideQuestions

	sources  sources
	supplies supplies
	slash    func(ctx context.Context, line string, now SlashState) (Answer, error) // nil knows no commands
	restored *Restored                                                              // nil in a new session

	idle bool // nothing is underway, so the user may be about to type a goal
}

// request is a message to the goroutine that owns the session; exactly one field
// is set.
type request struct {
	command session.Command
	query   func(ctx context.Context)
}

// NewSession starts a session. The caller must read its events until the channel
// closes, which happens after Close or when ctx ends.
func NewSession(ctx context.Context, cfg Config) (*Session, error) {
	cfg = cfg.completed()
	s := &Session{
		stream: make(chan event.Event, 64), requests: make(chan request, 64), done: make(chan struct{}),
		arrivals: make(chan workerEvents), endedRuns: make(chan *activeRun), planCalls: make(chan *child), stoppedCalls: make(chan *child),
		serverWaits: make(chan serverWait), preparedJobs: make(chan preparedJob), results: make(chan func()), newStatus: make(chan struct{}, 1), idle: true,
	}
	var err error
	if s.settings, err = newSettings(cfg.Prompting, cfg.Profiles, cfg.Profile, cfg.Review); err != nil {
		return nil, fmt.Errorf("start a session: %w", err)
	}
	journal := Journal(nil)
	if cfg.Restored != nil {
		s.id, journal = cfg.Restored.ID, cfg.Restored.Journal
		s.restored = cfg.Restored
	} else {
		s.id = "s-" + cfg.NewID(cfg.Now())
		if journal, err = cfg.Store.CreateJournal("session", s.id); err != nil {
			return nil, fmt.Errorf("start a session: %w", err)
		}
	}
	s.assemble(cfg, journal)
	ctx, s.cancel = context.WithCancel(ctx)
	s.serverLogs = serverLogs{cfg.Tools, ctx}
	go s.loop(ctx)
	return s, nil
}

// assemble makes the parts of the session. Each knows only those made before it; calls of
// plan tools alone go the other way.
func (s *Session) assemble(cfg Config, journal Journal) {
	s.events = &publisher{session: s.id, journal: journal, out: s.stream, now: cfg.Now, log: cfg.Logger}
	s.background = &background{events: s.events, results: s.results}
	s.input = &input{help: cfg.InputHelp, events: s.events, background: s.background, log: cfg.Logger}
	s.pictures = newPictures(cfg.Model, journal, cfg.Logger)
	s.conversation, s.measurements = &conversation{}, newMeasurements()
	s.account = &account{each: cfg.Limits, limits: cfg.SessionLimits}
	s.rules = &rulebook{workspace: cfg.Workspace, trusted: cfg.Trusted, delegated: cfg.Delegated, saves: cfg.Remember, rules: cfg.Rules}
	s.saver = &saver{events: s.events, background: s.background, log: cfg.Logger, do: cfg.SaveSetting}
	s.gates = &serverGates{events: s.events, tools: cfg.Tools}
	s.overview = &overview{
		events: s.events, background: s.background, tools: cfg.Tools, branch: cfg.Branch, dirty: cfg.Dirty, routing: cfg.Routing,
		settings: s.settings, conversation: s.conversation, measurements: s.measurements, account: s.account, troubles: map[string]string{},
		status: session.Status{Workspace: untrusted.Text(cfg.Workspace), Instructions: untrusted.Text(cfg.Instructions), Host: untrusted.Text(cfg.Host)},
	}
	s.warmer = &warmer{
		model: cfg.Model, survey: cfg.Survey, unasked: cfg.Warm, now: cfg.Now, log: cfg.Logger,
		background: s.background, overview: s.overview, warming: map[string]bool{}, stop: func() {},
	}
	s.scout = &scout{model: cfg.Model, tools: cfg.Tools, within: cfg.ReadyWithin, background: s.background, overview: s.overview, warmer: s.warmer}
	s.chooser = &chooser{events: s.events, background: s.background, model: cfg.Model, settings: s.settings, overview: s.overview, warmer: s.warmer, saver: s.saver}
	s.installer = &installer{model: cfg.Model, now: cfg.Now, events: s.events, background: s.background, overview: s.overview, scout: s.scout, cancel: func() {}}
	s.servers = &servers{events: s.events, background: s.background, tools: cfg.Tools, overview: s.overview}
	s.changes = &changes{events: s.events, background: s.background, overview: s.overview, conversation: s.conversation, copy: cfg.Copy}
	s.undoer = &undoer{events: s.events, background: s.background, overview: s.overview, conversation: s.conversation, do: cfg.Undo}
	past := archive{cfg.Store, cfg.Workspace, cfg.EndLeft}
	shown := experience{cfg.Store, cfg.Workspace, cfg.DryRun, cfg.Logger}
	workers := workerParts{cfg.Model, cfg.Tools, cfg.Admit, cfg.Crashed, cfg.Now, cfg.Logger}
	s.runs = &runs{
		terms: runTerms{
			workspace: cfg.Workspace, approve: cfg.Approve, attended: cfg.Attended, reviewer: cfg.Reviewer, inDoubt: cfg.InDoubt,
			requireVerified: cfg.RequireVerified, dryRun: cfg.DryRun,
		},
		workers: workers,
		store:   cfg.Store, copy: cfg.Copy, experience: shown, newRunID: func() string { return cfg.NewID(cfg.Now()) },
		events: s.events, background: s.background, rules: s.rules, settings: s.settings, arrivals: s.arrivals, ended: s.endedRuns, session: s.id,
	}
	s.children = &children{store: cfg.Store, archive: past, runs: s.runs, account: s.account, requested: s.planCalls, stopped: s.stoppedCalls}
	s.runs.usePlanTool(s.children.call)
	s.answers = &answers{events: s.events, background: s.background, runs: s.runs, rules: s.rules, browse: cfg.OpenPage}
	s.starter = &starter{
		terms:  startTerms{cfg.Routing, cfg.OnFailure, cfg.Raise, cfg.Copy, cfg.Tools.Status, cfg.DryRun, cfg.Now},
		events: s.events, overview: s.overview, conversation: s.conversation, account: s.account, warmer: s.warmer, rules: s.rules, runs: s.runs,
	}
	s.intake = intake.New(cfg.InputHelp != nil)
	s.slash = cfg.Slash
	s.sources = sources{cfg.Store, cfg.Model, cfg.Tools, cfg.Settings, cfg.InputHelp}
	s.supplies = supplies{
		model: cfg.Model, tools: cfg.Tools, copy: cfg.Copy, archive: past, experience: shown, survey: cfg.Survey, dirty: cfg.Dirty, routing: cfg.Routing,
		attended: cfg.Attended, dryRun: cfg.DryRun, log: cfg.Logger, readyWithin: cfg.ReadyWithin, goalWithin: cfg.GoalWithin,
	}
	s.sides = &sideQuestions{
		session: s.id, supplies: s.supplies, workers: workers, workspace: cfg.Workspace, events: s.events, background: s.background,
		overview: s.overview, conversation: s.conversation, account: s.account, rules: s.rules, warmer: s.warmer, runs: s.runs,
	}
}

// ID returns the session's id, which is also the run id of its own events.
func (s *Session) ID() string { return s.id }

// Events returns the stream of all events.
func (s *Session) Events() <-chan event.Event { return s.stream }

// Send passes a command to the session. It does not wait for the effect. After
// the session has ended it does nothing.
func (s *Session) Send(c session.Command) {
	select {
	case s.requests <- request{command: c}:
	case <-s.done:
	}
}

// Close stops the current run and its children. It waits until they have exited
// and the journals are closed; events must still be read meanwhile.
func (s *Session) Close() {
	s.cancel()
	<-s.done
}

// loop owns the session until ctx ends and everything it started has stopped.
func (s *Session) loop(ctx context.Context) {
	defer close(s.done)
	defer close(s.stream)
	s.sources.tools.Watch(func() {
		select {
		case s.newStatus <- struct{}{}:
		default:
		}
	})
	s.replay()
	s.input.publishHistory()
	s.scout.discover(ctx)
	s.gates.ask(false)
	for {
		select {
		case r := <-s.requests:
			if r.query != nil {
				r.query(ctx)
			} else {
				s.command(ctx, r.command)
			}
		case a := <-s.arrivals:
			s.runs.arrived(a, s.arrivals)
		case r := <-s.endedRuns:
			s.closed(ctx, r)
			if !s.busy() {
				s.changes.offer(ctx, false)
			}
			s.proceed(ctx)
			s.gates.ask(s.busy() || s.intake.Waits())
		case k := <-s.planCalls:
			s.children.spawn(ctx, k)
		case k := <-s.stoppedCalls:
			s.children.recall(k)
		case w := <-s.serverWaits:
			s.intake.Await(w.servers, w.skip)
		case p := <-s.preparedJobs:
			s.starter.begin(ctx, p, s.intake.Prepared())
		case then := <-s.results:
			then()
		case <-s.newStatus:
			s.overview.publishStatus()
			s.gates.ask(s.busy() || s.intake.Waits())
		case <-ctx.Done():
			s.shutDown(ctx)
			return
		}
		s.proceed(ctx)
	}
}

// replay rebuilds the conversation of a continued session from its journal, and shows it.
func (s *Session) replay() {
	if s.restored == nil {
		return
	}
	for _, e := range s.restored.Events {
		s.events.continueAfter(e)
		s.account.replay(e.Data)
		s.sides.replay(e.Data)
		if s.conversation.replay(e.Data) {
			s.events.deliver(e)
		}
	}
	s.conversation.replayed()
}

// shutDown stops the current runs and handles the last events of their workers.
func (s *Session) shutDown(ctx context.Context) {
	s.sources.tools.Watch(nil)
	s.intake.Clear()
	s.chooser.clear()
	s.runs.stop(interruption(ctx))
	s.saveLast()
	for s.runs.any() {
		select {
		case a := <-s.arrivals:
			s.runs.arrived(a, s.arrivals)
		case r := <-s.endedRuns:
			s.closed(ctx, r)
		case k := <-s.planCalls:
			k.refuse(errInterrupted)
		case k := <-s.stoppedCalls:
			s.children.recall(k)
		case <-s.results: // so that settings are saved meanwhile
		}
	}
	idle := s.background.ended()
	for waiting := true; waiting; {
		select {
		case p := <-s.preparedJobs:
			p.drop()
		case <-s.serverWaits:
		case <-s.results:
		case <-idle:
			waiting = false
		}
	}
	s.events.close()
}

// saveLast saves the last choices before the session ended.
func (s *Session) saveLast() {
	for {
		select {
		case r := <-s.requests:
			if c, ok := r.command.(session.SaveSetting); ok && s.saver.saves() {
				s.saver.save(c.Key, c.Value, false)
			}
		default:
			return
		}
	}
}

// command routes a command to the part that carries it out.
func (s *Session) command(ctx context.Context, c session.Command) {
	switch c := c.(type) {
	case session.Submit:
		s.submit(ctx, c.Text)
	case session.Create:
		s.intake.Add(intake.Job{Goal: prompt.Unescaped(c.Goal), Typed: c.Goal, Create: true, Run: c.Run})
	case session.Execute:
		s.intake.Add(intake.Job{Goal: string(c.Plan.Goal), Execute: &c})
	case session.Resume:
		s.intake.Add(intake.Job{Resume: c.Run})
	case session.Compact:
		s.intake.Add(intake.Job{Compact: !c.Undo, Restore: c.Undo})
	case session.Unqueue:
		s.unqueue(c)
	case session.SkipServers:
		s.intake.SkipServers()
	case session.Steer:
		if text := strings.TrimSpace(c.Text); strings.HasPrefix(text, "/") || intent.IsCommandLine(text) || !s.runs.steer(text, c.By) {
			s.submit(ctx, c.Text)
		} else {
			s.input.record(c.Text)
		}
	case session.Stop:
		s.stop(fmt.Errorf("stopped by %s", cmp.Or(c.By, theUser)))
	case session.Cancel:
		if !s.runs.cancel(c.Run, c.Step, fmt.Errorf("canceled by %s", cmp.Or(c.By, theUser))) {
			s.events.note("info", "step "+c.Step+" is not running")
		}
	case session.Resolve:
		if c.Run == s.id {
			s.gates.answer(ctx, c)
		} else {
			s.answers.give(c)
		}
	case session.Edit, session.Review, session.ResolveDoubt, session.AnswerElicitation:
		s.answers.give(c)
	case session.ResolveFailure:
		if decision, ended := s.answers.decide(c); ended {
			s.intake.Add(intake.Job{Resume: c.Run, Decided: decision})
		}
	default:
		s.beside(ctx, c)
	}
}

// beside routes a command that is about no goal and no run in progress.
func (s *Session) beside(ctx context.Context, c session.Command) {
	switch c := c.(type) {
	case session.Choose:
		s.chooser.choose(ctx, c)
	case session.Hold:
		s.chooser.hold(c.On)
	case session.SaveSetting:
		s.saver.save(c.Key, c.Value, true)
	case session.Warm:
		s.warmer.warm(ctx)
	case session.Undo:
		s.undoer.undo(ctx, c, s.undoRefused(c, false))
	case session.ShowChanges:
		s.changes.offer(ctx, true)
	case session.SettleChanges:
		s.changes.settle(ctx, c.Choice, s.busy())
	case session.AskAboutChanges:
		s.gates.askAboutChanges(c.Server)
	case session.AskSideQuestion, session.CancelSideQuestion:
		s.sides.command(ctx, c)
	case session.Recheck:
		s.servers.command(ctx, c)
		s.scout.discover(ctx)
	case session.Pull, session.CancelPull, session.Remove, session.StartModelServer, session.CancelStart:
		s.installer.command(ctx, c, s.busy())
	default:
		s.servers.command(ctx, c)
	}
}

// submit takes what the user typed: a goal, or a line that begins with a slash.
func (s *Session) submit(ctx context.Context, typed string) {
	s.input.record(typed)
	text := strings.TrimSpace(typed)
	switch {
	case strings.HasPrefix(text, "/") && s.slash != nil:
	case !s.busy() && s.intake.Idle() && s.sides.answersGoal(text):
		s.sides.answerGoal(text)
		return
	default:
		s.intake.Add(intake.Words(text))
		return
	}
	_ = s.events.publish(event.ChatUser{Text: untrusted.Text(text)})
	t := s.overview.jobConfig()
	now := SlashState{Model: t.model, Think: t.prompting.Think, Busy: s.busy()}
	s.background.run(func() func() {
		answer, err := s.slash(ctx, text, now)
		return func() {
			switch {
			case err != nil:
				_ = s.events.publish(failedReply(event.ReasonNotOpened, err.Error()))
			case answer.Text != "" || answer.Then == nil:
				_ = s.events.publish(event.ChatReply{Text: untrusted.Text(answer.Text)})
			}
			if answer.Then != nil {
				s.command(ctx, answer.Then)
			}
		}
	})
}

// busy reports whether a run is in progress or about to start.
func (s *Session) busy() bool { return s.runs.any() || s.intake.Preparing() || s.changes.pending() }

// undoRefused returns why a run cannot be undone or redone now, "" if it can. A preview
// changes nothing, so other runs do not block it.
func (s *Session) undoRefused(c session.Undo, preview bool) string {
	return s.undoer.refused(c, s.runs.find(c.Run) != nil, s.busy() && !preview)
}

// proceed does what the intake asks for, until it has to wait.
func (s *Session) proceed(ctx context.Context) {
	s.sides.next(ctx)
	for {
		free := !s.runs.any() && !s.changes.pending() && !s.chooser.looking()
		within, step := s.intake.Next(ctx, free)
		switch step.Action {
		case intake.Show:
			_ = s.events.publish(s.intake.Queue())
		case intake.Read:
			s.read(within, step.Job)
		case intake.Prepare:
			s.prepare(within, step.Job)
		case intake.Restore:
			s.restoreConversation()
		default:
			s.warmer.occupied(s.busy())
			was := s.idle
			if s.idle = free && s.intake.Idle(); s.idle && !was {
				s.warmer.expect(ctx)
			}
			return
		}
	}
}

// read reads what a job mentions, or returns the job to the user.
func (s *Session) read(ctx context.Context, j intake.Job) {
	model := s.settings.model()
	s.background.run(func() func() {
		mentions, err := s.input.mentions(ctx, j.Typed)
		if err == nil {
			mentions, err = s.pictures.take(ctx, model, mentions)
		}
		return func() {
			if s.intake.TakeMentions(mentions, err, s.busy()); err != nil {
				_ = s.events.publish(session.Returned{Text: j.Typed, Reason: untrusted.Text(err.Error())})
			}
		}
	})
}

// prepare gets what a job needs, once the user has decided whether the project's servers
// may start.
func (s *Session) prepare(ctx context.Context, j intake.Job) {
	if j.Words != "" {
		_ = s.events.publish(event.ChatUser{Text: untrusted.Text(j.Words), Mentions: j.Mentions})
	}
	s.warmer.stopReading()
	_ = s.events.publish(s.intake.Queue())
	answered := s.gates.awaited()
	if j.Compact {
		answered = nil // it needs no tools
	}
	p := newPreparation(s.supplies, s.background, s.serverWaits, j, s.overview.jobConfig())
	s.background.run(func() func() {
		if answered != nil {
			select {
			case <-answered:
			case <-ctx.Done():
			}
		}
		s.preparedJobs <- p.gather(ctx)
		return nil
	})
}

// restoreConversation puts back the messages that the last summary replaced.
func (s *Session) restoreConversation() {
	_ = s.events.publish(s.intake.Queue())
	if !s.conversation.summarized() {
		s.events.note("info", "the conversation was not summarized: nothing to restore")
	} else {
		prompting := s.overview.jobConfig().prompting
		before := prompt.ConversationTokens(prompting, s.conversation.history())
		restored := s.conversation.restore()
		restored.Before, restored.After = before, prompt.ConversationTokens(prompting, s.conversation.history())
		_ = s.events.publish(restored)
		s.overview.weigh()
	}
	_ = s.intake.Prepared()
	_ = s.events.publish(s.intake.Queue())
	s.idle = false // what the next request begins with has changed
}

// unqueue removes a job that still waits in the queue.
func (s *Session) unqueue(c session.Unqueue) {
	j, found := s.intake.Remove(c.ID)
	if !found {
		return
	}
	_ = s.events.publish(s.intake.Queue())
	if c.Back && j.Words != "" {
		_ = s.events.publish(session.Returned{Text: j.Words})
	}
}

// theUser is who stops a run or cancels a step, unless another user is named.
const theUser = "the user"

// stop stops what is underway, and empties the queue.
func (s *Session) stop(why error) {
	queued, unread := s.intake.Stop()
	if len(queued) > 0 {
		var names []string
		for _, j := range queued {
			names = append(names, j.Name())
		}
		s.events.note("info", "no longer queued: "+strings.Join(names, "; "))
		_ = s.events.publish(s.intake.Queue())
	}
	for _, j := range unread {
		_ = s.events.publish(session.Returned{Text: j.Typed, Reason: "stopped before it started"})
	}
	s.chooser.cancel()
	s.runs.stop(why)
}

// closed takes a run whose workers have stopped out of the session, and passes on what it
// has shown. Remarks that it did not take go to another current run, or become the next
// goal.
func (s *Session) closed(ctx context.Context, r *activeRun) {
	s.runs.remove(r)
	if r.askedModel() {
		s.warmer.worked(r.run().Now)
	}
	s.measurements.add(r.run())
	s.overview.findBranch(ctx)
	if r.inner() {
		r.finishCall()
	} else {
		reply := r.reply()
		s.account.spend(*reply.Usage, reply.MS)
		s.sides.remember(reply)
		s.conversation.turn(string(r.run().Goal), r.mentions(), reply)
		s.overview.weigh() // first, so that a reader of the reply sees the size that includes it
		_ = s.events.publish(reply)
	}
	for _, text := range r.remarks() {
		if !s.runs.steer(text, "") {
			s.intake.Append(intake.Words(text))
			s.events.note("info", "the run ended before it arrived, so it is the next goal: "+text)
		}
	}
}
