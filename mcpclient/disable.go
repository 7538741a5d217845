package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"replan/internal/wholefile"
	"replan/mcpclient/config"
	"replan/planning/plan"
)

// switches records which servers the user has disabled.
type switches struct {
	saved  config.DisabledServers // for good
	forNow map[string]bool        // until the pool ends; the pool's mutex guards it
}

// decisions are what the user has decided about servers.
type decisions struct {
	allowed  trustFile
	disabled []string // for good in this workspace
}

// readDecisions reads what the user has decided. What cannot be read is logged.
func readDecisions(p *Pool) (known decisions) {
	var err error
	if known.allowed, err = p.trust.read(); err != nil {
		p.log.Warn("allowed servers", "error", err)
	}
	if known.disabled, err = p.switches.saved.In(p.cfg.Dir); err != nil {
		p.log.Warn("disabled servers", "error", err)
	}
	return known
}

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
	old, err := findEntry(p, name)
	if err == nil {
		err = old.mayToggle(disable, forGood)
	}
	p.mu.Unlock()
	if err != nil {
		return "", err
	}
	changed := old.server // a copy: the supervision of the old one still reads it
	if forGood {
		if file, err = p.switches.save(ctx, p.cfg, &changed, disable); err != nil {
			return "", err
		}
	}
	known := readDecisions(p)
	p.mu.Lock()
	defer p.notify()
	defer p.mu.Unlock()
	if old, err = findEntry(p, name); err != nil {
		return file, nil // the files were read again meanwhile, or the program ends
	}
	disabled := changed.Disabled
	changed = old.server
	changed.Disabled = disabled
	if p.switches.forNow[name] = disable && !forGood; !p.switches.forNow[name] {
		delete(p.switches.forNow, name)
	}
	e := p.newEntry(changed, known)
	e.replaces(old)
	if old.end != nil {
		old.end()
	}
	p.entries[slices.Index(p.entries, old)] = e
	if e.state == plan.ServerStarting {
		p.launch(e)
	}
	p.broadcast()
	return file, nil
}

// findEntry returns a server by its name. The caller holds the mutex.
func findEntry(p *Pool, name string) (*entry, error) {
	if p.closed {
		return nil, errors.New("the tools are closed already")
	}
	at := slices.IndexFunc(p.entries, func(e *entry) bool { return e.server.Name == name })
	if at < 0 {
		return nil, fmt.Errorf("there is no MCP server %q", name)
	}
	return p.entries[at], nil
}

// mayToggle returns why a server cannot be disabled or enabled now, nil if it can.
func (e *entry) mayToggle(disable, forGood bool) error {
	name := e.server.Name
	switch {
	case e.builtin != nil:
		return fmt.Errorf("%s is part of replan and cannot be disabled here", name)
	case !disable && e.disabled == "":
		return fmt.Errorf("%s is not disabled", name)
	case disable && e.disabled == plan.DisabledForGood, disable && e.disabled != "" && !forGood:
		return fmt.Errorf("%s is disabled already", name)
	}
	return nil
}

// save stores whether a server is disabled, in the server too if its own file
// says so. It returns the changed file.
func (w *switches) save(ctx context.Context, cfg Config, s *config.Server, disable bool) (file string, err error) {
	fromUser := s.Source == config.SourceUser && cfg.UserFile != ""
	if fromUser && disable != s.Disabled {
		err := wholefile.Edit(ctx, cfg.UserFile, func(before []byte) ([]byte, error) { return config.SetDisabled(before, s.Name, disable) })
		if err != nil {
			return "", fmt.Errorf("writing the server %q into %s: %w; edit the file yourself", s.Name, cfg.UserFile, err)
		}
		s.Disabled, file = disable, cfg.UserFile
	}
	if !fromUser && s.Disabled && !disable {
		return "", fmt.Errorf("%s is disabled in the file that defines it: enable it there, then read the files again", s.Name)
	}
	if fromUser && disable {
		return file, nil
	}
	if cfg.DisabledFile == "" && disable {
		return "", errors.New("nothing is saved in this session, so the server can be disabled for now only")
	}
	changed, err := w.saved.Set(ctx, cfg.Dir, s.Name, disable)
	if changed && file == "" {
		file = cfg.DisabledFile
	}
	return file, err
}
