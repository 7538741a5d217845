package intent

import (
	"path"
	"slices"
	"strings"

	"replan/planning/plan"
)

// chain builds the chain that carries out the intent.
func (b *builder) chain() Chain {
	if b.in.Action == command {
		b.in = b.reread()
	}
	in := b.in
	b.resolve()
	if chain, ok := chains[in.Action]; ok && in.Category != unknown {
		if _, replaces := in.Params["with"]; chain.ask != "" && b.shape() == nothing && !slices.Contains(listedWhole, in.Params["of"]) && (!replaces || in.Action != edit || in.Target == "") { // blanks can be replaced
			b.addMissing("%s", chain.ask)
		}
		chain.build(b)
		if place := b.in.Params["in"]; place != "" && !b.placed {
			b.addMissing("%s is already a path: leave out \"in %s\"", b.about(), plan.OneLine(place, 60))
		}
	}
	return Chain{Intent: b.in, Nodes: b.nodes, Missing: b.missing, Invalid: b.invalid}
}

// listedWhole are the things that are listed as a whole, without a target.
var listedWhole = []string{"files", "tests", "symbols", "line"}

// resolve maps the names of an intent to existing files and folders. It leaves alone what
// is no name. A branch may be called like a file, and a search looks for the words as
// written. A new file does not exist yet.
func (b *builder) resolve() {
	name, isFile := strings.CutSuffix(b.in.Target, " file")
	switch {
	case !b.facts.Known:
	case b.in.Action == find && isFile: // "the readme file"
		if file := highest(b.facts.Files, func(at string) bool { return strings.EqualFold(strings.TrimSuffix(path.Base(at), path.Ext(at)), name) }); file != "" {
			b.in.Target = path.Base(file)
		}
	case b.in.Action != find && b.in.Action != create && (b.in.Category != vcs || b.in.Action == history || b.in.Action == blame):
		b.in.Target = b.resolvedPath(b.in.Target)
	}
	place := b.in.Params["in"]
	at := b.facts.place(place)
	_, replaces := b.in.Params["with"]
	switch {
	case place == "":
	case at != "":
		b.in.Params["in"] = at
	case isPath(place):
		b.in.Params["in"] = b.resolvedPath(place)
	case b.facts.Known && b.in.Target != "" && !replaces && b.in.Params["case"] == "" && (b.in.Action == find || b.in.Action == explain || IsModelWork(b.in.Action)): // words as they stand
		b.in.Target += " in " + place
		delete(b.in.Params, "in")
	case b.facts.Known || !isFolder(place):
		b.addMissing("in what? %q is no file or folder", plan.OneLine(place, 60))
	}
}

// resolvedPath is the path of the file meant by a name, if the name itself is no path.
func (b *builder) resolvedPath(text string) string {
	name := pathOf(text)
	paths := slices.Concat(b.facts.Files, b.facts.Folders)
	if !isPath(text) || isPattern(text) || slices.Contains(paths, name) {
		return text
	}
	paths = slices.DeleteFunc(paths, func(at string) bool { return !strings.HasSuffix(at, "/"+name) })
	if len(paths) > 1 {
		b.addMissing("which %s? There are several: %s", name, plan.OneLine(strings.Join(paths, ", "), 120))
	}
	if len(paths) != 1 {
		return text
	}
	return paths[0]
}
