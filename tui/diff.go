package tui

import (
	"regexp"
	"strconv"
	"strings"
)

// hunkHead matches the line that opens a hunk and says how many lines of the
// old and the new file follow.
var hunkHead = regexp.MustCompile(`^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@`)

// diff adds a unified diff: marked by the signs it has, and coloured. Lines are
// counted off as each hunk announces them, so that no line of a file can pass
// for a heading. It returns how much changes.
func (d *document) diff(text string) changed {
	var n changed
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	before, after := 0, 0 // lines of the hunk that are still to come
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		inside := before > 0 || after > 0
		head := hunkHead.FindStringSubmatch(line)
		switch {
		case inside && strings.HasPrefix(line, "+"):
			after--
			n.added++
			d.code(d.look.Added, line)
		case inside && strings.HasPrefix(line, "-"):
			before--
			n.removed++
			d.code(d.look.Removed, line)
		case inside:
			if !strings.HasPrefix(line, `\`) {
				before--
				after--
			}
			d.code(d.look.Muted, line)
		case head != nil:
			before, after = announced(head[1]), announced(head[2])
			d.code(d.look.Hunk, line)
		case strings.HasPrefix(line, "--- ") && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "+++ "):
			n.files++
			d.code(d.look.Strong, changedFile(line[4:], lines[i+1][4:]))
			i++
		default:
			d.code(d.look.Muted, line)
		}
	}
	return n
}

// changed is how much a diff changes: files, and lines of them.
type changed struct{ files, added, removed int }

// words is the count in a few words, with the signs of the screen.
func (n changed) words(l *look) string {
	return l.Muted.Render(plural(n.files, "file")) + " " +
		l.Added.Render(l.glyphs.Added+strconv.Itoa(n.added)) + " " + l.Removed.Render(l.glyphs.Removed+strconv.Itoa(n.removed))
}

// announced is a count in the head of a hunk, 1 where it is left out.
func announced(count string) int {
	n, err := strconv.Atoi(count)
	if err != nil {
		return 1
	}
	return n
}

// changedFile names the file that a part of a diff changes.
func changedFile(before, after string) string {
	old, from := strings.CutPrefix(before, "a/")
	name, to := strings.CutPrefix(after, "b/")
	switch {
	case before == "/dev/null" && to:
		return name + " (new file)"
	case after == "/dev/null" && from:
		return old + " (removed)"
	case from && to && old == name:
		return name
	default:
		return before + " → " + after
	}
}
