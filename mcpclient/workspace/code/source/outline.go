package source

import (
	"context"
	"slices"
	"strings"

	"replan/internal/markdown"
)

// declaration is a symbol with internal details.
type declaration struct {
	Symbol
	at int // offset of the name
}

// Outline lists the declarations of a file in their order.
type Outline struct {
	Package string
	Imports []string
	Symbols []Symbol
	Plain   bool   // it was lexed as plain words; see [File.Plain]
	Broken  string // the first syntax error of a Go file
}

// Outline returns the declarations that can be found in the file by words.
func (f *File) Outline() Outline {
	f.declare()
	o := Outline{Symbols: make([]Symbol, len(f.outline)), Plain: f.plain}
	for i, d := range f.outline {
		o.Symbols[i] = d.Symbol
	}
	o.Package, o.Imports = f.header()
	o.Broken = f.broken
	return o
}

// Declares returns the declarations that match a name. In Go the part before
// the name may be the package.
func (f *File) Declares(name Name) []Symbol {
	f.declare()
	var found []Symbol
	for _, d := range f.outline {
		inPackage := f.pack != "" && name.Parent != "" && f.pack+"."+d.Name == name.Parent+"."+name.Word
		if inPackage || name.Names(d.Symbol) {
			found = append(found, d.Symbol)
		}
	}
	return found
}

// Knows reports whether the package can find declarations of the language.
func (l Language) Knows() bool { return l.grammar != nil }

// declare finds the declarations once.
func (f *File) declare() {
	if f.outlined {
		return
	}
	f.outlined = true
	switch g := f.Language.grammar; {
	case g == nil:
	case f.Language.lexer == "Go":
		f.goDeclarations()
	case f.Language.lexer == "markdown":
		f.headings()
	case g.lines:
		(&lineReader{f: f, g: g}).read()
	default:
		(&braceReader{f: f, g: g}).read()
	}
	slices.SortStableFunc(f.outline, func(a, b declaration) int { return a.at - b.at })
	for i := range f.outline {
		d := &f.outline[i]
		if d.EndLine == 0 {
			d.EndLine = d.Line
		}
		if d.Parent != "" && d.Kind != "heading" {
			d.Name = d.Parent + "." + d.Name
		}
		d.Exported = exported(f, d)
	}
}

// exported reports whether a symbol is visible to others, by the conventions
// of the language. For most languages this is approximate.
func exported(f *File, d *declaration) bool {
	last := d.Name[strings.LastIndexByte(d.Name, '.')+1:]
	switch f.Language.Family {
	case "web":
		if d.Parent != "" {
			return !strings.HasPrefix(last, "_") && !strings.Contains(" "+d.Signature, " private ")
		}
		return strings.HasPrefix(d.Signature, "export ")
	case "Rust":
		return strings.HasPrefix(d.Signature, "pub")
	case "Go":
		return last != "" && last[0] >= 'A' && last[0] <= 'Z'
	case "jvm", "dotnet", "php":
		return !strings.Contains(" "+d.Signature, " private ")
	case "c":
		return !strings.HasPrefix(d.Signature, "static ")
	default:
		return !strings.HasPrefix(last, "_")
	}
}

// add appends a declaration with the lexeme at name as its name, and returns
// its index.
func (f *File) add(kind, parent string, name int) int {
	l := f.lexemes[name]
	s := Symbol{Name: f.at(name), Kind: kind, Place: f.place(l.start), Parent: clip(parent, maxParent)}
	s.Doc = f.docAbove(l.line)
	f.outline = append(f.outline, declaration{Symbol: s, at: l.start})
	return len(f.outline) - 1
}

// maxSignature, maxParent and maxDoc are size limits in bytes. The name of a
// parent is repeated for each member and grows with each level.
const (
	maxSignature = 240
	maxParent    = 240
	maxDoc       = 800
)

// signature returns the text between two lexemes on one line.
func (f *File) signature(from, to int) string {
	if from >= to || to > len(f.lexemes) {
		return ""
	}
	var b strings.Builder
	for i, before := from, f.lexemes[from].start; i < to; i++ {
		l := f.lexemes[i]
		if l.kind == comment {
			before = l.end
			continue
		}
		if before < l.start && b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(f.Text[l.start:l.end])
		if before = l.end; b.Len() > maxSignature {
			break
		}
	}
	return clip(strings.Join(strings.Fields(b.String()), " "), maxSignature)
}

// docAbove returns the comment directly above a line. It skips attributes in
// between.
func (f *File) docAbove(line int) string {
	first := line
	for first > 1 {
		above := strings.TrimSpace(f.line(first - 1))
		if !strings.HasPrefix(above, "@") && !strings.HasPrefix(above, "#[") && !strings.HasPrefix(above, "[") {
			break
		}
		first--
	}
	var parts []string
	i, _ := slices.BinarySearchFunc(f.lexemes, first, func(l lexeme, n int) int { return l.line - n })
	for i--; i >= 0; i-- {
		l := f.lexemes[i]
		if l.kind != comment || f.lineAt(l.end-1) != first-1 {
			break
		}
		if strings.TrimSpace(f.Text[f.lines[l.line-1]:l.start]) != "" {
			break // a comment at the end of a line of code
		}
		if strings.HasPrefix(f.at(i), "#!") {
			break
		}
		parts = append(parts, strings.TrimRight(f.at(i), "\r\n"))
		first = l.line
	}
	slices.Reverse(parts)
	return plainComment(strings.Join(parts, "\n"))
}

// Opening returns the comments at the head of the file, a paragraph each, without
// those for tools.
func (f *File) Opening() []string {
	var all, open []string
	last := 0
	flush := func() {
		if c := plainComment(strings.Join(open, "\n")); c != "" && !strings.HasPrefix(c, "go:") && !strings.HasPrefix(c, "-*-") {
			all = append(all, c)
		}
		open = nil
	}
	for i, l := range f.lexemes {
		s := f.at(i)
		switch {
		case strings.HasPrefix(s, "#!"), l.line == 1 && strings.Contains("<?php", s): // how to run it
			continue
		case l.kind != comment:
			flush()
			return all
		case l.line > last+1:
			flush()
		}
		open = append(open, strings.TrimRight(s, "\r\n"))
		last = f.lineAt(l.end - 1)
	}
	flush()
	return all
}

// plainComment returns a comment without its comment markers.
func plainComment(c string) string {
	var lines []string
	for line := range strings.Lines(c) {
		line = strings.TrimSpace(line)
		line = strings.TrimLeft(line, "/#;%!")
		line = strings.TrimPrefix(strings.TrimPrefix(line, "--"), "<!--")
		line = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSpace(line), "*/"), "-->")
		line = strings.TrimLeft(line, "*")
		line = strings.TrimSpace(strings.Trim(strings.TrimSpace(line), "\"'"))
		lines = append(lines, line)
	}
	return clip(strings.Trim(strings.Join(lines, "\n"), "\n "), maxDoc)
}

// header finds the package and the imports by their keywords.
func (f *File) header() (pack string, imports []string) {
	g := f.Language.grammar
	switch {
	case g == nil:
		return "", nil
	case f.Language.lexer == "Go":
		return f.pack, f.imports
	}
	const most = 200
	for i, l := range f.lexemes {
		if l.kind != word || len(imports) == most {
			continue
		}
		w := f.at(i)
		if !g.imports[w] && !g.packages[w] || !f.opens(i) {
			continue
		}
		named := f.statement(i + 1)
		if named == "" {
			continue
		}
		if g.packages[w] {
			if pack == "" {
				pack = named
			}
		} else if !slices.Contains(imports, named) {
			imports = append(imports, named)
		}
	}
	return pack, imports
}

// opens reports whether a lexeme is the first of its line, or follows
// something that may start a line.
func (f *File) opens(i int) bool {
	if i == 0 || f.lexemes[i-1].line != f.lexemes[i].line {
		return true
	}
	switch before := f.at(i - 1); before {
	case ";", "}", "{", "#", "@", "export", "pub", "global", "=":
		return before != "=" || f.at(i) == "require"
	default:
		return false
	}
}

// statement returns what an import names: its string if it has one, or else
// its words up to the end of the line.
func (f *File) statement(i int) string {
	if i >= len(f.lexemes) {
		return ""
	}
	from, line := i, f.lexemes[i].line
	depth := 0
	for ; i < len(f.lexemes); i++ {
		l := f.lexemes[i]
		if l.kind == text || l.kind == symbol {
			return strings.Trim(f.Text[l.start:l.end], "\"'`<>")
		}
		switch s := f.at(i); {
		case s == "(" || s == "{":
			depth++
		case s == ")" || s == "}":
			depth--
		case l.kind == comment, s == ";" && depth <= 0, l.line != line && depth <= 0:
			return strings.Trim(f.signature(from, i), "()<> ;")
		}
	}
	return strings.Trim(f.signature(from, i), "()<> ;")
}

// headings finds the headings of Markdown.
func (f *File) headings() {
	type open struct {
		level, at int
	}
	var stack []open
	var fences markdown.Fences
	note := func(n, level int, title string) {
		for len(stack) > 0 && stack[len(stack)-1].level >= level {
			f.outline[stack[len(stack)-1].at].EndLine = n - 1
			stack = stack[:len(stack)-1]
		}
		d := declaration{Symbol: Symbol{Name: title, Kind: "heading", Place: f.place(f.lines[n-1]), Exported: true}, at: f.lines[n-1]}
		d.Signature = strings.Repeat("#", level) + " " + title
		if len(stack) > 0 {
			d.Parent = clip(f.outline[stack[len(stack)-1].at].Name, maxParent)
		}
		f.outline = append(f.outline, d)
		stack = append(stack, open{level, len(f.outline) - 1})
	}
	before := ""
	for n := 1; n <= len(f.lines); n++ {
		line := strings.TrimSpace(f.line(n))
		fenced := fences.Encloses(line)
		switch {
		case fenced:
		case strings.HasPrefix(line, "#"):
			level := len(line) - len(strings.TrimLeft(line, "#"))
			if title := strings.TrimSpace(strings.Trim(line, "#")); level <= 6 && title != "" && line[level] == ' ' {
				note(n, level, title)
			}
		case before != "" && line != "" && strings.Trim(line, "=") == "":
			note(n-1, 1, before)
		}
		if before = line; fenced || strings.HasPrefix(line, "#") {
			before = ""
		}
	}
	for _, o := range stack {
		f.outline[o.at].EndLine = f.LineCount()
	}
}

// enclosing returns the name of the innermost declaration that contains a line,
// except one at the offset itself.
func (f *File) enclosing(line, offset int) string {
	f.declare()
	best, name := -1, ""
	for _, d := range f.outline {
		if d.Line <= line && line <= d.EndLine && d.at != offset && d.Line > best && (callable(d.Kind) || container(d.Kind) || d.Kind == "heading") {
			best, name = d.Line, d.Name
		}
	}
	return name
}

// Enclosing returns the function or type that contains a place, or "".
func (f *File) Enclosing(at Place) string {
	if at.Line < 1 || at.Line > len(f.lines) {
		return ""
	}
	return f.enclosing(at.Line, f.lines[at.Line-1]+at.Column-1)
}

// WordAt returns the name at a line and column. Without a column it returns
// the first name that the line declares, or else the only name on the line.
func (f *File) WordAt(line, column int) (string, Place, bool) {
	if column == 0 {
		f.declare()
		for _, d := range f.outline {
			if d.Line == line {
				return lastPart(d.Name), d.Place, true
			}
		}
	}
	found := -1
	for i, l := range f.lexemes {
		if l.line != line || l.kind != word && l.kind != symbol {
			continue
		}
		start := l.start - f.lines[line-1] + 1
		switch {
		case column == 0 && found >= 0:
			return "", Place{}, false
		case column == 0 || start <= column && column < start+l.end-l.start:
			found = i
		}
	}
	if found < 0 {
		return "", Place{}, false
	}
	return f.at(found), f.place(f.lexemes[found].start), true
}

// OutlineOf lexes a text and returns its outline.
func OutlineOf(ctx context.Context, file, src string) (Outline, error) {
	f, err := Lex(ctx, file, src)
	if err != nil {
		return Outline{}, err
	}
	return f.Outline(), nil
}
