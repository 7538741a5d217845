package tui

import (
	"strings"

	"replan/tui/untrusted"
)

// recaller searches what was sent before, as a shell does.
type recaller struct {
	look *look
	keys *keyMap
	list
	open  bool
	query string
	all   []remembered // newest first
	found []int
	rows  []popupRow
}

// remembered is something that was sent.
type remembered struct {
	text      string
	elsewhere bool // in another folder
}

// noHistory is why nothing can be searched.
func (m *Model) noHistory() string {
	switch {
	case m.options.Replay:
		return nothingSent
	case len(m.input.history)+len(m.input.others) == 0:
		return "Nothing was sent yet."
	default:
		return ""
	}
}

// searchHistory opens the search; what stands in the input is what is searched
// for first.
func (m *Model) searchHistory() {
	r := m.recall
	r.open, r.all, r.query = true, nil, ""
	for n := len(m.input.history) - 1; n >= 0; n-- {
		r.all = append(r.all, remembered{text: m.input.history[n]})
	}
	for n := len(m.input.others) - 1; n >= 0; n-- {
		r.all = append(r.all, remembered{m.input.others[n], true})
	}
	if text := m.input.area.Value(); !strings.Contains(text, "\n") && !m.input.hasPaste() {
		r.query = strings.TrimSpace(text)
	}
	r.find()
	if len(r.found) == 0 {
		r.query = ""
		r.find()
	}
}

// find lists what holds the query, in any case.
func (r *recaller) find() {
	r.found, r.rows, r.list = nil, nil, list{}
	query := strings.ToLower(r.query)
	seen := map[string]bool{}
	for n, sent := range r.all {
		at := strings.Index(strings.ToLower(sent.text), query)
		if at < 0 || seen[sent.text] {
			continue
		}
		seen[sent.text] = true
		r.found = append(r.found, n)
		r.rows = append(r.rows, r.row(sent, query))
	}
}

// row is the line of a text that holds the query.
func (r *recaller) row(sent remembered, query string) popupRow {
	lines := strings.Split(strings.TrimSpace(sent.text), "\n")
	row := popupRow{}
	for _, line := range lines {
		row.text = untrusted.Line(line)
		if at := strings.Index(strings.ToLower(row.text), query); at >= 0 {
			for i := range len(query) {
				row.lit = append(row.lit, at+i)
			}
			break
		}
	}
	var about []string
	if len(lines) > 1 {
		about = append(about, plural(len(lines), "line"))
	}
	if sent.elsewhere {
		about = append(about, "in another folder")
	}
	row.detail = strings.Join(about, ", ")
	return row
}

// handlers are the actions of the search. choose takes the text that was chosen.
func (r *recaller) handlers(choose func(text string)) handlers {
	take := handler{do: just(func() {
		r.open = false
		if n := r.chosen(); n >= 0 {
			choose(r.all[n].text)
		}
	})}
	by := func(n int) handler { return handler{do: just(func() { r.move(n, len(r.found)) })} }
	return handlers{
		"dialog.leave": {do: just(func() { r.open = false })},
		"chat.send":    take, "list.take": take,
		"list.up": by(-1), "list.down": by(1), "chat.history": by(1),
		"move.page_up": by(-popupRows - 1), "move.page_down": by(popupRows - 1),
	}.with(searching(r.query, func(text string) {
		r.query = text
		r.find()
	}))
}

// chosen is which of all is chosen, -1 for none.
func (r *recaller) chosen() int {
	if r.at >= len(r.found) {
		return -1
	}
	return r.found[r.at]
}

// typed adds to the query.
func (r *recaller) typed(text string) {
	r.query += strings.ReplaceAll(untrusted.Visible(text), "\n", " ")
	r.find()
}

// draw draws the search in at most so many lines.
func (r *recaller) draw(width, most int) []string {
	l := r.look
	title := l.Strong.Render("history ") + l.Accent.Render(l.glyphs.Prompt) + " " + l.Text.Render(l.cutLeft(untrusted.Line(r.query), max(width-24, 4))) + l.Accent.Render(l.glyphs.Cursor)
	rows := r.rows
	if len(rows) == 0 {
		rows = []popupRow{{text: "nothing was sent that holds this"}}
	}
	return r.popup(l, title, "", rows, width, most)
}
