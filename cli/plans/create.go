package plans

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"replan/agent/event"
	"replan/agent/session"
	"replan/cli/app"
	"replan/cli/args"
	"replan/cli/config"
	"replan/cli/exit"
	"replan/cli/lines"
	"replan/cli/slash"
	"replan/internal/english"
	"replan/planning/plan"
	"replan/tui/plain"
)

// createOptions are the options of replan plan create.
type createOptions struct{ app *app.App }

func newCreate(a *app.App) slash.Command {
	o := createOptions{a}
	return slash.Command{
		Name: "create", Args: "GOAL", Short: "Plan a goal with the model and save the plan; nothing runs",
		Examples: []string{"plan create \"rename X to Y and run the tests\""},
		Check:    args.Any,
		Do: func(ctx context.Context, c slash.Call) error {
			goal := strings.Join(c.Args, " ")
			if strings.TrimSpace(goal) == "" {
				return exit.Usage("name the goal: %s GOAL", c.Path)
			}
			return o.run(ctx, goal)
		},
	}
}

// run plans a goal. With JSON it prints only the plan.
func (o createOptions) run(ctx context.Context, goal string) error {
	if o.app.Execution().DryRun {
		return exit.Usage("plan create calls no tools: omit --dry-run")
	}
	a := o.app.With((*config.Options).SkipReview) // nothing runs that could be reviewed first
	if c := a.Chat(); c != nil {
		c.HandOver(session.Create{Goal: goal})
		return nil
	}
	var kept plan.Plan
	var saveErr error
	job := lines.Job{Commands: []session.Command{session.Create{Goal: goal}}, SavePlan: func(p plan.Plan) (plan.Plan, error) {
		kept, saveErr = a.Store().SavePlan(p)
		return kept, saveErr
	}}
	job.Printer = func(session string, out io.Writer) lines.Printer {
		if a.Out().JSON() {
			return lines.NotesOnly{Out: a.Out()}
		}
		return a.Out().Log(out, session, plain.Options{QuietSuccess: true})
	}
	// The session has ended when Run returns, so nothing else writes to kept.
	if err := lines.Run(ctx, a, job); err != nil {
		return err
	}
	switch {
	case saveErr != nil:
		return exit.Wrap("save the plan", saveErr)
	case kept.ID == "":
		return &exit.Error{Status: event.ReasonNoPlan.ExitCode(), Code: string(event.ReasonNoPlan), Err: errors.New("the model answered directly and made no plan: add --force-plan")}
	}
	if a.Out().JSON() {
		return a.Out().PrintJSON(kept)
	}
	return a.Out().Print(fmt.Sprintf("plan %s: %s, saved; run it with %s %s\n", kept.ID, english.Count(len(kept.Steps), "step"), a.Out().Named("plan run"), kept.ID))
}
