package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"replan/agent/event"
	"replan/cli/config"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/telling"
)

// replanned collects the results of a run's replans.
type replanned struct {
	summaries []event.RevisionSummary
	tried     int
	text      []string // one per revision and per replan without one
	open      *event.ReplanStarted
}

// planDiff implements replan plan diff, for a run or a plan's latest run. With
// JSON it prints only the revisions.
func (o plans) planDiff(args []string) error {
	run, err := o.resumable(args)
	if err != nil {
		return err
	}
	events, err := o.store.Runs.Read(run.ID)
	if err != nil {
		return o.unopened(err)
	}
	replans := o.replans(events)
	if o.Output == config.OutputJSON {
		return o.printJSON(replans.summaries)
	}
	head := ""
	switch {
	case replans.tried == 0 && len(replans.summaries) == 0:
		head = fmt.Sprintf("the run %s kept its plan: there was no replan\n", run.ID)
	case len(replans.summaries) == 0:
		head = fmt.Sprintf("the run %s kept its plan: %s %s tried, none was used\n", run.ID, english.Count(replans.tried, "replan"), english.Agree(replans.tried, "was", "were"))
	}
	return o.print(head + strings.Join(replans.text, ""))
}

// replans extracts the replans from the events of a run.
func (o plans) replans(events []event.Event) replanned {
	r := replanned{summaries: []event.RevisionSummary{}}
	var before plan.Plan
	for _, e := range events {
		switch d := e.Data.(type) {
		case event.PlanCreated:
			before = d.Plan
		case event.PlanReviewed:
			if d.Plan != nil {
				before = *d.Plan
			}
		case event.ReplanStarted:
			r.none("no answer came")
			r.open = &d
			r.tried++
		case event.ReplanRefused:
			r.none("refused: " + d.Reason.Visible())
		case event.RunCompleted:
			r.none(noPlanCame(d.Result))
		case event.PlanDiff:
			r.open = nil
			r.summaries = append(r.summaries, event.RevisionSummary{
				Revision: d.Revision, Reason: d.Reason,
				Removed: noNil(d.Removed), Added: noNil(d.Added), Revised: noNil(d.Revised),
			})
			r.text = append(r.text, o.diffText(before, d))
			before = d.Plan
		}
	}
	r.none("still active")
	return r
}

// none records that the current replan, if any, made no revision, and why.
func (r *replanned) none(why string) {
	if r.open == nil {
		return
	}
	var b strings.Builder
	lineWriter(&b)("replan %d, because step %s failed (%s): %s", r.open.Attempt, r.open.Step, telling.Excerpt(r.open.Error, 120), telling.Excerpt(untrusted.Text(why), 200))
	r.text = append(r.text, b.String())
	r.open = nil
}

// noPlanCame says why a run ended in the middle of a replan.
func noPlanCame(r event.Result) string {
	if r.Reason == event.ReasonGaveUp {
		return "gave up: " + config.First(r.Error.Visible(), "the planner found no way to continue")
	}
	return fmt.Sprintf("the run ended (%s)", config.First(r.Error.Visible(), string(r.Reason)))
}

// diffText describes a revision: the removed, changed and added steps, and why.
func (o plans) diffText(before plan.Plan, d event.PlanDiff) string {
	removed, arrow := "−", " → "
	if o.ASCII {
		removed, arrow = "-", " -> "
	}
	var b strings.Builder
	writef := lineWriter(&b)
	writef("revision %d: %s", d.Revision, telling.Excerpt(d.Reason, 200))
	for _, index := range d.Removed {
		if s, ok := before.Step(index); ok {
			writef("  %s %s. %s  [%s]", removed, index, s.Title, by(s))
		}
	}
	for _, index := range d.Revised {
		s, ok := d.Plan.Step(index)
		if !ok {
			continue
		}
		old, _ := before.Step(index)
		writef("  ~ %s. %s  [%s]", index, s.Title, by(s))
		if old.Title != s.Title {
			writef("      title: %s%s%s", old.Title, arrow, s.Title)
		}
		if by(old) != by(s) {
			writef("      tool: %s%s%s", by(old), arrow, by(s))
		}
		for _, change := range changedArgs(old.Args, s.Args, arrow) {
			writef("      %s", change)
		}
	}
	for _, index := range d.Added {
		if s, ok := d.Plan.Step(index); ok {
			writef("  + %s. %s  [%s]", index, s.Title, by(s))
		}
	}
	return b.String()
}

// argShown is how much of an argument is shown, in characters.
const argShown = 80

// changedArgs returns a line for each changed argument, sorted by name.
func changedArgs(before, after map[string]any, arrow string) []string {
	names := maps.Clone(before)
	if names == nil {
		names = map[string]any{}
	}
	maps.Copy(names, after)
	value := func(args map[string]any, name string) string {
		v, ok := args[name]
		if !ok {
			return "(none)"
		}
		return plan.CanonicalJSON(v)
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		was, is := value(before, name), value(after, name)
		if was != is {
			lines = append(lines, fmt.Sprintf("%s: %s%s%s", name, telling.Excerpt(untrusted.Text(was), argShown), arrow, telling.Excerpt(untrusted.Text(is), argShown)))
		}
	}
	return lines
}

// by names the executor of a step.
func by(s plan.Step) string {
	if s.Executor == plan.ExecutorAgent && s.Profile != "" {
		return "agent " + s.Profile
	}
	return config.First(s.Tool, string(s.Executor))
}
