package dag

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/sahilm/fuzzy"

	"replan/agent"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/tui/keymap"
	"replan/tui/wording"
)

// planFilter shows only the steps that match the typed text: words of their
// titles, tools and indices, and their status, as in status:failed.
type planFilter struct {
	text   string
	typing bool
	found  []int // positions, in execution order
}

// on reports whether the filter hides steps.
func (f *planFilter) on() bool { return strings.TrimSpace(f.text) != "" }

// shown reports whether the filter takes a line of the pane.
func (f *planFilter) shown() bool { return f.typing || f.on() }

// statusWords maps the status words of a filter to predicates.
var statusWords = map[string]func(c wording.StepClass, s *agent.StepState) bool{
	"drafting": isClass(wording.ClassDraft),
	"pending":  isClass(wording.ClassWaits, wording.ClassDraft, wording.ClassReady, wording.ClassHeld, wording.ClassRetry),
	"waiting":  isClass(wording.ClassWaits),
	"blocked":  isClass(wording.ClassWaits),
	"ready":    isClass(wording.ClassReady),
	"held":     isClass(wording.ClassHeld),
	"retry":    isClass(wording.ClassRetry),
	"running":  isClass(wording.ClassRuns),
	"gate":     isClass(wording.ClassGate),
	"doubt":    isClass(wording.ClassDoubt),
	"done":     isClass(wording.ClassDone),
	"complete": isClass(wording.ClassDone),
	"failed":   isClass(wording.ClassFailed),
	"stopped":  isClass(wording.ClassStopped),
	"skipped":  isClass(wording.ClassSkipped),
	"added":    func(_ wording.StepClass, s *agent.StepState) bool { return s.Change == agent.ChangeAdded },
	"revised":  func(_ wording.StepClass, s *agent.StepState) bool { return s.Change == agent.ChangeRevised },
}

func isClass(any ...wording.StepClass) func(wording.StepClass, *agent.StepState) bool {
	return func(c wording.StepClass, _ *agent.StepState) bool { return slices.Contains(any, c) }
}

// stands reports whether a step has the status that a word names. A prefix is
// enough: run, fail, in_doubt.
func stands(word string, c wording.StepClass, s *agent.StepState) bool {
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
func (f *planFilter) search(c *chart, t *stepCounts) {
	found := make([]int, len(c.Steps))
	for i := range found {
		found[i] = i
	}
	for _, word := range strings.Fields(f.text) {
		name, value, named := strings.Cut(word, ":")
		var fits func(i int) bool
		switch {
		case named && value != "" && strings.HasPrefix("status", strings.ToLower(name)):
			fits = func(i int) bool { return stands(value, t.class[i], c.Steps[i]) }
		case named && value != "" && strings.EqualFold(name, "tool"):
			value = strings.ToLower(value)
			fits = func(i int) bool { return strings.Contains(strings.ToLower(wording.StepTool(&c.Steps[i].Step)), value) }
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
func stepsLike(c *chart, t *stepCounts, among []int, word string) []int {
	texts := &stepTexts{among: among, texts: make([]string, len(among))}
	low := strings.ToLower(word)
	var found []int
	for k, i := range among {
		s := c.Steps[i]
		texts.texts[k] = untrusted.Line(s.Step.Index + " " + s.Step.Title.Visible() + " " + wording.StepTool(&s.Step))
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

// startFilter opens the filter input line.
func (d *Pane) startFilter() {
	d.filter.typing, d.drawn = true, false
}

// clearFilter shows all steps again.
func (d *Pane) clearFilter() {
	d.filter, d.stale, d.loose, d.drawn = planFilter{}, true, false, false
}

// Mode returns the filter, which reads letters until its text is kept.
func (d *Pane) Mode() keymap.Mode {
	switch {
	case !d.filter.shown():
		return keymap.Mode{}
	case !d.filter.typing:
		return keymap.Mode{Actions: keymap.Handlers{"run.stop": {Do: keymap.Just(d.clearFilter)}}}
	}
	keep := func() { d.filter.typing, d.drawn = false, false }
	clear := keymap.Handler{Do: keymap.Just(func() { d.seek("") })}
	hs := keymap.Handlers{
		"list.choose":  {Do: keymap.Just(keep)},
		"dialog.leave": {Do: keymap.Just(d.clearFilter)},
		"list.up":      {Do: keymap.Just(func() { d.Move(-1) })}, "list.down": {Do: keymap.Just(func() { d.Move(1) })},
		"search.erase_word": clear, "search.erase_all": clear,
	}.With(keymap.Searching(d.filter.text, d.seek))
	if d.filter.text == "" {
		hs["list.erase"] = keymap.Handler{Do: keymap.Just(keep)}
	}
	return keymap.Mode{Actions: hs, Type: d.Update, Letters: true}
}

// seek filters the steps by text.
func (d *Pane) seek(text string) {
	d.filter.text, d.stale, d.drawn, d.loose = text, true, false, false
}

// draw draws the filter input line.
func (f *planFilter) draw(v *planView, width int) string {
	l, k := v.Styles, v.Keys
	tail := ""
	if f.on() && v.chart != nil {
		tail = fmt.Sprintf("%s of %d", english.Count(len(f.found), "step"), len(v.chart.Steps))
	}
	does := k.Name("plan.next_match") + " " + k.Name("plan.previous_match") + " move, " + k.Name("run.stop") + " clears"
	if f.typing {
		does = k.Name("list.choose") + " keeps, " + k.Name("dialog.leave") + " clears"
	}
	cursor := ""
	if f.typing {
		cursor = l.Text.Reverse(true).Render(" ")
	}
	room := max(width-4-ansi.StringWidth(tail), 4)
	typed := l.CutLeft(untrusted.Visible(f.text), room-2)
	left := " " + l.Key.Render("/") + l.Strong.Render(typed) + cursor
	if !f.on() && f.typing {
		hint := l.Cut(" title, tool, index or status:failed", width-ansi.StringWidth(left)-1)
		return l.Fit(left+l.Faint.Render(hint), width)
	}
	if full := tail + "  " + does; ansi.StringWidth(left)+ansi.StringWidth(full)+3 <= width {
		tail = full
	}
	return l.Sides(left, l.Faint.Render(tail)+" ", width)
}
