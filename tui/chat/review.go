package chat

import (
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/tui/telling"
)

// Reviewed returns a block with the decision of a plan review and the changes
// made in it.
func (c *Pane) Reviewed(run *agent.Run, d event.PlanReviewed) *Block {
	if d.Decision != event.ReviewRun {
		return c.Remark(GateGlyph, WarningStyle, "refused the plan"+telling.ByWords(d.By))
	}
	changed := strings.ReplaceAll(d.Changes().String(), "·", c.Look.Glyphs.Separator)
	if changed == "" {
		return c.Remark(GateGlyph, WarningStyle, "looked the plan over: it runs as it is"+telling.ByWords(d.By))
	}
	lines := []string{"looked the plan over: " + changed + telling.ByWords(d.By)}
	if n := len(run.Reviews); n > 0 {
		for _, s := range run.Reviews[n-1].Out {
			lines = append(lines, c.Look.Glyphs.Removed+" "+stepLine(s.Step.Index, s.Step.Title))
		}
	}
	for _, index := range d.Edited {
		if s, ok := run.Plan.Step(index); ok {
			lines = append(lines, c.Look.Glyphs.Revised+" "+stepLine(index, s.Title))
		}
	}
	for _, m := range d.Moved {
		lines = append(lines, telling.StepWords(m.Step)+" waits for "+untrusted.Line(m.After))
	}
	return c.Remark(GateGlyph, WarningStyle, strings.Join(lines, "\n"))
}

func stepLine(index, title string) string { return untrusted.Line(index + " " + title) }
