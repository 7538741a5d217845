package ask

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// CheckMsg reports that the pause after an edit is over.
type CheckMsg struct{ edits int }

// editPause counts the edits of arguments, and waits for pauses between them.
type editPause struct {
	pause   time.Duration // after which the text is checked
	edits   int           // across all requests
	pausing bool          // a timer is running
}

// edited counts an edit, and starts a timer unless one is running, however fast the user
// types.
func (t *editPause) edited() tea.Cmd {
	t.edits++
	if t.pausing {
		return nil
	}
	return t.wait()
}

// wait starts a timer for a pause after the newest edit.
func (t *editPause) wait() tea.Cmd {
	t.pausing = true
	msg := t.paused()
	return tea.Tick(t.pause, func(time.Time) tea.Msg { return msg })
}

// paused returns the message of the end of a pause after the newest edit.
func (t *editPause) paused() CheckMsg { return CheckMsg{t.edits} }

// over takes the end of a timer. It reports whether no edit came since its start.
func (t *editPause) over(m CheckMsg) bool {
	t.pausing = false
	return m.edits == t.edits
}

// argsEditor edits the arguments of the displayed request, or the form of a question. The text
// is checked when typing pauses.
type argsEditor struct {
	styles *draw.Styles
	fields *draw.Fields // nil while nothing is edited
	typing editPause
}

// on reports whether something is edited.
func (e *argsEditor) on() bool { return e.fields != nil }

// open edits the arguments or the form of a choice. It reports false if they are too long.
func (e *argsEditor) open(c choice) bool {
	if e.fields = draw.NewForm(e.styles, c.form); c.form == nil {
		e.fields = draw.NewFields(e.styles, c.edit, c.schema)
	}
	return e.fields != nil
}

// close discards the text.
func (e *argsEditor) close() { e.fields = nil }

// args returns the arguments as they are edited. If they are not well-formed it returns nil,
// and the editor says why.
func (e *argsEditor) args() map[string]any { return e.fields.Args() }

// refuse says why the arguments cannot be sent.
func (e *argsEditor) refuse(why string) { e.fields.Refuse(why) }

// update passes a message to the text and schedules a check for when typing pauses.
func (e *argsEditor) update(msg tea.Msg) tea.Cmd {
	if e.fields == nil {
		return nil
	}
	return tea.Batch(e.fields.Update(msg), e.typing.edited())
}

// move moves to another field.
func (e *argsEditor) move(by int) { e.fields.Move(by) }

// undo takes the last edit back, or says why it cannot.
func (e *argsEditor) undo() keymap.Requests {
	if word := e.fields.Undo(); word != "" {
		return keymap.ShowFooter(word)
	}
	return keymap.Requests{e.typing.edited()}
}

// check takes the end of a pause. It checks whether the arguments fit the request. If they have
// changed since the pause began, it waits for another.
func (e *argsEditor) check(m CheckMsg, showing bool, ask func() Request) tea.Cmd {
	still := e.typing.over(m)
	if e.fields == nil || !showing {
		return nil
	}
	if !still {
		return e.typing.wait()
	}
	if args := e.fields.Args(); args != nil {
		if _, err := ask().with(args); err != nil {
			e.refuse(untrusted.Line(err.Error()))
		}
	}
	return nil
}

// paused returns the message of the end of a pause after the newest edit.
func (e *argsEditor) paused() CheckMsg { return e.typing.paused() }

// faultLines draws what is wrong with the arguments.
func (e *argsEditor) faultLines(width int) []string {
	const most = 3 // lines
	if e.fields == nil || e.fields.Fault() == "" {
		return nil
	}
	lines := draw.Paint(e.styles.Warning, draw.Wrap(e.fields.Fault(), width))
	return lines[:min(len(lines), most)]
}

// wishes returns the lines it would like to have, 0 while nothing is edited.
func (e *argsEditor) wishes(width int) int {
	if e.fields == nil {
		return 0
	}
	return e.fields.Wishes(width)
}

// setSize sets its size in cells.
func (e *argsEditor) setSize(width, height int) { e.fields.SetSize(width, height) }

// lines draws the fields.
func (e *argsEditor) lines() []string { return e.fields.Lines() }

// cursor returns the text cursor, nil for none.
func (e *argsEditor) cursor() *tea.Cursor { return e.fields.Cursor() }

// retheme discards the rendering made with the previous theme.
func (e *argsEditor) retheme() {
	if e.fields != nil {
		e.fields.Retheme()
	}
}

// notSent says why edited arguments were not sent.
func notSent(err error) string { return untrusted.Line("Not sent: " + err.Error()) }

// PreviewedMsg reports whether the call at a gate can be made with edited arguments.
type PreviewedMsg struct {
	gate   string
	edits  int // before the preview
	answer session.Command
	err    error
}

// preview asks what the call at a gate would do with the edited arguments. The
// answer is sent only if it can be made so.
func (e *argsEditor) preview(gate OpenGate, answer session.Command, args map[string]any) keymap.Query {
	m := PreviewedMsg{gate: gate.id(), edits: e.typing.edits, answer: answer}
	return func(ctx context.Context, s session.Queries) tea.Msg {
		_, m.err = s.PreviewCall(ctx, gate.Run, gate.Ask.Gate, args)
		return m
	}
}

// previewed reports whether a preview is of the arguments as they are now.
func (e *argsEditor) previewed(m PreviewedMsg) bool {
	return e.fields != nil && e.typing.edits == m.edits
}
