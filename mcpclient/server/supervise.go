package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"

	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/mcpclient/box"
	"replan/mcpclient/builtin"
	"replan/mcpclient/connection"
	"replan/mcpclient/handshake"
	"replan/mcpclient/trust"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// supervisor keeps a server running while it is supervised.
type supervisor struct {
	definition
	state       *state
	mentioned   *connection.Mentions // resources whose changes are reported; they outlive connections
	lineWritten func()               // called after each line in the log of the server

	mu    sync.Mutex
	end   context.CancelFunc // nil if it was never supervised
	ended chan struct{}      // closed when the supervision has ended
	after <-chan struct{}    // closed when the server that this one replaces has ended; may be nil
}

// launch starts and supervises the server, unless that was done or the server may not
// start.
func (s *supervisor) launch() {
	if !s.state.begin() {
		return
	}
	life, done := s.begin(s.settings.Life)
	s.settings.Work.Go(func() {
		defer done()
		if s.after != nil {
			<-s.after // it has been canceled; the next one waits for this one, too
		}
		s.supervise(life)
	})
}

// begin returns a context that ends with parent or with stop, and a function to call when
// the supervision has ended.
func (s *supervisor) begin(parent context.Context) (life context.Context, done func()) {
	life, end := context.WithCancel(parent)
	ended := make(chan struct{})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end, s.ended = end, ended
	return life, func() { end(); close(ended) }
}

// stop ends the supervision, if it has begun. It does not wait.
func (s *supervisor) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end != nil {
		s.end()
	}
}

// follows takes over from the supervisor of the server that this one replaces, and waits
// for its end. It must be called before launch.
func (s *supervisor) follows(old *supervisor) {
	old.mu.Lock()
	defer old.mu.Unlock()
	s.mentioned = old.mentioned
	if s.after = old.ended; old.ended == nil {
		s.after = old.after // the old one was never started
	}
}

// target returns what to dial.
func (s *supervisor) target() connection.Target {
	return connection.Target{
		Server: s.config, Builtin: s.builtin, StartTimeout: s.startTimeout(), Mentioned: s.mentioned,
		Log: s.settings.Logger.With("server", s.config.Name), LineWritten: s.lineWritten, PromptsListed: s.settings.Signal.Tell,
		ResourceChanged: func(uri string) {
			s.settings.Note(s.config.Name, prompt.NameOf(s.config.Name+":"+untrusted.Visible(uri))+" has changed since you mentioned it; mention it again to send it as it is now")
		},
	}
}

// supervise connects to the server and keeps it running until it is lost for good or life
// ends. It restarts the server on request.
func (s *supervisor) supervise(life context.Context) {
	for {
		how, err := s.serve(life)
		if how == lost {
			how = s.backOff(life, err)
		}
		if !s.state.next(how, life.Err() == nil) {
			return
		}
	}
}

// listPause is the least time between two lists of tools that a server asks for by
// saying that they changed.
const listPause = time.Second

// serve runs the server once. The error says why it was lost.
func (s *supervisor) serve(life context.Context) (ending, error) {
	if life.Err() != nil { // replaced before it was started
		s.state.stopped()
		return over, nil
	}
	conn, err := s.connect(life)
	switch {
	case life.Err() != nil:
		if conn != nil {
			conn.Close()
		}
		s.state.stopped()
		return over, nil
	case err != nil && s.state.facts().wasReady:
		return lost, err
	case err != nil:
		s.fail(nil, err)
		return over, nil
	}
	listed := conn.IsProcess() // connect has done it
	var quiet <-chan time.Time // until the server may have its tools listed again
	for {
		var wait <-chan time.Time // until the next request to an HTTP server that failed
		if !listed {
			if conn, err = s.relist(life, conn); err != nil && conn.IsProcess() {
				conn.Close()
				return lost, err
			} else if err != nil && life.Err() == nil {
				wait = s.awaitHTTP(conn, err)
			}
		}
		wake := s.state.hurried()
		if wait == nil {
			wake = nil
		}
		changes := conn.Relist()
		if quiet != nil {
			changes = nil
		}
		listed = false
		select {
		case <-life.Done():
			conn.Close()
			s.state.stopped()
			return over, nil
		case <-conn.Lost():
			reason := errors.New(conn.LossReason())
			s.state.suspend(conn, reason) // before Close, which waits for calls
			conn.Close()
			return lost, reason
		case <-s.state.restartAsked():
			conn.Close()
			return restarted, nil
		case <-changes:
			quiet = time.After(listPause)
		case <-quiet:
			quiet, listed = nil, wait == nil
		case <-wake:
		case <-wait:
		}
	}
}

// connect opens the connection to the server. It has then listed the tools of a process,
// which it may have had to start again with another handshake.
func (s *supervisor) connect(life context.Context) (*connection.Connection, error) {
	known := s.settings.Handshakes.Of(s.config)
	for tried := map[handshake.Kind]bool{}; ; {
		tried[known] = true
		conn, err := connection.Dial(life, s.settings.Settings, s.target(), known)
		if err != nil || !conn.IsProcess() {
			return conn, err
		}
		s.state.connecting(conn.LastLine)
		ctx, cancel := context.WithTimeout(life, s.startTimeout())
		err = s.list(ctx, conn)
		problem := conn.StartProblem(ctx, err)
		slow := ctx.Err() != nil
		cancel()
		if err == nil {
			if conn.Learned() != handshake.Usual {
				known = conn.Learned()
			}
			s.settings.Handshakes.Learn(s.config, known)
			return conn, nil
		}
		next := conn.OtherHandshake()
		conn.Close()
		if life.Err() != nil {
			return nil, problem // it says nothing about the server
		}
		if slow || tried[next] {
			if !slow || next == handshake.Usual {
				s.settings.Handshakes.Learn(s.config, handshake.Usual)
			}
			return nil, problem
		}
		s.settings.Logger.Info("trying another handshake", "server", s.config.Name, "was", known, "now", next, "error", err)
		known = next
	}
}

// list lists the server's tools and marks it ready.
func (s *supervisor) list(ctx context.Context, conn *connection.Connection) error {
	found, err := conn.Tools(ctx)
	if err != nil {
		return err
	}
	tools, filtered := offered(s.config, found.Tools)
	note := cmp.Or(found.Note, filtered)
	for i := range tools {
		tools[i].TimeoutMS, tools[i].Vouched = s.config.Timeout.Milliseconds(), s.config.Trust
		tools[i].Serial = tools[i].Serial && !s.config.Parallel
		if conn.IsProcess() || s.builtin != nil && slices.Contains(builtin.RunsPrograms, tools[i].Name) {
			tools[i].Contained = containment(s.settings.Box)
		}
	}
	description := trust.Unpinned(s.config.Name, tools)
	if s.builtin == nil {
		description = s.compare(tools, conn.Instructions(), found.Texts)
		note = cmp.Or(description.Note(), note)
	}
	if note != "" {
		s.settings.Logger.Warn("tools", "server", s.config.Name, "note", note)
	}
	if s.builtin == nil {
		conn.ListPrompts()
	}
	s.state.listed(conn, offer{description: description, note: note, tasks: found.Tasks, protocol: conn.Protocol()})
	return nil
}

// containment returns what a box means for a call.
func containment(b *box.Box) plan.Containment {
	switch {
	case b == nil:
		return plan.NotContained
	case b.Network():
		return plan.ContainedFiles
	default:
		return plan.ContainedOffline
	}
}

// compare compares what the server says with its pins, and tells the user what is new.
func (s *supervisor) compare(tools []plan.Tool, instructions string, texts map[string]string) trust.Description {
	life, name := s.settings.Life, s.config.Name
	description, news, err := s.settings.Pins.Compare(life, s.config, tools, instructions, texts)
	if err != nil && life.Err() == nil {
		s.settings.Logger.Warn("pinned tools", "server", name, "error", err)
		s.settings.Note(name, fmt.Sprintf("what the tools of %s are cannot be compared with earlier: %v", name, err))
	}
	if len(news) > 0 {
		s.settings.Note(name, fmt.Sprintf("the server %s has %s now: %s", name, english.Count(len(news), "new tool"), english.First(news, 3)))
	}
	return description
}

// relist lists the tools again. If the server no longer knows the session, it opens
// another connection and returns that. The error explains to the user why the
// server is not ready.
func (s *supervisor) relist(life context.Context, conn *connection.Connection) (*connection.Connection, error) {
	for again := false; ; again = true {
		ctx, cancel := context.WithTimeout(life, s.startTimeout())
		err := s.list(ctx, conn)
		if err == nil || again || !errors.Is(err, transport.ErrSessionTerminated) {
			err = conn.StartProblem(ctx, err)
			cancel()
			return conn, err
		}
		cancel()
		next, err := connection.Dial(life, s.settings.Settings, s.target(), handshake.Usual)
		if err != nil {
			return conn, err
		}
		old := conn
		s.settings.Work.Go(old.Retire)
		conn = next
	}
}

// fail marks the server as failed. conn is the remaining connection, if any.
func (s *supervisor) fail(conn *connection.Connection, err error) {
	s.settings.Logger.Warn("server failed", "server", s.config.Name, "error", err)
	s.state.fail(conn, err)
}

// retryAfter counts an attempt to restart the lost server. It returns how long to wait
// before, as mcpclient.Config.RestartWaits says, and false if that was tried often enough:
// then the server has failed. conn is the remaining connection, if any.
func (s *supervisor) retryAfter(conn *connection.Connection, why error) (wait time.Duration, ok bool) {
	if wait, ok = s.state.lost(conn, why); ok {
		s.settings.Logger.Warn("server lost", "server", s.config.Name, "error", why, "restarts in", wait)
		return wait, true
	}
	if times := len(s.settings.RestartWaits); times > 0 {
		why = fmt.Errorf("%w (restarted %s without success)", why, english.Count(times, "time"))
	}
	s.fail(conn, why)
	return 0, false
}

// backOff waits until the lost process is to be restarted: for a time that doubles,
// or until a call needs it. After too many attempts the server has failed.
func (s *supervisor) backOff(life context.Context, why error) ending {
	wait, ok := s.retryAfter(nil, why)
	if !ok {
		return over
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.state.hurried():
	case <-s.state.restartAsked():
		return restarted
	case <-life.Done():
		s.state.stopped()
		return over
	}
	return lost
}

// awaitHTTP returns a channel that says when to ask the lost HTTP server again. It is
// nil, and the server has failed, if that is not to be done by itself.
func (s *supervisor) awaitHTTP(conn *connection.Connection, why error) <-chan time.Time {
	if !s.state.facts().wasReady || connection.IsLogin(why) {
		s.fail(conn, why)
		return nil
	}
	wait, ok := s.retryAfter(conn, why)
	if !ok {
		return nil
	}
	return time.After(wait)
}
