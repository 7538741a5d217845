package dialog

import (
	"cmp"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/wording"
)

// Undo previews the undo of a run, or the redo of an undone one, and performs it once the
// user confirms.
type Undo struct {
	document
	redo    bool
	run     string      // "" until the preview names the run
	what    string      // what the run is about
	preview *event.Undo // nil until the preview arrives
	sent    bool        // confirmation sent

	buttons []draw.Button // positions of the buttons in the dialog's area
}

// NewUndo returns the dialog, closed.
func NewUndo(l *draw.Styles, k *keymap.Map) *Undo { return &Undo{document: newDocument(l, k)} }

// Open opens the dialog for a run and requests a preview of its undo or redo. If the summary
// has no id, it is the newest run that changed files, or the one undone last.
func (d *Undo) Open(s agent.Summary, redo bool) keymap.Query {
	*d = *NewUndo(d.Styles, d.Keys)
	d.appear()
	d.redo, d.run, d.what = redo, s.Run, runWords(d.Styles, s)
	if redo {
		return keymap.QueryRedo(s.Run)
	}
	return keymap.QueryUndo(s.Run)
}

// Take stores the preview, or the reason why the undo or redo has no effect.
func (d *Undo) Take(u event.Undo) {
	if d.Shown() && u.Redo == d.redo && (u.Run == d.run || d.run == "") {
		d.run, d.what = u.Run, cmp.Or(d.what, u.Goal.FirstLine())
		d.preview, d.sent = &u, false
		d.reset()
	}
}

// Done closes the dialog if run is its run, and reports whether it is.
func (d *Undo) Done(run string) bool {
	if !d.Shown() || d.run != run {
		return false
	}
	d.Close()
	return true
}

// Update handles the mouse and the preview.
func (d *Undo) Update(msg tea.Msg) keymap.Requests {
	switch msg := msg.(type) {
	case keymap.AnswerMsg[event.Undo]:
		d.Take(msg.Value)
	case tea.MouseClickMsg:
		if id, found := draw.Pressed(d.buttons, msg.X, msg.Y); found {
			return d.Actions().Press(id)
		}
	}
	return d.document.Update(msg)
}

// verb returns the first words for an undo, the second for a redo.
func (d *Undo) verb(undo, redo string) string {
	if d.redo {
		return redo
	}
	return undo
}

// ready reports whether a confirmation would restore anything.
func (d *Undo) ready() bool {
	return d.preview != nil && d.preview.Refused == "" && len(d.preview.Files) > 0 && !d.sent
}

// undoActions are the actions of the dialog.
func undoActions() keymap.Table[*Undo] {
	return keymap.Table[*Undo]{
		{ID: "undo.put_back", Keys: "y", Does: "restore the files, or redo them", When: (*Undo).ready, Do: (*Undo).putBack},
		{ID: "diff.sides", When: (*Undo).diffs, Do: keymap.Calls((*Undo).turnDiffs)},
		closing[*Undo]("dialog.leave"),
		closing[*Undo]("gate.deny"),
	}
}

// putBack sends the undo.
func (d *Undo) putBack() keymap.Requests {
	d.sent = true
	return keymap.SendCommands(session.Undo{Run: d.run, Redo: d.redo})
}

// Actions returns the actions of the dialog.
func (d *Undo) Actions() keymap.Handlers {
	return d.keys().With(undoActions().For(d))
}

// Hints lists the keys that are active now.
func (d *Undo) Hints() []keymap.Hint {
	var hints []keymap.Hint
	if d.ready() {
		hints = append(hints, d.Keys.Hint(d.verb("restore", "redo"), "undo.put_back"))
	}
	return append(hints, d.Keys.Hint("close", "dialog.leave"), d.Keys.Hint("scroll", "move.up", "move.down"))
}

// View draws the dialog in the middle of the screen.
func (d *Undo) View(size draw.Rect) []string {
	const widest = 200
	l := d.Styles
	width, inner := d.width(size, widest)
	d.render(l, inner, d.write)
	bar, ids, parts := d.bar(inner)
	d.buttons = draw.Buttons(bar, parts, ids)
	lines, note := d.visible(size.H - 3 - len(bar))
	style := l.Focus
	switch {
	case d.preview == nil:
	case d.preview.Refused != "":
		style = l.Danger
	case len(d.preview.Files) > 0:
		style = l.Warning
	}
	framed := l.Frame(width, style,
		draw.Section{Title: style.Bold(true).Render(d.verb("Undo ", "Redo ") + cmp.Or(wording.ShortID(d.run), d.verb("last run", "last undo"))), Lines: draw.Padded(lines), Note: note, Style: style},
		draw.Section{Lines: draw.Padded(l.Block(bar, inner, len(bar))), Style: style},
	)
	left, bottom := max((size.W-width)/2, 0)+2, max((size.H-len(framed))/2, 0)+len(framed)-1
	for i := range d.buttons {
		b := &d.buttons[i]
		b.X, b.Y = b.X+left, b.Y+bottom-len(bar)
	}
	return l.Middle(framed, width, size.W, size.H)
}

// write writes everything the user needs to know before confirming.
func (d *Undo) write(doc *draw.Document) {
	l := d.Styles
	if d.what != "" {
		doc.Prose(l.Strong, d.what)
	}
	u := d.preview
	switch {
	case u == nil:
		doc.Prose(l.Faint, "Looking up its changes"+l.Glyphs.Ellipsis)
		return
	case u.Refused != "":
		doc.Prose(l.Danger, u.Refused)
	case d.redo && len(u.Files) == 0:
		doc.Prose(l.Text, "Its files are as it left them: nothing to bring back.")
	case u.Already:
		doc.Prose(l.Text, "It is already undone: nothing to restore.")
	case u.AsWas:
		doc.Prose(l.Text, "Its files are as they were before it: nothing to restore.")
	case len(u.Files) == 0:
		doc.Prose(l.Text, "It changed no files that can be restored.")
	}
	for _, note := range u.Notes {
		doc.Field("note", l.Warning, note)
	}
	if len(u.Files) > 0 {
		doc.Heading(d.verb("files to restore", "files to change again"))
		for _, f := range u.Files {
			glyph, style := d.sign(f)
			doc.Add(style.Render(glyph) + " " + l.Cut(l.Text.Render(untrusted.Line(f.Path))+"  "+l.Faint.Render("will be "+untrusted.Line(f.Done(d.redo))), doc.Width-2))
		}
	}
	if u.Diff == "" {
		return
	}
	heading := "changes to the files"
	if u.Refused != "" {
		heading = d.verb("changes since the run", "changes since the undo")
	}
	doc.Heading(heading)
	doc.Diff(u.Diff)
}

// sign returns a sign for the fate of a file.
func (d *Undo) sign(f event.UndoneFile) (string, lipgloss.Style) {
	switch l := d.Styles; f.Action {
	case "recreated":
		return l.Glyphs.Added, l.Added
	case "removed":
		return l.Glyphs.Removed, l.Removed
	default:
		return l.Glyphs.Revised, l.Warning
	}
}

// bar draws the actions of the dialog. It returns the lines, the action ids, and
// each action as drawn.
func (d *Undo) bar(width int) (lines, ids, parts []string) {
	l := d.Styles
	add := func(h keymap.Hint) {
		ids = append(ids, h.IDs[0])
		parts = append(parts, l.Key.Bold(true).Render(h.Label)+" "+l.Text.Render(h.Does))
	}
	switch {
	case d.sent:
		return []string{l.Faint.Render(d.verb("Restoring", "Bringing back") + " the files" + l.Glyphs.Ellipsis)}, nil, nil
	case d.ready():
		add(d.Keys.Hint(d.verb("restore ", "bring back ")+wording.Undone(d.preview.Files), "undo.put_back"))
		add(d.Keys.Hint("keep it as it is", "dialog.leave"))
	default:
		add(d.Keys.Hint("close", "dialog.leave"))
	}
	return draw.Flow(parts, "   ", width), ids, parts
}
