package cli

import (
	"context"
	"errors"
	"strings"

	"replan/agent/policy"
	"replan/agent/runner"
	"replan/tui"
)

// chat opens the full screen, or without one does what replan run does.
func (o *options) chat(ctx context.Context, goal string) error {
	if o.goOn {
		return o.continueSession(ctx, goal)
	}
	if o.inDoubt != "" {
		return usage("--in-doubt is a word on a run that is resumed: give --continue too, or use replan plan resume RUN")
	}
	if !o.screen() {
		if goal == "" {
			return usage("there is no terminal for the full screen: say what is to be done with replan run GOAL")
		}
		return o.runHeadless(ctx, goal)
	}
	return o.openScreen(ctx, tui.Options{Goal: goal}, continued{})
}

// openScreen runs the full screen until the user leaves it. Where there is a
// session to go on with, it does.
func (o *options) openScreen(ctx context.Context, screen tui.Options, before continued) error {
	w, err := o.open(ctx, opening{ask: o.approve == policy.ApproveAsk, attended: true, restored: before.session})
	if err != nil {
		return errors.Join(err, before.close())
	}
	if before.run != "" {
		w.session.Send(runner.Resume{Run: before.run})
	}
	if len(w.notes) > 0 {
		screen.Intro = strings.TrimSpace(screen.Intro + "\n\n- " + strings.Join(w.notes, "\n- "))
	}
	screen.Theme, screen.ASCII, screen.NoColor, screen.Version = o.themeName, o.ascii, o.noColor, Version
	screen.Keys = o.keys
	err = wrap("the screen", tui.Run(ctx, w.session, screen))
	return errors.Join(err, wrap("end in order", w.close()))
}
