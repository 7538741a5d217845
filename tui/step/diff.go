package step

import (
	"fmt"

	"replan/agent"
	"replan/internal/english"
	"replan/planning/plan"
	"replan/tui/draw"
	"replan/tui/patch"
	"replan/tui/wording"
)

// drawDiff draws the file changes of the step, else what a revision changed in
// the step.
func drawDiff(p *draw.SheetPage, run *agent.Run, shown *Subject) {
	l, s := p.Styles, shown.Step
	before := versionBefore(run, shown)
	if s.Diff == "" && before == nil {
		p.Prose(l.Faint, "No changes to files are known for this step.")
		return
	}
	if s.Diff != "" {
		change := patch.Parse(s.Diff)
		if len(change.Files) > 1 {
			p.Add(l.Cut(l.Muted.Render(english.Count(len(change.Files), "file"))+" "+l.ChangeCount(change.Added, change.Removed), p.Width))
		}
		p.Put(draw.NewDiffRows(l, p.Width, change))
	}
	if before != nil {
		p.Heading(fmt.Sprintf("changed by revision %d", run.Revision))
		text, _, _ := plan.UnifiedDiff("before", "now", stepText(before), stepText(s))
		p.Put(draw.NewDiff(l, p.Width, text))
	}
}

// versionBefore returns the step as it was before the newest revision changed
// it.
func versionBefore(run *agent.Run, shown *Subject) *agent.StepState {
	s := shown.Step
	if s.Change != agent.ChangeRevised || shown.Kind != SubjectStep || len(run.Revisions) == 0 {
		return nil
	}
	before := run.Revisions[len(run.Revisions)-1].Before
	for i := range before {
		if before[i].Step.Index == s.Step.Index {
			return &before[i]
		}
	}
	return nil
}

// stepText returns a step's call as text for a line-by-line diff.
func stepText(s *agent.StepState) string {
	return fmt.Sprintf("title: %s\ntool: %s\nargs: %s\n", s.Step.Title, s.Step.Tool, wording.JSONText(s.Step.Args, "  "))
}
