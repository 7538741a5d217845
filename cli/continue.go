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
	"replan/tui"
)

// continued is what replan --continue continues.
type continued struct {
	session *runner.Restored // nil if the conversation is gone
	run     string           // to resume; "" if the newest run is complete
	note    string
}

// continueSession implements replan --continue: it continues the newest session
// of this folder, resumes its newest run if unfinished, and then takes the goal,
// if any.
func (o screens) continueSession(ctx context.Context, goal string) error {
	if o.DryRun {
		return o.noDryResume()
	}
	inDoubt, err := o.parseInDoubt(o.inDoubt)
	if err != nil {
		return err
	}
	// On the screen the answer would also apply to every later run.
	if o.screen() && inDoubt != "" {
		return usage("the full screen asks about steps in doubt: omit --in-doubt, or add --plain")
	}
	c, err := o.findContinued()
	if err != nil {
		return err
	}
	if o.screen() {
		return o.openScreen(ctx, tui.Options{Intro: c.note, Goal: goal}, c)
	}
	var commands []session.Command
	if c.run != "" {
		commands = append(commands, session.Resume{Run: c.run})
	}
	if goal != "" {
		commands = append(commands, session.Submit{Text: goal})
	}
	if len(commands) == 0 {
		return errors.Join(usage("no run of this folder was interrupted, and there is no terminal for the full screen: name the next goal with replan --continue GOAL, or resume a failed run with replan plan resume RUN"), c.close())
	}
	if c.note != "" {
		_, _ = fmt.Fprintf(o.io.Err, "replan: %s\n", c.note)
	}
	err = o.headless(ctx, headlessJob{commands: commands, restored: c.session, inDoubt: inDoubt})
	return errors.Join(err, o.plans().printDoubts(c.run, err))
}

// close releases a session that is not continued.
func (c continued) close() error {
	if c.session == nil {
		return nil
	}
	return c.session.Journal.Close()
}

// findContinued finds and opens the session to continue.
func (o screens) findContinued() (continued, error) {
	var c continued
	run, ok, err := o.store.NewestRun(o.Workspace)
	if err != nil {
		return c, o.unopened(err)
	}
	if !ok {
		return c, usage("there is nothing to continue in this folder: no run was started here; start with replan, or replan run GOAL")
	}
	if !o.screen() {
		if err := o.canReview(&run); err != nil {
			return c, err
		}
	}
	if run.Resumable() && (run.Result == nil || run.Result.Reason == event.ReasonInterrupted) {
		c.run = run.ID
	}
	id := run.Summary().Session
	j, events, err := o.store.Sessions.Open(strings.TrimSpace(id))
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, event.ErrNoEvents), id == "":
		c.note = "the conversation is gone; its newest run is still there"
		return c, nil
	case errors.Is(err, journal.ErrLocked):
		return c, &failure{exit: exitUsage, code: "locked", err: fmt.Errorf("the session %s is open in another replan: close that one, or omit --continue", id)}
	case err != nil:
		return c, o.unopened(err)
	}
	c.session = &runner.Restored{ID: id, Journal: j, Events: events}
	return c, nil
}
