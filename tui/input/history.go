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

// opened reports whether the search is open.
func (h *historySearch) opened() bool { return h.open }

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

// seek sets the query.
func (h *historySearch) seek(query string) {
	h.query = query
	h.find()
}

// erasing returns the actions that erase letters of the query.
func (h *historySearch) erasing() keymap.Handlers { return keymap.Searching(h.query, h.seek) }

// step selects another row.
func (h *historySearch) step(by int) { h.Move(by, len(h.found)) }

// leave ends the search without taking a row.
func (h *historySearch) leave() { h.open = false }

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
	h.seek(h.query + strings.ReplaceAll(untrusted.Visible(text), "\n", " "))
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
