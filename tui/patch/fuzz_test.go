package patch_test

import (
	"strings"
	"testing"

	"replan/tui/patch"
)

// FuzzParse checks that a diff has no more lines than its text, that its counts are
// those of its lines, and that side by side each line is shown once.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"--- a/x.go\n+++ b/x.go\n@@ -1,2 +1,3 @@ func x()\n a\n-b\n+c\n+d\n\\ No newline at end of file\n", "@@ -1 +1 @@\n-a\n+b", "@@ -9223372036854775807,9 +9223372036854775807,9 @@\n a\n+b\n-c\n",
		"--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+--- a/y\n", "--- a\n+++ ", "@@ -1,0 +1,0 @@\n", "@@ -1,3 +1,9 @@\n-a\n-b\n-c\n+a\n\\x\n+a b\n+c\n", "\r\n@@ -1 +1 @@\r\n-\r\n+\r\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p := patch.Parse(text)
		if len(p.Lines) > strings.Count(text, "\n")+1 {
			t.Fatalf("%d lines of %q", len(p.Lines), text)
		}
		added, removed := 0, 0
		for i, l := range p.Lines {
			if l.File < -1 || l.File >= len(p.Files) || l.Old < 0 || l.New < 0 || l.Old > p.Longest || l.New > p.Longest {
				t.Fatalf("line %d of %q is %+v of %d files", i, text, l, len(p.Files))
			}
			switch l.Kind {
			case patch.Added:
				added++
			case patch.Removed:
				removed++
			}
		}
		if added != p.Added || removed != p.Removed {
			t.Fatalf("%q: counts +%d -%d, has +%d -%d", text, p.Added, p.Removed, added, removed)
		}
		shown := make([]int, len(p.Lines))
		for _, pair := range p.Pairs() {
			for side, i := range []int{pair.Left, pair.Right} {
				if i >= 0 && (side == 0 || i != pair.Left) {
					shown[i]++
				}
			}
			if l, r := pair.Left, pair.Right; l >= 0 && r >= 0 && l != r {
				for side, spans := range twoOf(patch.Words(p.Lines[l].Text, p.Lines[r].Text)) {
					whole := p.Lines[[]int{l, r}[side]].Text
					at := 0
					for _, s := range spans {
						if s.From < at || s.To < s.From || s.To > len(whole) {
							t.Fatalf("the words %+v are not in order in %q", spans, whole)
						}
						at = s.To
					}
				}
			}
		}
		for i, n := range shown {
			if n != 1 {
				t.Fatalf("line %d of %q is shown %d times", i, text, n)
			}
		}
	})
}

func twoOf(a, b []patch.Span) [][]patch.Span { return [][]patch.Span{a, b} }
