package untrusted_test

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"replan/internal/untrusted"
)

func TestVisible(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain text stays", "a b\nc", "a b\nc"},
		{"letters of all scripts stay", "né 世界 🙂", "né 世界 🙂"},
		{"an escape sequence is shown", "\x1b[2J", "^[[2J"},
		{"a bell is shown", "\a", "^G"},
		{"delete is shown", "\x7f", "^?"},
		{"a C1 control is shown", "\u009b1m", "<U+009B>1m"},
		{"text cannot run backwards", "a\u202eb", "a<U+202E>b"},
		{"zero width is shown", "a\u200bb", "a<U+200B>b"},
		{"hidden tags are shown", "\U000E0041", "<U+E0041>"},
		{"variation selectors are shown", "a\ufe01", "a<U+FE01>"},
		{"the emoji selector goes", "✔\ufe0f", "✔"},
		{"a picture of several is shown as several", "👩\u200d👩\u200d👧 👨\u200d💻", "👩👩👧 👨💻"},
		{"a joiner between letters is shown", "a\u200db", "a<U+200D>b"},
		{"a joiner behind a picture is shown", "👩\u200da", "👩<U+200D>a"},
		{"a colour of skin goes", "👍🏽 👩🏽\u200d💻", "👍 👩💻"},
		{"one of nothing is shown", "a🏽", "a<U+1F3FD>"},
		{"a flag stays", "🇩🇪🇫🇷", "🇩🇪🇫🇷"},
		{"half a flag is shown", "🇩🇪🇫", "🇩🇪<U+1F1EB>"},
		{"a keycap is its letter", "1\ufe0f\u20e3", "1\u20e3"},
		{"bytes that are no text are shown", "a\xffb", `a\xffb`},
		{"a tab goes to the next stop", "ab\tc\n\td", "ab  c\n    d"},
		{"a carriage return before a line break goes", "a\r\nb", "a\nb"},
		{"any other is shown", "a\rb", "a^Mb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := untrusted.Visible(c.in); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestWhateverComesVisibleDrawsIt(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		in := string(rapid.SliceOf(rapid.Byte()).Draw(r, "bytes")) + rapid.String().Draw(r, "text")
		for _, c := range untrusted.Visible(in) {
			if c != '\n' && (unicode.IsControl(c) || unicode.Is(unicode.Cf, c) || c == unicode.ReplacementChar && !strings.ContainsRune(in, c)) {
				r.Fatalf("%q leaves %q", in, c)
			}
		}
		if line := untrusted.Line(in); strings.Contains(line, "\n") {
			r.Fatalf("%q is no line", line)
		}
	})
}
