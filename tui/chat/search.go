package chat

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// search is a search in the chat. It covers the text of every block, drawn or
// not, but highlights matches only in visible blocks.
type search struct {
	Open  bool
	Query string
	id    int // identifies the query, for cached counts
	dirty bool
	hits  []hit
	at    int  // current match; -1 if there is none
	on    hit  // the same match, to find it again after the chat changed
	from  Spot // where the search started
	was   bool // the view was scrolled up then
}

// hit is one match: a block, and the number of the match in it.
type hit struct {
	block *Block
	index int // of the block
	nth   int
}

// lit is a match in a drawn block: cells of one of its lines.
type lit struct{ line, from, to, nth int }

// changed records that blocks were added or changed.
func (f *search) changed() { f.dirty = true }

// height returns the number of lines of the search.
func (f *search) height() int {
	if f.Open {
		return 1
	}
	return 0
}

// StartSearch opens the search line.
func (c *Pane) StartSearch() {
	if c.Find.Open {
		return
	}
	from := c.first()
	c.Find = search{Open: true, id: c.Find.id + 1, at: -1, from: from, was: c.away}
	c.drawn = false
}

// leaveSearch closes the search line and keeps the view.
func (c *Pane) leaveSearch() { c.Find.Open, c.Find.hits, c.drawn = false, nil, false }

// Seek searches for a new text from where the search started: the first match
// there or below, else the last one above.
func (c *Pane) Seek(query string) {
	f := &c.Find
	f.Query = query
	f.id++
	f.on = hit{}
	c.count()
	f.at = -1
	for i, h := range f.hits {
		f.at = i
		if h.index >= f.from.Block {
			break
		}
	}
	switch {
	case f.at >= 0:
		c.showHit()
	case f.was:
		c.away, c.top = true, f.from
	default:
		c.ToEnd()
	}
	c.drawn = false
}

// count finds all matches. It reuses the counts of unchanged blocks.
func (c *Pane) count() {
	f := &c.Find
	f.hits, f.dirty = f.hits[:0], false
	if f.Query == "" {
		return
	}
	query, exact := f.folded()
	for i, b := range c.Blocks {
		if b.counted != f.id || !b.looked {
			text := c.searchable(b)
			if !exact {
				text = strings.ToLower(text)
			}
			b.counted, b.hits, b.found = f.id, strings.Count(text, query), nil
		}
		for n := range b.hits {
			f.hits = append(f.hits, hit{b, i, n})
		}
	}
	f.at = min(f.at, len(f.hits)-1)
	for i, h := range f.hits {
		if h.block == f.on.block && h.nth == f.on.nth {
			f.at = i
		}
	}
}

// folded returns the query in comparable form, and whether the search is
// case-sensitive, as it is if the query has a capital letter.
func (f *search) folded() (query string, exact bool) {
	if exact = strings.ContainsFunc(f.Query, unicode.IsUpper); exact {
		return f.Query, true
	}
	return strings.ToLower(f.Query), false
}

// searchable returns the text of a block, if possible without drawing it.
func (c *Pane) searchable(b *Block) string {
	if b.looked {
		return b.plain
	}
	switch {
	case b.says != nil:
		b.plain = unmarked(b.says())
	default:
		b.plain = ansi.Strip(draw.Unbroken(b.Typeset(max(c.width, 80))))
	}
	b.looked = !b.live
	return b.plain
}

// Markdown marks that are not drawn.
var (
	markedLink  = regexp.MustCompile(`!?\[([^\]]*)\]\(([^)\s]*)[^)]*\)`)
	markedText  = strings.NewReplacer("**", "", "__", "", "`", "", "~~", "")
	markedLines = regexp.MustCompile(`(?m)^[ \t]*(?:#{1,6} |> ?)|^(?:~~~|-{3,}$)`)
)

// unmarked removes most Markdown marks, so that the text is close to what is
// drawn.
func unmarked(text string) string {
	text = untrusted.Visible(text)
	if strings.Contains(text, "](") {
		text = markedLink.ReplaceAllString(text, "$1 $2")
	}
	if strings.ContainsAny(text, "*_`~") {
		text = markedText.Replace(text)
	}
	if strings.ContainsAny(text, "#>~-") {
		text = markedLines.ReplaceAllString(text, "")
	}
	return strings.ReplaceAll(text, "\n", " ")
}

// step moves to the n-th next match and wraps around.
func (c *Pane) step(n int) {
	f := &c.Find
	if f.dirty {
		c.count()
	}
	if len(f.hits) == 0 {
		return
	}
	f.at = (f.at + n + len(f.hits)) % len(f.hits)
	c.showHit()
	c.drawn = false
}

// showHit scrolls the match into view.
func (c *Pane) showHit() {
	f := &c.Find
	f.on = f.hits[f.at]
	at := Spot{f.on.index, 0}
	found := c.matches(f.on.index)
	if len(found) > 0 {
		at.Line = found[0].line
	}
	for _, m := range found {
		if m.nth == min(f.on.nth, found[len(found)-1].nth) {
			at.Line = m.line
			break
		}
	}
	c.show(at)
}

// matches returns the matches in a block as drawn.
func (c *Pane) matches(index int) []lit {
	b := c.Blocks[index]
	lines := c.LinesOf(index)
	if b.found == nil || b.foundBy != c.Find.id {
		query, exact := c.Find.folded()
		b.found, b.foundBy = litIn(lines, query, exact), c.Find.id
	}
	return b.found
}

// litIn finds a text in drawn lines, across breaks made by wrapping.
func litIn(lines []draw.TextLine, query string, exact bool) []lit {
	out := []lit{}
	nth := 0
	for begin := 0; begin < len(lines); {
		end := begin + 1
		for end < len(lines) && lines[end].Join != draw.Apart {
			end++
		}
		out, nth = litInLine(out, lines[begin:end], begin, query, exact, nth)
		begin = end
	}
	return out
}

// litInLine finds a text in one line that wrapping broke into several.
func litInLine(out []lit, lines []draw.TextLine, first int, query string, exact bool, nth int) ([]lit, int) {
	texts := make([]string, len(lines))
	starts := make([]int, len(lines)+1)
	var whole strings.Builder
	for i, line := range lines {
		if line.Join == draw.Spaced {
			whole.WriteByte(' ')
		}
		starts[i] = whole.Len()
		texts[i] = strings.TrimRight(ansi.Strip(ansi.TruncateLeft(line.Text, line.Lead, "")), " ")
		whole.WriteString(texts[i])
	}
	starts[len(lines)] = whole.Len()
	text := whole.String()
	compared := text
	if !exact {
		compared = strings.Map(unicode.ToLower, text)
	}
	for at := 0; query != ""; {
		i := strings.Index(compared[at:], query)
		if i < 0 {
			break
		}
		// Case folding may change the bytes of a letter, but not the number of
		// letters.
		from := runesIn(text, utf8.RuneCountInString(compared[:at+i]))
		to := runesIn(text, utf8.RuneCountInString(compared[:at+i+len(query)]))
		at += i + len(query)
		for n, part := range texts {
			a, b := max(from-starts[n], 0), min(to-starts[n], len(part))
			if a < b {
				lead := lines[n].Lead
				out = append(out, lit{first + n, lead + ansi.StringWidth(part[:a]), lead + ansi.StringWidth(part[:b]), nth})
			}
		}
		nth++
	}
	return out, nth
}

// runesIn returns the number of bytes of the first n runes of s.
func runesIn(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// litLines returns the visible lines with matches highlighted.
func (c *Pane) litLines() []string {
	f := &c.Find
	if f.Open && f.dirty {
		c.count()
	}
	out := make([]string, len(c.Shown))
	for i, line := range c.Shown {
		out[i] = line.Text
		if !f.Open || f.Query == "" || line.Block < 0 || c.Blocks[line.Block].hits == 0 {
			continue
		}
		found := c.matches(line.Block)
		for _, m := range found {
			if m.line != line.Line {
				continue
			}
			now := f.at >= 0 && f.on.block == c.Blocks[line.Block] && m.nth == min(f.on.nth, found[len(found)-1].nth)
			out[i] = Relit(out[i], m.from, m.to, c.Look.HitStyle(now))
		}
	}
	return out
}

// Relit draws some cells of a drawn line in another style.
func Relit(line string, from, to int, style lipgloss.Style) string {
	w := ansi.StringWidth(line)
	if from = max(from, 0); from >= min(to, w) {
		return line
	}
	middle := ansi.Strip(ansi.Cut(line, from, to))
	return ansi.Truncate(line, from, "") + style.Render(middle) + ansi.TruncateLeft(line, to, "")
}

// searchLine draws the line over the input: the query and the result.
func (c *Pane) searchLine(width int) string {
	query, state := c.searchParts(width)
	return c.Look.Sides(query, state, width)
}

// searchParts returns the query and the result of the search.
func (c *Pane) searchParts(width int) (query, state string) {
	l, f := c.Look, &c.Find
	switch {
	case f.Query == "":
		state = l.Faint.Render("type what to find")
	case len(f.hits) == 0:
		state = l.Warning.Render("not found")
	default:
		state = l.Muted.Render(fmt.Sprintf("%d of %d", f.at+1, len(f.hits)))
	}
	head := l.Accent.Render("find ")
	room := width - draw.VisibleWidth(head) - draw.VisibleWidth(state) - 3
	return head + l.Strong.Render(l.CutLeft(visibleQuery(f.Query), max(room, 1))), state
}

// visibleQuery returns the query in drawable form, with its spaces.
func visibleQuery(s string) string {
	return strings.ReplaceAll(untrusted.Visible(s), "\n", " ")
}

// SearchCursor returns the column of the cursor in the search line.
func (c *Pane) SearchCursor() int {
	head, _ := c.searchParts(c.width)
	return draw.VisibleWidth(head)
}

// SearchHandlers returns the actions of the open search.
func (c *Pane) SearchHandlers() keymap.Handlers {
	page := max(c.Height-2, 1)
	head := strings.TrimRight(c.Find.Query, " ")
	return keymap.Handlers{
		"dialog.leave":      {Do: keymap.Just(c.leaveSearch)},
		"search.next":       {Do: keymap.Just(func() { c.step(1) })},
		"search.previous":   {Do: keymap.Just(func() { c.step(-1) })},
		"move.page_up":      {Do: keymap.Just(func() { c.Scroll(page) })},
		"move.page_down":    {Do: keymap.Just(func() { c.Scroll(-page) })},
		"search.erase_word": {Do: keymap.Just(func() { c.Seek(head[:strings.LastIndex(head, " ")+1]) })},
		"search.erase_all":  {Do: keymap.Just(func() { c.Seek("") })},
	}.With(keymap.Searching(c.Find.Query, c.Seek))
}

// Typed appends letters to the query.
func (c *Pane) Typed(text string) {
	if text != "" {
		c.Seek(c.Find.Query + text)
	}
}

// NothingSaid explains why the chat cannot be searched.
func (c *Pane) NothingSaid() string {
	if len(c.Blocks) == 0 {
		return "Nothing has been said here yet."
	}
	return ""
}
