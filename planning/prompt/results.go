package prompt

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// argsBound bounds the args of a successful call in a prompt, in characters.
const argsBound = 300

// longArg is the length of an argument from which the reference that it came from is shown
// in its place, in bytes. Text of earlier results is not repeated.
const longArg = 80

// leastShown is the least useful part of an older result, in characters. A shorter
// one is left out and named.
const leastShown = 100

// resultCut is a result cut in a prompt.
type resultCut struct {
	index, title string
	shown, of    int // characters
}

// partial returns the indices of the steps whose results are not shown whole.
func (c *cutter) partial() []string {
	var indices []string
	for _, cut := range c.cuts {
		indices = append(indices, cut.index)
	}
	return indices
}

// result describes one ended attempt of a step with its result, with at most bound
// characters of each of its texts.
func (c *cutter) result(item plan.HistoryItem, p plan.Plan, bound int) string {
	step, ok := p.Step(item.Index)
	if !ok {
		step = plan.Step{Index: item.Index}
	}
	step.Title, step.Tool = item.Title, item.Tool
	if item.Status != plan.ItemCompleted {
		step.ResultVariable = ""
	}
	label := stepLine(step)
	if item.Status != plan.ItemCompleted {
		label += ": " + itemStatus(item.Status)
	}
	if item.Attempt > 1 {
		label += fmt.Sprintf(", attempt %d", item.Attempt)
	}
	if item.ExpectedOutcome != "" && item.Status != plan.ItemCompleted {
		label += "; expected was " + plan.OneLine(string(item.ExpectedOutcome), 300)
	}
	whole := "the result of step " + plan.OneLine(item.Index, 40)
	if step.ResultVariable != "" {
		whole = "${" + plan.OneLine(step.ResultVariable, 80) + "}"
	}
	var parts []string
	if len(item.Args) > 0 {
		args := readable(plan.CanonicalJSON(item.Args))
		if item.Status == plan.ItemCompleted {
			args = readable(plan.CanonicalJSON(referring(item.Args, step.Args)))
			args = new(cutter).textWithin(args, "", min(bound, argsBound)) // no loss to report
		} else {
			args = c.textWithin(args, "", bound)
		}
		parts = append(parts, "args: "+args)
	}
	if item.Error != "" {
		parts = append(parts, "error: "+c.textWithin(readable(string(item.Error)), "", bound))
	}
	if item.Result != nil {
		before := c.characters
		result := Text(item.Result)
		if item.Tool == "fs.read" && item.Text != "" { // of a JSON file, as it is
			result, item.Text = readable(string(item.Text)), ""
		}
		parts = append(parts, "result: "+c.textWithin(result, whole, bound))
		if out := c.characters - before; out > 0 {
			c.cuts = append(c.cuts, resultCut{item.Index, string(item.Title), bound, bound + out})
		}
	}
	if item.Text != "" {
		parts = append(parts, "said beside it: "+c.textWithin(readable(string(item.Text)), "", bound))
	}
	if len(parts) == 0 {
		return disarm(english.Capital(label))
	}
	return fenced(disarm(label), strings.Join(parts, "\n"))
}

// referring are the args of a call with the references of the plan in the place of
// long values that came from them.
func referring(args, planned map[string]any) map[string]any {
	out := maps.Clone(args)
	for name, value := range planned {
		if len(plan.References(value)) > 0 && len(plan.CanonicalJSON(args[name])) > longArg {
			out[name] = value
		}
	}
	return out
}

func itemStatus(s plan.ItemStatus) string {
	switch s {
	case plan.ItemCompleted:
		return "done"
	case plan.ItemInDoubt:
		return "in doubt, it may or may not have taken effect"
	default:
		return string(s)
	}
}

// Text writes a result as a model reads it best: text as it is, all else as JSON. It
// leaves out base64, and makes visible what people cannot see. Of files that came with
// text it names the paths.
func Text(v any) string {
	text, ok := v.(string)
	if !ok {
		text, ok = filesText(v)
	}
	if !ok {
		text, ok = linesOf(v)
	}
	if !ok {
		text = plan.CanonicalJSON(v)
	}
	return readable(text)
}

// readable returns text of a tool without base64, and with what people cannot see made
// visible.
func readable(text string) string { return untrusted.ForModel(withoutBase64(text)) }

// results describes ended steps, oldest first, and names the shortened ones. Each
// of those in first gets as much room as one text may have. The others are older
// and share one budget, see [olderShares].
func (c *cutter) results(items []plan.HistoryItem, p plan.Plan, first map[string]bool) []string {
	sizes := make([]int, len(items))
	var older []int
	for i, item := range items {
		sizes[i] = utf8.RuneCountInString(Text(item.Result))
		if !first[item.Index] {
			older = append(older, min(sizes[i], c.each))
		}
	}
	older = olderShares(older, c.older)
	var texts []string
	before := len(c.cuts)
	for i, item := range items {
		bound := c.each
		if !first[item.Index] {
			bound, older = older[0], older[1:]
			if bound == 0 && sizes[i] > 0 && item.Status == plan.ItemCompleted {
				c.texts, c.characters = c.texts+1, c.characters+sizes[i]
				c.cuts = append(c.cuts, resultCut{item.Index, string(item.Title), 0, sizes[i]})
				continue
			}
			bound = max(bound, leastShown)
		}
		texts = append(texts, c.result(item, p, bound))
	}
	if note := cutNote(c.cuts[before:]); note != "" {
		texts = append(texts, note)
	}
	return texts
}

// olderShares parts a budget among results of these sizes, oldest first. Short
// results stay whole and long ones are cut to the same length. Where that would
// be too little to be of use, the oldest get nothing.
func olderShares(sizes []int, budget int) []int {
	leftOut := sort.Search(len(sizes), func(n int) bool {
		for i, share := range Shares(sizes[n:], budget) {
			if share < min(sizes[n+i], leastShown) {
				return false
			}
		}
		return true
	})
	return append(make([]int, leftOut), Shares(sizes[leftOut:], budget)...)
}

// cutsNamed is how many cut results a prompt names.
const cutsNamed = 20

// cutNote names the shortened results in one line, with the length of the missing
// part of each; "" if all are whole.
func cutNote(cuts []resultCut) string {
	if len(cuts) == 0 {
		return ""
	}
	var named []string
	for _, cut := range cuts[:min(len(cuts), cutsNamed)] {
		line := "step " + plan.OneLine(cut.index, 40) + ", " + plan.OneLine(cut.title, 80) + " (" + strconv.Itoa(cut.shown) + " of " + strconv.Itoa(cut.of) + " characters shown)"
		if cut.shown == 0 {
			line = "step " + plan.OneLine(cut.index, 40) + ", " + plan.OneLine(cut.title, 80) + " (left out, " + strconv.Itoa(cut.of) + " characters)"
		}
		named = append(named, disarm(line))
	}
	if more := len(cuts) - cutsNamed; more > 0 {
		named = append(named, "and "+english.Count(more, "more step"))
	}
	return "Not shown whole, for want of room: " + strings.Join(named, "; ") + "."
}

// neededResults returns the indices of the dependencies of a step, by index or by
// a reference.
func neededResults(s plan.Step, p plan.Plan) map[string]bool {
	needs := make(map[string]bool, len(s.DependsOn))
	for _, index := range s.DependsOn {
		needs[index] = true
	}
	for _, ref := range plan.References(s.Args) {
		for _, other := range p.Steps {
			if other.ResultVariable == ref.Name {
				needs[other.Index] = true
			}
		}
	}
	return needs
}

// SynthesisItems chooses the items for the synthesizer: unconsumed results,
// results of steps with synthesize set, and unresolved errors. A sub-agent's calls
// are part of its step's result.
//
// A result is consumed by a completed step that refers to its variable. It is also
// consumed by a completed dependent that a model carried out or filled in with the
// whole result at hand. partial names, for such a step, the steps with results the
// model saw only in part; nil means none. An error is resolved by a later success
// of the same step, or by a new plan without it.
func SynthesisItems(p plan.Plan, history []plan.HistoryItem, partial map[string][]string) []plan.HistoryItem {
	last := make(map[string]int, len(history))
	ended := make(map[string]plan.HistoryItem, len(history))
	for i, item := range history {
		last[item.Index] = i
		ended[item.Index] = item
	}
	consumed, steps := consumedSteps(p, ended, partial), plan.ByIndex(p.Steps)
	var items []plan.HistoryItem
	for i, item := range history {
		if last[item.Index] != i || item.Parent != "" {
			continue
		}
		step, planned := steps[item.Index]
		switch item.Status {
		case plan.ItemCompleted:
			if !consumed[item.Index] || step.Synthesize {
				items = append(items, item)
			}
		case plan.ItemFailed, plan.ItemInDoubt:
			if planned {
				items = append(items, item)
			}
		case plan.ItemSkipped:
		}
	}
	return items
}

// consumedSteps returns the steps whose results other completed steps worked on;
// ended is the last attempt of each.
func consumedSteps(p plan.Plan, ended map[string]plan.HistoryItem, partial map[string][]string) map[string]bool {
	producers := make(map[string]string, len(p.Steps))
	for _, s := range p.Steps {
		if s.ResultVariable != "" {
			producers[s.ResultVariable] = s.Index
		}
	}
	consumed := make(map[string]bool)
	for _, s := range p.Steps {
		item := ended[s.Index]
		if item.Status != plan.ItemCompleted {
			continue
		}
		for _, ref := range plan.References(s.Args) {
			if from, ok := producers[ref.Name]; ok && from != s.Index {
				consumed[from] = true
			}
		}
		if plan.ExecutorOf(s) != plan.ExecutorTool || wasFilledIn(s, item) {
			for _, from := range s.DependsOn {
				consumed[from] = consumed[from] || !slices.Contains(partial[s.Index], from)
			}
		}
	}
	return consumed
}

// wasFilledIn reports whether a step was called with arguments its plan left out.
func wasFilledIn(s plan.Step, item plan.HistoryItem) bool {
	for name := range item.Args {
		if _, planned := s.Args[name]; !planned {
			return true
		}
	}
	return false
}

// unusedSteps returns the steps without dependents and those marked for a second
// look: the synthesizer sees them first.
func unusedSteps(p plan.Plan, items []plan.HistoryItem) map[string]bool {
	used := make(map[string]bool)
	for _, s := range p.Steps {
		for index := range neededResults(s, p) {
			used[index] = true
		}
	}
	steps, unused := plan.ByIndex(p.Steps), make(map[string]bool, len(items))
	for _, item := range items {
		unused[item.Index] = !used[item.Index] || !steps[item.Index].Synthesize
	}
	return unused
}
