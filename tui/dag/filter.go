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
	"replan/tui/draw"
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
	"declined": isClass(wording.ClassDeclined),
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
func (f *planFilter) search(c *chart, t *stepCounts) []int {
	found := make([]int, len(c.Steps))
	for i := range found {
		found[i] = i
	}
	for _, word := range strings.Fields(f.text) {
		name, value, named := strings.Cut(word, ":")
		var fits func(i int) bool
		switch {
		case named && value != "" && strings.HasPrefix("status", strings.ToLower(name)):
			fits = func(i int) bool { return stands(value, t.of(i), c.Steps[i]) }
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
	return found
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
		if strings.Contains(strings.ToLower(texts.texts[k]), low) || len(low) >= wordLeast && stands(low, t.of(i), s) {
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

// words returns what was typed.
func (f *planFilter) words() string { return f.text }

// types reports whether letters are typed into it.
func (f *planFilter) types() bool { return f.typing }

// begin starts typing.
func (f *planFilter) begin() { f.typing = true }

// keep ends typing, and keeps the text.
func (f *planFilter) keep() { f.typing = false }

// clear shows all steps again.
func (f *planFilter) clear() { *f = planFilter{} }

// seek sets the text.
func (f *planFilter) seek(text string) { f.text = text }

// finds reports whether any step was found.
func (f *planFilter) finds() bool { return len(f.found) > 0 }

// draw draws the filter input line.
func (f *planFilter) draw(l *draw.Styles, k *keymap.Map, c *chart, width int) string {
	tail := ""
	if f.on() && c != nil {
		tail = fmt.Sprintf("%s of %d", english.Count(len(f.found), "step"), len(c.Steps))
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
