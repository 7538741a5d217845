package cli

import (
	"context"
	"fmt"
	"slices"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/cli/app"
	"replan/cli/check"
	"replan/cli/host"
	"replan/cli/serve"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/tui/wording"
)

// backend is what the served plan tools work with.
type backend struct {
	app      *app.App
	services *app.Services
}

// Begin starts a session for one call. Its words come from another program: they
// name no files, and allow no tests.
func (b backend) Begin(ctx context.Context) (serve.Session, error) {
	cfg := b.services.Config()
	cfg.Delegated, cfg.InputHelp = true, nil
	return runner.NewSession(ctx, cfg)
}

// Execute returns the command that runs a stored plan, which it checks.
func (b backend) Execute(ctx context.Context, id string) (session.Execute, error) {
	stored, err := b.app.Store().LoadPlan(id)
	if err != nil {
		return session.Execute{}, fmt.Errorf("the plan cannot be read: use the id that %s returned: %w", prompt.PlanCreate, err)
	}
	data, err := plan.EncodeJSON(stored)
	if err != nil {
		return session.Execute{}, fmt.Errorf("read the plan %s: %w", stored.ID, err)
	}
	v, err := check.With(b.app, b.services).Check(ctx, check.Plan{Data: data, Stored: true}, nil)
	if err != nil {
		return session.Execute{}, err
	}
	if len(v.Faults) > 0 {
		return session.Execute{}, fmt.Errorf("the plan %s cannot be run: %w", stored.ID, plan.FaultError(v.Faults))
	}
	return host.Terms{}.Command(v.Plan, b.app.Planning().Strict()), nil
}

// Runs lists the runs of this folder. Runs that only made a plan are left out, as
// in replan runs.
func (b backend) Runs() ([]agent.Summary, error) {
	all, broken, err := b.app.Store().Summaries()
	if err != nil {
		return nil, fmt.Errorf("list the runs: %w", err)
	}
	for _, err := range broken {
		b.services.Logger().Warn("a run cannot be listed", "error", err)
	}
	return slices.DeleteFunc(all, func(s agent.Summary) bool {
		return s.PlanOnly && s.Status == event.StatusCompleted || !runner.SameFolder(s.Workspace, b.app.Folders().Workspace)
	}), nil
}

// Run returns a run of this folder.
func (b backend) Run(id string) (run agent.Run, live bool, err error) {
	if id, err = b.app.Store().FindRun(id); err != nil {
		return run, false, fmt.Errorf("%w: use an id of runs_list", err)
	}
	// Check first: a run that ends later has its end in the journal too.
	if live, err = b.app.Store().Locked(id); err != nil {
		return run, false, fmt.Errorf("find out whether the run %s is active: %w", wording.ShortID(id), err)
	}
	if run, err = b.app.Store().FoldRun(id); err != nil {
		return run, false, fmt.Errorf("read the run %s: %w", wording.ShortID(id), err)
	}
	if !runner.SameFolder(run.Workspace, b.app.Folders().Workspace) {
		return run, false, fmt.Errorf("the run %s belongs to another folder: use an id of runs_list", wording.ShortID(id))
	}
	return run, live, nil
}
