package review

import (
	"errors"
	"fmt"
	"slices"

	"replan/agent"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/draw"
	"replan/tui/wording"
)

// planEditor edits a part of the reviewed plan as JSON: a step, or the acceptance of the
// plan.
type planEditor struct {
	*draw.Editor
	title string
	hints []string
	take  func(value map[string]any) error
}

// edit opens the editor on a step.
func (d *Dialog) edit(s agent.ReviewStep) error {
	switch {
	case s.Out:
		return errors.New("it is removed: restore it first")
	case s.Settled:
		return errors.New("it has already started")
	}
	return d.openEditor(plan.EditableFields(s.Step), planEditor{
		title: "Edit " + wording.StepWords(s.Step.Index), hints: []string{
			`check: [{"expect": "result.total > 0"}]`, `when: "found.total > 0"`, "${name} is another step's result",
			`for_each: "${found.files}"`, `until: {"expect": "result.done", "every": "10s", "for": "10m"}`,
		},
		take: func(value map[string]any) error {
			step, err := plan.ReadFields(s.Step, value)
			if err != nil {
				return err
			}
			return d.review.Edit(step)
		},
	})
}

// editAcceptance opens the editor on the acceptance of the plan.
func (d *Dialog) editAcceptance() error {
	checks := d.review.Plan().Acceptance
	if checks == nil {
		checks = []plan.Check{}
	}
	return d.openEditor(map[string]any{"acceptance": checks}, planEditor{
		title: "Edit the acceptance", hints: []string{`a check: {"expect": "found.total > 0"}`, "${name} is a step's result"},
		take: func(value map[string]any) error {
			for name := range value {
				if name != "acceptance" {
					return fmt.Errorf("%q cannot be edited here", name)
				}
			}
			checks, faults := plan.ReadChecks(value["acceptance"], "acceptance")
			if len(faults) > 0 {
				return plan.FaultError(faults)
			}
			return d.review.EditAcceptance(checks)
		},
	})
}

func (d *Dialog) openEditor(text map[string]any, e planEditor) error {
	if e.Editor = draw.NewEditor(d.styles, text); e.Editor == nil {
		return errors.New("this is too long to be edited here")
	}
	d.editor = &e
	return nil
}

// takeEdit applies the edited part, or says why it is invalid.
func (d *Dialog) takeEdit() {
	e := d.editor
	value := e.Args()
	if value == nil {
		return
	}
	if err := e.take(value); err != nil {
		e.Refuse("Not changed: " + untrusted.Line(err.Error()))
		return
	}
	d.editor = nil
	d.refresh()
}

// drawEditor draws the editor in exactly height lines of exactly width cells.
func (d *Dialog) drawEditor(width, height int) []string {
	l := d.styles
	var bar []string
	if d.editor.Fault() != "" {
		bar = draw.Paint(l.Warning, draw.Wrap(d.editor.Fault(), width-4))
		bar = bar[:min(len(bar), max(min(height-6, 6), 1))]
	} else {
		bar = draw.Flow(append([]string{
			l.Key.Bold(true).Render(d.keys.Shown("question.send")) + " " + l.Text.Render("take it"),
			l.Key.Bold(true).Render(d.keys.Shown("dialog.leave")) + " " + l.Text.Render("keep it unchanged"),
		}, draw.Paint(l.Faint, d.editor.hints)...), "   ", width-4)
		bar = bar[:min(len(bar), max(height/6, 1))]
	}
	bar = slices.Clone(bar)
	for i := range bar {
		bar[i] = l.Fit(bar[i], width-4)
	}
	body := max(height-3-len(bar), 1)
	d.editor.SetSize(width-4, body)
	title := l.Warning.Bold(true).Render(d.editor.title)
	return l.Frame(width, l.Warning,
		draw.Section{Title: title, Lines: draw.Padded(l.Block(d.editor.Lines(), width-4, body)), Style: l.Warning},
		draw.Section{Lines: draw.Padded(bar), Style: l.Warning},
	)
}
