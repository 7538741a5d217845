package mcpclient

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"replan/planning/plan"

	"github.com/mark3labs/mcp-go/client/transport"
)

// launch has an entry supervised. The mutex is held.
func (p *Pool) launch(e *entry) {
	e.begun, e.watched = time.Now(), true
	p.work.Go(func() { p.supervise(e) })
}

// supervise connects to a server and stays with it until it is lost for good or
// the pool ends; where it is asked to, it starts the server anew.
func (p *Pool) supervise(e *entry) {
	for {
		again := p.serve(e)
		p.mu.Lock()
		if !again {
			select {
			case <-e.again: // it was asked for just as this life ended
				again = p.life.Err() == nil
			default:
			}
		}
		if e.watched = again; !again {
			p.mu.Unlock()
			return
		}
		e.restarts()
		p.broadcast()
		p.mu.Unlock()
		p.notify()
	}
}

// restarts says of an entry that its server is started anew. The mutex is held.
func (e *entry) restarts() {
	e.state, e.problem, e.tools, e.conn, e.took, e.begun = plan.ServerStarting, "", nil, nil, 0, time.Now()
}

// serve is one life of a server. It reports whether another is asked for.
func (p *Pool) serve(e *entry) (again bool) {
	conn, err := p.dial(e)
	if err != nil {
		p.fail(e, nil, err)
		return false
	}
	for {
		err := p.list(e, conn)
		if errors.Is(err, transport.ErrSessionTerminated) {
			// The server has been started anew and knows nothing of us.
			conn.close()
			if conn, err = p.dial(e); err != nil {
				p.fail(e, nil, err)
				return false
			}
			err = p.list(e, conn)
		}
		switch {
		case err == nil || p.life.Err() != nil:
		case conn.process != nil:
			conn.close()
			p.fail(e, nil, err)
			return false
		default:
			p.fail(e, conn, err)
		}
		select {
		case <-p.life.Done():
			conn.close()
			p.set(func() { e.state, e.problem, e.conn = plan.ServerStopped, "", nil })
			return false
		case <-conn.lost():
			reason := conn.process.reason()
			conn.close()
			p.fail(e, nil, errors.New(reason))
			return false
		case <-e.again:
			conn.close()
			return true
		case <-conn.relist:
		}
	}
}

// Restart ends a server, if it is there, and starts it anew, without waiting for
// that. Calls of it that are under way fail. One that waits for a yes, is
// disabled or starts already is left as it is, and the error says so.
func (p *Pool) Restart(name string) error {
	p.mu.Lock()
	defer p.notify()
	defer p.mu.Unlock()
	at := slices.IndexFunc(p.entries, func(e *entry) bool { return e.server.Name == name })
	switch {
	case p.closed:
		return errors.New("the tools are closed already")
	case at < 0:
		return fmt.Errorf("no MCP server is called %q", name)
	}
	e := p.entries[at]
	switch {
	case e.state == plan.ServerWaiting:
		return fmt.Errorf("%s waits for a yes: answer what is asked about this project's servers", name)
	case e.state == plan.ServerStarting:
		return fmt.Errorf("%s is starting already", name)
	case e.server.Disabled:
		return fmt.Errorf("%s is disabled in its configuration", name)
	case e.leftOut || e.declined:
		return fmt.Errorf("%s was left out: it starts after a yes, which is asked for when replan starts", name)
	case e.server.Problem != "", e.server.Command == "" && e.server.URL == "" && e.builtin == nil, checkName(e.server.Name) != nil && e.builtin == nil:
		return fmt.Errorf("%s cannot be started as it is configured: %s", name, e.problem)
	}
	e.restarts()
	p.broadcast()
	if e.watched {
		select {
		case e.again <- struct{}{}:
		default: // it has been asked to already
		}
		return nil
	}
	p.launch(e)
	return nil
}

// status is how one server stands. The mutex is held.
func (e *entry) status() plan.ServerStatus {
	s := plan.ServerStatus{
		Name: e.server.Name, State: e.state, Tools: len(e.tools), Error: e.problem,
		Source: e.server.Source.String(), StartMS: e.took.Milliseconds(), LastError: e.failed,
	}
	if e.took > 0 {
		s.StartMS = max(s.StartMS, 1)
	}
	how := e.server.forPeople()
	switch {
	case e.builtin != nil:
		s.Source, s.Transport = "built-in", "built-in"
	case how.URL != "":
		s.Transport, s.Reached = "http", how.URL
	case len(how.Command) == 0: // nothing is known of how it would be reached
	default:
		s.Transport, s.Reached = "stdio", strings.Join(how.Command, " ")
	}
	return s
}
