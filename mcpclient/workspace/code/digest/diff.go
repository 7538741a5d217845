package digest

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"replan/internal/lazyregexp"
	"replan/mcpclient/workspace/code/source"
)

// fileDiff is what a diff says of one file.
type fileDiff struct {
	old, path      string
	status         string // added, removed, renamed or changed
	added, removed int
	hunks          []hunk
	binary         bool
}

type hunk struct {
	heading string // what stands behind the second @@
	lines   []line
}

type line struct {
	sign byte // ' ', '+' or '-'
	text string
}

var hunkHeader = lazyregexp.New(`^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@ ?(.*)$`)

// readDiff reads a unified diff, git's or not. A diff that was cut off is read as
// far as it goes. Within a hunk its counts tell lines from headers.
func readDiff(diff string) []fileDiff {
	var files []fileDiff
	var old string
	oldLeft, newLeft := 0, 0
	current := func() *fileDiff {
		if len(files) == 0 {
			files = append(files, fileDiff{status: "changed"})
		}
		return &files[len(files)-1]
	}
	inGit := false
	for text := range strings.Lines(diff) {
		text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
		if oldLeft > 0 || newLeft > 0 {
			if took := current().take(text, &oldLeft, &newLeft); took {
				continue
			}
			oldLeft, newLeft = 0, 0
		}
		switch m := hunkHeader.FindStringSubmatch(text); {
		case m != nil:
			oldLeft, newLeft = count(m[1]), count(m[2])
			f := current()
			f.hunks = append(f.hunks, hunk{heading: strings.TrimSpace(m[3])})
		case strings.HasPrefix(text, "diff --git "):
			files = append(files, fileDiff{status: "changed", path: gitName(text)})
			inGit = true
		case strings.HasPrefix(text, "--- "):
			old = headerName(text[4:])
			if !inGit {
				files = append(files, fileDiff{status: "changed"})
			}
		case strings.HasPrefix(text, "+++ "):
			inGit = false
			current().named(old, headerName(text[4:]))
		case strings.HasPrefix(text, "new file mode"):
			current().status = "added"
		case strings.HasPrefix(text, "deleted file mode"):
			current().status = "removed"
		case strings.HasPrefix(text, "rename from "):
			current().old, current().status = unquoted(text[len("rename from "):]), "renamed"
		case strings.HasPrefix(text, "rename to "):
			current().path = unquoted(text[len("rename to "):])
		case strings.HasPrefix(text, "Binary files ") || text == "GIT binary patch":
			current().binary = true
		}
	}
	return slices.DeleteFunc(files, func(f fileDiff) bool { return f.path == "" })
}

// count is a number of lines in a hunk header; left out it is 1.
func count(s string) int {
	if n, err := strconv.Atoi(s); err == nil {
		return n
	}
	return 1
}

// take reads a line of a hunk, and reports whether it is one.
func (f *fileDiff) take(text string, oldLeft, newLeft *int) bool {
	if len(f.hunks) == 0 {
		return false
	}
	sign := byte(' ')
	if text != "" {
		sign, text = text[0], text[1:]
	}
	switch sign {
	case ' ':
		*oldLeft--
		*newLeft--
	case '-':
		*oldLeft--
		f.removed++
	case '+':
		*newLeft--
		f.added++
	case '\\': // no newline at the end of the file
		return true
	default:
		return false
	}
	h := &f.hunks[len(f.hunks)-1]
	h.lines = append(h.lines, line{sign, text})
	return true
}

func (f *fileDiff) named(old, name string) {
	switch {
	case old == "" && f.status != "removed":
		f.status, f.path = "added", name
	case name == "":
		f.status, f.path = "removed", old
	default:
		if f.path == "" || f.status == "changed" {
			f.path = name
		}
	}
}

// headerName is the file of a --- or +++ line, "" for /dev/null.
func headerName(s string) string {
	s, _, _ = strings.Cut(s, "\t")
	s = unquoted(strings.TrimSpace(s))
	if s == "/dev/null" {
		return ""
	}
	if rest, ok := strings.CutPrefix(s, "a/"); ok {
		return rest
	}
	return strings.TrimPrefix(s, "b/")
}

// gitName is the file of a diff --git line, whose two names are alike.
func gitName(s string) string {
	s = strings.TrimPrefix(s, "diff --git ")
	if i := strings.LastIndex(s, " b/"); i >= 0 {
		return s[i+3:]
	}
	if i := strings.LastIndex(s, ` "b/`); i >= 0 {
		return strings.TrimPrefix(unquoted(s[i+1:]), "b/")
	}
	return ""
}

func unquoted(s string) string {
	if strings.HasPrefix(s, `"`) {
		if plain, err := strconv.Unquote(s); err == nil {
			return plain
		}
	}
	return s
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
	fmt.Fprintf(&b, "%s changed, +%d −%d.\n", plural(len(files), "file"), added, removed)
	if from, to, n := renamed(files, touched); n > 0 {
		fmt.Fprintf(&b, "\n%s becomes %s in %s.\n", span(from), span(to), plural(n, "line"))
	}
	b.WriteByte('\n')
	const shown = 20
	for i, f := range files[:min(shown, len(files))] {
		fmt.Fprintf(&b, "- %s\n", f.words(touched[i]))
	}
	if more := len(files) - shown; more > 0 {
		fmt.Fprintf(&b, "- and %s\n", extra(more, "file"))
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
			parts = append(parts, p.verb+" "+some(spans(p.names), shown, "name"))
		}
	}
	if len(parts) > 0 {
		s += ": " + strings.Join(parts, "; ")
	}
	return s
}

// touch is which declarations a file's hunks are about.
type touch struct {
	added   []string // that are only on the new side
	removed []string // that are only on the old side
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
		oldNames, oldAround := h.side(ctx, f.path, '-', left)
		newNames, newAround := h.side(ctx, f.path, '+', left)
		before, after = append(before, oldNames...), append(after, newNames...)
		around := append(newAround, oldAround...)
		if len(around) == 0 && h.heading != "" {
			if o, err := source.OutlineOf(ctx, f.path, h.heading+"\n"); err == nil && len(o.Symbols) > 0 {
				around = []string{o.Symbols[0].Name}
			}
		}
		t.within = append(t.within, around...)
	}
	t.added, t.removed, t.within = without(after, before), without(before, after), without(t.within, nil)
	t.within = slices.DeleteFunc(t.within, func(n string) bool { return slices.Contains(t.added, n) || slices.Contains(t.removed, n) })
	return t
}

// without are the names of one list that are not in the other, each once.
func without(names, other []string) []string {
	var out []string
	for _, n := range names {
		if n != "" && !slices.Contains(other, n) && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// side is what one side of a hunk declares in changed lines, and the
// declarations that its other changed lines stand in.
func (h hunk) side(ctx context.Context, file string, sign byte, left *int) (names, around []string) {
	var b strings.Builder
	changed := map[int]bool{}
	n := 0
	for _, l := range h.lines {
		if l.sign != ' ' && l.sign != sign {
			continue
		}
		n++
		changed[n] = l.sign == sign
		b.WriteString(l.text)
		b.WriteByte('\n')
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

// renamed is renaming where it is more than one line that now names something
// else: several lines, or the declaration.
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
			for _, l := range append(h.lines, line{sign: ' '}) {
				switch l.sign {
				case '-':
					old = append(old, l.text)
				case '+':
					new = append(new, l.text)
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
		if strings.TrimSpace(a[i]) == strings.TrimSpace(b[i]) { // gofmt lines up what stands behind
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
