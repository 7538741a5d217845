package golang

import (
	"context"
	"go/ast"
	"go/parser"
	"go/types"
	"slices"
	"strings"

	"replan/mcpclient/workspace/code/source"
)

// checked is a unit as it would be afterwards.
type checked struct {
	files []*ast.File
	pkg   *types.Package
	info  *types.Info
	errs  []fault

	gained []gain
}

// verify type-checks the packages that the edits reach as they would be, and
// compares what each identifier means with what it meant. That finds a name that
// is taken, that hides another or is hidden by one, and whatever else no longer
// compiles.
func (r *renaming) verify(ctx context.Context) error {
	files, err := r.changed()
	if err != nil {
		return err
	}
	var affected []*unit
	after := map[*unit]*checked{}
	for _, u := range r.prog.units {
		reached := slices.ContainsFunc(u.inner, func(in *unit) bool { return after[in] != nil })
		c := &checked{}
		for _, f := range u.files {
			if changed := files[f]; changed != nil {
				f, reached = changed, true
			}
			c.files = append(c.files, f)
		}
		if reached {
			after[u] = c
			affected = append(affected, u)
		}
	}
	err = inOrder(ctx, affected, func(u *unit) {
		c := after[u]
		c.pkg, c.info = r.prog.checkUnit(u, c.files, func(in *unit) *types.Package {
			if c := after[in]; c != nil {
				return c.pkg
			}
			return in.pkg
		}, &c.errs)
	})
	if err != nil {
		return err
	}
	// Where a name means something else there is often an error too, and the name
	// says more than the error.
	for _, u := range affected {
		if err := r.sameMeaning(u, after[u], true); err != nil {
			return err
		}
	}
	for _, u := range affected {
		if err := r.sameErrors(u, after[u]); err != nil {
			return err
		}
	}
	for _, u := range affected {
		if err := r.sameMeaning(u, after[u], false); err != nil {
			return err
		}
		if err := r.sameMembers(u, after[u]); err != nil {
			return err
		}
	}
	r.satisfied(affected, after)
	return nil
}

// changed parses the files with edits as they would be.
func (r *renaming) changed() (map[*ast.File]*ast.File, error) {
	files := make(map[*ast.File]*ast.File, len(r.edits))
	for name, edits := range r.edits {
		f := r.prog.parsed[name]
		text := applied(f.data, edits)
		file, err := parser.ParseFile(r.prog.fset, name, text, parseMode)
		if err != nil {
			return nil, refuse("%s could not be parsed any more: %s", f.rel, firstLine(err.Error()))
		}
		files[f.file] = file
	}
	return files, nil
}

// applied is a text with its edits.
func applied(data []byte, edits []source.Edit) []byte {
	var out []byte
	at := 0
	for _, e := range sorted(edits) {
		out = append(append(out, data[at:e.Start]...), e.New...)
		at = e.End
	}
	return append(out, data[at:]...)
}

// sameErrors refuses an error that was not there before.
func (r *renaming) sameErrors(u *unit, c *checked) error {
	before := map[string]bool{}
	for _, f := range u.errs {
		before[f.text] = true
	}
	for _, f := range c.errs {
		if !before[f.text] && !strings.HasPrefix(f.text, "\t") {
			return refuse("%s would not compile with the name %s: %s", u.meta.PkgPath, r.name, f)
		}
	}
	return nil
}

// sameMeaning refuses an identifier that would denote something else, or nothing
// where that is not left to later.
func (r *renaming) sameMeaning(u *unit, c *checked, later bool) error {
	for i, f := range u.files {
		before, after := identsOf(f), identsOf(c.files[i])
		if len(before) != len(after) {
			return refuse("%s would read differently with the name %s", r.prog.lineOf(f.FileStart), r.name)
		}
		for j, id := range before {
			was, is := meaning(u.info, id), meaning(c.info, after[j])
			if r.moved(was) == placeOf(r.prog, is) || later && (was == nil || is == nil) {
				continue
			}
			return refuse("%s would change what %s means at %s: %s now, %s then",
				r.name, id.Name, r.prog.lineOf(id.Pos()), r.phrase(was), r.phrase(is))
		}
	}
	return nil
}

func identsOf(f *ast.File) []*ast.Ident {
	var ids []*ast.Ident
	ast.Inspect(f, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			ids = append(ids, id)
		}
		return true
	})
	return ids
}

func meaning(info *types.Info, id *ast.Ident) types.Object {
	if o := info.Uses[id]; o != nil {
		return origin(o)
	}
	if o := info.Defs[id]; o != nil {
		return origin(o)
	}
	return nil
}

// placeOf is the key of an object without its name, which may have changed; of
// what has no place the name is all there is.
func placeOf(prog *program, o types.Object) key {
	if o == nil {
		return key{}
	}
	k := prog.keyOf(o)
	if o.Pos().IsValid() {
		k.name = ""
	}
	return k
}

// moved is where an object of now will be.
func (r *renaming) moved(o types.Object) key {
	k := placeOf(r.prog, o)
	shift := 0
	for _, e := range r.edits[k.file] {
		if e.Start < k.offset {
			shift += len(e.New) - (e.End - e.Start)
		}
	}
	if k.offset > 0 {
		k.offset += shift
	}
	return k
}

func (r *renaming) phrase(o types.Object) string {
	if o == nil {
		return "nothing"
	}
	s := "the " + kindOf(o) + " " + o.Name()
	if where := r.prog.lineOf(o.Pos()); where != "" {
		return s + " of " + where
	}
	return s
}

// note keeps a sentence once.
func (r *renaming) note(format string, args ...any) {
	sentence := refuse(format, args...).Error()
	if !slices.Contains(r.notes, sentence) {
		r.notes = append(r.notes, sentence)
	}
}
