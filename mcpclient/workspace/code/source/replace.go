package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"replan/internal/lazyregexp"
)

// Pattern is a search pattern with its replacement.
type Pattern struct {
	re      *regexp.Regexp
	next    *regexp.Regexp // finds it, as its first group, after the first character; nil for a literal
	with    string
	literal bool
}

// NewPattern compiles a pattern: a text, or a regular expression (RE2) whose
// groups the replacement may reference as $1 or ${name}. ^ and $ match at
// lines.
func NewPattern(pattern, replacement string, regex bool) (Pattern, error) {
	if pattern == "" {
		return Pattern{}, errors.New("the pattern is empty; say what to replace")
	}
	if !regex {
		return Pattern{re: regexp.MustCompile(regexp.QuoteMeta(pattern)), with: replacement, literal: true}, nil
	}
	re, err := regexp.Compile("(?m)" + pattern)
	var next *regexp.Regexp
	if err == nil {
		next, err = regexp.Compile(`\A(?s:.)(?s:.*?)((?m)` + pattern + `)`)
	}
	if err != nil {
		return Pattern{}, fmt.Errorf("the regular expression %q cannot be read: %w", pattern, err)
	}
	if err := groupsOf(re, replacement); err != nil {
		return Pattern{}, err
	}
	return Pattern{re: re, next: next, with: replacement}, nil
}

var dollar = lazyregexp.New(`\$\$|\$(\w+)|\$\{(\w+)\}`)

// groupsOf refuses a replacement that names a missing group, which RE2 would
// silently replace by nothing. "$1_x" is the group "1_x".
func groupsOf(re *regexp.Regexp, replacement string) error {
	for _, m := range dollar.FindAllStringSubmatch(replacement, -1) {
		name := m[1] + m[2]
		if name == "" || slices.Contains(re.SubexpNames(), name) && name != "" {
			continue
		}
		n := 0
		if _, err := fmt.Sscanf(name, "%d", &n); err == nil && fmt.Sprint(n) == name && n <= re.NumSubexp() {
			continue
		}
		return fmt.Errorf("the replacement names $%s, which the expression does not have; its groups are 1 to %d (write ${1} before a letter, $$ for a dollar)", name, re.NumSubexp())
	}
	return nil
}

// IsWord reports whether a literal pattern is a name, so that a rename may
// have been intended.
func (p Pattern) IsWord() bool { return p.literal && IsIdentifier(p.re.String()) }

// Edits returns the changes of a text and the number of bytes they write. It
// stops once that exceeds most. It skips empty matches. If every line of the
// text ends in CR LF, so do those of pattern and replacement. It also stops once ctx
// has ended.
func (p Pattern) Edits(ctx context.Context, file, src string, most int) (edits []Edit, written int) {
	whole := len(src)
	src = strings.TrimPrefix(src, "\uFEFF") // so that ^ finds the first line
	mark := whole - len(src)
	crlf := strings.Contains(src, "\r\n") && strings.Count(src, "\r\n") == strings.Count(src, "\n")
	text, back := src, func(at int) int { return mark + at }
	with := p.with
	if crlf {
		text = strings.ReplaceAll(src, "\r\n", "\n")
		starts := lineStarts(text)
		back = func(at int) int { // add one CR for each earlier line
			n, exact := slices.BinarySearch(starts, at)
			if !exact {
				n--
			}
			return mark + at + n
		}
		with = strings.ReplaceAll(with, "\r\n", "\n")
	}
	for m := range p.matches(ctx, text) {
		put := with
		if !p.literal {
			put = string(p.re.ExpandString(nil, with, text, m))
		}
		if put == text[m[0]:m[1]] {
			continue
		}
		if crlf {
			put = strings.ReplaceAll(put, "\n", "\r\n")
		}
		edits = append(edits, Edit{Path: file, Start: back(m[0]), End: back(m[1]), New: put})
		if written += len(put); written > most {
			break
		}
	}
	return edits, written
}

// matches yields the places of the matches that are not empty, and of their groups.
// Each may take as long as reading all of the text, so it looks at ctx before each.
func (p Pattern) matches(ctx context.Context, text string) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		for pos := 0; pos <= len(text) && ctx.Err() == nil; {
			re, from := p.re, pos
			if pos > 0 && !p.literal { // what is before the match counts for ^ and \b
				_, width := utf8.DecodeLastRuneInString(text[:pos])
				re, from = p.next, pos-width
			}
			find := re.FindStringSubmatchIndex
			if len(text)-from > Stretch && !p.literal {
				find = func(text string) []int { return re.FindReaderSubmatchIndex(Stoppable(ctx, strings.NewReader(text))) }
			}
			m := find(text[from:])
			if m == nil || ctx.Err() != nil { // a text that was cut matches otherwise
				return
			}
			if re == p.next {
				m = m[2:]
			}
			for i := range m {
				if m[i] >= 0 {
					m[i] += from
				}
			}
			if pos = m[1]; m[0] == m[1] {
				_, width := utf8.DecodeRuneInString(text[pos:])
				pos += max(width, 1)
			} else if !yield(m) {
				return
			}
		}
	}
}

// Stretch is how many bytes an expression reads before it is checked whether it is to
// stop. The slowest expressions take a second for a few of these.
const Stretch = 64 << 10

// Stoppable returns a text that ends once ctx has ended, so that an expression that is
// matched against it does, too.
func Stoppable(ctx context.Context, text io.RuneReader) io.RuneReader {
	return &stoppable{RuneReader: text, ctx: ctx}
}

type stoppable struct {
	io.RuneReader
	ctx  context.Context //nolint:containedctx // of the one match that it is made for
	read int             // runes
}

func (s *stoppable) ReadRune() (rune, int, error) {
	if s.read++; s.read%1024 == 0 && s.ctx.Err() != nil {
		return 0, 0, io.EOF
	}
	return s.RuneReader.ReadRune()
}

// InWords counts the edits with an adjacent letter, digit or _, which
// therefore change part of a longer word.
func InWords(src string, edits []Edit) int {
	n := 0
	for _, e := range edits {
		before, _ := utf8.DecodeLastRuneInString(src[:e.Start])
		after, _ := utf8.DecodeRuneInString(src[e.End:])
		if isIdentifier(before) || isIdentifier(after) {
			n++
		}
	}
	return n
}

func sortEdits(edits []Edit) {
	slices.SortStableFunc(edits, func(a, b Edit) int { return a.Start - b.Start })
}
