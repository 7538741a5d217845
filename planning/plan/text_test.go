package plan_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"replan/planning/plan"

	"pgregory.net/rapid"
)

var hunkHead = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@$`)

// TestHunksMatchTheirHeaders checks the hunks of random diffs against both texts:
// their lines are where the header says, and the texts are equal outside the
// hunks.
func TestHunksMatchTheirHeaders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"a", "b", "c", "d", "", "long line"})
		before := rapid.SliceOfN(line, 0, 60).Draw(t, "before")
		after := slices.Clone(before)
		for range rapid.IntRange(0, 8).Draw(t, "edits") {
			at := rapid.IntRange(0, len(after)).Draw(t, "at")
			end := min(at+rapid.IntRange(0, 3).Draw(t, "removed"), len(after))
			after = slices.Replace(after, at, end, rapid.SliceOfN(line, 0, 3).Draw(t, "added")...)
		}
		old := strings.Join(before, "\n") + rapid.SampledFrom([]string{"", "\n"}).Draw(t, "ends before")
		now := strings.Join(after, "\n") + rapid.SampledFrom([]string{"", "\n"}).Draw(t, "ends after")
		diff, added, removed := plan.UnifiedDiff("a", "b", old, now)
		checkHunks(t, diff, old, now, added, removed)
	})
}

func TestMergedHunkKeepsLaterLineNumbers(t *testing.T) {
	before := strings.Repeat("a\nb\nc\n", 20)
	lines := strings.SplitAfter(before, "\n")
	for _, at := range []int{2, 6, 10, 40} {
		lines[at] = "x\n"
	}
	diff, added, removed := plan.UnifiedDiff("a", "b", before, strings.Join(lines, ""))
	checkHunks(t, diff, before, strings.Join(lines, ""), added, removed)
	if !strings.Contains(diff, "@@ -38,7 +38,7 @@") {
		t.Errorf("the last hunk is not at line 38 of both files:\n%s", diff)
	}
}

// fataler is the common interface of tests and properties.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// textLines returns the lines of a text; a last line without a line break stays
// distinct.
func textLines(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	return lines[:len(lines)-1+min(len(lines[len(lines)-1]), 1)]
}

func checkHunks(t fataler, diff, old, now string, added, removed int) {
	t.Helper()
	if (diff == "") != (old == now) {
		t.Fatalf("the diff of %q and %q is %q", old, now, diff)
	}
	if diff == "" {
		return
	}
	body, found := strings.CutPrefix(diff, "--- a\n+++ b\n")
	if !found {
		t.Fatalf("the diff has no header:\n%s", diff)
	}
	oldLines, nowLines := textLines(old), textLines(now)
	oldAt, nowAt := 0, 0 // lines before these are checked
	lines := textLines(body)
	for len(lines) > 0 {
		head := hunkHead.FindStringSubmatch(strings.TrimSuffix(lines[0], "\n"))
		if head == nil {
			t.Fatalf("%q is not a hunk header:\n%s", lines[0], diff)
		}
		lines = lines[1:]
		var oldPart, newPart []string
		for len(lines) > 0 && !strings.HasPrefix(lines[0], "@@") {
			sign, text := lines[0][0], lines[0][1:]
			lines = lines[1:]
			if len(lines) > 0 && strings.HasPrefix(lines[0], `\`) {
				text, lines = strings.TrimSuffix(text, "\n"), lines[1:]
			}
			if sign != '+' {
				oldPart = append(oldPart, text)
			}
			if sign != '-' {
				newPart = append(newPart, text)
			}
			switch sign {
			case '+':
				added--
			case '-':
				removed--
			}
		}
		oldFrom, nowFrom := checkSide(t, head[1], head[2], oldPart, oldLines), checkSide(t, head[3], head[4], newPart, nowLines)
		if !slices.Equal(oldLines[oldAt:oldFrom], nowLines[nowAt:nowFrom]) {
			t.Fatalf("the lines before the hunk %s differ without a hunk:\n%s", head[0], diff)
		}
		oldAt, nowAt = oldFrom+len(oldPart), nowFrom+len(newPart)
	}
	if !slices.Equal(oldLines[oldAt:], nowLines[nowAt:]) {
		t.Fatalf("the lines after the last hunk differ:\n%s", diff)
	}
	if added != 0 || removed != 0 {
		t.Fatalf("the counts of lines are off by +%d -%d:\n%s", added, removed, diff)
	}
}

// checkSide checks one side of a hunk against its text and returns the position
// of its first line.
func checkSide(t fataler, line, count string, lines, text []string) int {
	t.Helper()
	from, _ := strconv.Atoi(line)
	n := 1
	if count != "" {
		n, _ = strconv.Atoi(count)
	}
	if n > 0 {
		from--
	}
	if n != len(lines) || from < 0 || from+n > len(text) || !slices.Equal(text[from:from+n], lines) {
		t.Fatalf("the header has line %s, count %q; the hunk has the lines %q of %q", line, count, lines, text)
	}
	return from
}
