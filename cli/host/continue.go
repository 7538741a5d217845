package host

import (
	"context"
	"errors"

	"replan/agent/session"
	"replan/cli/exit"
	"replan/cli/lines"
	"replan/cli/screen"
	"replan/tui"
)

// continueSession continues the newest session of this folder, resumes its newest run if
// unfinished, and then takes the goal, if any.
func (o local) continueSession(ctx context.Context, how Opening) error {
	if o.app.Execution().DryRun {
		return o.app.Out().NoDryResume()
	}
	inDoubt, err := parseInDoubt(o.app, how.InDoubt)
	if err != nil {
		return err
	}
	// On the screen the answer would also apply to every later run.
	if o.app.Screen() && inDoubt != "" {
		return exit.Usage("the full screen asks about steps in doubt: omit --in-doubt, or add --plain")
	}
	c, err := screen.FindContinued(o.app)
	if err != nil {
		return err
	}
	if o.app.Screen() {
		return screen.Open(ctx, o.app, tui.Options{Intro: c.Note, Goal: how.Goal}, c)
	}
	var commands []session.Command
	if c.Run != "" {
		commands = append(commands, session.Resume{Run: c.Run})
	}
	if how.Goal != "" {
		commands = append(commands, session.Submit{Text: how.Goal})
	}
	if len(commands) == 0 {
		return errors.Join(exit.Usage("no run of this folder was interrupted, and %s: name the next goal with replan --continue GOAL, or resume a failed run with replan plan resume RUN", o.noScreen()), c.Close())
	}
	if c.Note != "" {
		o.app.Out().Note("%s", c.Note)
	}
	err = lines.Run(ctx, o.app, lines.Job{Commands: commands, Restored: c.Session, InDoubt: inDoubt})
	return errors.Join(err, printDoubts(o.app, c.Run, err))
}
