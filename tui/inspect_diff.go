package tui

import (
	"fmt"

	"replan/agent"
	"replan/planning/plan"
	"replan/tui/patch"
)

// drawDiff draws what the step changes in files, else what a revision changed
// in the step.
func (d *detailPane) drawDiff(p *sheetPage, s *agent.StepState) {
	l := d.look
	before := d.versionBefore(s)
	if s.Diff == "" && before == nil {
		p.prose(l.Faint, "No diff: nothing is known that this step changes.")
		return
	}
	if s.Diff != "" {
		change := patch.Parse(s.Diff)
		if len(change.Files) > 1 {
			p.lines = append(p.lines, l.cut(l.Muted.Render(plural(len(change.Files), "file"))+" "+l.changeCount(change.Added, change.Removed), p.width))
		}
		p.put(diffLeaf{newDiffRows(l, p.width, change)})
	}
	if before != nil {
		p.heading(fmt.Sprintf("changed by revision %d", d.run.Revision))
		text, _, _ := plan.UnifiedDiff("before", "now", stepText(before), stepText(s))
		p.put(newDiff(l, p.width, text))
	}
}

// versionBefore is the step as it stood before the newest revision changed it.
func (d *detailPane) versionBefore(s *agent.StepState) *agent.StepState {
	if s.Change != agent.ChangeRevised || d.shown.kind != subjectStep || len(d.run.Revisions) == 0 {
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

// stepText is a step's call as text that can be compared line by line.
func stepText(s *agent.StepState) string {
	return fmt.Sprintf("title: %s\ntool: %s\nargs: %s\n", s.Step.Title, s.Step.Tool, jsonText(s.Step.Args, "  "))
}

// noSides is why the diff of the chosen step cannot be turned.
func (m *Model) noSides() string {
	m.detail.lines()
	for _, f := range m.detail.back {
		if _, ok := f.(diffLeaf); ok {
			return ""
		}
	}
	return "No diff is in view that could stand side by side."
}

// turnStep shows the diff of the chosen step side by side, or unified.
func (m *Model) turnStep() {
	if word := m.look.turnDiffs(m.detail.width); word != "" {
		m.say(word)
	}
	m.detail.touch()
}
