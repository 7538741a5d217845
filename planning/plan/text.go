package plan

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/aymanbagabas/go-udiff"
)

// UnifiedDiff returns the difference of two texts as a unified diff with three
// lines of context, and how many lines it adds and removes. Equal texts give "".
func UnifiedDiff(from, to, before, after string) (text string, added, removed int) {
	edits := lineEdits(before, after)
	if len(edits) == 0 {
		return "", 0, 0
	}
	d, err := udiff.ToUnifiedDiff(from, to, before, edits, udiff.DefaultContextLines)
	if err != nil {
		// The edits come from the very texts they are applied to.
		panic(fmt.Sprintf("diff of %s and %s: %v", from, to, err))
	}
	for _, h := range d.Hunks {
		// The library loses count of the lines after a hunk of several edits.
		h.ToLine = h.FromLine + added - removed
		for _, l := range h.Lines {
			switch l.Kind {
			case udiff.Insert:
				added++
			case udiff.Delete:
				removed++
			}
		}
	}
	return d.String(), added, removed
}

// lineEdits returns the difference of two texts in whole lines.
func lineEdits(before, after string) []udiff.Edit {
	edits := udiff.Lines(before, after)
	// The library counts lines from the start again for each edit, which takes
	// minutes for a large file with many edits. One edit over all of it says the
	// same.
	const most = 1 << 30
	if len(edits)*len(before) < most {
		return edits
	}
	first, last := edits[0], edits[len(edits)-1]
	tail := len(before) - last.End
	return []udiff.Edit{{Start: first.Start, End: last.End, New: after[first.Start : len(after)-tail]}}
}

// OneLine squeezes text into one line of at most bound characters, without
// control characters.
func OneLine(text string, bound int) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	if runes := []rune(text); len(runes) > bound {
		return string(runes[:bound-1]) + "…"
	}
	return text
}

// TakeHunks returns before with those hunks of [UnifiedDiff] applied, counted from 0,
// that take accepts.
func TakeHunks(before, after string, take func(hunk int) bool) string {
	d, err := udiff.ToUnifiedDiff("a", "b", before, lineEdits(before, after), udiff.DefaultContextLines)
	if err != nil {
		// The edits come from the very texts they are applied to.
		panic(fmt.Sprintf("diff of two texts: %v", err))
	}
	lines := strings.SplitAfter(before, "\n")
	next := 0 // line of before that comes next
	var b strings.Builder
	write := func(upto int) {
		for ; next < min(upto, len(lines)); next++ {
			b.WriteString(lines[next])
		}
	}
	for i, h := range d.Hunks {
		write(h.FromLine - 1)
		taken, old := take(i), 0
		for _, l := range h.Lines {
			if l.Kind != udiff.Insert {
				old++
			}
			if taken && l.Kind != udiff.Delete {
				b.WriteString(l.Content)
			}
		}
		if taken {
			next += old
		} else {
			write(next + old)
		}
	}
	write(len(lines))
	return b.String()
}
