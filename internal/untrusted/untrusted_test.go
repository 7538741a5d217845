package untrusted_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"replan/internal/untrusted"
)

func TestVisible(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain text", "a b\nc", "a b\nc"},
		{"letters of any script", "né 世界 🙂", "né 世界 🙂"},
		{"escape sequence", "\x1b[2J", "^[[2J"},
		{"bell", "\a", "^G"},
		{"delete", "\x7f", "^?"},
		{"C1 control", "\u009b1m", "<U+009B>1m"},
		{"bidirectional override", "a\u202eb", "a<U+202E>b"},
		{"zero width", "a\u200bb", "a<U+200B>b"},
		{"hidden tag", "\U000E0041", "<U+E0041>"},
		{"variation selector", "a\ufe01", "a<U+FE01>"},
		{"emoji selector", "✔\ufe0f", "✔"},
		{"joined emoji", "👩\u200d👩\u200d👧 👨\u200d💻", "👩👩👧 👨💻"},
		{"joiner between letters", "a\u200db", "a<U+200D>b"},
		{"joiner after an emoji", "👩\u200da", "👩<U+200D>a"},
		{"skin tone", "👍🏽 👩🏽\u200d💻", "👍 👩💻"},
		{"skin tone after a letter", "a🏽", "a<U+1F3FD>"},
		{"flag", "🇩🇪🇫🇷", "🇩🇪🇫🇷"},
		{"half a flag", "🇩🇪🇫", "🇩🇪<U+1F1EB>"},
		{"keycap", "1\ufe0f\u20e3", "1\u20e3"},
		{"invalid UTF-8", "a\xffb", `a\xffb`},
		{"tab", "ab\tc\n\td", "ab  c\n    d"},
		{"carriage return before a newline", "a\r\nb", "a\nb"},
		{"other carriage return", "a\rb", "a^Mb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := untrusted.Visible(c.in); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestModelsCanCopyAllThatIsNotHidden(t *testing.T) {
	for _, same := range []string{
		"né 世界 שלום", "⚠\ufe0f ℹ\ufe0f ©\ufe0f 1\ufe0f\u20e3", "👩\u200d👩\u200d👧 ❤\ufe0f\u200d🔥 👩🏽\u200d💻", "🇩🇪", "ab\tc\r\nd\n", "\ufeffusing System;",
	} {
		if got := untrusted.ForModel(same); got != same {
			t.Errorf("got %+q, want %+q", got, same)
		}
	}
	for in, want := range map[string]string{
		"a\u200bb\u200dc \u202ed":               "a<U+200B>b<U+200D>c <U+202E>d",
		"🏴\U000E0067\U000E007F":                 "🏴<U+E0067><U+E007F>",
		"a\ufe0fb ⚠\ufe0f\ufe0f c\ufeffd\ufe01": "a<U+FE0F>b ⚠\ufe0f<U+FE0F> c<U+FEFF>d<U+FE01>",
		"a\rb\x1b[2J":                           "a^Mb^[[2J",
	} {
		got := untrusted.ForModel(in)
		if got != want {
			t.Errorf("got %+q, want %+q", got, want)
		}
		if again := untrusted.ForModel(got); again != got {
			t.Errorf("the second time: got %+q, want %+q", again, got)
		}
	}
}

func TestVisibleLeavesNoControlCharacters(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		in := string(rapid.SliceOf(rapid.Byte()).Draw(r, "bytes")) + rapid.String().Draw(r, "text")
		for _, c := range untrusted.Visible(in) {
			if c != '\n' && (unicode.IsControl(c) || unicode.Is(unicode.Cf, c) || c == unicode.ReplacementChar && !strings.ContainsRune(in, c)) {
				r.Fatalf("%q: got %q in the result", in, c)
			}
		}
		if line := untrusted.Line(in); strings.Contains(line, "\n") {
			r.Fatalf("got several lines: %q", line)
		}
	})
}

func TestPrintedTextIsClean(t *testing.T) {
	text := untrusted.Text("\n a\x1b[2Jb\n&#27;c")
	for _, c := range []struct{ name, got, want string }{
		{"String", text.String(), "\n a^[[2Jb\n&#27;c"},
		{"%s", fmt.Sprintf("<%s>", text), "<\n a^[[2Jb\n&#27;c>"},
		{"%v in a struct", fmt.Sprintf("%v", struct{ T untrusted.Text }{text}), "{\n a^[[2Jb\n&#27;c}"},
		{"Visible", text.Visible(), "\n a^[[2Jb\n&#27;c"},
		{"Markdown", text.Markdown(), "\n a^[[2Jb\n&amp;#27;c"},
		{"Line", text.Line(), "a^[[2Jb &#27;c"},
		{"FirstLine", text.FirstLine(), "a^[[2Jb"},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, c.got, c.want)
		}
	}
}

func TestTextKeepsItsJSON(t *testing.T) {
	const text = untrusted.Text("a\x1b[2Jb\n")
	data, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	var back untrusted.Text
	if err := json.Unmarshal(data, &back); err != nil || back != text {
		t.Errorf("%s: got %q, %v; want %q", data, string(back), err, string(text))
	}
}
