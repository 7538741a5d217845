package intent

import (
	"path"
	"slices"
	"strings"

	"replan/planning/plan"
)

// chain builds the chain that carries out the intent.
func (d *draft) chain() Chain {
	if d.in.Action == command {
		d.in = d.reread()
	}
	in := d.in
	d.resolve()
	if chain, ok := chains[in.Action]; ok && in.Category != unknown {
		if _, replaces := in.Params["with"]; chain.ask != "" && d.shape() == nothing && !slices.Contains(listedWhole, in.Params["of"]) && (!replaces || in.Action != edit || in.Target == "") { // blanks can be replaced
			d.addMissing("%s", chain.ask)
		}
		chain.build(d)
		if place := d.in.Params["in"]; place != "" && !d.placed {
			d.addMissing("%s is already a path: leave out \"in %s\"", d.about(), plan.OneLine(place, 60))
		}
	}
	return Chain{Intent: d.in, Nodes: d.nodes, Missing: d.missing, Invalid: d.invalid}
}

// listedWhole are the things that are listed as a whole, without a target.
var listedWhole = []string{"files", "tests", "symbols", "line"}

// resolve maps the names of an intent to existing files and folders. It leaves
// alone what is no name: a branch may be called like a file, a search looks for
// the words as written, and a new file does not exist yet.
func (d *draft) resolve() {
	name, isFile := strings.CutSuffix(d.in.Target, " file")
	switch {
	case !d.facts.Known:
	case d.in.Action == find && isFile: // "the readme file"
		if file := highest(d.facts.Files, func(at string) bool { return strings.EqualFold(strings.TrimSuffix(path.Base(at), path.Ext(at)), name) }); file != "" {
			d.in.Target = path.Base(file)
		}
	case d.in.Action != find && d.in.Action != create && (d.in.Category != vcs || d.in.Action == history || d.in.Action == blame):
		d.in.Target = d.resolvedPath(d.in.Target)
	}
	place := d.in.Params["in"]
	at := d.facts.place(place)
	_, replaces := d.in.Params["with"]
	switch {
	case place == "":
	case at != "":
		d.in.Params["in"] = at
	case isPath(place):
		d.in.Params["in"] = d.resolvedPath(place)
	case d.facts.Known && d.in.Target != "" && !replaces && d.in.Params["case"] == "" && (d.in.Action == find || d.in.Action == explain || IsModelWork(d.in.Action)): // words as they stand
		d.in.Target += " in " + place
		delete(d.in.Params, "in")
	case d.facts.Known || !isFolder(place):
		d.addMissing("in what? %q is no file or folder", plan.OneLine(place, 60))
	}
}

// resolvedPath is the path of the file meant by a name, if the name itself is no path.
func (d *draft) resolvedPath(text string) string {
	name := pathOf(text)
	paths := slices.Concat(d.facts.Files, d.facts.Folders)
	if !isPath(text) || isPattern(text) || slices.Contains(paths, name) {
		return text
	}
	paths = slices.DeleteFunc(paths, func(at string) bool { return !strings.HasSuffix(at, "/"+name) })
	if len(paths) > 1 {
		d.addMissing("which %s? There are several: %s", name, plan.OneLine(strings.Join(paths, ", "), 120))
	}
	if len(paths) != 1 {
		return text
	}
	return paths[0]
}
