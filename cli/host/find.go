package host

import (
	"errors"

	"replan/agent"
	"replan/agent/store"
	"replan/cli/app"
	"replan/cli/exit"
)

// FolderRuns finds the runs of this machine that arguments mean.
type FolderRuns struct {
	store  *store.Store
	folder string // whose newest run is meant without an argument
	out    *app.Output
}

// RunsOn returns the runs of this machine.
func RunsOn(a *app.App) FolderRuns { return FolderRuns{a.Store(), a.Folders().Workspace, a.Out()} }

// LastRun is the word that means the newest run of the folder.
const LastRun = "last"

// ID returns the id of the run that an argument means: its id, its beginning
// or its end. None, and the word last, mean the newest run of this folder.
func (r FolderRuns) ID(args []string) (string, error) {
	if len(args) > 0 && args[0] != LastRun {
		id, err := r.store.FindRun(args[0])
		if err != nil {
			return "", r.out.Unopened(err)
		}
		return id, nil
	}
	id, err := r.store.LastRun(r.folder, nil)
	if err != nil {
		return "", exit.Wrap("list the runs", err)
	}
	if id == "" {
		return "", exit.Usage("no run was started in this folder yet; %q lists those of all folders", r.out.Named("runs"))
	}
	return id, nil
}

// Folded returns the run that an argument means, in its current state.
func (r FolderRuns) Folded(args []string) (agent.Run, error) {
	id, err := r.ID(args)
	if err != nil {
		return agent.Run{}, err
	}
	run, err := r.store.FoldRun(id)
	if err != nil {
		return run, r.out.Unopened(err)
	}
	return run, nil
}

// Resumable returns the run that an argument means: a run, or a plan's latest
// run.
func (r FolderRuns) Resumable(args []string) (agent.Run, error) {
	if len(args) == 0 || args[0] == LastRun {
		return r.Folded(args)
	}
	run, err := r.store.ResumableRun(args[0])
	var none *store.NoRunError
	switch {
	case errors.As(err, &none):
		return run, exit.Usage("%w: start one with %s %s", err, r.out.Named("plan run"), none.Plan)
	case err != nil:
		return run, r.out.Unopened(err)
	}
	return run, nil
}
