package intent

import (
	"cmp"
	"maps"
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
	parts := a.composed()
	shown := a.shown()
	if len(parts) > 0 {
		shown = nil
	}
	for _, tool := range shown {
		for _, r := range joined(tool, a.of(tool)) {
			parts = append(parts, blocks[tool](a, r)...)
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

// joined returns the results of the steps of an operator. Those that changed files are one
// result, in which each file stands once.
func joined(tool string, steps []plan.HistoryItem) []result {
	results := make([]result, len(steps))
	for i, step := range steps {
		results[i] = resultOf(step.Result)
	}
	if len(results) < 2 || !slices.Contains(changedBy[0], tool) || tool == "code.transform" {
		return results
	}
	all := result{value: results[0].value}
	for _, r := range results {
		for _, f := range r.Files.list {
			at := slices.IndexFunc(all.Files.list, func(known item) bool { return known.Path == f.Path })
			if at < 0 {
				all.Files.list = append(all.Files.list, f)
				continue
			}
			known := &all.Files.list[at]
			if known.Added != nil && f.Added != nil && known.Removed != nil && f.Removed != nil {
				known.Added, known.Removed = new(*known.Added+*f.Added), new(*known.Removed+*f.Removed)
			}
		}
	}
	all.Files.count = len(all.Files.list)
	return []result{all}
}

// answerer writes an answer from the steps of a chain.
type answerer struct {
	in    Intent
	steps []plan.HistoryItem // the last attempt of each step, in order
}

// lastAttempts leaves the last attempt of each step of the plan itself.
func lastAttempts(history []plan.HistoryItem) []plan.HistoryItem {
	last := make(map[string]plan.HistoryItem, len(history))
	for _, item := range history {
		if item.Parent == "" {
			last[item.Index] = item
		}
	}
	return slices.SortedFunc(maps.Values(last), func(x, y plan.HistoryItem) int { return plan.CompareIndices(x.Index, y.Index) })
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

// answeredBy lists, by action, groups of operators whose results make up the answer:
// of each group the first that has one.
var answeredBy = map[string][][]string{
	find:       {{"fs.list"}, {"fs.search"}, {"code.symbols"}},
	references: {{"code.references", "fs.search"}},
	definition: {{"code.definition", "fs.search"}},
	symbols:    {{"code.symbols"}},
	countLines: {{"fs.search"}},
	readFile:   {{"fs.read"}},
	folder:     {{"fs.stat"}},
	explain:    {{"code.summarize", "code.definition", "code.symbols", "fs.search"}},
	test:       {{runTests}},
	lint:       {{"test.lint"}},
	debug:      {{"code.summarize", runTests}, {"code.references"}},
	status:     {{"vcs.status"}},
	diff:       {{"vcs.show", "vcs.diff"}},
	history:    {{"vcs.log"}, {"vcs.status"}},
	blame:      {{"vcs.log"}},
	branch:     {{"vcs.branch", "vcs.branches"}},
	push:       {{"vcs.push", "vcs.status"}},
	commit:     {{runTests}, {"vcs.commit", "code.summarize", "vcs.status"}},

	build:        {{"proc.run", "fs.read"}},
	format:       {{"proc.run"}},
	command:      {{"proc.run", runTests}},
	dependencies: {{"fs.read"}},
}

// changedBy are those of actions that change files.
var changedBy = [][]string{{"fs.patch", "fs.write", "fs.mkdir", "fs.move", "fs.remove", "code.remove", "code.insert", "code.comment", "data.set", "code.transform"}, {runTests}}

// shown lists the operators whose results make up the answer, in order.
func (a answerer) shown() []string {
	groups, ok := answeredBy[a.in.Action]
	if !ok {
		groups = changedBy
	}
	var tools []string
	for _, group := range groups {
		if at := slices.IndexFunc(group, func(tool string) bool { return len(a.of(tool)) > 0 }); at >= 0 {
			tools = append(tools, group[at])
		}
	}
	return tools
}

// notDone lists the steps that were not done.
func (a answerer) notDone() string {
	var parts, skipped, denied []string
	for _, step := range a.steps {
		name := orCode(toolOf(step), code(string(step.Title)))
		if a.in.Category == project {
			name = cmp.Or(legible(string(step.Title)), name)
		}
		reported := slices.ContainsFunc(a.of(toolOf(step)), func(s plan.HistoryItem) bool { return s.Index == step.Index })
		switch {
		case step.Status == plan.ItemInDoubt:
			parts = append(parts, name+" was interrupted, and may or may not have taken effect.")
		case deniedAtGate(step):
			denied = append(denied, name)
		case step.Status == plan.ItemSkipped:
			if title := legible(string(step.Title)); title != "" && title != toolOf(step) {
				name = english.InSentence(title)
			}
			skipped = append(skipped, name)
		case step.Status == plan.ItemFailed && !reported:
			parts = append(parts, failure(name, strings.TrimSpace(string(step.Error))))
		}
	}
	if len(denied) > 0 {
		parts = append(parts, notAllowed+strings.TrimSuffix(english.Some(denied, maxRows, "step"), ".")+".")
	}
	if len(skipped) > 0 {
		parts = append(parts, "Not done: "+strings.TrimSuffix(english.Some(skipped, maxRows, "step"), ".")+".")
	}
	return strings.Join(parts[:min(len(parts), maxRows)], "\n\n")
}

// failure says that a step failed, and why.
func failure(name, reason string) string {
	verb := " failed"
	if strings.HasPrefix(reason, "denied") {
		verb = " was not done"
	}
	switch {
	case strings.Contains(reason, "\n"):
		return name + verb + ":\n\n" + fence("text", reason)
	case strings.HasSuffix(reason, "?"):
		return name + verb + ": " + legible(reason)
	default:
		return name + verb + prefixed(": ", legible(reason)) + "."
	}
}

// notAllowed begins the paragraph of an answer that names the steps denied at their gates.
const notAllowed = "Not allowed at the gate: "

// WithoutDenied returns an answer without the paragraph on steps denied at their gates, for
// readers who were told so there.
func WithoutDenied(answer string) string {
	kept := slices.DeleteFunc(strings.Split(answer, "\n\n"), func(part string) bool { return strings.HasPrefix(part, notAllowed) })
	return strings.Join(kept, "\n\n")
}

// deniedAtGate reports whether the user denied a step at its gate.
func deniedAtGate(step plan.HistoryItem) bool {
	return step.Status == plan.ItemFailed && step.Error == plan.DeniedAtGate
}

// NothingFound reports whether the steps of a chain looked for something, and none
// found it.
func NothingFound(in Intent, history []plan.HistoryItem) bool {
	a := answerer{in: in, steps: lastAttempts(history)}
	if in.Action == debug || in.Action == test {
		summary := a.result(runTests).Summary
		return strings.HasPrefix(summary, plan.NoTests) || strings.HasPrefix(summary, "no test matches")
	}
	looked := false
	for _, tool := range []string{"fs.search", "fs.list", "code.symbols", "code.definition", "code.references"} {
		for _, step := range a.of(tool) {
			r := resultOf(step.Result)
			for _, list := range [][]item{r.Matches, r.Symbols, r.Definitions, r.References, a.named(r)} {
				looked = looked || list != nil
				if len(list) > 0 || r.Definition != nil {
					return false
				}
			}
		}
	}
	if summary := a.result("code.summarize").Summary; in.Category == explain && summary != "" && !strings.HasPrefix(summary, plan.NoDeclaration) {
		return false
	}
	return looked && (in.Category == navigate || in.Category == explain)
}

// NoTestsRun reports whether the words ask for tests after a change, and there were
// none to run.
func NoTestsRun(in Intent, history []plan.HistoryItem) bool {
	a := answerer{in: in, steps: lastAttempts(history)}
	return in.Params["tests"] != "" && a.result(runTests).untested()
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
