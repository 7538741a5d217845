package tui

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"replan/agent"
	"replan/planning/plan"
	"replan/tui/untrusted"
)

// How much the chat shows of the results of a plan that nobody wrote an answer
// for. The plan's own pane has the rest.
const (
	resultsShown = 8 // results
	linesFolded  = 4 // of one, while it is folded
)

// results draws the results of a plan that nobody wrote an answer for: those that
// no other step worked on, each with its first lines, and unfolded with more.
func (c *chatPane) results(run *agent.Run) []*block {
	wanted := map[string]bool{}
	for _, item := range run.SynthesisItems() {
		wanted[item.Index] = item.Status == plan.ItemCompleted
	}
	steps := slices.DeleteFunc(slices.Clone(run.Steps), func(s *agent.StepState) bool {
		return !wanted[s.Step.Index] || s.Result == nil || s.DryRun
	})
	var blocks []*block
	for _, s := range steps[:min(len(steps), resultsShown)] {
		title := untrusted.Line(s.Step.Index) + " " + untrusted.Line(s.Step.Title)
		blocks = append(blocks, c.foldedResult(title, linesFolded, func(width int) []string {
			d := &document{look: c.look, width: max(width, 1)}
			writeReadable(d, s.Result)
			return d.whole()
		}))
	}
	if more := len(steps) - len(blocks); more > 0 {
		blocks = append(blocks, c.remark(separatorGlyph, faintStyle, plural(more, "more result")+" in the plan"))
	}
	return blocks
}

// resultsTold draws results that a reply of an earlier session tells of. Folded
// they are one line.
func (c *chatPane) resultsTold(markdown string) *block {
	b := c.foldedResult("results of the steps", 0, func(width int) []string {
		var lines []string
		for _, p := range split(markdown) {
			if p.gap && len(lines) > 0 {
				lines = append(lines, "")
			}
			for _, line := range c.layPiece(p, width, true) {
				lines = append(lines, line.text)
			}
		}
		return lines
	})
	b.says = func() string { return markdown }
	return b
}

// foldedResult draws a title with a body under it, of which only the first lines
// show while it is folded.
func (c *chatPane) foldedResult(title string, folded int, body func(width int) []string) *block {
	b := &block{gap: true}
	unfolded := b.foldsAs(foldCard, func() bool { return len(body(max(c.width-2, 1))) > folded })
	b.lay = func(width int) []textLine {
		l := c.look
		lines := body(max(width-2, 1))
		sign, shown := "", folded
		if len(lines) > folded {
			sign = foldSign(l, *unfolded)
		}
		if *unfolded {
			shown = mostOfCard
		}
		if more := len(lines) - shown; more > 0 {
			lines = lines[:shown:shown]
			if shown > 0 {
				lines = append(lines, l.Faint.Render(l.cut(fmt.Sprintf("%d lines more", more), max(width-2, 1))))
			}
		}
		head := l.Success.Render(l.glyphs.Done) + " " + l.Text.Render(l.cut(title, max(width-2-visibleWidth(sign), 1))) + sign
		return append([]textLine{{text: l.cut(head, width), lead: 2}}, c.guided(set(lines))...)
	}
	return b
}

// writeReadable adds what a person would read first of a result: how a test run
// went, the lines of what was found or listed, else the whole.
func writeReadable(d *document, result any) {
	members, _ := result.(map[string]any)
	if !isTestRun(members) {
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if lines := placeLines(members[name]); len(lines) > 0 {
				writeCutLines(d, d.look.Text, lines)
				return
			}
		}
		writeResult(d, result)
		return
	}
	summary, _ := members["summary"].(string)
	d.prose(d.look.Text, strings.TrimSpace(summary))
	writeCutLines(d, d.look.Danger, failureLines(members["failures"]))
}

// writeCutLines adds a line for each text, cut where it is too long.
func writeCutLines(d *document, style lipgloss.Style, lines []string) {
	for _, line := range lines {
		d.lines = append(d.lines, style.Render(d.look.cut(untrusted.Line(line), d.width)))
	}
}
