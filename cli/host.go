package cli

import (
	"context"

	"replan/agent/event"
	"replan/cli/app"
)

// host is where runs are carried out.
type host interface {
	open(ctx context.Context, how opening) error
	goal(ctx context.Context, goal, inDoubt string) error
	execute(ctx context.Context, named namedPlan, terms planTerms) error
	resume(ctx context.Context, args []string, inDoubt string) error
	list(ctx context.Context, all bool) error
	show(ctx context.Context, args []string) (shownRun, error)
	recorded(ctx context.Context, args []string) (id string, events []event.Event, err error)
	again() string // the flag that commands about these runs need
}

// hostOf returns where the runs of a command are: on this machine, or with the workers
// of --on. This is decided here alone. The chat is always about this machine.
func hostOf(a *app.App) host {
	if a.Settings().Distributed.On != "" && a.Chat() == nil {
		return remoteHost{a}
	}
	return localHost{a}
}
