package screen

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"replan/agent/event"
	"replan/agent/runner"
	"replan/agent/store/journal"
	"replan/cli/app"
	"replan/cli/exit"
	"replan/cli/lines"
)

// Continued is what replan --continue continues.
type Continued struct {
	Session *runner.Restored // nil if the conversation is gone
	Run     string           // to resume; "" if the newest run is complete
	Note    string           // for the user; "" is none
}

// Close releases a session that is not continued.
func (c Continued) Close() error {
	if c.Session == nil {
		return nil
	}
	return c.Session.Journal.Close()
}

// FindContinued finds and opens the session to continue.
func FindContinued(a *app.App) (Continued, error) {
	var c Continued
	run, ok, err := a.Store().NewestRun(a.Folders().Workspace)
	if err != nil {
		return c, a.Out().Unopened(err)
	}
	if !ok {
		return c, exit.Usage("there is nothing to continue in this folder: no run was started here; start with replan, or replan run GOAL")
	}
	if !a.Screen() {
		if err := lines.CanReview(a, &run); err != nil {
			return c, err
		}
	}
	if run.Resumable() && (run.Result == nil || run.Result.Reason == event.ReasonInterrupted) {
		c.Run = run.ID
	}
	id := run.Summary().Session
	j, events, err := a.Store().Sessions.Open(strings.TrimSpace(id))
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, event.ErrNoEvents), id == "":
		c.Note = "the conversation is gone; its newest run is still there"
		return c, nil
	case errors.Is(err, journal.ErrLocked):
		return c, &exit.Error{Status: exit.BadUsage, Code: "locked", Err: fmt.Errorf("the session %s is open in another replan: close that one, or omit --continue", id)}
	case err != nil:
		return c, a.Out().Unopened(err)
	}
	c.Session = &runner.Restored{ID: id, Journal: j, Events: events}
	return c, nil
}
