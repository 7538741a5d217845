package op

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Name returns a path as JSON can carry it: a byte that is no UTF-8 is written as \xe9. Different
// paths have different names, since a backslash before such letters is written as \x5c. Almost
// every path is its own name.
func Name(path string) string {
	if utf8.ValidString(path) && !strings.Contains(path, `\x`) {
		return path
	}
	var b strings.Builder
	for i := 0; i < len(path); {
		r, size := utf8.DecodeRuneInString(path[i:])
		_, escaped := escapedByte(path[i:])
		if escaped || r == utf8.RuneError && size == 1 {
			b.WriteString(`\x` + strconv.FormatUint(uint64(path[i]), 16))
			i++
			continue
		}
		b.WriteString(path[i : i+size])
		i += size
	}
	return b.String()
}

// PathOf returns the path with a name, see [Name].
func PathOf(name string) string {
	if !strings.Contains(name, `\x`) {
		return name
	}
	var b strings.Builder
	for i := 0; i < len(name); {
		if c, ok := escapedByte(name[i:]); ok {
			b.WriteByte(c)
			i += len(`\xe9`)
			continue
		}
		b.WriteByte(name[i])
		i++
	}
	return b.String()
}

// escapedByte returns the byte that a text begins with in the form of [Name]: a backslash, or one
// that UTF-8 has only in longer sequences. No name can thus hide a dot or a slash.
func escapedByte(text string) (c byte, ok bool) {
	if len(text) < len(`\xe9`) || text[:2] != `\x` {
		return 0, false
	}
	n, err := strconv.ParseUint(text[2:4], 16, 8)
	return byte(n), err == nil && (n >= utf8.RuneSelf || n == '\\') && text[2:4] == strings.ToLower(text[2:4])
}
