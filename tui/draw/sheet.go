package draw

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"

	"charm.land/lipgloss/v2"

	"replan/internal/untrusted"
	"replan/themes"
)

// Sheet is a long text made of leaves that a pane scrolls through. It cleans,
// highlights and wraps only visible lines, so a frame costs the same at any
// length.
type Sheet struct {
	styles *Styles
	Width  int
	leaves []Leaf
	starts []int // first line of each leaf
	Total  int   // total number of lines
	cut    map[int][]string
}

// Leaf is a part of a sheet: unwrapped lines, each of which takes one row or
// more.
type Leaf interface {
	Count() int
	Rows(i, width int) []string
}

// SheetSpot is a position in a sheet: a line, and a row of that line.
type SheetSpot struct{ Line, Row int }

// Before reports whether s comes before t.
func (s SheetSpot) Before(t SheetSpot) bool {
	return s.Line < t.Line || s.Line == t.Line && s.Row < t.Row
}

// NewSheet returns a sheet of leaves for a width in cells.
func NewSheet(l *Styles, width int, leaves []Leaf) *Sheet {
	s := &Sheet{styles: l, Width: width, leaves: leaves, cut: map[int][]string{}}
	for _, f := range leaves {
		s.starts = append(s.starts, s.Total)
		s.Total += f.Count()
	}
	return s
}

// Rows returns the rows of a line, at least one.
func (s *Sheet) Rows(line int) []string {
	if rows, ok := s.cut[line]; ok {
		return rows
	}
	i := sort.SearchInts(s.starts, line+1) - 1
	for s.leaves[i].Count() == 0 {
		i-- // an empty leaf starts where the next one does
	}
	rows := s.leaves[i].Rows(line-s.starts[i], s.Width)
	if len(rows) == 0 {
		rows = []string{""}
	}
	const kept = 4096 // maximum number of cached lines
	if len(s.cut) >= kept {
		clear(s.cut)
	}
	s.cut[line] = rows
	return rows
}

// Move returns the spot that is by rows from at, within the sheet.
func (s *Sheet) Move(at SheetSpot, by int) SheetSpot {
	if s.Total == 0 {
		return SheetSpot{}
	}
	for ; by > 0; by-- {
		if at.Row+1 < len(s.Rows(at.Line)) {
			at.Row++
		} else if at.Line+1 < s.Total {
			at = SheetSpot{at.Line + 1, 0}
		} else {
			break
		}
	}
	for ; by < 0; by++ {
		if at.Row > 0 {
			at.Row--
		} else if at.Line > 0 {
			at.Line--
			at.Row = len(s.Rows(at.Line)) - 1
		} else {
			break
		}
	}
	return at
}

// Last returns the topmost spot from which the end is in view.
func (s *Sheet) Last(height int) SheetSpot {
	if s.Total == 0 {
		return SheetSpot{}
	}
	end := SheetSpot{s.Total - 1, 0}
	end.Row = len(s.Rows(end.Line)) - 1
	return s.Move(end, 1-height)
}

// View returns height rows of exactly the sheet's width, starting at top, which
// it keeps within bounds.
func (s *Sheet) View(top *SheetSpot, height int) []string {
	if s.Total == 0 || height <= 0 {
		return s.styles.Block(nil, s.Width, max(height, 0))
	}
	top.Line = max(min(top.Line, s.Total-1), 0)
	top.Row = max(min(top.Row, len(s.Rows(top.Line))-1), 0)
	if last := s.Last(height); last.Before(*top) {
		*top = last
	}
	var out []string
	for at := *top; len(out) < height && at.Line < s.Total; at = (SheetSpot{at.Line + 1, 0}) {
		out = append(out, s.Rows(at.Line)[at.Row:]...)
	}
	return s.styles.Block(out, s.Width, height)
}

// Place returns which lines are in view, or "" if all are.
func (s *Sheet) Place(top SheetSpot, height int) string {
	end := s.Move(top, height-1)
	if top == (SheetSpot{}) && end.Line == s.Total-1 && end.Row == len(s.Rows(end.Line))-1 || s.Total == 0 {
		return ""
	}
	return s.styles.Faint.Render(fmt.Sprintf("%d-%d of %d", top.Line+1, end.Line+1, s.Total))
}

// Drawn is a leaf of rows that are already drawn.
type Drawn []string

// Count returns the number of rows.
func (d Drawn) Count() int { return len(d) }

// Rows returns row i.
func (d Drawn) Rows(i, _ int) []string { return d[i : i+1] }

// Put ends the current block of lines and appends a leaf.
func (p *SheetPage) Put(f Leaf) { p.flush(); p.leaves = append(p.leaves, f) }

// Heading starts a section.
func (p *SheetPage) Heading(text string) { p.Blank(); p.Add(p.Title(text)) }

// SheetPage collects the leaves of a sheet: short content as a document, long
// content as leaves of its own.
type SheetPage struct {
	Document
	leaves []Leaf
}

// NewSheetPage returns an empty page for a width in cells.
func NewSheetPage(l *Styles, width int) *SheetPage {
	return &SheetPage{Document: Document{Styles: l, Width: width}}
}

// flush turns the document so far into a leaf.
func (p *SheetPage) flush() {
	if len(p.Lines) > 0 {
		p.leaves = append(p.leaves, Drawn(p.take()))
	}
}

// Blank separates the following lines from the previous ones.
func (p *SheetPage) Blank() {
	if len(p.Lines) == 0 && len(p.leaves) > 0 {
		p.Add("")
		return
	}
	p.Document.Blank()
}

// All returns every leaf.
func (p *SheetPage) All() []Leaf {
	p.flush()
	return p.leaves
}

const (
	// LongestLine is the maximum length of a line of text, in bytes. Longer
	// lines are split, so that no line costs more.
	LongestLine = 4 << 10
	// codeChunk is the number of lines highlighted at once.
	codeChunk = 24
)

// Text is a leaf of external text, processed as it comes into view.
type Text struct {
	styles   *Styles
	lines    []string
	style    func(line string) lipgloss.Style // of each line
	language string                           // language to highlight; "" for none
	prose    bool                             // wrap between words
	guide    bool                             // draw a vertical line at the left
	code     map[int][][]themes.CodeSpan
}

// NewText returns a leaf of text in one style.
func NewText(l *Styles, style lipgloss.Style, s string) *Text {
	return &Text{styles: l, lines: splitLines(s), style: func(string) lipgloss.Style { return style }, prose: true}
}

// NewCode returns a leaf of text that keeps every space.
func NewCode(l *Styles, language, s string) *Text {
	t := NewText(l, l.Text, s)
	t.prose, t.language = false, language
	return t
}

// NewStyledCode returns a leaf of text that keeps every space and has a style for each line.
func NewStyledCode(l *Styles, style func(line string) lipgloss.Style, s string) *Text {
	t := NewCode(l, "", s)
	t.style = style
	return t
}

// Guided draws a vertical line at the left of the text, and returns it.
func (t *Text) Guided() *Text {
	t.guide = true
	return t
}

// splitLines splits text into lines without copying it. It drops the line break
// at the end.
func splitLines(s string) []string {
	s = strings.TrimRight(s, "\n")
	lines := make([]string, 0, strings.Count(s, "\n")+1)
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.TrimSuffix(line, "\r")
		for len(line) > LongestLine {
			at := LongestLine
			for at > LongestLine-utf8.UTFMax && !utf8.RuneStart(line[at]) {
				at--
			}
			lines = append(lines, line[:at])
			line = line[at:]
		}
		lines = append(lines, line)
	}
	return lines
}

// Count returns the number of lines.
func (t *Text) Count() int { return len(t.lines) }

// Rows returns line i as screen rows.
func (t *Text) Rows(i, width int) []string {
	lead := ""
	if t.guide {
		lead = t.styles.Border.Render(t.styles.Glyphs.Guide) + " "
		width -= 2
	}
	if width <= 0 {
		return nil
	}
	var out []string
	switch {
	case t.language != "":
		for _, row := range wrapSpans(t.spans(i), width) {
			out = append(out, lead+t.styles.Theme.Paint(row))
		}
	default:
		line := untrusted.Visible(t.lines[i])
		split := WrapKept
		if t.prose {
			split = Wrap
		}
		for _, row := range Paint(t.style(line), split(line, width)) {
			out = append(out, lead+row)
		}
	}
	return out
}

// spans returns line i highlighted, together with its neighbors.
func (t *Text) spans(i int) []themes.CodeSpan {
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
