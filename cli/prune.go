package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"replan/agent"
	"replan/agent/store/journal"
)

// keptRuns is how many ended runs replan runs prune leaves unless told otherwise.
const keptRuns = 50

// pruning says which runs are to be removed.
type pruning struct {
	keep       int           // this many of the newest stay
	olderThan  time.Duration // what is younger stays; 0 spares nothing
	unfinished bool          // runs that have not ended go too
}

func newRunsPrune(o *options) *cobra.Command {
	var keep int
	var older string
	var all, unfinished bool
	command := &cobra.Command{
		Use:   "prune",
		Short: "Remove old runs and what belongs to them, and say what was removed",
		Long: "prune removes the journals of runs that have ended, with the large values and what was there before\n" +
			"their changes, which are kept beside them: such a run cannot be undone any more. The journals of sessions\n" +
			"that have no run left go too. The newest " + strconv.Itoa(keptRuns) + " stay, or as many as --keep says; with --older-than only older\n" +
			"ones go. A run that somebody works on is never removed, one that is unfinished only with --unfinished.",
		Example: "  replan runs prune\n  replan runs prune --older-than 30d\n  replan runs prune --all --output json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p := pruning{keep: keep, unfinished: unfinished}
			given := cmd.Flags().Changed
			if all && (given("keep") || given("older-than")) {
				return usage("--all removes every run that has ended: leave --keep and --older-than out")
			}
			if keep < 0 {
				return usage("--keep cannot be below 0: it is %d", keep)
			}
			if older != "" {
				var err error
				if p.olderThan, err = parseAge(older); err != nil {
					return err
				}
			}
			if all || older != "" && !given("keep") {
				p.keep = 0
			}
			return o.runsPrune(p, time.Now())
		},
	}
	command.Flags().IntVar(&keep, "keep", keptRuns, "how many of the newest stay")
	command.Flags().StringVar(&older, "older-than", "", "only those older than this, such as 30d, 2w or 12h")
	command.Flags().BoolVar(&all, "all", false, "every run that has ended")
	command.Flags().BoolVar(&unfinished, "unfinished", false, "those that have not ended too, unless somebody works on them")
	return command
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
func (o *options) runsPrune(p pruning, now time.Time) error {
	entries, err := o.runs().List()
	if err != nil {
		return wrap("list the runs", err)
	}
	files := []string{}
	orphans := map[string]bool{} // sessions that lost a run
	gone := map[string]bool{}    // runs that are not left, or would not be
	ended := 0
	for _, e := range entries {
		run, err := o.runs().Fold(e.ID)
		empty := errors.Is(err, journal.ErrEmpty)
		if err != nil && !empty {
			// What cannot be read cannot be known to have ended.
			_, _ = fmt.Fprintf(o.io.Err, "replan: left where it is: %s\n", oneLine(err.Error()))
			continue
		}
		over := run.Result != nil || empty
		if over {
			ended++
		}
		old := p.olderThan == 0 || now.Sub(e.Modified) > p.olderThan
		if e.Locked || !old || over && ended <= p.keep || !over && !p.unfinished {
			continue
		}
		removed, err := o.remove(o.runs(), e.ID)
		files = append(files, removed...)
		if errors.Is(err, journal.ErrLocked) {
			continue // somebody took it up since
		}
		if err != nil {
			return errors.Join(o.deleted(files), wrap("remove the run "+e.ID, err))
		}
		gone[e.ID] = true
		if session := run.Summary().Session; session != "" {
			orphans[session] = true
		}
	}
	removed, err := o.pruneSessions(orphans, gone)
	files = append(files, removed...)
	if err == nil {
		removed, err = o.pruneOrphans(p, now)
		files = append(files, removed...)
	}
	return errors.Join(o.deleted(files), err)
}

// pruneOrphans removes what is kept of changes that no journal tells of.
func (o *options) pruneOrphans(p pruning, now time.Time) (files []string, err error) {
	entries, err := o.runs().Orphans()
	if err != nil {
		return nil, wrap("list the runs", err)
	}
	for i, e := range entries {
		if e.Locked || i < p.keep || p.olderThan > 0 && now.Sub(e.Modified) <= p.olderThan {
			continue
		}
		removed, err := o.remove(o.runs(), e.ID)
		files = append(files, removed...)
		if err != nil && !errors.Is(err, journal.ErrLocked) {
			return files, wrap("remove what is kept of "+e.ID, err)
		}
	}
	return files, nil
}

// remove deletes a run or a session and returns its files; a dry run only says
// which those are.
func (o *options) remove(from journal.Folder, id string) ([]string, error) {
	if !o.dryRun {
		return from.Delete(id)
	}
	path := from.Path(id)
	var there []string
	for _, name := range []string{path, strings.TrimSuffix(path, ".jsonl") + ".values", strings.TrimSuffix(path, ".jsonl") + ".undo", path + ".lock"} {
		_, err := os.Lstat(name)
		if err == nil {
			there = append(there, name)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return there, err
		}
	}
	return there, nil
}

// pruneSessions removes those of the sessions that no run is left of but those
// that are gone.
func (o *options) pruneSessions(sessions, gone map[string]bool) (files []string, err error) {
	if len(sessions) == 0 {
		return nil, nil
	}
	left, _, err := o.summaries()
	if err != nil {
		return nil, wrap("list the runs", err)
	}
	for _, s := range left {
		if !gone[s.Run] {
			delete(sessions, s.Session)
		}
	}
	entries, err := o.sessions().List()
	if err != nil {
		return nil, wrap("list the sessions", err)
	}
	for _, e := range entries {
		if !sessions[e.ID] || e.Locked {
			continue
		}
		removed, err := o.remove(o.sessions(), e.ID)
		files = append(files, removed...)
		if err != nil && !errors.Is(err, journal.ErrLocked) {
			return files, wrap("remove the session "+e.ID, err)
		}
	}
	return files, nil
}

// sessionOf returns the session that the newest run of this folder belongs to,
// and that run.
func (o *options) sessionOf(workspace string) (session string, run *agent.Run, err error) {
	entries, err := o.runs().List()
	if err != nil {
		return "", nil, wrap("list the runs", err)
	}
	for _, e := range entries {
		head, err := o.runs().Head(e.ID)
		if err != nil {
			continue // it began nowhere that is known
		}
		if started, ok := head.Data.(agent.RunStarted); !ok || started.Workspace != workspace {
			continue
		}
		folded, err := o.outermost(e.ID)
		if err != nil {
			return "", nil, unopened(err)
		}
		return folded.Summary().Session, &folded, nil
	}
	return "", nil, nil
}

// outermost returns a run, or the one that it is taken up with.
func (o *options) outermost(id string) (agent.Run, error) {
	run, err := o.runs().Fold(id)
	for err == nil && run.Summary().Outer != "" {
		outer, missing := o.runs().Fold(run.Summary().Outer)
		if missing != nil || !outer.Resumable() {
			break
		}
		run = outer
	}
	return run, err
}
