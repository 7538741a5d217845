package source

import (
	"fmt"
	"slices"
	"strings"
)

// Extent is a declaration with the lines that it takes, counted from 1.
type Extent struct {
	Symbol
	Top   int // its first line with the comments, attributes and decorators above it
	Start int // the first line of the declaration itself
	End   int // its last line
}

// IsBlock reports whether the declaration may have a body: a function or a type.
func (e Extent) IsBlock() bool {
	return callable(e.Kind) || container(e.Kind) || e.Kind == "type"
}

// Extents returns the declarations of the file with the lines that they take.
func (f *File) Extents() []Extent {
	f.declare()
	extents := make([]Extent, len(f.outline))
	for i, d := range f.outline {
		extents[i] = f.extent(d.Symbol)
	}
	return extents
}

// extent returns the lines of a declaration of the file.
func (f *File) extent(s Symbol) Extent {
	e := Extent{Symbol: s, Start: s.Line, End: max(s.EndLine, s.Line)}
	if f.Language.Family == "c" { // the type may stand above the name
		for e.Start > 1 && f.openEnded(e.Start-1) {
			e.Start--
		}
	}
	if s.Kind == "heading" {
		e.Top = e.Start
		return e
	}
	e.End = f.complete(e.Start, e.End)
	e.Top = f.top(e.Start)
	return e
}

// openEnded reports whether a line of C ends within a declaration: in a word or a *.
func (f *File) openEnded(n int) bool {
	_, last := f.lexemesOf(n, n)
	if last == 0 || strings.HasPrefix(strings.TrimSpace(f.line(n)), "#") {
		return false
	}
	l := f.lexemes[last-1]
	s := f.at(last - 1)
	return l.kind == word && s != "public" && s != "private" && s != "protected" || s == "*"
}

// lexemesOf returns the range of the lexemes that begin in some lines; the end is 0
// if there are none.
func (f *File) lexemesOf(from, to int) (first, end int) {
	byLine := func(l lexeme, n int) int { return l.line - n }
	first, _ = slices.BinarySearchFunc(f.lexemes, from, byLine)
	end, _ = slices.BinarySearchFunc(f.lexemes, to+1, byLine)
	if first == end {
		return 0, 0
	}
	return first, end
}

// complete returns the last line of a declaration whose last known line is to. An open
// bracket, a text of several lines and a chained call go on after it.
func (f *File) complete(from, to int) int {
	first, end := f.lexemesOf(from, to)
	if end == 0 {
		return to
	}
	depth := 0
	for i := first; i < len(f.lexemes); i++ {
		l, s := f.lexemes[i], f.at(i)
		chained := l.kind == sign && (s == "." || s == "?" && f.at(i+1) == ".")
		if l.line > to && depth <= 0 && !chained {
			break
		}
		if l.kind == sign {
			switch s {
			case "(", "[", "{":
				depth++
			case ")", "]", "}":
				depth--
			}
		}
		if depth < 0 { // the bracket around the declaration
			break
		}
		to = max(to, f.lineAt(max(l.end-1, l.start)))
	}
	if f.Language.grammar != nil && f.Language.grammar.lines && f.indent(from) < f.indent(to) {
		for next := to + 1; next <= f.LineCount(); next++ { // comments at the end of its body
			line := strings.TrimSpace(f.line(next))
			if line != "" && (f.indent(next) <= f.indent(from) || !strings.HasPrefix(line, "#")) {
				break
			}
			if line != "" {
				to = next
			}
		}
	}
	return to
}

// indent returns the number of blanks at the beginning of a line.
func (f *File) indent(n int) int {
	line := f.line(n)
	return len(line) - len(strings.TrimLeft(line, " \t"))
}

// top returns the first line of the comments and attributes directly above a line.
func (f *File) top(line int) int {
	for line > 1 {
		above := f.above(line)
		if above == line {
			break
		}
		line = above
	}
	return line
}

// above returns the first line of the comment or the attribute that ends directly
// above a line, or the line itself if none does.
func (f *File) above(line int) int {
	last := line - 1
	if strings.TrimSpace(f.line(last)) == "" {
		return line
	}
	if before, _ := slices.BinarySearchFunc(f.lexemes, line, func(l lexeme, n int) int { return l.line - n }); before > 0 {
		l := f.lexemes[before-1]
		words := f.at(before - 1)
		alone := strings.TrimSpace(f.Text[f.lines[l.line-1]:l.start]) == ""
		forTools := strings.HasPrefix(words, "#!") || strings.HasPrefix(words, "#") && strings.Contains(words, "-*-") ||
			f.Language.Family == "python" && !strings.HasPrefix(words, "#") // a docstring is of what is around it
		if l.kind == comment && alone && !forTools && f.lineAt(l.end-1) == last {
			return l.line
		}
	}
	const most = 30 // lines of an attribute
	for from := last; from > max(0, last-most); from-- {
		text := strings.TrimSpace(f.line(from))
		if text == "" {
			break
		}
		if strings.HasPrefix(text, "@") && !strings.HasPrefix(text, "@import") || strings.HasPrefix(text, "#[") ||
			strings.HasPrefix(text, "[") && f.Language.Family == "dotnet" || strings.HasPrefix(text, "template") && f.Language.Family == "c" {
			if f.balanced(from, last) {
				return from
			}
			break
		}
	}
	return line
}

// balanced reports whether the brackets in some lines are closed in them.
func (f *File) balanced(from, to int) bool {
	first, end := f.lexemesOf(from, to)
	depth := 0
	for i := first; i < end; i++ {
		if f.lexemes[i].kind != sign {
			continue
		}
		switch f.at(i) {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth--
		}
	}
	return depth == 0
}

// Comment returns the comment directly above a declaration in the file's own form,
// with the offsets of its whole lines. The offsets are equal if there is none.
func (f *File) Comment(e Extent) (from, to int) {
	line := e.Start
	for line > e.Top {
		above := f.above(line)
		if above == line {
			break
		}
		first, end := f.lexemesOf(above, above)
		if end > 0 && f.lexemes[first].kind == comment {
			bottom := line
			for above > e.Top { // every line comment is a comment of its own
				next := f.above(above)
				first, end := f.lexemesOf(next, next)
				if next == above || end == 0 || f.lexemes[first].kind != comment {
					break
				}
				above = next
			}
			return f.LineStart(above), f.LineStart(bottom)
		}
		line = above
	}
	at := f.LineStart(e.Top)
	return at, at
}

// LineStart returns the offset of a line. That of the line after the last is the end
// of the text.
func (f *File) LineStart(n int) int {
	if n > len(f.lines) {
		return len(f.Text)
	}
	return f.lines[n-1]
}

// Remove returns the edit that removes a declaration with its comment and the blank
// lines on one side of it. It fails if another declaration shares its lines.
func (f *File) Remove(e Extent) (Edit, error) {
	if other := f.shares(e); other != "" {
		return Edit{}, fmt.Errorf("%s and %s are declared in the same line of %s; change the line with fs.patch", e.Name, other, f.Path)
	}
	from, to := f.group(e.Top, e.End)
	blank := func(n int) bool { return n >= 1 && n <= f.LineCount() && strings.TrimSpace(f.line(n)) == "" }
	before, after := 0, 0
	for blank(from - 1 - before) {
		before++
	}
	for blank(to + 1 + after) {
		after++
	}
	kept := max(before, after)
	switch above, below := f.lastSign(from-1-before), f.firstSign(to+1+after); {
	case from-1-before < 1 || to+after >= f.LineCount():
		kept = 0
	case strings.Contains("{([:", above) && above != "", strings.Contains("})]", below) && below != "":
		kept = 0
	}
	start, end := f.LineStart(from-before), f.LineStart(to+1+after)
	with := strings.Repeat(lineEnd(f.Text), kept)
	if f.Language.Family == "python" && f.lastSign(from-1-before) == ":" && f.indent(from-1-before) < f.indent(e.Start) &&
		(to+after >= f.LineCount() || f.indent(to+1+after) <= f.indent(from-1-before)) {
		with = strings.Repeat(" ", f.indent(e.Start)) + "pass" + strings.Repeat(lineEnd(f.Text), 1+after) // a class needs a body
	}
	return Edit{Path: f.Path, Start: start, End: end, New: with}, nil
}

// shares returns the name of another declaration in the lines of one, which is no
// part of it.
func (f *File) shares(e Extent) string {
	for _, d := range f.outline {
		own := d.Place == e.Place || d.Name == e.Name && d.Kind == e.Kind
		part := d.Parent == e.Name || strings.HasPrefix(d.Parent, e.Name+".") || d.Line > e.Start && e.IsBlock()
		if d.Line >= e.Start && d.Line <= e.End && !own && !part {
			return d.Name
		}
	}
	return ""
}

// group widens the lines of a Go declaration to those of the group in which it
// stands alone: const ( … ).
func (f *File) group(from, to int) (first, last int) {
	a, end := f.lexemesOf(from, to)
	if f.Language.lexer != "Go" || end == 0 || a < 2 {
		return from, to
	}
	if keyword := f.at(a - 2); f.at(a-1) == "(" && f.at(end) == ")" && (keyword == "const" || keyword == "var" || keyword == "type") {
		return f.top(f.lexemes[a-2].line), f.lexemes[end].line
	}
	return from, to
}

// lastSign returns the last character of the code of a line, and firstSign the first.
func (f *File) lastSign(n int) string {
	first, end := f.lexemesOf(n, n)
	for i := end - 1; i >= first && end > 0; i-- {
		if f.lexemes[i].kind != comment {
			return f.Text[f.lexemes[i].end-1 : f.lexemes[i].end]
		}
	}
	return ""
}

func (f *File) firstSign(n int) string {
	first, end := f.lexemesOf(n, n)
	if end == 0 {
		return ""
	}
	return f.Text[f.lexemes[first].start : f.lexemes[first].start+1]
}

// lineEnd returns how the lines of a text end.
func lineEnd(text string) string {
	if strings.Contains(text, "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// Block returns the only declaration of a text if the text is that declaration and
// nothing else, with its comments.
func (f *File) Block() (Extent, bool) {
	lines := strings.Split(f.Text, "\n")
	first, last := 1, len(lines)
	for first < last && strings.TrimSpace(lines[first-1]) == "" {
		first++
	}
	for last > first && strings.TrimSpace(lines[last-1]) == "" {
		last--
	}
	for _, e := range f.Extents() {
		if e.IsBlock() && e.Top == first && e.End == last && f.balanced(first, last) {
			return e, true
		}
	}
	return Extent{}, false
}

// Insert returns the edit that inserts a text before or after a declaration, with its
// indentation. Blank lines stand between them where one of them is a block. A text of
// comments and attributes alone goes directly above the declaration.
func (f *File) Insert(e Extent, given string, after bool) Edit {
	end := lineEnd(f.Text)
	indent := f.line(e.Start)[:f.indent(e.Start)]
	lines := strings.Split(strings.Trim(strings.ReplaceAll(given, "\r\n", "\n"), "\n"), "\n")
	base := len(lines[0]) - len(strings.TrimLeft(lines[0], " \t"))
	own := lines[0][:base]
	attached := true // comments and attributes alone
	for i, line := range lines {
		text := strings.TrimSpace(line)
		attached = attached && (text == "" || strings.HasPrefix(text, "//") || strings.HasPrefix(text, "#") || strings.HasPrefix(text, "@") || strings.HasPrefix(text, "/*") || strings.HasPrefix(text, "*"))
		if text == "" {
			lines[i] = ""
			continue
		}
		lines[i] = strings.TrimRight(indent+strings.TrimPrefix(line, own), " \t\r")
	}
	gap := 0
	for n := e.Top - 1; n >= 1 && strings.TrimSpace(f.line(n)) == ""; n-- {
		gap++
	}
	if gap == 0 && e.IsBlock() {
		gap = 1
	}
	if attached && !after || !e.IsBlock() {
		gap = 0
	}
	text := strings.Join(lines, end) + end
	blank := strings.Repeat(end, gap)
	if after {
		at := f.LineStart(e.End + 1)
		if at > 0 && at == len(f.Text) && !strings.HasSuffix(f.Text, "\n") {
			blank = end + blank
		}
		return Edit{Path: f.Path, Start: at, End: at, New: blank + text}
	}
	at := f.LineStart(e.Top)
	if attached && !strings.HasPrefix(strings.TrimSpace(given), "/") {
		at = f.LineStart(e.Start) // below the comment
	}
	return Edit{Path: f.Path, Start: at, End: at, New: text + blank}
}
