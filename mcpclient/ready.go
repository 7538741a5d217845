package mcpclient

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"replan/mcpclient/config"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// anyTool matches every tool of every server; see [Pool.ReadyFor].
const anyTool = "*:*"

// Ready waits until all starting servers have started or failed, or ctx ends.
// It returns the available tools in a fixed order. It also retries failed
// servers that may have recovered, but starts none that Config.Later keeps back.
func (p *Pool) Ready(ctx context.Context) plan.Catalogue {
	all, _ := p.readyFor(ctx, []string{anyTool})
	return all
}

// ReadyFor is like Ready but waits only for the tools with these names, which
// may be patterns of [prompt.MatchName]. It waits for the built-in servers and
// for servers in qualified names. It waits for all others only while a bare
// name matches no available tool. It also returns the awaited servers that
// have not started yet.
func (p *Pool) ReadyFor(ctx context.Context, names []string) (all plan.Catalogue, awaited []string) {
	p.Start()
	return p.readyFor(ctx, names)
}

func (p *Pool) readyFor(ctx context.Context, names []string) (all plan.Catalogue, awaited []string) {
	p.retry(names)
	for {
		p.mu.Lock()
		changed := p.changed
		all, awaited = p.catalogue(), p.awaited(names)
		p.mu.Unlock()
		if len(awaited) == 0 || ctx.Err() != nil || p.life.Err() != nil {
			return all, awaited
		}
		select {
		case <-changed:
		case <-ctx.Done():
		case <-p.life.Done():
		}
	}
}

// StartingFor returns how long the server of these that was started last has been
// starting; 0 if there is none.
func (p *Pool) StartingFor(servers []string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	var last time.Time
	for _, e := range p.entries {
		if slices.Contains(servers, e.server.Name) && e.begun.After(last) {
			last = e.begun
		}
	}
	if last.IsZero() {
		return 0
	}
	return time.Since(last)
}

// awaited returns the starting servers that these names require. The caller
// holds the mutex.
func (p *Pool) awaited(names []string) []string {
	all := p.catalogue()
	var servers []string
	for _, e := range p.entries {
		if e.state == plan.ServerStarting && (e.builtin != nil || e.offers(names, all)) {
			servers = append(servers, e.server.Name)
		}
	}
	return servers
}

// offers reports whether a server with unknown tools may have one of these
// names that is not yet available.
func (e *entry) offers(names []string, all plan.Catalogue) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		if server, _, qualified := strings.Cut(name, ":"); qualified {
			return prompt.MatchName(server, e.server.Name)
		}
		return !slices.ContainsFunc(all, func(t plan.Tool) bool { return prompt.MatchName(name, t.Name) })
	})
}

// catalogue returns the tools of all ready servers. The caller holds the
// mutex.
func (p *Pool) catalogue() plan.Catalogue {
	var all plan.Catalogue
	for _, e := range p.entries {
		if e.state == plan.ServerReady {
			all = append(all, e.tools...)
		}
	}
	return append(all, resourceTool(p.entries)...)
}

// retry asks failed servers again if they still have a connection and may
// offer the names, and those whose lists no longer hold.
func (p *Pool) retry(names []string) {
	p.mu.Lock()
	var asked bool
	all := p.catalogue()
	for _, e := range p.entries {
		if e.offers(names, all) && e.askFailed() {
			asked = true
		} else if e.state == plan.ServerReady && e.conn.stale() {
			e.conn.askAgain()
		}
	}
	if asked {
		p.broadcast()
	}
	p.mu.Unlock()
	if asked {
		p.notify()
	}
}

// askFailed asks a failed server for its tools again. It reports false if the server
// has not failed, or has no connection. The caller holds the mutex.
func (e *entry) askFailed() bool {
	if e.state != plan.ServerFailed || e.conn == nil {
		return false
	}
	e.state = plan.ServerStarting
	e.conn.askAgain()
	return true
}

// CheckRequired waits until the required servers have started or failed, or ctx
// ends. It returns an error for the first one that is not ready. A server that
// waits for permission, or that nobody has allowed, is not missed: a project's
// file cannot stop anything before the user trusts it.
func (p *Pool) CheckRequired(ctx context.Context) error {
	p.mu.Lock()
	var names []string
	for _, e := range p.entries {
		if e.required() {
			names = append(names, e.server.Name+":*")
		}
	}
	p.mu.Unlock()
	if len(names) == 0 {
		return nil
	}
	p.ReadyFor(ctx, names)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.entries {
		if e.required() && e.state != plan.ServerReady {
			return fmt.Errorf("the required MCP server %q is not ready: %s", e.server.Name, cmp.Or(e.problem, string(e.state)))
		}
	}
	return nil
}

// required reports whether commands cannot do without the server. The caller
// holds the mutex.
func (e *entry) required() bool {
	undecided := e.state == plan.ServerWaiting || e.leftOut || e.declined || e.server.Problem != "" && e.server.Source == config.SourceProject
	return e.server.Required && e.disabled == "" && !undecided
}

// report returns the problem for the user. The caller holds the mutex.
func (e *entry) report() string {
	if e.state == plan.ServerFailed && e.required() {
		return "is required, but " + e.problem
	}
	return e.problem
}
