package dialog

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/sahilm/fuzzy"

	"replan/tui/draw"
	"replan/tui/keymap"
)

// Palette is a searchable list of every action. Unavailable actions show the
// reason.
type Palette struct {
	list
	groups []keymap.Group
	here   keymap.Place // where it was opened from; actions of that place come first
	found  []found
}

// NewPalette returns the palette, closed.
func NewPalette(l *draw.Look, k *keymap.Map) *Palette { return &Palette{list: newList(l, k)} }

// Open opens the palette of all actions at a place.
func (d *Palette) Open(groups []keymap.Group, here keymap.Place) {
	d.open()
	d.groups, d.here = groups, here
	d.find()
}

// found is an action that matches the search.
type found struct {
	*keymap.Action
	at    keymap.Place
	title string // title of its place
	why   string // why it is unavailable
	lit   []int  // byte offsets of the match in its description
}

// find refreshes the list. Without a search, actions of the current place come
// first. Within a place, available actions come first.
func (d *Palette) find() {
	d.At, d.Top, d.found = 0, 0, nil
	var all []found
	seen := map[string]bool{}
	for _, g := range d.groups {
		for i := range g.Actions {
			a := &g.Actions[i]
			if a.ID == "palette" || seen[a.ID] {
				continue
			}
			seen[a.ID] = true
			f := found{Action: a, at: g.Place, title: g.Title, why: a.Refusal()}
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
		says := len(f.Key.Help().Desc)
		for _, i := range match.MatchedIndexes {
			if i < says {
				f.lit = append(f.lit, i)
			}
		}
		d.found = append(d.found, f)
	}
}

// scattered is the farness of an action that contains only the letters of a search.
// Such actions are listed only if nothing matches better.
const scattered = 3

// farness ranks a match: exact name, start of a word, part of a word, or scattered
// letters. Unless its name matches exactly, an unavailable action ranks no better
// than a match inside a word.
func (f found) farness(query string) int {
	text := strings.ToLower(f.Key.Help().Desc + " " + f.title + " " + strings.ReplaceAll(f.ID, ".", " ") + " " + f.ID)
	switch {
	case f.ID == query:
		return 0
	case !strings.Contains(text, query):
		return scattered
	case f.why != "" || !strings.Contains(" "+text, " "+query):
		return 2
	}
	return 1
}

func (d *Palette) rank(f found) int {
	rank := 2
	switch f.at {
	case d.here:
		rank = 0
	case keymap.PlaceEverywhere:
		rank = 1
	case keymap.PlaceMoving, keymap.PlaceCommand:
		rank = 3
	}
	if f.why != "" {
		rank += 4
	}
	return rank
}

// findable makes actions searchable by description, place and configuration name.
type findable []found

func (f findable) Len() int { return len(f) }
func (f findable) String(i int) string {
	return f[i].Key.Help().Desc + " " + f[i].title + " " + f[i].ID
}

// Typing reports that letters are text.
func (d *Palette) Typing() bool { return true }

// Hints lists the keys that are active now.
func (d *Palette) Hints() []keymap.Hint {
	return []keymap.Hint{d.Keys.Hint("do it", "list.choose"), d.Keys.Hint("close", "dialog.leave"), d.Keys.Hint("move", "list.up", "list.down"), {Label: "letters", Does: "search"}}
}

// Actions returns the actions of the palette.
func (d *Palette) Actions() keymap.Handlers {
	return d.closing("palette").With(d.Moving(true, len(d.found)), keymap.Searching(d.search, d.seek), keymap.Handlers{
		"dialog.leave": d.leave(d.seek),
		"list.choose":  {Do: d.choose},
	}).First(d.nextKey)
}

// Update handles letters of the search and the mouse.
func (d *Palette) Update(msg tea.Msg) keymap.Request {
	if text := typed(msg); text != "" {
		d.seek(strings.TrimLeft(d.search+text, " "))
	}
	return d.update(msg, d)
}

// seek sets the search text.
func (d *Palette) seek(text string) {
	d.search = text
	d.find()
}

// choose runs the selected action or says why it is unavailable.
func (d *Palette) choose() keymap.Request {
	if d.At >= len(d.found) {
		return keymap.Request{}
	}
	f := d.found[d.At]
	if f.why != "" {
		d.message = f.why
		return keymap.Request{}
	}
	d.shown = false
	return keymap.Request{Action: f.ID}
}

// View draws the palette in the middle of the screen. Its height stays constant
// during a search.
func (d *Palette) View(size draw.Rect) []string {
	const widest, maxRows = 84, 24 // cells, lines
	l := d.Look
	width, inner := d.width(size, widest)
	prompt := l.Accent.Render(l.Glyphs.Prompt) + " "
	if d.search == "" {
		prompt += l.Faint.Render("type to search all actions")
	} else {
		prompt += l.Strong.Render(l.CutLeft(d.search, inner-3)) + l.Accent.Render(l.Glyphs.Cursor)
	}
	var foot []string
	if d.message != "" {
		foot = draw.Paint(l.Warning, draw.Wrap(d.message, inner))
	}
	room := max(min(maxRows, size.H-4-len(foot)), 1)
	lines, note := d.rows(len(d.found), room, 1, func(i int) []string { return []string{d.row(d.found[i], i == d.At, inner)} })
	if len(d.found) == 0 {
		lines = draw.Paint(l.Faint, draw.Wrap("No matching actions; "+d.Keys.Name("list.erase")+" erases a letter.", inner))
	}
	body := append(l.Block(lines, inner, room), l.Block(foot, inner, len(foot))...)
	const above = 2 // the search and its edge
	return d.framed(size, width, above,
		d.section(l.Strong.Render("Commands"), "", l.Block([]string{prompt}, inner, 1)),
		d.section("", note, body))
}

// row draws one action: its description, its key, and why it is unavailable.
func (d *Palette) row(f found, chosen bool, width int) string {
	l := d.Look
	line := l.Line(chosen, true)
	text := l.Text
	if f.why != "" {
		text = l.Faint
	}
	keys := f.Key.Help().Key
	room := max(width-2-draw.VisibleWidth(keys), 1)
	says := f.Key.Help().Desc
	drawn := line.Cursor
	for i, r := range says {
		style := text
		if slices.Contains(f.lit, i) {
			style = l.Accent.Underline(true)
		}
		drawn += line.Draw(style, string(r))
	}
	if f.why != "" {
		drawn += line.Draw(l.Faint, "  "+f.why)
	} else {
		drawn += line.Draw(l.Faint, "  "+strings.ToLower(f.title))
	}
	return line.Fill(line.Fill(drawn, room)+line.Blank(1)+line.Draw(l.Key, keys), width)
}
