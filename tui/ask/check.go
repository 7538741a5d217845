package ask

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/tui/keymap"
)

// CheckMsg reports that the pause after edit number Count is over.
type CheckMsg struct{ Count int }

// edit passes a message to the open argument editor and schedules a schema check
// for when typing pauses.
func (g *Dialog) edit(msg tea.Msg) keymap.Request {
	if g.editor == nil {
		return keymap.Request{}
	}
	return keymap.Request{Cmd: tea.Batch(g.editor.Update(msg), g.checkSoon())}
}

// checkSoon schedules a schema check after a pause. Only one timer runs at a time,
// however fast the user types.
func (g *Dialog) checkSoon() tea.Cmd {
	g.Edits++
	if g.pausing {
		return nil
	}
	return g.pause()
}

func (g *Dialog) pause() tea.Cmd {
	g.pausing = true
	count := g.Edits
	return tea.Tick(g.pauses.Check, func(time.Time) tea.Msg { return CheckMsg{count} })
}

// check validates the arguments against the schema. If they have changed since m
// was sent, it waits for another pause.
func (g *Dialog) check(m CheckMsg) tea.Cmd {
	g.pausing = false
	if g.editor == nil || !g.Showing() {
		return nil
	}
	if m.Count != g.Edits {
		return g.pause()
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
	m := PreviewedMsg{gate: gate.id(), edits: g.Edits, answer: answer}
	return func(ctx context.Context, s session.Queries) tea.Msg {
		_, m.err = s.PreviewCall(ctx, gate.Run, gate.Ask.Gate, args)
		return m
	}
}

// previewed sends edited arguments after their preview, unless the user has gone on.
func (g *Dialog) previewed(m PreviewedMsg) keymap.Request {
	switch {
	case g.editor == nil || g.current().id() != m.gate || g.Edits != m.edits:
		return keymap.Request{}
	case m.err != nil:
		g.editor.Fault = notSent(m.err)
		return keymap.Request{}
	default:
		return keymap.Request{Send: []session.Command{m.answer}, Answer: true, Cmd: g.answer(m.gate)}
	}
}
