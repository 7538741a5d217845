package planning

import (
	"slices"
	"strconv"
	"strings"

	"replan/internal/untrusted"
	"replan/planning/intent"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// mostTries is how often a small model writes the same place.
const mostTries = 3

// again is the new plan of a small model after red tests. Asked for a plan, such a model
// looks around and changes nothing. So the place that it changed is written once more, with
// what failed in the title of the step, and the tests run again. If what fails has nothing
// to do with the change, the tests run once more, and the run ends with what they say.
func (r *replanner) again() (Outcome, bool) {
	failed, ok := r.situation.Plan.Step(r.situation.Failed)
	if !ok || !r.brief.For(prompt.PurposeReplan).Prompting.Small || failed.Tool != "test.run" || !intent.WantsChange(r.brief.Goal) {
		return Outcome{}, false
	}
	c := completion{brief: r.brief, steps: r.situation.Plan.Steps}
	var changes []plan.HistoryItem
	for _, item := range r.situation.History {
		if item.Parent == "" && item.Status == plan.ItemCompleted && c.changes(plan.Step{Executor: plan.ExecutorTool, Tool: item.Tool, Args: item.Args}) {
			changes = append(changes, item)
		}
	}
	if len(changes) == 0 {
		return Outcome{}, false
	}
	last := changes[len(changes)-1]
	step, _ := r.situation.Plan.Step(last.Index)
	written, _ := last.Args["new"].(string)
	aimed := last.Tool == "fs.patch" && step.Args["old"] != nil && step.Args["new"] == nil
	if last.Tool == "code.insert" {
		written, _ = last.Args["text"].(string)
		aimed = step.Args["text"] == nil
	}
	file, _ := last.Args["path"].(string)
	check := failed
	var steps []plan.Step
	next, _ := strconv.Atoi(c.free())
	switch {
	case !r.concerns(changes):
		check.OnFailure = plan.OnFailureSkip
	case aimed && file != "" && strings.TrimSpace(written) != "" && len(changes) < mostTries:
		reason, _, _ := strings.Cut(strings.TrimSpace(r.situation.Error), "\n")
		steps = append(steps, plan.Step{
			Index: strconv.Itoa(next), Title: untrusted.Text(plan.OneLine("Change "+file+" again, since "+reason, 200)),
			Executor: plan.ExecutorTool, Tool: "fs.patch", Args: map[string]any{"path": file, "old": written}, DependsOn: step.DependsOn,
		})
		check.DependsOn = []string{strconv.Itoa(next)}
		next++
	default:
		return Outcome{}, false
	}
	check.Index = strconv.Itoa(next)
	steps = append(steps, check)
	for _, s := range r.situation.Remaining {
		if s.Index != failed.Index {
			steps = append(steps, s)
		}
	}
	faults, revised := r.check(reply.Proposal{Read: true, Plan: plan.Plan{Steps: steps}})
	return Outcome{Kind: OutcomePlanned, Plan: revised.Plan, Diff: revised.Diff}, len(faults) == 0
}

// changedFiles returns the files that a call has changed: the one that it names, or those of
// its result.
func changedFiles(item plan.HistoryItem) (files []string) {
	if at, ok := item.Args["path"].(string); ok {
		return []string{at}
	}
	result, _ := item.Result.(map[string]any)
	list, _ := result["files"].([]any)
	for _, entry := range list {
		file, _ := entry.(map[string]any)
		if at, ok := file["path"].(string); ok {
			files = append(files, at)
		}
	}
	return files
}

// concerns reports whether the failure of the tests may come from the changes. It names a
// file that changed, something that the goal names, or a name that a change declares.
func (r *replanner) concerns(changes []plan.HistoryItem) bool {
	failure := r.situation.Error
	for _, item := range r.situation.History { // such as a rename
		for _, arg := range []string{"symbol", "new_name"} {
			name, _ := item.Args[arg].(string)
			if name = name[strings.LastIndexByte(name, '.')+1:]; item.Tool == "code.transform" && name != "" && strings.Contains(failure, name) {
				return true
			}
		}
	}
	for _, item := range changes {
		files := changedFiles(item)
		if len(files) == 0 || slices.ContainsFunc(files, func(at string) bool { return strings.Contains(failure, at) }) {
			return true
		}
		for _, arg := range []string{"old", "new", "text"} {
			text, _ := item.Args[arg].(string)
			for line := range strings.SplitSeq(text, "\n") {
				if m := function.FindStringSubmatch(line); m != nil && strings.Contains(failure, m[1]) {
					return true
				}
			}
		}
	}
	return slices.ContainsFunc(r.brief.Prompting.Sketch.Named, func(named string) bool {
		name, _, _ := strings.Cut(named, ": ")
		return strings.Contains(failure, name)
	})
}
