package code

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"replan/mcpclient/workspace/change"
	"replan/mcpclient/workspace/code/source"
	"replan/mcpclient/workspace/tree"
)

// noUseError means that a word occurs nowhere as a name.
type noUseError struct{ error }

func (e *noUseError) Unwrap() error { return e.error }

// wordRename is the result of a rename by words in one file.
type wordRename struct {
	edits    []source.Edit
	uses     source.Uses
	declares []source.Symbol
	err      error
}

// wordRenamer renames by words.
type wordRenamer struct {
	words  *wordReader
	finder *finder
}

// renameWords computes a rename by words in the files of the languages that
// declare the name. It changes nothing if words cannot tell which declaration
// is meant. notes are added to the result.
func (o *wordRenamer) renameWords(ctx context.Context, name source.Name, newName, start string, notes []string) (transformResult, error) {
	bare := source.Name{Given: name.Word, Word: name.Word}
	r := &wordSearch{start: start, word: name.Word, lexed: func(f *source.File) any {
		edits, uses, err := f.Rename(name.Word, newName)
		return wordRename{edits, uses, f.Declares(bare), err}
	}}
	if err := o.words.read(ctx, r); err != nil {
		return transformResult{}, err
	}
	chosen, others, err := family(r.results, name, newName, start)
	if err != nil {
		return transformResult{}, err
	}
	if len(chosen) == 0 {
		return transformResult{}, &noUseError{o.finder.unknown(ctx, name, start, r)}
	}
	var edits []source.Edit
	var quoted []source.Place
	for _, f := range chosen {
		found := f.found.(wordRename)
		if found.err != nil {
			return transformResult{}, found.err
		}
		edits = append(edits, found.edits...)
		quoted = append(quoted, found.uses.Quoted...)
	}
	notes = append(notes, fmt.Sprintf("%s: every name %s in these files (%s) was renamed; check the diff", mayErr, name.Word, languages(chosen)))
	if len(quoted) > 0 {
		places := make([]string, 0, namedFiles)
		for _, p := range quoted[:min(namedFiles, len(quoted))] {
			places = append(places, fmt.Sprintf("%s:%d", p.Path, p.Line))
		}
		if len(quoted) > namedFiles {
			places = append(places, "…")
		}
		notes = append(notes, fmt.Sprintf("not renamed in strings and comments, where the name occurs %s: %s", times(len(quoted)), strings.Join(places, ", ")))
	}
	if len(others) > 0 {
		notes = append(notes, "not renamed in other languages: "+listFiles(others))
	}
	outside, err := o.outside(ctx, name.Word, chosen, start)
	if err != nil {
		return transformResult{}, err
	}
	notes = append(notes, outside...)
	// The edits apply to the text as read, so do not read it again.
	var changes []change.Change
	for _, f := range chosen {
		found := f.found.(wordRename)
		after, err := source.Apply(string(f.text.Data), found.edits)
		if err != nil {
			return transformResult{}, err
		}
		changes = append(changes, change.Change{Path: f.path, Before: f.text, After: tree.File{Exists: true, Data: []byte(after), Mode: f.text.Mode}})
	}
	return transformed(source.ByWords, changes, len(edits), append(notes, r.notes()...))
}

// outside returns where the languages of a rename use the old name outside
// start: those places keep it and may break.
func (o *wordRenamer) outside(ctx context.Context, word string, chosen []readFile, start string) ([]string, error) {
	if start == "." {
		return nil, nil
	}
	families := map[string]bool{}
	for _, f := range chosen {
		families[f.language.Family] = true
	}
	r := &wordSearch{start: ".", word: word, lexed: func(f *source.File) any { return f.Uses(word) }}
	if err := o.words.read(ctx, r); err != nil {
		return nil, err
	}
	var places, skipped []string
	for _, f := range r.results {
		if f.skipped != "" && families[f.language.Family] {
			skipped = append(skipped, f.path)
		}
		uses, ok := f.found.(source.Uses)
		if !ok || !families[f.language.Family] || f.path == start || strings.HasPrefix(f.path, start+"/") {
			continue
		}
		for _, use := range uses.References {
			places = append(places, fmt.Sprintf("%s:%d", use.Path, use.Line))
		}
	}
	var notes []string
	if len(skipped) > 0 {
		notes = append(notes, fmt.Sprintf("outside %s, some files were not searched for the old name (%s)", start, listFiles(skipped)))
	}
	if len(places) == 0 {
		return notes, nil
	}
	return append(notes, fmt.Sprintf("outside %s, the old name %s still occurs %s and may now be broken: %s", start, word, times(len(places)), listFiles(places))), nil
}

// nameResults collects the results of all files about a name.
type nameResults struct {
	declaring map[string]bool // language families that declare it
	using     map[string]bool // language families that use it
	places    []string        // of its declarations
	paths     []string        // of files to which the rename could be limited
	asked     bool            // one of them is the requested path
	files     int             // number of files that use it
}

func namingOf(files []readFile, name source.Name) nameResults {
	n := nameResults{declaring: map[string]bool{}, using: map[string]bool{}}
	holders, using := map[string]bool{}, map[string]bool{}
	var declared []source.Symbol
	for _, f := range files {
		found, _ := f.found.(wordRename)
		declared = append(declared, found.declares...)
	}
	embeds := embedding(declared)
	for _, f := range files {
		found, ok := f.found.(wordRename)
		if ok && len(found.uses.References) > 0 {
			n.using[f.language.Family] = true
			using[f.path] = true
			n.files++
		}
		here, asked := 0, false
		for _, s := range found.declares {
			if embeds(s) {
				continue
			}
			n.declaring[f.language.Family] = true
			if key := s.Parent + " " + f.path; !holders[key] {
				holders[key] = true
				n.places = append(n.places, fmt.Sprintf("%s (%s:%d)", s.Name, s.Path, s.Line))
				here++
			}
			asked = asked || name.Names(s)
		}
		n.asked = n.asked || asked
		if asked && (here == 1 || name.Parent == "") {
			n.paths = append(n.paths, f.path)
		}
	}
	slices.Sort(n.places)
	if len(n.places) == 0 {
		n.paths = slices.Sorted(maps.Keys(using))
	}
	return n
}

// refuses returns an error if words cannot tell names apart, with what to type
// instead.
func (n nameResults) refuses(name source.Name, newName, start string) error {
	narrow := ""
	if len(n.paths) > 0 && n.paths[0] != start {
		narrow = fmt.Sprintf(": rename %s to %s in %s", name.Given, newName, n.paths[0])
	}
	whole := start == "."
	switch {
	case name.Parent != "" && len(n.places) > 0 && !n.asked:
		return fmt.Errorf("no declaration of %s was found by name; there is %s", name.Given, listFiles(n.places))
	case len(n.places) > 1 && (whole || name.Parent != ""):
		return fmt.Errorf("%s is declared in %d places (%s), and word matching cannot tell their uses apart; set path to one file or folder%s", name.Word, len(n.places), listFiles(n.places), narrow)
	case len(n.places) == 0 && whole && n.files > 1:
		return fmt.Errorf("no declaration of %s was found by name, but %d files use it; set path to the file or folder to rename it in%s", name.Word, n.files, narrow)
	case len(n.families()) > 1:
		return fmt.Errorf("%s is a name in several languages (%s), which word matching cannot tell apart; set path to one file or folder%s", name.Word, strings.Join(slices.Sorted(maps.Keys(n.families())), ", "), narrow)
	default:
		return nil
	}
}

// families returns the families that declare the name, or else those that use
// it.
func (n nameResults) families() map[string]bool {
	if len(n.declaring) > 0 {
		return n.declaring
	}
	return n.using
}

// family selects the files that a rename by words changes: those of the
// languages that declare the name. It fails if words cannot tell names apart.
func family(files []readFile, name source.Name, newName, start string) (chosen []readFile, others []string, err error) {
	n := namingOf(files, name)
	if n.files == 0 {
		return nil, nil, nil
	}
	if err := n.refuses(name, newName, start); err != nil {
		return nil, nil, err
	}
	for _, f := range files {
		found, ok := f.found.(wordRename)
		uses := ok && len(found.uses.References) > 0
		switch ours := n.families()[f.language.Family]; {
		case ours && f.skipped != "":
			return nil, nil, fmt.Errorf("%s holds %s and could not be read: %s; the rename would not be whole", f.path, name.Word, f.skipped)
		case ours && uses:
			chosen = append(chosen, f)
		case uses:
			others = append(others, f.path)
		}
	}
	return chosen, others, nil
}

// languages names the languages of files.
func languages(files []readFile) string {
	seen := map[string]bool{}
	for _, f := range files {
		seen[f.language.Name] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(seen)), ", ")
}
