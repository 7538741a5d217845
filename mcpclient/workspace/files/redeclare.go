package files

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"replan/internal/lazyregexp"
	"replan/mcpclient/workspace/code/source"
)

// redeclared returns the declaration that new repeats in full. ok is false if the file
// declares the name more than once. It is also false if the new declaration leaves out so
// much that it may be only a part.
func (r replacement) redeclared(ctx context.Context) (f *source.File, e source.Extent, ok bool) {
	text := r.lexed(ctx, trimBlankLines(r.with))
	if text == nil {
		return nil, source.Extent{}, false
	}
	block, isBlock := text.Block()
	if f = r.lexed(ctx, r.text); !isBlock || f == nil {
		return nil, source.Extent{}, false
	}
	var found []source.Extent
	for _, e := range f.Extents() {
		// A method may be written without its type, except in Go, which names the type in it.
		if e.Name == block.Name || f.Language.Name != "Go" && block.Parent == "" && lastPart(e.Name) == block.Name {
			found = append(found, e)
		}
	}
	if len(found) != 1 || !found[0].IsBlock() {
		return nil, source.Extent{}, false
	}
	e = found[0]
	functions := isFunction(e) && isFunction(block)
	if !functions && e.Kind != block.Kind || receives(e) != receives(block) || functions && statements(text.Text)*2 < statements(r.lines(f, e)) {
		return nil, source.Extent{}, false
	}
	return f, e, functions && statements(text.Text) > 0 || !functions && hasMembers(text, block, f, e)
}

// lines returns the text of a declaration, without what stands above it.
func (r replacement) lines(f *source.File, e source.Extent) string {
	return r.text[f.LineStart(e.Start):f.LineStart(e.End+1)]
}

func isFunction(e source.Extent) bool {
	return slices.Contains([]string{"function", "method", "constructor"}, e.Kind)
}

var receiver = lazyregexp.New(`\(\s*&?\s*(?:mut\s+)?(?:self|cls)\b`)

// receives reports whether a function takes its object as the first parameter.
func receives(e source.Extent) bool { return receiver.MatchString(e.Signature) }

// hasMembers reports whether a new declaration of a type has all members of the old one.
func hasMembers(text *source.File, block source.Extent, f *source.File, e source.Extent) bool {
	members := map[string]bool{}
	for _, m := range text.Extents() {
		if m.Parent == block.Name {
			members[lastPart(m.Name)] = true
		}
	}
	return !slices.ContainsFunc(f.Extents(), func(m source.Extent) bool { return m.Parent == e.Name && !members[lastPart(m.Name)] })
}

// statements counts the lines of code below the first line of a declaration: no comments,
// no docstring, no brackets alone.
func statements(declaration string) int {
	_, body := splitHead(declaration)
	n, quote := 0, ""
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		switch {
		case quote != "":
			if strings.Contains(line, quote) {
				quote = ""
			}
		case n == 0 && (strings.HasPrefix(line, `"""`) || strings.HasPrefix(line, "'''")):
			if !strings.Contains(line[3:], line[:3]) {
				quote = line[:3]
			}
		case strings.HasPrefix(line, "//"), strings.HasPrefix(line, "#"), strings.HasPrefix(line, "*"), strings.HasPrefix(line, "/*"):
		case strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) && line != "end" && line != "pass":
			n++
		}
	}
	return n
}

// unfolded returns a new text with the line breaks that a small model has lost. The text
// begins with the first of the old lines, which opens a block. The indentation of each
// further line follows there.
func unfolded(old, with string) string {
	head, more, _ := strings.Cut(strings.TrimSpace(old), "\n")
	rest, begins := strings.CutPrefix(strings.TrimSpace(with), head)
	if head == "" || more == "" || !begins || !strings.ContainsAny(head[len(head)-1:], ":{([") || strings.Contains(head+rest, "\n") || !strings.HasPrefix(rest, "    ") {
		return with
	}
	return head + indentation.ReplaceAllString(strings.TrimRight(rest, " "), "\n$0")
}

var indentation = lazyregexp.New(` {4,}`)

// inside returns the whole declaration that new declares again, where old is a part of its
// body. Put into the body, the new declaration would stand in the old one.
func (r replacement) inside(ctx context.Context, places ...target) (target, bool) {
	if !strings.Contains(strings.TrimSpace(r.with), "\n") {
		return target{}, false
	}
	f, e, ok := r.redeclared(ctx)
	if !ok {
		return target{}, false
	}
	name, end := f.LineStart(e.Line)+e.Column-1, f.LineStart(e.End+1)
	if !slices.ContainsFunc(places, func(t target) bool { return t.start > name && t.end <= end }) {
		return target{}, false
	}
	return r.replaced(ctx, f, e)
}

// unmatched returns the whole declaration that new declares again, where old is nowhere in
// the file. Old may be a declaration itself, of that name or of another one of the file.
// Then it is not clear which of them is meant, or the file has changed.
func (r replacement) unmatched(ctx context.Context) (target, error) {
	f, e, ok := r.redeclared(ctx)
	if !ok {
		return target{}, r.notFound()
	}
	if old := r.lexed(ctx, trimBlankLines(r.old)); old != nil {
		for _, o := range old.Extents() {
			known := func(d source.Extent) bool { return strings.EqualFold(lastPart(d.Name), lastPart(o.Name)) }
			if o.IsBlock() && slices.ContainsFunc(f.Extents(), known) {
				return target{}, r.notFound()
			}
		}
	}
	t, ok := r.replaced(ctx, f, e)
	if !ok {
		return target{}, r.notFound()
	}
	t.note = fmt.Sprintf("old does not occur in %s, and was matched to the whole of %s, which new declares, lines %d to %d", r.at, e.Name, e.Start, e.End)
	return t, nil
}

// withTop returns the lines of a new declaration, with those above the old one that it has
// none of: a comment, or attributes and decorators. from is the line that they begin at.
func (r replacement) withTop(with string, text *source.File, block source.Extent, f *source.File, e source.Extent) (whole string, from int) {
	if block.Top == block.Start {
		return with, e.Start
	}
	comment, marks := above(with, text, block)
	oldComment, oldMarks := above(r.text, f, e)
	if comment == "" {
		comment = oldComment
	}
	if marks == "" {
		marks = oldMarks
	}
	declaration := strings.Join(strings.SplitAfter(with, "\n")[block.Start-1:], "")
	return comment + marks + declaration, e.Top
}

// above returns the lines above a declaration: its comment, and its attributes and
// decorators. The text has the lines of the file.
func above(text string, f *source.File, e source.Extent) (comment, marks string) {
	from, to := f.Comment(e)
	lines := strings.SplitAfter(text, "\n")
	for n := e.Top; n < e.Start; n++ {
		if at := f.LineStart(n); at >= from && at < to {
			comment += lines[n-1]
		} else {
			marks += lines[n-1]
		}
	}
	return comment, marks
}
