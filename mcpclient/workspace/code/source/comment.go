package source

import (
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"replan/internal/lazyregexp"
)

// maxCommentLine is the width that the lines of a comment are broken at, in characters.
const maxCommentLine = 80

// SetComment returns the edit that gives a declaration this comment, in the form of the
// language, in place of the one that it has. It fails if the language has no comments
// that are known.
func (f *File) SetComment(e Extent, words string) (Edit, error) {
	words = commentWords(words)
	if words == "" {
		return Edit{}, errors.New("the comment has no words; say what the declaration does")
	}
	indent := f.line(e.Start)[:f.indent(e.Start)]
	if f.Language.Family == "python" && e.IsBlock() {
		if edit, ok := f.docstring(e, words); ok {
			return edit, nil
		}
	}
	if f.Language.lexer == "Go" {
		words = withName(words, lastPart(e.Name))
	}
	lines, err := f.commentLines(words, maxCommentLine-len(indent))
	if err != nil {
		return Edit{}, err
	}
	from, to := f.Comment(e)
	for line := range strings.Lines(f.Text[from:to]) { // what tools read stays
		if text := strings.TrimSpace(line); strings.HasPrefix(text, "//go:") || strings.HasPrefix(text, "//nolint") {
			lines = append(lines, text)
		}
	}
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(strings.TrimRight(indent+line, " \t") + lineEnd(f.Text))
	}
	return Edit{Path: f.Path, Start: from, End: to, New: b.String()}, nil
}

var thisFunction = lazyregexp.New(`^(?i:this|the) (?:function|method|type|struct|class|constant|variable)\s+`)

// withName puts the name at the beginning of a comment of Go.
func withName(words, name string) string {
	fields := strings.Fields(words)
	for i, w := range fields[:min(2, len(fields))] {
		if strings.Trim(w, "`:,'s") == strings.Trim(name, "'s") && (i == 0 || slices.Contains([]string{"A", "An", "The", "Deprecated:"}, fields[0])) {
			return words
		}
	}
	words = thisFunction.ReplaceAllString(words, "")
	first, size := utf8.DecodeRuneInString(words)
	next, _ := utf8.DecodeRuneInString(words[size:])
	if unicode.IsUpper(first) && !unicode.IsUpper(next) {
		words = string(unicode.ToLower(first)) + words[size:]
	}
	return name + " " + words
}

// commentWords returns the words of a comment without its markers, and without the
// declaration that may follow it.
func commentWords(given string) string {
	given = strings.TrimSpace(strings.ReplaceAll(given, "\r\n", "\n"))
	marked := strings.HasPrefix(given, "//") || strings.HasPrefix(given, "#") || strings.HasPrefix(given, "--")
	var lines []string
	for line := range strings.SplitSeq(given, "\n") {
		line = strings.TrimSpace(line)
		if marked && line != "" && !strings.HasPrefix(line, "//") && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "--") {
			break // the declaration
		}
		line = strings.TrimSpace(strings.TrimLeft(line, "/#"))
		line = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(line, "--"), "**"), "*/")
		line = strings.TrimPrefix(strings.TrimPrefix(line, "* "), "*")
		lines = append(lines, strings.TrimSpace(line))
	}
	words := strings.Trim(strings.Join(lines, "\n"), "\n ")
	for _, quote := range []string{`"""`, "'''"} {
		words = strings.TrimSuffix(strings.TrimPrefix(words, quote), quote)
	}
	return strings.TrimSpace(words)
}

// commentLines returns a comment in the form of the language.
func (f *File) commentLines(words string, width int) ([]string, error) {
	lines := wrapped(words, width-3)
	prefix := "// "
	switch f.Language.Family {
	case "Go":
	case "Rust", "Swift", "Dart", "Zig":
		prefix = "/// "
	case "web", "jvm", "php", "c":
		if len(lines) == 1 {
			return []string{"/** " + lines[0] + " */"}, nil
		}
		return slices.Concat([]string{"/**"}, prefixed(lines, " * "), []string{" */"}), nil
	case "dotnet":
		return slices.Concat([]string{"/// <summary>"}, prefixed(lines, "/// "), []string{"/// </summary>"}), nil
	case "python", "ruby", "shell", "beam", "R", "Julia", "Perl":
		prefix = "# "
	case "Lua", "SQL", "Haskell":
		prefix = "-- "
	default:
		return nil, errors.New("comments in " + f.Language.Name + " are not known; write the comment with fs.patch")
	}
	return prefixed(lines, prefix), nil
}

func prefixed(lines []string, prefix string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = strings.TrimRight(prefix+line, " ")
	}
	return out
}

// wrapped breaks the lines of a text that are longer than width.
func wrapped(text string, width int) []string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		at := 0
		var b strings.Builder
		for word := range strings.FieldsSeq(line) {
			n := utf8.RuneCountInString(word)
			if at > 0 && at+1+n > max(width, 20) {
				lines = append(lines, b.String())
				b.Reset()
				at = 0
			}
			if at > 0 {
				b.WriteByte(' ')
				at++
			}
			b.WriteString(word)
			at += n
		}
		lines = append(lines, b.String())
	}
	return lines
}

// docstring returns the edit that sets the docstring of a function or a class of
// Python. It reports false if the body stands in the line of the head.
func (f *File) docstring(e Extent, words string) (Edit, bool) {
	first, end := f.lexemesOf(e.Line, e.End)
	depth := 0
	for i := first; i < end; i++ {
		switch f.at(i) {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth--
		}
		if f.at(i) != ":" || depth > 0 || f.lexemes[i].kind != sign {
			continue
		}
		head, body := f.lexemes[i].line, i+1
		for body < end && f.lexemes[body].kind == comment && f.lexemes[body].line == head {
			body++
		}
		if body >= end || f.lexemes[body].line == head {
			return Edit{}, false
		}
		line := f.lexemes[body].line
		indent := f.line(line)[:f.indent(line)]
		edit := Edit{Path: f.Path, Start: f.LineStart(head + 1), End: f.LineStart(head + 1)}
		if old := strings.TrimLeft(f.at(body), "rRuU"); strings.HasPrefix(old, `"""`) || strings.HasPrefix(old, "'''") {
			edit.Start, edit.End = f.LineStart(line), f.LineStart(f.docstringEnd(body, end)+1)
		}
		words = strings.ReplaceAll(strings.ReplaceAll(words, `\`, `\\`), `"""`, "'''")
		lines := wrapped(words, maxCommentLine-len(indent)-6)
		lines[0] = `"""` + lines[0]
		if len(lines) == 1 {
			lines[0] += `"""`
		} else {
			lines = append(lines, `"""`)
		}
		for _, line := range lines {
			edit.New += strings.TrimRight(indent+line, " \t") + lineEnd(f.Text)
		}
		return edit, true
	}
	return Edit{}, false
}

// docstringEnd returns the last line of the docstring that begins at a lexeme: the
// lexer may take it for several texts.
func (f *File) docstringEnd(body, end int) int {
	start := f.lexemes[body].start
	opening := strings.TrimLeft(f.at(body), "rRuU")[:3]
	from := start + strings.Index(f.Text[start:], opening) + len(opening)
	if i := strings.Index(f.Text[from:], opening); i >= 0 {
		return f.lineAt(from + i)
	}
	return f.lineAt(f.lexemes[end-1].end - 1)
}
