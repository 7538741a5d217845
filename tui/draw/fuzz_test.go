package draw

import (
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"replan/themes"
)

// FuzzMarkdown checks that no reply of a model makes a line wider than its pane, or
// puts into it what a terminal obeys but the styles.
func FuzzMarkdown(f *testing.F) {
	for _, text := range []string{
		"# a\n\n- b\n  - c\n\n> d\n", "| a | b |\n|---|---|\n| `c|d` | **e** |\n", "```go\nfunc a() {}\n", strings.Repeat(">", 40) + strings.Repeat("- ", 40) + "x", "[a](javascript:x) <b>&#27;[2J ![i](u)", "a\x1b]52;c;eA==\ab\u009b2J\u202ec\td", "~~~\n```\n~~~\n", "1. a\n2) b\n   1. c\n",
		"👩\u200d🚀 🇩🇪 世界 " + strings.Repeat("w", 200), "a[^1]\n\n[^1]: b\n\n- [x] c\n", "\\\n&nbsp;&lt;\n***a** b*", "https://x.y/" + strings.Repeat("z", 100),
	} {
		f.Add(text, uint8(40))
	}
	styles := NewStyles(new(themes.Set).New(themes.Dark, true, themes.Mode{}))
	f.Fuzz(func(t *testing.T, text string, width uint8) {
		if len(text) > 2048 || width < 4 {
			return
		}
		for _, line := range NewMarkdown(styles).Lines(text, int(width)) {
			if ansi.StringWidth(line.Text) > int(width) {
				t.Fatalf("%q at %d cells has the line %q", text, width, line.Text)
			}
			rest := line.Text
			for _, r := range ansi.Strip(rest) {
				if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
					t.Fatalf("%q at %d cells has the line %q", text, width, line.Text)
				}
			}
			for {
				_, after, found := strings.Cut(rest, "\x1b")
				if !found {
					break
				}
				end := strings.IndexFunc(after, func(r rune) bool { return !strings.ContainsRune("[0123456789;:", r) })
				if end < 1 || after[0] != '[' || after[end] != 'm' {
					t.Fatalf("%q at %d cells has the line %q, with more than styles", text, width, line.Text)
				}
				rest = after[end:]
			}
		}
	})
}
