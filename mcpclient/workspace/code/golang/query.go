package golang

import (
	"cmp"
	"context"
	"go/build"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/agnivade/levenshtein"

	"replan/internal/lazyregexp"
	"replan/mcpclient/workspace/code/source"
)

// query is a symbol as somebody named it: by words, or by a place.
type query struct {
	given string
	name  string // Apply, Run.Apply, agent.Run.Apply, example.com/mod/agent.Run.Apply
	word  string // the last part of name

	path   string // of a place
	line   int
	column int // 0 for the only declaration of the line
}

var (
	placeForm = lazyregexp.New(`^(.+\.go):(\d+)(?::(\d+))?$`)
	brackets  = lazyregexp.New(`\[[^\]]*\]`)
	nameForm  = lazyregexp.New(`^(?:[\w.~-]+/)*[\pL_][\pL\pN_]*(?:[.-][\pL\pN_]+)*$`)
)

// ask reads a symbol as people write it.
func (p *Project) ask(symbol string) (query, error) {
	s := strings.Trim(strings.TrimSpace(symbol), "`\"'")
	if m := placeForm.FindStringSubmatch(s); m != nil {
		at, err := p.local(m[1])
		if err != nil {
			return query{}, err
		}
		line, _ := strconv.Atoi(m[2])
		column, _ := strconv.Atoi(m[3])
		return query{given: s, path: at, line: line, column: column}, p.exists(at)
	}
	name := strings.TrimPrefix(strings.TrimSpace(s), "func ")
	name = strings.TrimSuffix(strings.TrimSpace(name), "()")
	name = brackets.ReplaceAllString(name, "")
	name = strings.NewReplacer("(", "", ")", "", "*", "", "&", "").Replace(name)
	name = strings.TrimSpace(name)
	if !nameForm.MatchString(name) {
		return query{}, refuse("%q is not the name of something in Go; write it like Run, Run.Apply, agent.Run.Apply, or as a place file.go:12:5", symbol)
	}
	return query{given: s, name: name, word: lastPart(name)}, nil
}

// means reports whether the query names the declaration.
func (q query) means(d declaration) bool {
	if q.name == d.bare() {
		return !d.embedded
	}
	rest, ok := strings.CutSuffix(q.name, d.Name)
	if !ok {
		// A field of a type without a name: Config.Server.Port, or Server.Port.
		return strings.Count(d.Name, ".") > 1 && strings.HasSuffix(d.Name, "."+q.name)
	}
	if rest == "" {
		return true
	}
	rest, ok = strings.CutSuffix(rest, ".")
	return ok && (rest == d.pkg || rest == d.pkgPath || strings.HasSuffix(d.pkgPath, "/"+rest) ||
		rest+"_test" == d.pkgPath || strings.HasSuffix(d.pkgPath, "/"+rest+"_test"))
}

// declarations are those that the query names, in the files under scope.
func (p *Project) declarations(ctx context.Context, q query, scope string) ([]declaration, error) {
	files, err := p.sources(ctx, scope, q.word)
	if err != nil {
		return nil, err
	}
	mods := p.modules()
	var found []declaration
	for _, src := range files {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		_, all, _ := declared(src, mods.importPath(dirOf(src.path)))
		for _, d := range all {
			if q.means(d) {
				found = append(found, d)
			}
		}
	}
	return found, nil
}

// find is declarations with an error where there is none.
func (p *Project) find(ctx context.Context, q query, within string) ([]declaration, error) {
	scope, err := p.local(within)
	if err != nil {
		return nil, err
	}
	found, err := p.declarations(ctx, q, scope)
	if err != nil || len(found) > 0 {
		return found, err
	}
	unknown := &UnknownError{Name: q.given}
	if scope != "." {
		unknown.Within = scope
		elsewhere, err := p.declarations(ctx, q, ".")
		if err != nil {
			return nil, err
		}
		for _, d := range elsewhere[:min(3, len(elsewhere))] {
			unknown.Found = append(unknown.Found, d.Path+":"+strconv.Itoa(d.Line))
		}
	}
	if len(unknown.Found) == 0 {
		if unknown.Near, err = p.near(ctx, q, scope); err != nil {
			return nil, err
		}
	}
	return nil, unknown
}

// near are declared names that are spelled nearly as the query.
func (p *Project) near(ctx context.Context, q query, scope string) ([]string, error) {
	const most = 3
	files, err := p.sources(ctx, scope, "")
	if err != nil {
		return nil, err
	}
	mods := p.modules()
	asked := strings.ToLower(q.word)
	limit := max(1, len(asked)/3)
	far := map[string]int{}
	for _, src := range files {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		_, all, _ := declared(src, mods.importPath(dirOf(src.path)))
		for _, d := range all {
			n := levenshtein.ComputeDistance(asked, strings.ToLower(d.bare()))
			if full := levenshtein.ComputeDistance(strings.ToLower(q.name), strings.ToLower(d.Name)); full < n {
				n = full
			}
			if old, ok := far[d.Name]; n <= limit && !d.embedded && (!ok || n < old) {
				far[d.Name] = n
			}
		}
	}
	names := slices.SortedFunc(maps.Keys(far), func(a, b string) int {
		return cmp.Or(far[a]-far[b], strings.Compare(a, b))
	})
	return names[:min(most, len(names))], nil
}

// one takes the declaration that a name means where it could mean several: what
// a package declares comes before methods, and those before fields. The others
// are named in a note.
func (p *Project) one(q query, found []declaration) (declaration, []string, error) {
	best := slices.MinFunc(found, func(a, b declaration) int { return a.rank() - b.rank() }).rank()
	var top, rest []declaration
	for _, d := range found {
		if d.rank() == best {
			top = append(top, d)
		} else {
			rest = append(rest, d)
		}
	}
	top, notes := p.forThisSystem(top)
	if len(top) > 1 {
		symbols := make([]source.Symbol, len(top))
		for i, d := range top {
			symbols[i] = d.Symbol
		}
		return declaration{}, nil, &AmbiguousError{Name: q.given, Candidates: symbols}
	}
	if len(rest) > 0 {
		note := "other things are called " + q.given + " too: "
		for i, d := range rest[:min(3, len(rest))] {
			if i > 0 {
				note += ", "
			}
			note += d.Name + " (" + d.Path + ":" + strconv.Itoa(d.Line) + ")"
		}
		if len(rest) > 3 {
			note += " and " + strconv.Itoa(len(rest)-3) + " more"
		}
		notes = append(notes, note)
	}
	return top[0], notes, nil
}

func (d declaration) rank() int {
	switch d.Kind {
	case "method":
		return 1
	case "field":
		return 2
	default:
		return 0
	}
}

// forThisSystem leaves out what is declared once more for another system.
func (p *Project) forThisSystem(found []declaration) ([]declaration, []string) {
	if len(found) < 2 {
		return found, nil
	}
	system := p.system()
	var built, other []declaration
	for _, d := range found {
		dir, file := path.Split(p.onDisk(d.Path))
		if ok, err := system.MatchFile(dir, file); err != nil || ok {
			built = append(built, d)
		} else {
			other = append(other, d)
		}
	}
	if len(built) == 0 {
		return found, nil
	}
	var notes []string
	for _, d := range other {
		notes = append(notes, d.Path+":"+strconv.Itoa(d.Line)+" declares "+d.Name+" for another system or build tag")
	}
	return built, notes
}

// system is for what the go command builds in this environment.
func (p *Project) system() build.Context {
	c := build.Default
	for _, entry := range p.environ {
		name, value, _ := strings.Cut(entry, "=")
		switch {
		case value == "":
		case name == "GOOS":
			c.GOOS = value
		case name == "GOARCH":
			c.GOARCH = value
		case name == "CGO_ENABLED":
			c.CgoEnabled = value == "1"
		}
	}
	return c
}

// Definition is where a symbol is declared: a name as people write it, or a
// place in a file. A name may have several. For a name nothing is type-checked.
// within narrows the answer to a file or folder.
func (p *Project) Definition(ctx context.Context, symbol, within string) ([]source.Symbol, error) {
	q, err := p.ask(symbol)
	if err != nil {
		return nil, err
	}
	if q.path != "" {
		t, err := p.at(ctx, q)
		if err != nil {
			return nil, err
		}
		return []source.Symbol{t.symbol}, nil
	}
	found, err := p.find(ctx, q, within)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(found, func(a, b declaration) int {
		return cmp.Or(a.rank()-b.rank(), comparePlaces(a.Place, b.Place))
	})
	symbols := make([]source.Symbol, len(found))
	for i, d := range found {
		symbols[i] = d.Symbol
	}
	return symbols, nil
}

// Symbols are the names that the Go files under a path declare, the best match
// of the query first; an empty query matches all, in the order of files.
func (p *Project) Symbols(ctx context.Context, name, asked string) ([]source.Symbol, error) {
	scope, err := p.local(name)
	if err != nil {
		return nil, err
	}
	files, err := p.sources(ctx, scope, "")
	if err != nil {
		return nil, err
	}
	mods := p.modules()
	asked = strings.ToLower(strings.TrimSpace(asked))
	var found []source.Symbol
	for _, src := range files {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		_, all, _ := declared(src, mods.importPath(dirOf(src.path)))
		for _, d := range all {
			if !d.embedded && likeness(d, asked) < unlike {
				found = append(found, d.Symbol)
			}
		}
	}
	if asked != "" {
		slices.SortStableFunc(found, func(a, b source.Symbol) int {
			return likeness(declaration{Symbol: a}, asked) - likeness(declaration{Symbol: b}, asked)
		})
	}
	return found, nil
}

const unlike = 5

// likeness is how far a declaration is from what was asked: 0 is the name
// itself, unlike is no match.
func likeness(d declaration, asked string) int {
	bare, full := strings.ToLower(d.bare()), strings.ToLower(d.Name)
	switch {
	case asked == "" || bare == asked || full == asked:
		return 0
	case strings.HasSuffix(strings.ToLower(d.Qualified), "."+asked), strings.HasSuffix(strings.ToLower(d.Qualified), "/"+asked):
		return 1
	case strings.HasPrefix(bare, asked) || strings.HasPrefix(full, asked):
		return 2
	case strings.Contains(bare, asked):
		return 3
	case strings.Contains(full, asked):
		return 4
	default:
		return unlike
	}
}

// Outline is what one file declares, and imports. It needs no types and makes
// the best of a file that does not parse.
func (p *Project) Outline(ctx context.Context, name string) (Outline, error) {
	at, err := p.local(name)
	if err != nil {
		return Outline{}, err
	}
	if !strings.HasSuffix(at, ".go") {
		return Outline{}, refuse("%s is not a Go file", at)
	}
	files, err := p.sources(ctx, at, "")
	if err != nil {
		return Outline{}, err
	}
	if len(files) == 0 {
		return Outline{}, refuse("%s is not a regular file that can be read", at)
	}
	file, all, err := declared(files[0], p.modules().importPath(dirOf(at)))
	var out Outline
	if err != nil {
		out.Notes = []string{"the file does not parse: " + firstLine(err.Error())}
	}
	if file == nil {
		return out, nil
	}
	out.Package = file.Name.Name
	for _, spec := range file.Imports {
		if imported, err := strconv.Unquote(spec.Path.Value); err == nil {
			out.Imports = append(out.Imports, imported)
		}
	}
	for _, d := range all {
		out.Symbols = append(out.Symbols, d.Symbol)
	}
	return out, nil
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}
