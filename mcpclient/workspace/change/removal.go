package change

import (
	"fmt"
	"strings"

	"replan/internal/english"
	"replan/mcpclient/workspace/code/source"
	"replan/mcpclient/workspace/op"
	"replan/mcpclient/workspace/tree"
	"replan/planning/plan"
)

// fewestLines is the smallest number of lines of a file for which the removal of
// most of it is pointed out. A reviewer takes in smaller ones at a glance.
const fewestLines = 10

// removes describes the first file that loses more than half of its lines:
// "removes 180 of 214 lines of a.go". It is empty if there is none, and for calls
// that remove or move files.
func removes(c op.Call, changes []Change) string {
	if c.Tool == "fs.remove" || c.Tool == "fs.move" {
		return ""
	}
	text, more := "", 0
	for _, ch := range changes {
		if !ch.Before.Exists || ch.Before.Dir || ch.Moved != "" || !tree.IsText(ch.Before.Data) || !tree.IsText(ch.After.Data) {
			continue
		}
		before := string(ch.Before.Data)
		lines := source.CountLines(before)
		if lines < fewestLines {
			continue
		}
		removed := linesRemoved(before, string(ch.After.Data))
		switch {
		case 2*removed <= lines:
		case text == "":
			text = fmt.Sprintf("removes %d of %d lines of %s", removed, lines, ch.Path)
		default:
			more++
		}
	}
	if more > 0 {
		text += fmt.Sprintf(", and most of %s more", english.Count(more, "file"))
	}
	return text
}

// linesRemoved counts the lines that a change removes. A line that is replaced by a
// similar one, with a new name or another indent, does not count.
func linesRemoved(before, after string) int {
	diff, _, removed := plan.UnifiedDiff("a", "b", before, after)
	if 2*removed <= source.CountLines(before) {
		return removed
	}
	var deletions, added []string
	kept := 0
	settle := func() {
		for i := range min(len(deletions), len(added)) {
			if similar(deletions[i], added[i]) {
				kept++
			}
		}
		deletions, added = nil, nil
	}
	head := true
	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, "@@"):
			head = false
			settle()
		case head:
		case line[0] == '-':
			if len(added) > 0 {
				settle()
			}
			deletions = append(deletions, line[1:])
		case line[0] == '+':
			added = append(added, line[1:])
		default:
			settle()
		}
	}
	settle()
	return removed - kept
}

// similar reports whether two lines share two thirds of their text, blanks around
// them left out.
func similar(a, b string) bool {
	a, b = strings.TrimSpace(a), strings.TrimSpace(b)
	short, long := a, b
	if len(short) > len(long) {
		short, long = long, short
	}
	same := 0
	for same < len(short) && a[same] == b[same] {
		same++
	}
	for tail := 0; same < len(short) && a[len(a)-1-tail] == b[len(b)-1-tail]; tail++ {
		same++
	}
	return 3*same >= 2*len(long)
}
