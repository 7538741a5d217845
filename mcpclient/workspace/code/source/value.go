package source

import (
	"strings"

	"replan/internal/lazyregexp"
)

// Value is a place where code gives a name a literal value.
type Value struct {
	Name       string // as declared: Run.timeout; else the bare name
	Start, End int    // bytes of the literal
	Line       int    // from 1
}

// Values returns the places where the file gives a name a value that is a single literal.
// They are those where the name is declared, or else all.
func (f *File) Values(name Name) []Value {
	f.declare()
	declared := map[int]string{}
	for _, d := range f.outline {
		if name.Names(d.Symbol) {
			declared[d.at] = d.Name
		}
	}
	var own, others []Value
	for i, l := range f.lexemes {
		if l.kind == comment || strings.Trim(f.at(i), `"'`) != name.Word {
			continue
		}
		start, end, ok := f.assigned(i)
		if !ok {
			continue
		}
		v := Value{Name: name.Word, Start: start, End: end, Line: l.line}
		if full, ok := declared[l.start]; ok {
			v.Name = full
			own = append(own, v)
		} else if name.Parent == "" || strings.HasSuffix("."+f.enclosing(l.line, l.start), "."+name.Parent) {
			others = append(others, v)
		}
	}
	if len(own) > 0 {
		return own
	}
	return others
}

// assigned returns the range of the literal that the name at a lexeme is given.
func (f *File) assigned(i int) (start, end int, ok bool) {
	const most = 12 // lexemes of a type between a name and its value
	adjacent := func(k int) bool { return k > 0 && f.lexemes[k].start == f.lexemes[k-1].end }
	value := -1
	for k := i + 1; k < min(i+most, len(f.lexemes)) && f.lexemes[k].line == f.lexemes[i].line; k++ {
		s := f.at(k)
		if s == "=" {
			before := adjacent(k) && strings.Contains("=!<>+-*/%|&^", f.at(k-1))
			after := k+1 < len(f.lexemes) && adjacent(k+1) && strings.Contains("=>~", f.at(k+1))
			if !before && !after {
				value = k + 1
			}
			break
		}
		if f.lexemes[k].kind == word || f.lexemes[k].kind == sign && strings.Contains(":[]*.<>?&|'", s) {
			continue
		}
		break
	}
	if value < 0 && f.at(i+1) == ":" && f.at(i+2) != ":" {
		value = i + 2 // a field of an object
	}
	if value < 0 || value >= len(f.lexemes) || f.lexemes[value].line != f.lexemes[i].line {
		return 0, 0, false
	}
	start = f.lexemes[value].start
	length, ok := literal(f.Text[start:])
	return start, start + length, ok
}

var (
	opening   = lazyregexp.New("^[A-Za-z@]{0,2}(\"\"\"|'''|\"|'|`)")
	plainWord = lazyregexp.New(`^(?:[+-]?\.?\d[\w.]*|(?i:true|false|null|none|nil)\b)`)
	follows   = lazyregexp.New(`^[ \t]*(?:$|[\r\n,;)\]}#]|//|/\*|--|\*[^*])`)
)

// literal returns the length of the literal that a text begins with. A number may be
// multiplied by something: 30 * time.Second.
func literal(text string) (int, bool) {
	length := 0
	if m := opening.FindStringSubmatch(text); m != nil {
		quote := m[1]
		at := len(m[0])
		for at < len(text) && !strings.HasPrefix(text[at:], quote) {
			if text[at] == '\\' && quote != "`" {
				at++
			}
			if at < len(text) && text[at] == '\n' && len(quote) == 1 && quote != "`" {
				return 0, false
			}
			at++
		}
		if at >= len(text) {
			return 0, false
		}
		length = at + len(quote)
	} else {
		length = len(plainWord.FindString(text))
	}
	return length, length > 0 && follows.MatchString(text[length:])
}
