package untrusted_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"replan/internal/untrusted"
)

// FuzzClean checks that no form of a text holds what a terminal obeys or a reader
// cannot see, and that JSON means the same after it was made safe.
func FuzzClean(f *testing.F) {
	for _, text := range []string{
		"\x1b]52;c;eA==\a", "\x1bP1$r\x1b\\", "\u009b2J", "\x9b2J", "\u202ea\u2066b", "a\u200b\u2060\ufeff", "\U000E0041\U000E007F", "👩\u200d🚀 🇩🇪🇫 1\ufe0f\u20e3 👍🏽",
		"a\tb\r\nc\rd", "a&#27;b&ZeroWidthSpace;", "\ufe01\U000E0100", "\\u001b \\", "\xf0\x9f", "\u2028\u2029\u0085", "[x](\x1b[2J)",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for name, clean := range map[string]string{
			"Visible": untrusted.Visible(text), "VisibleTabs": untrusted.VisibleTabs(text), "Line": untrusted.Line(text), "FirstLine": untrusted.FirstLine(text), "Markdown": untrusted.Markdown(text),
		} {
			if !utf8.ValidString(clean) {
				t.Fatalf("%s(%q) = %q, which is no UTF-8", name, text, clean)
			}
			for _, r := range clean {
				if r != '\n' && (r != '\t' || name != "VisibleTabs") && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
					t.Fatalf("%s(%q) = %q holds %U", name, text, clean, r)
				}
			}
			if strings.Contains(name, "Line") && strings.Contains(clean, "\n") {
				t.Fatalf("%s(%q) = %q has a line break", name, text, clean)
			}
		}
		once := untrusted.ForModel(text)
		if again := untrusted.ForModel(once); again != once {
			t.Fatalf("ForModel(%q) = %q, and the second time %q", text, once, again)
		}
		data, err := json.Marshal(map[string]string{text: text})
		if err != nil {
			t.Fatal(err)
		}
		var before, after map[string]string
		safe := untrusted.JSON(data)
		if json.Unmarshal(data, &before) != nil || json.Unmarshal(safe, &after) != nil || !reflect.DeepEqual(before, after) {
			t.Fatalf("%q became %q, which means something else", data, safe)
		}
		for _, r := range string(safe) {
			if r != '\ufe0f' && untrusted.Visible(string(r)) != string(r) { // U+FE0F makes a sign an emoji
				t.Fatalf("%q holds %U", safe, r)
			}
		}
	})
}
