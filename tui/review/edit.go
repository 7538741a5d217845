package review

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"replan/agent"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/draw"
	"replan/tui/telling"
)

// reviewEditor edits a part of the reviewed plan as JSON: the title, the checks and, if
// it makes a call, the arguments of a step, or the acceptance of the plan.
type reviewEditor struct {
	*draw.Editor
	title string
	hint  string
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
	text := map[string]any{"title": string(s.Step.Title), "check": editable(s.Step.Checks)}
	if s.Step.Executor == plan.ExecutorTool {
		args := s.Step.Args
		if args == nil {
			args = map[string]any{}
		}
		text["args"] = args
	}
	return d.openEditor(text, reviewEditor{
		title: "Edit " + telling.StepWords(s.Step.Index), hint: `a check: {"expect": "result.total > 0"}`,
		take: func(value map[string]any) error {
			step, err := readStep(s.Step, value)
			if err != nil {
				return err
			}
			return d.review.Edit(step)
		},
	})
}

// editAcceptance opens the editor on the acceptance of the plan.
func (d *Dialog) editAcceptance() error {
	return d.openEditor(map[string]any{"acceptance": editable(d.review.Plan().Acceptance)}, reviewEditor{
		title: "Edit the acceptance", hint: `a check: {"expect": "found.total > 0"}`,
		take: func(value map[string]any) error {
			if err := onlyFields(value, "acceptance"); err != nil {
				return err
			}
			checks, faults := plan.ReadChecks(value["acceptance"], "acceptance")
			if len(faults) > 0 {
				return plan.FaultError(faults)
			}
			return d.review.EditAcceptance(checks)
		},
	})
}

// editable returns checks as the editor shows them.
func editable(checks []plan.Check) []plan.Check {
	if checks == nil {
		return []plan.Check{}
	}
	return checks
}

func (d *Dialog) openEditor(text map[string]any, e reviewEditor) error {
	if e.Editor = draw.NewEditor(d.Look, text); e.Editor == nil {
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
		e.Fault = "Not changed: " + untrusted.Line(err.Error())
		return
	}
	d.editor = nil
	d.lay()
}

// readStep returns the step with what the user entered. Arguments that the plan leaves
// to a model stay with it if the user enters none.
func readStep(step plan.Step, value map[string]any) (plan.Step, error) {
	fields := []string{"title", "check"}
	if step.Executor == plan.ExecutorTool {
		fields = append(fields, "args")
	}
	if err := onlyFields(value, fields...); err != nil {
		return step, err
	}
	title, ok := value["title"].(string)
	if !ok {
		return step, errors.New("title must be a text")
	}
	checks, faults := plan.ReadChecks(value["check"], "check")
	if len(faults) > 0 {
		return step, plan.FaultError(faults)
	}
	step.Title, step.Checks = untrusted.Text(title), checks
	if step.Executor != plan.ExecutorTool {
		return step, nil
	}
	args, ok := value["args"].(map[string]any)
	if !ok {
		return step, errors.New("args must be an object, such as {\"name\": \"value\"}")
	}
	if len(args) > 0 || step.Args != nil {
		step.Args = args
	}
	return step, nil
}

// onlyFields refuses fields that the editor did not show.
func onlyFields(value map[string]any, names ...string) error {
	for _, name := range slices.Sorted(maps.Keys(value)) {
		if !slices.Contains(names, name) {
			return fmt.Errorf("%q cannot be edited here", name)
		}
	}
	return nil
}

// drawEditor draws the editor in exactly height lines of exactly width cells.
func (d *Dialog) drawEditor(width, height int) []string {
	l := d.Look
	var bar []string
	if d.editor.Fault != "" {
		bar = draw.Paint(l.Warning, draw.Wrap(d.editor.Fault, width-4))
		bar = bar[:min(len(bar), max(min(height-6, 6), 1))]
	} else {
		bar = draw.Flow([]string{
			l.Key.Bold(true).Render(d.Keys.SendArgs.Help().Key) + " " + l.Text.Render("take it"),
			l.Key.Bold(true).Render(d.Keys.Away.Help().Key) + " " + l.Text.Render("keep it unchanged"),
			l.Faint.Render(d.editor.hint),
			l.Faint.Render("${name} is another step's result"),
		}, "   ", width-4)
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
