package dialog

import (
	"charm.land/lipgloss/v2"

	"replan/agent/event"
	"replan/agent/runner"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/telling"
)

// Undo previews the undo of a run and performs it once the user confirms.
type Undo struct {
	Look *draw.Look
	Keys *keymap.Map
	open bool
	run  string
	what string      // what the run is about
	got  *event.Undo // nil until the preview arrives
	sent bool        // confirmation sent

	doc  *draw.Document
	line int // first visible line of the document
	body int // visible lines of the document

	buttons []draw.Button // positions of the buttons in the dialog's area
}

// Ask opens the dialog for a run and requests a preview of its undo.
func (d *Undo) Ask(run, what string) keymap.Query {
	*d = Undo{Look: d.Look, Keys: d.Keys, open: true, run: run, what: what}
	return keymap.QueryUndo(run)
}

// Take stores the preview of the undo, or the reason why the undo has no effect.
func (d *Undo) Take(u event.Undo) {
	if d.open && u.Run == d.run {
		d.got, d.sent, d.doc, d.line = &u, false, nil, 0
	}
}

// Done closes the dialog if run is its run, and reports whether it is.
func (d *Undo) Done(run string) bool {
	if !d.open || d.run != run {
		return false
	}
	d.open = false
	return true
}

// ready reports whether a confirmation would restore anything.
func (d *Undo) ready() bool {
	return d.got != nil && d.got.Refused == "" && len(d.got.Files) > 0 && !d.sent
}

// Handlers returns the actions of the dialog.
func (d *Undo) Handlers() keymap.Handlers {
	shut := keymap.Handler{Do: keymap.Just(func() { d.open = false })}
	return keymap.Handlers{
		"undo.put_back": {When: d.ready, Do: func() keymap.Wanted {
			d.sent = true
			return keymap.Sending(runner.Undo{Run: d.run})
		}},
		"dialog.leave": shut, "gate.deny": shut,
		"diff.sides": {When: func() bool { return d.doc != nil && d.doc.Diffs }, Do: keymap.Just(func() {
			d.Look.TurnDiffs(max(d.doc.Width, draw.SplitAtLeast))
			d.doc = nil
		})},
	}.With(keymap.Scrolling(d.body, func(lines int) { d.line += lines }))
}

// Hints lists the keys that are active now.
func (d *Undo) Hints() []keymap.Hint {
	var hints []keymap.Hint
	if d.ready() {
		hints = append(hints, d.Keys.Hint("put back", "undo.put_back"))
	}
	return append(hints, d.Keys.Hint("close", "dialog.leave"), d.Keys.Hint("scroll", "move.up", "move.down"))
}

// Shown reports whether the dialog is open.
func (d *Undo) Shown() bool { return d.open }

// Clicked handles a mouse click.
func (d *Undo) Clicked(int) {}

// Wheeled scrolls by a turn of the mouse wheel.
func (d *Undo) Wheeled(lines int) { d.line += lines }

// Retheme discards the rendering made with the previous colours.
func (d *Undo) Retheme() { d.doc = nil }

// Draw draws the dialog centered in exactly height lines of screenWidth cells.
func (d *Undo) Draw(screenWidth, height int) []string {
	const widest = 200
	l := d.Look
	width := min(screenWidth, widest)
	if d.doc == nil || d.doc.Width != width-4 {
		d.doc = &draw.Document{Look: l, Width: width - 4}
		d.write(d.doc)
	}
	bar, ids, parts := d.bar(width - 4)
	d.buttons = draw.Buttons(bar, parts, ids)
	d.body = max(min(len(d.doc.Lines), height-3-len(bar)), 1)
	style := l.Focus
	switch {
	case d.got == nil:
	case d.got.Refused != "":
		style = l.Danger
	case len(d.got.Files) > 0:
		style = l.Warning
	}
	for i, line := range bar {
		bar[i] = l.Fit(line, width-4)
	}
	framed := l.Frame(width, style,
		draw.Section{Title: style.Bold(true).Render("Undo " + telling.ShortID(d.run)), Lines: draw.Padded(d.doc.Rows(&d.line, d.body)), Note: d.doc.Place(d.line, d.body), Style: style},
		draw.Section{Lines: draw.Padded(bar), Style: style},
	)
	left, bottom := max((screenWidth-width)/2, 0)+2, max((height-len(framed))/2, 0)+len(framed)-1
	for i := range d.buttons {
		b := &d.buttons[i]
		b.X, b.Y = b.X+left, b.Y+bottom-len(bar)
	}
	return l.Middle(framed, width, screenWidth, height)
}

// ButtonAt returns the action at a cell of the dialog's area.
func (d *Undo) ButtonAt(x, y int) (id string, found bool) { return draw.Pressed(d.buttons, x, y) }

// write writes everything the user needs to know before confirming.
func (d *Undo) write(doc *draw.Document) {
	l := d.Look
	if d.what != "" {
		doc.Prose(l.Strong, d.what)
	}
	u := d.got
	switch {
	case u == nil:
		doc.Prose(l.Faint, "Looking at what it changed"+l.Glyphs.Ellipsis)
		return
	case u.Refused != "":
		doc.Prose(l.Danger, u.Refused)
	case u.Already:
		doc.Prose(l.Text, "It is undone already: there is nothing to put back.")
	case len(u.Files) == 0:
		doc.Prose(l.Text, "It changed no file that could be put back.")
	}
	for _, note := range u.Notes {
		doc.Field("note", l.Warning, note)
	}
	if len(u.Files) > 0 {
		doc.Heading("what is put back")
		for _, f := range u.Files {
			glyph, style := d.sign(f)
			doc.Lines = append(doc.Lines, style.Render(glyph)+" "+l.Cut(l.Text.Render(untrusted.Line(f.Path))+"  "+l.Faint.Render(untrusted.Line(f.Action)), doc.Width-2))
		}
	}
	if u.Diff == "" {
		return
	}
	heading := "how the files change by it"
	if u.Refused != "" {
		heading = "what became of it since the run"
	}
	doc.Heading(heading)
	doc.Diff(u.Diff)
}

// sign returns a sign for the fate of a file.
func (d *Undo) sign(f event.UndoneFile) (string, lipgloss.Style) {
	switch l := d.Look; f.Action {
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
	l := d.Look
	add := func(h keymap.Hint) {
		ids = append(ids, h.IDs[0])
		parts = append(parts, l.Key.Bold(true).Render(h.Label)+" "+l.Text.Render(h.Does))
	}
	switch {
	case d.sent:
		return []string{l.Faint.Render("It is being put back" + l.Glyphs.Ellipsis)}, nil, nil
	case d.ready():
		add(d.Keys.Hint("put back "+telling.Undone(*d.got), "undo.put_back"))
		add(d.Keys.Hint("leave it as it is", "dialog.leave"))
	default:
		add(d.Keys.Hint("close", "dialog.leave"))
	}
	return draw.Flow(parts, "   ", width), ids, parts
}
