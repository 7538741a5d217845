package mcpclient

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"replan/mcpclient/server"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// anyTool matches every tool of every server; see [Pool.ReadyFor].
const anyTool = "*:*"

// readiness waits for servers, and tells which tools they have.
type readiness struct {
	life   context.Context // of the pool
	roster *roster
	signal *server.Signal
}

// Ready waits until all starting servers have started or failed, or ctx ends.
// It returns the available tools in a fixed order. It also retries failed
// servers that may have recovered, but starts none that Config.Later keeps back.
func (r *readiness) Ready(ctx context.Context) plan.Catalog {
	all, _ := r.readyFor(ctx, []string{anyTool})
	return all
}

// ReadyFor is like Ready but waits only for the tools with these names, which
// may be patterns of [prompt.MatchName]. It waits for the built-in servers and
// for servers in qualified names. It waits for all others only while a bare
// name matches no available tool. It also returns the awaited servers that
// have not started yet.
func (r *readiness) ReadyFor(ctx context.Context, names []string) (all plan.Catalog, awaited []string) {
	r.roster.begin()
	return r.readyFor(ctx, names)
}

func (r *readiness) readyFor(ctx context.Context, names []string) (all plan.Catalog, awaited []string) {
	r.refresh(names)
	for {
		changed := r.signal.Changed()
		views := r.roster.views()
		all, awaited = catalog(views), starting(views, names)
		if len(awaited) == 0 || ctx.Err() != nil || r.life.Err() != nil {
			return all, awaited
		}
		select {
		case <-changed:
		case <-ctx.Done():
		case <-r.life.Done():
		}
	}
}

// refresh asks failed servers again if they still have a connection and may
// offer the names, and those whose lists no longer hold.
func (r *readiness) refresh(names []string) {
	all := catalog(r.roster.views())
	for _, s := range r.roster.all() {
		s.Refresh(mayOffer(s.Name(), names, all))
	}
}

// StartingFor returns how long the server of these that was started last has been
// starting; 0 if there is none.
func (r *readiness) StartingFor(servers []string) time.Duration {
	var last time.Time
	for _, v := range r.roster.views() {
		if slices.Contains(servers, v.Name) && v.Begun.After(last) {
			last = v.Begun
		}
	}
	if last.IsZero() {
		return 0
	}
	return time.Since(last)
}

// starting returns the starting servers that these names require.
func starting(views []server.View, names []string) []string {
	all := catalog(views)
	var servers []string
	for _, v := range views {
		if v.State == plan.ServerStarting && (v.Builtin || mayOffer(v.Name, names, all)) {
			servers = append(servers, v.Name)
		}
	}
	return servers
}

// mayOffer reports whether a server with unknown tools may have one of these
// names that is not yet available.
func mayOffer(name string, names []string, all plan.Catalog) bool {
	return slices.ContainsFunc(names, func(wanted string) bool {
		if server, _, qualified := strings.Cut(wanted, ":"); qualified {
			return prompt.MatchName(server, name)
		}
		return !slices.ContainsFunc(all, func(t plan.Tool) bool { return prompt.MatchName(wanted, t.Name) })
	})
}

// catalog returns the tools of all ready servers.
func catalog(views []server.View) plan.Catalog {
	var all plan.Catalog
	for _, v := range views {
		all = append(all, v.Tools...)
	}
	return append(all, resourceTool(views)...)
}

// CheckRequired waits until the required servers have started or failed, or ctx ends. It
// returns an error for the first one that is not ready. A server that waits for
// permission, or that the user has not allowed, is not missed. A project's file cannot
// stop anything before the user trusts it.
func (r *readiness) CheckRequired(ctx context.Context) error {
	var names []string
	for _, v := range r.roster.views() {
		if v.Required {
			names = append(names, v.Name+":*")
		}
	}
	if len(names) == 0 {
		return nil
	}
	r.ReadyFor(ctx, names)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, v := range r.roster.views() {
		if v.Required && v.State != plan.ServerReady {
			return fmt.Errorf("the required MCP server %q is not ready: %s", v.Name, v.Why)
		}
	}
	return nil
}
