package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"replan/internal/wholefile"
	"replan/mcpclient/config"
)

// switches record which servers the user has disabled: for good in files, or until the
// pool ends. They are safe for concurrent use.
type switches struct {
	workspace    string
	userFile     string // the user's file of servers; may be empty
	disabledFile string // of saved; may be empty
	saved        config.DisabledServers

	mu     sync.Mutex
	forNow map[string]bool // until the pool ends
}

func newSwitches(workspace, userFile, disabledFile string) *switches {
	return &switches{workspace: workspace, userFile: userFile, disabledFile: disabledFile, saved: config.NewDisabledServers(disabledFile), forNow: map[string]bool{}}
}

// disabled returns the servers that are disabled for good in this workspace, other than
// those of the user's own file.
func (w *switches) disabled() ([]string, error) { return w.saved.In(w.workspace) }

// isOffForNow reports whether a server is disabled until the pool ends.
func (w *switches) isOffForNow(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.forNow[name]
}

// setForNow disables a server until the pool ends, or undoes that.
func (w *switches) setForNow(name string, off bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.forNow[name] = off; !off {
		delete(w.forNow, name)
	}
}

// save stores whether a server is disabled, in the server too if its own file
// says so. It returns the changed file.
func (w *switches) save(ctx context.Context, s *config.Server, disable bool) (file string, err error) {
	fromUser := s.Source == config.SourceUser && w.userFile != ""
	if fromUser && disable != s.Disabled {
		err := wholefile.Edit(ctx, w.userFile, func(before []byte) ([]byte, error) { return config.SetDisabled(before, s.Name, disable) })
		if err != nil {
			return "", fmt.Errorf("writing the server %q into %s: %w; edit the file yourself", s.Name, w.userFile, err)
		}
		s.Disabled, file = disable, w.userFile
	}
	if !fromUser && s.Disabled && !disable {
		return "", fmt.Errorf("%s is disabled in the file that defines it: enable it there, then read the files again", s.Name)
	}
	if fromUser && disable {
		return file, nil
	}
	if w.disabledFile == "" && disable {
		return "", errors.New("nothing is saved in this session, so the server can be disabled for now only")
	}
	changed, err := w.saved.Set(ctx, w.workspace, s.Name, disable)
	if changed && file == "" {
		file = w.disabledFile
	}
	return file, err
}
