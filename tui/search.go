package tui

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/tui/untrusted"
)

// search is a search in the chat. The text of every block is searched, drawn or
// not; what is found is lit in the blocks in view alone.
type search struct {
	open  bool
	query string
	id    int // of the query, to know what was counted for it
	dirty bool
	hits  []hit
	at    int  // the hit that is shown; -1 where there is none
	on    hit  // the same, to be found again where the chat has changed
	from  spot // where the search began
	was   bool // the view was away from the end then
}

// hit is one match: which block, and which in it.
type hit struct {
	block *block
	index int // of the block
	nth   int
}

// lit is a match in a drawn block: cells of one of its lines.
type lit struct{ line, from, to, nth int }

// changed says that blocks were added or changed.
func (f *search) changed() { f.dirty = true }

// height is how many lines the search takes.
func (f *search) height() int {
	if f.open {
		return 1
	}
	return 0
}

// startSearch opens the search line.
func (c *chatPane) startSearch() {
	if c.find.open {
		return
	}
	from := c.first()
	c.find = search{open: true, id: c.find.id + 1, at: -1, from: from, was: c.away}
	c.drawn = false
}

// leaveSearch closes it; the view stays where it is.
func (c *chatPane) leaveSearch() { c.find.open, c.find.hits, c.drawn = false, nil, false }

// seek searches for another text, from where the search began: the first match
// there or below it, else the last one above.
func (c *chatPane) seek(query string) {
	f := &c.find
	f.query = query
	f.id++
	f.on = hit{}
	c.count()
	f.at = -1
	for i, h := range f.hits {
		f.at = i
		if h.index >= f.from.block {
			break
		}
	}
	switch {
	case f.at >= 0:
		c.showHit()
	case f.was:
		c.away, c.top = true, f.from
	default:
		c.toEnd()
	}
	c.drawn = false
}

// count finds all matches. What was counted of a block that has not changed
// since is not counted again.
func (c *chatPane) count() {
	f := &c.find
	f.hits, f.dirty = f.hits[:0], false
	if f.query == "" {
		return
	}
	query, exact := f.folded()
	for i, b := range c.blocks {
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

// folded is the query as it is compared, and whether upper and lower case are
// told apart: where it has a capital letter.
func (f *search) folded() (query string, exact bool) {
	if exact = strings.ContainsFunc(f.query, unicode.IsUpper); exact {
		return f.query, true
	}
	return strings.ToLower(f.query), false
}

// searchable is the text of a block, as far as that can be had without drawing
// it.
func (c *chatPane) searchable(b *block) string {
	if b.looked {
		return b.plain
	}
	switch {
	case b.says != nil:
		b.plain = unmarked(b.says())
	default:
		b.plain = ansi.Strip(unbroken(b.typeset(max(c.width, 80))))
	}
	b.looked = !b.live
	return b.plain
}

// The marks of Markdown that are not drawn.
var (
	markedLink  = regexp.MustCompile(`!?\[([^\]]*)\]\(([^)\s]*)[^)]*\)`)
	markedText  = strings.NewReplacer("**", "", "__", "", "`", "", "~~", "")
	markedLines = regexp.MustCompile(`(?m)^[ \t]*(?:#{1,6} |> ?)|^(?:~~~|-{3,}$)`)
)

// unmarked is Markdown without most of its marks, about as it is drawn.
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

// step goes to the match n further, around the ends.
func (c *chatPane) step(n int) {
	f := &c.find
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

// showHit brings the match into view.
func (c *chatPane) showHit() {
	f := &c.find
	f.on = f.hits[f.at]
	at := spot{f.on.index, 0}
	found := c.matches(f.on.index)
	if len(found) > 0 {
		at.line = found[0].line
	}
	for _, m := range found {
		if m.nth == min(f.on.nth, found[len(found)-1].nth) {
			at.line = m.line
			break
		}
	}
	c.show(at)
}

// matches are the matches in a block as it is drawn.
func (c *chatPane) matches(index int) []lit {
	b := c.blocks[index]
	lines := c.linesOf(index)
	if b.found == nil || b.foundBy != c.find.id {
		query, exact := c.find.folded()
		b.found, b.foundBy = litIn(lines, query, exact), c.find.id
	}
	return b.found
}

// litIn finds a text in drawn lines, over the breaks that the width made.
func litIn(lines []textLine, query string, exact bool) []lit {
	out := []lit{}
	nth := 0
	for begin := 0; begin < len(lines); {
		end := begin + 1
		for end < len(lines) && lines[end].join != apart {
			end++
		}
		out, nth = litInLine(out, lines[begin:end], begin, query, exact, nth)
		begin = end
	}
	return out
}

// litInLine finds a text in one line that the width has broken into several.
func litInLine(out []lit, lines []textLine, first int, query string, exact bool, nth int) ([]lit, int) {
	texts := make([]string, len(lines))
	starts := make([]int, len(lines)+1)
	var whole strings.Builder
	for i, line := range lines {
		if line.join == spaced {
			whole.WriteByte(' ')
		}
		starts[i] = whole.Len()
		texts[i] = strings.TrimRight(ansi.Strip(ansi.TruncateLeft(line.text, line.lead, "")), " ")
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
		// Folding may change how many bytes a letter takes, not how many letters there are.
		from := runesIn(text, utf8.RuneCountInString(compared[:at+i]))
		to := runesIn(text, utf8.RuneCountInString(compared[:at+i+len(query)]))
		at += i + len(query)
		for n, part := range texts {
			a, b := max(from-starts[n], 0), min(to-starts[n], len(part))
			if a < b {
				lead := lines[n].lead
				out = append(out, lit{first + n, lead + ansi.StringWidth(part[:a]), lead + ansi.StringWidth(part[:b]), nth})
			}
		}
		nth++
	}
	return out, nth
}

// runesIn is how many bytes the first n runes of s take.
func runesIn(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// litLines are the lines in view, with what was found in them lit.
func (c *chatPane) litLines() []string {
	f := &c.find
	if f.open && f.dirty {
		c.count()
	}
	out := make([]string, len(c.shown))
	for i, line := range c.shown {
		out[i] = line.text
		if !f.open || f.query == "" || line.block < 0 || c.blocks[line.block].hits == 0 {
			continue
		}
		found := c.matches(line.block)
		for _, m := range found {
			if m.line != line.line {
				continue
			}
			now := f.at >= 0 && f.on.block == c.blocks[line.block] && m.nth == min(f.on.nth, found[len(found)-1].nth)
			out[i] = relit(out[i], m.from, m.to, c.look.hitStyle(now))
		}
	}
	return out
}

// hitStyle is the style of a match: of the one that is shown, or of another.
func (l *look) hitStyle(now bool) lipgloss.Style {
	if now {
		return l.Accent.Reverse(true)
	}
	return l.Selected(l.Warning).Underline(true)
}

// relit draws some cells of a drawn line in another style.
func relit(line string, from, to int, style lipgloss.Style) string {
	w := ansi.StringWidth(line)
	if from = max(from, 0); from >= min(to, w) {
		return line
	}
	middle := ansi.Strip(ansi.Cut(line, from, to))
	return ansi.Truncate(line, from, "") + style.Render(middle) + ansi.TruncateLeft(line, to, "")
}

// searchLine is the line over the input: what is searched, and what came of it.
func (c *chatPane) searchLine(width int) string {
	query, state := c.searchParts(width)
	return c.look.sides(query, state, width)
}

// searchParts are what is searched, and what came of it.
func (c *chatPane) searchParts(width int) (query, state string) {
	l, f := c.look, &c.find
	switch {
	case f.query == "":
		state = l.Faint.Render("type what to find")
	case len(f.hits) == 0:
		state = l.Warning.Render("not found")
	default:
		state = l.Muted.Render(fmt.Sprintf("%d of %d", f.at+1, len(f.hits)))
	}
	head := l.Accent.Render("find ")
	room := width - visibleWidth(head) - visibleWidth(state) - 3
	return head + l.Strong.Render(l.cutLeft(visibleQuery(f.query), max(room, 1))), state
}

// visibleQuery is what is searched as it can be drawn, its blanks kept.
func visibleQuery(s string) string {
	return strings.ReplaceAll(untrusted.Visible(s), "\n", " ")
}

// searchCursor is the column of the cursor in the search line.
func (c *chatPane) searchCursor() int {
	head, _ := c.searchParts(c.width)
	return visibleWidth(head)
}

// searchChat opens the search, from any pane.
func (m *Model) searchChat() {
	m.focus = paneChat
	m.chat.startSearch()
}

// searching reports whether keys are for the search.
func (m *Model) searching() bool {
	return m.chat.find.open && m.focus == paneChat && !m.covered() && !m.quitting
}

// searchHints are the keys of the open search.
func (m *Model) searchHints() []hint {
	return []hint{m.keys.hint("next", "search.next"), m.keys.hint("previous", "search.previous"), m.keys.hint("leave", "dialog.leave")}
}

// searchHandlers are the actions of the open search.
func (c *chatPane) searchHandlers() handlers {
	page := max(c.height-2, 1)
	head := strings.TrimRight(c.find.query, " ")
	return handlers{
		"dialog.leave":      {do: just(c.leaveSearch)},
		"search.next":       {do: just(func() { c.step(1) })},
		"search.previous":   {do: just(func() { c.step(-1) })},
		"move.page_up":      {do: just(func() { c.scroll(page) })},
		"move.page_down":    {do: just(func() { c.scroll(-page) })},
		"search.erase_word": {do: just(func() { c.seek(head[:strings.LastIndex(head, " ")+1]) })},
		"search.erase_all":  {do: just(func() { c.seek("") })},
	}.with(searching(c.find.query, c.seek))
}

// typed adds letters to what is searched.
func (c *chatPane) typed(text string) {
	if text != "" {
		c.seek(c.find.query + text)
	}
}
