package chat

import (
	"replan/agent"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/tui/draw"
)

// resumed returns a block for a resumed run, with its goal unless that is "".
func (c *Pane) resumed(words string, goal untrusted.Text) *Block {
	about := goal.FirstLine()
	return &Block{Gap: true, Draw: func(width int) []string {
		l := c.Styles
		lines := []string{l.Cut(l.Accent.Render(l.Glyphs.Folded)+" "+l.Strong.Render(words), width)}
		if about != "" {
			lines = append(lines, draw.Aside(l.Muted, about, width)...)
		}
		return lines
	}}
}

// planned returns a block that names the plan in execution, if no phases
// introduced it. Expanded, it shows the current steps.
func (c *Pane) planned(run *agent.Run, title string, steps int, dry bool) *Block {
	b := &Block{Gap: true, live: true}
	unfolded := b.foldsAs(foldCard, func() bool { return len(run.Steps) > 0 })
	b.lay = func(width int) []draw.TextLine {
		l := c.Styles
		tail := " " + l.Glyphs.Separator + " " + english.Count(steps, "step")
		if dry {
			tail += " " + l.Glyphs.Separator + " dry run"
		}
		sign := l.Glyphs.Folded
		if *unfolded {
			sign = l.Glyphs.Unfolded
		}
		head := sign + " plan "
		room := max(width-draw.VisibleWidth(head)-draw.VisibleWidth(tail), 8)
		line := l.Accent.Render(sign) + " plan " + l.Strong.Render(l.Cut(title, room)) + l.Muted.Render(tail)
		lines := []draw.TextLine{{Text: l.Cut(line, width), Lead: 2}}
		if *unfolded {
			lines = append(lines, c.planSteps(run, width)...)
		}
		return lines
	}
	return b
}
