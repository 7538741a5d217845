package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"replan/agent"
	"replan/agent/policy"
	"replan/planning"
)

// Config is what a session works with.
type Config struct {
	Model     Model
	Tools     Tools
	Workspace string // absolute path of the folder it works in
	Trusted   bool   // the user trusts the workspace: its tests may run
	Limits    agent.Limits
	Rules     []agent.Rule       // flags first, then the configuration's; the built-in ones follow
	Prompting planning.Prompting // but for the conversation, which the session keeps
	Approve   policy.Approve     // how gates are answered; the zero value asks
	// Open starts the journal of a run or of the session. kind is "run" or
	// "session".
	Open   func(kind, id string) (Journal, error)
	NewID  func(now time.Time) string
	Now    func() time.Time // nil means time.Now
	Logger *slog.Logger     // nil means none
}

// readyWithin bounds how long a run waits for servers that are starting.
const readyWithin = 10 * time.Second

// Session is a conversation and the runs it starts, one at a time. One
// goroutine owns all of it; commands go in, one ordered stream of events comes
// out.
type Session struct {
	cfg      Config
	id       string
	events   chan agent.Event
	commands chan Command
	done     chan struct{}
	cancel   context.CancelFunc

	arrivals chan arrival // unbuffered: when a run's workers have gone, all they brought was taken
	prepared chan prepared
	changed  chan struct{}
	gone     chan *engine
	workers  sync.WaitGroup // of the session itself

	journal      Journal
	seq          uint64
	conversation []planning.Message
	queue        []string
	engine       *engine            // the run that goes on
	preparing    context.CancelFunc // a run is being prepared
	status       agent.SessionStatus
	gate         string            // the open gate of the session itself
	gates        int               // gates the session has opened
	answered     chan struct{}     // closed when that gate is answered; nil where there is none
	troubles     map[string]string // what was said of each server
}

// prepared is what a run needs before it can start.
type prepared struct {
	text      string
	info      planning.ModelInfo
	catalogue planning.Catalogue
	err       error
	look      bool // only to show what there is, nothing is to be started
}

// NewSession starts a session. Its events must be read until the channel is
// closed, which it is after Close or when ctx ends.
func NewSession(ctx context.Context, cfg Config) (*Session, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	id := "s-" + cfg.NewID(cfg.Now())
	journal, err := cfg.Open("session", id)
	if err != nil {
		return nil, fmt.Errorf("start a session: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &Session{
		cfg: cfg, id: id, journal: journal, cancel: cancel,
		events: make(chan agent.Event, 64), commands: make(chan Command, 64), done: make(chan struct{}),
		arrivals: make(chan arrival), prepared: make(chan prepared), changed: make(chan struct{}, 1), gone: make(chan *engine),
		status: agent.SessionStatus{Workspace: cfg.Workspace}, troubles: map[string]string{},
	}
	go s.loop(ctx)
	return s, nil
}

// ID is the session's id, the run of its own events.
func (s *Session) ID() string { return s.id }

// Events is the stream of everything that happens.
func (s *Session) Events() <-chan agent.Event { return s.events }

// Send gives the session a command. It does not wait for its effect, and after
// the end of the session it does nothing.
func (s *Session) Send(c Command) {
	select {
	case s.commands <- c:
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
	s.look(ctx)
	s.askForServers()
	for {
		select {
		case c := <-s.commands:
			s.command(ctx, c)
		case a := <-s.arrivals:
			s.arrived(a)
		case p := <-s.prepared:
			s.begin(ctx, p)
		case <-s.changed:
			s.tell()
			s.askForServers()
		case e := <-s.gone:
			s.finished(ctx, e)
		case <-ctx.Done():
			s.shutDown()
			return
		}
	}
}

// shutDown stops the run that goes on and takes what its workers still bring.
func (s *Session) shutDown() {
	s.cfg.Tools.Watch(nil)
	s.queue = nil
	if s.engine != nil {
		s.engine.stop()
		s.settle()
		for e := (*engine)(nil); e == nil; {
			select {
			case a := <-s.arrivals:
				s.arrived(a)
			case e = <-s.gone:
				s.closed(e)
			}
		}
	}
	idle := make(chan struct{})
	go func() { s.workers.Wait(); close(idle) }()
	for waiting := true; waiting; {
		select {
		case <-s.prepared:
		case <-idle:
			waiting = false
		}
	}
	if err := s.journal.Close(); err != nil {
		s.cfg.Logger.Error("close the session's journal", "error", err)
	}
}

func (s *Session) command(ctx context.Context, c Command) {
	switch c := c.(type) {
	case Submit:
		if s.engine != nil || s.preparing != nil {
			s.queue = append(s.queue, c.Text)
			s.tellOf("info", "queued: "+c.Text)
			return
		}
		s.prepare(ctx, c.Text)
	case Resolve:
		s.resolve(ctx, c, "user")
	case Stop:
		if len(s.queue) > 0 {
			s.tellOf("info", "no longer queued: "+strings.Join(s.queue, "; "))
			s.queue = nil
		}
		switch {
		case s.engine != nil:
			s.engine.stop()
			s.settle()
		case s.preparing != nil:
			s.preparing()
		}
	}
}

// look finds out what the session works with, so that it can be shown.
func (s *Session) look(ctx context.Context) {
	s.workers.Go(func() {
		info, err := s.cfg.Model.Describe(ctx)
		s.prepared <- prepared{info: info, err: err, look: true}
	})
}

// prepare gets what a run needs: the model and the tools, once the user has
// said whether the project's servers may start.
func (s *Session) prepare(ctx context.Context, text string) {
	_ = s.say(agent.ChatUser{Text: text})
	ctx, s.preparing = context.WithCancel(ctx)
	answered := s.answered
	s.workers.Go(func() {
		if answered != nil {
			select {
			case <-answered:
			case <-ctx.Done():
			}
		}
		info, err := s.cfg.Model.Describe(ctx)
		p := prepared{text: text, info: info, err: err}
		if err == nil {
			within, cancel := context.WithTimeout(ctx, readyWithin)
			defer cancel()
			p.catalogue = s.cfg.Tools.Ready(within)
			p.err = ctx.Err()
		}
		s.prepared <- p
	})
}

// begin starts a run with what was prepared for it.
func (s *Session) begin(ctx context.Context, p prepared) {
	s.describe(p)
	if p.look {
		return
	}
	s.preparing()
	s.preparing = nil
	if p.err == nil {
		p.err = ctx.Err() // the tools may have ended before the word of it came here
	}
	if p.err != nil {
		reply := agent.ChatReply{Status: agent.StatusFailed, Reason: agent.ReasonNoModel, Text: p.err.Error()}
		if errors.Is(p.err, context.Canceled) {
			reply = agent.ChatReply{Status: agent.StatusCancelled, Reason: agent.ReasonInterrupted, Text: "stopped before it began"}
		}
		_ = s.say(reply)
		s.next(ctx)
		return
	}
	for _, server := range s.status.Servers {
		if server.State == planning.ServerStarting {
			s.trouble(server.Name, "has not started yet; the run begins without its tools")
		}
	}
	id := "r-" + s.cfg.NewID(s.cfg.Now())
	journal, err := s.cfg.Open("run", id)
	if err != nil {
		_ = s.say(agent.ChatReply{Status: agent.StatusFailed, Reason: agent.ReasonStepFailed, Text: err.Error()})
		s.next(ctx)
		return
	}
	prompting := s.cfg.Prompting
	prompting.Conversation = s.conversation
	prompting.ContextWindow = p.info.ContextWindow
	trust := policy.Trust{Workspace: s.cfg.Trusted, Tests: policy.AsksForTests(p.text)}
	s.engine = &engine{
		id: id, journal: journal, model: s.cfg.Model, tools: s.cfg.Tools, log: s.cfg.Logger, now: s.cfg.Now,
		arrivals: s.arrivals, publish: s.publish,
	}
	s.engine.begin(ctx, agent.RunStarted{
		Goal: p.text, Workspace: s.cfg.Workspace, Session: s.id, Model: p.info.Name, Limits: s.cfg.Limits,
		Rules:     append(append([]agent.Rule{}, s.cfg.Rules...), policy.BuiltIn(trust)...),
		Catalogue: p.catalogue, Prompting: prompting,
	})
	s.settle()
}

// arrived gives the run what its workers brought: all that is there by now, as
// one batch.
func (s *Session) arrived(first arrival) {
	batch := []agent.Data{first.data}
	for drained := false; !drained; {
		select {
		case a := <-s.arrivals:
			batch = append(batch, a.data)
		default:
			drained = true
		}
	}
	over := first.engine.over()
	first.engine.take(batch)
	if !over {
		s.settle()
	}
}

// settle answers gates where nobody is to be asked, and sees a run that is over
// to its end.
func (s *Session) settle() {
	e := s.engine
	for _, g := range append([]*agent.Gate{}, e.run.Gates...) {
		if decision, ok := s.cfg.Approve.Answer(g.GateRequested); ok && !e.over() {
			e.take([]agent.Data{agent.GateResolved{
				Gate: g.Gate, Decision: decision, Scope: agent.ScopeOnce, By: "--approve " + string(s.cfg.Approve),
			}})
		}
	}
	if e.over() && !e.leaving {
		e.leaving = true
		s.workers.Go(func() {
			e.workers.Wait()
			s.gone <- e
		})
	}
}

// resolve answers an open gate, the run's or the session's own.
func (s *Session) resolve(ctx context.Context, c Resolve, by string) {
	scope := c.Scope
	if scope == "" {
		scope = agent.ScopeOnce
	}
	resolved := agent.GateResolved{Gate: c.Gate, Decision: c.Decision, Scope: scope, By: by}
	switch {
	case s.engine != nil && c.Run == s.engine.id && s.engine.open(c.Gate):
		s.engine.take([]agent.Data{resolved})
		s.settle()
	case c.Run == s.id && c.Gate == s.gate && s.gate != "":
		s.gate = ""
		yes := c.Decision == agent.Allow
		if err := s.say(resolved); err != nil && yes {
			yes = false // what is not on disk is not acted upon
			s.tellOf("error", "the servers are not started, because the yes cannot be kept: "+err.Error())
		}
		if err := s.cfg.Tools.Answer(ctx, yes); err != nil {
			s.tellOf("warn", err.Error())
		}
		close(s.answered)
		s.answered = nil
	}
}

// finished sees a run off whose workers have gone, and goes on with what is
// queued.
func (s *Session) finished(ctx context.Context, e *engine) {
	s.closed(e)
	s.next(ctx)
}

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
		reply.Text = e.run.Result.Answer
		if reply.Text == "" {
			reply.Text = e.run.Result.Error
		}
	}
	s.conversation = append(s.conversation,
		planning.Message{Role: planning.RoleUser, Content: e.run.Goal},
		planning.Message{Role: planning.RoleAssistant, Content: reply.Text},
	)
	_ = s.say(reply)
}

func (s *Session) next(ctx context.Context) {
	if len(s.queue) > 0 {
		text := s.queue[0]
		s.queue = s.queue[1:]
		s.prepare(ctx, text)
	}
}

// askForServers opens the gate for the servers of the project's own
// configuration, once.
func (s *Session) askForServers() {
	pending := s.cfg.Tools.Pending()
	if len(pending) == 0 || s.gate != "" {
		return
	}
	args := map[string]any{}
	for _, p := range pending {
		args[p.Name] = p.Whole()
	}
	s.gates++
	s.gate = fmt.Sprintf("servers.%d", s.gates)
	s.answered = make(chan struct{})
	_ = s.say(agent.GateRequested{
		Gate: s.gate, Title: "Start the tool servers that this project names", Args: args,
		Rule: agent.Rule{
			Tool: "*", Verdict: agent.VerdictAsk, Source: "built-in",
			Why: "they are programs of this project's .mcp.json; a yes is remembered until they change",
		},
	})
}

// describe shows what is known of the model.
func (s *Session) describe(p prepared) {
	switch {
	case p.err == nil:
		s.status.Model, s.status.ContextWindow, s.status.Problem = p.info.Name, p.info.ContextWindow, ""
	case errors.Is(p.err, planning.ErrNoModel):
		s.status.Model, s.status.Problem = "", p.err.Error()
	}
	s.tell()
}

// tell publishes what the session works with.
func (s *Session) tell() {
	s.status.Servers = s.cfg.Tools.Status()
	s.status.Tools = 0
	for _, server := range s.status.Servers {
		s.status.Tools += server.Tools
	}
	_ = s.say(s.status)
	for _, server := range s.status.Servers {
		// One that was stopped was not wanted.
		if server.Error != "" && server.State != planning.ServerStopped {
			s.trouble(server.Name, server.Error)
		}
	}
}

// trouble says, once, what is wrong with a server.
func (s *Session) trouble(server, what string) {
	if s.troubles[server] != what {
		s.troubles[server] = what
		s.tellOf("warn", fmt.Sprintf("the MCP server %q: %s", server, what))
	}
}

// tellOf says something that the user should know.
func (s *Session) tellOf(level, text string) { _ = s.say(agent.Note{Level: level, Text: text}) }

// say makes an event of the session itself. Whatever becomes of its journal it
// is shown; the error is for those who would act on it.
func (s *Session) say(data agent.Data) (err error) {
	s.seq++
	event := agent.Event{Seq: s.seq, Time: s.cfg.Now().UTC(), Run: s.id, Data: data}
	if !data.Kind().Passing() {
		if err = s.journal.Append(event); err != nil {
			s.cfg.Logger.Error("the session's journal", "error", err)
		}
	}
	s.publish(event)
	return err
}

func (s *Session) publish(event agent.Event) { s.events <- event }
