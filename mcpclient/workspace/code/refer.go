package code

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"replan/internal/english"
	"replan/mcpclient/workspace/code/source"
	"replan/mcpclient/workspace/op"
)

const (
	defaultReferences = 500
	mostReferences    = 5000
)

type referencesResult struct {
	Symbol     string             `json:"symbol"` // qualified name; for words, as given
	Name       string             `json:"name"`
	By         source.Method      `json:"by"`
	Definition *source.Place      `json:"definition"`
	References []source.Reference `json:"references"`
	Total      int                `json:"total"` // including those not returned
	Truncated  bool               `json:"truncated"`
	Note       string             `json:"note,omitempty"`
}

type referencesArgs struct {
	Symbol string `json:"symbol" jsonschema:"name to look for, like Parse, Run.Apply or agent.Run.Apply; also a place like run.go:12:5 where types are known"`
	Path   string `json:"path,omitempty" jsonschema:"folder or file to look in, relative to the workspace; default: the whole workspace"`
	None   bool   `json:"allow_none,omitempty" jsonschema:"return a note instead of failing if nothing has the name"`
	Max    int    `json:"max,omitempty" jsonschema:"how many references to return; default: 500"`
}

// referrer finds where names are used.
type referrer struct {
	words    *wordReader
	resolver *resolver
	finder   *finder
}

func (o *referrer) references(ctx context.Context, _ op.Call, args referencesArgs) (*op.Answer[referencesResult], error) {
	limit, err := capped("code.references", args.Max, defaultReferences, mostReferences)
	if err != nil {
		return nil, err
	}
	result, err := o.refer(ctx, args.Symbol, args.Path)
	if note, unknown := unknownName(err); unknown && args.None {
		result, err = referencesResult{Symbol: args.Symbol, Name: source.ParseName(args.Symbol).Word, By: source.ByWords, References: []source.Reference{}, Note: note}, nil
	}
	if err != nil {
		return nil, err
	}
	result.Total = len(result.References)
	result.References = result.References[:min(limit, result.Total)]
	result.Truncated = result.Total > limit
	var b strings.Builder
	for _, ref := range result.References {
		fmt.Fprintf(&b, "%s:%d:%d %s\n", ref.Path, ref.Line, ref.Column, ref.Text)
	}
	if left := result.Total - len(result.References); left > 0 {
		fmt.Fprintf(&b, "[cut: %s left out]\n", english.Count(left, "reference"))
	}
	return op.Reply(result, b.String()), nil
}

// refer finds the uses of a symbol.
func (o *referrer) refer(ctx context.Context, symbol, within string) (referencesResult, error) {
	name, start, err := o.finder.asked(ctx, symbol, within)
	if err != nil {
		return referencesResult{}, err
	}
	t, err := o.resolver.aim(ctx, symbol, name, start)
	if errors.Is(err, errNoTypes) {
		return o.wordReferences(ctx, name, start, nil)
	}
	if err != nil {
		return referencesResult{}, err
	}
	found, err := o.resolver.typedUses(ctx, t)
	switch {
	case ctx.Err() != nil:
		return referencesResult{}, context.Cause(ctx)
	case err == nil:
		return o.typedReferences(ctx, name, start, t, found)
	}
	if name.Word != t.word { // the symbol was given as a place
		name = source.Name{Given: t.word, Word: t.word}
	}
	return o.wordReferences(ctx, name, start, []string{typesFailed(err)})
}

// typedReferences returns uses by types, with a note on files that were not
// examined.
func (o *referrer) typedReferences(ctx context.Context, name source.Name, start string, t target, found uses) (referencesResult, error) {
	result := referencesResult{Symbol: name.Given, Name: t.word, By: source.ByTypes, References: inside(found.references, start)}
	if t.symbol != nil {
		result.Symbol, result.Name, result.Definition = t.symbol.Qualified, t.symbol.Name, &t.symbol.Place
	}
	for _, ref := range found.references {
		if ref.Definition && result.Definition == nil {
			result.Definition = &ref.Place
		}
	}
	notes := found.notes
	if out := len(found.references) - len(result.References); out > 0 {
		notes = append(notes, fmt.Sprintf("outside %s there are %s more", start, english.Count(out, "use")))
	}
	if t.symbol != nil { // otherwise it is local to a function, so no other file can mean it
		other, err := o.otherFiles(ctx, start, t.word, found.compared)
		if err != nil {
			return referencesResult{}, err
		}
		notes = append(notes, other...)
	}
	result.Note = sentences(notes)
	return result, nil
}

// inside returns the references in a folder or file.
func inside(refs []source.Reference, start string) []source.Reference {
	kept := make([]source.Reference, 0, len(refs))
	for _, r := range refs {
		if start == "." || r.Path == start || strings.HasPrefix(r.Path, start+"/") {
			kept = append(kept, r)
		}
	}
	return kept
}

func lastName(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// otherFiles returns the files with a word that were not compared. It searches
// them as text, without lexing.
func (o *referrer) otherFiles(ctx context.Context, start, word string, compared func(at string) bool) ([]string, error) {
	r := &wordSearch{start: start, word: word, skip: compared}
	files, mentions, err := o.words.holding(ctx, r)
	if err != nil || len(files) == 0 {
		return nil, err
	}
	return []string{fmt.Sprintf("other files also contain the name %s, not checked by type (%s)", times(mentions), listFiles(files))}, nil
}

// wordReferences returns uses by words.
func (o *referrer) wordReferences(ctx context.Context, name source.Name, start string, notes []string) (referencesResult, error) {
	r := &wordSearch{start: start, word: name.Word, lexed: func(f *source.File) any { return f.Uses(name.Word) }}
	if err := o.words.read(ctx, r); err != nil {
		return referencesResult{}, err
	}
	result := referencesResult{Symbol: name.Given, Name: name.Word, By: source.ByWords, References: []source.Reference{}}
	var quoted []source.Place
	for _, f := range r.results {
		uses, ok := f.found.(source.Uses)
		if !ok {
			continue
		}
		quoted = append(quoted, uses.Quoted...)
		result.References = append(result.References, uses.References...)
		if result.Definition == nil {
			if found := f.file.Declares(name); len(found) > 0 {
				result.Definition = &found[0].Place
			}
		}
	}
	found := len(result.References) > 0
	if found {
		notes = append(notes, mayErr+"; other things with the same name are included")
	}
	if found && name.Parent != "" {
		notes = append(notes, fmt.Sprintf("matching by name cannot tell which %s is meant: %s was ignored", name.Word, name.Parent))
	}
	if len(quoted) > 0 {
		notes = append(notes, fmt.Sprintf("the name also occurs %s in strings and comments (%s:%d)", times(len(quoted)), quoted[0].Path, quoted[0].Line))
	}
	result.Note = sentences(append(notes, r.notes()...))
	if len(result.References) == 0 {
		if len(quoted) > 0 || len(r.notes()) > 0 {
			return result, nil
		}
		return referencesResult{}, o.finder.unknown(ctx, name, start, r)
	}
	return result, nil
}
