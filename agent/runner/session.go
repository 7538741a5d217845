package runner

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/rule"
	"replan/agent/session"
	"replan/planning/intent"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// Config is what a session works with.
type Config struct {
	Model         Model
	Tools         Tools
	Workspace     string // absolute path of the folder it works in
	Trusted       bool   // the user trusts the workspace: its tests may run
	Limits        event.Limits
	SessionLimits event.SessionLimits // of all runs of the session together
	Rules         []rule.Rule         // flags first, then the configuration's; the built-in ones follow
	Prompting     prompt.Prompting    // but for the conversation, which the session keeps
	Profiles      []Profile           // that the user may choose from
	Profile       string              // of these, the one to begin with; "" is none
	Instructions  string              // the file that the project's instructions come from, to be shown
	Routing       event.Routing       // who plans a goal, and how its words do
	// Survey looks through the workspace for what a goal names; nil knows nothing.
	Survey  func(ctx context.Context, goal string) intent.Facts
	Approve policy.Approve // how gates are answered; the zero value asks
	Store   Store          // must not be nil
	// EndLeft ends a process group of a run that is taken up again, whose program
	// was killed, where it still runs, and says so; "" where it does not. nil ends none.
	EndLeft func(ctx context.Context, left event.StepProcess) string
	// Remember saves a rule that the user allowed for always, so that it holds in
	// later sessions too; nil offers none.
	Remember func(event.Always) error
	// Undo puts back what a run changed, or with dry says what it would do; nil
	// keeps nothing to put back. Why it does not is in what it returns.
	Undo func(ctx context.Context, run string, dry bool) (event.Undo, error)
	// Dirty counts the files of the workspace with changes that are not committed,
	// 0 where that is not known; nil does not look.
	Dirty func(ctx context.Context) int
	// Branch is the branch that the workspace is on, "" where that is not known;
	// nil does not look.
	Branch func() string
	Host   string // of the model server, to be shown
	// Settings says what is in force and where it comes from; nil shows nothing.
	Settings func() session.Settings
	// Slash carries out a line that begins with a slash, such as /plan list.
	Slash func(ctx context.Context, line string, now Moment) (Answer, error)
	// Aids help the user write; nil helps with nothing.
	Aids Aids
	// Restored is the session to go on with; nil starts a new one.
	Restored *Restored

	Attended  bool                            // somebody is there to be asked, about doubts and failed steps too
	InDoubt   event.DoubtDecision             // the answer to steps in doubt where nobody is to be asked; "" is abort
	OnFailure plan.OnFailure                  // what a failed step of a goal's plan does that says nothing of its own; "" is the planner's word, else replan
	Raise     func(event.Limits) event.Limits // what a resume makes of the limits in the journal; nil keeps them
	Review    bool                            // plans are held to be looked over before they run
	Reviewer  bool                            // somebody is there to look them over; else a held plan is refused
	DryRun    bool                            // steps are resolved and told, nothing is called
	// ReadyWithin bounds how long a run waits for servers whose tools its plan
	// names, GoalWithin how long a goal waits for servers that it may need. 0 means
	// 10 s and 2 s.
	ReadyWithin, GoalWithin time.Duration

	NewID  func(now time.Time) string
	Now    func() time.Time // nil means time.Now
	Logger *slog.Logger     // nil means none
}

// Profile is a way for a session to work, which the user may choose.
type Profile struct {
	Name        string
	Description string           // one line
	Model       string           // "" is the session's
	Tools       []string         // patterns of the tools on offer, see prompt.Profile; nil is every tool
	BuiltIn     bool             // nobody wrote it: its patterns may fit nothing
	Prompting   prompt.Prompting // in place of the session's
}

// Moment is how a session stands when a slash command is typed.
type Moment struct {
	Model string            // that answers from the next run on, by the name it was chosen by; "" is the server's choice
	Think prompt.ThinkLevel // the same
	Busy  bool              // a run goes on, or is about to
}

// Answer is what a slash command came to.
type Answer struct {
	Text string  // Markdown, shown in the chat; "" shows nothing
	Then Command // what is to be done next: Create, Execute or Resume; nil is nothing
}

// Restored is a session that is gone on with.
type Restored struct {
	ID      string
	Journal Journal       // open, with Events in it
	Events  []event.Event // what has been said so far
}

// Session is a conversation and the runs it starts, one at a time. One
// goroutine owns all of it; commands go in, one ordered stream of events comes
// out.
type Session struct {
	cfg      Config
	id       string
	events   chan event.Event
	requests chan request
	done     chan struct{}
	cancel   context.CancelFunc

	arrivals chan arrival // unbuffered: when a run's workers have gone, all they brought was taken
	prepared chan prepared
	outcomes chan outcome
	changed  chan struct{}
	gone     chan *engine
	asked    chan *child    // runs that plan tools ask for
	unwanted chan *child    // of those, the ones whose call was stopped
	workers  sync.WaitGroup // of the session itself

	journal      Journal
	seq          uint64
	conversation conversation
	queue        []job
	jobs         int                // that were put so far, which numbers them
	admitting    []job              // whose mentions are read, or that came behind such
	reading      context.CancelFunc // ends the reading for the first of them; nil where nothing is read
	engines      []*engine          // the run that goes on, and behind it those that its plan tools started
	preparing    context.CancelFunc // a run is being prepared
	account      account
	status       session.Status
	selection    selection
	choices      []Choose           // that wait for the first of them to be looked into
	doing        string             // what is got ready, in a few words; "" is nothing
	awaited      []string           // the servers that it waits for
	choosing     context.CancelFunc // ends the look; nil where there is none
	catalogue    plan.Catalogue     // as it was seen last
	modelUse     modelUse
	gate         string            // the open gate of the session itself
	gates        int               // gates the session has opened
	answered     chan struct{}     // closed when that gate is answered; nil where there is none
	troubles     map[string]string // what was said of each server and profile
}

// request is what somebody asks of the goroutine that owns the session: one of
// the two.
type request struct {
	command Command
	query   func(ctx context.Context)
}

// outcome is what a worker of the session came to, or has come to so far. The
// owner tells the events, then calls finish, then carries out next; each may be
// missing.
type outcome struct {
	events  []event.Data
	awaited []string // the servers that the job in preparation waits for
	finish  func()
	next    Command
}

// preparation is what the workers of a session work with: what it was configured
// with, and the way to its owner. They see nothing of what the owner keeps.
type preparation struct {
	cfg      *Config
	workers  *sync.WaitGroup
	outcomes chan<- outcome
}

func (s *Session) preparation() preparation {
	return preparation{cfg: &s.cfg, workers: &s.workers, outcomes: s.outcomes}
}

// NewSession starts a session. Its events must be read until the channel is
// closed, which it is after Close or when ctx ends.
func NewSession(ctx context.Context, cfg Config) (*Session, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.ReadyWithin, cfg.GoalWithin = cmp.Or(cfg.ReadyWithin, 10*time.Second), cmp.Or(cfg.GoalWithin, 2*time.Second)
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Session{
		cfg: cfg, events: make(chan event.Event, 64), requests: make(chan request, 64), done: make(chan struct{}),
		arrivals: make(chan arrival), prepared: make(chan prepared), outcomes: make(chan outcome),
		changed: make(chan struct{}, 1), gone: make(chan *engine), asked: make(chan *child), unwanted: make(chan *child),
		status:   session.Status{Workspace: cfg.Workspace, Instructions: cfg.Instructions, Host: cfg.Host},
		troubles: map[string]string{}, modelUse: modelUse{bytesPerToken: map[string]float64{}, warming: map[string]bool{}},
		account: account{limits: cfg.SessionLimits},
	}
	var err error
	if s.selection.profile, err = s.profile(cfg.Profile); err != nil {
		return nil, fmt.Errorf("start a session: %w", err)
	}
	if cfg.Restored != nil {
		s.id, s.journal = cfg.Restored.ID, cfg.Restored.Journal
	} else {
		s.id = "s-" + cfg.NewID(cfg.Now())
		if s.journal, err = cfg.Store.CreateJournal("session", s.id); err != nil {
			return nil, fmt.Errorf("start a session: %w", err)
		}
	}
	ctx, s.cancel = context.WithCancel(ctx)
	go s.loop(ctx)
	return s, nil
}

// ID is the session's id, the run of its own events.
func (s *Session) ID() string { return s.id }

// Events is the stream of everything that happens.
func (s *Session) Events() <-chan event.Event { return s.events }

// Send gives the session a command. It does not wait for its effect, and after
// the end of the session it does nothing.
func (s *Session) Send(c Command) {
	select {
	case s.requests <- request{command: c}:
	case <-s.done:
	}
}

// Close stops what is running, with its children, and waits until all of it has
// gone and the journals are closed. Events must still be read meanwhile.
func (s *Session) Close() {
	s.cancel()
	<-s.done
}

// loop owns the session until ctx ends and everything it started has gone.
func (s *Session) loop(ctx context.Context) {
	defer close(s.done)
	defer close(s.events)
	s.cfg.Tools.Watch(func() {
		select {
		case s.changed <- struct{}{}:
		default:
		}
	})
	s.restore()
	s.tellHistory()
	s.look(ctx)
	s.askForServers()
	for {
		select {
		case r := <-s.requests:
			if r.query != nil {
				r.query(ctx)
			} else {
				s.command(ctx, r.command)
			}
		case a := <-s.arrivals:
			s.arrived(a)
		case p := <-s.prepared:
			s.begin(ctx, p)
		case o := <-s.outcomes:
			s.conclude(ctx, o)
		case <-s.changed:
			s.tell()
			s.askForServers()
		case e := <-s.gone:
			s.closed(e)
			s.next(ctx)
		case k := <-s.asked:
			s.spawn(ctx, k)
		case k := <-s.unwanted:
			s.recall(k)
		case <-ctx.Done():
			s.shutDown()
			return
		}
	}
}

// shutDown stops the runs that go on and takes what their workers still bring.
func (s *Session) shutDown() {
	s.cfg.Tools.Watch(nil)
	s.queue, s.choices, s.admitting = nil, nil, nil
	s.halt()
	for len(s.engines) > 0 {
		select {
		case a := <-s.arrivals:
			s.arrived(a)
		case e := <-s.gone:
			s.closed(e)
		case k := <-s.asked:
			k.refuse(errInterrupted)
		case k := <-s.unwanted:
			s.recall(k)
		}
	}
	idle := make(chan struct{})
	go func() { s.workers.Wait(); close(idle) }()
	for waiting := true; waiting; {
		select {
		case p := <-s.prepared:
			p.drop()
		case <-s.outcomes:
		case <-idle:
			waiting = false
		}
	}
	if err := s.journal.Close(); err != nil {
		s.cfg.Logger.Error("close the session's journal", "error", err)
	}
}

// command carries out a command.
func (s *Session) command(ctx context.Context, c Command) {
	switch c := c.(type) {
	case Submit:
		s.keepWords(c.Text)
		text := strings.TrimSpace(c.Text)
		if strings.HasPrefix(text, "/") && s.cfg.Slash != nil {
			s.slash(ctx, text)
			return
		}
		s.admit(ctx, wordsJob(text))
	case Create:
		s.admit(ctx, job{goal: prompt.Unescaped(c.Goal), typed: c.Goal, create: true})
	case Execute:
		s.put(ctx, job{goal: c.Plan.Goal, execute: &c})
	case Resume:
		s.put(ctx, job{resume: c.Run})
	case Resolve:
		s.resolve(ctx, c)
	case Edit:
		s.edit(c)
	case Review:
		s.review(c)
	case Hold:
		s.cfg.Review = c.On
		s.tell()
	case Settle:
		if e := s.running(c.Run); e != nil && e.asks(c.Step, true) {
			e.take([]event.Data{event.DoubtResolved{Step: c.Step, Decision: c.Decision, By: byUser}})
			s.settle(e)
		}
	case Decide:
		s.decide(ctx, c)
	case Cancel:
		e := s.running(c.Run)
		if e == nil || !e.cancel(c.Step) {
			s.tellOf("info", "step "+c.Step+" is not running")
			break
		}
		s.settle(e)
	case Undo:
		s.undoRun(ctx, c.Run)
	case Stop:
		s.stop()
	case Steer:
		if text := strings.TrimSpace(c.Text); strings.HasPrefix(text, "/") || !s.speak(text) {
			s.command(ctx, Submit(c))
			return
		}
		s.keepWords(c.Text)
	case Compact:
		s.put(ctx, job{compact: !c.Undo, undo: c.Undo})
	case Choose:
		s.choices = append(s.choices, c)
		s.choose(ctx)
	case Warm:
		s.warm(ctx)
	case Unqueue:
		s.unqueue(c)
	case Look:
		s.look(ctx)
	case Restart:
		s.restart(c.Server)
	}
}

// byUser says of an answer that the user gave it.
const byUser = "user"

// running returns the run with this id, nil where it does not go on.
func (s *Session) running(id string) *engine {
	for _, e := range s.engines {
		if e.id == id {
			return e
		}
	}
	return nil
}

// busy reports whether a run goes on or is about to.
func (s *Session) busy() bool { return len(s.engines) > 0 || s.preparing != nil }

// decide goes on after a failed step, and resumes the run for it where it has
// ended.
func (s *Session) decide(ctx context.Context, c Decide) {
	resolved := event.FailureResolved{Step: c.Step, Decision: c.Decision, Args: c.Args, By: byUser}
	e := s.running(c.Run)
	switch {
	case e != nil && !e.over():
		if e.asks(c.Step, false) {
			e.take([]event.Data{resolved})
			s.settle(e)
		}
	case c.Decision != event.FailureAbort: // to which it has come already
		s.put(ctx, job{resume: c.Run, decided: &resolved})
	}
}

// speak says something to the run that goes on, the innermost first: what that
// one comes to, the others hear of. It reports whether there was one to hear it.
func (s *Session) speak(text string) bool {
	for _, e := range slices.Backward(s.engines) {
		if e.run.Steerable() {
			e.take([]event.Data{event.RunSteered{Text: text}})
			s.settle(e)
			return true
		}
	}
	return false
}

func (s *Session) stop() {
	if len(s.queue) > 0 {
		var names []string
		for _, j := range s.queue {
			names = append(names, j.name())
		}
		s.tellOf("info", "no longer queued: "+strings.Join(names, "; "))
		s.queue = nil
		s.tellQueue()
	}
	s.dismiss()
	if s.choosing != nil {
		s.choosing()
	}
	if s.preparing != nil {
		s.preparing()
	}
	s.halt()
}

// halt stops the runs that go on, the innermost first: what a run was asked for
// by another is over before that one hears of its end.
func (s *Session) halt() {
	for _, e := range slices.Backward(s.engines) {
		e.stop()
		s.settle(e)
	}
}

// arrived gives runs what their workers brought: all that is there by now, as
// one batch for each.
func (s *Session) arrived(a arrival) {
	for a.engine != nil {
		e := a.engine
		over := e.over()
		batch, other := e.drained(a, s.arrivals)
		e.take(batch)
		if !over {
			s.settle(e)
		}
		a = other
	}
}

// settle answers gates where nobody is to be asked, and sees a run that is over
// to its end.
func (s *Session) settle(e *engine) {
	for _, g := range slices.Clone(e.run.Gates) {
		if decision, ok := s.cfg.Approve.Answer(g.GateRequested); ok && !e.over() {
			e.take([]event.Data{event.GateResolved{
				Gate: g.Gate, Decision: decision, Scope: event.ScopeOnce, By: "--approve " + string(s.cfg.Approve),
			}})
		}
	}
	s.refuseUnseen(e)
	if e.over() && !e.leaving {
		e.leaving = true
		s.workers.Go(func() {
			e.workers.Wait()
			s.gone <- e
		})
	}
}
