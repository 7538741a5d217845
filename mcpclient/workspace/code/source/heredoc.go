package source

import (
	"slices"
	"strings"
	"unicode/utf8"

	"replan/internal/lazyregexp"
)

var heredocOpens = lazyregexp.New("<<[~-]?(\"[A-Za-z_]\\w*\"|'[A-Za-z_]\\w*'|`[A-Za-z_]\\w*`|[A-Z_]\\w*)")

// bodies returns the lines of the heredocs in a Ruby text as pairs of offsets,
// because Ruby's lexer treats them as code.
func (f *File) bodies() [][2]int {
	var found [][2]int
	for _, m := range heredocOpens.FindAllStringSubmatchIndex(f.Text, -1) {
		first := f.lineAt(m[0]) + 1
		inside := len(found) > 0 && m[0] < found[len(found)-1][1]
		if inside || strings.Contains(f.Text[f.lines[first-2]:m[0]], "# ") {
			continue
		}
		word := strings.Trim(f.Text[m[2]:m[3]], "\"'`")
		last := first
		for last <= len(f.lines) && strings.TrimSpace(f.line(last)) != word {
			last++
		}
		if last <= len(f.lines) && last > first { // terminated and not empty
			found = append(found, [2]int{f.lines[first-1], f.lines[last-1]})
		}
	}
	return found
}

// masked returns a text with some parts replaced by blanks.
func masked(src string, parts [][2]int) string {
	b := []byte(src)
	for _, p := range parts {
		for i := p[0]; i < p[1]; i++ {
			if b[i] != '\n' && b[i] != '\r' {
				b[i] = ' '
			}
		}
	}
	return string(b)
}

// quote adds strings for the parts that were lexed as blanks. Code in #{…}
// stays code.
func (f *File) quote(parts [][2]int) {
	for _, p := range parts {
		var lexemes []lexeme
		add := func(from, to int, kind lexemeKind, quoted bool) {
			if from < to {
				lexemes = append(lexemes, lexeme{start: from, end: to, line: f.lineAt(from), kind: kind, quoted: quoted})
			}
		}
		at := p[0]
		for at < p[1] {
			open := strings.Index(f.Text[at:p[1]], "#{")
			if open < 0 {
				break
			}
			open += at + len("#{")
			shut := strings.IndexByte(f.Text[open:p[1]], '}')
			if shut < 0 {
				break
			}
			add(at, open, text, false)
			at = open + shut
			for open < at {
				r, _ := utf8.DecodeRuneInString(f.Text[open:at])
				if !f.Language.begins(r) {
					open += len(string(r))
					continue
				}
				end := f.Language.wordEnd(f.Text[:at], open)
				add(open, end, word, true)
				open = end
			}
		}
		add(at, p[1], text, false)
		i, _ := slices.BinarySearchFunc(f.lexemes, p[0], func(l lexeme, at int) int { return l.start - at })
		f.lexemes = slices.Insert(f.lexemes, i, lexemes...)
	}
}
