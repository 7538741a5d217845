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
	a := answering{in: in, items: lastAttempts(history)}
	var blocks []string
	for _, tool := range a.shown() {
		for _, item := range a.of(tool) {
			blocks = append(blocks, blocksOf[tool](a, value{item.Result}))
		}
	}
	blocks = append(blocks, a.trouble(), a.advice(), strings.TrimSpace(left))
	blocks = slices.DeleteFunc(blocks, func(b string) bool { return b == "" })
	if len(blocks) == 0 {
		return a.nothing()
	}
	return strings.Join(blocks, "\n\n")
}

// nothing is the answer where no step has anything to tell.
func (a answering) nothing() string {
	if len(a.items) == 0 {
		return "Nothing was done."
	}
	return "Done: " + english.Count(len(a.items), "step") + ", and none of them has anything to show."
}

// answering is an answer in the making.
type answering struct {
	in    Intent
	items []plan.HistoryItem // the last attempt of each step, in order
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
func (a answering) of(tool string) []plan.HistoryItem {
	var found []plan.HistoryItem
	for _, item := range a.items {
		if toolOf(item) != tool {
			continue
		}
		reported := (tool == runTests || tool == "test.lint") && value{item.Result}.isObject()
		if item.Status == plan.ItemCompleted || item.Status == plan.ItemFailed && reported {
			found = append(found, item)
		}
	}
	return found
}

// done says whether an operator has a result.
func (a answering) done(tools ...string) bool {
	return slices.ContainsFunc(tools, func(tool string) bool { return len(a.of(tool)) > 0 })
}

// result is the result of the first step of an operator.
func (a answering) result(tool string) value {
	if items := a.of(tool); len(items) > 0 {
		return value{items[0].Result}
	}
	return value{}
}

// changing are the operators that change files.
var changing = []string{"fs.patch", "fs.write", "fs.move", "fs.remove", "fs.mkdir"}

// shown lists the operators whose results the answer is made of, in order.
func (a answering) shown() []string {
	first := func(tools ...string) []string { // the first of them that has a result
		for _, tool := range tools {
			if a.done(tool) {
				return []string{tool}
			}
		}
		return nil
	}
	switch a.in.Action {
	case find:
		return []string{"fs.list", "fs.search", "code.symbols"}
	case references:
		return []string{"code.references", "fs.search"}
	case definition:
		return []string{"code.definition", "fs.search"}
	case symbols:
		return []string{"code.symbols", "code.parse"}
	case explain:
		return first("code.summarize", "code.definition", "code.symbols", "fs.search")
	case debug:
		if a.done("fs.search") {
			return []string{"fs.search"}
		}
		if a.done(runTests) && a.result(runTests).at("passed").flag() && shapeOf(a.in.Target) != nothing {
			return []string{runTests} // the last changes explain nothing
		}
		if a.done("code.summarize") {
			return []string{"code.summarize"}
		}
		return []string{runTests, "vcs.log"}
	case edit, fix, extract, rename, refactor, create, addTests:
		if a.done(changing...) {
			return append(slices.Clone(changing), "test.lint", runTests)
		}
		return append(first("code.transform", "code.references", "code.definition", "code.parse", "code.symbols", "fs.search"), "test.lint", runTests)
	case commit:
		if a.done("vcs.commit") {
			return []string{runTests, "vcs.commit"}
		}
		if !a.done("code.summarize") {
			return []string{"vcs.status"} // there was nothing to commit
		}
		return []string{runTests, "code.summarize"}
	case push:
		return first("vcs.push", "vcs.status")
	}
	var all []string
	for _, item := range a.items {
		if tool := toolOf(item); blocksOf[tool] != nil && !slices.Contains(all, tool) {
			all = append(all, tool)
		}
	}
	return all
}

// advice suggests another search if the name was not found.
func (a answering) advice() string {
	for _, item := range a.items {
		tool := toolOf(item)
		if item.Status == plan.ItemFailed && (tool == "code.references" || tool == "code.definition") && a.in.Target != "" {
			if strings.Contains(item.Error, "no text") {
				return "Try another spelling, or its full name, such as Type.Method."
			}
			return "Try its full name, such as Type.Method, or search the text: find " + a.about() + "."
		}
	}
	return ""
}

// trouble tells of the steps that were not done.
func (a answering) trouble() string {
	var lines, skipped, blocks []string
	for _, item := range a.items {
		name := code(toolOf(item))
		if name == "" {
			name = code(item.Title)
		}
		switch item.Status {
		case plan.ItemFailed:
			if slices.ContainsFunc(a.of(toolOf(item)), func(told plan.HistoryItem) bool { return told.Index == item.Index }) {
				continue // its result says so
			}
			switch reason := strings.TrimSpace(item.Error); {
			case reason == "":
				lines = append(lines, name+" failed")
			case strings.Contains(reason, "\n"):
				blocks = append(blocks, name+" failed:\n\n"+fence("text", reason))
			case strings.HasPrefix(reason, "denied"):
				lines = append(lines, name+" was not done: "+markdown.Code(reason, maxNote))
			default:
				lines = append(lines, name+" failed: "+markdown.Code(reason, maxNote))
			}
		case plan.ItemInDoubt:
			lines = append(lines, name+" was started, and nobody knows whether it took effect")
		case plan.ItemSkipped:
			skipped = append(skipped, name)
		}
	}
	if len(skipped) > 0 {
		lines = append(lines, "Not done: "+strings.Join(skipped[:min(len(skipped), maxRows)], ", "))
	}
	switch len(lines) {
	case 0:
	case 1:
		blocks = append(blocks, lines[0]+".")
	default:
		blocks = append(blocks, rows(lines, 0, "step"))
	}
	return strings.Join(blocks[:min(len(blocks), maxRows)], "\n\n")
}
