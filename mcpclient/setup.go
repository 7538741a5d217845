package mcpclient

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"

	"replan/internal/redact"
	"replan/mcpclient/config"
	"replan/mcpclient/server"
)

// setup changes which servers there are, and which of them run.
type setup struct {
	reread     func() ([]config.Server, error)
	browse     func(address string) error
	asks       bool // a user is there to ask
	secrets    *redact.Secrets
	log        *slog.Logger
	roster     *roster
	signal     *server.Signal
	admissions *admissions
	switches   *switches // those of the admissions
	notes      *notes
}

// learn takes note of the secrets of servers.
func (u *setup) learn(servers []config.Server) {
	for _, s := range servers {
		s.AddSecrets(u.secrets)
	}
}

// Reload reads the configuration again, with Config.Reread, and applies it; see
// [Pool.Reconfigure]. Without Reread it does nothing.
func (u *setup) Reload() error {
	if u.reread == nil {
		return nil
	}
	servers, err := u.reread()
	u.learn(servers)
	if err != nil {
		return fmt.Errorf("reading the MCP servers again: %w", err)
	}
	return u.Reconfigure(servers)
}

// Reconfigure replaces the configured servers, without waiting. Servers whose
// configuration is the same stay as they are. New ones start, or wait for
// permission; removed ones stop, and their calls in progress fail; changed ones
// stop and start again. The built-in servers stay.
func (u *setup) Reconfigure(servers []config.Server) error {
	known := u.admissions.decisions()
	err := u.roster.change(func(before []*server.Server) (after []*server.Server) {
		removed := map[string]*server.Server{}
		for _, s := range before {
			if s.IsBuiltin() {
				after = append(after, s)
			} else {
				removed[s.Name()] = s
			}
		}
		for _, c := range config.Chosen(servers) {
			old := removed[c.Name]
			if old != nil && sameServer(old.Config(), c) {
				delete(removed, c.Name)
				after = append(after, old)
				continue
			}
			s := u.admissions.newServer(c, known)
			for _, text := range c.Notes {
				u.notes.add(c.Name, text)
			}
			if old != nil {
				s.Replaces(old)
			}
			after = append(after, s)
		}
		for _, s := range removed {
			s.End()
		}
		return after
	})
	u.signal.Announce()
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
func (u *setup) Restart(name string) error {
	err := u.roster.with(name, func(s *server.Server) error {
		if u.asks && s.AskPermission() {
			return nil
		}
		return s.Restart()
	})
	u.signal.Tell()
	return err
}

// Disable stops a server and keeps it from starting until [Pool.Enable]: for now, until
// the pool ends, or for good. A server of the user's own file is then disabled in that
// file. Any other one is in a file of the user's for this workspace, never in the file of
// a project. Disable returns the file that it changed, "" for none.
func (u *setup) Disable(ctx context.Context, name string, forGood bool) (file string, err error) {
	return u.toggle(ctx, name, true, forGood)
}

// Enable starts a server that the user has disabled, and undoes that in the files
// that [Pool.Disable] changes. It returns the file that it changed, "" for none.
func (u *setup) Enable(ctx context.Context, name string) (file string, err error) {
	return u.toggle(ctx, name, false, true)
}

// toggle disables or enables a server.
func (u *setup) toggle(ctx context.Context, name string, disable, forGood bool) (file string, err error) {
	var changed config.Server
	err = u.roster.with(name, func(s *server.Server) error {
		changed = s.Config()
		return s.MayToggle(disable, forGood)
	})
	if err != nil {
		return "", err
	}
	if forGood {
		if file, err = u.switches.save(ctx, &changed, disable); err != nil {
			return "", err
		}
	}
	known := u.admissions.decisions()
	// It fails if the files were read again meanwhile, or the program ends.
	_ = u.roster.replace(name, func(old *server.Server) (*server.Server, error) {
		c := old.Config()
		c.Disabled = changed.Disabled
		u.switches.setForNow(name, disable && !forGood)
		s := u.admissions.newServer(c, known)
		s.Replaces(old)
		return s, nil
	})
	u.signal.Announce()
	return file, nil
}

// Login logs in to an HTTP server and restarts it. It opens the address of the login
// in a browser, see [Config.Browse], and calls show with it, from the goroutine of the
// caller. It then waits until the user has logged in there, for five minutes at most.
// pasted, which may be nil, brings the address at which a browser on another machine
// ended.
func (u *setup) Login(ctx context.Context, name string, show func(address string), pasted <-chan string) error {
	s, leave, err := u.roster.enter(name, (*server.Server).MayLogin)
	if err != nil {
		return err
	}
	defer leave()
	err = s.Login(ctx, func(address string) {
		if u.browse != nil {
			if err := u.browse(address); err != nil {
				u.log.Info("no browser", "error", err)
			}
		}
		show(address)
	}, pasted)
	if err != nil {
		return err
	}
	err = u.roster.with(name, (*server.Server).UseLogin)
	u.signal.Tell()
	return err
}
