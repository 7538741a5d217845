package input

import (
	"strings"

	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// Recaller searches what was sent before, as a shell does.
type Recaller struct {
	Look *draw.Look
	Keys *keymap.Map
	draw.List
	Open  bool
	Query string
	All   []Remembered // newest first
	Found []int
	rows  []draw.PopupRow
}

// Remembered is something that was sent.
type Remembered struct {
	Text      string
	Elsewhere bool // in another folder
}

// Find lists what holds the query, in any case.
func (r *Recaller) Find() {
	r.Found, r.rows, r.List = nil, nil, draw.List{}
	query := strings.ToLower(r.Query)
	seen := map[string]bool{}
	for n, sent := range r.All {
		at := strings.Index(strings.ToLower(sent.Text), query)
		if at < 0 || seen[sent.Text] {
			continue
		}
		seen[sent.Text] = true
		r.Found = append(r.Found, n)
		r.rows = append(r.rows, r.row(sent, query))
	}
}

// row is the line of a text that holds the query.
func (r *Recaller) row(sent Remembered, query string) draw.PopupRow {
	lines := strings.Split(strings.TrimSpace(sent.Text), "\n")
	row := draw.PopupRow{}
	for _, line := range lines {
		row.Text = untrusted.Line(line)
		if at := strings.Index(strings.ToLower(row.Text), query); at >= 0 {
			for i := range len(query) {
				row.Lit = append(row.Lit, at+i)
			}
			break
		}
	}
	var about []string
	if len(lines) > 1 {
		about = append(about, english.Count(len(lines), "line"))
	}
	if sent.Elsewhere {
		about = append(about, "in another folder")
	}
	row.Detail = strings.Join(about, ", ")
	return row
}

// Handlers are the actions of the search. choose takes the text that was chosen.
func (r *Recaller) Handlers(choose func(text string)) keymap.Handlers {
	take := keymap.Handler{Do: keymap.Just(func() {
		r.Open = false
		if n := r.Chosen(); n >= 0 {
			choose(r.All[n].Text)
		}
	})}
	by := func(n int) keymap.Handler { return keymap.Handler{Do: keymap.Just(func() { r.Move(n, len(r.Found)) })} }
	return keymap.Handlers{
		"dialog.leave": {Do: keymap.Just(func() { r.Open = false })},
		"chat.send":    take, "list.take": take,
		"list.up": by(-1), "list.down": by(1), "chat.history": by(1),
		"move.page_up": by(-draw.PopupRows - 1), "move.page_down": by(draw.PopupRows - 1),
	}.With(keymap.Searching(r.Query, func(text string) {
		r.Query = text
		r.Find()
	}))
}

// Chosen is which of all is chosen, -1 for none.
func (r *Recaller) Chosen() int {
	if r.At >= len(r.Found) {
		return -1
	}
	return r.Found[r.At]
}

// Typed adds to the query.
func (r *Recaller) Typed(text string) {
	r.Query += strings.ReplaceAll(untrusted.Visible(text), "\n", " ")
	r.Find()
}

// Draw draws the search in at most so many lines.
func (r *Recaller) Draw(width, most int) []string {
	l := r.Look
	title := l.Strong.Render("history ") + l.Accent.Render(l.Glyphs.Prompt) + " " + l.Text.Render(l.CutLeft(untrusted.Line(r.Query), max(width-24, 4))) + l.Accent.Render(l.Glyphs.Cursor)
	rows := r.rows
	if len(rows) == 0 {
		rows = []draw.PopupRow{{Text: "nothing was sent that holds this"}}
	}
	return r.Popup(l, title, "", rows, width, most)
}
