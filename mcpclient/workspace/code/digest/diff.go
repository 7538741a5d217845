package digest

import (
	"context"
	"fmt"
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

	// Declarations that the hunks are about.
	adds    []string // only on the new side
	removes []string // only on the old side
	within  []string // around changed lines
	unsure  bool     // some changed lines are in none that is known
}

// readDiff reads a unified diff, of git or not. A truncated diff is read up to its
// end.
func readDiff(diff string) []fileDiff {
	parsed, _, err := gitdiff.Parse(strings.NewReader(diff))
	if err != nil {
		if parsed, _, err = gitdiff.Parse(strings.NewReader(closed(diff))); err != nil {
			return nil
		}
	}
	name := func(name string) string { // without its side, which gitdiff removes from git's diffs alone
		if len(name) > 2 && (name[:2] == "a/" || name[:2] == "b/") {
			return name[2:]
		}
		return name
	}
	if strings.HasPrefix(diff, "diff --git ") || strings.Contains(diff, "\ndiff --git ") {
		name = func(name string) string { return name }
	}
	var files []fileDiff
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
	if paths := inConflict(diff); len(paths) > 0 {
		return Digest{}, fmt.Errorf("%s %s conflicts that are not resolved: resolve them, add the files with git, then try again", english.List(paths, "and"), english.Agree(len(paths), "has", "have"))
	}
	files := readDiff(diff)
	if len(files) == 0 {
		if strings.TrimSpace(diff) == "" {
			return Digest{Kind: "diff", Title: "No changes", Summary: "Nothing is changed.\n"}, nil
		}
		return Digest{}, fmt.Errorf("the text given as diff changes no file; it needs --- a/PATH and +++ b/PATH lines")
	}
	left := maxLexed
	added, removed := 0, 0
	lines := make([]string, len(files))
	for i := range files {
		f := &files[i]
		added, removed = added+f.added, removed+f.removed
		f.touch(ctx, &left)
		lines[i] = f.line()
	}
	about := fmt.Sprintf("%s changed, +%d −%d.\n", english.Count(len(files), "file"), added, removed)
	if from, to, n := renamed(files); n > 0 {
		about += fmt.Sprintf("\n%s becomes %s in %s.\n", span(from), span(to), english.Count(n, "line"))
	}
	return Digest{Kind: "diff", Title: subject(files), Summary: about + "\n" + list(lines, 20, "file")}, nil
}

// unmerged matches the lines with which git names a file in conflict, and those between which
// it shows such a file's changes against both sides.
var unmerged = lazyregexp.New(`(?m)^(?:\* Unmerged path |diff --(?:cc|combined) )(.+)$`)

// inConflict returns the files whose conflicts git's diff is about. The combined diff of a
// merge that was committed has none.
func inConflict(diff string) []string {
	var paths []string
	headers := unmerged.FindAllStringSubmatchIndex(diff, -1)
	for i, at := range headers {
		end := len(diff)
		if i+1 < len(headers) {
			end = headers[i+1][0]
		}
		path := diff[at[2]:at[3]]
		if strings.HasPrefix(diff[at[0]:], "* ") || strings.Contains(diff[at[1]:end], "\n++<<<<<<< ") {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// line tells of one file.
func (f fileDiff) line() string {
	line := span(f.path)
	switch {
	case f.status == "renamed":
		line = span(f.old) + " → " + span(f.path)
	case f.status != "changed":
		line += " " + f.status
	}
	if f.binary {
		return line + ", binary"
	}
	line += fmt.Sprintf(" +%d −%d", f.added, f.removed)
	mark := ": "
	for _, p := range []struct {
		verb  string
		names []string
	}{{"adds", f.adds}, {"removes", f.removes}, {"in", f.within}} {
		if len(p.names) > 0 && f.status != "removed" {
			line += mark + p.verb + " " + english.Some(spans(p.names), 4, "name")
			mark = "; "
		}
	}
	return line
}

// maxLexed is how much of a diff is looked at for declarations, in bytes.
const maxLexed = 96 << 10

// touch finds the declarations that the hunks are about. It reads each side of
// each hunk as a piece of a source file.
func (f *fileDiff) touch(ctx context.Context, left *int) {
	if lang, ok := source.LanguageOf(f.path); !ok || !lang.Knows() || lang.Sort == source.Data {
		return
	}
	var before, after, within []string
	for _, h := range f.hunks {
		removed := side(ctx, h, f.path, gitdiff.OpDelete, left)
		added := side(ctx, h, f.path, gitdiff.OpAdd, left)
		before, after = append(before, removed.names...), append(after, added.names...)
		if loose := slices.Concat(removed.loose, added.loose); len(loose) > 0 {
			name, sure := begun(ctx, h, f.path, slices.Max(loose))
			if f.unsure = f.unsure || !sure; name != "" {
				within = append(within, name)
			}
		}
		both := slices.DeleteFunc(slices.Clone(added.names), func(name string) bool { return !slices.Contains(removed.names, name) })
		within = slices.Concat(within, both, added.scopes, removed.scopes)
	}
	f.adds, f.removes = without(after, before), without(before, after)
	f.within = without(within, slices.Concat(f.adds, f.removes))
}

// without are the names of one list missing from the other, each once.
func without(names, other []string) []string {
	var out tally
	for _, n := range names {
		if !slices.Contains(other, n) {
			out.add(n)
		}
	}
	return out.all()
}

// sideOf is what a side of a hunk shows of the declarations that it is about.
type sideOf struct {
	names  []string // in changed lines
	scopes []string // the innermost ones around other changed lines
	loose  []int    // changed lines of the hunk that lie in none of them
}

// side reads one side of a hunk.
func side(ctx context.Context, h *gitdiff.TextFragment, file string, op gitdiff.LineOp, left *int) (found sideOf) {
	var text strings.Builder
	var lines []string
	var changed []int
	at := map[int]int{} // from the lines of the side to those of the hunk
	for i, l := range h.Lines {
		if l.Op != gitdiff.OpContext && l.Op != op {
			continue
		}
		lines = append(lines, strings.TrimSpace(l.Line))
		if at[len(lines)] = i; l.Op == op {
			changed = append(changed, len(lines))
		}
		text.WriteString(l.Line)
	}
	if *left -= text.Len(); *left < 0 {
		return found
	}
	o, err := source.OutlineOf(ctx, file, text.String())
	if rest := withoutEnd(text.String()); err == nil && len(o.Symbols) == 0 && rest != "" {
		o, err = source.OutlineOf(ctx, file, rest)
	}
	if err != nil {
		return found
	}
	loose := slices.Clone(changed)
	for _, s := range o.Symbols {
		first := s.Line - commentAbove(lines[:s.Line-1])
		holds := func(line int) bool { return first <= line && line <= s.EndLine }
		loose = slices.DeleteFunc(loose, holds)
		switch {
		case s.Kind == "field" || s.Kind == "heading" || s.Parent != "" && s.Kind != "method":
		case slices.Contains(changed, s.Line):
			found.names = append(found.names, s.Name)
		case s.Kind != "variable" && s.Kind != "constant" && slices.ContainsFunc(changed, holds):
			if last := len(found.scopes) - 1; last >= 0 && found.scopes[last] == s.Parent {
				found.scopes = found.scopes[:last]
			}
			found.scopes = append(found.scopes, s.Name)
		}
	}
	for _, line := range loose {
		if lines[line-1] != "" {
			found.loose = append(found.loose, at[line])
		}
	}
	return found
}

// withoutEnd blanks the end of a declaration that begins before a text, so that what follows can
// be read; "" if the text does not begin in one.
func withoutEnd(text string) string {
	lines := strings.SplitAfter(text, "\n")
	end := slices.IndexFunc(lines, func(line string) bool { return strings.TrimSpace(line) != "" && line[0] != ' ' && line[0] != '\t' })
	if end < 0 {
		return ""
	}
	if strings.ContainsAny(lines[end][:1], "})]") {
		end++
	}
	if end == 0 {
		return ""
	}
	return strings.Repeat("\n", end) + strings.Join(lines[end:], "")
}

// commentAbove counts the lines at the end of some that are a comment or an attribute, which
// belong to what follows.
func commentAbove(lines []string) (n int) {
	for n < len(lines) && strings.IndexAny(lines[len(lines)-1-n], "/#*@") == 0 {
		n++
	}
	return n
}

// opening matches the header of a hunk before the first declaration of a file.
var opening = lazyregexp.New(`^(?:$|(?:package|import|from|use|using|require|include|module|mod|#)\b|["'])`)

// begun returns the declaration that begins before a hunk and still holds one of its lines, ""
// if there is none. sure is false where the header and the indentation do not say: git's header
// names the last declaration before the hunk, even if it ends there.
func begun(ctx context.Context, h *gitdiff.TextFragment, file string, line int) (name string, sure bool) {
	if opening.MatchString(h.Comment) {
		return "", true
	}
	for _, l := range h.Lines[:line+1] {
		if text := strings.TrimRight(l.Line, " \t\r\n"); text != "" && text[0] != ' ' && text[0] != '\t' {
			return "", false
		}
	}
	o, err := source.OutlineOf(ctx, file, h.Comment+"\n")
	if err != nil || len(o.Symbols) == 0 {
		return "", false
	}
	return o.Symbols[0].Name, true
}
