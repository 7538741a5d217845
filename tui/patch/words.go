package patch

import (
	"unicode"
	"unicode/utf8"
)

// Span is a byte range of a text.
type Span struct{ From, To int }

// wordsMost is the maximum number of words compared one by one in a line. Common
// words at the start and end of both lines do not count.
const wordsMost = 160

// Words returns the parts that differ between a line and its replacement. Both
// results are nil if the lines have too little in common.
func Words(before, after string) (old, now []Span) {
	a, b := split(before), split(after)
	head := 0
	for head < min(len(a), len(b)) && a[head].text == b[head].text {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail].text == b[len(b)-1-tail].text {
		tail++
	}
	changedA, changedB := a[head:len(a)-tail], b[head:len(b)-tail]
	if len(changedA) <= wordsMost && len(changedB) <= wordsMost {
		changedA, changedB = apart(changedA, changedB)
	}
	if other(changedA, a) && other(changedB, b) {
		return nil, nil
	}
	return spans(changedA, before), spans(changedB, after)
}

// word is a piece of a line that is compared as a unit.
type word struct {
	text string
	Span
}

func (w word) blank() bool { return w.text[0] == ' ' || w.text[0] == '\t' }

// split splits a line into words, blanks and single signs.
func split(s string) []word {
	var out []word
	const blank, letter, sign = 0, 1, 2
	last := -1
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		kind := sign
		switch {
		case r == ' ' || r == '\t':
			kind = blank
		case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			kind = letter
		}
		if n := len(out); n > 0 && kind == last && kind != sign {
			out[n-1].To = i + size
			out[n-1].text = s[out[n-1].From:out[n-1].To]
		} else {
			out = append(out, word{s[i : i+size], Span{i, i + size}})
		}
		last = kind
		i += size
	}
	return out
}

// apart returns the words outside the longest common subsequence.
func apart(a, b []word) (onlyA, onlyB []word) {
	longest := make([][]int16, len(a)+1)
	for i := range longest {
		longest[i] = make([]int16, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i].text == b[j].text {
				longest[i][j] = longest[i+1][j+1] + 1
			} else {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i].text == b[j].text:
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && longest[i+1][j] >= longest[i][j+1]:
			onlyA = append(onlyA, a[i])
			i++
		default:
			onlyB = append(onlyB, b[j])
			j++
		}
	}
	return onlyA, onlyB
}

// other reports whether at least three quarters of a line's letters changed, which
// makes it a different line.
func other(changed, all []word) bool {
	n, of := letters(changed), letters(all)
	return n*4 >= of*3
}

func letters(words []word) int {
	n := 0
	for _, w := range words {
		if !w.blank() {
			n += len(w.text)
		}
	}
	return n
}

// spans joins words that are adjacent or separated only by blanks.
func spans(words []word, line string) []Span {
	var out []Span
	for _, w := range words {
		if n := len(out); n > 0 && blanks(line[out[n-1].To:w.From]) {
			out[n-1].To = w.To
			continue
		}
		out = append(out, w.Span)
	}
	return out
}

func blanks(s string) bool {
	for i := range len(s) {
		if s[i] != ' ' && s[i] != '\t' {
			return false
		}
	}
	return true
}
