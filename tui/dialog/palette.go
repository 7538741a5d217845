package dialog

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/sahilm/fuzzy"

	"replan/agent"
	"replan/agent/session"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// Palette is a searchable list of what the user can do: actions, goals, runs, plans,
// models, themes, chat commands and files. Unavailable entries come last and show the
// reason.
type Palette struct {
	list
	page  PalettePage
	runs  *Runs // says how a run stands
	all   []command
	files []command // only in a search
	found []command

	recent []string // titles chosen before, also at earlier starts, the newest first

	// Answers of the session, "" until they arrive.
	summaries  []agent.Summary
	available  session.Models
	plans      []session.Completion
	askedFiles bool
}

// KeyRecent is the setting that keeps the titles chosen last, one a line, the
// newest first.
const KeyRecent = "screen.recent"

// NewPalette returns the palette, closed. recent are the titles chosen at earlier
// starts, the newest first.
func NewPalette(l *draw.Styles, k *keymap.Map, runs *Runs, recent []string) *Palette {
	return &Palette{list: newList(l, k), runs: runs, recent: recent}
}

// Open opens the palette and asks the session for runs, plans and models. Until they
// arrive it lists what it knew before.
func (d *Palette) Open(page PalettePage) keymap.Query {
	d.open()
	d.page, d.askedFiles = page, page.Replay
	d.gather()
	d.find()
	if page.Replay {
		return nil
	}
	return keymap.All(keymap.QueryRuns, keymap.QueryModels, keymap.QueryCompletions(session.CompletePlans))
}

// find lists the entries that match the search. Without one, it lists those under headings.
func (d *Palette) find() {
	chosen := ""
	if d.At > 0 && d.At < len(d.found) {
		chosen = d.found[d.At].title
	}
	d.found = d.listed()
	if query := strings.Fields(strings.ToLower(d.query())); len(query) > 0 {
		d.found = search(append(slices.Clip(d.all), d.files...), query)
	}
	d.Choose(max(slices.IndexFunc(d.found, func(c command) bool { return chosen != "" && c.title == chosen }), 0))
}

// scattered is the farness of an entry that contains only the letters of a search.
// Such entries are listed only if nothing matches better.
const scattered = 4

// search returns the entries that contain every word, the best match first. Without
// one it returns those that contain the letters of the words. Unavailable entries come
// last.
func search(all []command, query []string) []command {
	type match struct {
		command
		far, at int // how far from the query, and where in the title
	}
	var near []match
	for _, c := range all {
		m := match{command: c, at: math.MaxInt}
		for _, word := range query {
			m.far = max(m.far, c.farness(word))
			if at := strings.Index(c.text, word); at >= 0 && at+len(word) <= len(c.title) {
				m.at = min(m.at, at)
				for i := range word {
					m.lit = append(m.lit, at+i)
				}
			}
		}
		if m.far < scattered {
			near = append(near, m)
		}
	}
	slices.SortStableFunc(near, func(a, b match) int {
		return cmp.Or(cmp.Compare(unavailable(a.command), unavailable(b.command)), cmp.Compare(a.far, b.far), cmp.Compare(a.at, b.at))
	})
	var found []command
	for _, m := range near {
		found = append(found, m.command)
	}
	if len(near) > 0 {
		return found
	}
	for _, m := range fuzzy.FindFrom(strings.Join(query, ""), searchable(all)) {
		c := all[m.Index]
		c.lit = slices.DeleteFunc(m.MatchedIndexes, func(i int) bool { return i >= len(c.title) })
		found = append(found, c)
	}
	slices.SortStableFunc(found, func(a, b command) int { return cmp.Compare(unavailable(a), unavailable(b)) })
	return found
}

// farness ranks how a word matches an entry. The best match is at the start of the entry.
// Then come the start of a word of the title or of its chat command, that of another word,
// inside a word, and no match.
func (c command) farness(word string) int {
	title := c.text[:min(len(c.title), len(c.text))]
	switch {
	case strings.HasPrefix(title, word):
		return 0
	case startsWord(title, word), strings.HasPrefix(c.keys, "/"+word):
		return 1
	case startsWord(c.text, word):
		return 2
	case strings.Contains(c.text, word):
		return 3
	default:
		return scattered
	}
}

// startsWord reports whether a word of a text starts with start.
func startsWord(text, start string) bool {
	for from := 0; ; from++ {
		at := strings.Index(text[from:], start)
		if at < 0 {
			return false
		}
		from += at
		if before, _ := utf8.DecodeLastRuneInString(text[:from]); !unicode.IsLetter(before) && !unicode.IsDigit(before) {
			return true
		}
	}
}

// searchable makes entries searchable by what is on the screen.
type searchable []command

func (s searchable) Len() int            { return len(s) }
func (s searchable) String(i int) string { return s[i].title + "  " + s[i].detail }

// Typing reports that letters are text.
func (d *Palette) Typing() bool { return true }

// Hints lists the keys that are active now.
func (d *Palette) Hints() []keymap.Hint {
	leave := d.Keys.Hint("close", "dialog.leave")
	if d.query() != "" {
		leave = d.Keys.Hint("clear", "dialog.leave")
	}
	return []keymap.Hint{d.Keys.Hint("do it", "list.choose"), leave, d.Keys.Hint("move", "list.up", "list.down"), {Label: "letters", Does: "search"}}
}

// Actions returns the actions of the palette.
func (d *Palette) Actions() keymap.Handlers {
	return paletteActions().For(d).With(d.Moving(true, len(d.found)), keymap.Searching(d.query(), d.seek)).First(d.nextKey)
}

// paletteActions are the actions of the palette.
func paletteActions() keymap.Table[*Palette] {
	return keymap.Table[*Palette]{
		{ID: "list.choose", Do: (*Palette).choose},
		leaving[*Palette](),
		closing[*Palette]("palette"),
	}
}

// Update handles letters of the search, the mouse and the answers of the session. The
// first letter asks for the files.
func (d *Palette) Update(msg tea.Msg) keymap.Requests {
	d.store(msg)
	text := typed(msg)
	if text != "" {
		d.seek(strings.TrimLeft(d.query()+text, " "))
	}
	w := d.update(msg, d)
	if text != "" && !d.askedFiles {
		d.askedFiles = true
		w = append(w, keymap.QueryCompletions(session.CompleteFiles))
	}
	return w
}

// seek sets the search text.
func (d *Palette) seek(text string) {
	d.setQuery(text)
	d.ChooseFirst()
	d.find()
}

// choose does the chosen entry. Why an entry is unavailable is already on the screen.
func (d *Palette) choose() keymap.Requests {
	const recents = 10
	if d.At >= len(d.found) || d.found[d.At].why != "" {
		return nil
	}
	c := d.found[d.At]
	d.Close()
	d.recent = append([]string{c.title}, slices.DeleteFunc(d.recent, func(title string) bool { return title == c.title })...)
	d.recent = d.recent[:min(len(d.recent), recents)]
	w := c.do()
	if !d.page.Replay {
		w = append(w, session.SaveSetting{Key: KeyRecent, Value: new(strings.Join(d.recent, "\n"))})
	}
	return w
}

// View draws the palette in the middle of the screen. Its height stays constant
// during a search.
func (d *Palette) View(size draw.Rect) []string {
	const widest, maxRows = 90, 24 // cells, lines
	l := d.Styles
	width, inner := d.width(size, widest)
	prompt := l.Accent.Render(l.Glyphs.Prompt) + " "
	if d.query() == "" {
		prompt += l.Faint.Render(l.Cut("search actions, files, runs, models and themes", inner-2))
	} else {
		prompt += l.Strong.Render(l.CutLeft(d.query(), inner-3)) + l.Accent.Render(l.Glyphs.Cursor)
	}
	height := max(min(maxRows, size.H-4), 1)
	var foot []string
	if d.At < len(d.found) && d.found[d.At].why != "" {
		foot = draw.Paint(l.Warning, draw.Wrap(d.found[d.At].why, inner))
		foot = foot[:min(len(foot), height-1)]
	}
	room := height - len(foot)
	grouped := d.query() == "" && inner >= 6*groupWidth
	lines, note := d.rows(len(d.found), room, 1, func(i int) []string {
		if grouped {
			return []string{d.heading(i) + d.row(d.found[i], i == d.At, inner-groupWidth)}
		}
		return []string{d.row(d.found[i], i == d.At, inner)}
	})
	if len(d.found) == 0 {
		lines = draw.Paint(l.Faint, draw.Wrap("No match; "+d.Keys.Name("list.erase")+" erases a letter.", inner))
	}
	body := append(l.Block(lines, inner, room), l.Block(foot, inner, len(foot))...)
	const above = 2 // the search and its edge
	return d.framed(size, width, above,
		d.section(l.Strong.Render("Commands"), "", l.Block([]string{prompt}, inner, 1)),
		d.section("", note, body))
}

// row draws one entry: its title, a detail, and its key. An unavailable one shows the
// reason if it fits; the foot shows that of the chosen one.
func (d *Palette) row(c command, chosen bool, width int) string {
	l := d.Styles
	line := l.Line(chosen, true)
	text, detail := l.Text, c.detail
	keys := l.Cut(c.keys, width/3)
	room := max(width-2-draw.VisibleWidth(keys), 1)
	left := room - 1 - draw.VisibleWidth(c.title) - 2
	if c.why != "" {
		text, detail = l.Faint, c.why
		if chosen || draw.VisibleWidth(detail) > left {
			detail = ""
		}
	}
	drawn := line.Cursor + l.Cut(line.Highlight(text, l.Accent.Underline(true), c.title, c.lit), room-1)
	if detail != "" && left > 3 {
		drawn += line.Draw(l.Faint, "  "+l.Cut(detail, left))
	}
	return line.Fill(line.Fill(drawn, room)+line.Blank(1)+line.Draw(l.Key, keys), width)
}
