package code

import (
	"context"
	"fmt"

	"replan/internal/english"
	"replan/mcpclient/workspace/code/lsp"
	"replan/mcpclient/workspace/code/source"
	"replan/mcpclient/workspace/op"
	"replan/mcpclient/workspace/tree"
)

type parseResult struct {
	Path     string          `json:"path"`
	Language string          `json:"language"`
	By       source.Method   `json:"by"`
	Package  string          `json:"package"`
	Imports  []string        `json:"imports"`
	Lines    int             `json:"lines"`
	Outline  []source.Symbol `json:"outline"`
	Note     string          `json:"note,omitempty"`
}

type parseArgs struct {
	Path string `json:"path" jsonschema:"file, relative to the workspace"`
}

// outliner lists what single files hold.
type outliner struct {
	tree     *tree.Tree
	resolver *resolver
	servers  *lsp.Servers // may be nil
}

func (o *outliner) parse(ctx context.Context, _ op.Call, args parseArgs) (*op.Answer[parseResult], error) {
	at, err := o.tree.Resolve(args.Path)
	if err != nil {
		return nil, err
	}
	f, err := o.tree.LoadText(at)
	if err != nil {
		return nil, err
	}
	if !f.Exists {
		return nil, o.tree.NoFile(ctx, at)
	}
	result, err := o.outline(ctx, at, string(f.Data))
	if err != nil {
		return nil, err
	}
	text := fmt.Sprintf("%s: %s, %s\n", at, result.Language, english.Count(result.Lines, "line"))
	return op.Reply(result, text+symbolLines(result.Outline, len(result.Outline))), nil
}

// outline returns the outline of a file with the given text.
func (o *outliner) outline(ctx context.Context, at, text string) (parseResult, error) {
	result := parseResult{Path: at, Language: "unknown", By: source.ByWords, Imports: []string{}, Lines: source.CountLines(text), Outline: []source.Symbol{}}
	lang, known := source.LanguageOf(at)
	if known {
		result.Language = lang.Name
	}
	switch {
	case !known:
		result.Note = "The language is not known from the file name."
		return result, nil
	case !lang.Knows():
		result.Note = "Declarations in " + lang.Name + " are not recognized."
		return result, nil
	case len(text) > maxLexed:
		result.Note = fmt.Sprintf("The file has %d bytes; files over %d are not parsed.", len(text), maxLexed)
		return result, nil
	}
	found, err := source.OutlineOf(ctx, at, text)
	if err != nil {
		if ctx.Err() != nil {
			return result, context.Cause(ctx)
		}
		result.Note = sentences([]string{err.Error()})
		return result, nil
	}
	result.Package = found.Package
	result.Imports = append(result.Imports, found.Imports...)
	result.Outline = append(result.Outline, found.Symbols...)
	switch served, err := o.serverOutline(ctx, at, found.Symbols); {
	case isGo(at):
		result.By, result.Outline = source.ByTypes, o.resolver.qualified(result.Outline) // by Go's own parser
	case err == nil:
		result.By, result.Outline = source.ByTypes, served
	case ctx.Err() != nil:
		return result, context.Cause(ctx)
	}
	switch {
	case found.Broken != "":
		result.Note = sentences([]string{"the file does not parse: " + found.Broken})
	case found.Plain && result.By == source.ByWords:
		result.Note = "The file takes too much work to be read as " + lang.Name + ", so strings and comments are read as code."
	}
	return result, nil
}

// serverOutline returns a language server's declarations of a file. It adds
// signatures and comments found by words.
func (o *outliner) serverOutline(ctx context.Context, at string, words []source.Symbol) ([]source.Symbol, error) {
	if isGo(at) {
		return nil, errNoTypes
	}
	served, err := o.servers.Symbols(ctx, at)
	if err == nil && len(served) == 0 {
		err = errNoTypes
	}
	for i, s := range served {
		for _, w := range words {
			if w.Line == s.Line && lastName(w.Name) == lastName(s.Name) {
				served[i].Signature, served[i].Doc, served[i].Exported = w.Signature, w.Doc, w.Exported
			}
		}
	}
	return served, err
}
