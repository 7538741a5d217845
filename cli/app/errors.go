package app

import (
	"errors"
	"fmt"
	"io/fs"

	"replan/agent/event"
	"replan/agent/store"
	"replan/agent/store/journal"
	planfiles "replan/agent/store/plans"
	"replan/cli/exit"
	"replan/planning/plan"
)

// Unopened returns the error for a plan, run or session that cannot be opened.
func (o *Output) Unopened(err error) error {
	code := "unreadable"
	if unknown, ok := errors.AsType[*store.NotFoundError](err); ok {
		err = fmt.Errorf("%w; see %q", err, o.Named(map[string]string{"run": "runs", "plan": "plan list"}[unknown.Kind]))
	}
	var ambiguous *plan.AmbiguousIDError
	var damaged *journal.DamageError
	switch {
	case errors.As(err, &ambiguous):
		code = "ambiguous"
	case errors.Is(err, plan.ErrUnknownID), errors.Is(err, fs.ErrNotExist):
		code = "unknown"
	case errors.Is(err, journal.ErrLocked):
		code = "locked"
	case errors.Is(err, planfiles.ErrExists):
		code = "exists"
	case errors.As(err, &damaged), errors.Is(err, event.ErrNoEvents):
		code = "damaged"
	}
	return &exit.Error{Status: exit.BadUsage, Code: code, Err: err}
}

// NoDryResume returns why a dry run cannot resume another run.
func (o *Output) NoDryResume() error {
	return exit.Usage("a resume cannot be a dry run: use %s ID --dry-run", o.Named("plan run"))
}
