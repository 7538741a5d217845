package source

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"replan/internal/lazyregexp"
)

// Pattern is a search pattern with its replacement.
type Pattern struct {
	re      *regexp.Regexp
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
	if err != nil {
		return Pattern{}, fmt.Errorf("the regular expression %q cannot be read: %w", pattern, err)
	}
	if err := groupsOf(re, replacement); err != nil {
		return Pattern{}, err
	}
	return Pattern{re: re, with: replacement}, nil
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
// text ends in CR LF, so do those of pattern and replacement.
func (p Pattern) Edits(file, src string, most int) (edits []Edit, written int) {
	crlf := strings.Contains(src, "\r\n") && strings.Count(src, "\r\n") == strings.Count(src, "\n")
	text, back := src, func(at int) int { return at }
	with := p.with
	if crlf {
		text = strings.ReplaceAll(src, "\r\n", "\n")
		starts := lineStarts(text)
		back = func(at int) int { // add one CR for each earlier line
			n, exact := slices.BinarySearch(starts, at)
			if !exact {
				n--
			}
			return at + n
		}
		with = strings.ReplaceAll(with, "\r\n", "\n")
	}
	for _, m := range p.re.FindAllStringSubmatchIndex(text, -1) {
		if m[0] == m[1] {
			continue
		}
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
