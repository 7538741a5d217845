package patch_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"replan/tui/patch"
)

// describe writes each line as its numbers, its kind and its text.
func describe(p patch.Patch) []string {
	var out []string
	for _, l := range p.Lines {
		out = append(out, fmt.Sprintf("%d %d %s%s", l.Old, l.New, [...]string{" ", "+", "-", "#", "@", "\\"}[l.Kind], l.Text))
	}
	return out
}

func TestParseNumbersHunkLines(t *testing.T) {
	for name, c := range map[string]struct {
		diff string
		want []string
	}{
		"numbers start at the hunk header": {
			"--- a/x.go\n+++ b/x.go\n@@ -7,3 +9,3 @@ func f()\n a\n-old\n+new\n b\n",
			[]string{"0 0 #x.go", "0 0 @@@ -7,3 +9,3 @@ func f()", "7 9  a", "8 0 -old", "0 10 +new", "9 11  b"},
		},
		"file line like a heading": {
			"--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1,2 @@\n--- drop it\n+++ keep it\n same\n",
			[]string{"0 0 #x.sql", "0 0 @@@ -1,2 +1,2 @@", "1 0 --- drop it", "0 1 +++ keep it", "2 2  same"},
		},
		"new file":     {"--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+a\n", []string{"0 0 #n (new file)", "0 0 @@@ -0,0 +1 @@", "0 1 +a"}},
		"removed file": {"--- a/n\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", []string{"0 0 #n (removed)", "0 0 @@@ -1 +0,0 @@", "1 0 -a"}},
		"renamed file": {"--- a/m\n+++ b/n\n@@ -1 +1 @@\n-a\n+b\n", []string{"0 0 #m → n", "0 0 @@@ -1 +1 @@", "1 0 -a", "0 1 +b"}},
		"no newline at end": {
			"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n",
			[]string{"0 0 #x", "0 0 @@@ -1 +1 @@", "1 0 -a", `0 0 \\ No newline at end of file`, "0 1 +b"},
		},
		"other text is unchanged": {"it moves 3 files\n", []string{`0 0 \it moves 3 files`}},
		"empty":                   {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := describe(patch.Parse(c.diff)); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestParseCountsChangesPerFile(t *testing.T) {
	p := patch.Parse("--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-a\n+b\n+c\n--- a/y\n+++ b/y\n@@ -120 +120 @@\n-a\n+b\n")
	if p.Added != 3 || p.Removed != 2 || p.Longest != 120 || len(p.Files) != 2 {
		t.Fatalf("%+v", p)
	}
	if f := p.Files[0]; f.Added != 2 || f.Removed != 1 || f.Name() != "x" {
		t.Errorf("%+v", f)
	}
}

func TestPairsAlignReplacedLines(t *testing.T) {
	diff := "--- a/x\n+++ b/x\n@@ -1,4 +1,5 @@\n same\n-\tuser, err := authenticate(ctx)\n+\t// one line more\n+\t// and another\n+\tuser, err := verifyUser(ctx)\n-gone\n-too\n+came\n"
	var got []string
	p := patch.Parse(diff)
	for _, pair := range p.Pairs() {
		side := func(i int) string {
			if i < 0 {
				return ""
			}
			return strings.TrimSpace(p.Lines[i].Text)
		}
		got = append(got, side(pair.Left)+" | "+side(pair.Right))
	}
	want := []string{
		"x | x", "@@ -1,4 +1,5 @@ | @@ -1,4 +1,5 @@", "same | same",
		" | // one line more", " | // and another", "user, err := authenticate(ctx) | user, err := verifyUser(ctx)",
		"gone | came", "too | ",
	}
	// Lines without any similarity may be paired either way.
	if !slices.Equal(got[:6], want[:6]) || len(got) != len(want) && len(got) != len(want)+1 {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWordsFindsChangedWords(t *testing.T) {
	for name, c := range map[string]struct{ before, after, want string }{
		"one name":            {"user, err := authenticate(ctx, token)", "user, err := verifyUser(ctx, token)", "authenticate > verifyUser"},
		"two places":          {"if a == b && c {", "if x == b && d {", "a,c > x,d"},
		"adjacent words":      {"return the old value here", "return a new thing here", "the old value > a new thing"},
		"added":               {"call(a)", "call(a, b)", " > , b"},
		"removed":             {"call(a, b)", "call(a)", ", b > "},
		"letters of any kind": {"let straße = some.value", "let straßen = some.value", "straße > straßen"},
		"nothing alike":       {"alpha beta", "gamma", "nil"},
		"nothing changed":     {"same", "same", " > "},
	} {
		t.Run(name, func(t *testing.T) {
			old, now := patch.Words(c.before, c.after)
			parts := func(spans []patch.Span, line string) string {
				var out []string
				for _, s := range spans {
					out = append(out, line[s.From:s.To])
				}
				return strings.Join(out, ",")
			}
			got := parts(old, c.before) + " > " + parts(now, c.after)
			if c.want == "nil" {
				if old != nil || now != nil {
					t.Errorf("got %q for lines that have nothing in common", got)
				}
				return
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
