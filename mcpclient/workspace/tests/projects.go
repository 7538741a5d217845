package tests

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"replan/internal/lazyregexp"
	"replan/mcpclient/child"
	"replan/mcpclient/workspace/op"
	"replan/mcpclient/workspace/tree"
)

type detectResult struct {
	Projects []testProject `json:"projects"`
}

type testProject struct {
	Kind    string `json:"kind"`
	Dir     string `json:"dir"`
	Command string `json:"command"`
}

type detectArgs struct {
	Path string `json:"path,omitempty" jsonschema:"folder to look in; default: the whole workspace"`
}

// projects are the folders of the workspace with tests, and the commands that run these.
type projects struct {
	tree    *tree.Tree
	targets *targets
	python  *python
	margin  time.Duration // see Config.Margin
}

// detect lists the folders of the workspace with tests that can be run.
func (o *projects) detect(ctx context.Context, _ op.Call, args detectArgs) (*op.Answer[detectResult], error) {
	start := "."
	if args.Path != "" {
		folder, err := o.targets.testFolder(args.Path)
		if err != nil {
			return nil, err
		}
		start = folder
	}
	projects, err := o.projectsBelow(ctx, start, maxProjects)
	if err != nil {
		return nil, err
	}
	result := detectResult{Projects: []testProject{}}
	for _, p := range projects {
		cmd, err := p.command(ctx, o, p.dir, testArgs{limit: defaultTestTime})
		if err != nil {
			return nil, err
		}
		result.Projects = append(result.Projects, testProject{Kind: p.kind, Dir: p.dir, Command: cmd.String()})
	}
	summaries := make([]string, len(result.Projects))
	for i, p := range result.Projects {
		summaries[i] = fmt.Sprintf("%s: %s (%s)", p.Dir, p.Command, p.Kind)
	}
	if len(summaries) == 0 {
		summaries = []string{errNoProject.Error()}
	}
	return op.Reply(result, strings.Join(summaries, "\n")), nil
}

// projectsBelow lists the projects in a folder and below it, at most the given number.
func (o *projects) projectsBelow(ctx context.Context, start string, most int) ([]project, error) {
	var found []project
	err := o.tree.Walk(ctx, start, func(at string, d fs.DirEntry) error {
		if !d.IsDir() {
			return nil
		}
		p, err := o.projectIn(at)
		if err != nil || p.kind == "" {
			return err
		}
		if found = append(found, p); len(found) == most {
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("looking for projects below %s: %w", start, err)
	}
	if len(found) == 0 && len(o.python.testFiles(start)) > 0 {
		found = []project{{"python", start, pythonTest}}
	}
	return found, nil
}

var errNoProject = errors.New("no test project found here: no project of Go, Rust, npm or Python, and no Makefile with a target test")

// project is a folder with tests and the way to run them.
type project struct {
	kind    string
	dir     string // relative to the workspace
	command func(ctx context.Context, o *projects, dir string, args testArgs) (child.Command, error)
}

// testKinds lists the supported kinds of projects with the file that
// identifies each, the most reliable first.
var testKinds = []struct {
	kind, marker string
	command      func(ctx context.Context, o *projects, dir string, args testArgs) (child.Command, error)
}{
	{"go", "go.mod", goTest},
	{"go", "go.work", goTest},
	{"cargo", "Cargo.toml", cargoTest},
	{"npm", "package.json", npmTest},
	{"python", "pyproject.toml", pythonTest},
	{"python", "pytest.ini", pythonTest},
	{"python", "setup.py", pythonTest},
	{"python", "setup.cfg", pythonTest},
	{"python", "tox.ini", pythonTest},
	{"python", "requirements.txt", pythonTest},
}

// projectIn returns the project in a folder; its kind is empty if there is
// none. A Makefile is the last choice, but precedes a package.json without
// tests.
func (o *projects) projectIn(dir string) (project, error) {
	for _, k := range testKinds {
		info, err := o.tree.Root.Stat(path.Join(dir, k.marker))
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if k.kind == "npm" && o.scripts(dir)["test"] == "" {
			if project, err := o.makeIn(dir); err != nil || project.kind != "" {
				return project, err
			}
		}
		return project{k.kind, dir, k.command}, nil
	}
	return project{}, nil
}

var testTarget = lazyregexp.New(`(?m)^test[ \t]*:(?:[^=]|$)`)

// makeIn returns the project of a Makefile that has a target test.
func (o *projects) makeIn(dir string) (project, error) {
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} {
		f, err := o.tree.LoadText(path.Join(dir, name))
		if err == nil && f.Exists {
			if testTarget.Match(f.Data) {
				return project{"make", dir, makeTest}, nil
			}
			return project{}, nil // make reads only the first that exists
		}
	}
	return project{}, nil
}

// scripts returns the scripts of a package.json.
func (o *projects) scripts(dir string) map[string]string {
	f, err := o.tree.LoadText(path.Join(dir, "package.json"))
	if err != nil || !f.Exists {
		return nil
	}
	var manifest struct {
		Scripts map[string]string `json:"scripts"`
	}
	if json.Unmarshal(f.Data, &manifest) != nil {
		return nil // npm reports what is wrong with it
	}
	return manifest.Scripts
}

// untested reports whether a project has no tests: a package.json without a
// test script, or with the one that npm init writes.
func (o *projects) untested(p project) bool {
	script := o.scripts(p.dir)["test"]
	return p.kind == "npm" && (script == "" || strings.Contains(script, "no test specified"))
}

// projectOf returns the project that contains a path.
func (o *projects) projectOf(name string) (project, error) {
	start, err := o.targets.testFolder(name)
	if err != nil {
		return project{}, err
	}
	for _, find := range []func(string) (project, error){o.projectIn, o.makeIn} {
		for dir := start; ; dir = path.Dir(dir) {
			p, err := find(dir)
			if err != nil || p.kind != "" {
				return p, err
			}
			if dir == "." {
				break
			}
		}
	}
	if p := o.python.above(start); p.kind != "" {
		return p, nil
	}
	return project{}, errNoProject
}
