package cli

import (
	"errors"

	"replan/agent"
	"replan/agent/store"
	"replan/cli/app"
	"replan/cli/exit"
)

// folderRuns finds the runs of this machine that arguments mean.
type folderRuns struct {
	store  *store.Store
	folder string // whose newest run is meant without an argument
	out    *app.Output
}

// runsOn returns the runs of this machine.
func runsOn(a *app.App) folderRuns { return folderRuns{a.Store(), a.Settings().Workspace, a.Out()} }

// lastRun is the word that means the newest run of the folder.
const lastRun = "last"

// id returns the id of the run that an argument means: its id, its beginning
// or its end. None, and the word last, mean the newest run of this folder.
func (r folderRuns) id(args []string) (string, error) {
	if len(args) > 0 && args[0] != lastRun {
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

// folded returns the run that an argument means, in its current state.
func (r folderRuns) folded(args []string) (agent.Run, error) {
	id, err := r.id(args)
	if err != nil {
		return agent.Run{}, err
	}
	run, err := r.store.FoldRun(id)
	if err != nil {
		return run, r.out.Unopened(err)
	}
	return run, nil
}

// resumable returns the run that an argument means: a run, or a plan's latest
// run.
func (r folderRuns) resumable(args []string) (agent.Run, error) {
	if len(args) == 0 || args[0] == lastRun {
		return r.folded(args)
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
