package tui

import (
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/tui/untrusted"
)

// reviewed draws what came of a plan that was looked over, and what was changed of
// it.
func (c *chatPane) reviewed(run *agent.Run, d event.PlanReviewed) *block {
	if d.Decision != event.ReviewRun {
		return c.remark(gateGlyph, warningStyle, "refused the plan"+byWords(d.By))
	}
	changed := strings.ReplaceAll(d.Changes().String(), "·", c.look.glyphs.Separator)
	if changed == "" {
		return c.remark(gateGlyph, warningStyle, "looked the plan over: it runs as it is"+byWords(d.By))
	}
	lines := []string{"looked the plan over: " + changed + byWords(d.By)}
	if n := len(run.Reviews); n > 0 {
		for _, s := range run.Reviews[n-1].Out {
			lines = append(lines, c.look.glyphs.Removed+" "+stepLine(s.Step.Index, s.Step.Title))
		}
	}
	for _, index := range d.Edited {
		if s, ok := run.Plan.Step(index); ok {
			lines = append(lines, c.look.glyphs.Revised+" "+stepLine(index, s.Title))
		}
	}
	for _, m := range d.Moved {
		lines = append(lines, stepWords(m.Step)+" waits for "+untrusted.Line(m.After))
	}
	return c.remark(gateGlyph, warningStyle, strings.Join(lines, "\n"))
}

func stepLine(index, title string) string { return untrusted.Line(index + " " + title) }
