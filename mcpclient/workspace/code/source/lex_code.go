package source

import "slices"

// code returns the text with comments blank and strings without content, so
// that patterns find only code. Every byte keeps its offset.
func (f *File) code() []byte {
	code := []byte(f.Text)
	at := 0
	fill := func(to int, with byte) {
		for ; at < to; at++ {
			if code[at] != '\n' || with != ' ' {
				code[at] = with
			}
		}
	}
	for _, l := range f.lexemes {
		fill(l.start, ' ')
		switch {
		case l.kind == text || l.quoted:
			fill(l.end, '"')
		case l.kind == comment:
			fill(l.end, ' ')
		}
		at = l.end
	}
	fill(len(code), ' ')
	return code
}

// lexemeAt returns the index of the lexeme at an offset.
func (f *File) lexemeAt(offset int) int {
	i, _ := slices.BinarySearchFunc(f.lexemes, offset, func(l lexeme, at int) int { return l.end - 1 - at })
	return i
}
