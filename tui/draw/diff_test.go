package draw

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"replan/themes"
)

func diffOf(text string, width int, mode themes.Mode) []string {
	d := &Document{Styles: NewStyles(new(themes.Set).New(themes.Dark, true, mode)), Width: width}
	d.Diff(text)
	return d.Whole()
}

func bare(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = strings.TrimRight(ansi.Strip(line), " ")
	}
	return out
}

func TestDiffKeepsEveryLine(t *testing.T) {
	for name, c := range map[string]struct {
		width int
		diff  string
		want  []string
	}{
		"both line numbers": {
			60, "--- a/x.go\n+++ b/x.go\n@@ -9,2 +9,2 @@\n same\n-old\n+new\n",
			[]string{"x.go  +1 −1", "@@ -9,2 +9,2 @@", " 9  9  same", "10    -old", "   10 +new"},
		},
		"one line number if narrow": {
			40, "--- a/x.go\n+++ b/x.go\n@@ -9,2 +9,2 @@\n same\n-old\n+new\n",
			[]string{"x.go  +1 −1", "@@ -9,2 +9,2 @@", " 9  same", "10 -old", "10 +new"},
		},
		"no line number if very narrow": {
			20, "--- a/x.go\n+++ b/x.go\n@@ -9,2 +9,2 @@\n same\n-old\n+new\n",
			[]string{"x.go  +1 −1", "@@ -9,2 +9,2 @@", " same", "-old", "+new"},
		},
		"file line like a heading": {
			60, "--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1,2 @@\n--- drop it\n+++ keep it\n same\n",
			[]string{"x.sql  +1 −1", "@@ -1,2 +1,2 @@", "1   --- drop it", "  1 +++ keep it", "2 2  same"},
		},
		"two files": {
			60, "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+a\n--- a/y\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
			[]string{"n (new file)  +1 −0", "@@ -0,0 +1 @@", "  1 +a", "", "y (removed)  +0 −1", "@@ -1 +0,0 @@", "1   -a"},
		},
		"long line wraps": {
			30, "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+0123456789012345678901234567890123456789\n",
			[]string{"x  +1 −1", "@@ -1 +1 @@", "1 -a", "1 +012345678901234567890123456", "   7890123456789"},
		},
		"side by side if wide": {
			140, "--- a/x.go\n+++ b/x.go\n@@ -1,2 +1,3 @@\n same\n-user := authenticate(ctx)\n+// more\n+user := verifyUser(ctx)\n",
			[]string{
				"x.go  +2 −1", "@@ -1,2 +1,3 @@",
				"1  same" + strings.Repeat(" ", 62) + "│ 1  same",
				strings.Repeat(" ", 69) + "│ 2 +// more",
				"2 -user := authenticate(ctx)" + strings.Repeat(" ", 41) + "│ 3 +user := verifyUser(ctx)",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			lines := diffOf(c.diff, c.width, themes.Mode{})
			if got := bare(lines); !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
			for _, line := range lines {
				if ansi.StringWidth(line) > c.width {
					t.Errorf("%q is wider than %d cells", line, c.width)
				}
			}
		})
	}
}

func TestChangedWordsAreUnderlined(t *testing.T) {
	const text = "--- a/x.go\n+++ b/x.go\n@@ -1 +1 @@\n-\tuser := authenticate(ctx)\n+\tuser := verifyUser(ctx)\n"
	for name, mode := range map[string]themes.Mode{"in color": {}, "without color": {NoColor: true}} {
		t.Run(name, func(t *testing.T) {
			lines := diffOf(text, 60, mode)
			for i, word := range map[int]string{2: "authenticate", 3: "verifyUser"} {
				if got := underlined(lines[i]); got != word {
					t.Errorf("underlined in %q: got %q, want %q", lines[i], got, word)
				}
			}
		})
	}
}

// underlined returns the underlined part of a line.
func underlined(line string) string {
	var out strings.Builder
	var state byte
	under := false
	parser := ansi.NewParser()
	for line != "" {
		seq, width, n, next := ansi.DecodeSequence(line, state, parser)
		if width > 0 && under {
			out.WriteString(seq)
		}
		if width == 0 && strings.HasSuffix(seq, "m") {
			params := strings.Split(strings.Trim(seq, "\x1b[m"), ";")
			under = slices.Contains(params, "4")
		}
		state, line = next, line[n:]
	}
	return out.String()
}

// longDiff returns a diff that changes every fifth line of a file of n lines.
func longDiff(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "--- a/x.go\n+++ b/x.go\n@@ -1,%d +1,%d @@\n", n, n)
	for i := range n {
		if i%5 == 4 {
			fmt.Fprintf(&b, "-\tvalue%d, err := compute(ctx, %d, \"before\")\n+\tvalue%d, err := computeAll(ctx, %d, \"after\")\n", i, i, i, i)
		} else {
			fmt.Fprintf(&b, " \tif err := step%d(ctx); err != nil { // this is line %d\n", i, i)
		}
	}
	return b.String()
}

func TestLongDiffDrawsOnlyVisibleRows(t *testing.T) {
	for _, width := range []int{80, 160} {
		d := &Document{Styles: NewStyles(new(themes.Set).New(themes.Dark, true, themes.Mode{})), Width: width}
		d.Diff(longDiff(10_000))
		top := 5_000
		d.Rows(&top, 40)
		drawn := 0
		for _, line := range d.Lines {
			if line != "" {
				drawn++
			}
		}
		if drawn > 40 {
			t.Errorf("drew %d rows of %d for a view of 40", drawn, len(d.Lines))
		}
	}
}

func BenchmarkALongDiffOpens(b *testing.B) {
	text := longDiff(10_000)
	for _, width := range []int{80, 160} {
		b.Run(fmt.Sprint(width), func(b *testing.B) {
			for b.Loop() {
				d := &Document{Styles: NewStyles(new(themes.Set).New(themes.Dark, true, themes.Mode{})), Width: width}
				d.Diff(text)
				top := 0
				d.Rows(&top, 50)
			}
		})
	}
}

func BenchmarkALongDiffScrolls(b *testing.B) {
	d := &Document{Styles: NewStyles(new(themes.Set).New(themes.Dark, true, themes.Mode{})), Width: 160}
	d.Diff(longDiff(200_000))
	top := 0
	for b.Loop() {
		top++
		d.Rows(&top, 50)
	}
}
