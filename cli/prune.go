package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"replan/agent/store"
	"replan/cli/slash"
)

// keptRuns is how many ended runs replan runs prune leaves unless told otherwise.
const keptRuns = 50

func newRunsPrune(o *options) slash.Command {
	var keep int
	var older string
	var all, unfinished bool
	return slash.Command{
		Name: "prune", Short: "Remove old runs and what belongs to them, and say what was removed",
		Long: "prune removes the journals of runs that have ended, with the large values and what was there before\n" +
			"their changes, which are kept beside them: such a run cannot be undone any more. The journals of sessions\n" +
			"that have no run left go too. The newest " + strconv.Itoa(keptRuns) + " stay, or as many as --keep says; with --older-than only older\n" +
			"ones go. A run that somebody works on is never removed, one that is unfinished only with --unfinished.",
		Examples: []string{"runs prune", "runs prune --older-than 30d", "runs prune --all --output json"},
		Flags: func(f *pflag.FlagSet) {
			f.IntVar(&keep, "keep", keptRuns, "how many of the newest stay")
			f.StringVar(&older, "older-than", "", "only those older than this, such as 30d, 2w or 12h")
			f.BoolVar(&all, "all", false, "every run that has ended")
			f.BoolVar(&unfinished, "unfinished", false, "those that have not ended too, unless somebody works on them")
		},
		Do: func(_ context.Context, c slash.Call) error {
			p := store.Pruning{Keep: keep, Unfinished: unfinished, DryRun: o.DryRun}
			given := c.Flags.Changed
			if all && (given("keep") || given("older-than")) {
				return usage("--all removes every run that has ended: leave --keep and --older-than out")
			}
			if keep < 0 {
				return usage("--keep cannot be below 0: it is %d", keep)
			}
			if older != "" {
				var err error
				if p.OlderThan, err = parseAge(older); err != nil {
					return err
				}
			}
			if all || older != "" && !given("keep") {
				p.Keep = 0
			}
			return o.runsPrune(p, time.Now())
		},
	}
}

// parseAge reads a time such as 30d or 2w, or one that Go's durations know.
func parseAge(text string) (time.Duration, error) {
	for unit, length := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		if number, ok := strings.CutSuffix(text, unit); ok {
			if n, err := strconv.ParseUint(number, 10, 16); err == nil {
				return time.Duration(n) * length, nil //nolint:gosec // 16 bits
			}
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, usage("--older-than takes a time such as 30d, 2w or 12h, not %q", text)
	}
	return d, nil
}

// runsPrune is replan runs prune.
func (o *options) runsPrune(p store.Pruning, now time.Time) error {
	pruned, err := o.store.Prune(p, now)
	for _, unread := range pruned.Unread {
		_, _ = fmt.Fprintf(o.io.Err, "replan: left where it is: %s\n", oneLine(unread.Error()))
	}
	if err != nil {
		err = &failure{exit: 1, code: "failed", err: err}
	}
	if len(pruned.Files) == 0 && err != nil {
		return err
	}
	return errors.Join(o.deleted(pruned.Files), err)
}
