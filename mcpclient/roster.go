package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"replan/mcpclient/server"
)

// roster is the list of the servers, and whether they may start. Nothing begins once it
// is closed. It is safe for concurrent use. What it is given to do must not wait, nor call
// the watcher.
type roster struct {
	work sync.WaitGroup // supervised servers and calls in progress

	mu      sync.Mutex
	servers []*server.Server // in a fixed order: built-in servers by name, then as configured
	closed  bool
	begun   bool // servers may start
}

var errClosed = errors.New("the tools are closed already")

// all returns the servers.
func (r *roster) all() []*server.Server {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.servers)
}

// views returns what the servers look like now.
func (r *roster) views() []server.View {
	var views []server.View
	for _, s := range r.all() {
		views = append(views, s.View())
	}
	return views
}

// find returns a server by its name.
func (r *roster) find(name string) (s *server.Server, err error) {
	return s, r.with(name, func(found *server.Server) error {
		s = found
		return nil
	})
}

// with does something with a server, before anything else changes the list.
func (r *roster) with(name string, do func(*server.Server) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, err := r.at(name)
	if err != nil {
		return err
	}
	return do(r.servers[at])
}

// at returns the place of a server. The caller holds the mutex.
func (r *roster) at(name string) (int, error) {
	if r.closed {
		return 0, errClosed
	}
	at := slices.IndexFunc(r.servers, func(s *server.Server) bool { return s.Name() == name })
	if at < 0 {
		return 0, fmt.Errorf("there is no MCP server %q", name)
	}
	return at, nil
}

// change replaces the list by what do returns. The new servers start if servers may.
func (r *roster) change(do func(before []*server.Server) []*server.Server) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return errClosed
	}
	r.servers = do(slices.Clone(r.servers))
	r.launch()
	return nil
}

// launch starts the servers that may start. The caller holds the mutex.
func (r *roster) launch() {
	if !r.begun {
		return
	}
	for _, s := range r.servers {
		s.Launch()
	}
}

// replace puts another server into the place of one, and starts it if it may start.
func (r *roster) replace(name string, by func(old *server.Server) (*server.Server, error)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, err := r.at(name)
	if err != nil {
		return err
	}
	s, err := by(r.servers[at])
	if err != nil {
		return err
	}
	r.servers[at] = s
	s.Launch()
	return nil
}

// begin lets servers start. It reports whether they could not before.
func (r *roster) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.begun || r.closed {
		return false
	}
	r.begun = true
	r.launch()
	return true
}

// enter registers work with a server that check admits. The caller calls leave when it is
// done.
func (r *roster) enter(name string, check func(*server.Server) error) (s *server.Server, leave func(), err error) {
	err = r.with(name, func(found *server.Server) error {
		if err := check(found); err != nil {
			return err
		}
		s = found
		r.work.Add(1)
		return nil
	})
	return s, r.work.Done, err
}

// anyServer admits each server.
func anyServer(*server.Server) error { return nil }

// run does something in the background, which close waits for.
func (r *roster) run(do func()) { r.work.Go(do) }

// underway returns the work in progress, to which a server adds its own.
func (r *roster) underway() *sync.WaitGroup { return &r.work }

// close ends the roster with the context of its servers, which end cancels, and waits for
// all work. It reports false if that takes longer than most.
func (r *roster) close(end context.CancelFunc, most time.Duration) bool {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	end()
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.work.Wait()
	}()
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}
