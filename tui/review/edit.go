package review

import (
	"errors"
	"fmt"
	"slices"

	"replan/agent"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/draw"
	"replan/tui/telling"
)

// reviewEditor edits a step of the reviewed plan as JSON: its title and, if it
// makes a call, its arguments.
type reviewEditor struct {
	*draw.Editor
	step plan.Step
}

// edit opens the editor on a step.
func (d *Dialog) edit(s agent.ReviewStep) error {
	switch {
	case s.Out:
		return errors.New("it is removed: restore it first")
	case s.Settled:
		return errors.New("it has already started")
	}
	text := map[string]any{"title": string(s.Step.Title)}
	if s.Step.Executor == plan.ExecutorTool {
		args := s.Step.Args
		if args == nil {
			args = map[string]any{}
		}
		text["args"] = args
	}
	e := draw.NewEditor(d.Look, text)
	if e == nil {
		return errors.New("this step is too long to be edited here")
	}
	d.editor = &reviewEditor{Editor: e, step: s.Step}
	return nil
}

// takeEdit applies the edited step, or says why it is invalid.
func (d *Dialog) takeEdit() {
	e := d.editor
	value := e.Args()
	if value == nil {
		return
	}
	title, args, err := e.read(value)
	if err == nil {
		err = d.review.Edit(e.step.Index, title, args)
	}
	if err != nil {
		e.Fault = "Not changed: " + untrusted.Line(err.Error())
		return
	}
	d.editor = nil
	d.lay()
}

// read reads title and args. Arguments that the plan leaves to a model stay with it
// if the user enters none.
func (e *reviewEditor) read(value map[string]any) (title string, args map[string]any, err error) {
	calls := e.step.Executor == plan.ExecutorTool
	for name := range value {
		if name != "title" && (name != "args" || !calls) {
			return "", nil, fmt.Errorf("%q of a step cannot be edited", name)
		}
	}
	title, ok := value["title"].(string)
	if !ok {
		return "", nil, errors.New("title must be a text")
	}
	if !calls {
		return title, e.step.Args, nil
	}
	args, ok = value["args"].(map[string]any)
	if !ok {
		return "", nil, errors.New("args must be an object, such as {\"name\": \"value\"}")
	}
	if len(args) == 0 && e.step.Args == nil {
		args = nil
	}
	return title, args, nil
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
			l.Faint.Render("${name} is another step's result"),
		}, "   ", width-4)[:1]
	}
	bar = slices.Clone(bar)
	for i := range bar {
		bar[i] = l.Fit(bar[i], width-4)
	}
	body := max(height-3-len(bar), 1)
	d.editor.SetSize(width-4, body)
	title := l.Warning.Bold(true).Render("Edit " + telling.StepWords(d.editor.step.Index))
	return l.Frame(width, l.Warning,
		draw.Section{Title: title, Lines: draw.Padded(l.Block(d.editor.Lines(), width-4, body)), Style: l.Warning},
		draw.Section{Lines: draw.Padded(bar), Style: l.Warning},
	)
}
