package app

import (
	"context"
	"errors"
	"os"

	"replan/cli/config"
	"replan/cli/crash"
	"replan/mcpclient"
	"replan/mcpclient/box"
	"replan/mcpclient/workcopy"
)

// Open prepares what a session works with and starts it.
func (a *App) Open(ctx context.Context, how Opening) (*Services, error) {
	s, err := a.Prepare(ctx, how)
	if err != nil {
		return nil, err
	}
	if err := s.Begin(ctx, how); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Prepare opens everything a session works with. [Services.Begin] starts the session.
func (a *App) Prepare(ctx context.Context, how Opening) (*Services, error) {
	if how.Resume != "" && !a.Isolation().Asked && workcopy.Elsewhere(a.Folders().Dirs.Copies(), a.Folders().Workspace, how.Resume) != nil {
		a = a.With((*config.Options).Isolate) // the run continues where it worked
	}
	return openServices(a, true, func(s *Services) error { return s.prepare(ctx, how) })
}

// OpenTools opens tools alone, for a command that starts no session.
func (a *App) OpenTools(ctx context.Context) (*Services, error) {
	return openServices(a, false, func(s *Services) error { return s.openTools(ctx, Opening{Trust: mcpclient.TrustNone}) })
}

// OpenWorkspace opens what the workspace's operators need to be served alone.
func (a *App) OpenWorkspace() (*Services, error) {
	return openServices(a, true, (*Services).openBox)
}

// NewWatch returns the watcher of this process; nil if there can be none.
func (a *App) NewWatch() *crash.Watch {
	tty, _ := a.IO().Out.(*os.File)
	if !a.IO().Terminal {
		tty = nil
	}
	watch, err := crash.New(a.Folders().Dirs.Crashes(), a.Version(), tty)
	if err != nil {
		return nil // crashes then go unreported
	}
	return watch
}

// OpenChanges opens the copy in which changes of earlier runs wait.
func (a *App) OpenChanges(ctx context.Context) (*Services, error) {
	return openServices(a.With((*config.Options).OpenCopy), false, func(s *Services) error { return s.openChanges(ctx) })
}

// Box returns the box of the children of a command that starts no session, nil if the
// user wants none.
func (a *App) Box() (*box.Box, error) {
	return newBox(a.Isolation(), a.Folders().Dirs, a.Folders().Workspace, false)
}

// Undoing returns what restores files of the workspace.
func (a *App) Undoing() Undoing { return Undoing{a.Store(), a.Folders().Workspace, a.Out()} }
