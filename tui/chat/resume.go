package chat

import (
	"replan/agent"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/tui/draw"
)

// resumeBlock returns a block for a resumed run, with its goal unless that is "".
func resumeBlock(l *draw.Styles, words string, goal untrusted.Text) *Block {
	about := goal.FirstLine()
	return &Block{Gap: true, Draw: func(width int) []string {
		lines := []string{l.Cut(l.Accent.Render(l.Glyphs.Folded)+" "+l.Strong.Render(words), width)}
		if about != "" {
			lines = append(lines, draw.Aside(l.Muted, about, width)...)
		}
		return lines
	}}
}

// planBlock returns a block that names the plan in execution, if no phases
// introduced it. Expanded, it shows the current steps.
func planBlock(l *draw.Styles, run *agent.Run, title string, steps int, dry bool) *Block {
	fold := newFold(foldCard, false, func() bool { return len(run.Steps) > 0 })
	return &Block{Gap: true, live: true, fold: fold, lay: func(width int) []draw.TextLine {
		tail := " " + l.Glyphs.Separator + " " + english.Count(steps, "step")
		if dry {
			tail += " " + l.Glyphs.Separator + " dry run"
		}
		sign := fold.glyph(l)
		head := sign + " plan "
		room := max(width-draw.VisibleWidth(head)-draw.VisibleWidth(tail), 8)
		line := l.Accent.Render(sign) + " plan " + l.Strong.Render(l.Cut(title, room)) + l.Muted.Render(tail)
		lines := []draw.TextLine{{Text: l.Cut(line, width), Lead: 2}}
		if fold.isOpen() {
			lines = append(lines, planSteps(l, run, width)...)
		}
		return lines
	}}
}
