package ask

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/tui/keymap"
)

// CheckMsg reports that the pause after an edit is over.
type CheckMsg struct{ edits int }

// typing counts the edits of arguments, and waits for pauses between them.
type typing struct {
	pause   time.Duration // after which the text is checked
	edits   int           // across all requests
	pausing bool          // a timer is running
}

// edited counts an edit, and starts a timer unless one is running, however fast the user
// types.
func (t *typing) edited() tea.Cmd {
	t.edits++
	if t.pausing {
		return nil
	}
	return t.wait()
}

// wait starts a timer for a pause after the newest edit.
func (t *typing) wait() tea.Cmd {
	t.pausing = true
	msg := t.paused()
	return tea.Tick(t.pause, func(time.Time) tea.Msg { return msg })
}

// paused returns the message of the end of a pause after the newest edit.
func (t *typing) paused() CheckMsg { return CheckMsg{t.edits} }

// over takes the end of a timer. It reports whether no edit came since its start.
func (t *typing) over(m CheckMsg) bool {
	t.pausing = false
	return m.edits == t.edits
}

// Paused is the message of the end of a pause after the newest edit. Tests use it in place
// of a clock.
func (g *Dialog) Paused() tea.Msg { return g.typing.paused() }

// edit passes a message to the open argument editor and schedules a schema check
// for when typing pauses.
func (g *Dialog) edit(msg tea.Msg) keymap.Requests {
	if g.editor == nil {
		return nil
	}
	return keymap.Requests{tea.Batch(g.editor.Update(msg), g.typing.edited())}
}

// check validates the arguments against the schema. If they have changed since m
// was sent, it waits for another pause.
func (g *Dialog) check(m CheckMsg) tea.Cmd {
	still := g.typing.over(m)
	if g.editor == nil || !g.Showing() {
		return nil
	}
	if !still {
		return g.typing.wait()
	}
	g.checkArgs()
	return nil
}

func (g *Dialog) checkArgs() {
	args := g.editor.Args()
	if args == nil {
		return
	}
	if _, err := g.current().with(args); err != nil {
		g.editor.Fault = untrusted.Line(err.Error())
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

// previewEdited asks what the call at a gate would do with edited arguments. The
// answer is sent only if it can be made so.
func (g *Dialog) previewEdited(gate OpenGate, answer session.Command, args map[string]any) keymap.Query {
	m := PreviewedMsg{gate: gate.id(), edits: g.typing.edits, answer: answer}
	return func(ctx context.Context, s session.Queries) tea.Msg {
		_, m.err = s.PreviewCall(ctx, gate.Run, gate.Ask.Gate, args)
		return m
	}
}

// previewed sends edited arguments after their preview, unless the user has gone on.
func (g *Dialog) previewed(m PreviewedMsg) keymap.Requests {
	switch {
	case g.editor == nil || g.current().id() != m.gate || g.typing.edits != m.edits:
		return nil
	case m.err != nil:
		g.editor.Fault = notSent(m.err)
		return nil
	default:
		return keymap.Requests{g.answer(m.gate), keymap.Answered{}, m.answer}
	}
}
