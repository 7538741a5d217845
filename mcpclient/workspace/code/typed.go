package code

import (
	"context"
	"errors"
	"fmt"
	"go/build"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/modfile"

	"replan/mcpclient/workspace/code/golang"
	"replan/mcpclient/workspace/code/lsp"
	"replan/mcpclient/workspace/code/source"
	"replan/mcpclient/workspace/tree"
)

// target is a name at a place that a language server or a type checker can
// look up.
type target struct {
	place   source.Place
	word    string
	symbol  *source.Symbol // its declaration; nil if only a use is known
	holding []string       // files that contain the word
}

// ambiguousError means that a name has more than one meaning.
type ambiguousError struct {
	name       string
	candidates []source.Symbol
}

func (e *ambiguousError) Error() string {
	const most = 8
	var named []string
	for _, c := range e.candidates[:min(most, len(e.candidates))] {
		named = append(named, fmt.Sprintf("%s (%s:%d)", c.Qualified, c.Path, c.Line))
	}
	more := ""
	if left := len(e.candidates) - most; left > 0 {
		more = fmt.Sprintf(" and %d more", left)
	}
	return fmt.Sprintf("%s means %d things: %s%s; name one of them in full, or its place as file:line:column",
		e.name, len(e.candidates), strings.Join(named, ", "), more)
}

// errNoTypes means that only words can resolve a name.
var errNoTypes = errors.New("nothing knows its types")

// resolver says what names mean, by language servers and Go's type checker.
type resolver struct {
	tree    *tree.Tree
	words   *wordReader
	environ []string            // of the go command
	servers *lsp.Servers        // may be nil
	missing func(p lsp.Program) // see Config.MissingServer
}

// golang returns the Go code of the workspace, with types.
func (o *resolver) golang() *golang.Project { return golang.New(o.tree.Dir, o.environ) }

// aim finds a declaration, or at least a use, of a symbol in a language with a
// language server or a type checker. It fails with errNoTypes if only words
// are available.
func (o *resolver) aim(ctx context.Context, symbol string, name source.Name, start string) (target, error) {
	if at, ok, err := o.placed(ctx, symbol); ok || err != nil {
		return at, err
	}
	type occurrence struct {
		declared []source.Symbol
		uses     []source.Reference
	}
	look := func(start string) (*wordSearch, []source.Symbol, error) {
		r := &wordSearch{start: start, word: name.Word, lexed: func(f *source.File) any {
			return occurrence{o.declared(f, name), f.Uses(name.Word).References}
		}}
		if err := o.words.read(ctx, r); err != nil {
			return nil, nil, err
		}
		var declared []source.Symbol
		for _, f := range r.results {
			if found, _ := f.found.(occurrence); len(found.declared) > 0 && o.isTyped(f.path) {
				declared = append(declared, found.declared...)
			}
		}
		declared = compiled(o.tree.Dir, declared)
		return r, slices.DeleteFunc(slices.Clone(declared), embedding(declared)), nil
	}
	r, declared, err := look(start)
	if err == nil && len(declared) == 0 && start != "." { // declared elsewhere, used here
		_, declared, err = look(".")
		if err == nil && !slices.ContainsFunc(r.results, func(f readFile) bool { found, _ := f.found.(occurrence); return len(found.uses) > 0 }) {
			return target{}, errNoTypes
		}
	}
	if err != nil {
		return target{}, err
	}
	at := target{word: name.Word}
	for _, f := range r.results {
		at.holding = append(at.holding, f.path)
	}
	switch {
	case len(declared) == 1:
		at.symbol, at.place = &declared[0], declared[0].Place
		return at, nil
	case len(declared) > 1:
		return target{}, &ambiguousError{name.Given, declared}
	case start == ".":
		return target{}, errNoTypes
	}
	for _, f := range r.results {
		if found, _ := f.found.(occurrence); len(found.uses) > 0 && o.isTyped(f.path) {
			at.place = found.uses[0].Place
			return at, nil
		}
	}
	return target{}, errNoTypes
}

var placeForm = regexp.MustCompile(`^(.+\.\w+):(\d+)(?::(\d+))?$`)

// placed parses a symbol given as a place: file:line or file:line:column.
func (o *resolver) placed(ctx context.Context, symbol string) (target, bool, error) {
	m := placeForm.FindStringSubmatch(strings.Trim(strings.TrimSpace(symbol), "`\"'"))
	if m == nil {
		return target{}, false, nil
	}
	at, err := o.tree.Resolve(m[1])
	if err != nil {
		return target{}, false, err
	}
	text, err := o.tree.LoadText(at)
	switch {
	case err != nil:
		return target{}, false, err
	case !text.Exists:
		return target{}, false, o.tree.NoFile(ctx, at)
	case !o.isTyped(at):
		return target{}, false, fmt.Errorf("there is no type information for %s; give a name instead of %s", at, symbol)
	}
	f, err := source.Lex(ctx, at, string(text.Data))
	if err != nil {
		return target{}, false, err
	}
	line, _ := strconv.Atoi(m[2])
	column, _ := strconv.Atoi(m[3])
	word, place, ok := f.WordAt(line, column)
	if !ok {
		return target{}, false, fmt.Errorf("there is no one name at %s; give the line and the column of the name, as %s:12:5", symbol, at)
	}
	t := target{place: place, word: word}
	for _, s := range o.qualified(f.Outline().Symbols) {
		if s.Place == place {
			t.symbol = &s
		}
	}
	return t, true, nil
}

// compiled drops Go declarations that are not compiled on this system, unless
// there are no others.
func compiled(dir string, declared []source.Symbol) []source.Symbol {
	here := slices.DeleteFunc(slices.Clone(declared), func(s source.Symbol) bool {
		ok, err := build.Default.MatchFile(filepath.Join(dir, filepath.FromSlash(path.Dir(s.Path))), path.Base(s.Path))
		return isGo(s.Path) && err == nil && !ok
	})
	if len(here) == 0 {
		return declared
	}
	return here
}

// embedding reports of a declaration whether it is a field of Go that embeds a type that
// is declared too. The name of such a field is the name of the type.
func embedding(declared []source.Symbol) func(s source.Symbol) bool {
	types := map[string]bool{} // by folder and name
	for _, s := range declared {
		if isGo(s.Path) && s.Parent == "" && (s.Kind == "struct" || s.Kind == "interface" || s.Kind == "type") {
			types[path.Dir(s.Path)+" "+s.Name], types[s.Name] = true, true
		}
	}
	return func(s source.Symbol) bool {
		qualified, embeds := s.Embeds()
		return embeds && (types[path.Dir(s.Path)+" "+lastName(s.Name)] || qualified && types[lastName(s.Name)])
	}
}

// isTyped reports whether a file has a language server or a type checker.
func (o *resolver) isTyped(at string) bool {
	if isGo(at) && o.golang().Governs(at) {
		return true
	}
	p, known := o.servers.Program(at)
	if !known {
		return false
	}
	_, err := o.servers.Find(p)
	return err == nil
}

// qualified sets unambiguous names for Go declarations.
func (o *resolver) qualified(declared []source.Symbol) []source.Symbol {
	paths := map[string]string{}
	for i, s := range declared {
		if !isGo(s.Path) {
			declared[i].Qualified = s.Name
			continue
		}
		dir := path.Dir(s.Path)
		if paths[dir] == "" {
			paths[dir] = o.importPath(dir)
		}
		declared[i].Qualified = paths[dir] + "." + s.Name
	}
	return declared
}

// declared returns the declarations in a file to which a name refers. A name in full, as
// [resolver.qualified] writes it, refers to exactly one of them. The last element of its
// import path may be v2, and need not be the package's name.
func (o *resolver) declared(f *source.File, name source.Name) []source.Symbol {
	if strings.Contains(name.Given, "/") {
		alike := o.qualified(f.Declares(source.Name{Given: name.Word, Word: name.Word}))
		exact := slices.DeleteFunc(alike, func(s source.Symbol) bool { return s.Qualified != name.Given })
		if len(exact) > 0 {
			return exact
		}
	}
	return o.qualified(f.Declares(name))
}

// importPath returns the import path of the package in a folder, or the folder
// if no go.mod determines it.
func (o *resolver) importPath(at string) string {
	for dir := at; ; dir = path.Dir(dir) {
		if data, err := o.tree.Root.ReadFile(filepath.FromSlash(path.Join(dir, "go.mod"))); err == nil {
			return path.Join(modfile.ModulePath(data), strings.TrimPrefix(strings.TrimPrefix(at, dir), "/"))
		}
		if dir == "." {
			return at
		}
	}
}

// definitions returns where the name at a place is declared.
func (o *resolver) definitions(ctx context.Context, place source.Place) ([]source.Place, error) {
	found, err := o.servers.Definition(ctx, place)
	if isGo(place.Path) && len(found) == 0 && ctx.Err() == nil {
		return o.golang().Definition(ctx, place)
	}
	return found, err
}

// uses is the report of a server or a type checker about a name.
type uses struct {
	references []source.Reference
	compared   func(at string) bool // whether a file was examined
	notes      []string
}

// typedUses asks the language server, or Go's type checker if there is none.
func (o *resolver) typedUses(ctx context.Context, t target) (uses, error) {
	var u uses
	refs, err := o.servers.References(ctx, t.place, t.holding)
	switch {
	case ctx.Err() != nil:
		return u, context.Cause(ctx)
	case err == nil && len(refs) > 0:
		u.references, u.compared = o.withEnclosing(ctx, refs), o.sameServer(t.place.Path)
		return u, nil
	case err == nil:
		err = errNoTypes
	}
	if !isGo(t.place.Path) || !o.golang().Governs(t.place.Path) {
		return u, err
	}
	u.notes = append(u.notes, o.notServed(err)...)
	found, err := o.golang().References(ctx, t.place)
	if err != nil {
		return u, err
	}
	u.references, u.notes = o.withEnclosing(ctx, found.Uses), append(u.notes, found.Notes...)
	u.compared = func(at string) bool { return found.Read[at] != nil }
	return u, nil
}

// renamedBy asks the language server for a rename, or Go's type checker if
// there is none.
func (o *resolver) renamedBy(ctx context.Context, t target, name string) (golang.Renamed, func(string) bool, error) {
	renamed, err := o.servers.Rename(ctx, t.place, name, t.holding)
	refused := new(lsp.RefusedError)
	switch {
	case ctx.Err() != nil:
		return golang.Renamed{}, nil, context.Cause(ctx)
	case err == nil && len(renamed.Edits) > 0:
		result := golang.Renamed{Edits: renamed.Edits, Read: map[string][]byte{}}
		for at, text := range renamed.Read {
			result.Read[at] = []byte(text)
		}
		return result, o.sameServer(t.place.Path), nil
	case errors.As(err, &refused):
		return golang.Renamed{}, nil, err
	case err == nil:
		err = errNoTypes
	}
	if !isGo(t.place.Path) || !o.golang().Governs(t.place.Path) {
		return golang.Renamed{}, nil, err
	}
	notes := o.notServed(err)
	result, err := o.golang().Rename(ctx, t.place, name)
	result.Notes = append(notes, result.Notes...)
	return result, func(at string) bool { return result.Read[at] != nil }, err
}

// refuses reports whether an error refuses a rename, as opposed to a failure.
func refuses(err error) bool {
	server, types := new(lsp.RefusedError), new(golang.RefusedError)
	return errors.As(err, &server) || errors.As(err, &types)
}

// sameServer returns a function that reports whether a file shares the server
// of another file.
func (o *resolver) sameServer(file string) func(at string) bool {
	ours, _ := o.servers.Program(file)
	return func(at string) bool {
		p, known := o.servers.Program(at)
		return known && p.Language == ours.Language
	}
}

// notServed explains why a language server did not answer, and reports one
// that is not installed. A missing or disabled server needs no note.
func (o *resolver) notServed(err error) []string {
	unavailable := new(lsp.UnavailableError)
	if errors.As(err, &unavailable) && unavailable.Missing() && o.missing != nil {
		o.missing(unavailable.Program)
	}
	if err == nil || errors.Is(err, errNoTypes) || errors.As(err, &unavailable) && (unavailable.Missing() || unavailable.Off()) {
		return nil
	}
	if errors.As(err, &unavailable) {
		return []string{unavailable.Program.Name + " was not asked: " + firstSentence(unavailable.Err.Error())}
	}
	return []string{"the language server did not answer: " + firstSentence(err.Error())}
}

// withEnclosing adds the enclosing function or type to each reference, and drops those
// in files that no operator may read.
func (o *resolver) withEnclosing(ctx context.Context, refs []source.Reference) []source.Reference {
	refs = slices.DeleteFunc(refs, func(ref source.Reference) bool { return o.tree.Closed(ref.Path) })
	files := map[string]*source.File{}
	for i, ref := range refs {
		f, known := files[ref.Path]
		if !known {
			if text, err := o.tree.LoadText(ref.Path); err == nil && text.Exists {
				f, _ = source.Lex(ctx, ref.Path, string(text.Data)) // on an error nothing is added
			}
			files[ref.Path] = f
		}
		if f != nil {
			refs[i].In = f.Enclosing(ref.Place)
		}
	}
	return refs
}
