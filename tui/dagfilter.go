package tui

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/sahilm/fuzzy"

	"replan/agent"
	"replan/tui/untrusted"
)

// planFilter shows only the steps that are like what was typed: words of their
// titles, tools and indices, and how they stand, as in status:failed.
type planFilter struct {
	text   string
	typing bool
	found  []int // positions, in execution order
}

// on reports whether steps are left out.
func (f *planFilter) on() bool { return strings.TrimSpace(f.text) != "" }

// shown reports whether the filter takes a line of the pane.
func (f *planFilter) shown() bool { return f.typing || f.on() }

// statusWords are the words by which a filter knows how a step stands.
var statusWords = map[string]func(c stepClass, s *agent.StepState) bool{
	"drafting": isClass(classDraft),
	"pending":  isClass(classWaits, classDraft, classReady, classHeld, classRetry),
	"waiting":  isClass(classWaits),
	"blocked":  isClass(classWaits),
	"ready":    isClass(classReady),
	"held":     isClass(classHeld),
	"retry":    isClass(classRetry),
	"running":  isClass(classRuns),
	"gate":     isClass(classGate),
	"doubt":    isClass(classDoubt),
	"done":     isClass(classDone),
	"complete": isClass(classDone),
	"failed":   isClass(classFailed),
	"stopped":  isClass(classStopped),
	"skipped":  isClass(classSkipped),
	"added":    func(_ stepClass, s *agent.StepState) bool { return s.Change == agent.ChangeAdded },
	"revised":  func(_ stepClass, s *agent.StepState) bool { return s.Change == agent.ChangeRevised },
}

func isClass(any ...stepClass) func(stepClass, *agent.StepState) bool {
	return func(c stepClass, _ *agent.StepState) bool { return slices.Contains(any, c) }
}

// stands reports whether a step stands as a word of a filter says, which need not
// be whole: run, fail, in_doubt.
func stands(word string, c stepClass, s *agent.StepState) bool {
	word = strings.TrimPrefix(strings.ToLower(word), "in_")
	for name, is := range statusWords {
		if (strings.HasPrefix(name, word) || name == "complete" && word == "completed") && is(c, s) {
			return true
		}
	}
	return false
}

// stepTexts are the steps as a filter reads them.
type stepTexts struct {
	among []int
	texts []string
}

func (t *stepTexts) String(i int) string { return t.texts[i] }
func (t *stepTexts) Len() int            { return len(t.among) }

// search finds the steps. Every word must fit; one that is in no text as it
// stands is looked for letter by letter.
func (f *planFilter) search(c *chart, t *tally) {
	found := make([]int, len(c.steps))
	for i := range found {
		found[i] = i
	}
	for _, word := range strings.Fields(f.text) {
		name, value, named := strings.Cut(word, ":")
		var fits func(i int) bool
		switch {
		case named && value != "" && strings.HasPrefix("status", strings.ToLower(name)):
			fits = func(i int) bool { return stands(value, t.class[i], c.steps[i]) }
		case named && value != "" && strings.EqualFold(name, "tool"):
			value = strings.ToLower(value)
			fits = func(i int) bool { return strings.Contains(strings.ToLower(stepTool(c.steps[i])), value) }
		default:
			found = stepsLike(c, t, found, word)
			continue
		}
		found = slices.DeleteFunc(found, func(i int) bool { return !fits(i) })
	}
	f.found = found
}

// wordLeast is how long the beginning of a word has to be that says without
// status: how a step stands.
const wordLeast = 3

// stepsLike finds a word in some steps: in their texts or as how they stand, else
// its letters in the texts in their order.
func stepsLike(c *chart, t *tally, among []int, word string) []int {
	texts := &stepTexts{among: among, texts: make([]string, len(among))}
	low := strings.ToLower(word)
	var found []int
	for k, i := range among {
		s := c.steps[i]
		texts.texts[k] = untrusted.Line(s.Step.Index + " " + s.Step.Title + " " + stepTool(s))
		if strings.Contains(strings.ToLower(texts.texts[k]), low) || len(low) >= wordLeast && stands(low, t.class[i], s) {
			found = append(found, i)
		}
	}
	if len(found) > 0 {
		return found
	}
	for _, m := range fuzzy.FindFromNoSort(word, texts) {
		found = append(found, among[m.Index])
	}
	return found
}

// startFilter opens the line in which a filter is typed.
func (d *dagPane) startFilter() {
	d.filter.typing, d.drawn = true, false
}

// clearFilter shows all steps again.
func (d *dagPane) clearFilter() {
	d.filter, d.stale, d.loose, d.drawn = planFilter{}, true, false, false
}

// filterHandlers are the actions of the filter.
func (d *dagPane) filterHandlers() handlers {
	if !d.filter.typing {
		return handlers{"run.stop": {do: just(d.clearFilter)}}
	}
	keep := func() { d.filter.typing, d.drawn = false, false }
	clear := handler{do: just(func() { d.seek("") })}
	hs := handlers{
		"list.choose":  {do: just(keep)},
		"dialog.leave": {do: just(d.clearFilter)},
		"list.up":      {do: just(func() { d.move(-1) })}, "list.down": {do: just(func() { d.move(1) })},
		"search.erase_word": clear, "search.erase_all": clear,
	}.with(searching(d.filter.text, d.seek))
	if d.filter.text == "" {
		hs["list.erase"] = handler{do: just(keep)}
	}
	return hs
}

// seek filters the steps by a text.
func (d *dagPane) seek(text string) {
	d.filter.text, d.stale, d.drawn, d.loose = text, true, false, false
}

// drawFilter draws the line in which the filter stands.
func (d *dagPane) drawFilter() string {
	l, f := d.look, &d.filter
	tail := ""
	if f.on() && d.chart != nil {
		tail = plural(len(f.found), "step") + " of " + plural(len(d.chart.steps), "")
		tail = strings.TrimRight(strings.TrimSuffix(tail, "s"), " ")
	}
	does := "n N move, esc clears"
	if f.typing {
		does = "enter keeps, esc clears"
	}
	cursor := ""
	if f.typing {
		cursor = l.Text.Reverse(true).Render(" ")
	}
	room := max(d.width-4-ansi.StringWidth(tail), 4)
	typed := l.cutLeft(untrusted.Visible(f.text), room-2)
	left := " " + l.Key.Render("/") + l.Strong.Render(typed) + cursor
	if !f.on() && f.typing {
		hint := l.cut(" title, tool, index or status:failed", d.width-ansi.StringWidth(left)-1)
		return l.fit(left+l.Faint.Render(hint), d.width)
	}
	if full := tail + "  " + does; ansi.StringWidth(left)+ansi.StringWidth(full)+3 <= d.width {
		tail = full
	}
	return l.sides(left, l.Faint.Render(tail)+" ", d.width)
}
