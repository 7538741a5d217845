package patch

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Kind is the kind of a diff line.
type Kind uint8

// The kinds of lines.
const (
	Same    Kind = iota // in the file before and after
	Added               // only in the file after
	Removed             // only in the file before
	Heading             // starts a file; its text is the file's heading
	Hunk                // starts a hunk
	Remark              // belongs to no file, or notes a missing line break
)

// Line is a line of a diff.
type Line struct {
	Kind Kind
	Text string // without its leading sign
	Old  int    // line number in the old file; 0 if absent there
	New  int    // line number in the new file; 0 if absent there
	File int    // index in Patch.Files; -1 for none
}

// File is a file changed by a diff.
type File struct {
	Before, After  string // old and new name; "" if there is none
	Added, Removed int    // in lines
}

// Name returns the new name of the file, or its old name if it has no new one.
func (f File) Name() string {
	if f.After != "" {
		return f.After
	}
	return f.Before
}

// Patch is a unified diff.
type Patch struct {
	Lines          []Line
	Files          []File
	Added, Removed int // in lines, over all files
	Longest        int // highest line number
}

// hunkHead matches the header of a hunk: its start lines and line counts in the old
// and the new file.
var hunkHead = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// Parse parses a unified diff. It counts lines as announced by each hunk, so that
// no line of a file can pass for a heading.
func Parse(text string) Patch {
	text = strings.TrimRight(text, "\n")
	p := Patch{Lines: make([]Line, 0, strings.Count(text, "\n")+1)}
	if text == "" {
		return p
	}
	file := -1
	before, after := 0, 0 // lines of the hunk still to come
	old, now := 0, 0      // next line numbers
	for text != "" {
		line, rest, more := strings.Cut(text, "\n")
		text = rest
		if before > 0 || after > 0 {
			l := Line{File: file}
			switch {
			case strings.HasPrefix(line, "+"):
				l.Kind, l.Text, l.New = Added, line[1:], now
				after, now = after-1, now+1
				p.count(file, 1, 0)
			case strings.HasPrefix(line, "-"):
				l.Kind, l.Text, l.Old = Removed, line[1:], old
				before, old = before-1, old+1
				p.count(file, 0, 1)
			case strings.HasPrefix(line, `\`):
				l.Kind, l.Text = Remark, line
			default:
				l.Kind, l.Text, l.Old, l.New = Same, strings.TrimPrefix(line, " "), old, now
				before, after, old, now = before-1, after-1, old+1, now+1
			}
			p.Longest = max(p.Longest, l.Old, l.New)
			p.Lines = append(p.Lines, l)
			continue
		}
		head := hunkHead.FindStringSubmatch(line)
		switch {
		case head != nil:
			old, before, now, after = number(head[1]), number(head[2]), number(head[3]), number(head[4])
			p.Lines = append(p.Lines, Line{Kind: Hunk, Text: line, File: file})
		case more && strings.HasPrefix(line, "--- ") && strings.HasPrefix(text, "+++ "):
			var next string
			next, text, _ = strings.Cut(text, "\n")
			file = len(p.Files)
			p.Files = append(p.Files, named(line[4:], next[4:]))
			p.Lines = append(p.Lines, Line{Kind: Heading, Text: p.Files[file].heading(), File: file})
		default:
			p.Lines = append(p.Lines, Line{Kind: Remark, Text: line, File: -1})
		}
	}
	return p
}

// gitHeads are the lines above a file of a diff of git that say no more than its heading does.
var gitHeads = []string{"diff --git ", "index ", "new file mode ", "deleted file mode "}

// Brief returns the diff without the lines of git above the headings of its files. A file without a heading, as
// one that is moved or binary, keeps them.
func (p Patch) Brief() Patch {
	var lines []Line
	from := 0 // in lines: where the last remarks start
	for _, line := range p.Lines {
		switch {
		case line.Kind == Heading:
			kept := slices.DeleteFunc(slices.Clone(lines[from:]), func(l Line) bool {
				return slices.ContainsFunc(gitHeads, func(head string) bool { return strings.HasPrefix(l.Text, head) })
			})
			lines = append(lines[:from], kept...)
		case line.Kind == Remark && strings.HasPrefix(line.Text, "diff --git "):
			from = len(lines)
		}
		lines = append(lines, line)
		if line.Kind != Remark {
			from = len(lines)
		}
	}
	p.Lines = lines
	return p
}

func (p *Patch) count(file, added, removed int) {
	p.Added, p.Removed = p.Added+added, p.Removed+removed
	if file >= 0 {
		p.Files[file].Added += added
		p.Files[file].Removed += removed
	}
}

// number parses a number in a hunk header. A missing number is 1, and so is one that
// no file can have.
func number(digits string) int {
	n, err := strconv.ParseInt(digits, 10, 32)
	if err != nil {
		return 1
	}
	return int(n)
}

// nowhere is the name that a diff gives to a nonexistent file.
const nowhere = "/dev/null"

func named(before, after string) File {
	old, from := strings.CutPrefix(before, "a/")
	name, to := strings.CutPrefix(after, "b/")
	switch {
	case before == nowhere && to:
		return File{After: name}
	case after == nowhere && from:
		return File{Before: old}
	case from && to:
		return File{Before: old, After: name}
	default:
		return File{Before: before, After: after}
	}
}

// heading returns the name of the file and its kind of change.
func (f File) heading() string {
	switch {
	case f.Before == "":
		return f.After + " (new file)"
	case f.After == "":
		return f.Before + " (removed)"
	case f.Before == f.After:
		return f.After
	default:
		return f.Before + " → " + f.After
	}
}

// Pair is two corresponding lines of a diff: the same line in both files, or a
// removed line and its replacement. -1 means none.
type Pair struct{ Left, Right int }

// Pairs arranges the lines of the diff side by side, in order. Lines that belong to
// neither file appear on both sides.
func (p Patch) Pairs() []Pair {
	out := make([]Pair, 0, len(p.Lines))
	for i := 0; i < len(p.Lines); {
		if k := p.Lines[i].Kind; k != Removed && k != Added {
			out = append(out, Pair{i, i})
			i++
			continue
		}
		var b block
		b, i = p.block(i)
		out = append(out, p.align(b)...)
		for _, remark := range b.remarks {
			out = append(out, Pair{remark, remark})
		}
	}
	return out
}

// block is a group of removed lines, the added lines that replace them, and the
// remarks between them about missing line breaks.
type block struct{ removed, added, remarks []int }

// block returns the block that starts at a line, and the index of the line after
// it.
func (p Patch) block(at int) (block, int) {
	var b block
	for ; at < len(p.Lines); at++ {
		switch k := p.Lines[at].Kind; {
		case k == Removed && len(b.added) == 0:
			b.removed = append(b.removed, at)
		case k == Added:
			b.added = append(b.added, at)
		case k == Remark && at+1 < len(p.Lines) && p.Lines[at+1].Kind == Added:
			b.remarks = append(b.remarks, at)
		default:
			return b, at
		}
	}
	return b, at
}

// alignMost limits the work of aligning a block with unequal sides, in pairs of
// compared lines.
const alignMost = 1024

// align pairs the lines of a block one by one. If the sides have different lengths,
// it pairs the most similar lines.
func (p Patch) align(b block) []Pair {
	n, m := len(b.removed), len(b.added)
	out := make([]Pair, 0, max(n, m))
	if n == m || n*m > alignMost || n == 0 || m == 0 {
		for i := range max(n, m) {
			pair := Pair{-1, -1}
			if i < n {
				pair.Left = b.removed[i]
			}
			if i < m {
				pair.Right = b.added[i]
			}
			out = append(out, pair)
		}
		return out
	}
	// best[i][j] is the best total likeness for the lines from i and from j on.
	best := make([][]float64, n+1)
	for i := range best {
		best[i] = make([]float64, m+1)
	}
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			alike := likeness(p.Lines[b.removed[i]].Text, p.Lines[b.added[j]].Text)
			best[i][j] = max(best[i+1][j], best[i][j+1], best[i+1][j+1]+alike)
		}
	}
	for i, j := 0, 0; i < n || j < m; {
		switch {
		case i < n && (j == m || best[i][j] == best[i+1][j]):
			out = append(out, Pair{b.removed[i], -1})
			i++
		case j < m && (i == n || best[i][j] == best[i][j+1]):
			out = append(out, Pair{-1, b.added[j]})
			j++
		default:
			out = append(out, Pair{b.removed[i], b.added[j]})
			i, j = i+1, j+1
		}
	}
	return out
}

// likeness returns the share of two lines that is equal at their start and end,
// from 0 to 1. It ignores leading blanks.
func likeness(a, b string) float64 {
	a, b = strings.TrimSpace(a), strings.TrimSpace(b)
	longest := max(len(a), len(b))
	if longest == 0 {
		return 0.1
	}
	shortest := min(len(a), len(b))
	head := 0
	for head < shortest && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < shortest-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return float64(head+tail) / float64(longest)
}
