package dag

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/sahilm/fuzzy"

	"replan/agent"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/tui/keymap"
	"replan/tui/telling"
)

// planFilter shows only the steps that match the typed text: words of their
// titles, tools and indices, and their status, as in status:failed.
type planFilter struct {
	Text   string
	Typing bool
	found  []int // positions, in execution order
}

// On reports whether the filter hides steps.
func (f *planFilter) On() bool { return strings.TrimSpace(f.Text) != "" }

// shown reports whether the filter takes a line of the pane.
func (f *planFilter) shown() bool { return f.Typing || f.On() }

// statusWords maps the status words of a filter to predicates.
var statusWords = map[string]func(c telling.StepClass, s *agent.StepState) bool{
	"drafting": isClass(telling.ClassDraft),
	"pending":  isClass(telling.ClassWaits, telling.ClassDraft, telling.ClassReady, telling.ClassHeld, telling.ClassRetry),
	"waiting":  isClass(telling.ClassWaits),
	"blocked":  isClass(telling.ClassWaits),
	"ready":    isClass(telling.ClassReady),
	"held":     isClass(telling.ClassHeld),
	"retry":    isClass(telling.ClassRetry),
	"running":  isClass(telling.ClassRuns),
	"gate":     isClass(telling.ClassGate),
	"doubt":    isClass(telling.ClassDoubt),
	"done":     isClass(telling.ClassDone),
	"complete": isClass(telling.ClassDone),
	"failed":   isClass(telling.ClassFailed),
	"stopped":  isClass(telling.ClassStopped),
	"skipped":  isClass(telling.ClassSkipped),
	"added":    func(_ telling.StepClass, s *agent.StepState) bool { return s.Change == agent.ChangeAdded },
	"revised":  func(_ telling.StepClass, s *agent.StepState) bool { return s.Change == agent.ChangeRevised },
}

func isClass(any ...telling.StepClass) func(telling.StepClass, *agent.StepState) bool {
	return func(c telling.StepClass, _ *agent.StepState) bool { return slices.Contains(any, c) }
}

// stands reports whether a step has the status that a word names. A prefix is
// enough: run, fail, in_doubt.
func stands(word string, c telling.StepClass, s *agent.StepState) bool {
	word = strings.TrimPrefix(strings.ToLower(word), "in_")
	for name, is := range statusWords {
		if (strings.HasPrefix(name, word) || name == "complete" && word == "completed") && is(c, s) {
			return true
		}
	}
	return false
}

// stepTexts holds the texts of the steps that a filter searches.
type stepTexts struct {
	among []int
	texts []string
}

func (t *stepTexts) String(i int) string { return t.texts[i] }
func (t *stepTexts) Len() int            { return len(t.among) }

// search finds the matching steps. Every word must match; a word that occurs in
// no text is matched letter by letter.
func (f *planFilter) search(c *chart, t *tally) {
	found := make([]int, len(c.Steps))
	for i := range found {
		found[i] = i
	}
	for _, word := range strings.Fields(f.Text) {
		name, value, named := strings.Cut(word, ":")
		var fits func(i int) bool
		switch {
		case named && value != "" && strings.HasPrefix("status", strings.ToLower(name)):
			fits = func(i int) bool { return stands(value, t.class[i], c.Steps[i]) }
		case named && value != "" && strings.EqualFold(name, "tool"):
			value = strings.ToLower(value)
			fits = func(i int) bool { return strings.Contains(strings.ToLower(telling.StepTool(c.Steps[i])), value) }
		default:
			found = stepsLike(c, t, found, word)
			continue
		}
		found = slices.DeleteFunc(found, func(i int) bool { return !fits(i) })
	}
	f.found = found
}

// wordLeast is the minimum length of a status prefix without "status:".
const wordLeast = 3

// stepsLike returns the steps that match a word by text or status. If there are
// none, it returns those whose texts contain its letters in order.
func stepsLike(c *chart, t *tally, among []int, word string) []int {
	texts := &stepTexts{among: among, texts: make([]string, len(among))}
	low := strings.ToLower(word)
	var found []int
	for k, i := range among {
		s := c.Steps[i]
		texts.texts[k] = untrusted.Line(s.Step.Index + " " + s.Step.Title + " " + telling.StepTool(s))
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

// StartFilter opens the filter input line.
func (d *Pane) StartFilter() {
	d.Filter.Typing, d.drawn = true, false
}

// clearFilter shows all steps again.
func (d *Pane) clearFilter() {
	d.Filter, d.Stale, d.loose, d.drawn = planFilter{}, true, false, false
}

// FilterHandlers returns the actions of the filter.
func (d *Pane) FilterHandlers() keymap.Handlers {
	if !d.Filter.Typing {
		return keymap.Handlers{"run.stop": {Do: keymap.Just(d.clearFilter)}}
	}
	keep := func() { d.Filter.Typing, d.drawn = false, false }
	clear := keymap.Handler{Do: keymap.Just(func() { d.Seek("") })}
	hs := keymap.Handlers{
		"list.choose":  {Do: keymap.Just(keep)},
		"dialog.leave": {Do: keymap.Just(d.clearFilter)},
		"list.up":      {Do: keymap.Just(func() { d.Move(-1) })}, "list.down": {Do: keymap.Just(func() { d.Move(1) })},
		"search.erase_word": clear, "search.erase_all": clear,
	}.With(keymap.Searching(d.Filter.Text, d.Seek))
	if d.Filter.Text == "" {
		hs["list.erase"] = keymap.Handler{Do: keymap.Just(keep)}
	}
	return hs
}

// Seek filters the steps by text.
func (d *Pane) Seek(text string) {
	d.Filter.Text, d.Stale, d.drawn, d.loose = text, true, false, false
}

// drawFilter draws the filter input line.
func (d *Pane) drawFilter() string {
	l, f := d.Look, &d.Filter
	tail := ""
	if f.On() && d.Chart != nil {
		tail = english.Count(len(f.found), "step") + " of " + english.Count(len(d.Chart.Steps), "")
		tail = strings.TrimRight(strings.TrimSuffix(tail, "s"), " ")
	}
	k := d.Keys
	does := k.Name("plan.next_match") + " " + k.Name("plan.previous_match") + " move, " + k.Name("run.stop") + " clears"
	if f.Typing {
		does = k.Name("list.choose") + " keeps, " + k.Name("dialog.leave") + " clears"
	}
	cursor := ""
	if f.Typing {
		cursor = l.Text.Reverse(true).Render(" ")
	}
	room := max(d.Width-4-ansi.StringWidth(tail), 4)
	typed := l.CutLeft(untrusted.Visible(f.Text), room-2)
	left := " " + l.Key.Render("/") + l.Strong.Render(typed) + cursor
	if !f.On() && f.Typing {
		hint := l.Cut(" title, tool, index or status:failed", d.Width-ansi.StringWidth(left)-1)
		return l.Fit(left+l.Faint.Render(hint), d.Width)
	}
	if full := tail + "  " + does; ansi.StringWidth(left)+ansi.StringWidth(full)+3 <= d.Width {
		tail = full
	}
	return l.Sides(left, l.Faint.Render(tail)+" ", d.Width)
}
