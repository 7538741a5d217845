package tui

import (
	"fmt"
	"image/color"
	"slices"
	"sort"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"

	"replan/themes"
	"replan/tui/patch"
	"replan/tui/untrusted"
)

// How two versions of a file are shown.
type diffView int

const (
	diffByWidth diffView = iota // side by side where there is room for both
	diffUnified
	diffSplit
)

// The narrowest documents, in cells: in which diffs are side by side by
// themselves, in which they can be so at all, in which a unified diff has the
// numbers of both files, and in which lines have numbers at all.
const (
	splitFrom    = 132
	splitAtLeast = 60
	twoNumbers   = 56
	numbersFrom  = 24
)

// diff adds a unified diff. It is laid out at once and drawn as it comes into
// view, so that a long one opens as fast as a short one.
func (d *document) diff(text string) { d.patch(patch.Parse(text)) }

func (d *document) patch(p patch.Patch) {
	rows := newDiffRows(d.look, d.width, p)
	d.later(rows.count(), rows.row)
	d.diffs = d.diffs || rows.count() > 0
}

// changes adds a diff, and before one of several files how much it changes.
func (d *document) changes(text string) {
	p := patch.Parse(text)
	if len(p.Files) > 1 {
		d.lines = append(d.lines, d.look.cut(d.look.Muted.Render(plural(len(p.Files), "file"))+" "+d.look.changeCount(p.Added, p.Removed), d.width))
	}
	d.patch(p)
}

// changeCount is how many lines a diff changes, with the signs of the screen.
func (l *look) changeCount(added, removed int) string {
	return l.Added.Render(l.glyphs.Added+strconv.Itoa(added)) + " " + l.Removed.Render(l.glyphs.Removed+strconv.Itoa(removed))
}

// splits reports whether diffs stand side by side in a document of that width.
func (l *look) splits(width int) bool {
	switch l.diffs {
	case diffUnified:
		return false
	case diffSplit:
		return width >= splitAtLeast
	default:
		return width >= splitFrom
	}
}

// turnDiffs shows diffs the other way, and says why not where there is no room
// in a document of that width.
func (l *look) turnDiffs(width int) (refused string) {
	switch {
	case l.splits(width):
		l.diffs = diffUnified
	case width < splitAtLeast:
		return fmt.Sprintf("Side by side takes %d columns; here are %d.", splitAtLeast, width)
	default:
		l.diffs = diffSplit
	}
	return ""
}

// diffRows lays out a diff and draws any row of it.
type diffRows struct {
	look   *look
	width  int
	split  bool
	patch  patch.Patch
	texts  []string     // of each line, as it can be drawn
	items  []patch.Pair // what stands on rows of its own; side by side, or left alone
	starts []int        // the first row of each item, and the end
	digits int          // of the longest number
	side   int          // the cells of one side, where there are two
	room   int          // cells for the text of a line

	words   map[int][]patch.Span // the changed words of a line; filled for whole blocks
	partner []int                // the line in whose place one came, and the other way round; -1 for none
	code    codePaint
	grounds map[patch.Kind]themes.Ground

	drawn     int // the item that was drawn last, and its rows
	drawnRows []string
}

func newDiffRows(l *look, width int, p patch.Patch) *diffRows {
	r := &diffRows{look: l, width: max(width, 1), split: l.splits(width), patch: p, words: map[int][]patch.Span{}, drawn: -1}
	r.texts = make([]string, len(p.Lines))
	for i := range p.Lines {
		r.texts[i] = untrusted.Visible(p.Lines[i].Text)
		if l.theme.Mode.ASCII && p.Lines[i].Kind == patch.Heading {
			r.texts[i] = strings.Replace(r.texts[i], " → ", " -> ", 1)
		}
	}
	if width >= numbersFrom {
		r.digits = len(strconv.Itoa(p.Longest))
	}
	r.partner = slices.Repeat([]int{-1}, len(p.Lines))
	pairs := p.Pairs()
	for _, pair := range pairs {
		if pair.Left >= 0 && pair.Right >= 0 && pair.Left != pair.Right {
			r.partner[pair.Left], r.partner[pair.Right] = pair.Right, pair.Left
		}
	}
	if r.split {
		r.side = (r.width - 3) / 2
		r.room = max(r.side-r.digits-2, 1)
		r.items = pairs
	} else {
		r.room = max(r.width-r.gutter(), 1)
		r.items = make([]patch.Pair, len(p.Lines))
		for i := range r.items {
			r.items[i] = patch.Pair{Left: i, Right: -1}
		}
	}
	r.code = newCodePaint(l, r)
	added, removed := l.theme.Grounds()
	r.grounds = map[patch.Kind]themes.Ground{patch.Added: added, patch.Removed: removed}
	r.starts = make([]int, len(r.items)+1)
	at := 0
	for i, item := range r.items {
		r.starts[i] = at
		at += r.height(item)
	}
	r.starts[len(r.items)] = at
	return r
}

// gutter is the cells before the text of a line in a unified diff, its sign
// included.
func (r *diffRows) gutter() int {
	switch {
	case r.digits == 0:
		return 1
	case r.width >= twoNumbers:
		return 2*r.digits + 3
	default:
		return r.digits + 2
	}
}

func (r *diffRows) count() int { return r.starts[len(r.items)] }

// whole reports whether an item takes the whole width, as what belongs to
// neither file does.
func (r *diffRows) whole(item patch.Pair) bool {
	return item.Left >= 0 && r.patch.Lines[item.Left].Kind >= patch.Heading
}

// height is how many rows an item takes.
func (r *diffRows) height(item patch.Pair) int {
	if r.whole(item) {
		return len(r.title(item.Left))
	}
	rows := 1
	for _, i := range []int{item.Left, item.Right} {
		if i >= 0 {
			rows = max(rows, rowsOf(r.texts[i], r.room))
		}
	}
	return rows
}

// row draws a row.
func (r *diffRows) row(at int) string {
	i := sort.SearchInts(r.starts, at+1) - 1
	if i != r.drawn {
		r.drawn, r.drawnRows = i, r.draw(r.items[i])
	}
	return r.drawnRows[at-r.starts[i]]
}

// draw draws the rows of an item.
func (r *diffRows) draw(item patch.Pair) []string {
	if r.whole(item) {
		return r.title(item.Left)
	}
	if !r.split {
		return r.line(item.Left, r.numbers(item.Left), r.width)
	}
	height := r.height(item)
	left, right := r.half(item.Left, false), r.half(item.Right, true)
	guide := " " + r.look.Border.Render(r.look.glyphs.Guide) + " "
	out := make([]string, height)
	for i := range out {
		out[i] = r.look.fit(at(left, i), r.side) + guide + at(right, i)
	}
	return out
}

// half is one side of a line that stands beside another.
func (r *diffRows) half(i int, after bool) []string {
	if i < 0 {
		return nil
	}
	number := r.patch.Lines[i].Old
	if after {
		number = r.patch.Lines[i].New
	}
	gutter := ""
	if r.digits > 0 {
		gutter = fmt.Sprintf("%*d ", r.digits, number)
	}
	return r.line(i, gutter, r.side)
}

// numbers are those of a line before the text of a unified diff.
func (r *diffRows) numbers(i int) string {
	if r.digits == 0 {
		return ""
	}
	line := r.patch.Lines[i]
	number := func(n int) string {
		if n == 0 {
			return strings.Repeat(" ", r.digits+1)
		}
		return fmt.Sprintf("%*d ", r.digits, n)
	}
	if r.width >= twoNumbers {
		return number(line.Old) + number(line.New)
	}
	if line.New > 0 {
		return number(line.New)
	}
	return number(line.Old)
}

// title draws what belongs to neither file: the heading of a file or of a part
// of it, and remarks.
func (r *diffRows) title(i int) []string {
	l, line := r.look, r.patch.Lines[i]
	switch line.Kind {
	case patch.Heading:
		f := r.patch.Files[line.File]
		rows := paint(l.Strong, wrapCode(r.texts[i], r.width))
		count := l.changeCount(f.Added, f.Removed)
		if last := len(rows) - 1; visibleWidth(rows[last])+2+visibleWidth(count) <= r.width {
			rows[last] += "  " + count
		} else {
			rows = append(rows, l.cut(count, r.width))
		}
		if i > 0 {
			rows = append([]string{""}, rows...)
		}
		return rows
	case patch.Hunk:
		return paint(l.Hunk, wrapCode(r.texts[i], r.width))
	default:
		return paint(l.Muted, wrapCode(r.texts[i], r.width))
	}
}

// line draws a line of a file in rows of at most width cells: its number, its
// sign and its text, which is broken where it is too long and never cut.
func (r *diffRows) line(i int, gutter string, width int) []string {
	l, text := r.look, r.texts[i]
	sign, style := " ", l.Muted
	switch r.patch.Lines[i].Kind {
	case patch.Added:
		sign, style = "+", l.Added
	case patch.Removed:
		sign, style = "-", l.Removed
	}
	ground := r.grounds[r.patch.Lines[i].Kind]
	runs := r.runs(i, style)
	offsets := breaks(text, r.room)
	rows := make([]string, len(offsets))
	for n, from := range offsets {
		to := len(text)
		if n+1 < len(offsets) {
			to = offsets[n+1]
		}
		var b strings.Builder
		b.WriteString(l.Faint.Render(gutter))
		b.WriteString(laid(style.Bold(sign != " "), ground.Line).Render(sign))
		for _, run := range runs {
			if part := (patch.Span{From: max(run.From, from), To: min(run.To, to)}); part.From < part.To {
				b.WriteString(run.style.Render(text[part.From:part.To]))
			}
		}
		rows[n] = b.String()
		if left := width - visibleWidth(rows[n]); left > 0 && ground.Line != nil {
			rows[n] += laid(lipgloss.NewStyle(), ground.Line).Render(strings.Repeat(" ", left))
		}
		gutter, sign = strings.Repeat(" ", len(gutter)), " "
	}
	return rows
}

// laid lays a colour under a style; nil is none.
func laid(style lipgloss.Style, under color.Color) lipgloss.Style {
	if under == nil {
		return style
	}
	return style.Background(under)
}

// run is a part of a line that is drawn in one style.
type run struct {
	patch.Span
	style lipgloss.Style
}

// runs are the parts of a line: as code where it can be read as such, else in
// the given style, with the words that changed underlined.
func (r *diffRows) runs(i int, style lipgloss.Style) []run {
	ground := r.grounds[r.patch.Lines[i].Kind]
	code := r.code.runs(i)
	if code == nil || ground.Line == nil && r.patch.Lines[i].Kind != patch.Same {
		code = []run{{patch.Span{From: 0, To: len(r.texts[i])}, style}}
	}
	runs := make([]run, len(code))
	for n, c := range code {
		runs[n] = run{c.Span, laid(c.style, ground.Line)}
	}
	for _, word := range r.changed(i) {
		runs = emphasise(runs, word, ground.Words)
	}
	return runs
}

// changed are the words of a line that differ from the line in whose place it
// came.
func (r *diffRows) changed(i int) []patch.Span {
	other := r.partner[i]
	if other < 0 {
		return nil
	}
	if _, known := r.words[i]; !known {
		before, after := i, other
		if r.patch.Lines[i].Kind == patch.Added {
			before, after = other, i
		}
		r.words[before], r.words[after] = patch.Words(r.texts[before], r.texts[after])
	}
	return r.words[i]
}

// emphasise underlines a part of runs.
func emphasise(runs []run, part patch.Span, under color.Color) []run {
	out := make([]run, 0, len(runs)+2)
	for _, r := range runs {
		from, to := max(r.From, part.From), min(r.To, part.To)
		if from >= to {
			out = append(out, r)
			continue
		}
		if r.From < from {
			out = append(out, run{patch.Span{From: r.From, To: from}, r.style})
		}
		out = append(out, run{patch.Span{From: from, To: to}, laid(r.style.Bold(true).Underline(true), under)})
		if to < r.To {
			out = append(out, run{patch.Span{From: to, To: r.To}, r.style})
		}
	}
	return out
}

// diffLeaf is a unified diff, each row of it a line.
type diffLeaf struct{ *diffRows }

func newDiff(l *look, width int, text string) diffLeaf {
	return diffLeaf{newDiffRows(l, width, patch.Parse(text))}
}

func (d diffLeaf) rows(i, _ int) []string { return []string{d.row(i)} }
