package code

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"replan/internal/english"
	"replan/mcpclient/workspace/code/source"
	"replan/mcpclient/workspace/grep"
	"replan/mcpclient/workspace/op"
	"replan/mcpclient/workspace/tree"
)

const (
	defaultSymbols = 200
	mostSymbols    = 2000
)

type symbolsResult struct {
	Path      string          `json:"path"`
	By        source.Method   `json:"by"`
	Symbols   []source.Symbol `json:"symbols"`
	Total     int             `json:"total"` // including those not returned
	Truncated bool            `json:"truncated"`
	Note      string          `json:"note,omitempty"`
}

type definitionResult struct {
	Symbol      string          `json:"symbol"`
	By          source.Method   `json:"by"`
	Definitions []source.Symbol `json:"definitions"`
	Total       int             `json:"total"`
	Note        string          `json:"note,omitempty"`
}

type symbolsArgs struct {
	Path  string `json:"path,omitempty" jsonschema:"folder or file to look in, relative to the workspace; default: the whole workspace"`
	Query string `json:"query,omitempty" jsonschema:"only names that hold this text, in upper or lower case"`
	Max   int    `json:"max,omitempty" jsonschema:"how many symbols to return; default: 200"`
}

// finder finds what is declared.
type finder struct {
	tree      *tree.Tree
	words     *wordReader
	resolver  *resolver
	maxOutput int // bytes of text that a search reads
}

func (o *finder) symbols(ctx context.Context, _ op.Call, args symbolsArgs) (*op.Answer[symbolsResult], error) {
	limit, err := capped("code.symbols", args.Max, defaultSymbols, mostSymbols)
	if err != nil {
		return nil, err
	}
	start, skip := ".", func(string) bool { return false }
	if pattern, ok := o.tree.Pattern(args.Path); ok {
		skip = func(at string) bool { return !pattern.Match(at) }
	} else if start, err = o.tree.ScopeOf(ctx, args.Path); err != nil {
		return nil, err
	}
	query := source.ParseName(strings.TrimSuffix(strings.TrimSuffix(args.Query, "*"), "."))
	result := symbolsResult{Path: start, By: source.ByWords, Symbols: []source.Symbol{}}
	r := &wordSearch{start: start, skip: skip, word: query.Word, fold: true, lexed: func(f *source.File) any { return o.resolver.qualified(f.Outline().Symbols) }}
	if err := o.words.read(ctx, r); err != nil {
		return nil, err
	}
	result.Symbols = append(result.Symbols, matching(r.results, query)...)
	var notes []string
	result.By, notes = parsed(result.Symbols, "symbol")
	notes = append(notes, r.skippedOnly()...)
	result.Total = len(result.Symbols)
	result.Symbols = result.Symbols[:min(limit, result.Total)]
	result.Truncated = result.Total > limit
	result.Note = sentences(notes)
	return op.Reply(result, symbolLines(result.Symbols, result.Total)), nil
}

// parsed puts the Go declarations first, which Go's own parser found, and
// notes how the others were found.
func parsed(found []source.Symbol, what string) (source.Method, []string) {
	slices.SortStableFunc(found, func(a, b source.Symbol) int {
		switch {
		case isGo(a.Path) == isGo(b.Path):
			return 0
		case isGo(a.Path):
			return -1
		}
		return 1
	})
	for i := range found {
		if !isGo(found[i].Path) {
			found[i].Qualified = ""
		}
	}
	words := len(found)
	if i := slices.IndexFunc(found, func(s source.Symbol) bool { return !isGo(s.Path) }); i >= 0 {
		words -= i
	} else {
		words = 0
	}
	switch words {
	case len(found):
		return source.ByWords, nil
	case 0:
		return source.ByTypes, nil
	}
	return source.ByTypes, []string{fmt.Sprintf("%s in other languages than Go: matched by name only", english.Count(words, what))}
}

func capped(tool string, asked, normal, most int) (int, error) {
	switch {
	case asked < 0:
		return 0, fmt.Errorf("the argument max of %s must be 1 or more, not %d", tool, asked)
	case asked == 0:
		return normal, nil
	default:
		return min(asked, most), nil
	}
}

// matching returns the symbols in files that match the query, exact names
// first.
func matching(files []readFile, query source.Name) []source.Symbol {
	asked := strings.ToLower(query.Word)
	if query.Parent != "" {
		asked = strings.ToLower(query.Parent + "." + query.Word)
	}
	var found []source.Symbol
	for _, f := range files {
		symbols, _ := f.found.([]source.Symbol)
		for _, s := range symbols {
			if asked == "" || strings.Contains(strings.ToLower(s.Name), asked) {
				found = append(found, s)
			}
		}
	}
	if asked != "" {
		slices.SortStableFunc(found, func(a, b source.Symbol) int { return farFrom(a, asked) - farFrom(b, asked) })
	}
	return found
}

func farFrom(s source.Symbol, asked string) int {
	full := strings.ToLower(s.Name)
	last := full[strings.LastIndexByte(full, '.')+1:]
	switch {
	case full == asked || last == asked:
		return 0
	case strings.HasPrefix(last, asked) || strings.HasPrefix(full, asked):
		return 1
	case strings.Contains(last, asked):
		return 2
	default:
		return 3
	}
}

// symbolLines formats symbols for display.
func symbolLines(symbols []source.Symbol, total int) string {
	var b strings.Builder
	for _, s := range symbols {
		fmt.Fprintf(&b, "%s:%d %s %s\n", s.Path, s.Line, s.Kind, s.Name)
	}
	if left := total - len(symbols); left > 0 {
		fmt.Fprintf(&b, "[cut: %s left out]\n", english.Count(left, "symbol"))
	}
	if total == 0 {
		return "no symbols"
	}
	return b.String()
}

type definitionArgs struct {
	Symbol string `json:"symbol" jsonschema:"name of a function, type, method, field or variable, like Parse, Run.Apply or agent.Run.Apply; also a place like run.go:12:5 where types are known"`
	Path   string `json:"path,omitempty" jsonschema:"folder or file to look in, relative to the workspace; default: the whole workspace"`
	None   bool   `json:"allow_none,omitempty" jsonschema:"return a note instead of failing if nothing has the name"`
}

func (o *finder) definition(ctx context.Context, _ op.Call, args definitionArgs) (*op.Answer[definitionResult], error) {
	result, err := o.define(ctx, args.Symbol, args.Path)
	if note, unknown := unknownName(err); unknown && args.None {
		result, err = definitionResult{Symbol: args.Symbol, By: source.ByWords, Definitions: []source.Symbol{}, Note: note}, nil
	}
	if err != nil {
		return nil, err
	}
	return op.Reply(result, symbolLines(result.Definitions, result.Total)), nil
}

// define finds the declarations of a symbol. It fails if there is none.
func (o *finder) define(ctx context.Context, symbol, within string) (definitionResult, error) {
	name, start, err := o.asked(ctx, symbol, within)
	if err != nil {
		return definitionResult{}, err
	}
	result := definitionResult{Symbol: name.Given, By: source.ByWords, Definitions: []source.Symbol{}}
	if t, ok, err := o.resolver.placed(ctx, symbol); err != nil {
		return definitionResult{}, err
	} else if ok {
		return o.definePlace(ctx, result, t)
	}
	r := &wordSearch{start: start, word: name.Word, lexed: func(f *source.File) any { return o.resolver.declared(f, name) }}
	if source.IsIdentifier(strings.TrimRight(strings.ReplaceAll(name.Word, "-", "_"), "!?")) {
		if err := o.words.read(ctx, r); err != nil {
			return definitionResult{}, err
		}
	}
	for _, f := range r.results {
		found, _ := f.found.([]source.Symbol)
		result.Definitions = append(result.Definitions, found...)
	}
	if result.Total = len(result.Definitions); result.Total == 0 {
		return definitionResult{}, o.unknown(ctx, name, start, r)
	}
	var notes []string
	result.By, notes = parsed(result.Definitions, "declaration")
	result.Note = sentences(append(notes, r.skippedOnly()...))
	return result, nil
}

// definePlace finds the declaration of the name at a place.
func (o *finder) definePlace(ctx context.Context, result definitionResult, t target) (definitionResult, error) {
	found, err := o.resolver.definitions(ctx, t.place)
	if err != nil {
		return definitionResult{}, err
	}
	for _, at := range found {
		if o.tree.Closed(at.Path) {
			continue
		}
		symbol := source.Symbol{Name: t.word, Kind: "name", Place: at}
		if text, err := o.tree.LoadText(at.Path); err == nil {
			if outline, err := source.OutlineOf(ctx, at.Path, string(text.Data)); err == nil {
				for _, s := range o.resolver.qualified(outline.Symbols) {
					if s.Line == at.Line && s.Column == at.Column {
						symbol = s
					}
				}
			}
		}
		result.Definitions = append(result.Definitions, symbol)
	}
	if result.Total = len(result.Definitions); result.Total == 0 {
		return definitionResult{}, unnamed("%s at %s:%d is declared outside the workspace", t.word, t.place.Path, t.place.Line)
	}
	result.By = source.ByTypes
	return result, nil
}

// asked parses the arguments symbol and path.
func (o *finder) asked(ctx context.Context, symbol, within string) (source.Name, string, error) {
	name := source.ParseName(symbol)
	if name.Word == "" {
		return name, "", fmt.Errorf("the argument symbol is %q, which is no name; write it like Parse or Run.Apply", symbol)
	}
	start, err := o.tree.ScopeOf(ctx, within)
	return name, start, err
}

// unknown returns an error that nothing declares a name, with similar names.
func (o *finder) unknown(ctx context.Context, name source.Name, start string, r *wordSearch) error {
	where := "the workspace"
	if start != "." {
		where = start
	}
	if err := r.unread(name, where); err != nil {
		return err
	}
	for _, f := range r.results {
		if f.file != nil {
			if uses := f.file.Uses(name.Word).References; len(uses) > 0 {
				return unnamed("a search by name in %s found no declaration of %s; it is used in %s:%d (%s)", where, name.Given, f.path, uses[0].Line, uses[0].Text)
			}
		}
	}
	like, err := o.near(ctx, name.Word, start)
	switch {
	case err != nil:
		return err
	case len(like) > 0:
		return unnamed("there is no symbol %s in %s; similar: %s", name.Given, where, strings.Join(like, ", "))
	}
	held, err := o.holds(ctx, name.Word, start)
	switch {
	case err != nil:
		return err
	case held:
		return unnamed("there is no symbol %s in %s; to search the text: find %[1]s", name.Given, where)
	default:
		return unnamed("there is no symbol %s in %s, and no text contains it", name.Given, where)
	}
}

// unnamedError means that nothing has a name.
type unnamedError struct{ error }

func unnamed(format string, args ...any) error { return unnamedError{fmt.Errorf(format, args...)} }

// unknownName reports whether an error means that nothing has a name, and
// returns its message.
func unknownName(err error) (note string, unknown bool) {
	if _, ok := errors.AsType[unnamedError](err); ok {
		return err.Error(), true
	}
	return "", false
}

// holds reports whether a search for a text finds it.
func (o *finder) holds(ctx context.Context, text, start string) (bool, error) {
	find, err := grep.NewFinder(text, false, false)
	if err != nil {
		return false, err
	}
	s := grep.Search{Find: find, Limit: 1, Size: o.maxOutput}
	err = s.Run(ctx, o.tree, start, func(_ string, d fs.DirEntry) bool { return d.Type().IsRegular() })
	return s.Total > 0, err
}

// near returns declared names spelled similarly to a word. It first picks
// similar words from the text, which is fast, and looks up only those.
func (o *finder) near(ctx context.Context, word, start string) ([]string, error) {
	all := map[string]bool{}
	err := o.tree.Walk(ctx, start, func(at string, d fs.DirEntry) error {
		lang, ok := source.LanguageOf(at)
		if !ok || !d.Type().IsRegular() || lang.Sort == source.Prose || lang.Sort == source.Data {
			return nil
		}
		if text, err := o.tree.LoadText(at); err == nil {
			source.Words(text.Data, all)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("looking through %s: %w", start, err)
	}
	var declared []string
	for _, like := range source.Near(word, slices.Sorted(maps.Keys(all))) {
		name := source.Name{Given: like, Word: like}
		r := &wordSearch{start: start, word: like, lexed: func(f *source.File) any { return f.Declares(name) }}
		if err := o.words.read(ctx, r); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(r.results, func(f readFile) bool { found, _ := f.found.([]source.Symbol); return len(found) > 0 }) {
			declared = append(declared, like)
		}
	}
	return declared, nil
}
