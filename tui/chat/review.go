package chat

import (
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/wording"
)

// reviewBlock returns a block with the decision of a plan review and the changes
// made in it.
func reviewBlock(l *draw.Styles, run *agent.Run, d event.PlanReviewed) *Block {
	if d.Decision != event.ReviewRun {
		return remarkBlock(l, gateGlyph, warningStyle, "refused the plan"+wording.ByWords(d.By))
	}
	changed := strings.ReplaceAll(d.Changes().String(), "·", l.Glyphs.Separator)
	if changed == "" {
		return remarkBlock(l, gateGlyph, warningStyle, "reviewed the plan: it runs unchanged"+wording.ByWords(d.By))
	}
	lines := []string{"reviewed the plan: " + changed + wording.ByWords(d.By)}
	removed, edited := wording.ReviewedSteps(run, d)
	for _, s := range removed {
		lines = append(lines, l.Glyphs.Removed+" "+s.Name()+" "+s.Title.Line())
	}
	for _, s := range edited {
		lines = append(lines, l.Glyphs.Revised+" "+s.Name()+" "+s.Title.Line())
	}
	for _, m := range d.Moved {
		lines = append(lines, wording.StepWords(m.Step)+" waits for "+untrusted.Line(m.After))
	}
	return remarkBlock(l, gateGlyph, warningStyle, strings.Join(lines, "\n"))
}
