package dialog

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// base is what every dialog has: whether it is shown, and a message about the last
// key.
type base struct {
	Styles  *draw.Styles
	Keys    *keymap.Map
	shown   bool
	message string // shown until the next key
}

// Shown reports whether the dialog is on the screen.
func (b *base) Shown() bool { return b.shown }

// Close takes the dialog off the screen.
func (b *base) Close() { b.shown = false }

// Typing reports whether letters are text for the dialog.
func (b *base) Typing() bool { return false }

// Retheme discards drawings in the previous theme.
func (b *base) Retheme() {}

// Cursor returns no text cursor.
func (b *base) Cursor() *tea.Cursor { return nil }

// Place returns the place whose actions help lists first.
func (b *base) Place() keymap.Place { return keymap.PlaceDialog }

// appear puts the dialog on the screen.
func (b *base) appear() { b.shown = true }

// say sets the message about the last key.
func (b *base) say(message string) { b.message = message }

// lastMessage returns the message about the last key, "" for none.
func (b *base) lastMessage() string { return b.message }

// forget clears the message about the last key.
func (b *base) forget() { b.message = "" }

// closing is the row of a key that closes the dialog: the one that leaves any dialog, or
// the dialog's own.
func closing[D interface{ Close() }](id string) keymap.Row[D] {
	return keymap.Row[D]{ID: id, Do: keymap.Calls(func(d D) { d.Close() })}
}

// width returns the width of a dialog with a maximum, and that of its lines.
func (b *base) width(size draw.Rect, maxWidth int) (outer, inner int) {
	outer = min(size.W, maxWidth)
	return outer, outer - 4
}

// section returns a part of the dialog with lines that fit its width.
func (b *base) section(title, note string, lines []string) draw.Section {
	return draw.Section{Title: title, Note: note, Lines: draw.Padded(lines), Style: b.Styles.Focus}
}

// middle draws sections in a frame in the middle of the screen.
func (b *base) middle(size draw.Rect, width int, sections ...draw.Section) []string {
	return b.Styles.Middle(b.Styles.Frame(width, b.Styles.Focus, sections...), width, size.W, size.H)
}

// tabs draws the names of a dialog's lists and underlines the one in view.
func (b *base) tabs(inView int, names ...string) string {
	l, title := b.Styles, ""
	for i, name := range names {
		style := l.Muted
		if i == inView {
			style = l.Accent.Bold(true).Underline(true)
		}
		if i > 0 {
			title += l.Faint.Render(" " + l.Glyphs.Separator + " ")
		}
		title += style.Render(name)
	}
	return title
}

// second returns the index of the second of two lists if it is in view.
func second(inView bool) int {
	if inView {
		return 1
	}
	return 0
}

// list is a dialog of rows, one of which is chosen. It scrolls, and moves by keys,
// wheel and clicks. A search narrows the rows of some dialogs.
type list struct {
	base
	draw.List
	search string
}

func newList(l *draw.Styles, k *keymap.Map) list { return list{base: base{Styles: l, Keys: k}} }

// open shows the list from its first row.
func (d *list) open() { d.shown, d.message, d.search, d.List = true, "", "", draw.List{} }

// toFirst returns to the first row and forgets the clicked one.
func (d *list) toFirst() { d.List = draw.List{} }

// query returns the text of the search.
func (d *list) query() string { return d.search }

// setQuery sets the text of the search.
func (d *list) setQuery(text string) { d.search = text }

// update handles the mouse and unbound keys. Both end what lasts until the next
// key, but only a key forgets the clicked row.
func (d *list) update(msg tea.Msg, of draw.Lister) keymap.Requests {
	switch msg.(type) {
	case tea.KeyPressMsg:
		d.nextKey()
	case tea.MouseClickMsg:
		d.forget()
	}
	return d.Mouse(msg, d.Keys, of)
}

// nextKey ends what lasts until the next key.
func (d *list) nextKey() {
	d.forget()
	d.Unpick()
}

// typed returns the text that a key or a paste adds to a search.
func typed(msg tea.Msg) string {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		if msg.Text == " " {
			return msg.Text
		}
		return untrusted.Line(msg.Text)
	case tea.PasteMsg:
		return untrusted.Line(msg.Content)
	default:
		return ""
	}
}

// searched is a dialog with a search.
type searched interface {
	Close()
	query() string
	seek(text string)
}

// leaving is the row of the key that closes a dialog, or first clears its search.
func leaving[D searched]() keymap.Row[D] {
	return keymap.Row[D]{ID: "dialog.leave", Do: keymap.Calls(func(d D) {
		if d.query() == "" {
			d.Close()
			return
		}
		d.seek("")
	})}
}

// rows draws the rows in view, and says which they are.
func (d *list) rows(count, room, each int, row func(i int) []string) (lines []string, note string) {
	end := d.Window(count, room, each)
	for i := d.Top; i < end; i++ {
		lines = append(lines, row(i)...)
	}
	return lines, d.Styles.Span(d.Top, end, count)
}

// listView is what a list dialog shows now.
type listView struct {
	title string
	width int
	count int
	each  int      // lines per row
	head  []string // above the rows
	row   func(i int) []string
	empty []string     // instead of rows
	below draw.Section // about the chosen row; no lines for none
	foot  []string     // at the end
}

// view draws the list in the middle of the screen.
func (d *list) view(size draw.Rect, v listView) []string {
	inner := v.width - 4
	room := size.H - 2 - len(v.head)
	for _, more := range [][]string{v.below.Lines, v.foot} {
		if len(more) > 0 {
			room -= len(more) + 1
		}
	}
	room = max(room, v.each)
	lines, note := v.empty, ""
	if d.SetCount(v.count); v.count > 0 {
		lines, note = d.rows(v.count, room, v.each, v.row)
	}
	lines = slices.Concat(v.head, lines[:min(len(lines), room)])
	sections := []draw.Section{d.section(v.title, note, d.Styles.Block(lines, inner, len(lines)))}
	if len(v.below.Lines) > 0 {
		sections = append(sections, v.below)
	}
	if len(v.foot) > 0 {
		sections = append(sections, d.section("", "", d.Styles.Block(v.foot, inner, len(v.foot))))
	}
	return d.framed(size, v.width, len(v.head), sections...)
}

// framed draws the sections in the middle of the screen. above is the number of
// lines between the upper border and the first row.
func (d *list) framed(size draw.Rect, width, above int, sections ...draw.Section) []string {
	height := 1
	for _, s := range sections {
		height += len(s.Lines) + 1
	}
	d.DrawnAt(max((size.H-height)/2, 0) + 1 + above)
	return d.middle(size, width, sections...)
}

// scroll is a document that a dialog scrolls through.
type scroll struct {
	doc  *draw.Document // nil until it is drawn
	top  int            // first visible line
	page int            // visible lines
}

// reset discards the document and returns to its start.
func (s *scroll) reset() { s.doc, s.top = nil, 0 }

// toTop returns to the start.
func (s *scroll) toTop() { s.top = 0 }

// redraw discards the document.
func (s *scroll) redraw() { s.doc = nil }

// isDrawn reports whether there is a document.
func (s *scroll) isDrawn() bool { return s.doc != nil }

// diffs reports whether the document has diffs that can be shown side by side.
func (s *scroll) diffs() bool { return s.doc != nil && s.doc.Diffs }

// docWidth returns the width of the document in cells.
func (s *scroll) docWidth() int { return s.doc.Width }

// first returns the first visible line.
func (s *scroll) first() int { return s.top }

// keepInView scrolls so that a line is in view.
func (s *scroll) keepInView(line int) {
	switch {
	case line < s.top:
		s.top = line
	case line >= s.top+s.page-1:
		s.top = max(line-s.page/3, 0)
	}
}

// by scrolls by lines.
func (s *scroll) by(lines int) { s.top += lines }

// keys returns the keys that scroll the document.
func (s *scroll) keys() keymap.Handlers { return keymap.Scrolling(s.page, s.by) }

// pageKeys returns those of the keys that scroll while letters are text.
func (s *scroll) pageKeys() keymap.Handlers { return keymap.ScrollingPages(s.page, s.by) }

// render makes a document of a width unless there is one.
func (s *scroll) render(l *draw.Styles, width int, write func(*draw.Document)) {
	if s.doc == nil || s.doc.Width != width {
		s.doc = &draw.Document{Styles: l, Width: width}
		write(s.doc)
	}
}

// visible returns the visible lines, at most height, and where they are in the
// document.
func (s *scroll) visible(height int) (lines []string, note string) {
	s.page = max(min(len(s.doc.Lines), height), 1)
	lines = s.doc.Rows(&s.top, s.page)
	return lines, s.doc.Place(s.top, s.page)
}

// document is a dialog that shows one document.
type document struct {
	base
	scroll
}

func newDocument(l *draw.Styles, k *keymap.Map) document {
	return document{base: base{Styles: l, Keys: k}}
}

// turnDiffs shows the diffs of the document side by side, or one below the other.
func (d *document) turnDiffs() {
	d.Styles.TurnDiffs(max(d.docWidth(), draw.SplitAtLeast))
	d.redraw()
}

// Update handles the wheel.
func (d *document) Update(msg tea.Msg) keymap.Requests {
	if wheel, ok := msg.(tea.MouseWheelMsg); ok {
		d.by(draw.WheelLines(tea.Mouse(wheel)))
	}
	return nil
}

// Retheme discards the document drawn in the previous theme.
func (d *document) Retheme() { d.doc = nil }
