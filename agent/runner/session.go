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
	"replan/internal/untrusted"
	"replan/planning/intent"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// Config configures a session.
type Config struct {
	Model Model
	Tools Tools
	// Admit waits until a call of a tool may begin, which calls end when it has ended.
	// The wait is no time of the call. nil admits all at once.
	Admit         func(ctx context.Context, t plan.Tool) (end func(), err error)
	Workspace     string      // absolute path of the working folder
	Copy          WorkingCopy // where runs work; nil is the workspace itself
	Trusted       bool        // the user trusts the workspace, so its tests may run
	Delegated     bool        // goals and plans come from another program, so they let no tests run
	Limits        event.Limits
	SessionLimits event.SessionLimits // for all runs of the session together
	Rules         []rule.Rule         // flags first, then the configuration's; the built-in ones follow
	Prompting     prompt.Prompting    // without the conversation, which the session maintains
	Profiles      []Profile           // for the user to choose from
	Profile       string              // the initial one of Profiles; "" is none
	Instructions  string              // the file with the project's instructions, for display
	Routing       event.Routing       // who plans a goal, and how words alone can
	// Survey searches the workspace for the names in a goal; nil finds nothing. A goal of ""
	// is one that is being typed: it prepares the search for the next goal.
	Survey  func(ctx context.Context, goal string) intent.Facts
	Approve policy.Approve // how gates are answered; the zero value asks
	Store   Store          // must not be nil
	// EndLeft ends the leftover process group of a resumed run whose program was
	// killed. It describes what it ended and returns "" if nothing was running.
	// nil ends nothing.
	EndLeft func(ctx context.Context, left event.StepProcess) string
	// Remember saves a rule that the user always allows, for later sessions; nil
	// disables such rules.
	Remember func(event.Always) error
	// Keep saves a setting that the user chose, for later sessions, and returns the
	// file; "" if it is not saved here. A nil value removes the key. nil saves
	// nothing.
	Keep func(key string, value *string) (file string, err error)
	// Undo reverts the changes of a run, or previews that with dry. The run "" is
	// the newest that changed files here. A refusal is part of the returned event. nil disables undo.
	Undo func(ctx context.Context, run string, dry bool) (event.Undo, error)
	// Dirty counts the files with uncommitted changes in the workspace, 0 if
	// unknown; nil skips the count.
	Dirty func(ctx context.Context) int
	// Branch returns the branch of the workspace, "" if unknown; nil skips the
	// lookup.
	Branch func() string
	Host   string // of the model server, for display
	// Settings returns the settings in force and their sources; nil shows none.
	Settings func() session.Settings
	// Slash carries out a line that begins with a slash, such as /plan list.
	Slash func(ctx context.Context, line string, now SlashState) (Answer, error)
	// InputHelp helps the user write; nil disables it.
	InputHelp InputHelp
	// Restored is the session to continue; nil starts a new one.
	Restored *Restored

	// OpenPage opens a web page in the user's browser; nil if there is none.
	OpenPage func(url string) error

	// Warm warms the model once the tools are known, and after each run: somebody is about
	// to type a goal. Without it only [session.Warm] does.
	Warm            bool
	Attended        bool                            // somebody can answer questions, including those about doubts and failed steps
	InDoubt         event.DoubtDecision             // the answer for steps in doubt if nobody can be asked; "" is abort
	OnFailure       plan.OnFailure                  // default for the failed steps of a goal's plan; "" leaves it to the planner, else replan
	Raise           func(event.Limits) event.Limits // adjusts the journaled limits on resume; nil keeps them
	Review          bool                            // hold plans for review before they run
	Reviewer        bool                            // somebody can review plans; otherwise held plans are refused
	RequireVerified bool                            // a run with less than verified evidence fails
	DryRun          bool                            // resolve and report steps, but call nothing
	// ReadyWithin bounds how long a run waits for servers whose tools its plan
	// names, unless one of them may take longer to start. GoalWithin bounds how long
	// a goal waits for servers that it may need. 0 means [plan.MaxServerWait] and 2 s.
	ReadyWithin, GoalWithin time.Duration

	// Crashed reports a panic of a model, a tool or the core and describes it. Its
	// step, or the run, then fails; nil lets the panic end the program.
	Crashed func(value any, stack []byte) string

	NewID  func(now time.Time) string
	Now    func() time.Time // nil means time.Now
	Logger *slog.Logger     // nil means none
}

// Profile is a set of session settings that the user may choose.
type Profile struct {
	Name        string
	Description string           // one line
	Model       string           // "" is the session's
	Tools       []string         // patterns of the tools on offer, see prompt.Profile; nil is every tool
	BuiltIn     bool             // not written by the user: patterns that match no tool are fine
	Prompting   prompt.Prompting // replaces the session's
}

// SlashState is the state of a session when a slash command is typed.
type SlashState struct {
	Model string            // from the next run on, by the name it was chosen by; "" is the server's choice
	Think prompt.ThinkLevel // from the next run on
	Busy  bool              // a run is in progress or about to start
}

// Answer is the result of a slash command.
type Answer struct {
	Text string          // Markdown, shown in the chat; "" shows nothing
	Then session.Command // the next command: Submit, Create, Execute or Resume; nil is none
}

// Restored is a session to continue.
type Restored struct {
	ID      string
	Journal Journal       // open, contains Events
	Events  []event.Event // all earlier events
}

// Session is a conversation and the runs it starts, one at a time. A single
// goroutine owns its state: commands go in, one ordered stream of events comes
// out.
type Session struct {
	pictures
	serverLogs
	cfg      Config
	id       string
	events   chan event.Event
	requests chan request
	done     chan struct{}
	cancel   context.CancelFunc

	arrivals chan arrival // unbuffered: once a run's workers are gone, all their events were received
	prepared chan prepared
	outcomes chan outcome
	changed  chan struct{}
	ended    chan *engine
	asked    chan *child    // runs requested by plan tools
	unwanted chan *child    // those of asked whose call was stopped
	workers  sync.WaitGroup // of the session itself

	journal      Journal
	seq          uint64
	conversation conversation
	queue        []job
	jobs         int                // counts all jobs, to number them
	admitting    []job              // jobs whose mentions are being read, or that queue behind one
	reading      context.CancelFunc // cancels reading the mentions of the first; nil if idle
	engines      []*engine          // the current run, then those that its plan tools started
	preparing    context.CancelFunc // set while a run is being prepared
	account      account
	warnings     warnings
	status       session.Status
	offer        string // the changes in the copy that were shown last; "" is none
	selection    selection
	choices      []session.Choose   // waiting for a model lookup
	doing        string             // the job in preparation, in a few words; "" is none
	awaited      []string           // servers that the preparation waits for
	skip         context.CancelFunc // ends that wait; nil if it has not begun
	choosing     context.CancelFunc // cancels the model lookup; nil if idle
	saved        <-chan struct{}    // closed when the last setting is saved; nil if there was none
	catalogue    plan.Catalogue     // as last seen
	modelUse     modelUse
	models       modelJobs
	login        serverLogin
	settling     bool // the changes in the copy are being looked up, taken or dropped
	servers      serverQuestions
	troubles     map[string]string // last reported problem of each server and profile
}

// request is a message to the goroutine that owns the session; exactly one field
// is set.
type request struct {
	command session.Command
	query   func(ctx context.Context)
}

// outcome is a final or intermediate result of a session's worker. The owner
// publishes the events, then calls finish, then carries out next; each may be
// missing.
type outcome struct {
	events  []event.Data
	awaited []string           // the servers that the job in preparation waits for
	skip    context.CancelFunc // ends that wait; set with awaited
	finish  func()
	next    session.Command
}

// preparation is what the workers of a session may use: its configuration and the
// channels to its owner. They have no access to the owner's state.
type preparation struct {
	cfg      *Config
	workers  *sync.WaitGroup
	outcomes chan<- outcome
}

func (s *Session) preparation() preparation {
	return preparation{cfg: &s.cfg, workers: &s.workers, outcomes: s.outcomes}
}

// NewSession starts a session. The caller must read its events until the channel
// closes, which happens after Close or when ctx ends.
func NewSession(ctx context.Context, cfg Config) (*Session, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.ReadyWithin, cfg.GoalWithin = cmp.Or(cfg.ReadyWithin, plan.MaxServerWait), cmp.Or(cfg.GoalWithin, 2*time.Second)
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Session{
		cfg: cfg, events: make(chan event.Event, 64), requests: make(chan request, 64), done: make(chan struct{}),
		arrivals: make(chan arrival), prepared: make(chan prepared), outcomes: make(chan outcome),
		changed: make(chan struct{}, 1), ended: make(chan *engine), asked: make(chan *child), unwanted: make(chan *child),
		status:   session.Status{Workspace: untrusted.Text(cfg.Workspace), Instructions: untrusted.Text(cfg.Instructions), Host: untrusted.Text(cfg.Host)},
		troubles: map[string]string{}, modelUse: modelUse{bytesPerToken: map[string]float64{}, wanted: map[string]int{}, warming: map[string]bool{}, stopReading: func() {}},
		account: account{limits: cfg.SessionLimits}, models: modelJobs{cancel: func() {}},
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
	s.serverLogs = serverLogs{cfg.Tools, ctx}
	go s.loop(ctx)
	return s, nil
}

// ID returns the session's id, which is also the run id of its own events.
func (s *Session) ID() string { return s.id }

// Events returns the stream of all events.
func (s *Session) Events() <-chan event.Event { return s.events }

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
	defer close(s.events)
	s.cfg.Tools.Watch(func() {
		select {
		case s.changed <- struct{}{}:
		default:
		}
	})
	s.restore()
	s.publishHistory()
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
			s.publishStatus()
			s.askForServers()
		case e := <-s.ended:
			s.closed(e)
			offerChanges(ctx, s, false)
			s.next(ctx)
			s.askForServers()
		case k := <-s.asked:
			s.spawn(ctx, k)
		case k := <-s.unwanted:
			s.recall(k)
		case <-ctx.Done():
			s.shutDown(ctx)
			return
		}
	}
}

// shutDown stops the current runs and handles the last events of their workers.
func (s *Session) shutDown(ctx context.Context) {
	s.cfg.Tools.Watch(nil)
	s.queue, s.choices, s.admitting = nil, nil, nil
	s.stopEngines(interruption(ctx))
	keepLast(s)
	for len(s.engines) > 0 {
		select {
		case a := <-s.arrivals:
			s.arrived(a)
		case e := <-s.ended:
			s.closed(e)
		case k := <-s.asked:
			k.refuse(errInterrupted)
		case k := <-s.unwanted:
			s.recall(k)
		case <-s.outcomes: // so that settings are saved meanwhile
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
func (s *Session) command(ctx context.Context, c session.Command) {
	switch c := c.(type) {
	case session.Submit:
		s.keepWords(c.Text)
		if text := strings.TrimSpace(c.Text); strings.HasPrefix(text, "/") && s.cfg.Slash != nil {
			s.slash(ctx, text)
		} else {
			s.admit(ctx, wordsJob(text))
		}
	case session.Create:
		s.admit(ctx, job{goal: prompt.Unescaped(c.Goal), typed: c.Goal, create: true, run: c.Run})
	case session.Execute:
		s.enqueue(ctx, job{goal: string(c.Plan.Goal), execute: &c})
	case session.Resume:
		s.enqueue(ctx, job{resume: c.Run})
	case session.Review:
		s.review(c)
	case session.Hold:
		hold(s, c.On)
	case session.Keep:
		s.keep(c.Key, c.Value, true)
	case session.Cancel:
		e := s.running(c.Run)
		if e == nil || !e.cancel(c.Step, fmt.Errorf("cancelled by %s", cmp.Or(c.By, theUser))) {
			s.publishNote("info", "step "+c.Step+" is not running")
			break
		}
		s.afterAdvance(e)
	case session.Undo:
		s.undoRun(ctx, c.Run)
	case session.ShowChanges:
		offerChanges(ctx, s, true)
	case session.SettleChanges:
		settleChanges(ctx, s, c.Choice)
	case session.Stop:
		s.stopAll(fmt.Errorf("stopped by %s", cmp.Or(c.By, theUser)))
	case session.Steer:
		if text := strings.TrimSpace(c.Text); strings.HasPrefix(text, "/") || !s.steer(text, c.By) {
			s.command(ctx, session.Submit{Text: c.Text})
		} else {
			s.keepWords(c.Text)
		}
	case session.Compact:
		s.enqueue(ctx, job{compact: !c.Undo, undo: c.Undo})
	case session.Choose:
		s.choices = append(s.choices, c)
		s.choose(ctx)
	case session.Warm:
		s.warm(ctx)
	case session.Unqueue:
		s.unqueue(c)
	case session.Recheck:
		s.serverCommand(c)
		s.look(ctx)
	case session.SkipServers, session.Restart, session.Revoke, session.Disable, session.Enable:
		s.serverCommand(c)
	case session.AskAboutChanges:
		s.servers.askAboutChanges(s, c.Server)
	default:
		if !answered(ctx, s, c) {
			besideRuns(ctx, s, c)
		}
	}
}

// byUser marks an answer as given by the user.
const byUser = "user"

// running returns the current run with the given id, or nil.
func (s *Session) running(id string) *engine {
	for _, e := range s.engines {
		if e.id == id {
			return e
		}
	}
	return nil
}

// busy reports whether a run is in progress or about to start.
func (s *Session) busy() bool {
	return len(s.engines) > 0 || s.preparing != nil || s.settling
}

// decide continues after a failed step. It first resumes the run if the run has
// ended.
func (s *Session) decide(ctx context.Context, c session.ResolveFailure) {
	resolved := event.FailureResolved{Step: c.Step, Decision: c.Decision, Args: c.Args, By: cmp.Or(c.By, byUser)}
	e := s.running(c.Run)
	switch {
	case e != nil && !e.over():
		if e.asks(c.Step, false) {
			e.apply([]event.Data{resolved})
			s.afterAdvance(e)
		}
	case c.Decision != event.FailureAbort: // which is how it ended already
		s.enqueue(ctx, job{resume: c.Run, decided: &resolved})
	}
}

// steer passes the user's remark to the current runs, innermost first; the outer
// runs learn of its results. It reports whether a run took it.
func (s *Session) steer(text, by string) bool {
	for _, e := range slices.Backward(s.engines) {
		if e.run.Steerable() {
			e.apply([]event.Data{event.RunSteered{Text: untrusted.Text(text), By: by}})
			s.afterAdvance(e)
			return true
		}
	}
	return false
}

// arrived passes events of workers to their runs. It drains the channel and
// delivers one batch to each run.
func (s *Session) arrived(a arrival) {
	for a.engine != nil {
		e := a.engine
		over := e.over()
		batch, other := e.drained(a, s.arrivals)
		e.apply(batch)
		if !over {
			s.afterAdvance(e)
		}
		a = other
	}
}

// afterAdvance answers gates if nobody can be asked, and cleans up after a
// finished run.
func (s *Session) afterAdvance(e *engine) {
	for _, g := range slices.Clone(e.run.Gates) {
		if decision, ok := s.cfg.Approve.Answer(g.GateRequested); ok && !e.over() {
			e.apply([]event.Data{event.GateResolved{
				Gate: g.Gate, Call: g.Call, Decision: decision, Scope: event.ScopeOnce, By: s.cfg.Approve.By(g.GateRequested),
			}})
		}
	}
	s.refuseUnseen(e)
	if e.over() && !e.leaving {
		e.leaving = true
		s.workers.Go(func() {
			e.workers.Wait()
			s.ended <- e
		})
	}
}
