package code

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"replan/internal/english"
	"replan/mcpclient/workspace/change"
	"replan/mcpclient/workspace/code/golang"
	"replan/mcpclient/workspace/code/source"
	"replan/mcpclient/workspace/op"
	"replan/mcpclient/workspace/tree"
)

const (
	maxEdits     = 5000    // per transformation
	maxEditFiles = 1000    // files changed per transformation
	maxDiff      = 4 << 20 // bytes
	maxWritten   = 4 << 20 // bytes written per transformation
)

type transformResult struct {
	Kind   string            `json:"kind"`
	By     source.Method     `json:"by"`
	Diff   string            `json:"diff"`
	Files  []transformedFile `json:"files"`
	Edits  int               `json:"edits"`
	Hashes map[string]string `json:"hashes"` // SHA-256 of the files as read
	Note   string            `json:"note,omitempty"`
}

type transformedFile struct {
	Path    string `json:"path"`
	Added   int    `json:"added"`   // lines
	Removed int    `json:"removed"` // lines
}

type transformArgs struct {
	Kind        string  `json:"kind" jsonschema:"rename a name wherever it is used, or replace text"`
	Symbol      string  `json:"symbol,omitempty" jsonschema:"rename: the old name, like Run.Apply"`
	NewName     string  `json:"new_name,omitempty" jsonschema:"rename: the new name, without qualifiers"`
	Pattern     string  `json:"pattern,omitempty" jsonschema:"replace: the text to find, or a regular expression if regex is true"`
	Replacement *string `json:"replacement,omitempty" jsonschema:"replace: the new text; with regex, $1 is the first group"`
	Regex       bool    `json:"regex,omitempty" jsonschema:"replace: read pattern as a regular expression (RE2); ^ and $ are of lines"`
	Glob        string  `json:"glob,omitempty" jsonschema:"replace: only files of this pattern, like *.go or docs/**/*.md"`
	Path        string  `json:"path,omitempty" jsonschema:"only in this folder or file; default: the whole workspace"`
}

// transformer computes changes in many places.
type transformer struct {
	tree     *tree.Tree
	resolver *resolver
	finder   *finder
	referrer *referrer
	renamer  *wordRenamer
}

// transform computes a change without writing anything.
func (o *transformer) transform(ctx context.Context, _ op.Call, args transformArgs) (*op.Answer[transformResult], error) {
	var result transformResult
	var err error
	args = args.named()
	switch args.Kind {
	case "rename":
		result, err = o.rename(ctx, args)
	case "replace":
		result, err = o.replace(ctx, args)
	default:
		return nil, fmt.Errorf("the argument kind of code.transform is %q; it is rename or replace", args.Kind)
	}
	if err != nil {
		return nil, err
	}
	result.Kind = args.Kind
	text := fmt.Sprintf("%s in %s, nothing is written yet\n", english.Count(result.Edits, "edit"), english.Count(len(result.Files), "file"))
	if result.Note != "" {
		text += result.Note + "\n"
	}
	return op.Reply(result, text+result.Diff), nil
}

// named returns the arguments of one kind under the names of the kind that was asked
// for, where they can mean nothing else.
func (a transformArgs) named() transformArgs {
	renames := a.Symbol != "" && a.NewName != "" && a.Pattern == "" && a.Replacement == nil
	replaces := a.Symbol == "" && a.NewName == "" && a.Pattern != "" && a.Replacement != nil && *a.Replacement != "" && !a.Regex && a.Glob == ""
	switch {
	case a.Kind == "rename" && replaces:
		a.Symbol, a.NewName, a.Pattern, a.Replacement = a.Pattern, *a.Replacement, "", nil
	case a.Kind == "replace" && renames:
		text := a.NewName
		a.Pattern, a.Replacement, a.Symbol, a.NewName = a.Symbol, &text, "", ""
	}
	return a
}

// rename computes a rename, by types if possible, or else by words.
func (o *transformer) rename(ctx context.Context, args transformArgs) (transformResult, error) {
	switch {
	case args.Symbol == "" || args.NewName == "":
		return transformResult{}, errors.New("a rename needs symbol, the old name, and new_name")
	case args.Pattern != "" || args.Replacement != nil || args.Regex || args.Glob != "":
		return transformResult{}, errors.New("a rename takes symbol, new_name and path alone; pattern, replacement, regex and glob are of replace")
	}
	name, start, err := o.finder.asked(ctx, args.Symbol, args.Path)
	if err != nil {
		return transformResult{}, err
	}
	newName := strings.TrimSuffix(strings.Trim(strings.TrimSpace(args.NewName), "`'\""), "()")
	if prefix, ok := strings.CutSuffix(newName, "."+lastName(newName)); ok && (prefix == name.Parent || strings.HasSuffix(name.Parent, "."+prefix)) {
		newName = lastName(newName) // Run.Apply to Run.Fold
	}
	if newName == name.Word {
		return transformResult{}, fmt.Errorf("%s is called %s already", name.Given, newName)
	}
	t, err := o.resolver.aim(ctx, args.Symbol, name, start)
	if errors.Is(err, errNoTypes) {
		return o.renamer.renameWords(ctx, name, newName, start, nil)
	}
	if err != nil {
		return transformResult{}, err
	}
	if newName == t.word {
		return transformResult{}, fmt.Errorf("%s is called %s already", name.Given, newName)
	}
	renamed, compared, err := o.resolver.renamedBy(ctx, t, newName)
	switch {
	case ctx.Err() != nil:
		return transformResult{}, context.Cause(ctx)
	case err == nil:
		return o.renamed(ctx, t, renamed, compared)
	case refuses(err) || name.Word != t.word: // a search by words ignores places
		return transformResult{}, err
	}
	return o.renamer.renameWords(ctx, name, newName, start, []string{typesFailed(err)})
}

// renamed returns the result of a rename by types.
func (o *transformer) renamed(ctx context.Context, t target, renamed golang.Renamed, compared func(at string) bool) (transformResult, error) {
	notes := renamed.Notes
	if len(renamed.Also) > 0 {
		also := make([]string, len(renamed.Also))
		for i, s := range renamed.Also {
			also[i] = fmt.Sprintf("%s (%s:%d)", s.Name, s.Path, s.Line)
		}
		notes = append(notes, "also renamed: "+strings.Join(also, ", "))
	}
	if t.symbol != nil {
		other, err := o.referrer.otherFiles(ctx, ".", t.word, compared)
		if err != nil {
			return transformResult{}, err
		}
		notes = append(notes, other...)
	}
	changes, err := o.edited(renamed.Edits)
	if err != nil {
		return transformResult{}, err
	}
	for _, c := range changes {
		if !bytes.Equal(c.Before.Data, renamed.Read[c.Path]) {
			return transformResult{}, fmt.Errorf("%s changed while it was read; try again", c.Path)
		}
	}
	return transformed(source.ByTypes, changes, len(renamed.Edits), notes)
}

// edited applies edits to their files.
func (o *transformer) edited(edits []source.Edit) ([]change.Change, error) {
	byPath := map[string][]source.Edit{}
	for _, e := range edits {
		byPath[e.Path] = append(byPath[e.Path], e)
	}
	paths := make([]string, 0, len(byPath))
	for at := range byPath {
		paths = append(paths, at)
	}
	slices.Sort(paths)
	changes := make([]change.Change, 0, len(paths))
	for _, at := range paths {
		if err := o.tree.NotClosed(at); err != nil {
			return nil, err
		}
		before, err := o.tree.LoadText(at)
		if err != nil {
			return nil, err
		}
		if !before.Exists {
			return nil, fmt.Errorf("%s went away while it was read; try again", at)
		}
		after, err := source.Apply(string(before.Data), byPath[at])
		if err != nil {
			return nil, fmt.Errorf("%s changed while it was read; try again: %w", at, err)
		}
		changes = append(changes, change.Change{Path: at, Before: before, After: tree.File{Exists: true, Data: []byte(after), Mode: before.Mode}})
	}
	return changes, nil
}

// transformed combines changes into one diff.
func transformed(by source.Method, changes []change.Change, edits int, notes []string) (transformResult, error) {
	result := transformResult{By: by, Files: []transformedFile{}, Edits: edits, Hashes: make(map[string]string, len(changes)), Note: sentences(notes)}
	if edits > maxEdits || len(changes) > maxEditFiles {
		return result, fmt.Errorf("that would change %d places in %d files, and at most %d in %d are changed at once; narrow it with path", edits, len(changes), maxEdits, maxEditFiles)
	}
	var diff strings.Builder
	for _, c := range changes {
		if err := change.CheckText("the change of "+c.Path, string(c.After.Data)); err != nil {
			return result, err
		}
		text, counts := c.Diff()
		if text == "" {
			continue
		}
		diff.WriteString(text)
		result.Files = append(result.Files, transformedFile{Path: counts.Path, Added: counts.Added, Removed: counts.Removed})
		result.Hashes[c.Path] = c.Before.Hash()
	}
	if result.Diff = diff.String(); len(result.Diff) > maxDiff {
		return result, fmt.Errorf("the diff would have %d bytes, and at most %d can be shown and approved; narrow it with path", len(result.Diff), maxDiff)
	}
	return result, nil
}

// replace computes the replacement of a pattern.
func (o *transformer) replace(ctx context.Context, args transformArgs) (transformResult, error) {
	switch {
	case args.Replacement == nil:
		return transformResult{}, errors.New("a replacement needs pattern, and replacement, which may be empty")
	case args.Symbol != "" || args.NewName != "":
		return transformResult{}, errors.New("a replacement takes pattern, replacement, regex, glob and path; symbol and new_name are of rename")
	}
	pattern, err := source.NewPattern(args.Pattern, *args.Replacement, args.Regex)
	if err != nil {
		return transformResult{}, err
	}
	only, err := tree.NewGlob(args.Glob)
	if err != nil {
		return transformResult{}, err
	}
	start, err := o.tree.ScopeOf(ctx, args.Path)
	if err != nil {
		return transformResult{}, err
	}
	var changes []change.Change
	edits, searched, parts, written := 0, 0, 0, 0
	err = o.tree.Walk(ctx, start, func(at string, d fs.DirEntry) error {
		if !d.Type().IsRegular() || args.Glob != "" && !only.Match(at) {
			return nil
		}
		before, err := o.tree.LoadText(at)
		if err != nil {
			return nil //nolint:nilerr // too large or not text: nothing that is changed
		}
		searched++
		found, size := pattern.Edits(ctx, at, string(before.Data), maxWritten-written)
		if written += size; written > maxWritten {
			return fmt.Errorf("the replacement would write more than %d MB; narrow it with path or glob", maxWritten>>20)
		}
		if len(found) == 0 {
			return nil
		}
		after, err := source.Apply(string(before.Data), found)
		if err != nil {
			return err
		}
		if edits += len(found); edits > maxEdits || len(changes) == maxEditFiles {
			return fmt.Errorf("the pattern matches more than %d places or files; narrow it with path or glob", min(maxEdits, edits))
		}
		if pattern.IsWord() {
			parts += source.InWords(string(before.Data), found)
		}
		changes = append(changes, change.Change{Path: at, Before: before, After: tree.File{Exists: true, Data: []byte(after), Mode: before.Mode}})
		return nil
	})
	if err != nil {
		return transformResult{}, err
	}
	if len(changes) == 0 {
		return transformResult{}, fmt.Errorf("%s; nothing would change", noMatch(args, searched))
	}
	notes := []string{"text was replaced everywhere, in strings and comments too"}
	if parts > 0 {
		notes = append(notes, fmt.Sprintf("%q was also replaced %s inside longer words; a rename changes only the name", args.Pattern, times(parts)))
	}
	return transformed(source.ByText, changes, edits, notes)
}

func noMatch(args transformArgs, searched int) string {
	if searched == 0 {
		return "there is no text file to search by that path and glob"
	}
	return fmt.Sprintf("%q matches nothing in %s", args.Pattern, english.Count(searched, "file"))
}
