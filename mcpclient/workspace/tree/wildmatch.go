package tree

import "strings"

// wildMatch reports whether a pattern of git's matches the whole of a text:
// `*`, `?` and classes stop at a slash, `**` between slashes does not. With fold the
// text is in lower case, and the pattern matches as if its case did not matter.
func wildMatch(pattern, text string, fold bool) bool {
	m := wildMatcher{steps: maxSteps, fold: fold}
	return m.match(pattern, text, true) == wildYes
}

// maxSteps bounds the work for one text. No sensible pattern needs so many steps;
// a hostile one would never end.
const maxSteps = 100_000

type wildMatcher struct {
	steps int
	fold  bool
}

// wildResult is the result of an attempt to match. The values after wildNo say that
// other lengths for a star cannot match either.
type wildResult int

const (
	wildYes          wildResult = iota
	wildNo                      // not here
	wildEnded                   // the text is too short, and would only get shorter
	wildNeedsSlashes            // only a star that takes slashes too could help
)

// match matches p, which opens a pattern or a part of it between slashes where
// fresh is true, with the whole of t.
func (m *wildMatcher) match(p, t string, fresh bool) wildResult {
	for len(p) > 0 {
		if m.steps--; m.steps < 0 {
			return wildEnded
		}
		if len(t) == 0 && p[0] != '*' {
			return wildEnded
		}
		switch p[0] {
		case '?':
			if t[0] == '/' {
				return wildNo
			}
			p = p[1:]
		case '[':
			rest, is, ok := matchClass(p, t[0], m.fold)
			if !ok {
				return wildEnded
			}
			if !is || t[0] == '/' {
				return wildNo
			}
			p = rest
		case '*':
			return m.star(p, t, fresh)
		default:
			c := p[0]
			if c == '\\' {
				if p = p[1:]; p == "" {
					return wildNo
				}
				c = p[0] // git does not fold it
			} else if m.fold && 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			if t[0] != c {
				return wildNo
			}
			fresh = p[0] == '/'
			p, t = p[1:], t[1:]
			continue
		}
		fresh, t = false, t[1:]
	}
	if len(t) > 0 {
		return wildNo
	}
	return wildYes
}

// star matches a pattern that opens with stars.
func (m *wildMatcher) star(p, t string, fresh bool) wildResult {
	stars := len(p) - len(strings.TrimLeft(p, "*"))
	p = p[stars:]
	deep := stars > 1 && fresh && (p == "" || p[0] == '/' || strings.HasPrefix(p, `\/`))
	if deep && p != "" && p[0] == '/' && m.match(p[1:], t, true) == wildYes {
		return wildYes // no folder at all
	}
	if p == "" {
		if !deep && strings.Contains(t, "/") {
			return wildNo
		}
		return wildYes
	}
	for {
		got := m.match(p, t, false)
		if got != wildNo && (!deep || got != wildNeedsSlashes) {
			return got
		}
		if t == "" {
			return wildEnded
		}
		if !deep && t[0] == '/' {
			return wildNeedsSlashes
		}
		t = t[1:]
	}
}

// matchClass matches the class that p opens with. It returns what follows it;
// ok is false where the class cannot be read. As in git, fold concerns its ranges and
// [:upper:], and no single characters.
func matchClass(p string, c byte, fold bool) (rest string, is, ok bool) {
	i := 1
	upper := upperOf(c, fold)
	negated := i < len(p) && (p[i] == '!' || p[i] == '^')
	if negated {
		i++
	}
	var before byte // what a range would begin with; 0 is nothing
	for first := true; i < len(p); first = false {
		ch := p[i]
		switch {
		case ch == ']' && !first:
			return p[i+1:], is != negated, true
		case ch == '-' && before != 0 && i+1 < len(p) && p[i+1] != ']':
			last, at, closed := unescape(p, i+1)
			if !closed {
				return "", false, false
			}
			is = is || before <= c && c <= last || before <= upper && upper <= last
			i, before = at+1, 0
			continue
		case ch == '[' && strings.HasPrefix(p[i+1:], ":"):
			of, end, named := namedClass(p, i)
			if end < 0 {
				return "", false, false
			}
			if named {
				is = is || of(c) || of(upper)
				i, before = end, 0
				continue
			}
		case ch == '\\':
			var closed bool
			if ch, i, closed = unescape(p, i); !closed {
				return "", false, false
			}
		}
		is = is || ch == c
		before = ch
		i++
	}
	return "", false, false
}

// upperOf returns a letter in upper case if its case does not count.
func upperOf(c byte, fold bool) byte {
	if fold && 'a' <= c && c <= 'z' {
		return c - 'a' + 'A'
	}
	return c
}

// unescape returns the character at i and its position, after a backslash if there
// is one.
func unescape(p string, i int) (ch byte, at int, ok bool) {
	if p[i] == '\\' {
		i++
	}
	if i >= len(p) {
		return 0, i, false
	}
	return p[i], i, true
}

// namedClass reads a class like [:alpha:] at i. end is the position after it, or
// below 0 if the pattern is invalid. Without named the bracket is a plain
// character.
func namedClass(p string, i int) (of func(byte) bool, end int, named bool) {
	length := strings.IndexByte(p[i+2:], ']')
	if length < 0 {
		return nil, -1, false
	}
	end = i + 2 + length + 1
	name, closed := strings.CutSuffix(p[i+2:end-1], ":")
	if !closed {
		return nil, end, false
	}
	of, known := classes[name]
	if !known {
		return nil, -1, false
	}
	return of, end, true
}

// classes are the named classes of characters, of ASCII only.
var classes = map[string]func(byte) bool{
	"alnum":  func(c byte) bool { return isLetter(c) || isDigit(c) },
	"alpha":  isLetter,
	"blank":  func(c byte) bool { return c == ' ' || c == '\t' },
	"cntrl":  func(c byte) bool { return c < ' ' || c == 0x7f },
	"digit":  isDigit,
	"graph":  func(c byte) bool { return c > ' ' && c < 0x7f },
	"lower":  func(c byte) bool { return 'a' <= c && c <= 'z' },
	"print":  func(c byte) bool { return c >= ' ' && c < 0x7f },
	"punct":  func(c byte) bool { return c > ' ' && c < 0x7f && !isLetter(c) && !isDigit(c) },
	"space":  func(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' },
	"upper":  func(c byte) bool { return 'A' <= c && c <= 'Z' },
	"xdigit": func(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' },
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
