package digest

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"replan/internal/english"
	"replan/internal/lazyregexp"
	"replan/mcpclient/workspace/code/source"
)

// fileDiff is the part of a diff about one file.
type fileDiff struct {
	old, path      string
	status         string // added, removed, renamed or changed
	added, removed int
	hunks          []*gitdiff.TextFragment
	binary         bool
}

// readDiff reads a unified diff, of git or not. A cut-off diff is read up to the
// cut.
func readDiff(diff string) []fileDiff {
	parsed, _, err := gitdiff.Parse(strings.NewReader(diff))
	if err != nil {
		if parsed, _, err = gitdiff.Parse(strings.NewReader(closed(diff))); err != nil {
			return nil
		}
	}
	files := make([]fileDiff, 0, len(parsed))
	name := withoutSide
	if strings.HasPrefix(diff, "diff --git ") || strings.Contains(diff, "\ndiff --git ") {
		name = func(name string) string { return name } // whose sides are off already
	}
	for _, p := range parsed {
		f := fileDiff{old: name(p.OldName), path: name(p.NewName), status: "changed", hunks: p.TextFragments, binary: p.IsBinary}
		switch {
		case p.IsNew:
			f.status = "added"
		case p.IsDelete:
			f.status, f.path = "removed", f.old
		case p.IsRename:
			f.status = "renamed"
		}
		for _, h := range f.hunks {
			f.added, f.removed = f.added+int(h.LinesAdded), f.removed+int(h.LinesDeleted)
		}
		if f.path != "" {
			files = append(files, f)
		}
	}
	return files
}

// withoutSide is a path without its a/ or b/.
func withoutSide(name string) string {
	if rest, ok := strings.CutPrefix(name, "a/"); ok {
		return rest
	}
	return strings.TrimPrefix(name, "b/")
}

var hunkHeader = lazyregexp.New(`(?m)^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)\n`)

// closed is a cut-off diff with the line counts of its last hunk corrected.
func closed(diff string) string {
	diff = diff[:strings.LastIndexByte(diff, '\n')+1]
	headers := hunkHeader.FindAllStringSubmatchIndex(diff, -1)
	if len(headers) == 0 {
		return ""
	}
	last := headers[len(headers)-1]
	part := func(n int) string { return diff[last[2*n]:last[2*n+1]] }
	old, fresh := 0, 0
	for line := range strings.Lines(diff[last[1]:]) {
		switch line[0] {
		case '-':
			old++
		case '+':
			fresh++
		case ' ', '\n':
			old++
			fresh++
		}
	}
	return fmt.Sprintf("%s@@ -%s,%d +%s,%d @@%s\n%s", diff[:last[0]], part(1), old, part(2), fresh, part(3), diff[last[1]:])
}

// Diff sums up a unified diff. Its title can be the subject of a commit.
func Diff(ctx context.Context, diff string) (Digest, error) {
	files := readDiff(diff)
	if len(files) == 0 {
		if strings.TrimSpace(diff) == "" {
			return Digest{Kind: "diff", Title: "No changes", Summary: "Nothing is changed.\n"}, nil
		}
		return Digest{}, fmt.Errorf("the text given as diff changes no file; it needs --- a/PATH and +++ b/PATH lines")
	}
	touched := make([]touch, len(files))
	left := maxLexed
	added, removed := 0, 0
	for i, f := range files {
		added += f.added
		removed += f.removed
		if left > 0 {
			touched[i] = f.touched(ctx, &left)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s changed, +%d −%d.\n", english.Count(len(files), "file"), added, removed)
	if from, to, n := renamed(files, touched); n > 0 {
		fmt.Fprintf(&b, "\n%s becomes %s in %s.\n", span(from), span(to), english.Count(n, "line"))
	}
	b.WriteByte('\n')
	const shown = 20
	for i, f := range files[:min(shown, len(files))] {
		fmt.Fprintf(&b, "- %s\n", f.words(touched[i]))
	}
	if more := len(files) - shown; more > 0 {
		fmt.Fprintf(&b, "- and %s\n", english.Count(more, "more file"))
	}
	return Digest{Kind: "diff", Title: subject(files, touched), Summary: b.String()}, nil
}

// words is a line about one file.
func (f fileDiff) words(t touch) string {
	s := span(f.path)
	switch {
	case f.status == "renamed":
		s = span(f.old) + " → " + span(f.path)
	case f.status != "changed":
		s += " " + f.status
	}
	if f.binary {
		return s + ", binary"
	}
	s += fmt.Sprintf(" +%d −%d", f.added, f.removed)
	const shown = 4
	var parts []string
	for _, p := range []struct {
		verb  string
		names []string
	}{{"adds", t.added}, {"removes", t.removed}, {"in", t.within}} {
		if len(p.names) > 0 && f.status != "removed" {
			parts = append(parts, p.verb+" "+english.Some(spans(p.names), shown, "name"))
		}
	}
	if len(parts) > 0 {
		s += ": " + strings.Join(parts, "; ")
	}
	return s
}

// touch is which declarations a file's hunks are about.
type touch struct {
	added   []string // only on the new side
	removed []string // only on the old side
	within  []string // around changed lines
}

// maxLexed is how much of a diff is looked at for declarations, in bytes.
const maxLexed = 96 << 10

// touched reads each side of each hunk as a piece of a source file.
func (f fileDiff) touched(ctx context.Context, left *int) touch {
	var t touch
	if lang, ok := source.LanguageOf(f.path); !ok || !lang.Knows() || lang.Sort == source.Data {
		return t
	}
	var before, after []string
	for _, h := range f.hunks {
		oldNames, oldAround := side(ctx, h, f.path, gitdiff.OpDelete, left)
		newNames, newAround := side(ctx, h, f.path, gitdiff.OpAdd, left)
		before, after = append(before, oldNames...), append(after, newNames...)
		around := append(newAround, oldAround...)
		if len(around) == 0 && h.Comment != "" {
			if o, err := source.OutlineOf(ctx, f.path, h.Comment+"\n"); err == nil && len(o.Symbols) > 0 {
				around = []string{o.Symbols[0].Name}
			}
		}
		t.within = append(t.within, around...)
	}
	t.added, t.removed, t.within = without(after, before), without(before, after), without(t.within, nil)
	t.within = slices.DeleteFunc(t.within, func(n string) bool { return slices.Contains(t.added, n) || slices.Contains(t.removed, n) })
	return t
}

// without are the names of one list missing from the other, each once.
func without(names, other []string) []string {
	var out []string
	for _, n := range names {
		if n != "" && !slices.Contains(other, n) && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// side returns the declarations in changed lines of one side of a hunk, and those
// around its other changed lines.
func side(ctx context.Context, h *gitdiff.TextFragment, file string, op gitdiff.LineOp, left *int) (names, around []string) {
	var b strings.Builder
	changed := map[int]bool{}
	n := 0
	for _, l := range h.Lines {
		if l.Op != gitdiff.OpContext && l.Op != op {
			continue
		}
		n++
		changed[n] = l.Op == op
		b.WriteString(l.Line)
	}
	if *left -= b.Len(); *left < 0 {
		return nil, nil
	}
	o, err := source.OutlineOf(ctx, file, b.String())
	if err != nil {
		return nil, nil
	}
	for _, s := range o.Symbols {
		if changed[s.Line] && s.Kind != "field" && s.Kind != "heading" && (s.Parent == "" || s.Kind == "method") {
			names = append(names, s.Name)
		}
	}
	for i := 1; i <= n; i++ {
		if !changed[i] {
			continue
		}
		name, from := "", 0
		for _, s := range o.Symbols {
			if s.Line <= i && i <= s.EndLine && s.Line > from && s.Kind != "field" && s.Kind != "variable" && s.Kind != "constant" {
				name, from = s.Name, s.Line
			}
		}
		if name != "" && !slices.Contains(around, name) {
			around = append(around, name)
		}
	}
	return names, around
}

var identifiers = lazyregexp.New(`[\pL_][\pL\pN_]*|[^\pL_]+`)

// renamed is renaming with more than a single changed line: several lines, or the
// declaration.
func renamed(files []fileDiff, touched []touch) (from, to string, lines int) {
	from, to, lines = renaming(files)
	if lines > 1 || lines == 1 && len(touched[0].added) == 1 && len(touched[0].removed) == 1 {
		return from, to, lines
	}
	return "", "", 0
}

// renaming tells whether a diff does nothing but put one word in the place of
// another, and in how many lines.
func renaming(files []fileDiff) (from, to string, lines int) {
	for _, f := range files {
		if f.status != "changed" || f.added != f.removed || f.added == 0 {
			return "", "", 0
		}
		for _, h := range f.hunks {
			var old, new []string
			for _, l := range append(slices.Clone(h.Lines), gitdiff.Line{}) {
				switch l.Op {
				case gitdiff.OpDelete:
					old = append(old, strings.TrimSuffix(l.Line, "\n"))
				case gitdiff.OpAdd:
					new = append(new, strings.TrimSuffix(l.Line, "\n"))
				default:
					for i := range old {
						if len(old) != len(new) || !swaps(old[i], new[i], &from, &to) {
							return "", "", 0
						}
						lines++
					}
					if len(old) != len(new) {
						return "", "", 0
					}
					old, new = nil, nil
				}
			}
		}
	}
	return from, to, lines
}

// swaps reports whether two lines differ by one word for another alone, the same
// everywhere.
func swaps(old, new string, from, to *string) bool {
	a, b := identifiers.FindAllString(old, -1), identifiers.FindAllString(new, -1)
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] == b[i] {
			continue
		}
		if strings.TrimSpace(a[i]) == strings.TrimSpace(b[i]) { // gofmt aligns the text behind
			continue
		}
		if *from == "" {
			*from, *to = a[i], b[i]
		}
		if a[i] != *from || b[i] != *to || !source.IsIdentifier(a[i]) || !source.IsIdentifier(b[i]) {
			return false
		}
	}
	return *from != ""
}

func base(p string) string { return path.Base(p) }
