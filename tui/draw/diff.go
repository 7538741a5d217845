package draw

import (
	"fmt"
	"image/color"
	"slices"
	"sort"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"

	"replan/internal/untrusted"
	"replan/themes"
	"replan/tui/patch"
	"replan/tui/wording"
)

// DiffView is how two versions of a file are shown.
type DiffView int

const (
	diffByWidth DiffView = iota // side by side if there is room for both
	diffUnified
	diffSplit
)

// Minimum document widths, in cells. They are for side-by-side diffs by default and at
// all, for both line numbers in a unified diff, and for any line numbers.
const (
	splitFrom    = 132
	SplitAtLeast = 60
	twoNumbers   = 56
	numbersFrom  = 24
)

// Range is a range of lines: From is the first, To the line after the last.
type Range struct{ From, To int }

// ChangeCount returns the number of added and removed lines, with the theme's
// signs.
func (l *Styles) ChangeCount(added, removed int) string {
	return l.Added.Render(l.Glyphs.Added+strconv.Itoa(added)) + " " + l.Removed.Render(l.Glyphs.Removed+strconv.Itoa(removed))
}

// splits reports whether a document of that width shows diffs side by side.
func (l *Styles) splits(width int) bool {
	switch l.Diffs {
	case diffUnified:
		return false
	case diffSplit:
		return width >= SplitAtLeast
	default:
		return width >= splitFrom
	}
}

// TurnDiffs switches between side-by-side and unified diffs. It returns why not
// if a document of that width is too narrow.
func (l *Styles) TurnDiffs(width int) (refused string) {
	switch {
	case l.splits(width):
		l.Diffs = diffUnified
	case width < SplitAtLeast:
		return fmt.Sprintf("Side by side needs %d columns, not %d.", SplitAtLeast, width)
	default:
		l.Diffs = diffSplit
	}
	return ""
}

// DiffRows lays out a diff and draws any of its rows. It is a leaf whose lines are the rows.
type DiffRows struct {
	styles *Styles
	width  int
	split  bool
	patch  patch.Patch
	texts  []string     // drawable text of each line
	items  []patch.Pair // lines with rows of their own: side by side, or only on the left
	starts []int        // first row of each item, and the end
	digits int          // of the longest number
	side   int          // width of one side in a split view, in cells
	room   int          // width of a line's text, in cells

	words   map[int][]patch.Span // changed words of a line; filled for whole blocks
	partner []int                // the line that replaced a line, or that it replaced; -1 for none
	code    codePaint
	grounds map[patch.Kind]themes.DiffBackground

	drawn     int // last drawn item, and its rows
	drawnRows []string
}

// NewDiff parses a unified diff and lays it out for a width in cells.
func NewDiff(l *Styles, width int, text string) *DiffRows {
	return NewDiffRows(l, width, patch.Parse(text))
}

// NewDiffRows lays out a diff for a width in cells.
func NewDiffRows(l *Styles, width int, p patch.Patch) *DiffRows {
	r := &DiffRows{styles: l, width: max(width, 1), split: l.splits(width), patch: p, words: map[int][]patch.Span{}, drawn: -1}
	r.texts = make([]string, len(p.Lines))
	for i := range p.Lines {
		r.texts[i] = wording.VisibleBlanks(untrusted.Visible(p.Lines[i].Text))
		if l.Theme.Mode.ASCII && p.Lines[i].Kind == patch.Heading {
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
	added, removed := l.Theme.DiffBackgrounds()
	r.grounds = map[patch.Kind]themes.DiffBackground{patch.Added: added, patch.Removed: removed}
	r.starts = make([]int, len(r.items)+1)
	at := 0
	for i, item := range r.items {
		r.starts[i] = at
		at += r.height(item)
	}
	r.starts[len(r.items)] = at
	return r
}

// gutter returns the width before a line's text in a unified diff, sign
// included.
func (r *DiffRows) gutter() int {
	switch {
	case r.digits == 0:
		return 1
	case r.width >= twoNumbers:
		return 2*r.digits + 3
	default:
		return r.digits + 2
	}
}

// Count returns the number of rows.
func (r *DiffRows) Count() int { return r.starts[len(r.items)] }

// whole reports whether an item takes the full width, as headings and notes
// outside both files do.
func (r *DiffRows) whole(item patch.Pair) bool {
	return item.Left >= 0 && r.patch.Lines[item.Left].Kind >= patch.Heading
}

// height returns the number of rows of an item.
func (r *DiffRows) height(item patch.Pair) int {
	if r.whole(item) {
		return len(r.title(item.Left))
	}
	rows := 1
	for _, i := range []int{item.Left, item.Right} {
		if i >= 0 {
			rows = max(rows, countRows(r.texts[i], r.room))
		}
	}
	return rows
}

// changes returns the rows of each changed line, counted from a first row. A line
// of a diff without changed lines, as for a moved file, counts as changed.
func (r *DiffRows) changes(first int) []Range {
	at := make([]Range, len(r.patch.Lines))
	for n, item := range r.items {
		for _, i := range []int{item.Left, item.Right} {
			if i >= 0 {
				at[i] = Range{first + r.starts[n], first + r.starts[n+1]}
			}
		}
	}
	every := r.patch.Added+r.patch.Removed == 0
	var out []Range
	for i, line := range r.patch.Lines {
		if every || line.Kind == patch.Added || line.Kind == patch.Removed || line.File < 0 {
			out = append(out, at[i])
		}
	}
	return out
}

// starting returns the first row of each part that begins with a line of a kind, counted
// from a first row.
func (r *DiffRows) starting(kind patch.Kind, first int) (rows []int) {
	for n, item := range r.items {
		if item.Left >= 0 && r.patch.Lines[item.Left].Kind == kind {
			rows = append(rows, first+r.starts[n])
		}
	}
	return rows
}

// Rows returns row i as the line of a sheet.
func (r *DiffRows) Rows(i, _ int) []string { return []string{r.row(i)} }

// row draws a row.
func (r *DiffRows) row(at int) string {
	i := sort.SearchInts(r.starts, at+1) - 1
	if i != r.drawn {
		r.drawn, r.drawnRows = i, r.draw(r.items[i])
	}
	return r.drawnRows[at-r.starts[i]]
}

// draw draws the rows of an item.
func (r *DiffRows) draw(item patch.Pair) []string {
	if r.whole(item) {
		return r.title(item.Left)
	}
	if !r.split {
		return r.line(item.Left, r.numbers(item.Left), r.width)
	}
	height := r.height(item)
	left, right := r.half(item.Left, false), r.half(item.Right, true)
	guide := " " + r.styles.Border.Render(r.styles.Glyphs.Guide) + " "
	out := make([]string, height)
	for i := range out {
		out[i] = r.styles.Fit(At(left, i), r.side) + guide + At(right, i)
	}
	return out
}

// half draws one side of a side-by-side line.
func (r *DiffRows) half(i int, after bool) []string {
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

// numbers returns the line numbers before a line of a unified diff.
func (r *DiffRows) numbers(i int) string {
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

// title draws a line outside both files: a file heading, a hunk heading or a
// note.
func (r *DiffRows) title(i int) []string {
	l, line := r.styles, r.patch.Lines[i]
	switch line.Kind {
	case patch.Heading:
		f := r.patch.Files[line.File]
		rows := Paint(l.Strong, WrapCode(r.texts[i], r.width))
		count := l.ChangeCount(f.Added, f.Removed)
		if last := len(rows) - 1; VisibleWidth(rows[last])+2+VisibleWidth(count) <= r.width {
			rows[last] += "  " + count
		} else {
			rows = append(rows, l.Cut(count, r.width))
		}
		if i > 0 {
			rows = append([]string{""}, rows...)
		}
		return rows
	case patch.Hunk:
		return Paint(l.Hunk, WrapCode(r.texts[i], r.width))
	default:
		return Paint(l.Muted, WrapCode(r.texts[i], r.width))
	}
}

// line draws a line of a file in rows of at most width cells: number, sign and
// text. It wraps long text and never cuts it.
func (r *DiffRows) line(i int, gutter string, width int) []string {
	l, text := r.styles, r.texts[i]
	sign, style := " ", l.Muted
	switch r.patch.Lines[i].Kind {
	case patch.Added:
		sign, style = "+", l.Added
	case patch.Removed:
		sign, style = "-", l.Removed
	}
	background := r.grounds[r.patch.Lines[i].Kind]
	runs := r.runs(i, style)
	var rows []string
	for n, part := range CodeRows(text, r.room) {
		rows = append(rows, l.Faint.Render(gutter)+laid(style.Bold(sign != " "), background.Line).Render(sign)+PaintRow(text, runs, part))
		if left := width - VisibleWidth(rows[n]); left > 0 && background.Line != nil {
			rows[n] += laid(lipgloss.NewStyle(), background.Line).Render(strings.Repeat(" ", left))
		}
		gutter, sign = strings.Repeat(" ", len(gutter)), " "
	}
	return rows
}

// laid sets the background of a style; nil means none.
func laid(style lipgloss.Style, under color.Color) lipgloss.Style {
	if under == nil {
		return style
	}
	return style.Background(under)
}

// Run is a part of a line drawn in one style.
type Run struct {
	patch.Span
	Style lipgloss.Style
}

// runs returns the parts of a line: highlighted as code if possible, else in
// the given style, with changed words underlined.
func (r *DiffRows) runs(i int, style lipgloss.Style) []Run {
	background := r.grounds[r.patch.Lines[i].Kind]
	code := r.code.runs(i)
	if code == nil || background.Line == nil && r.patch.Lines[i].Kind != patch.Same {
		code = []Run{{patch.Span{From: 0, To: len(r.texts[i])}, style}}
	}
	runs := make([]Run, len(code))
	for n, c := range code {
		runs[n] = Run{c.Span, laid(c.Style, background.Line)}
	}
	for _, word := range r.changed(i) {
		runs = Emphasize(runs, word, background.Words)
	}
	return runs
}

// changed returns the words of a line that differ from its counterpart in the
// other version.
func (r *DiffRows) changed(i int) []patch.Span {
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

// Emphasize makes a part of runs bold and underlined.
func Emphasize(runs []Run, part patch.Span, under color.Color) []Run {
	out := make([]Run, 0, len(runs)+2)
	for _, r := range runs {
		from, to := max(r.From, part.From), min(r.To, part.To)
		if from >= to {
			out = append(out, r)
			continue
		}
		if r.From < from {
			out = append(out, Run{patch.Span{From: r.From, To: from}, r.Style})
		}
		out = append(out, Run{patch.Span{From: from, To: to}, laid(r.Style.Bold(true).Underline(true), under)})
		if to < r.To {
			out = append(out, Run{patch.Span{From: to, To: r.To}, r.Style})
		}
	}
	return out
}
