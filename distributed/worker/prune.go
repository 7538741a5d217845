package worker

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"replan/cli/runs"
	"replan/internal/english"
	"replan/tui/wording"
)

func (p *program) newPrune() *cobra.Command {
	var older string
	var dry bool
	cmd := &cobra.Command{
		Use: "prune --older-than AGE", Short: "Remove old runs that have ended from the database",
		Long: "prune removes runs that ended longer ago than AGE, with their records, large values, changes and what was\n" +
			"sent to them: they can no longer be shown or resumed. It also removes large values that no record refers to. A\n" +
			"run that has not ended stays.",
		Example: "  replan-worker prune --older-than 30d --dry-run",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if older == "" {
				return errors.New("say how old the runs must be that go, such as --older-than 30d")
			}
			age, err := runs.ParseAge(older)
			if err != nil {
				return err
			}
			return p.prune(cmd.Context(), age, dry)
		},
	}
	cmd.Flags().StringVar(&older, "older-than", "", "only runs that ended longer ago than `AGE`, such as 30d, 2w or 12h")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would be removed")
	return cmd
}

// prune implements replan-worker prune.
func (p *program) prune(ctx context.Context, age time.Duration, dry bool) (err error) {
	d, err := p.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if err := d.Check(ctx); err != nil {
		return err
	}
	if err := d.Prepare(ctx); err != nil { // an older version may have made the tables
		return err
	}
	pruned, err := d.Prune(ctx, age, dry)
	verb := "removed"
	if dry {
		verb = "would remove"
	}
	values := ""
	if pruned.Values > 0 {
		values = " and " + english.Count(pruned.Values, "large value") + " that no record refers to"
	}
	return errors.Join(err, p.print("%s %s%s: %s\n", verb, english.Count(pruned.Runs, "run"), values, wording.TextSize(int(pruned.Bytes))))
}
