// Package patch reads unified diffs and says which words of a changed line
// differ from the line in whose place it came. It draws nothing.
package patch

import (
	"regexp"
	"strconv"
	"strings"
)

// Kind says what a line of a diff is.
type Kind uint8

// The kinds of lines.
const (
	Same    Kind = iota // stands in the file before and after
	Added               // stands in it after
	Removed             // stood in it before
	Heading             // opens a file; its text is the file's heading
	Hunk                // opens a part of a file
	Remark              // belongs to no file, or says that a line has no line break
)

// Line is a line of a diff.
type Line struct {
	Kind Kind
	Text string // without the sign before it
	Old  int    // its number in the file before; 0 where it is not there
	New  int    // its number in the file after; 0 where it is not there
	File int    // the file it belongs to, in Patch.Files; -1 for none
}

// File is a file that a diff changes.
type File struct {
	Before, After  string // its name before and after; "" where there is none
	Added, Removed int    // lines
}

// Name is the name that the file has in the end, else the one it had.
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
	Added, Removed int // lines, in all files
	Longest        int // the highest number of a line
}

// hunkHead matches the line that opens a hunk and says at which lines of the old
// and the new file it begins, and how many follow.
var hunkHead = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// Parse reads a unified diff. Lines are counted off as each hunk announces them,
// so that no line of a file can pass for a heading.
func Parse(text string) Patch {
	text = strings.TrimRight(text, "\n")
	p := Patch{Lines: make([]Line, 0, strings.Count(text, "\n")+1)}
	if text == "" {
		return p
	}
	file := -1
	before, after := 0, 0 // lines of the hunk that are still to come
	old, now := 0, 0      // the numbers of the next ones
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

func (p *Patch) count(file, added, removed int) {
	p.Added, p.Removed = p.Added+added, p.Removed+removed
	if file >= 0 {
		p.Files[file].Added += added
		p.Files[file].Removed += removed
	}
}

// number is a number in the head of a hunk, 1 where it is left out.
func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 1
	}
	return n
}

// nowhere is how a diff names a file that is not there.
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

// heading names the file, and what becomes of it.
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

// Pair is two lines of a diff that stand for each other: the same line of both
// files, or a removed one and the one added in its place. -1 stands for none.
type Pair struct{ Left, Right int }

// Pairs puts the lines of the diff side by side, in their order. What belongs to
// neither file stands at both sides.
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

// block is lines that were removed, those that came in their place, and what is
// said between them: that a line has no line break.
type block struct{ removed, added, remarks []int }

// block is the block that begins at a line, and the line after it.
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

// alignMost bounds the work of aligning a block with more lines at one side than
// at the other, in pairs of lines that are compared.
const alignMost = 1024

// align pairs the lines of a block: one by one, or, where there are more at one
// side, so that those stand together that are most alike.
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
	// best[i][j] is how alike the lines from i and from j on can be made.
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

// likeness is how much of two lines is the same at their beginning and end, from
// 0 to 1. Blanks before them say nothing.
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
