package golang

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"replan/internal/english"
	"replan/mcpclient/workspace/code/source"
)

// commentRename renames the name in comments, where it is the name and no other word.
type commentRename struct {
	*rename
	parent          string   // with a dot, of a method
	qualifiers      []string // may stand before the name: its package, and the types of the renamed methods
	here, elsewhere *regexp.Regexp
	left            []source.Place
}

// comments renames the name in doc links, in directives that need it, and in the comments
// of the renamed declarations. There it renames their first word, and all words that are
// no ordinary ones. It returns a note on the comments and strings in which the name stays.
func (r *rename) comments() []string {
	parent, pkg := strings.TrimSuffix(memberName(r.target), r.old), regexp.QuoteMeta(r.target.Pkg().Name())+`\.`
	c := &commentRename{rename: r, parent: parent, qualifiers: []string{r.target.Pkg().Name()}}
	for _, o := range r.set {
		of, _, _ := strings.Cut(memberName(o), ".")
		c.qualifiers = append(c.qualifiers, of)
	}
	if r.target.Parent() == r.target.Pkg().Scope() || parent != "" {
		c.here = regexp.MustCompile(`\[\*?(?:` + pkg + `)?` + regexp.QuoteMeta(parent+r.old) + `[\].]`)
		c.elsewhere = regexp.MustCompile(`\[\*?` + pkg + regexp.QuoteMeta(parent+r.old) + `[\].]`)
	}
	for _, pkg := range r.pkgs {
		home := strings.TrimSuffix(pkg.PkgPath, "_test") == r.target.Pkg().Path()
		for _, file := range pkg.Syntax {
			if r.reads(file.FileStart) && !ast.IsGenerated(file) {
				c.file(file, home)
			}
		}
	}
	slices.SortFunc(c.left, source.ComparePlaces)
	c.left = slices.Compact(c.left) // several packages may contain a file
	if len(c.left) == 0 {
		return nil
	}
	places := make([]string, len(c.left))
	for i, p := range c.left {
		places[i] = fmt.Sprintf("%s:%d", p.Path, p.Line)
	}
	const named = 3
	return []string{fmt.Sprintf("the word %s stays in comments and strings: %s", r.old, english.Some(slices.Compact(places), named, "line"))}
}

// file renames the name in the comments of a file. home means that the file belongs to
// the package of the renamed object.
func (c *commentRename) file(file *ast.File, home bool) {
	own := map[*ast.CommentGroup]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		for _, group := range c.own(n) {
			own[group] = true
		}
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			for _, at := range occurrences(lit.Value, c.old) {
				c.left = append(c.left, c.place(lit.Pos()+token.Pos(at)))
			}
		}
		return true
	})
	for _, group := range file.Comments {
		first := true // no line with words came before
		for _, comment := range group.List {
			pos := comment.Pos()
			for line := range strings.Lines(comment.Text) {
				l := commentLine{text: line, body: len(line) - len(strings.TrimLeft(line, "/* \t"))}
				l.directive = pos == comment.Pos() && directive.MatchString(line)
				for _, at := range occurrences(line, c.old) {
					if c.means(l, at, own[group], first, home) {
						c.edit(pos+token.Pos(at), c.old, c.name)
					} else {
						c.left = append(c.left, c.place(pos+token.Pos(at)))
					}
				}
				first = first && (l.directive || strings.TrimSpace(line[l.body:]) == "")
				pos += token.Pos(len(line))
			}
		}
	}
}

// commentLine is a line of a comment.
type commentLine struct {
	text      string // with its comment signs
	body      int    // offset of the first word
	directive bool   // a program reads it
}

// directive matches comments that programs read.
var directive = regexp.MustCompile(`^//(?:[a-z0-9]+:[a-z0-9]|(?:export|extern|line|nolint)\b|\s*\+build )`)

// means reports whether the word at an offset of a line is the name. own means that the
// comment is that of a renamed declaration, first that no words come before the line.
func (c *commentRename) means(l commentLine, at int, own, first, home bool) bool {
	if l.directive {
		before := l.text[:at]
		return before == "//export " && own || before == "//go:linkname " && home && c.parent == ""
	}
	link := c.elsewhere
	if home {
		link = c.here
	}
	if link != nil && slices.ContainsFunc(link.FindAllStringIndex(l.text, -1), func(m []int) bool { return m[1]-1-len(c.old) == at }) {
		return true
	}
	return own && !c.elsewhereMeant(l, at) && (first && at == l.body || !ordinary(c.old))
}

// elsewhereMeant reports whether a word is a part of a URL, a path or a string, or has
// another package or type before it.
func (c *commentRename) elsewhereMeant(l commentLine, at int) bool {
	end := at + len(c.old)
	start := max(l.body, strings.LastIndexAny(l.text[:at], " \t")+1)
	chunk, _, _ := strings.Cut(strings.TrimRight(l.text[start:], "\r\n"), " ")
	before, after := l.text[start:at], l.text[end:start+len(chunk)]
	if qualifier, ok := strings.CutSuffix(before, "."); ok {
		of := qualifier[strings.LastIndexFunc(qualifier, func(r rune) bool { return !identifies(r) })+1:]
		if !slices.Contains(c.qualifiers, of) {
			return true
		}
	}
	rest := strings.TrimRightFunc(after, func(r rune) bool { return !identifies(r) })
	_, isFile := source.LanguageOf(c.old + rest)
	return strings.ContainsAny(chunk, `/\@`) || strings.HasSuffix(before, "-") || strings.HasPrefix(after, "-") ||
		strings.HasPrefix(rest, ".") && isFile || strings.Count(l.text[:at], `"`)%2 == 1
}

// ordinary reports whether a name looks like a word of running text.
func ordinary(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsLower(r) })
}

// occurrences returns the offsets of a word in a text.
func occurrences(text, word string) []int {
	var at []int
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return at
		}
		i += from
		from = i + len(word)
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[from:])
		if (i == 0 || !identifies(before)) && (from == len(text) || !identifies(after)) {
			at = append(at, i)
		}
	}
}

func identifies(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
