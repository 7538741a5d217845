package draw_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"replan/themes"
	"replan/tui/draw"
)

func TestMarkdownFitsWidthAndEmitsOnlyColors(t *testing.T) {
	pieces := rapid.SampledFrom([]string{
		"word ", "longer-word-that-may-break ", "\n", "\n\n", "- ", "1. ", "> ", "# ", "**", "`", "```go\n", "```\n", "| a | b |\n|---|---|\n| c | d |\n",
		"[x](http://e.x/\x1b]0;t\x07)", "&#27;[2J", "&#x202e;", "\x1b[31m", "世界", "\u200b", "    ", "---\n", "<b>", "![i](u)", "- [ ] ",
	})
	m := draw.NewMarkdown(draw.NewStyles(new(themes.Set).New(themes.Dark, true, themes.Mode{})))
	rapid.Check(t, func(r *rapid.T) {
		text := strings.Join(rapid.SliceOfN(pieces, 0, 30).Draw(r, "pieces"), "")
		width := rapid.IntRange(4, 90).Draw(r, "width")
		for _, line := range draw.Texts(m.Lines(text, width)) {
			if w := ansi.StringWidth(line); w > width {
				r.Fatalf("got %d cells, want at most %d: %q\nof %q", w, width, line, text)
			}
			rest := line
			for {
				_, after, found := strings.Cut(rest, "\x1b")
				if !found {
					break
				}
				end := strings.IndexByte(after, 'm')
				if !strings.HasPrefix(after, "[") || end < 0 || strings.Trim(after[1:end], "0123456789;:") != "" {
					r.Fatalf("got a sequence that is not a color: %q\nof %q", line, text)
				}
				rest = after[end:]
			}
			for _, c := range ansi.Strip(line) {
				if unicode.IsControl(c) || unicode.Is(unicode.Cf, c) {
					r.Fatalf("%q in %q\nof %q", c, line, text)
				}
			}
		}
	})
}

func TestListItemsHaveHangingIndent(t *testing.T) {
	m := draw.NewMarkdown(draw.NewStyles(new(themes.Set).New(themes.Dark, true, themes.Mode{NoColor: true})))
	got := strings.Join(draw.Texts(m.Lines("- one item that\n  goes on\n  - and below it another\n\n1. first of all the things\n\n> quoted words in a row", 16)), "\n")
	want := "• one item that\n  goes on\n  • and below it\n    another\n\n1. first of all\n   the things\n\n│ quoted words\n│ in a row"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTableKeepsHangingIndentOfLists(t *testing.T) {
	m := draw.NewMarkdown(draw.NewStyles(new(themes.Set).New(themes.Dark, true, themes.Mode{NoColor: true})))
	got := strings.Join(draw.Texts(m.Lines("Before.\n\n| a | b |\n|---|---|\n| one | two words more |\n\n- an item that goes on", 16)), "\n")
	for _, want := range []string{"Before.\n\n", "│", "• an item that\n  goes on"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

func TestHeadingsKeepTheirRankWithoutColors(t *testing.T) {
	m := draw.NewMarkdown(draw.NewStyles(new(themes.Set).New(themes.Dark, true, themes.Mode{NoColor: true, ASCII: true})))
	got := ansi.Strip(strings.Join(draw.Texts(m.Lines("# One\n\n## Two\n\n### Three", 40)), "\n"))
	if want := "# One\n\n## Two\n\n### Three"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
