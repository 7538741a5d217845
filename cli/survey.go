package cli

import (
	"context"

	"replan/mcpclient/workspace"
	"replan/planning/intent"
)

// survey looks through the workspace for what a goal names, so that its chain fits
// what is there. Where that fails nothing is known, and the operators say why.
func (w *workshop) survey(ctx context.Context, goal string) intent.Facts {
	if w.own == nil {
		return intent.Facts{}
	}
	facts, err := w.own.Facts(ctx, intent.NewSurvey(goal))
	if err != nil {
		w.logger.Warn("what the goal names is not known", "error", err)
	}
	return facts
}

// facts looks through the workspace for a command that runs nothing.
func (o *options) facts(ctx context.Context, survey *intent.Survey) intent.Facts {
	own, err := workspace.New(workspace.Config{Dir: o.Workspace, Private: o.store.Dirs.All()})
	if err != nil {
		return intent.Facts{}
	}
	defer own.Close() //nolint:errcheck // it was only read
	facts, err := own.Facts(ctx, survey)
	if err != nil {
		return intent.Facts{}
	}
	return facts
}
