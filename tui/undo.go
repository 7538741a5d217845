package tui

import (
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/runner"
	"replan/tui/untrusted"
)

// undoDialog shows what undoing a run would do, and has it done on a yes.
type undoDialog struct {
	look *look
	keys *keyMap
	open bool
	run  string
	what string      // that the run is about
	got  *event.Undo // nil while it is on its way
	sent bool        // the yes is on its way

	doc  *document
	line int // of the document at the top
	body int // lines of the document in view

	buttons []button // where its keys stand in the dialog's area
}

// ask opens the dialog for a run and asks what its undo would do.
func (d *undoDialog) ask(run, what string) query {
	*d = undoDialog{look: d.look, keys: d.keys, open: true, run: run, what: what}
	return queryUndo(run)
}

// take takes what the undo of a run would do, or why it does nothing.
func (d *undoDialog) take(u event.Undo) {
	if d.open && u.Run == d.run {
		d.got, d.sent, d.doc, d.line = &u, false, nil, 0
	}
}

// done closes the dialog where the run is undone that it is about, and reports
// whether it is.
func (d *undoDialog) done(run string) bool {
	if !d.open || d.run != run {
		return false
	}
	d.open = false
	return true
}

// ready reports whether a yes would put something back.
func (d *undoDialog) ready() bool {
	return d.got != nil && d.got.Refused == "" && len(d.got.Files) > 0 && !d.sent
}

// handlers are the actions of the dialog.
func (d *undoDialog) handlers() handlers {
	shut := handler{do: just(func() { d.open = false })}
	return handlers{
		"undo.put_back": {when: d.ready, do: func() wanted {
			d.sent = true
			return sending(runner.Undo{Run: d.run})
		}},
		"dialog.leave": shut, "gate.deny": shut,
		"diff.sides": {when: func() bool { return d.doc != nil && d.doc.diffs }, do: just(func() {
			d.look.turnDiffs(max(d.doc.width, splitAtLeast))
			d.doc = nil
		})},
	}.with(scrolling(d.body, func(lines int) { d.line += lines }))
}

func (d *undoDialog) hints() []hint {
	var hints []hint
	if d.ready() {
		hints = append(hints, d.keys.hint("put back", "undo.put_back"))
	}
	return append(hints, d.keys.hint("close", "dialog.leave"), d.keys.hint("scroll", "move.up", "move.down"))
}

func (d *undoDialog) shown() bool { return d.open }

func (d *undoDialog) clicked(int)       {}
func (d *undoDialog) wheeled(lines int) { d.line += lines }
func (d *undoDialog) retheme()          { d.doc = nil }

// draw draws the dialog in the middle of exactly height lines of screenWidth
// cells.
func (d *undoDialog) draw(screenWidth, height int) []string {
	const widest = 200
	l := d.look
	width := min(screenWidth, widest)
	if d.doc == nil || d.doc.width != width-4 {
		d.doc = &document{look: l, width: width - 4}
		d.write(d.doc)
	}
	bar, ids, parts := d.bar(width - 4)
	d.buttons = buttons(bar, parts, ids)
	d.body = max(min(len(d.doc.lines), height-3-len(bar)), 1)
	style := l.Focus
	switch {
	case d.got == nil:
	case d.got.Refused != "":
		style = l.Danger
	case len(d.got.Files) > 0:
		style = l.Warning
	}
	for i, line := range bar {
		bar[i] = l.fit(line, width-4)
	}
	framed := l.frame(width, style,
		section{title: style.Bold(true).Render("Undo " + shortID(d.run)), lines: padded(d.doc.rows(&d.line, d.body)), note: d.doc.place(d.line, d.body), style: style},
		section{lines: padded(bar), style: style},
	)
	left, bottom := max((screenWidth-width)/2, 0)+2, max((height-len(framed))/2, 0)+len(framed)-1
	for i := range d.buttons {
		b := &d.buttons[i]
		b.x, b.y = b.x+left, b.y+bottom-len(bar)
	}
	return l.middle(framed, width, screenWidth, height)
}

// buttonAt is the action at a cell of the dialog's area.
func (d *undoDialog) buttonAt(x, y int) (id string, found bool) { return pressed(d.buttons, x, y) }

// write writes all that a yes has to be based on.
func (d *undoDialog) write(doc *document) {
	l := d.look
	if d.what != "" {
		doc.prose(l.Strong, d.what)
	}
	u := d.got
	switch {
	case u == nil:
		doc.prose(l.Faint, "Looking at what it changed"+l.glyphs.Ellipsis)
		return
	case u.Refused != "":
		doc.prose(l.Danger, u.Refused)
	case u.Already:
		doc.prose(l.Text, "It is undone already: there is nothing to put back.")
	case len(u.Files) == 0:
		doc.prose(l.Text, "It changed no file that could be put back.")
	}
	for _, note := range u.Notes {
		doc.field("note", l.Warning, note)
	}
	if len(u.Files) > 0 {
		doc.heading("what is put back")
		for _, f := range u.Files {
			glyph, style := d.sign(f)
			doc.lines = append(doc.lines, style.Render(glyph)+" "+l.cut(l.Text.Render(untrusted.Line(f.Path))+"  "+l.Faint.Render(untrusted.Line(f.Action)), doc.width-2))
		}
	}
	if u.Diff == "" {
		return
	}
	heading := "how the files change by it"
	if u.Refused != "" {
		heading = "what became of it since the run"
	}
	doc.heading(heading)
	doc.diff(u.Diff)
}

// sign is what becomes of a file, in a sign.
func (d *undoDialog) sign(f event.UndoneFile) (string, lipgloss.Style) {
	switch l := d.look; f.Action {
	case "recreated":
		return l.glyphs.Added, l.Added
	case "removed":
		return l.glyphs.Removed, l.Removed
	default:
		return l.glyphs.Revised, l.Warning
	}
}

// bar is the actions of the dialog, and each as it is drawn there.
func (d *undoDialog) bar(width int) (lines, ids, parts []string) {
	l := d.look
	add := func(h hint) {
		ids = append(ids, h.ids[0])
		parts = append(parts, l.Key.Bold(true).Render(h.label)+" "+l.Text.Render(h.does))
	}
	switch {
	case d.sent:
		return []string{l.Faint.Render("It is being put back" + l.glyphs.Ellipsis)}, nil, nil
	case d.ready():
		add(d.keys.hint("put back "+d.got.Counted(), "undo.put_back"))
		add(d.keys.hint("leave it as it is", "dialog.leave"))
	default:
		add(d.keys.hint("close", "dialog.leave"))
	}
	return flow(parts, "   ", width), ids, parts
}

// undone leads to the chat, which tells what was put back, where the dialog is
// still open about it.
func (m *Model) undone(d event.ChatUndone) {
	if m.undo.done(d.Run) {
		m.runs.open = false
		m.focus = paneChat
		m.chat.toEnd()
	}
}

// askUndo opens the dialog for the run in the plan pane, which has ended.
func (m *Model) askUndo() tea.Cmd {
	r := m.shown.run
	return m.outbox.ask(m.undo.ask(r.ID, runWords(m.look, r.Summary())))
}

// noUndo is why the run in the plan pane cannot be undone now.
func (m *Model) noUndo() string {
	switch {
	case m.options.Replay:
		return "This is a replay: nothing is put back from here."
	case m.shown.run == nil:
		return "There is no run yet that could be undone."
	case m.shown.goes():
		return "The run goes on: undo it when it has ended."
	case m.running():
		return "Another run goes on: undo when that has ended."
	default:
		return ""
	}
}

// changedFiles reports whether the run in the plan pane, having ended, has called
// a tool whose changes can be put back.
func (m *Model) changedFiles() bool {
	r := m.shown.run
	if r == nil || m.shown.goes() || m.running() || m.options.Replay || m.shown.dry {
		return false
	}
	changes := func(steps []*agent.StepState) bool {
		for _, s := range steps {
			if tool, err := r.Catalogue.Find(s.Step.Tool); err == nil && s.Attempt > 0 && tool.Trusted && tool.Previews {
				return true
			}
			if s.Loop != nil {
				for _, c := range s.Loop.Calls {
					if tool, err := r.Catalogue.Find(c.Step.Tool); err == nil && c.Attempt > 0 && tool.Trusted && tool.Previews {
						return true
					}
				}
			}
		}
		return false
	}
	return changes(r.Steps) || r.Chat != nil && changes(r.Chat.Calls)
}
