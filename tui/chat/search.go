package chat

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// search is a search in the chat. It covers the text of every block, drawn or
// not, but highlights matches only in visible blocks.
type search struct {
	chat    *viewport
	open    bool
	query   string
	id      int // identifies the query, for cached counts
	edition int // of the chat, that hits belong to
	hits    []hit
	at      int       // current match; -1 if there is none
	on      hit       // the same match, to find it again after the chat changed
	from    draw.Spot // where the search started
	was     bool      // the view was scrolled up then
}

// hit is one match: a block, and the number of the match in it.
type hit struct {
	block *Block
	index int // of the block
	nth   int
}

// lit is a match in a drawn block: cells of one of its lines.
type lit struct{ line, from, to, nth int }

// start opens the search line.
func (f *search) start() {
	if f.open {
		return
	}
	from := f.chat.first()
	*f = search{chat: f.chat, open: true, id: f.id + 1, at: -1, from: from, was: f.chat.scrolledUp}
	f.chat.reserved, f.chat.drawn = 1, false
}

// leave closes the search line and keeps the view.
func (f *search) leave() {
	f.open, f.hits = false, nil
	f.chat.reserved, f.chat.drawn = 0, false
}

// seek searches for a new text from where the search started: the first match
// there or below, else the last one above.
func (f *search) seek(query string) {
	f.query = query
	f.id++
	f.on = hit{}
	f.count()
	f.at = -1
	for i, h := range f.hits {
		f.at = i
		if h.index >= f.from.Block {
			break
		}
	}
	switch {
	case f.at >= 0:
		f.showHit()
	case f.was:
		f.chat.scrolledUp, f.chat.top = true, f.from
	default:
		f.chat.ToEnd()
	}
	f.chat.drawn = false
}

// count finds all matches. It reuses the counts of unchanged blocks.
func (f *search) count() {
	f.hits, f.edition = f.hits[:0], f.chat.edition
	if f.query == "" {
		return
	}
	query, exact := f.folded()
	for i, b := range f.chat.Blocks {
		if b.counted != f.id || !b.looked {
			text := f.textOf(b)
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
	if exact = strings.ContainsFunc(f.query, unicode.IsUpper); exact {
		return f.query, true
	}
	return strings.ToLower(f.query), false
}

// textOf returns the text of a block, if possible without drawing it.
func (f *search) textOf(b *Block) string {
	if b.looked {
		return b.plain
	}
	switch {
	case b.text != nil:
		b.plain = unmarked(b.text())
	default:
		b.plain = ansi.Strip(draw.Unbroken(b.Typeset(max(f.chat.width, 80))))
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
func (f *search) step(n int) {
	if f.edition != f.chat.edition {
		f.count()
	}
	if len(f.hits) == 0 {
		return
	}
	f.at = (f.at + n + len(f.hits)) % len(f.hits)
	f.showHit()
	f.chat.drawn = false
}

// showHit scrolls the match into view.
func (f *search) showHit() {
	f.on = f.hits[f.at]
	at := draw.Spot{Block: f.on.index}
	found := f.matches(f.on.index)
	if len(found) > 0 {
		at.Line = found[0].line
	}
	for _, m := range found {
		if m.nth == min(f.on.nth, found[len(found)-1].nth) {
			at.Line = m.line
			break
		}
	}
	f.chat.show(at)
}

// matches returns the matches in a block as drawn.
func (f *search) matches(index int) []lit {
	b := f.chat.Blocks[index]
	lines := f.chat.LinesOf(index)
	if b.found == nil || b.foundBy != f.id {
		query, exact := f.folded()
		b.found, b.foundBy = litIn(lines, query, exact), f.id
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

// highlighted returns the visible lines with matches highlighted.
func (f *search) highlighted() []string {
	if f.open && f.edition != f.chat.edition {
		f.count()
	}
	out := make([]string, len(f.chat.shown))
	for i, line := range f.chat.shown {
		out[i] = line.Text
		if !f.open || f.query == "" || line.Block < 0 || f.chat.Blocks[line.Block].hits == 0 {
			continue
		}
		found := f.matches(line.Block)
		var marks []draw.Mark
		for _, m := range found {
			if m.line != line.Line {
				continue
			}
			now := f.at >= 0 && f.on.block == f.chat.Blocks[line.Block] && m.nth == min(f.on.nth, found[len(found)-1].nth)
			marks = append(marks, draw.Mark{From: m.from, To: m.to, Style: f.chat.styles.HitStyle(now)})
		}
		out[i] = draw.Restyle(line.Text, marks...)
	}
	return out
}

// line draws the line over the input: the query and the result.
func (f *search) line(width int) string {
	query, state := f.parts(width)
	return f.chat.styles.Sides(query, state, width)
}

// parts returns the query and the result of the search.
func (f *search) parts(width int) (query, state string) {
	l := f.chat.styles
	switch {
	case f.query == "":
		state = l.Faint.Render("type what to find")
	case len(f.hits) == 0:
		state = l.Warning.Render("not found")
	default:
		state = l.Muted.Render(fmt.Sprintf("%d of %d", f.at+1, len(f.hits)))
	}
	head := l.Accent.Render("find ")
	room := width - draw.VisibleWidth(head) - draw.VisibleWidth(state) - 3
	return head + l.Strong.Render(l.CutLeft(visibleQuery(f.query), max(room, 1))), state
}

// visibleQuery returns the query in drawable form, with its spaces.
func visibleQuery(s string) string {
	return strings.ReplaceAll(untrusted.Visible(s), "\n", " ")
}

// cursor returns the column of the cursor in the search line.
func (f *search) cursor() int {
	head, _ := f.parts(f.chat.width)
	return draw.VisibleWidth(head)
}

// searchActions are the actions of the open search.
func searchActions() keymap.Table[*search] {
	return keymap.Table[*search]{
		{ID: "search.next", Keys: "enter down ctrl+n ctrl+f", Does: "search: next match (also ctrl+n)", Do: keymap.Calls(func(f *search) { f.step(1) })},
		{ID: "search.previous", Keys: "up ctrl+p shift+enter", Does: "search: previous match (also ctrl+p)", Do: keymap.Calls(func(f *search) { f.step(-1) })},
	}
}

// erasing are the actions that erase more than a letter of the open search.
func erasing() keymap.Table[*search] {
	return keymap.Table[*search]{
		{ID: "search.erase_word", Keys: "ctrl+w alt+backspace", Does: "erase a word of the search", Do: keymap.Calls((*search).eraseWord)},
		{ID: "search.erase_all", Keys: "ctrl+u", Does: "erase the search", Do: keymap.Calls(func(f *search) { f.seek("") })},
	}
}

// SearchLines returns the keys and words of the actions of the open search.
func SearchLines() keymap.Lines { return searchActions().Lines() }

// ErasingLines returns those of the actions that erase more than a letter of it.
func ErasingLines() keymap.Lines { return erasing().Lines() }

// actions returns the actions of the open search.
func (f *search) actions() keymap.Handlers {
	page := max(f.chat.height-2, 1)
	return searchActions().For(f).With(erasing().For(f), keymap.Handlers{
		"dialog.leave":   {Do: keymap.Just(f.leave)},
		"move.page_up":   {Do: keymap.Just(func() { f.chat.Scroll(page) })},
		"move.page_down": {Do: keymap.Just(func() { f.chat.Scroll(-page) })},
	}, keymap.Searching(f.query, f.seek))
}

// eraseWord erases the last word of the query.
func (f *search) eraseWord() {
	head := strings.TrimRight(f.query, " ")
	f.seek(head[:strings.LastIndex(head, " ")+1])
}

// SearchHints returns the keys of the open search for the footer.
func SearchHints(k *keymap.Map) []keymap.Hint {
	return []keymap.Hint{k.Hint("next", "search.next"), k.Hint("previous", "search.previous"), k.Hint("leave", "dialog.leave")}
}
