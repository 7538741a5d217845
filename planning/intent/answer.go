package intent

import (
	"slices"
	"strings"

	"replan/internal/english"
	"replan/internal/markdown"
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
	parts = append(parts, a.notDone(), a.advice(), strings.TrimSpace(left))
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

// done reports whether an operator has a result.
func (a answerer) done(tools ...string) bool {
	return slices.ContainsFunc(tools, func(tool string) bool { return len(a.of(tool)) > 0 })
}

// result is the result of the first step of an operator.
func (a answerer) result(tool string) result {
	if steps := a.of(tool); len(steps) > 0 {
		return resultOf(steps[0].Result)
	}
	return result{}
}

// changing are the operators that change files.
var changing = []string{"fs.patch", "fs.write", "fs.move", "fs.remove", "fs.mkdir"}

// answeredBy lists, by action, the operators whose result answers: the first that has
// one.
var answeredBy = map[string][]string{
	references: {"code.references", "fs.search"},
	definition: {"code.definition", "fs.search"},
	symbols:    {"code.symbols", "code.parse"},
	explain:    {"code.summarize", "code.definition", "code.symbols", "fs.search"},
	debug:      {"fs.search", "code.summarize"},
	push:       {"vcs.push", "vcs.status"},
	commit:     {"vcs.commit", "code.summarize", "vcs.status"},
	edit:       {"code.transform", "code.references", "code.definition", "code.parse", "code.symbols", "fs.search"},
}

// shown lists the operators whose results make up the answer, in order.
func (a answerer) shown() []string {
	action := a.in.Action
	if modelWork[action] || action == rename {
		action = edit
	}
	first := slices.DeleteFunc(slices.Clone(answeredBy[action]), func(tool string) bool { return !a.done(tool) })
	first = first[:min(len(first), 1)]
	switch action {
	case find:
		return []string{"fs.list", "fs.search", "code.symbols"}
	case edit:
		if a.done(changing...) {
			first = changing
		}
		return slices.Concat(first, []string{"test.lint", runTests})
	case commit:
		return slices.Concat([]string{runTests}, first)
	case debug:
		if a.result(runTests).Passed && shapeOf(a.in.Target) != nothing {
			return []string{runTests} // the last changes explain nothing
		}
		if len(first) == 0 {
			return []string{runTests, "vcs.log"}
		}
		return first
	}
	if answeredBy[action] != nil {
		return first
	}
	var all []string
	for _, step := range a.steps {
		if tool := toolOf(step); blocks[tool] != nil && !slices.Contains(all, tool) {
			all = append(all, tool)
		}
	}
	return all
}

// advice suggests another search if the name was not found.
func (a answerer) advice() string {
	for _, item := range a.steps {
		tool := toolOf(item)
		if item.Status == plan.ItemFailed && (tool == "code.references" || tool == "code.definition") && a.in.Target != "" {
			if strings.Contains(string(item.Error), "no text") {
				return "Try another spelling, or its full name, such as Type.Method."
			}
			return a.elsewhere()
		}
	}
	return ""
}

// notDone lists the steps that were not done.
func (a answerer) notDone() string {
	var lines, skipped, parts []string
	for _, step := range a.steps {
		name := orCode(toolOf(step), code(string(step.Title)))
		reason := strings.TrimSpace(string(step.Error))
		switch {
		case step.Status == plan.ItemInDoubt:
			lines = append(lines, name+" was started, and nobody knows whether it took effect")
		case step.Status == plan.ItemSkipped:
			skipped = append(skipped, name)
		case step.Status != plan.ItemFailed, slices.ContainsFunc(a.of(toolOf(step)), func(s plan.HistoryItem) bool { return s.Index == step.Index }):
			// It succeeded, or its result tells the failure.
		case strings.Contains(reason, "\n"):
			parts = append(parts, name+" failed:\n\n"+fence("text", reason))
		case strings.HasPrefix(reason, "denied"):
			lines = append(lines, name+" was not done: "+markdown.Code(reason, maxNote))
		default:
			lines = append(lines, name+" failed"+prefixed(": ", markdown.Code(reason, maxNote)))
		}
	}
	if len(skipped) > 0 {
		lines = append(lines, "Not done: "+strings.Join(skipped[:min(len(skipped), maxRows)], ", "))
	}
	if len(lines) == 1 {
		parts = append(parts, lines[0]+".")
	} else if len(lines) > 1 {
		parts = append(parts, rows(lines, 0, "step", func(line string) string { return line }))
	}
	return strings.Join(parts[:min(len(parts), maxRows)], "\n\n")
}

// NothingFound reports whether the steps of a chain did their work without a
// result.
func NothingFound(in Intent, history []plan.HistoryItem) bool {
	a := answerer{in: in, steps: lastAttempts(history)}
	empty := func(tool string, list func(result) []item) bool {
		r := a.result(tool)
		return list(r) != nil && len(list(r)) == 0 && r.Total == 0
	}
	searched := empty("fs.search", func(r result) []item { return r.Matches })
	noSymbols := empty("code.symbols", func(r result) []item { return r.Symbols })
	noDefinitions := empty("code.definition", func(r result) []item { return r.Definitions })
	files := a.result("fs.list")
	switch in.Action {
	case find:
		if in.Params["of"] == "packages" {
			return a.done("fs.list") && len(packages(files)) == 0
		}
		if a.done("fs.list") && in.Target == "" {
			return len(files.Entries) == 0
		}
		return (searched || noSymbols) && len(a.named(files)) == 0
	case references:
		return searched || empty("code.references", func(r result) []item { return r.References }) && a.result("code.references").Definition == nil
	case definition, explain:
		return searched || noDefinitions
	case symbols:
		return noSymbols
	case debug:
		summary := a.result(runTests).Summary
		return searched || strings.HasPrefix(summary, noTests) || strings.HasPrefix(summary, "no test matches")
	case commit:
		return !a.done("vcs.commit") && a.result("vcs.status").Clean
	default:
		return false
	}
}
