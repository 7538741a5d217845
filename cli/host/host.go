package host

import (
	"context"

	"replan/agent"
	"replan/agent/event"
	"replan/cli/app"
	"replan/cli/check"
)

// Host carries out runs and knows those that it carried out. Arguments name a run as
// users do; without one the newest is meant.
type Host interface {
	// Open does what replan does without a command.
	Open(ctx context.Context, how Opening) error
	// Goal plans and runs a goal, and prints it as lines or as JSON.
	Goal(ctx context.Context, goal, inDoubt string) error
	// Execute checks a plan and runs it.
	Execute(ctx context.Context, named check.Plan, terms Terms) error
	// Resume continues a run where it stopped.
	Resume(ctx context.Context, args []string, inDoubt string) error
	// List returns the runs, newest first. Nil says that there are some, and that none
	// can be read, which was reported.
	List(ctx context.Context, all bool) ([]agent.Summary, error)
	// Show returns a run in its current state.
	Show(ctx context.Context, args []string) (Shown, error)
	// Recorded returns the full id of a run, and its events.
	Recorded(ctx context.Context, args []string) (id string, events []event.Event, err error)
	// Again returns the flag that another command about these runs needs, after a blank;
	// "" for none.
	Again() string
}

// Of returns where the runs of a command are: on this machine, or with the workers
// of --on. The chat is always about this machine.
func Of(a *app.App) Host {
	if a.Workers().CarryOut() && a.Chat() == nil {
		return Remote{a}
	}
	return local{a}
}

// Shown is a run in its current state.
type Shown struct {
	Run      *agent.Run // without an id if workers have not begun it
	Summary  agent.Summary
	Snapshot agent.Snapshot
}
