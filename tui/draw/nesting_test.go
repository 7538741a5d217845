package draw

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"replan/themes"
)

func TestShallowTextIsUnchanged(t *testing.T) {
	for _, text := range []string{
		"", "words\n", "> quote\n> > quoted\n", "- a\n  - b\n    1. c\n       - d\n", "---\n***\n", "2026. was a year", "1) x\r\n",
		"```\n" + strings.Repeat(">", 40) + "\n```\n", "\tcode\n", "-no item", strings.Repeat("-", 40), strings.Repeat("*", 40),
	} {
		if got := shallow(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestNestingIsBoundedAndTextIsKept nests quotes and items at random.
func TestNestingIsBoundedAndTextIsKept(t *testing.T) {
	sign := rapid.SampledFrom([]string{">", "> ", "- ", "* ", "+\t", "1. ", "99) ", "  ", "\t", " "})
	rapid.Check(t, func(r *rapid.T) {
		line := strings.Join(rapid.SliceOfN(sign, 0, 200).Draw(r, "signs"), "") + "word"
		got := shallow(line)
		if !strings.HasSuffix(got, "word") {
			r.Fatalf("the text is lost: %q", got)
		}
		if n := strings.Count(got, ">") + strings.Count(got, "-") + strings.Count(got, "*") + strings.Count(got, "+") + strings.Count(got, "1.") + strings.Count(got, ")"); n > mostNested {
			r.Fatalf("%d levels are left in %q", n, got)
		}
		if len(got) > len(line) {
			r.Fatalf("%q became the longer %q", line, got)
		}
	})
}

// TestDeepNestingIsDrawn takes minutes and gigabytes if nesting is not bounded.
func TestDeepNestingIsDrawn(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector makes drawing too slow for its limit")
	}
	var list strings.Builder
	for i := range 800 {
		fmt.Fprintf(&list, "%s- x\n", strings.Repeat("  ", i))
	}
	mixed := strings.Repeat("> - ", 6) + "x\n" + strings.Repeat("> - ", 6) + "  - x\n" + strings.Repeat(">   ", 6) + strings.Repeat("- ", 300) + "y\n"
	for name, text := range map[string]string{
		"quotes": strings.Repeat(">", 20000) + " x", "items on a line": strings.Repeat("- ", 5000) + "x", "items by columns": list.String(), "both": strings.Repeat(mixed, 20),
	} {
		t.Run(name, func(t *testing.T) {
			m := NewMarkdown(NewStyles(new(themes.Set).New(themes.Dark, true, themes.Mode{NoColor: true})))
			if got := strings.Join(Texts(m.Lines(text, 80)), "\n"); !strings.Contains(got, "x") || len(m.slow) > 0 {
				t.Errorf("it is not rendered (too slow: %v):\n%.200s", len(m.slow) > 0, got)
			}
		})
	}
}

func TestOnlyFlatTextIsFlat(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "It **refuses** it, see `a_b.go`.\n\n# Head\n": true, "- one\n- two\n\n1. three\n": true, "> quoted\n": true,
		"> - item in a quote\n": false, "- - item in an item\n": false, "- one\n  - below\n": false, "\tindented": false, ">> quoted": false,
		"a\n```go\nb\n```\n": false, "~~~\na": false,
		strings.Repeat("a", longestFlat): true, strings.Repeat("a", longestFlat+1): false,
		strings.Repeat("*a", mostMarks): true, strings.Repeat("*a_[", mostMarks/2): false,
	} {
		if got := isFlat(text); got != want {
			t.Errorf("%.60q: got %v", text, got)
		}
	}
}

func TestFlatMarkdownIsRenderedWithoutTimeout(t *testing.T) {
	m := NewMarkdown(NewStyles(new(themes.Set).New(themes.Dark, true, themes.Mode{NoColor: true})))
	waits := 0
	m.wait = func() <-chan time.Time {
		waits++
		return nil
	}
	for text, want := range map[string]int{"a **flat** text": 0, "- a\n  - **nested** text": 1} {
		waits = 0
		if got := strings.Join(Texts(m.Lines(text, 80)), "\n"); strings.Contains(got, "**") || waits != want {
			t.Errorf("%q: waited %d times, want %d, for %q", text, waits, want, got)
		}
	}
}

func TestSlowMarkdownIsShownAsSource(t *testing.T) {
	m := NewMarkdown(NewStyles(new(themes.Set).New(themes.Dark, true, themes.Mode{NoColor: true})))
	over := make(chan time.Time)
	close(over)
	tried := 0
	m.wait = func() <-chan time.Time {
		tried++
		return over
	}
	text := strings.Repeat("**bold** ", 20000) // still being rendered at the timeout
	for range 2 {
		if got := ansi.Strip(m.Lines(text, 80)[0].Text); !strings.HasPrefix(got, "**bold** **bold**") {
			t.Fatalf("got %q", got)
		}
	}
	if tried != 1 {
		t.Errorf("rendering was tried %d times", tried)
	}
}
