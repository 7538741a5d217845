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
func (d *Pane) drawDiff(p *draw.SheetPage, s *agent.StepState) {
	l := d.styles
	before := d.versionBefore(s)
	if s.Diff == "" && before == nil {
		p.Prose(l.Faint, "No changes to files are known for this step.")
		return
	}
	if s.Diff != "" {
		change := patch.Parse(s.Diff)
		if len(change.Files) > 1 {
			p.Lines = append(p.Lines, l.Cut(l.Muted.Render(english.Count(len(change.Files), "file"))+" "+l.ChangeCount(change.Added, change.Removed), p.Width))
		}
		p.Put(draw.DiffLeaf{DiffRows: draw.NewDiffRows(l, p.Width, change)})
	}
	if before != nil {
		p.Heading(fmt.Sprintf("changed by revision %d", d.run.Revision))
		text, _, _ := plan.UnifiedDiff("before", "now", stepText(before), stepText(s))
		p.Put(draw.NewDiff(l, p.Width, text))
	}
}

// versionBefore returns the step as it was before the newest revision changed
// it.
func (d *Pane) versionBefore(s *agent.StepState) *agent.StepState {
	if s.Change != agent.ChangeRevised || d.shown.Kind != SubjectStep || len(d.run.Revisions) == 0 {
		return nil
	}
	before := d.run.Revisions[len(d.run.Revisions)-1].Before
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

// noSides explains why the diff of the selected step cannot switch its view.
func (d *Pane) noSides() string {
	d.View()
	for _, f := range d.back {
		if _, ok := f.(draw.DiffLeaf); ok {
			return ""
		}
	}
	return "No diff in view can be shown side by side."
}
