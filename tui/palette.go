package tui

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/sahilm/fuzzy"

	"replan/tui/untrusted"
)

// paletteDialog lists every action, to search and do. One that cannot be done now
// says why.
type paletteDialog struct {
	look   *look
	keys   *keyMap
	groups []group
	here   place // where it was opened: what acts there comes first
	open   bool
	search string
	found  []found
	list
	word string
}

// found is an action that fits what is searched for.
type found struct {
	*action
	at    place
	title string // of its place
	why   string // it cannot be done now
	lit   []int  // the bytes of what it does that fit
}

// openPalette opens the palette with all that can be done here first.
func (m *Model) openPalette() {
	p := m.palette
	p.groups = append(slices.Clip(m.groups), m.commandGroup())
	p.open, p.search, p.word, p.list, p.here = true, "", "", list{}, m.topic()
	p.find()
}

// find brings the list up to date. Without a search those come first that act
// where the palette was opened, and of a place those that can be done now.
func (d *paletteDialog) find() {
	d.at, d.top, d.found = 0, 0, nil
	var all []found
	seen := map[string]bool{}
	for _, g := range d.groups {
		for i := range g.actions {
			a := &g.actions[i]
			if a.id == "palette" || seen[a.id] {
				continue
			}
			seen[a.id] = true
			f := found{action: a, at: g.place, title: g.title, why: a.refusal()}
			all = append(all, f)
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return cmp.Compare(d.rank(a), d.rank(b)) })
	if d.search == "" {
		d.found = all
		return
	}
	matches, near := fuzzy.FindFrom(d.search, findable(all)), 0
	query := strings.ToLower(strings.TrimSpace(d.search))
	slices.SortStableFunc(matches, func(a, b fuzzy.Match) int {
		return cmp.Compare(all[a.Index].farness(query), all[b.Index].farness(query))
	})
	for _, match := range matches {
		if all[match.Index].farness(query) < scattered {
			near++
		}
	}
	if near > 0 {
		matches = matches[:near]
	}
	for _, match := range matches {
		f := all[match.Index]
		says := len(f.key.Help().Desc)
		for _, i := range match.MatchedIndexes {
			if i < says {
				f.lit = append(f.lit, i)
			}
		}
		d.found = append(d.found, f)
	}
}

// scattered is the farness of what holds no more of a search than its letters. It
// is listed only where nothing is nearer.
const scattered = 3

// farness is how far an action is from what is searched for: its name, the begin
// of a word, a part of one, or its letters alone. What cannot be done now comes
// behind all that is as near.
func (f found) farness(query string) int {
	text := strings.ToLower(f.key.Help().Desc + " " + f.title + " " + strings.ReplaceAll(f.id, ".", " ") + " " + f.id)
	switch {
	case f.id == query:
		return 0
	case !strings.Contains(text, query):
		return scattered
	case f.why != "" || !strings.Contains(" "+text, " "+query):
		return 2
	}
	return 1
}

func (d *paletteDialog) rank(f found) int {
	rank := 2
	switch f.at {
	case d.here:
		rank = 0
	case placeEverywhere:
		rank = 1
	case placeMoving, placeCommand:
		rank = 3
	}
	if f.why != "" {
		rank += 4
	}
	return rank
}

// findable is actions as they are searched: by what they do, where, and their
// name in the configuration.
type findable []found

func (f findable) Len() int { return len(f) }
func (f findable) String(i int) string {
	return f[i].key.Help().Desc + " " + f[i].title + " " + f[i].id
}

func (d *paletteDialog) shown() bool { return d.open }
func (d *paletteDialog) types() bool { return true }

func (d *paletteDialog) hints() []hint {
	return []hint{d.keys.hint("do it", "list.choose"), d.keys.hint("close", "dialog.leave"), d.keys.hint("move", "list.up", "list.down"), {label: "letters", does: "search"}}
}

func (d *paletteDialog) forget() { d.word = "" }

// handlers are the actions of the palette.
func (d *paletteDialog) handlers() handlers {
	leave := func() {
		if d.search == "" {
			d.open = false
			return
		}
		d.seek("")
	}
	return handlers{
		"dialog.leave": {do: just(leave)},
		"palette":      {do: just(func() { d.open = false })},
		"list.choose":  {do: d.choose},
	}.with(d.moving(true, len(d.found)), searching(d.search, d.seek))
}

// typed adds a letter to the search.
func (d *paletteDialog) typed(k tea.KeyPressMsg) wanted {
	if k.Text != "" {
		d.seek(strings.TrimLeft(d.search+untrusted.Line(k.Text), " "))
	}
	return wanted{}
}

// seek searches for a text.
func (d *paletteDialog) seek(text string) {
	d.search = text
	d.find()
}

// choose does the chosen action, or says why it cannot be done.
func (d *paletteDialog) choose() wanted {
	if d.at >= len(d.found) {
		return wanted{}
	}
	f := d.found[d.at]
	if f.why != "" {
		d.word = f.why
		return wanted{}
	}
	d.open = false
	return wanted{do: f.action, at: f.at}
}

func (d *paletteDialog) wheeled(lines int) { d.move(lines/wheelStep, len(d.found)) }

// clicked chooses what is drawn at that line of the dialog's area.
func (d *paletteDialog) clicked(y int) {
	if d.list.clicked(y, len(d.found)) {
		d.word = ""
	}
}

// draw draws the palette in the middle of exactly height lines of screenWidth
// cells. It keeps its height while the search goes on.
func (d *paletteDialog) draw(screenWidth, height int) []string {
	const widest, most = 84, 24 // cells, lines
	l := d.look
	width := min(screenWidth, widest)
	inner := width - 4
	prompt := l.Accent.Render(l.glyphs.Prompt) + " "
	if d.search == "" {
		prompt += l.Faint.Render("type to search all that can be done")
	} else {
		prompt += l.Strong.Render(l.cutLeft(d.search, inner-3)) + l.Accent.Render(l.glyphs.Cursor)
	}
	var foot []string
	if d.word != "" {
		foot = paint(l.Warning, wrap(d.word, inner))
	}
	room := max(min(most, height-4-len(foot)), 1)
	end := d.window(len(d.found), room, 1)
	var lines []string
	for i := d.top; i < end; i++ {
		lines = append(lines, d.row(d.found[i], i == d.at, inner))
	}
	if len(d.found) == 0 {
		lines = paint(l.Faint, wrap("Nothing that can be done is called that; backspace takes a letter back.", inner))
	}
	body := l.block(append(lines, make([]string, max(room-len(lines), 0))...)[:room], inner, room)
	sections := []section{
		{title: l.Strong.Render("Commands"), lines: padded(l.block([]string{prompt}, inner, 1)), style: l.Focus},
		{lines: padded(body), note: l.span(d.top, end, len(d.found)), style: l.Focus},
	}
	if len(foot) > 0 {
		sections[1].lines = append(sections[1].lines, padded(l.block(foot, inner, len(foot)))...)
	}
	framed := l.frame(width, l.Focus, sections...)
	d.first = max((height-len(framed))/2, 0) + 3 // under the border, the search and its edge
	return l.middle(framed, width, screenWidth, height)
}

// row draws one action: what it does, its key, and why it cannot be done now.
func (d *paletteDialog) row(f found, chosen bool, width int) string {
	l := d.look
	line := l.line(chosen, true)
	text := l.Text
	if f.why != "" {
		text = l.Faint
	}
	keys := f.key.Help().Key
	room := max(width-2-visibleWidth(keys), 1)
	says := f.key.Help().Desc
	drawn := line.cursor
	for i, r := range says {
		style := text
		if slices.Contains(f.lit, i) {
			style = l.Accent.Underline(true)
		}
		drawn += line.draw(style, string(r))
	}
	if f.why != "" {
		drawn += line.draw(l.Faint, "  "+f.why)
	} else {
		drawn += line.draw(l.Faint, "  "+strings.ToLower(f.title))
	}
	return line.fill(line.fill(drawn, room)+line.blank(1)+line.draw(l.Key, keys), width)
}
