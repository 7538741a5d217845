package server

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"time"

	"replan/mcpclient/connection"
	"replan/mcpclient/trust"
	"replan/planning/plan"
)

// Admission says whether a server may start, and if not, why.
type Admission struct {
	State    plan.ServerState // ServerStarting if it may start
	Problem  string           // why it may not, "" for none
	Declined bool             // the user said no
	LeftOut  bool             // a server of the project, when no user was there to allow it
	Disabled plan.DisabledBy
}

// Declined is the admission of a server that the user said no to.
func Declined() Admission {
	return Admission{State: plan.ServerStopped, Problem: "left out: you said no; a restart asks again", Declined: true}
}

// state is the state of a server. All its changes are in this file. Each wakes those who
// wait for a change.
type state struct {
	signal *Signal
	waits  []time.Duration // before each attempt to restart a lost server

	wake  chan struct{} // ends the wait before the next attempt
	again chan struct{} // asks the supervision for a restart

	mu         sync.Mutex
	now        facts
	supervised bool
}

// facts is the state of a server at one moment.
type facts struct {
	Admission // State and Problem are the present ones

	conn        *connection.Connection // nil if there is none
	description trust.Description      // what it says of its tools
	tasks       string                 // its tools that run only as tasks
	protocol    string                 // the version of the last connection
	begun       time.Time              // time of the last start
	ready       time.Time              // when it became ready; zero if it was lost since
	wasReady    bool                   // since the user last started it
	tries       int                    // starts since it was lost
	lastLine    func() string          // what it last wrote to standard error, while it starts; may be nil
	startup     time.Duration          // from begun until the tools were listed
	failed      string                 // the last failure
	needLogin   bool
}

func newState(signal *Signal, waits []time.Duration, a Admission) *state {
	return &state{signal: signal, waits: waits, wake: make(chan struct{}, 1), again: make(chan struct{}, 1), now: facts{Admission: a}}
}

// facts returns the present state.
func (s *state) facts() facts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// change changes the state, and tells everyone.
func (s *state) change(do func(now *facts)) {
	s.mu.Lock()
	do(&s.now)
	s.signal.Wake()
	s.mu.Unlock()
	s.signal.Tell()
}

// dropped returns the state without the tools, and with another connection.
func (f facts) dropped(state plan.ServerState, problem string, conn *connection.Connection) facts {
	f.State, f.Problem, f.description, f.conn, f.lastLine = state, problem, f.description.WithoutTools(), conn, nil
	return f
}

// allow lets a server start that waits for permission. It reports false if the server
// does not wait. The caller tells the watcher.
func (s *state) allow() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now.State != plan.ServerWaiting {
		return false
	}
	s.now.State = plan.ServerStarting
	s.signal.Wake()
	return true
}

// decline leaves a server out that waits for permission. It reports false if the server
// does not wait. The caller tells the watcher.
func (s *state) decline() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now.State != plan.ServerWaiting {
		return false
	}
	s.now.Admission = Declined()
	s.signal.Wake()
	return true
}

// askPermission makes a server that the user said no to wait for permission again. It
// reports whether it is one. The caller tells the watcher.
func (s *state) askPermission() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.now.Declined {
		return false
	}
	s.now.Admission = Admission{State: plan.ServerWaiting}
	s.signal.Wake()
	return true
}

// begin notes that a server begins to start. It reports false if it may not, or is
// supervised already.
func (s *state) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now.State != plan.ServerStarting || s.supervised {
		return false
	}
	s.now.begun, s.supervised = time.Now(), true
	return true
}

// restart marks a server as starting, and asks its supervision for a restart. It reports
// whether the server has to be launched, since nothing supervises it. The caller tells the
// watcher.
func (s *state) restart() (launch bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.restarting(restarted)
	s.signal.Wake()
	if !s.supervised {
		return true
	}
	select {
	case s.again <- struct{}{}:
	default: // already requested
	}
	return false
}

// isStarting reports whether the first start of a server is under way.
func (s *state) isStarting() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now.State == plan.ServerStarting && s.now.tries == 0 && s.supervised
}

// ending says how serving a server ended.
type ending int

const (
	over      ending = iota // for good
	restarted               // the user asked for a restart
	lost                    // it may be restarted
)

// restarting returns the state of the server while it restarts.
func (f facts) restarting(how ending) facts {
	f.State, f.description, f.conn, f.startup, f.begun, f.needLogin = plan.ServerStarting, f.description.WithoutTools(), nil, 0, time.Now(), false
	if how == restarted {
		f.Problem, f.tries, f.wasReady = "", 0, false
	}
	return f
}

// next decides whether the supervision goes on after serving ended. mayRestart is false if
// the server is to stay stopped, whatever was asked.
func (s *state) next(how ending, mayRestart bool) (goesOn bool) {
	s.mu.Lock()
	if how == over {
		select {
		case <-s.again: // requested just as the server ended
			if mayRestart {
				how = restarted
			}
		default:
		}
	}
	if s.supervised = how != over; how == over {
		s.mu.Unlock()
		return false
	}
	s.now = s.now.restarting(how)
	s.signal.Wake()
	s.mu.Unlock()
	s.signal.Tell()
	return true
}

// connecting notes what tells the last line of a process that starts.
func (s *state) connecting(lastLine func() string) {
	s.change(func(now *facts) { now.lastLine = lastLine })
}

// offer is what a server offers once its tools are listed.
type offer struct {
	description trust.Description
	note        string
	tasks       string
	protocol    string
}

// listed marks a server as ready, unless a restart was asked for meanwhile, after which
// its tools may be others.
func (s *state) listed(conn *connection.Connection, o offer) {
	s.change(func(now *facts) {
		if len(s.again) > 0 {
			return
		}
		now.protocol = o.protocol
		if now.startup == 0 {
			now.startup = max(time.Since(now.begun), 1)
		}
		select {
		case <-s.wake: // of a call that waited for this
		default:
		}
		if now.State != plan.ServerReady {
			now.ready, now.wasReady = time.Now(), true
		}
		now.State, now.Problem, now.conn, now.lastLine, now.needLogin = plan.ServerReady, o.note, conn, nil, false
		now.description, now.tasks = o.description, o.tasks
	})
}

// accept takes a change of a tool as accepted.
func (s *state) accept(seen plan.ServerChange) {
	s.change(func(now *facts) {
		description, changed := now.description.Accepted(seen)
		if !changed {
			return
		}
		if now.description = description; now.State == plan.ServerReady {
			now.Problem = description.Note()
		}
	})
}

// stopped marks a server as stopped with the pool.
func (s *state) stopped() {
	s.change(func(now *facts) { now.State, now.Problem, now.conn = plan.ServerStopped, "", nil })
}

// fail marks a server as failed. conn is the remaining connection, if any, since an HTTP
// server may answer again later.
func (s *state) fail(conn *connection.Connection, err error) {
	s.change(func(now *facts) {
		*now = now.dropped(plan.ServerFailed, err.Error(), conn)
		now.failed, now.needLogin = now.Problem, connection.IsLogin(err)
	})
}

// suspend marks a server as starting while its supervision finds out whether it still
// works; calls wait. It does nothing if conn is no longer its connection.
func (s *state) suspend(conn *connection.Connection, err error) {
	s.mu.Lock()
	current := s.now.conn == conn
	if current {
		s.now.State, s.now.Problem, s.now.failed, s.now.description = plan.ServerStarting, err.Error(), err.Error(), s.now.description.WithoutTools()
		if conn.IsProcess() {
			s.now.conn = nil
		}
		s.signal.Wake()
	}
	s.mu.Unlock()
	if current {
		s.signal.Tell()
		conn.AskAgain()
	}
}

// refused notes that a server wants a login, or one with more rights, for one of its tools.
func (s *state) refused(why error) {
	s.change(func(now *facts) { now.Problem, now.needLogin = why.Error(), true })
}

// errForgotten is the problem of an HTTP server that has forgotten its session.
var errForgotten = errors.New("has forgotten the session")

// steadyTime is how long a server must have been ready for its next loss to count
// as the first one.
const steadyTime = time.Minute

// lost counts an attempt to restart a lost server. It returns how long to wait before, and
// false if that was tried often enough. conn is the remaining connection, if any: a ready
// server always has one.
func (s *state) lost(conn *connection.Connection, why error) (wait time.Duration, ok bool) {
	s.change(func(now *facts) {
		if !now.ready.IsZero() && time.Since(now.ready) > steadyTime {
			now.tries = 0
		}
		now.ready = time.Time{}
		if ok = now.tries < len(s.waits); !ok {
			return
		}
		wait = s.waits[now.tries]
		now.tries++
		*now = now.dropped(plan.ServerStarting, why.Error(), conn)
		now.failed = now.Problem
	})
	return wait, ok
}

// recovered notes that a server works: its next loss is the first one again. It has the
// tools of an HTTP server listed that was considered lost.
func (s *state) recovered() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now.tries = 0; s.now.State == plan.ServerFailed && s.now.conn != nil {
		s.now.conn.AskAgain()
	}
}

// askFailed asks a failed server for its tools again. It reports false if the server
// has not failed, or has no connection.
func (s *state) askFailed() bool {
	s.mu.Lock()
	asked := s.now.State == plan.ServerFailed && s.now.conn != nil
	if asked {
		s.now.State = plan.ServerStarting
		s.now.conn.AskAgain()
		s.signal.Wake()
	}
	s.mu.Unlock()
	if asked {
		s.signal.Tell()
	}
	return asked
}

// restartAsked returns a channel that receives a value when the supervision is to restart
// the server.
func (s *state) restartAsked() <-chan struct{} { return s.again }

// hurried returns a channel that receives a value when the supervision is not to wait
// before the next attempt.
func (s *state) hurried() <-chan struct{} { return s.wake }

// hurry ends the wait before the next attempt to start a lost server.
func (s *state) hurry() {
	select {
	case s.wake <- struct{}{}:
	default: // another call has done it
	}
}

// mayRestart reports whether a lost server will be restarted, or asked again.
func (f facts) mayRestart(waits int) bool { return f.wasReady && f.tries < waits }

// startable returns why a server may not be started, nil if it may. badEntry is whether
// its configuration cannot be used.
func (f facts) startable(name string, badEntry bool) error {
	switch {
	case f.State == plan.ServerWaiting:
		return fmt.Errorf("%s waits for your approval: answer the question about this project's servers", name)
	case f.Disabled != "":
		return fmt.Errorf("%s is disabled: enable it", name)
	case f.LeftOut || f.Declined:
		return fmt.Errorf("%s was left out: approve it on the screen", name)
	case badEntry:
		return fmt.Errorf("%s cannot be started with its configuration: %s", name, f.Problem)
	}
	return nil
}

// why returns the problem of a server, or else its state.
func (f facts) why() string { return cmp.Or(f.Problem, string(f.State)) }
