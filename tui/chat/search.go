package chat

import (
	"fmt"
	"strings"

	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// search is a search in the chat. It covers the text of every block, drawn or
// not, but highlights matches only in visible blocks.
type search struct {
	chat    *viewport
	styles  *draw.Styles
	open    bool
	typed   string
	query   query
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

// newSearch returns the closed search of a chat. Where it starts stays at its text.
func newSearch(chat *viewport, l *draw.Styles) *search {
	f := &search{chat: chat, styles: l}
	chat.holdTo(&f.from)
	return f
}

// start opens the search line.
func (f *search) start() {
	if f.open {
		return
	}
	from := f.chat.first()
	*f = search{chat: f.chat, styles: f.styles, open: true, query: newQuery("", f.query.id+1), at: -1, from: from, was: f.chat.isScrolledUp()}
	f.chat.reserve(1)
}

// leave closes the search line and keeps the view.
func (f *search) leave() {
	f.open, f.hits = false, nil
	f.chat.reserve(0)
}

// isOpen reports whether the search line is open.
func (f *search) isOpen() bool { return f.open }

// add searches for the text typed so far and more.
func (f *search) add(text string) { f.seek(f.typed + text) }

// seek searches for a new text from where the search started: the first match
// there or below, else the last one above.
func (f *search) seek(typed string) {
	f.typed, f.query = typed, newQuery(typed, f.query.id+1)
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
		f.chat.scrollTo(f.from)
	default:
		f.chat.ToEnd()
	}
	f.chat.refresh()
}

// count finds all matches. It reuses the counts of unchanged blocks.
func (f *search) count() {
	f.hits, f.edition = f.hits[:0], f.chat.editionOfText()
	if f.typed == "" {
		return
	}
	for i, b := range f.chat.Blocks {
		for n := range b.count(f.query, f.chat.size().W) {
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

// step moves to the n-th next match and wraps around.
func (f *search) step(n int) {
	if f.edition != f.chat.editionOfText() {
		f.count()
	}
	if len(f.hits) == 0 {
		return
	}
	f.at = (f.at + n + len(f.hits)) % len(f.hits)
	f.showHit()
	f.chat.refresh()
}

// showHit scrolls the match into view.
func (f *search) showHit() {
	f.on = f.hits[f.at]
	at := draw.Spot{Block: f.on.index}
	found := f.places(f.on.index)
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

// places returns the matches in a block as drawn.
func (f *search) places(index int) []lit {
	return f.chat.Blocks[index].places(f.query, f.chat.LinesOf(index))
}

// highlighted returns the visible lines with matches highlighted.
func (f *search) highlighted() []string {
	if f.open && f.edition != f.chat.editionOfText() {
		f.count()
	}
	shown := f.chat.Visible()
	out := make([]string, len(shown))
	for i, line := range shown {
		out[i] = line.Text
		if !f.open || f.typed == "" || line.Block < 0 || !f.chat.Blocks[line.Block].matched() {
			continue
		}
		found := f.places(line.Block)
		var marks []draw.Mark
		for _, m := range found {
			if m.line != line.Line {
				continue
			}
			now := f.at >= 0 && f.on.block == f.chat.Blocks[line.Block] && m.nth == min(f.on.nth, found[len(found)-1].nth)
			marks = append(marks, draw.Mark{From: m.from, To: m.to, Style: f.styles.HitStyle(now)})
		}
		out[i] = draw.Restyle(line.Text, marks...)
	}
	return out
}

// line draws the line over the input: the query and the result.
func (f *search) line(width int) string {
	query, state := f.parts(width)
	return f.styles.Sides(query, state, width)
}

// parts returns the query and the result of the search.
func (f *search) parts(width int) (query, state string) {
	l := f.styles
	switch {
	case f.typed == "":
		state = l.Faint.Render("type what to find")
	case len(f.hits) == 0:
		state = l.Warning.Render("not found")
	default:
		state = l.Muted.Render(fmt.Sprintf("%d of %d", f.at+1, len(f.hits)))
	}
	head := l.Accent.Render("find ")
	room := width - draw.VisibleWidth(head) - draw.VisibleWidth(state) - 3
	return head + l.Strong.Render(l.CutLeft(visibleQuery(f.typed), max(room, 1))), state
}

// visibleQuery returns the query in drawable form, with its spaces.
func visibleQuery(s string) string {
	return strings.ReplaceAll(untrusted.Visible(s), "\n", " ")
}

// cursor returns the column of the cursor in the search line.
func (f *search) cursor() int {
	head, _ := f.parts(f.chat.size().W)
	return draw.VisibleWidth(head)
}

// searchActions are the actions of the open search.
func searchActions() keymap.Table[*search] {
	return keymap.Table[*search]{
		{ID: "search.next", Keys: "enter down ctrl+n ctrl+f", Does: "search: next match (also ctrl+n)", Do: keymap.Calls(func(f *search) { f.step(1) })},
		{ID: "search.previous", Keys: "up ctrl+p shift+enter", Does: "search: previous match (also ctrl+p)", Do: keymap.Calls(func(f *search) { f.step(-1) })},
		{ID: "move.page_up", Do: keymap.Calls(func(f *search) { f.scroll(1) })},
		{ID: "move.page_down", Do: keymap.Calls(func(f *search) { f.scroll(-1) })},
		{ID: "dialog.leave", Do: keymap.Calls((*search).leave)},
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
	return searchActions().For(f).With(erasing().For(f), keymap.Searching(f.typed, f.seek))
}

// scroll scrolls the chat up by so many pages.
func (f *search) scroll(pages int) { f.chat.Scroll(pages * max(f.chat.size().H-2, 1)) }

// eraseWord erases the last word of the query.
func (f *search) eraseWord() {
	head := strings.TrimRight(f.typed, " ")
	f.seek(head[:strings.LastIndex(head, " ")+1])
}

// SearchHints returns the keys of the open search for the footer.
func SearchHints(k *keymap.Map) []keymap.Hint {
	return []keymap.Hint{k.Hint("next", "search.next"), k.Hint("previous", "search.previous"), k.Hint("leave", "dialog.leave")}
}
