package mcpclient

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"replan/mcpclient/config"
	"replan/mcpclient/usage"
	"replan/planning/plan"
)

// newEntry returns a server in the state before its first start.
func (p *Pool) newEntry(s config.Server, known decisions) *entry {
	e := &entry{server: s, state: plan.ServerStarting, again: make(chan struct{}, 1), wake: make(chan struct{}, 1), calls: &usage.Record{}, mentioned: newMentions()}
	_, taken := p.cfg.InProcess[s.Name]
	nameErr := config.CheckName(s.Name)
	if taken {
		nameErr = config.ErrNameTaken
	}
	switch {
	case s.Disabled:
		e.state, e.problem, e.disabled = plan.ServerStopped, "disabled in the configuration", plan.DisabledForGood
	case slices.Contains(known.disabled, s.Name):
		e.state, e.problem, e.disabled = plan.ServerStopped, "disabled by you in this folder", plan.DisabledForGood
	case p.switches.forNow[s.Name]:
		e.state, e.problem, e.disabled = plan.ServerStopped, "disabled by you until replan ends", plan.DisabledForNow
	case s.Problem != "":
		e.state, e.problem = plan.ServerFailed, s.Problem
	case nameErr != nil:
		e.state, e.problem = plan.ServerFailed, nameErr.Error()
	case s.Command == "" && s.URL == "":
		e.state, e.problem = plan.ServerFailed, "it has neither a command nor a url"
	case s.Source != config.SourceProject || known.allowed.allows(p.cfg.Dir, s):
	case known.allowed.declines(p.cfg.Dir, s):
		e.decline()
	case p.cfg.Trust == TrustNone:
		e.leftOut = true
		e.state, e.problem = plan.ServerStopped,
			"left out: the project defines this server and nobody has approved it; name its file with --mcp-config, or approve it once on the screen"
	default:
		e.state = plan.ServerWaiting
	}
	return e
}

// Reload reads the configuration again, with Config.Reread, and applies it; see
// [Pool.Reconfigure]. Without Reread it does nothing.
func (p *Pool) Reload() error {
	if p.cfg.Reread == nil {
		return nil
	}
	servers, err := p.cfg.Reread()
	p.learn(servers)
	if err != nil {
		return fmt.Errorf("reading the MCP servers again: %w", err)
	}
	return p.Reconfigure(servers)
}

// Reconfigure replaces the configured servers, without waiting. Servers whose
// configuration is the same stay as they are. New ones start, or wait for
// permission; removed ones stop, and their calls in progress fail; changed ones
// stop and start again. The built-in servers stay.
func (p *Pool) Reconfigure(servers []config.Server) error {
	known := readDecisions(p)
	p.mu.Lock()
	defer p.notify()
	defer p.mu.Unlock()
	if p.closed {
		return errors.New("the tools are closed already")
	}
	var entries []*entry
	before := map[string]*entry{}
	for _, e := range p.entries {
		if e.builtin != nil {
			entries = append(entries, e)
		} else {
			before[e.server.Name] = e
		}
	}
	for _, s := range config.Chosen(servers) {
		old := before[s.Name]
		if old != nil && sameServer(old.server, s) {
			delete(before, s.Name)
			entries = append(entries, old)
			continue
		}
		e := p.newEntry(s, known)
		for _, text := range s.Notes {
			p.notes = append(p.notes, note{s.Name, text})
		}
		if old != nil {
			e.replaces(old)
		}
		entries = append(entries, e)
		if p.begun && e.state == plan.ServerStarting {
			p.launch(e)
		}
	}
	for _, old := range before {
		if old.end != nil {
			old.end()
		}
	}
	p.entries = entries
	p.broadcast()
	return nil
}

// replaces continues the records of the entry that this one replaces, and lets it wait
// for the end of that server: two at once might lock each other out.
func (e *entry) replaces(old *entry) {
	e.calls, e.mentioned = old.calls, old.mentioned
	if e.after = old.ended; old.ended == nil {
		e.after = old.after // the old one was never started
	}
}

// sameServer reports whether two configurations mean the same. Notes hold the
// lines of the file, which other entries move.
func sameServer(a, b config.Server) bool {
	a.Notes, b.Notes = nil, nil
	return reflect.DeepEqual(a, b)
}

// awaitPredecessor waits until the server that this one replaces has ended, which has
// been cancelled. It waits even if this one was replaced too, since the next waits for it.
func (e *entry) awaitPredecessor() {
	if e.after != nil {
		<-e.after
	}
}
