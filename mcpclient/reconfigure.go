package mcpclient

import (
	"context"
	"fmt"
	"reflect"

	"replan/mcpclient/config"
	"replan/mcpclient/server"
	"replan/mcpclient/trust"
)

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
	known := p.admissions.decisions()
	err := p.roster.change(func(before []*server.Server) (after []*server.Server) {
		gone := map[string]*server.Server{}
		for _, s := range before {
			if s.IsBuiltin() {
				after = append(after, s)
			} else {
				gone[s.Name()] = s
			}
		}
		for _, c := range config.Chosen(servers) {
			old := gone[c.Name]
			if old != nil && sameServer(old.Config(), c) {
				delete(gone, c.Name)
				after = append(after, old)
				continue
			}
			s := p.newServer(c, known)
			for _, text := range c.Notes {
				p.notes.add(c.Name, text)
			}
			if old != nil {
				s.Replaces(old)
			}
			after = append(after, s)
		}
		for _, s := range gone {
			s.End()
		}
		return after
	})
	p.announce()
	return err
}

// sameServer reports whether two configurations mean the same. Notes hold the
// lines of the file, which other entries move.
func sameServer(a, b config.Server) bool {
	a.Notes, b.Notes = nil, nil
	return reflect.DeepEqual(a, b)
}

// Restart stops a server if it is running and starts it again, without
// waiting. Its calls in progress fail. Restart returns an error for a server
// that waits for permission, is disabled or is already starting, and leaves it
// unchanged. One that the user said no to asks for permission again.
func (p *Pool) Restart(name string) error {
	err := p.roster.with(name, func(s *server.Server) error {
		if p.cfg.Trust != trust.None && s.AskPermission() {
			return nil
		}
		return s.Restart()
	})
	p.settings.Signal.Tell()
	return err
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
	var changed config.Server
	err = p.roster.with(name, func(s *server.Server) error {
		changed = s.Config()
		return s.MayToggle(disable, forGood)
	})
	if err != nil {
		return "", err
	}
	if forGood {
		if file, err = p.switches.save(ctx, &changed, disable); err != nil {
			return "", err
		}
	}
	known := p.admissions.decisions()
	// It fails if the files were read again meanwhile, or the program ends.
	_ = p.roster.replace(name, func(old *server.Server) (*server.Server, error) {
		c := old.Config()
		c.Disabled = changed.Disabled
		p.switches.setForNow(name, disable && !forGood)
		s := p.newServer(c, known)
		s.Replaces(old)
		return s, nil
	})
	p.announce()
	return file, nil
}

// Login logs in to an HTTP server and restarts it. It opens the address of the
// login in a browser, see [Config.Browse], and calls show with it, from the goroutine
// of the caller. It then waits, for five minutes at most, until the user has logged in
// there, or the address at which a browser on another machine ended comes from pasted,
// which may be nil.
func (p *Pool) Login(ctx context.Context, name string, show func(address string), pasted <-chan string) error {
	s, leave, err := p.roster.enter(name, (*server.Server).MayLogin)
	if err != nil {
		return err
	}
	defer leave()
	err = s.Login(ctx, func(address string) {
		if p.cfg.Browse != nil {
			if err := p.cfg.Browse(address); err != nil {
				p.cfg.Logger.Info("no browser", "error", err)
			}
		}
		show(address)
	}, pasted)
	if err != nil {
		return err
	}
	err = p.roster.with(name, (*server.Server).UseLogin)
	p.settings.Signal.Tell()
	return err
}
