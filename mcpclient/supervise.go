package mcpclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/mcpclient/builtin"
	"replan/mcpclient/config"
	"replan/mcpclient/handshake"
	"replan/mcpclient/pin"
	"replan/planning/plan"

	"github.com/mark3labs/mcp-go/client/transport"
)

// launch starts the supervision of an entry. The caller holds the mutex.
func (p *Pool) launch(e *entry) {
	e.begun, e.watched = time.Now(), true
	e.life, e.end = context.WithCancel(p.life)
	e.ended = make(chan struct{})
	p.work.Go(func() {
		defer close(e.ended)
		defer e.end()
		e.awaitPredecessor()
		p.supervise(e)
	})
}

// ending says how serve ended.
type ending int

const (
	over      ending = iota // for good
	restarted               // somebody asked for a restart
	lost                    // it may be restarted
)

// supervise connects to a server and keeps it running until it is lost for
// good or the pool ends. It restarts the server on request.
func (p *Pool) supervise(e *entry) {
	for {
		how, err := p.serve(e)
		if how == lost {
			how = p.backOff(e, err)
		}
		p.mu.Lock()
		if how == over {
			select {
			case <-e.again: // requested just as the server ended
				if e.life.Err() == nil {
					how = restarted
				}
			default:
			}
		}
		if e.watched = how != over; how == over {
			p.mu.Unlock()
			return
		}
		e.restarts(how)
		p.broadcast()
		p.mu.Unlock()
		p.notify()
	}
}

// restarts marks an entry as restarting. The caller holds the mutex.
func (e *entry) restarts(how ending) {
	e.state, e.tools, e.conn, e.startup, e.begun, e.login = plan.ServerStarting, nil, nil, 0, time.Now(), false
	if how == restarted {
		e.problem, e.tries, e.wasReady = "", 0, false
	}
}

// listPause is the least time between two lists of tools that a server asks for by
// saying that they changed.
const listPause = time.Second

// serve runs a server once. The error says why it was lost.
func (p *Pool) serve(e *entry) (ending, error) {
	if e.life.Err() != nil { // replaced before it was started
		p.stopped(e)
		return over, nil
	}
	conn, err := p.connect(e)
	switch {
	case e.life.Err() != nil:
		if conn != nil {
			conn.close()
		}
		p.stopped(e)
		return over, nil
	case err != nil && p.everReady(e):
		return lost, err
	case err != nil:
		p.fail(e, nil, err)
		return over, nil
	}
	listed := conn.process != nil // connect has done it
	var quiet <-chan time.Time    // until the server may have its tools listed again
	for {
		var wait <-chan time.Time // until the next request to an HTTP server that failed
		if !listed {
			if conn, err = p.relist(e, conn); err != nil && conn.process != nil {
				conn.close()
				return lost, err
			} else if err != nil && e.life.Err() == nil {
				wait = p.awaitHTTP(e, conn, err)
			}
		}
		wake := e.wake
		if wait == nil {
			wake = nil
		}
		changes := conn.relist
		if quiet != nil {
			changes = nil
		}
		listed = false
		select {
		case <-e.life.Done():
			conn.close()
			p.stopped(e)
			return over, nil
		case <-conn.lost():
			reason := errors.New(conn.process.reason())
			p.suspend(e, conn, reason) // before close, which waits for calls
			conn.close()
			return lost, reason
		case <-e.again:
			conn.close()
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

// everReady reports whether a server was ready since somebody last started it.
func (p *Pool) everReady(e *entry) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return e.wasReady
}

// stopped marks a server as stopped with the pool.
func (p *Pool) stopped(e *entry) {
	p.set(func() { e.state, e.problem, e.conn = plan.ServerStopped, "", nil })
}

// connect opens the connection to a server. It has then listed the tools of a
// process, which it may have had to start again with another handshake.
func (p *Pool) connect(e *entry) (*connection, error) {
	known := p.handshakes.Of(e.server)
	for tried := map[handshake.Kind]bool{}; ; {
		tried[known] = true
		conn, err := p.dial(e, known)
		if err != nil || conn.process == nil {
			return conn, err
		}
		p.set(func() { e.doing = conn.process.words.last })
		ctx, cancel := context.WithTimeout(e.life, p.startTimeout(e.server))
		err = p.list(ctx, e, conn)
		problem := p.startProblem(ctx, e, conn, err)
		slow := ctx.Err() != nil
		cancel()
		if err == nil {
			if conn.learned != handshake.Usual {
				known = conn.learned
			}
			p.handshakes.Learn(e.server, known)
			return conn, nil
		}
		next := handshake.Usual // what was learned is no longer true
		switch {
		case conn.probe.newer:
			next = handshake.Newer
		case conn.isLost() && conn.probe.killed():
			next = handshake.Older
		}
		conn.close()
		if e.life.Err() != nil {
			return nil, problem // it says nothing about the server
		}
		if slow || tried[next] {
			if !slow || next == handshake.Usual {
				p.handshakes.Learn(e.server, handshake.Usual)
			}
			return nil, problem
		}
		p.log.Info("trying another handshake", "server", e.server.Name, "was", known, "now", next, "error", err)
		known = next
	}
}

// list lists a server's tools and marks it ready.
func (p *Pool) list(ctx context.Context, e *entry, conn *connection) error {
	tools, said, left, err := conn.tools(ctx, e.server.Name, e.builtin != nil)
	if err != nil {
		return err
	}
	tools, filtered := offered(e.server, tools)
	note := cmp.Or(left.note, filtered)
	for i := range tools {
		tools[i].TimeoutMS, tools[i].Vouched = e.server.Timeout.Milliseconds(), e.server.Trust
		tools[i].Serial = tools[i].Serial && !e.server.Parallel
		if conn.process != nil || e.builtin != nil && slices.Contains(builtin.RunsPrograms, tools[i].Name) {
			tools[i].Contained = containment(p.cfg.Box)
		}
	}
	var changes []change
	if e.builtin == nil {
		changed := ""
		tools, changes, changed = p.compare(e.server, tools, conn.instructions, said)
		note = cmp.Or(changed, note)
	}
	if note != "" {
		p.log.Warn("tools", "server", e.server.Name, "note", note)
	}
	if e.builtin == nil {
		conn.listPrompts(e.server.Name, p.notify)
	}
	protocol := conn.client.ProtocolVersion()
	p.set(func() {
		if len(e.again) > 0 {
			return // a restart was requested meanwhile, after which the tools may be others
		}
		e.protocol = protocol
		if e.startup == 0 {
			e.startup = max(time.Since(e.begun), 1)
		}
		select {
		case <-e.wake: // of a call that waited for this
		default:
		}
		if e.state != plan.ServerReady {
			e.ready, e.wasReady = time.Now(), true
		}
		e.state, e.problem, e.tools, e.conn, e.doing, e.login = plan.ServerReady, note, tools, conn, nil, false
		e.changes, e.tasks = changes, left.tasks
	})
	return nil
}

// relist lists the tools again. If the server no longer knows the session, it opens
// another connection and returns that. The error explains to the user why the
// server is not ready.
func (p *Pool) relist(e *entry, conn *connection) (*connection, error) {
	for again := false; ; again = true {
		ctx, cancel := context.WithTimeout(e.life, p.startTimeout(e.server))
		err := p.list(ctx, e, conn)
		if err == nil || again || !errors.Is(err, transport.ErrSessionTerminated) {
			if err != nil {
				err = p.startProblem(ctx, e, conn, err)
			}
			cancel()
			return conn, err
		}
		cancel()
		next, err := p.dial(e, handshake.Usual)
		if err != nil {
			return conn, err
		}
		old := conn
		p.work.Go(old.retire)
		conn = next
	}
}

// fail marks a server as failed. conn is the remaining connection, if any,
// since an HTTP server may answer again later.
func (p *Pool) fail(e *entry, conn *connection, err error) {
	p.log.Warn("server failed", "server", e.server.Name, "error", err)
	p.set(func() {
		e.state, e.problem, e.tools, e.conn, e.doing = plan.ServerFailed, err.Error(), nil, conn, nil
		e.failed, e.login = e.problem, isLogin(err)
	})
}

// suspend marks a server as starting while its supervisor finds out whether it
// still works; calls wait. It does nothing if conn is no longer its connection.
func (p *Pool) suspend(e *entry, conn *connection, err error) {
	p.mu.Lock()
	current := e.conn == conn
	if current {
		e.state, e.problem, e.failed, e.tools = plan.ServerStarting, err.Error(), err.Error(), nil
		if conn.process != nil {
			e.conn = nil
		}
		p.broadcast()
	}
	p.mu.Unlock()
	if current {
		p.notify()
		conn.askAgain()
	}
}

// steadyTime is how long a server must have been ready for its next loss to count
// as the first one.
const steadyTime = time.Minute

// again counts an attempt to restart a lost server. It returns how long to wait
// before, and false if that was tried often enough. conn is the remaining connection, if
// any: a ready server always has one.
func (p *Pool) again(e *entry, conn *connection, why error) (wait time.Duration, ok bool) {
	p.set(func() {
		if !e.ready.IsZero() && time.Since(e.ready) > steadyTime {
			e.tries = 0
		}
		e.ready = time.Time{}
		if ok = e.tries < len(p.cfg.RestartWaits); !ok {
			return
		}
		wait = p.cfg.RestartWaits[e.tries]
		e.tries++
		e.state, e.problem, e.failed, e.tools, e.conn, e.doing = plan.ServerStarting, why.Error(), why.Error(), nil, conn, nil
	})
	if ok {
		p.log.Warn("server lost", "server", e.server.Name, "error", why, "restarts in", wait)
	}
	return wait, ok
}

// backOff waits until a lost process is to be restarted: for a time that doubles,
// or until a call needs it. After too many attempts the server has failed.
func (p *Pool) backOff(e *entry, why error) ending {
	wait, ok := p.again(e, nil, why)
	if !ok {
		p.fail(e, nil, gaveUp(why, len(p.cfg.RestartWaits)))
		return over
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-e.wake:
	case <-e.again:
		return restarted
	case <-e.life.Done():
		p.stopped(e)
		return over
	}
	return lost
}

// awaitHTTP returns a channel that says when to ask a lost HTTP server again. It is
// nil, and the server has failed, if that is not to be done by itself.
func (p *Pool) awaitHTTP(e *entry, conn *connection, why error) <-chan time.Time {
	if !p.everReady(e) || isLogin(why) {
		p.fail(e, conn, why)
		return nil
	}
	wait, ok := p.again(e, conn, why)
	if !ok {
		p.fail(e, conn, gaveUp(why, len(p.cfg.RestartWaits)))
		return nil
	}
	return time.After(wait)
}

func gaveUp(why error, times int) error {
	if times == 0 {
		return why
	}
	return fmt.Errorf("%w (restarted %s without success)", why, english.Count(times, "time"))
}

// Restart stops a server if it is running and starts it again, without
// waiting. Its calls in progress fail. Restart returns an error for a server
// that waits for permission, is disabled or is already starting, and leaves it
// unchanged. One that the user said no to asks for permission again.
func (p *Pool) Restart(name string) error {
	p.mu.Lock()
	defer p.notify()
	defer p.mu.Unlock()
	if p.asksAgain(name) {
		return nil
	}
	e, err := p.startable(name)
	if err == nil && e.state == plan.ServerStarting && e.tries == 0 && e.watched {
		err = fmt.Errorf("%s is starting already", name)
	}
	if err != nil {
		return err
	}
	p.restart(e)
	return nil
}

// startable returns a server that may be started, or why it may not. The caller holds
// the mutex.
func (p *Pool) startable(name string) (*entry, error) {
	e, err := findEntry(p, name)
	switch {
	case err != nil:
		return nil, err
	case e.state == plan.ServerWaiting:
		return nil, fmt.Errorf("%s waits for your approval: answer the question about this project's servers", name)
	case e.disabled != "":
		return nil, fmt.Errorf("%s is disabled: enable it", name)
	case e.leftOut || e.declined:
		return nil, fmt.Errorf("%s was left out: approve it on the screen", name)
	case e.badEntry():
		return nil, fmt.Errorf("%s cannot be started with its configuration: %s", name, e.problem)
	}
	return e, nil
}

// restart starts a server, or starts it again. The caller holds the mutex.
func (p *Pool) restart(e *entry) {
	e.restarts(restarted)
	p.broadcast()
	if e.watched {
		select {
		case e.again <- struct{}{}:
		default: // already requested
		}
		return
	}
	p.launch(e)
}

// badEntry reports whether a server cannot be started with its configuration.
func (e *entry) badEntry() bool {
	return e.builtin == nil && (e.server.Problem != "" || e.server.Command == "" && e.server.URL == "" || config.CheckName(e.server.Name) != nil)
}

// learn takes note of the secrets of servers.
func (p *Pool) learn(servers []config.Server) {
	for _, s := range servers {
		s.AddSecrets(p.secrets)
	}
}

// shown returns what a server said, or what is said of it, without the secrets of all
// configurations.
func (p *Pool) shown(text string) untrusted.Text { return untrusted.Text(p.secrets.Text(text)) }

// status returns the status of one server. The caller holds the mutex.
func (p *Pool) status(e *entry) plan.ServerStatus {
	s := plan.ServerStatus{
		Name: e.server.Name, State: e.state, Tools: len(e.tools),
		Source: e.server.Source.String(), StartMS: e.startup.Milliseconds(), LastError: p.shown(e.failed), Declined: e.declined, Allowed: e.allowed(),
		Protocol: e.protocol, BadEntry: e.state == plan.ServerFailed && e.badEntry(),
	}
	s.NeedsLogin, s.Changes, s.TaskTools = e.login, len(e.changes), untrusted.Text(e.tasks)
	if e.state == plan.ServerReady || e.state == plan.ServerStopped {
		s.Note = p.shown(e.problem)
	} else {
		s.Error = p.shown(e.report())
	}
	if e.startup > 0 {
		s.StartMS = max(s.StartMS, 1)
	}
	s.StartLimit = p.startTimeout(e.server)
	calls := e.calls.Summary()
	s.Calls, s.Failures, s.LastMS, s.MedianMS, s.Disabled = calls.Calls, calls.Failures, calls.Last.Milliseconds(), calls.Median.Milliseconds(), e.disabled
	if e.doing != nil && e.state == plan.ServerStarting {
		s.Doing = p.shown(e.doing())
	}
	said := func(c change) bool { return c.Tool == pin.Instructions }
	if e.conn != nil && e.builtin == nil && !slices.ContainsFunc(e.changes, said) {
		s.Instructions = untrusted.Text(p.secrets.Known(e.conn.instructions))
	}
	how := e.server.AsWritten()
	switch {
	case e.builtin != nil:
		s.Source, s.Transport = "built-in", "built-in"
	case e.server.SSE:
		s.Transport, s.URL = "sse", p.secrets.Address(how.URL)
	case how.URL != "":
		s.Transport, s.URL = "http", p.secrets.Address(how.URL)
	case len(how.Command) == 0: // its address is unknown
	default:
		s.Transport, s.Command = "stdio", p.secrets.Command(how.Command)
	}
	if e.builtin == nil && !e.begun.IsZero() {
		s.Log = logOf(p.cfg.LogDir, e.server.Name)
	}
	return s
}
