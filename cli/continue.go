package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"replan/agent/event"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/agent/store/journal"
	"replan/cli/app"
	"replan/cli/exit"
	"replan/cli/lines"
	"replan/tui"
)

// continued is what replan --continue continues.
type continued struct {
	session *runner.Restored // nil if the conversation is gone
	run     string           // to resume; "" if the newest run is complete
	note    string
}

// continueSession continues the newest session of this folder, resumes its newest run if
// unfinished, and then takes the goal, if any.
func (o localHost) continueSession(ctx context.Context, how opening) error {
	if o.app.Settings().DryRun {
		return o.app.Out().NoDryResume()
	}
	inDoubt, err := parseInDoubt(o.app, how.inDoubt)
	if err != nil {
		return err
	}
	// On the screen the answer would also apply to every later run.
	if o.app.Screen() && inDoubt != "" {
		return exit.Usage("the full screen asks about steps in doubt: omit --in-doubt, or add --plain")
	}
	c, err := findContinued(o.app)
	if err != nil {
		return err
	}
	if o.app.Screen() {
		return openScreen(ctx, o.app, tui.Options{Intro: c.note, Goal: how.goal}, c)
	}
	var commands []session.Command
	if c.run != "" {
		commands = append(commands, session.Resume{Run: c.run})
	}
	if how.goal != "" {
		commands = append(commands, session.Submit{Text: how.goal})
	}
	if len(commands) == 0 {
		return errors.Join(exit.Usage("no run of this folder was interrupted, and there is no terminal for the full screen: name the next goal with replan --continue GOAL, or resume a failed run with replan plan resume RUN"), c.close())
	}
	if c.note != "" {
		o.app.Out().Note("%s", c.note)
	}
	err = lines.Run(ctx, o.app, lines.Job{Commands: commands, Restored: c.session, InDoubt: inDoubt})
	return errors.Join(err, printDoubts(o.app, c.run, err))
}

// close releases a session that is not continued.
func (c continued) close() error {
	if c.session == nil {
		return nil
	}
	return c.session.Journal.Close()
}

// findContinued finds and opens the session to continue.
func findContinued(a *app.App) (continued, error) {
	var c continued
	run, ok, err := a.Store().NewestRun(a.Settings().Workspace)
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
		c.run = run.ID
	}
	id := run.Summary().Session
	j, events, err := a.Store().Sessions.Open(strings.TrimSpace(id))
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, event.ErrNoEvents), id == "":
		c.note = "the conversation is gone; its newest run is still there"
		return c, nil
	case errors.Is(err, journal.ErrLocked):
		return c, &exit.Error{Status: exit.BadUsage, Code: "locked", Err: fmt.Errorf("the session %s is open in another replan: close that one, or omit --continue", id)}
	case err != nil:
		return c, a.Out().Unopened(err)
	}
	c.session = &runner.Restored{ID: id, Journal: j, Events: events}
	return c, nil
}
