package untrusted

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// JSON returns JSON with the same meaning whose characters are safe to draw: those
// that Visible makes visible are escapes. JSON on standard output may be seen on a
// terminal.
func JSON(text []byte) []byte {
	unsafe := func(r rune) bool { return r >= 0x7F && (unsafeRune(r) || regional(r)) }
	if !bytes.ContainsFunc(text, unsafe) {
		return text
	}
	out := make([]byte, 0, len(text)+64)
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case !unsafe(r): // outside of texts there are none
			out = append(out, text[:size]...)
		case r > 0xFFFF:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xD800+r>>10, 0xDC00+r&0x3FF)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		text = text[size:]
	}
	return out
}
