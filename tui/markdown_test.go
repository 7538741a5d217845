package tui

import (
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"replan/themes"
	"replan/tui/chat"
	"replan/tui/draw"
	"replan/tui/panetest"
)

func TestMarkdownKeepsItsWidthAndSendsOnlyColours(t *testing.T) {
	pieces := rapid.SampledFrom([]string{
		"word ", "longer-word-that-may-break ", "\n", "\n\n", "- ", "1. ", "> ", "# ", "**", "`", "```go\n", "```\n", "| a | b |\n|---|---|\n| c | d |\n",
		"[x](http://e.x/\x1b]0;t\x07)", "&#27;[2J", "&#x202e;", "\x1b[31m", "世界", "\u200b", "    ", "---\n", "<b>", "![i](u)", "- [ ] ",
	})
	m := draw.NewMarkdown(draw.NewLook(themes.New(themes.Dark, true, themes.Mode{})))
	rapid.Check(t, func(r *rapid.T) {
		text := strings.Join(rapid.SliceOfN(pieces, 0, 30).Draw(r, "pieces"), "")
		width := rapid.IntRange(4, 90).Draw(r, "width")
		for _, line := range draw.Texts(m.Lines(text, width)) {
			if w := ansi.StringWidth(line); w > width {
				r.Fatalf("%d cells where there are %d: %q\nof %q", w, width, line, text)
			}
			rest := line
			for {
				_, after, found := strings.Cut(rest, "\x1b")
				if !found {
					break
				}
				end := strings.IndexByte(after, 'm')
				if !strings.HasPrefix(after, "[") || end < 0 || strings.Trim(after[1:end], "0123456789;:") != "" {
					r.Fatalf("a sequence that is no colour: %q\nof %q", line, text)
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

func TestListItemsHang(t *testing.T) {
	m := draw.NewMarkdown(draw.NewLook(themes.New(themes.Dark, true, themes.Mode{NoColor: true})))
	got := strings.Join(draw.Texts(m.Lines("- one item that\n  goes on\n  - and below it another\n\n1. first of all the things\n\n> quoted words in a row", 16)), "\n")
	want := "• one item that\n  goes on\n  • and below it\n    another\n\n1. first of all\n   the things\n\n│ quoted words\n│ in a row"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestStreamedMarkdownIsWhatTheWholeWouldBe streams a text in pieces of any
// size.
func TestStreamedMarkdownIsWhatTheWholeWouldBe(t *testing.T) {
	text := "# Head\n\nA paragraph that **runs** on.\n\n- one\n- two\n\n  still two\n\n  ```sh\n  ls\n\n  pwd\n  ```\n\n```go\na := 1\n\nb := 2\n```\n\nThen `more`.\n\n1. x\n\n2. y\n\nThe end.\n"
	theDraw := func(c *chat.Pane) string {
		var lines []string
		for i := range c.Blocks {
			lines = append(lines, draw.Texts(c.LinesOf(i))...)
		}
		return ansi.Strip(strings.Join(lines, "\n"))
	}
	pane := func() *chat.Pane {
		c := chat.New(panetest.DarkLook(), "", func(int) []string { return nil })
		c.SetSize(40, 20)
		return c
	}
	whole := pane()
	whole.Add(whole.Prose(text)...)
	want := theDraw(whole)
	if glamour := panetest.Stripped(draw.Texts(whole.Markdown.Lines(text, 40))); panetest.Stripped(strings.Split(want, "\n")) != glamour {
		t.Fatalf("in parts\n%s\nand as a whole\n%s", want, glamour)
	}
	rapid.Check(t, func(r *rapid.T) {
		c, turn := pane(), &chat.Turn{}
		for at := 0; at < len(text); {
			at = min(at+rapid.IntRange(1, 20).Draw(r, "piece"), len(text))
			turn.Text = text[:at]
			c.Flow(turn)
			theDraw(c)
		}
		turn.Done = true
		c.Flow(turn)
		if got := theDraw(c); got != want {
			r.Fatalf("got\n%s\nwant\n%s", got, want)
		}
	})
}

func TestATableKeepsToTheWidthAndTheRestStillHangs(t *testing.T) {
	m := draw.NewMarkdown(draw.NewLook(themes.New(themes.Dark, true, themes.Mode{NoColor: true})))
	got := strings.Join(draw.Texts(m.Lines("Before.\n\n| a | b |\n|---|---|\n| one | two words more |\n\n- an item that goes on", 16)), "\n")
	for _, want := range []string{"Before.\n\n", "│", "• an item that\n  goes on"} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q in\n%s", want, got)
		}
	}
}
