package mcpclient

import (
	"cmp"
	"context"
	"fmt"

	"replan/mcpclient/config"
	"replan/planning/plan"
)

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
	return e.server.Required && !e.server.Disabled && !undecided
}

// report returns the problem for the user. The caller holds the mutex.
func (e *entry) report() string {
	if e.state == plan.ServerFailed && e.required() {
		return "is required, but " + e.problem
	}
	return e.problem
}
