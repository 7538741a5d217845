package chat

import (
	"maps"
	"slices"
	"strings"

	"replan/agent"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/draw"
	"replan/tui/story"
	"replan/tui/wording"
)

// How much the chat shows of the results of a plan without a written answer.
// The plan pane has the rest.
const (
	resultsShown = 8 // results
	linesFolded  = 4 // lines of one collapsed result
)

// resultBlocks returns blocks with the results of a plan without a written answer:
// those no other step used. Each shows its first lines; expanded, it shows
// more.
func resultBlocks(l *draw.Styles, size func() draw.Rect, run *agent.Run, all []story.Result) []*Block {
	var blocks []*Block
	for _, of := range all[:min(len(all), resultsShown)] {
		s := of.Step
		title := s.Step.Name() + " " + s.Step.Title.Line()
		blocks = append(blocks, foldedResult(l, size, title, wording.EvidenceOf(run, s), linesFolded, nil, func(width int) []string {
			d := &draw.Document{Styles: l, Width: max(width, 1)}
			if lines := wording.ItemLines(s); lines != nil {
				d.CutLines(l.Text, lines)
				return d.Whole()
			}
			writeReadable(d, s.Result)
			return d.Whole()
		}))
	}
	if more := len(all) - len(blocks); more > 0 {
		blocks = append(blocks, remarkBlock(l, separatorGlyph, faintStyle, english.Count(more, "more result")+" in the plan"))
	}
	return blocks
}

// repliedResults returns a block with the results in a reply from an earlier
// session. Collapsed, they take one line.
func repliedResults(l *draw.Styles, size func() draw.Rect, p *prose, markdown untrusted.Text) *Block {
	words := func() string { return markdown.Visible() }
	return foldedResult(l, size, "results of the steps", "", 0, words, func(width int) []string {
		var lines []string
		for _, part := range pieces(markdown) {
			if part.gap && len(lines) > 0 {
				lines = append(lines, "")
			}
			for _, line := range p.lines(part, "", width, true) {
				lines = append(lines, line.Text)
			}
		}
		return lines
	})
}

// foldedResult returns a block with a title and a body, in a pane of that size. Collapsed,
// it shows only the first lines of the body. text returns its text for the search; nil
// searches what is drawn.
func foldedResult(l *draw.Styles, size func() draw.Rect, title string, state plan.EvidenceState, folded int, text func() string, body func(width int) []string) *Block {
	whole := folded // lines that need no folding
	if folded > 0 {
		whole++ // a single hidden line takes the place of its count
	}
	fold := newFold(foldCard, false, func() bool { return len(body(max(size().W-2, 1))) > whole })
	return &Block{Gap: true, fold: fold, text: text, lay: func(width int) []draw.TextLine {
		lines := body(max(width-2, 1))
		sign, shown := "", folded
		if len(lines) > whole {
			sign = fold.sign(l)
		}
		if fold.isOpen() {
			shown = mostOfCard
		}
		if shown > 0 {
			lines = l.Shorten(lines, shown, max(width-2, 1))
		} else {
			lines = nil
		}
		glyph, style := draw.EvidenceGlyph(l, state)
		head := style.Render(glyph) + " " + l.Text.Render(l.Cut(title, max(width-2-draw.VisibleWidth(sign), 1))) + sign
		return append([]draw.TextLine{{Text: l.Cut(head, width), Lead: 2}}, guided(l, draw.Set(lines))...)
	}}
}

// writeReadable adds the most readable part of a result: the outcome of a test
// run, the lines found or listed, else all of it.
func writeReadable(d *draw.Document, result any) {
	members, _ := result.(map[string]any)
	if !wording.IsTestRun(members) {
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if lines := wording.PlaceLines(members[name]); len(lines) > 0 {
				d.CutLines(d.Styles.Text, lines)
				return
			}
		}
		writeResult(d, result)
		return
	}
	summary, _ := members["summary"].(string)
	d.Prose(d.Styles.Text, strings.TrimSpace(summary))
	d.CutLines(d.Styles.Danger, wording.FailureLines(members["failures"]))
}
