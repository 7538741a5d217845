package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"replan/internal/wholefile"
	"replan/mcpclient/config"
	"replan/mcpclient/usage"
	"replan/planning/plan"
)

// decisions are what the user has decided about servers.
type decisions struct {
	allowed  trustFile
	disabled []string // for good in this workspace
}

// decisions reads what the user has decided. What cannot be read is logged.
func (p *Pool) decisions() (known decisions) {
	var err error
	if known.allowed, err = p.trust.read(); err != nil {
		p.log.Warn("allowed servers", "error", err)
	}
	if known.disabled, err = p.disabled.In(p.cfg.Dir); err != nil {
		p.log.Warn("disabled servers", "error", err)
	}
	return known
}

// newEntry returns a server in the state before its first start.
func (p *Pool) newEntry(s config.Server, known decisions) *entry {
	e := &entry{server: s, state: plan.ServerStarting, again: make(chan struct{}, 1), wake: make(chan struct{}, 1), calls: &usage.Record{}}
	_, taken := p.cfg.InProcess[s.Name]
	nameErr := config.CheckName(s.Name)
	if taken {
		nameErr = config.ErrNameTaken
	}
	switch {
	case s.Problem != "":
		e.state, e.problem = plan.ServerFailed, s.Problem
	case nameErr != nil:
		e.state, e.problem = plan.ServerFailed, nameErr.Error()
	case s.Disabled:
		e.state, e.problem, e.disabled = plan.ServerStopped, "disabled in the configuration", plan.DisabledForGood
	case slices.Contains(known.disabled, s.Name):
		e.state, e.problem, e.disabled = plan.ServerStopped, "disabled by you in this folder", plan.DisabledForGood
	case p.forNow[s.Name]:
		e.state, e.problem, e.disabled = plan.ServerStopped, "disabled by you until replan ends", plan.DisabledForNow
	case s.SSE:
		e.state, e.problem = plan.ServerFailed, errSSE.Error()
	case s.Command == "" && s.URL == "":
		e.state, e.problem = plan.ServerFailed, "it has neither a command nor a url"
	case s.Source != config.SourceProject || slices.Contains(known.allowed.Allowed[p.cfg.Dir], digest(s)):
	case p.cfg.Trust == TrustNone:
		e.leftOut = true
		e.state, e.problem = plan.ServerStopped,
			"left out: the project defines this server and nobody has approved it; name its file with --mcp-config, or approve it once on the screen"
	default:
		e.state = plan.ServerWaiting
	}
	return e
}

// Reload reads the configuration anew, with Config.Reread, and applies it; see
// [Pool.Reconfigure]. Without Reread it does nothing.
func (p *Pool) Reload() error {
	if p.cfg.Reread == nil {
		return nil
	}
	servers, err := p.cfg.Reread()
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
	known := p.decisions()
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
	for _, s := range chosen(servers) {
		old := before[s.Name]
		if old != nil && sameServer(old.server, s) {
			delete(before, s.Name)
			entries = append(entries, old)
			continue
		}
		e := p.newEntry(s, known)
		p.notes = append(p.notes, s.Notes...)
		if old != nil {
			e.replaces(old)
		}
		entries = append(entries, e)
		if e.state == plan.ServerStarting {
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

// replaces continues the record of the entry that this one replaces, and lets it wait
// for the end of that server: two at once might lock each other out.
func (e *entry) replaces(old *entry) { e.after, e.calls = old.ended, old.calls }

// Disable stops a server and keeps it from starting until [Pool.Enable]: for now,
// until the pool ends, or for good. A server of the user's own file is then disabled
// in that file; any other one in a file of the user's for this workspace, never in
// the file of a project. Disable returns the file that it changed, "" for none.
func (p *Pool) Disable(ctx context.Context, name string, forGood bool) (file string, err error) {
	return p.toggle(ctx, name, true, forGood)
}

// Enable starts a server that the user has disabled, and undoes that in the files
// that [Pool.Disable] changes. It returns the file that it changed, "" for none.
func (p *Pool) Enable(ctx context.Context, name string) (file string, err error) {
	return p.toggle(ctx, name, false, true)
}

// toggle disables or enables a server.
func (p *Pool) toggle(ctx context.Context, name string, disable, forGood bool) (file string, err error) {
	p.mu.Lock()
	s, err := p.toggled(name, disable, forGood)
	p.mu.Unlock()
	if err != nil {
		return "", err
	}
	if forGood {
		if file, err = p.saveDisabled(ctx, &s, disable); err != nil {
			return "", err
		}
	}
	known := p.decisions()
	p.mu.Lock()
	defer p.notify()
	defer p.mu.Unlock()
	at := slices.IndexFunc(p.entries, func(e *entry) bool { return e.server.Name == name })
	if at < 0 || p.closed {
		return file, nil // the files were read again meanwhile, or the program ends
	}
	if p.forNow[name] = disable && !forGood; !p.forNow[name] {
		delete(p.forNow, name)
	}
	old := p.entries[at]
	changed := old.server // a copy: the supervision of the old one still reads it
	changed.Disabled = s.Disabled
	e := p.newEntry(changed, known)
	e.replaces(old)
	if old.end != nil {
		old.end()
	}
	p.entries[at] = e
	if e.state == plan.ServerStarting {
		p.launch(e)
	}
	p.broadcast()
	return file, nil
}

// toggled returns the server to disable or enable, or why that is not possible. The
// caller holds the mutex.
func (p *Pool) toggled(name string, disable, forGood bool) (config.Server, error) {
	at := slices.IndexFunc(p.entries, func(e *entry) bool { return e.server.Name == name })
	switch {
	case p.closed:
		return config.Server{}, errors.New("the tools are closed already")
	case at < 0:
		return config.Server{}, fmt.Errorf("there is no MCP server %q", name)
	}
	e := p.entries[at]
	switch {
	case e.builtin != nil:
		return e.server, fmt.Errorf("%s is part of replan and cannot be disabled here", name)
	case !disable && e.disabled == "":
		return e.server, fmt.Errorf("%s is not disabled", name)
	case disable && e.disabled == plan.DisabledForGood, disable && e.disabled != "" && !forGood:
		return e.server, fmt.Errorf("%s is disabled already", name)
	}
	return e.server, nil
}

// saveDisabled stores whether a server is disabled, in the server too if its own file
// says so. It returns the changed file.
func (p *Pool) saveDisabled(ctx context.Context, s *config.Server, disable bool) (file string, err error) {
	fromUser := s.Source == config.SourceUser && p.cfg.UserFile != ""
	if fromUser && disable != s.Disabled {
		err := wholefile.Edit(ctx, p.cfg.UserFile, func(before []byte) ([]byte, error) { return config.SetDisabled(before, s.Name, disable) })
		if err != nil {
			return "", fmt.Errorf("writing the server %q into %s: %w; edit the file yourself", s.Name, p.cfg.UserFile, err)
		}
		s.Disabled, file = disable, p.cfg.UserFile
	}
	if !fromUser && s.Disabled && !disable {
		return "", fmt.Errorf("%s is disabled in the file that defines it: enable it there, then read the files again", s.Name)
	}
	if fromUser && disable {
		return file, nil
	}
	if p.cfg.DisabledFile == "" && disable {
		return "", errors.New("nothing is saved in this session, so the server can be disabled for now only")
	}
	changed, err := p.disabled.Set(ctx, p.cfg.Dir, s.Name, disable)
	if changed && file == "" {
		file = p.cfg.DisabledFile
	}
	return file, err
}

// sameServer reports whether two configurations mean the same. Notes hold the
// lines of the file, which other entries move.
func sameServer(a, b config.Server) bool {
	a.Notes, b.Notes = nil, nil
	return reflect.DeepEqual(a, b)
}

// awaitPredecessor waits until the server that this one replaces has ended.
func (e *entry) awaitPredecessor(ctx context.Context) {
	if e.after == nil {
		return
	}
	select {
	case <-e.after:
	case <-ctx.Done():
	}
}
