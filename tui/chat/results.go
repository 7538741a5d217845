package chat

import (
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
		folded := linesFolded
		if len(all) == 1 {
			folded = linesOfCommand
		}
		blocks = append(blocks, foldedResult(l, size, title, wording.EvidenceOf(run, s), folded, nil, resultExcerpt(l, s)))
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
	return foldedResult(l, size, "results of the steps", "", 0, words, firstLines(l, func(width int) []string {
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
	}))
}

// foldedResult returns a block with a title and a body, in a pane of that size. Collapsed,
// it shows only so many lines of the body. text returns its text for the search; nil
// searches what is drawn.
func foldedResult(l *draw.Styles, size func() draw.Rect, title string, state plan.EvidenceState, folded int, text func() string, body excerpt) *Block {
	fold := newFold(foldCard, false, func() bool {
		_, all := body(max(size().W-2, 1), folded)
		return !all
	})
	return &Block{Gap: true, fold: fold, text: text, lay: func(width int) []draw.TextLine {
		lines, all := body(max(width-2, 1), folded)
		sign := ""
		if !all {
			sign = fold.sign(l)
			if fold.isOpen() {
				lines, _ = body(max(width-2, 1), mostUnfolded)
			}
		}
		glyph, style := draw.EvidenceGlyph(l, state)
		head := style.Render(glyph) + " " + l.Text.Render(l.Cut(title, max(width-2-draw.VisibleWidth(sign), 1))) + sign
		return append([]draw.TextLine{{Text: l.Cut(head, width), Lead: 2}}, guided(l, draw.Set(lines))...)
	}}
}
