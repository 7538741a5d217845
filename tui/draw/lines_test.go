package draw_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"replan/themes"
	"replan/tui/draw"
	"replan/tui/panetest"
)

func TestHangingLinesAlignBelowTheFirst(t *testing.T) {
	if got, want := draw.Hang("→ ", []string{"one", "two"}), []string{"→ one", "  two"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestSurplusLinesAreCountedOrCut(t *testing.T) {
	l := panetest.DarkLook()
	lines := []string{"one", "two", "three"}
	if got := l.AtMost(slices.Clone(lines), 2, 7); !slices.Equal(got, []string{"one", "two th…"}) {
		t.Errorf("%q", got)
	}
	if got := l.Shorten(slices.Clone(lines), 1, 20); len(got) != 2 || panetest.Stripped(got) != "one\n2 more lines" {
		t.Errorf("%q", got)
	}
	for _, most := range []int{2, 3} {
		if got := l.Shorten(slices.Clone(lines), most, 20); !slices.Equal(got, lines) {
			t.Errorf("at most %d: %q", most, got)
		}
	}
}

func TestWrappedCodeKeepsItsIndentation(t *testing.T) {
	lines := draw.NewMarkdown(panetest.DarkLook()).Code("", "    call(first, second, third)", 20, false)
	want := "│     call(first,\n│     second, third)"
	if got := panetest.Stripped(draw.Texts(lines)); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := draw.Unbroken(lines), "    call(first, second, third)"; got != want {
		t.Errorf("copied %q, want %q", got, want)
	}
}

func TestFlagIsNotBrokenAfterItsHyphens(t *testing.T) {
	for text, want := range map[string]string{
		"it says that --quiet is read":        "it says that\n--quiet is read",
		"it says that (--quiet) is":           "it says that\n(--quiet) is",
		"it can be a well-known one":          "it can be a well-\nknown one",
		"it says \uE02D that --quiet is read": "it says \uE02D that --\nquiet is read", // private use, kept
	} {
		if got := strings.Join(draw.Wrap(text, 17), "\n"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	styled := "it says that \x1b[31m--quiet\x1b[m is read"
	if got, want := panetest.Stripped(draw.WrapStyled(styled, 17)), "it says that\n--quiet is read"; got != want {
		t.Errorf("styled: got %q, want %q", got, want)
	}
	markdown := draw.NewMarkdown(panetest.DarkLook()).Lines("it says that `--quiet` is read", 17)
	if got, want := panetest.Stripped(draw.Texts(markdown)), "it says that\n--quiet is read"; got != want {
		t.Errorf("Markdown: got %q, want %q", got, want)
	}
}

func TestUnmarkedLinesKeepWhatIsNoMark(t *testing.T) {
	for line, want := range map[string]string{
		"the **old** name of `Make`": "the old name of Make",
		"**a b** and **c**":          "a b and c",
		"2 ** 3 and a**b":            "2 ** 3 and a**b",
		"**kwargs of __init__":       "**kwargs of __init__",
	} {
		if got := draw.Unmarked(line); got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

func TestWrapAddsNoEmptyLine(t *testing.T) {
	const text = "start it with `ollama serve`, or choose one with --host and --model"
	styled := draw.NewStyles(new(themes.Set).New(themes.Dark, true, themes.Mode{})).Danger.Render(text)
	for width := 8; width < 80; width++ {
		for _, lines := range [][]string{draw.Wrap(text, width), draw.WrapStyled(text, width), draw.WrapStyled(styled, width)} {
			for _, line := range lines {
				if strings.TrimSpace(ansi.Strip(line)) == "" {
					t.Errorf("%d cells: %q", width, lines)
				}
			}
		}
	}
	if got := draw.Wrap("one\n\ntwo", 8); len(got) != 3 {
		t.Errorf("an empty line of the text is lost: %q", got)
	}
}
