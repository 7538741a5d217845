package intent

import (
	"slices"
	"strings"

	"replan/internal/english"
	"replan/planning/plan"
)

// Answer writes the answer to an intent, as Markdown, from the results of its
// chain. left is a sentence about work left undone, with the reason; it may be
// empty. Results are data: they are quoted in code spans and fences, bounded, and
// may have any shape.
func Answer(in Intent, history []plan.HistoryItem, left string) string {
	a := answerer{in: in, steps: lastAttempts(history)}
	var parts []string
	for _, tool := range a.shown() {
		for _, step := range a.of(tool) {
			parts = append(parts, blocks[tool](a, resultOf(step.Result))...)
		}
	}
	parts = append(parts, a.notDone(), strings.TrimSpace(left))
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
	switch {
	case len(parts) > 0:
		return strings.Join(parts, "\n\n")
	case len(a.steps) == 0:
		return "Nothing was done."
	default:
		return "Done: " + english.Count(len(a.steps), "step") + ", and none of them has anything to show."
	}
}

// answerer writes an answer from the steps of a chain.
type answerer struct {
	in    Intent
	steps []plan.HistoryItem // the last attempt of each step, in order
}

// lastAttempts leaves the last attempt of each step of the plan itself.
func lastAttempts(history []plan.HistoryItem) []plan.HistoryItem {
	at := make(map[string]int, len(history))
	var items []plan.HistoryItem
	for _, item := range history {
		if item.Parent != "" {
			continue
		}
		if i, ok := at[item.Index]; ok {
			items[i] = item
			continue
		}
		at[item.Index] = len(items)
		items = append(items, item)
	}
	slices.SortStableFunc(items, func(x, y plan.HistoryItem) int { return plan.CompareIndices(x.Index, y.Index) })
	return items
}

// toolOf is the bare name of the operator that a step called.
func toolOf(item plan.HistoryItem) string {
	return item.Tool[strings.LastIndexByte(item.Tool, ':')+1:]
}

// of lists the steps of an operator with a result. Failing tests are a result.
func (a answerer) of(tool string) []plan.HistoryItem {
	var found []plan.HistoryItem
	for _, item := range a.steps {
		if toolOf(item) != tool {
			continue
		}
		reported := (tool == runTests || tool == "test.lint") && resultOf(item.Result).isObject()
		if item.Status == plan.ItemCompleted || item.Status == plan.ItemFailed && reported {
			found = append(found, item)
		}
	}
	return found
}

// result is the result of the first step of an operator.
func (a answerer) result(tool string) result {
	if steps := a.of(tool); len(steps) > 0 {
		return resultOf(steps[0].Result)
	}
	return result{}
}

// changing are the operators that change files.
var changing = []string{"fs.patch", "fs.write", "fs.move", "fs.remove"}

// answeredBy lists, by action, the operators whose result answers: the first that has
// one.
var answeredBy = map[string][]string{
	references: {"code.references", "fs.search"},
	definition: {"code.definition", "fs.search"},
	symbols:    {"code.symbols"},
	explain:    {"code.summarize", "code.definition", "code.symbols", "fs.search"},
	test:       {runTests},
	lint:       {"test.lint"},
	debug:      {"code.summarize", runTests},
	status:     {"vcs.status"},
	diff:       {"vcs.diff"},
	history:    {"vcs.log"},
	branch:     {"vcs.branch", "vcs.branches"},
	push:       {"vcs.push", "vcs.status"},
	commit:     {"vcs.commit", "code.summarize", "vcs.status"},
}

// shown lists the operators whose results make up the answer, in order.
func (a answerer) shown() []string {
	notDone := func(tool string) bool { return len(a.of(tool)) == 0 }
	answered := slices.DeleteFunc(slices.Clone(answeredBy[a.in.Action]), notDone)
	answered = answered[:min(len(answered), 1)]
	switch {
	case a.in.Action == find:
		return []string{"fs.list", "fs.search", "code.symbols"}
	case a.in.Action == commit:
		return slices.Concat([]string{runTests}, answered)
	case answeredBy[a.in.Action] != nil:
		return answered
	case slices.ContainsFunc(changing, func(tool string) bool { return !notDone(tool) }):
		return slices.Concat(changing, []string{runTests})
	default:
		return []string{"code.transform"}
	}
}

// notDone lists the steps that were not done.
func (a answerer) notDone() string {
	var parts, skipped, denied []string
	for _, step := range a.steps {
		name := orCode(toolOf(step), code(string(step.Title)))
		reason := strings.TrimSpace(string(step.Error))
		reported := slices.ContainsFunc(a.of(toolOf(step)), func(s plan.HistoryItem) bool { return s.Index == step.Index })
		switch {
		case step.Status == plan.ItemInDoubt:
			parts = append(parts, name+" was interrupted, and may or may not have taken effect.")
		case deniedAtGate(step):
			denied = append(denied, name)
		case step.Status == plan.ItemSkipped:
			skipped = append(skipped, name)
		case step.Status != plan.ItemFailed || reported:
		case strings.Contains(reason, "\n"):
			parts = append(parts, name+" failed:\n\n"+fence("text", reason))
		default:
			verb := " failed"
			if strings.HasPrefix(reason, "denied") {
				verb = " was not done"
			}
			sentence := name + verb + prefixed(": ", legible(reason))
			if !strings.HasSuffix(sentence, "?") {
				sentence += "."
			}
			parts = append(parts, sentence)
		}
	}
	if len(denied) > 0 {
		parts = append(parts, "Denied at the gate: "+english.Some(denied, maxRows, "step")+".")
	}
	if len(skipped) > 0 {
		parts = append(parts, "Not done: "+english.Some(skipped, maxRows, "step")+".")
	}
	return strings.Join(parts[:min(len(parts), maxRows)], "\n\n")
}

// deniedAtGate reports whether the user denied a step at its gate.
func deniedAtGate(step plan.HistoryItem) bool {
	return step.Status == plan.ItemFailed && step.Error == plan.DeniedAtGate
}

// NothingFound reports whether the steps of a chain did their work without a
// result.
func NothingFound(in Intent, history []plan.HistoryItem) bool {
	a := answerer{in: in, steps: lastAttempts(history)}
	searched := a.result("fs.search")
	none := func(list []item) bool { return list != nil && len(list) == 0 }
	found := a.result("code.references")
	switch in.Action {
	case find:
		files := a.result("fs.list")
		if in.Target == "" {
			return none(files.Entries)
		}
		return (none(searched.Matches) || none(a.result("code.symbols").Symbols)) && len(a.named(files)) == 0
	case references:
		return none(searched.Matches) || none(found.References) && found.Definition == nil
	case definition, explain:
		return none(searched.Matches) || none(a.result("code.definition").Definitions)
	case symbols:
		return none(a.result("code.symbols").Symbols)
	case debug:
		summary := a.result(runTests).Summary
		return strings.HasPrefix(summary, noTests) || strings.HasPrefix(summary, "no test matches")
	default:
		return false
	}
}

// NothingToCommit reports whether a commit was asked for, and there was nothing to
// commit.
func NothingToCommit(in Intent, history []plan.HistoryItem) bool {
	a := answerer{in: in, steps: lastAttempts(history)}
	switch {
	case in.Action != commit:
		return false
	case len(a.of("vcs.commit")) > 0:
		return a.result("vcs.commit").Hash == ""
	default:
		return len(a.of("vcs.status")) > 0
	}
}
