package runs

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"replan/agent/store"
	"replan/cli/app"
	"replan/cli/exit"
	"replan/cli/slash"
)

// pruneOptions are the options of replan runs prune.
type pruneOptions struct {
	app             *app.App
	keep            int    // the newest runs
	older           string // value of --older-than
	all, unfinished bool
}

// keptRuns is the default number of ended runs that replan runs prune keeps.
const keptRuns = 50

func newPrune(a *app.App) slash.Command {
	o := pruneOptions{app: a}
	return slash.Command{
		Name: "prune", Short: "Remove old runs and their files, and list them",
		Long: "prune removes the journals of finished runs, with their large values and the files kept for undo:\n" +
			"such a run can no longer be undone. Journals of sessions\n" +
			"without runs go too. The newest " + strconv.Itoa(keptRuns) + " runs stay, or the number given by --keep; with --older-than only older\n" +
			"ones go. An active run is never removed, an unfinished one only with --unfinished.",
		Examples: []string{"runs prune", "runs prune --older-than 30d", "runs prune --all --output json"},
		Flags: func(f *pflag.FlagSet) {
			f.IntVar(&o.keep, "keep", keptRuns, "keep the newest `N` runs")
			f.StringVar(&o.older, "older-than", "", "only runs older than `AGE`, such as 30d, 2w or 12h")
			f.BoolVar(&o.all, "all", false, "every finished run")
			f.BoolVar(&o.unfinished, "unfinished", false, "unfinished runs too, unless they are active")
		},
		Do: func(_ context.Context, c slash.Call) error { return o.run(c.Flags.Changed, time.Now()) },
	}
}

// pruning returns what is to be removed. Given reports whether a flag was given.
func (o pruneOptions) pruning(given func(flag string) bool) (store.Pruning, error) {
	p := store.Pruning{Keep: o.keep, Unfinished: o.unfinished, DryRun: o.app.Execution().DryRun}
	if o.all && (given("keep") || given("older-than")) {
		return p, exit.Usage("--all removes every finished run: omit --keep and --older-than")
	}
	if o.keep < 0 {
		return p, exit.Usage("--keep cannot be below 0: it is %d", o.keep)
	}
	if o.older != "" {
		var err error
		if p.OlderThan, err = ParseAge(o.older); err != nil {
			return p, err
		}
	}
	if o.all || o.older != "" && !given("keep") {
		p.Keep = 0
	}
	return p, nil
}

// run removes runs and lists their files.
func (o pruneOptions) run(given func(flag string) bool, now time.Time) error {
	p, err := o.pruning(given)
	if err != nil {
		return err
	}
	pruned, err := o.app.Store().Prune(p, now)
	for _, unread := range pruned.Unread {
		o.app.Out().Note("not removed: %s", exit.OneLine(unread.Error()))
	}
	if err != nil {
		err = &exit.Error{Status: exit.Failed, Code: "failed", Err: err}
	}
	if len(pruned.Files) == 0 && err != nil {
		return err
	}
	return errors.Join(o.app.Out().PrintDeleted(pruned.Files), err)
}

// ParseAge parses the age of --older-than, such as 30d or 2w, or a Go duration.
func ParseAge(text string) (time.Duration, error) {
	for unit, length := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		if number, ok := strings.CutSuffix(text, unit); ok {
			if n, err := strconv.ParseUint(number, 10, 31); err == nil && time.Duration(n) <= math.MaxInt64/length { //nolint:gosec // 31 bits
				return time.Duration(n) * length, nil //nolint:gosec // 31 bits
			}
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, exit.Usage("--older-than takes a time such as 30d, 2w or 12h, not %q", text)
	}
	return d, nil
}
