package tests

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"replan/internal/english"
	"replan/internal/lazyregexp"
	"replan/mcpclient/child"
	"replan/mcpclient/workspace/op"
	"replan/mcpclient/workspace/tree"
)

const maxFindings = 500

type lintResult struct {
	Passed   bool      `json:"passed"`
	Summary  string    `json:"summary"`
	Findings []finding `json:"findings"`
	Command  string    `json:"command"`
	Output   string    `json:"output"`
	Spill    string    `json:"spill,omitempty"` // file with the full output
}

type finding struct {
	File    string `json:"file"` // relative to the workspace
	Line    int    `json:"line"`
	Message string `json:"message"`
}

type lintArgs struct {
	Path          string `json:"path,omitempty" jsonschema:"package or folder to check; default: everything"`
	Timeout       string `json:"timeout,omitempty" jsonschema:"longest time to run, like 90s or 5m; default: 10m"`
	AllowFailures bool   `json:"allow_failures,omitempty" jsonschema:"return the findings instead of failing"`
}

// linters run linters.
type linters struct {
	tree     *tree.Tree
	children *child.Runner
	targets  *targets
	projects *projects
	python   *python
}

func (o *linters) lint(ctx context.Context, c op.Call, args lintArgs) (*op.Answer[lintResult], error) {
	limit, err := c.Limit(args.Timeout, defaultTestTime)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(args.Path, "-") {
		return nil, errors.New("test.lint takes path, timeout and allow_failures; the path names a package or a folder, not an option")
	}
	cmd, dir, err := o.lintCommand(ctx, o.targets.wholePath(args.Path))
	if err != nil {
		return nil, err
	}
	shown := preview(cmd, dir)
	if c.Preview {
		return &op.Answer[lintResult]{Preview: shown}, nil
	}
	if err := c.CheckCommand(shown.Command); err != nil {
		return nil, err
	}
	cmd.Send = c.Sender(ctx)
	cmd.Timeout, cmd.Need = limit, "install it to check this code"
	found := &lintLines{dir: dir, relative: o.tree.Relative}
	cmd.Line = found.line
	out, err := o.children.Run(ctx, cmd)
	if err != nil {
		return nil, err
	}
	result := lintResult{
		Passed:   out.Exit == 0 && !out.TimedOut,
		Findings: append([]finding{}, found.all...),
		Command:  cmd.String(), Output: out.Output, Spill: out.Spill,
	}
	switch {
	case out.TimedOut:
		result.Summary = fmt.Sprintf("%s did not end within %s and was stopped", cmd, cmd.Timeout)
	case found.total > 0:
		result.Summary = english.Count(found.total, "finding") + " of " + cmd.Name
	case result.Passed:
		result.Summary = cmd.Name + " found nothing"
	default:
		result.Summary = fmt.Sprintf("%s ended with %s", cmd, out.State)
	}
	answer := op.Reply(result, result.Summary+"\n\n"+op.MiddleCut(strings.TrimSpace(out.Output), maxFailureText))
	answer.Failed = !result.Passed && !args.AllowFailures
	return answer, nil
}

// lintCommand returns the linter of the project that contains path, and the
// folder to run it in.
func (o *linters) lintCommand(ctx context.Context, name string) (child.Command, string, error) {
	p, err := o.projects.projectOf(name)
	if err != nil {
		return child.Command{}, "", errors.New("no project to lint found here: no project of Go, Rust, npm or Python")
	}
	if err := o.targets.checkPath(ctx, p, name); err != nil {
		return child.Command{}, "", err
	}
	cmd := child.Command{}
	switch p.kind {
	case "go":
		cmd = o.goLint(p.dir, name)
	case "cargo":
		if !o.installed("cargo-clippy") {
			return child.Command{}, "", errors.New("clippy is not installed; install it with rustup component add clippy")
		}
		cmd = child.Command{Name: "cargo", Args: []string{"clippy", "--all-targets", "--message-format=short", "--color=never"}}
	case "npm":
		if o.projects.scripts(p.dir)["lint"] == "" {
			return child.Command{}, "", fmt.Errorf("%s has no script lint; add one, or name another folder in path", path.Join(p.dir, "package.json"))
		}
		cmd = child.Command{Name: "npm", Args: []string{"run", "lint", "--silent"}}
	case "python":
		target := "."
		if name != "" {
			target = o.targets.below(p.dir, strings.TrimSuffix(name, "/..."))
		}
		switch ruff, flake8 := o.linter("ruff"), o.linter("flake8"); {
		case ruff != "":
			cmd = child.Command{Name: ruff, Args: []string{"check", "--output-format=concise", "--", target}}
		case flake8 != "":
			cmd = child.Command{Name: flake8, Args: []string{"--", target}}
		default:
			return child.Command{}, "", errors.New("neither ruff nor flake8 is installed or in PATH; install one of them to check this code")
		}
	default:
		return child.Command{}, "", fmt.Errorf("no linter for %s is known; run its own check with proc.run", p.dir)
	}
	cmd.Dir = o.tree.OnDisk(p.dir)
	return cmd, p.dir, nil
}

// goLint returns golangci-lint if it is installed and the project or the
// workspace around it configures it. Otherwise it returns go vet.
func (o *linters) goLint(dir, name string) child.Command {
	if name == "." { // an own package at the top is rarely all that is meant
		name = ""
	}
	target := o.targets.goTarget(dir, name, false)
	for at := dir; o.installed("golangci-lint"); at = path.Dir(at) {
		for _, end := range []string{"yml", "yaml", "toml", "json"} {
			if _, err := o.tree.Root.Stat(path.Join(at, ".golangci."+end)); err == nil {
				return child.Command{Name: "golangci-lint", Args: []string{"run", "--color=never", target}}
			}
		}
		if at == "." {
			break
		}
	}
	return child.Command{Name: "go", Args: []string{"vet", target}}
}

// linter returns how a linter of Python is started: by its path if it is in the virtual
// environment. It returns "" if there is none.
func (o *linters) linter(name string) string {
	if path := cmp.Or(o.python.inVirtual(filepath.Join("bin", name)), o.python.inVirtual(filepath.Join("Scripts", name+".exe"))); path != "" || !o.installed(name) {
		return path
	}
	return name
}

func (o *linters) installed(name string) bool {
	_, err := child.Find(name, o.children.Environ)
	return err == nil
}

// lintLines parses linter reports: lines of the form FILE:LINE, and those of
// ESLint, which prints the file on a separate line.
type lintLines struct {
	dir      string // where the linter runs, relative to the workspace
	relative func(string) (string, error)
	under    string // current file in ESLint's output
	all      []finding
	total    int
}

var (
	lintLine   = lazyregexp.New(`^(?:vet: )?((?:[A-Za-z]:)?[^:\s][^:]*\.[A-Za-z0-9]+):(\d+)(?::\d+)?:? (\S.*)$`)
	eslintFile = lazyregexp.New(`^(/|[A-Za-z]:\\)\S.*\.\w+$`)
	eslintLine = lazyregexp.New(`^\s+(\d+):\d+\s+((?:error|warning)\s.*)$`)
)

func (l *lintLines) line(line string) {
	if m := eslintLine.FindStringSubmatch(line); m != nil && l.under != "" {
		l.add(l.under, m[1], strings.Join(strings.Fields(m[2]), " "))
		return
	}
	if eslintFile.MatchString(line) {
		l.under = line
		return
	}
	if m := lintLine.FindStringSubmatch(line); m != nil {
		l.add(m[1], m[2], m[3])
	}
}

func (l *lintLines) add(file, line, message string) {
	n, err := strconv.Atoi(line)
	if err != nil {
		return
	}
	if filepath.IsAbs(file) {
		if rel, err := l.relative(file); err == nil {
			file = rel
		}
	} else {
		file = path.Join(l.dir, filepath.ToSlash(file))
	}
	l.total++
	if len(l.all) < maxFindings {
		l.all = append(l.all, finding{File: file, Line: n, Message: message})
	}
}
