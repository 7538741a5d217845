package tui

import (
	"errors"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/planning/plan"
	"replan/tui/untrusted"
)

// reviewEditor is where a step of a plan that is looked over is edited, as JSON:
// its title, and its arguments where it makes a call.
type reviewEditor struct {
	*editor
	step plan.Step
}

// edit opens the editor on a step.
func (d *reviewDialog) edit(s agent.ReviewStep) error {
	switch {
	case s.Out:
		return errors.New("it is out: bring it back first")
	case s.Settled:
		return errors.New("it was carried out already, or is under way")
	}
	text := map[string]any{"title": s.Step.Title}
	if s.Step.Executor == plan.ExecutorTool {
		args := s.Step.Args
		if args == nil {
			args = map[string]any{}
		}
		text["args"] = args
	}
	e := newEditor(d.look, text)
	if e == nil {
		return errors.New("this step is too long to be edited here")
	}
	d.editor = &reviewEditor{editor: e, step: s.Step}
	return nil
}

// takeEdit takes the step as it was edited, or says why it cannot be that.
func (d *reviewDialog) takeEdit() {
	e := d.editor
	value := e.args()
	if value == nil {
		return
	}
	title, args, err := e.read(value)
	if err == nil {
		err = d.review.Edit(e.step.Index, title, args)
	}
	if err != nil {
		e.fault = "Not taken: " + untrusted.Line(err.Error())
		return
	}
	d.editor = nil
	d.lay()
}

// read reads title and args. What the plan leaves to a model stays with it where
// nothing was written.
func (e *reviewEditor) read(value map[string]any) (title string, args map[string]any, err error) {
	calls := e.step.Executor == plan.ExecutorTool
	for name := range value {
		if name != "title" && (name != "args" || !calls) {
			return "", nil, fmt.Errorf("of this step %q cannot be edited", name)
		}
	}
	title, ok := value["title"].(string)
	if !ok {
		return "", nil, errors.New("title has to be a text")
	}
	if !calls {
		return title, e.step.Args, nil
	}
	args, ok = value["args"].(map[string]any)
	if !ok {
		return "", nil, errors.New("args have to be an object, as in {\"name\": \"value\"}")
	}
	if len(args) == 0 && e.step.Args == nil {
		args = nil
	}
	return title, args, nil
}

// drawEditor draws the editor in exactly height lines of exactly width cells.
func (d *reviewDialog) drawEditor(width, height int) []string {
	l := d.look
	var bar []string
	if d.editor.fault != "" {
		bar = paint(l.Warning, wrap(d.editor.fault, width-4))
		bar = bar[:min(len(bar), max(min(height-6, 6), 1))]
	} else {
		bar = flow([]string{
			l.Key.Bold(true).Render(d.keys.SendArgs.Help().Key) + " " + l.Text.Render("take it"),
			l.Key.Bold(true).Render(d.keys.Away.Help().Key) + " " + l.Text.Render("leave it as it was"),
			l.Faint.Render("${name} is another step's result"),
		}, "   ", width-4)[:1]
	}
	bar = slices.Clone(bar)
	for i := range bar {
		bar[i] = l.fit(bar[i], width-4)
	}
	body := max(height-3-len(bar), 1)
	d.editor.setSize(width-4, body)
	title := l.Warning.Bold(true).Render("Edit " + stepWords(d.editor.step.Index))
	return l.frame(width, l.Warning,
		section{title: title, lines: padded(l.block(d.editor.lines(), width-4, body)), style: l.Warning},
		section{lines: padded(bar), style: l.Warning},
	)
}

// editCursor is where text is typed in the editor, nil where none is.
func (m *Model) editCursor() *tea.Cursor {
	if !m.review.shown() || m.over() != overlay(m.review) || m.review.editor == nil {
		return nil
	}
	c := m.review.editor.cursor()
	if c != nil {
		c.X += 2
		c.Y += 2 // under the header and the upper edge
	}
	return c
}
