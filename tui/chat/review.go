package chat

import (
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/tui/wording"
)

// reviewed returns a block with the decision of a plan review and the changes
// made in it.
func (c *Pane) reviewed(run *agent.Run, d event.PlanReviewed) *Block {
	if d.Decision != event.ReviewRun {
		return c.remark(gateGlyph, warningStyle, "refused the plan"+wording.ByWords(d.By))
	}
	changed := strings.ReplaceAll(d.Changes().String(), "·", c.Styles.Glyphs.Separator)
	if changed == "" {
		return c.remark(gateGlyph, warningStyle, "reviewed the plan: it runs unchanged"+wording.ByWords(d.By))
	}
	lines := []string{"reviewed the plan: " + changed + wording.ByWords(d.By)}
	removed, edited := wording.ReviewedSteps(run, d)
	for _, s := range removed {
		lines = append(lines, c.Styles.Glyphs.Removed+" "+s.Name()+" "+s.Title.Line())
	}
	for _, s := range edited {
		lines = append(lines, c.Styles.Glyphs.Revised+" "+s.Name()+" "+s.Title.Line())
	}
	for _, m := range d.Moved {
		lines = append(lines, wording.StepWords(m.Step)+" waits for "+untrusted.Line(m.After))
	}
	return c.remark(gateGlyph, warningStyle, strings.Join(lines, "\n"))
}
