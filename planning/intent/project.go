package intent

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"replan/internal/english"
	"replan/internal/lazyregexp"
)

// Project is what the files at the root of the workspace say of how it is built, tested
// and formatted. The zero value knows nothing.
type Project struct {
	Known     bool     `json:"known,omitempty"`
	Manifests []string `json:"manifests,omitempty"` // go.mod, package.json, Makefile and the like
	Scripts   []string `json:"scripts,omitempty"`   // of package.json
	Targets   []string `json:"targets,omitempty"`   // of the Makefile
	Recipes   []string `json:"recipes,omitempty"`   // of the justfile
	Sections  []string `json:"sections,omitempty"`  // of pyproject.toml: build-system, tool.ruff
	Code      []string `json:"code,omitempty"`      // extensions of the files of code, such as .go
}

// The manifests of a kind of project, in the order in which they are looked for.
var (
	goManifests     = []string{"go.mod", "go.work"}
	nodeManifests   = []string{"package.json"}
	rustManifests   = []string{"Cargo.toml"}
	pythonManifests = []string{"pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", "tox.ini", "requirements.txt"}
	makeManifests   = []string{"Makefile", "makefile", "GNUmakefile"}
	justManifests   = []string{"justfile", "Justfile", ".justfile"}
	lockFiles       = []string{"pnpm-lock.yaml", "yarn.lock", "bun.lockb", "bun.lock"}

	manifests = slices.Concat(goManifests, nodeManifests, rustManifests, pythonManifests, makeManifests, justManifests, lockFiles)
)

// codeExtensions are those of files whose lines are code.
var codeExtensions = strings.Fields(".go .py .ts .tsx .js .jsx .mjs .rs .java .kt .c .h .cc .cpp .hpp .cs .rb .php .swift .scala .dart .ex .exs .sh .lua .vue .svelte .sql")

var (
	makeTarget  = lazyregexp.New(`(?m)^([A-Za-z0-9][\w./-]*)\s*:(?:[^=]|$)`)
	justRecipe  = lazyregexp.New(`(?m)^@?([A-Za-z][\w-]*)(?:[ \t]+[^:=\n]*)?:(?:[^=]|$)`)
	tomlSection = lazyregexp.New(`(?m)^\[([\w.-]+)\]`)
)

// aboutProject are the actions whose chains depend on how the project is built.
var aboutProject = []string{build, format, command, dependencies, countLines}

// readProject reads the manifests at the root of the workspace, for an intent that needs them.
func (s *Survey) readProject(read Reader) {
	if !slices.Contains(aboutProject, s.in.Action) {
		return
	}
	const most = 1 << 20 // bytes of a manifest
	p := Project{Known: true}
	for _, at := range s.files {
		if ext := path.Ext(at); slices.Contains(codeExtensions, ext) && !slices.Contains(p.Code, ext) {
			p.Code = append(p.Code, ext)
		}
		if slices.Contains(manifests, at) {
			text, _ := read(at, most)
			p.learn(at, text)
		}
	}
	slices.SortFunc(p.Manifests, func(a, b string) int { return slices.Index(manifests, a) - slices.Index(manifests, b) })
	slices.Sort(p.Code)
	s.facts.Project = p
}

// learn takes one manifest.
func (p *Project) learn(at, text string) {
	p.Manifests = append(p.Manifests, at)
	names := func(m *lazyregexp.Regexp) (all []string) {
		for _, found := range m.FindAllStringSubmatch(text, mostFacts) {
			if name := found[1]; !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
		return all
	}
	switch {
	case slices.Contains(nodeManifests, at):
		var fields struct{ Scripts map[string]string }
		_ = json.Unmarshal([]byte(text), &fields) // a file that is not valid has no scripts
		p.Scripts = slices.Sorted(maps.Keys(fields.Scripts))
	case slices.Contains(makeManifests, at):
		p.Targets = names(makeTarget)
	case slices.Contains(justManifests, at):
		p.Recipes = names(justRecipe)
	case at == "pyproject.toml":
		p.Sections = names(tomlSection)
	}
}

// has returns the first of some manifests that is there; "" if none is.
func (p Project) has(any []string) string {
	if at := slices.IndexFunc(p.Manifests, func(at string) bool { return slices.Contains(any, at) }); at >= 0 {
		return p.Manifests[at]
	}
	return ""
}

// kinds counts the kinds of project whose tests test.run runs.
func (p Project) kinds() (n int) {
	for _, kind := range [][]string{goManifests, nodeManifests, rustManifests, pythonManifests} {
		if p.has(kind) != "" {
			n++
		}
	}
	return n
}

// manager is the program that runs the scripts of package.json.
func (p Project) manager() string {
	return map[string]string{"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lockb": "bun", "bun.lock": "bun", "": "npm"}[p.has(lockFiles)]
}

// configures reports whether pyproject.toml has a section, or one below it.
func (p Project) configures(section string) bool {
	return slices.ContainsFunc(p.Sections, func(s string) bool { return s == section || strings.HasPrefix(s, section+".") })
}

// own is the project's own command of one of some names. It is a target of the Makefile, a
// recipe of the justfile or a script of package.json. from says where it stands.
func (p Project) own(names ...string) (argv []string, from string) {
	for _, name := range names {
		switch {
		case slices.Contains(p.Recipes, name):
			return []string{"just", name}, p.has(justManifests)
		case slices.Contains(p.Targets, name):
			return []string{"make", name}, p.has(makeManifests)
		case slices.Contains(p.Scripts, name):
			return []string{p.manager(), "run", name}, "package.json"
		}
	}
	return nil, ""
}

// builds is the command that builds the project, and the file that says so; nil if none does.
func (p Project) builds() (argv []string, from string) {
	if argv, from = p.own("build"); argv != nil {
		return argv, from
	}
	switch {
	case p.has(goManifests) != "":
		return []string{"go", "build", "./..."}, p.has(goManifests)
	case p.has(rustManifests) != "":
		return []string{"cargo", "build"}, p.has(rustManifests)
	case p.configures("build-system"):
		return []string{"python", "-m", "build"}, "pyproject.toml"
	default:
		return nil, ""
	}
}

// formats is the command that formats the code, or one file of it; nil if none is known.
func (p Project) formats(file string) (argv []string, from string) {
	if file == "" {
		if argv, from = p.own("format", "fmt"); argv != nil {
			return argv, from
		}
	}
	at := file
	if at == "" {
		at = "."
	}
	is := func(ext string, kind []string) bool {
		return p.has(kind) != "" && (file == "" || path.Ext(file) == ext)
	}
	switch {
	case is(".go", goManifests):
		return []string{"gofmt", "-l", "-w", at}, p.has(goManifests)
	case file == "" && p.has(rustManifests) != "":
		return []string{"cargo", "fmt"}, p.has(rustManifests)
	case is(".rs", rustManifests):
		return []string{"rustfmt", at}, p.has(rustManifests)
	case is(".py", pythonManifests) && p.configures("tool.ruff"):
		return []string{"ruff", "format", at}, "pyproject.toml"
	case is(".py", pythonManifests) && p.configures("tool.black"):
		return []string{"black", at}, "pyproject.toml"
	default:
		return nil, ""
	}
}

// there names the manifests that are there, in a clause.
func (p Project) there() string {
	if len(p.Manifests) == 0 {
		return "there is no file at its root that says how it is built"
	}
	return "there is " + english.List(p.Manifests, "and")
}

// lacks says what a command needs and the project does not have; "" if it has all, or if
// it was not looked at.
func (p Project) lacks(argv []string) string {
	if !p.Known || len(argv) == 0 {
		return ""
	}
	without := func(kind []string) string {
		if p.has(kind) != "" {
			return ""
		}
		return "this project has no " + kind[0] + ": " + p.there()
	}
	unnamed := func(file, noun, name string, known []string) string {
		if name == "" || slices.Contains(known, name) {
			return ""
		}
		if len(known) == 0 {
			return file + " has no " + noun + " at all"
		}
		return file + " has no " + noun + " " + name + english.DidYouMean(name, known) + "; it has " + english.Some(known, maxRows, noun)
	}
	switch name := argv[0]; name {
	case "go":
		return without(goManifests)
	case "cargo":
		return without(rustManifests)
	case "pytest", "python", "python3":
		return without(pythonManifests)
	case "npm", "pnpm", "yarn", "bun":
		if lack := without(nodeManifests); lack != "" {
			return lack
		}
		return unnamed("package.json", "script", scriptOf(argv), p.Scripts)
	case "make":
		if lack := without(makeManifests); lack != "" {
			return lack
		}
		return unnamed(p.has(makeManifests), "target", firstArgument(argv[1:]), p.Targets)
	case "just":
		if lack := without(justManifests); lack != "" {
			return lack
		}
		return unnamed(p.has(justManifests), "recipe", firstArgument(argv[1:]), p.Recipes)
	default:
		return ""
	}
}

// firstArgument is the first that is no flag and sets no variable; "" if there is none.
func firstArgument(args []string) string {
	for _, arg := range args {
		if !strings.HasPrefix(arg, "-") && !strings.Contains(arg, "=") {
			return arg
		}
	}
	return ""
}

// scriptOf is the script that a command of npm runs; "" if it runs none.
func scriptOf(argv []string) string {
	switch {
	case len(argv) < 2:
		return ""
	case argv[1] == "t":
		return "test"
	case argv[1] == "test" || argv[1] == "start":
		return argv[1]
	case argv[1] == "run" || argv[1] == "run-script":
		return firstArgument(argv[2:])
	default:
		return ""
	}
}
