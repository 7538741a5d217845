package ask

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"replan/agent/session"
	"replan/tui/draw"
)

// refusal is the line below a gate in which the user may say why they decline the call.
type refusal struct {
	styles *draw.Styles
	line   *draw.Editor // nil while it is closed
	send   session.Resolve
	key    string // that opened it
	heard  bool   // a model follows what the user says
	at     int    // line of the dialog on which it was drawn last
}

// whyNot is what the line asks for, before the text.
const whyNot = "why not? "

// on reports whether the line is open.
func (r *refusal) on() bool { return r.line != nil }

// open opens the empty line for an answer. heard tells that a model follows what is typed.
func (r *refusal) open(send session.Resolve, key string, heard bool) {
	r.line, r.send, r.key, r.heard = draw.NewLine(r.styles), send, key, heard
}

// close closes the line, and forgets what was typed.
func (r *refusal) close() { r.line = nil }

// retheme discards the rendering made with the previous theme.
func (r *refusal) retheme() {
	if r.on() {
		r.line.Retheme()
	}
}

// update passes a message to the line. A pasted text becomes one line.
func (r *refusal) update(msg tea.Msg) tea.Cmd {
	if paste, ok := msg.(tea.PasteMsg); ok {
		paste.Content = strings.Join(strings.Fields(paste.Content), " ")
		msg = paste
	}
	return r.line.Update(msg)
}

// answer returns the no, with the reason if one was typed.
func (r *refusal) answer() session.Command {
	send := r.send
	send.Reason = r.reason()
	return send
}

// reason returns what was typed. The key that opened the line, pressed again or held down, is no
// reason.
func (r *refusal) reason() string {
	typed := r.line.OneLine()
	if strings.Trim(typed, r.key) == "" {
		return ""
	}
	return typed
}

// choice is the answer as the dialog offers it.
func (r *refusal) choice() choice {
	c := choice{id: "gate.refuse", does: "deny", short: "deny"}
	switch {
	case r.reason() == "":
	case r.heard:
		c.does = "deny, and ask for another way"
	default:
		c.does = "deny, with this reason"
	}
	return c
}

// lines draws the line, in as many rows as its text needs, up to three.
func (r *refusal) lines(width int) []string {
	const most = 3 // rows
	if !r.on() {
		return nil
	}
	l, room := r.styles, max(width-len(whyNot), 8)
	r.line.SetSize(room, min(r.line.Wishes(room), most))
	rows := r.line.Lines()
	if r.line.OneLine() == "" {
		hint := "or what to do instead; may stay empty"
		if !r.heard {
			hint = "kept with the run; may stay empty"
		}
		rows = []string{" " + l.Faint.Render(l.Cut(hint, room-1))}
	}
	return draw.Hang(l.Accent.Bold(true).Render(whyNot), rows)
}

// drawnAt notes on which line of the dialog it was drawn.
func (r *refusal) drawnAt(line int) { r.at = line }

// cursor returns the text cursor, relative to the upper left corner of the dialog.
func (r *refusal) cursor() *tea.Cursor {
	c := r.line.Cursor()
	if c != nil {
		c.X, c.Y = c.X+2+len(whyNot), c.Y+r.at // inside the border
	}
	return c
}
