package tui

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/themes"
	"replan/tui/untrusted"
)

// A sheet is what a pane scrolls through that may be very long: leaves below each
// other, of which only what is in view is made safe, highlighted and wrapped. So
// a frame costs the same however long they are.
type sheet struct {
	look   *look
	width  int
	leaves []leaf
	starts []int // the first line of each leaf
	total  int   // lines of all
	cut    map[int][]string
}

// leaf is a part of a sheet: lines as they were written, each of which comes to
// one row or more.
type leaf interface {
	count() int
	rows(i, width int) []string
}

// sheetSpot is a place in a sheet: a line of it, and a row of that.
type sheetSpot struct{ line, row int }

func (s sheetSpot) before(t sheetSpot) bool {
	return s.line < t.line || s.line == t.line && s.row < t.row
}

func newSheet(l *look, width int, leaves []leaf) *sheet {
	s := &sheet{look: l, width: width, leaves: leaves, cut: map[int][]string{}}
	for _, f := range leaves {
		s.starts = append(s.starts, s.total)
		s.total += f.count()
	}
	return s
}

// rows are those of a line, at least one.
func (s *sheet) rows(line int) []string {
	if rows, ok := s.cut[line]; ok {
		return rows
	}
	i := sort.SearchInts(s.starts, line+1) - 1
	for s.leaves[i].count() == 0 {
		i-- // an empty leaf begins where the next does
	}
	rows := s.leaves[i].rows(line-s.starts[i], s.width)
	if len(rows) == 0 {
		rows = []string{""}
	}
	const kept = 4096 // lines; more are cut anew
	if len(s.cut) >= kept {
		clear(s.cut)
	}
	s.cut[line] = rows
	return rows
}

// move is the sheetSpot that many rows from another, within the sheet.
func (s *sheet) move(at sheetSpot, by int) sheetSpot {
	if s.total == 0 {
		return sheetSpot{}
	}
	for ; by > 0; by-- {
		if at.row+1 < len(s.rows(at.line)) {
			at.row++
		} else if at.line+1 < s.total {
			at = sheetSpot{at.line + 1, 0}
		} else {
			break
		}
	}
	for ; by < 0; by++ {
		if at.row > 0 {
			at.row--
		} else if at.line > 0 {
			at.line--
			at.row = len(s.rows(at.line)) - 1
		} else {
			break
		}
	}
	return at
}

// last is the sheetSpot from which the end is in view.
func (s *sheet) last(height int) sheetSpot {
	if s.total == 0 {
		return sheetSpot{}
	}
	end := sheetSpot{s.total - 1, 0}
	end.row = len(s.rows(end.line)) - 1
	return s.move(end, 1-height)
}

// view is height rows of exactly the sheet's width from a sheetSpot on, which it
// brings within bounds.
func (s *sheet) view(top *sheetSpot, height int) []string {
	if s.total == 0 || height <= 0 {
		return s.look.block(nil, s.width, max(height, 0))
	}
	top.line = max(min(top.line, s.total-1), 0)
	top.row = max(min(top.row, len(s.rows(top.line))-1), 0)
	if last := s.last(height); last.before(*top) {
		*top = last
	}
	var out []string
	for at := *top; len(out) < height && at.line < s.total; at = (sheetSpot{at.line + 1, 0}) {
		out = append(out, s.rows(at.line)[at.row:]...)
	}
	return s.look.block(out, s.width, height)
}

// place says which lines are in view, where they are not all.
func (s *sheet) place(top sheetSpot, height int) string {
	end := s.move(top, height-1)
	if top == (sheetSpot{}) && end.line == s.total-1 && end.row == len(s.rows(end.line))-1 || s.total == 0 {
		return ""
	}
	return s.look.Faint.Render(fmt.Sprintf("%d-%d of %d", top.line+1, end.line+1, s.total))
}

// drawn is a leaf of rows that are drawn already.
type drawn []string

func (d drawn) count() int               { return len(d) }
func (d drawn) rows(i, _ int) []string   { return d[i : i+1] }
func (p *sheetPage) put(f leaf)          { p.flush(); p.leaves = append(p.leaves, f) }
func (p *sheetPage) heading(text string) { p.blank(); p.lines = append(p.lines, p.title(text)) }

func (p *sheetPage) title(text string) string { return p.look.Accent.Render(p.look.cut(text, p.width)) }

// sheetPage collects the leaves of a sheet: what is short as a document, what is long
// by itself.
type sheetPage struct {
	document
	leaves []leaf
}

func newSheetPage(l *look, width int) *sheetPage {
	return &sheetPage{document: document{look: l, width: width}}
}

// flush makes a leaf of the document so far.
func (p *sheetPage) flush() {
	if len(p.lines) > 0 {
		p.leaves = append(p.leaves, drawn(p.lines))
		p.lines = nil
	}
}

// blank parts what follows from what stands there.
func (p *sheetPage) blank() {
	if len(p.lines) == 0 && len(p.leaves) > 0 {
		p.lines = append(p.lines, "")
		return
	}
	p.document.blank()
}

// all is every leaf.
func (p *sheetPage) all() []leaf {
	p.flush()
	return p.leaves
}

const (
	// longestLine is how long a line of text may be, in bytes: what is longer is
	// cut into such lines, so that one line never costs more than that.
	longestLine = 4 << 10
	// codeChunk is how many lines are highlighted at once.
	codeChunk = 24
)

// text is a leaf of text from outside. It is looked at as it comes into view.
type text struct {
	look     *look
	lines    []string
	style    func(line string) lipgloss.Style // of each line
	language string                           // that it is highlighted as; "" is none
	prose    bool                             // it is wrapped between words
	guide    bool                             // it stands right of a line
	code     map[int][][]themes.CodeSpan
}

// newText is a leaf of text in one style.
func newText(l *look, style lipgloss.Style, s string) *text {
	return &text{look: l, lines: splitLines(s), style: func(string) lipgloss.Style { return style }, prose: true}
}

// newCode is a leaf of text in which every blank is kept.
func newCode(l *look, language, s string) *text {
	t := newText(l, l.Text, s)
	t.prose, t.language = false, language
	return t
}

// splitLines parts text into lines without copying it. It leaves out the line
// break at the end.
func splitLines(s string) []string {
	s = strings.TrimRight(s, "\n")
	lines := make([]string, 0, strings.Count(s, "\n")+1)
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.TrimSuffix(line, "\r")
		for len(line) > longestLine {
			at := longestLine
			for at > longestLine-utf8.UTFMax && !utf8.RuneStart(line[at]) {
				at--
			}
			lines = append(lines, line[:at])
			line = line[at:]
		}
		lines = append(lines, line)
	}
	return lines
}

func (t *text) count() int { return len(t.lines) }

func (t *text) rows(i, width int) []string {
	lead := ""
	if t.guide {
		lead = t.look.Border.Render(t.look.glyphs.Guide) + " "
		width -= 2
	}
	if width <= 0 {
		return nil
	}
	var out []string
	switch {
	case t.language != "":
		for _, row := range wrapSpans(t.spans(i), width) {
			out = append(out, lead+t.look.theme.Paint(row))
		}
	default:
		line := untrusted.Visible(t.lines[i])
		split := wrapKept
		if t.prose {
			split = wrap
		}
		for _, row := range paint(t.style(line), split(line, width)) {
			out = append(out, lead+row)
		}
	}
	return out
}

// spans is line i highlighted, with those beside it.
func (t *text) spans(i int) []themes.CodeSpan {
	chunk := i / codeChunk
	if t.code == nil {
		t.code = map[int][][]themes.CodeSpan{}
	}
	lines, ok := t.code[chunk]
	if !ok {
		from, to := chunk*codeChunk, min((chunk+1)*codeChunk, len(t.lines))
		safe := make([]string, to-from)
		for j := range safe {
			safe[j] = untrusted.Visible(t.lines[from+j])
		}
		lines = themes.Code(strings.Join(safe, "\n"), t.language)
		t.code[chunk] = lines
	}
	if at := i - chunk*codeChunk; at < len(lines) {
		return lines[at]
	}
	return nil
}

// wrapSpans breaks a line of code into rows of at most width cells.
func wrapSpans(line []themes.CodeSpan, width int) [][]themes.CodeSpan {
	rows := [][]themes.CodeSpan{nil}
	room := width
	for _, s := range line {
		for rest := s.Text; rest != ""; {
			if w := ansi.StringWidth(rest); w <= room {
				rows[len(rows)-1] = append(rows[len(rows)-1], themes.CodeSpan{Text: rest, Kind: s.Kind})
				room -= w
				break
			}
			head := ansi.Truncate(rest, room, "")
			if head == "" && room == width {
				break // a letter wider than the whole line
			}
			if head != "" {
				rows[len(rows)-1] = append(rows[len(rows)-1], themes.CodeSpan{Text: head, Kind: s.Kind})
				rest = rest[len(head):]
			}
			rows, room = append(rows, nil), width
		}
	}
	return rows
}
