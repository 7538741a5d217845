package tree

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// IsText reports whether data can be shown as lines of text.
func IsText(data []byte) bool { return !IsBinary(data) && utf8.Valid(data) }

// IsBinary reports whether data has a NUL near its beginning, as binary files do.
func IsBinary(data []byte) bool {
	const head = 8 << 10
	return bytes.IndexByte(data[:min(len(data), head)], 0) >= 0
}

// ByteOrderMark is what some programs put before the first line of a text. It is no part of that
// line, and readers do not see it.
const ByteOrderMark = "\uFEFF"

// KeepMark returns a new text of a file that begins with the byte order mark if the old one does.
func KeepMark(before []byte, text string) string {
	if bytes.HasPrefix(before, []byte(ByteOrderMark)) && !strings.HasPrefix(text, ByteOrderMark) {
		return ByteOrderMark + text
	}
	return text
}

// AllCRLF reports whether every line of a text ends in CR LF.
func AllCRLF(text string) bool {
	n := strings.Count(text, "\n")
	return n > 0 && strings.Count(text, "\r\n") == n
}

// ToCRLF makes every line end in CR LF.
func ToCRLF(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
}
