package dialog

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/sahilm/fuzzy"

	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// Palette is a searchable list of every action. Unavailable actions show the
// reason.
type Palette struct {
	Look   *draw.Look
	Keys   *keymap.Map
	Groups []keymap.Group
	Here   keymap.Place // where it was opened from; actions of that place come first
	Open   bool
	Search string
	found  []found
	draw.List
	Word string
}

// found is an action that matches the search.
type found struct {
	*keymap.Action
	at    keymap.Place
	title string // title of its place
	why   string // why it is unavailable
	lit   []int  // byte offsets of the match in its description
}

// Find refreshes the list. Without a search, actions of the current place come
// first. Within a place, available actions come first.
func (d *Palette) Find() {
	d.At, d.Top, d.found = 0, 0, nil
	var all []found
	seen := map[string]bool{}
	for _, g := range d.Groups {
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
	if d.Search == "" {
		d.found = all
		return
	}
	matches, near := fuzzy.FindFrom(d.Search, findable(all)), 0
	query := strings.ToLower(strings.TrimSpace(d.Search))
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
	case d.Here:
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

// Shown reports whether the dialog is open.
func (d *Palette) Shown() bool { return d.Open }

// Types reports whether keys go to a text field.
func (d *Palette) Types() bool { return true }

// Hints lists the keys that are active now.
func (d *Palette) Hints() []keymap.Hint {
	return []keymap.Hint{d.Keys.Hint("do it", "list.choose"), d.Keys.Hint("close", "dialog.leave"), d.Keys.Hint("move", "list.up", "list.down"), {Label: "letters", Does: "search"}}
}

// Forget clears messages from the session.
func (d *Palette) Forget() { d.Word = "" }

// Handlers returns the actions of the palette.
func (d *Palette) Handlers() keymap.Handlers {
	leave := func() {
		if d.Search == "" {
			d.Open = false
			return
		}
		d.seek("")
	}
	return keymap.Handlers{
		"dialog.leave": {Do: keymap.Just(leave)},
		"palette":      {Do: keymap.Just(func() { d.Open = false })},
		"list.choose":  {Do: d.choose},
	}.With(d.Moving(true, len(d.found)), keymap.Searching(d.Search, d.seek))
}

// Typed adds typed text to the search.
func (d *Palette) Typed(k tea.KeyPressMsg) keymap.Wanted {
	if k.Text != "" {
		d.seek(strings.TrimLeft(d.Search+untrusted.Line(k.Text), " "))
	}
	return keymap.Wanted{}
}

// seek sets the search text.
func (d *Palette) seek(text string) {
	d.Search = text
	d.Find()
}

// choose runs the selected action or says why it is unavailable.
func (d *Palette) choose() keymap.Wanted {
	if d.At >= len(d.found) {
		return keymap.Wanted{}
	}
	f := d.found[d.At]
	if f.why != "" {
		d.Word = f.why
		return keymap.Wanted{}
	}
	d.Open = false
	return keymap.Wanted{Do: f.Action, At: f.at}
}

// Wheeled handles a turn of the mouse wheel.
func (d *Palette) Wheeled(lines int) { d.Move(lines/draw.WheelStep, len(d.found)) }

// Clicked selects the entry drawn at line y of the dialog's area.
func (d *Palette) Clicked(y int) {
	if d.List.Clicked(y, len(d.found)) {
		d.Word = ""
	}
}

// Draw draws the palette centered in exactly height lines of screenWidth cells. Its
// height stays constant during a search.
func (d *Palette) Draw(screenWidth, height int) []string {
	const widest, most = 84, 24 // cells, lines
	l := d.Look
	width := min(screenWidth, widest)
	inner := width - 4
	prompt := l.Accent.Render(l.Glyphs.Prompt) + " "
	if d.Search == "" {
		prompt += l.Faint.Render("type to search all that can be done")
	} else {
		prompt += l.Strong.Render(l.CutLeft(d.Search, inner-3)) + l.Accent.Render(l.Glyphs.Cursor)
	}
	var foot []string
	if d.Word != "" {
		foot = draw.Paint(l.Warning, draw.Wrap(d.Word, inner))
	}
	room := max(min(most, height-4-len(foot)), 1)
	end := d.Window(len(d.found), room, 1)
	var lines []string
	for i := d.Top; i < end; i++ {
		lines = append(lines, d.row(d.found[i], i == d.At, inner))
	}
	if len(d.found) == 0 {
		lines = draw.Paint(l.Faint, draw.Wrap("Nothing that can be done is called that; "+d.Keys.Name("list.erase")+" takes a letter back.", inner))
	}
	body := l.Block(append(lines, make([]string, max(room-len(lines), 0))...)[:room], inner, room)
	sections := []draw.Section{
		{Title: l.Strong.Render("Commands"), Lines: draw.Padded(l.Block([]string{prompt}, inner, 1)), Style: l.Focus},
		{Lines: draw.Padded(body), Note: l.Span(d.Top, end, len(d.found)), Style: l.Focus},
	}
	if len(foot) > 0 {
		sections[1].Lines = append(sections[1].Lines, draw.Padded(l.Block(foot, inner, len(foot)))...)
	}
	framed := l.Frame(width, l.Focus, sections...)
	d.First = max((height-len(framed))/2, 0) + 3 // below the border, the search and its edge
	return l.Middle(framed, width, screenWidth, height)
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
