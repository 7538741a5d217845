package workspace

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"replan/internal/english"
	"replan/internal/lazyregexp"
	"replan/mcpclient/workspace/op"
)

const maxFindings = 500

type lintResult struct {
	Passed   bool      `json:"passed"`
	Summary  string    `json:"summary"`
	Findings []finding `json:"findings"`
	Command  string    `json:"command"`
	Output   string    `json:"output"`
	Spill    string    `json:"spill,omitempty"` // file with all of the output
}

type finding struct {
	File    string `json:"file"` // relative to the workspace
	Line    int    `json:"line"`
	Message string `json:"message"`
}

type lintArgs struct {
	Path          string `json:"path,omitempty" jsonschema:"package or folder to check; everything where it is left out"`
	Timeout       string `json:"timeout,omitempty" jsonschema:"longest time to run, like 90s or 5m; 10m where it is left out"`
	AllowFailures bool   `json:"allow_failures,omitempty" jsonschema:"answer what was found instead of failing"`
}

func (o *Operators) lint(ctx context.Context, c op.Call, args lintArgs) (*op.Answer[lintResult], error) {
	limit, err := c.Limit(args.Timeout, defaultTestTime)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(args.Path, "-") {
		return nil, errors.New("test.lint takes path, timeout and allow_failures; the path names a package or a folder, not an option")
	}
	child, dir, err := o.lintCommand(args.Path)
	if err != nil {
		return nil, err
	}
	child.send = c.Sender(ctx)
	child.timeout, child.need = limit, "install it to check this code"
	found := &lintLines{dir: dir, relative: o.tree.Relative}
	child.line = found.line
	out, err := o.execute(ctx, child)
	if err != nil {
		return nil, err
	}
	result := lintResult{
		Passed:   out.exit == 0 && !out.timedOut,
		Findings: append([]finding{}, found.all...),
		Command:  child.String(), Output: out.output, Spill: out.spill,
	}
	switch {
	case out.timedOut:
		result.Summary = fmt.Sprintf("%s did not end within %s and was stopped", child, child.timeout)
	case found.total > 0:
		result.Summary = english.Count(found.total, "finding") + " of " + child.name
	case result.Passed:
		result.Summary = child.name + " found nothing"
	default:
		result.Summary = fmt.Sprintf("%s ended with %s", child, out.state)
	}
	answer := op.Reply(result, result.Summary+"\n\n"+op.MiddleCut(strings.TrimSpace(out.output), maxFailureText))
	answer.Failed = !result.Passed && !args.AllowFailures
	return answer, nil
}

// lintCommand says how the project that path lies in is checked, and in which
// folder.
func (o *Operators) lintCommand(name string) (command, string, error) {
	p, err := o.projectOf(name)
	if err != nil {
		return command{}, "", errors.New("there is no go.mod, Cargo.toml, package.json or pyproject.toml to tell how the code is checked; name the folder that has one in path")
	}
	child := command{}
	switch p.kind {
	case "go":
		child = o.goLint(p.dir, name)
	case "cargo":
		if !installed("cargo-clippy") {
			return command{}, "", errors.New("clippy is not installed; install it with rustup component add clippy")
		}
		child = command{name: "cargo", args: []string{"clippy", "--all-targets", "--message-format=short", "--color=never"}}
	case "npm":
		if o.scripts(p.dir)["lint"] == "" {
			return command{}, "", fmt.Errorf("%s has no script lint; add one, or name another folder in path", path.Join(p.dir, "package.json"))
		}
		child = command{name: "npm", args: []string{"run", "lint", "--silent"}}
	case "pytest":
		target := "."
		if name != "" {
			target = o.below(p.dir, strings.TrimSuffix(name, "/..."))
		}
		switch {
		case installed("ruff"):
			child = command{name: "ruff", args: []string{"check", "--output-format=concise", "--", target}}
		case installed("flake8"):
			child = command{name: "flake8", args: []string{"--", target}}
		default:
			return command{}, "", errors.New("neither ruff nor flake8 is installed or in PATH; install one of them to check this code")
		}
	default:
		return command{}, "", fmt.Errorf("nothing is known to check the code of %s with; run its own check with proc.run", p.dir)
	}
	child.dir = o.tree.OnDisk(p.dir)
	return child, p.dir, nil
}

// goLint takes golangci-lint where the project, or the workspace around it, has
// a configuration for it and it is installed, else go vet.
func (o *Operators) goLint(dir, name string) command {
	target := o.goTarget(dir, name)
	for at := dir; installed("golangci-lint"); at = path.Dir(at) {
		for _, end := range []string{"yml", "yaml", "toml", "json"} {
			if _, err := o.tree.Root.Stat(path.Join(at, ".golangci."+end)); err == nil {
				return command{name: "golangci-lint", args: []string{"run", "--color=never", target}}
			}
		}
		if at == "." {
			break
		}
	}
	return command{name: "go", args: []string{"vet", target}}
}

func installed(name string) bool {
	_, err := exec.LookPath(name)
	return err == nil
}

// lintLines finds what a linter reports: lines of FILE:LINE, and those of
// ESLint, which names the file in a line of its own.
type lintLines struct {
	dir      string // that the linter runs in, relative to the workspace
	relative func(string) (string, error)
	under    string // file that ESLint reports about
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
