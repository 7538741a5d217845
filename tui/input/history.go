package input

import (
	"strings"

	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// historySearch searches the texts sent before, as a shell does.
type historySearch struct {
	styles *draw.Styles
	draw.List
	open  bool
	query string
	all   []sentText // newest first
	found []int      // indexes in all
	rows  []draw.PopupRow
}

// sentText is a text sent before.
type sentText struct {
	text      string
	elsewhere bool // in another folder
}

// start opens the search with an initial query. If nothing matches that, it
// starts with an empty one.
func (h *historySearch) start(here, elsewhere []string, query string) {
	h.open, h.all, h.query = true, nil, query
	for n := len(here) - 1; n >= 0; n-- {
		h.all = append(h.all, sentText{text: here[n]})
	}
	for n := len(elsewhere) - 1; n >= 0; n-- {
		h.all = append(h.all, sentText{text: elsewhere[n], elsewhere: true})
	}
	h.find()
	if len(h.found) == 0 {
		h.query = ""
		h.find()
	}
}

// find lists the texts that contain the query, ignoring case.
func (h *historySearch) find() {
	h.found, h.rows, h.List = nil, nil, draw.List{}
	query := strings.ToLower(h.query)
	seen := map[string]bool{}
	for n, sent := range h.all {
		at := strings.Index(strings.ToLower(sent.text), query)
		if at < 0 || seen[sent.text] {
			continue
		}
		seen[sent.text] = true
		h.found = append(h.found, n)
		h.rows = append(h.rows, sent.row(query))
	}
}

// row returns the row of a text that contains query: its first line that does.
func (s sentText) row(query string) draw.PopupRow {
	lines := strings.Split(strings.TrimSpace(s.text), "\n")
	row := draw.PopupRow{}
	for _, line := range lines {
		row.Text = untrusted.Line(line)
		if at := strings.Index(strings.ToLower(row.Text), query); at >= 0 {
			row.Lit = span(at, at+len(query))
			break
		}
	}
	var details []string
	if len(lines) > 1 {
		details = append(details, english.Count(len(lines), "line"))
	}
	if s.elsewhere {
		details = append(details, "in another folder")
	}
	row.Detail = strings.Join(details, ", ")
	return row
}

// handlers returns the actions of the search. use takes the selected row.
func (h *historySearch) handlers(use func() keymap.Request) keymap.Handlers {
	by := func(n int) keymap.Handler { return keymap.Handler{Do: keymap.Just(func() { h.Move(n, len(h.found)) })} }
	return keymap.Handlers{
		"dialog.leave": {Do: keymap.Just(func() { h.open = false })},
		"chat.send":    {Do: use}, "list.take": {Do: use},
		"list.up": by(-1), "list.down": by(1), "chat.history": by(1),
		"move.page_up": by(-h.Page()), "move.page_down": by(h.Page()),
	}.With(keymap.Searching(h.query, func(text string) {
		h.query = text
		h.find()
	}))
}

// close ends the search and returns the selected text, if any.
func (h *historySearch) close() (text string, ok bool) {
	h.open = false
	if h.At >= len(h.found) {
		return "", false
	}
	return h.all[h.found[h.At]].text, true
}

// add adds text to the query.
func (h *historySearch) add(text string) {
	if text == "" {
		return
	}
	h.query += strings.ReplaceAll(untrusted.Visible(text), "\n", " ")
	h.find()
}

// draw draws the search in at most the given number of lines.
func (h *historySearch) draw(width, maxRows int) []string {
	l := h.styles
	title := l.Strong.Render("history ") + l.Accent.Render(l.Glyphs.Prompt) + " " + l.Text.Render(l.CutLeft(untrusted.Line(h.query), max(width-24, 4))) + l.Accent.Render(l.Glyphs.Cursor)
	rows := h.rows
	if len(rows) == 0 {
		rows = []draw.PopupRow{{Text: "nothing sent contains this"}}
	}
	return h.Popup(l, title, "", rows, width, maxRows)
}
