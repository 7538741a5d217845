package tests

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"replan/internal/english"
	"replan/internal/lazyregexp"
	"replan/mcpclient/child"
	"replan/mcpclient/workspace/op"
	"replan/planning/plan"
)

const (
	defaultTestTime = 10 * time.Minute
	maxFailureText  = 16 << 10 // maximum bytes of output in the text of a failure
	maxProjects     = 200      // maximum number test.detect returns
	maxNamed        = 4        // maximum number of projects that an error names
)

type testResult struct {
	Passed   bool          `json:"passed"`
	Summary  string        `json:"summary"`
	Total    int           `json:"total"` // tests, including subtests
	OK       int           `json:"ok"`
	Skipped  int           `json:"skipped"`
	Failed   []string      `json:"failed"` // tests, and packages that do not build
	Failures []testFailure `json:"failures"`
	Command  string        `json:"command"`
	Output   string        `json:"output"`
	Spill    string        `json:"spill,omitempty"` // file with the full output
	Duration int64         `json:"duration_ms"`
	Sources  []sourceFile  `json:"sources,omitempty"`
}

type testArgs struct {
	Path          string `json:"path,omitempty" jsonschema:"package or folder to test, like ./internal/auth; default: everything"`
	Run           string `json:"run,omitempty" jsonschema:"only tests whose names match this regular expression"`
	Timeout       string `json:"timeout,omitempty" jsonschema:"longest time to run, like 90s or 5m; default: 10m"`
	AllowFailures bool   `json:"allow_failures,omitempty" jsonschema:"return the findings instead of failing"`
	Sources       bool   `json:"sources,omitempty" jsonschema:"also return the files of failing tests and the files they test"`
	AllowNone     bool   `json:"allow_none,omitempty" jsonschema:"pass if no project has tests, instead of failing"`

	limit time.Duration // parsed Timeout
}

func (o *Operators) test(ctx context.Context, c op.Call, args testArgs) (*op.Answer[testResult], error) {
	var err error
	if args.limit, err = c.Limit(args.Timeout, defaultTestTime); err != nil {
		return nil, err
	}
	args = o.meant(args)
	cmd, project, err := o.testCommand(ctx, c, args)
	if args.AllowNone && (errors.Is(err, errNoProject) || err == nil && o.untested(project)) {
		if c.Preview {
			return &op.Answer[testResult]{Preview: &op.Preview{Command: &plan.Command{Argv: []string{}}}}, nil // bound to start nothing
		}
		none := testResult{Passed: true, Summary: "there are no tests to run here", Failed: []string{}, Failures: []testFailure{}}
		return op.Reply(none, none.Summary), nil
	}
	if err != nil {
		return nil, err
	}
	shown := preview(cmd, project.dir)
	if c.Preview {
		return &op.Answer[testResult]{Preview: shown}, nil
	}
	if err := c.CheckCommand(shown.Command); err != nil {
		return nil, err
	}
	report := &testReport{}
	cmd.Send = c.Sender(ctx)
	cmd.Timeout, cmd.Need = args.limit, "install it to run these tests"
	var text *textReport
	if project.kind == "go" {
		status := c.Status(ctx)
		status("compiling the tests")
		cmd.Data = func(shown io.Writer) io.WriteCloser { return o.goEvents(shown, status, report, project.dir) }
	} else {
		text = o.textReport(report, project.dir)
		cmd.Line = text.line
	}
	out, err := o.runner.Run(ctx, cmd)
	if err != nil {
		return nil, err
	}
	if text != nil {
		text.finish()
	} else {
		out.Output = inOrder(out.Output)
	}
	if project.kind == "python" && out.Exit == noTestsExit {
		report.matchNone(true)
	}
	report.findPlaces(func(failures []testFailure) { o.placeInPackages(ctx, cmd.Dir, failures) })
	result := report.result(out, cmd)
	result.conclude(args, report, out, cmd)
	if args.Sources {
		if result.Sources, err = o.sourcesOf(ctx, result.Failures); err != nil {
			return nil, err
		}
	}
	if result.Passed {
		return op.Reply(result, result.Summary+"\n"+out.Output), nil
	}
	answer := op.Reply(result, result.Summary+report.places()+"\n\n"+op.MiddleCut(withoutGreen(out.Output), maxFailureText))
	answer.Failed = !args.AllowFailures
	return answer, nil
}

// noTestsExit is the exit status of pytest, and of unittest since Python 3.12, if they
// find no tests.
const noTestsExit = 5

// placeInPackages finds the folders of files known only by their package. If
// it cannot find the folder, it clears the file.
func (o *Operators) placeInPackages(ctx context.Context, dir string, failures []testFailure) {
	var packages []string
	for _, f := range failures {
		if strings.HasPrefix(f.File, ofPackage) && !slices.Contains(packages, f.Package) {
			packages = append(packages, f.Package)
		}
	}
	folders := map[string]string{}
	if len(packages) > 0 {
		list := &bytes.Buffer{}
		_, err := o.runner.Run(ctx, child.Command{
			Name: "go", Args: append([]string{"list", "-e", "-find", "-f={{.ImportPath}}\t{{.Dir}}", "--"}, packages...),
			Dir: dir, Timeout: time.Minute, Quiet: true,
			Data: func(io.Writer) io.WriteCloser { return closableBuffer{list} },
		})
		if err != nil {
			o.log.Warn("the folders of packages are not known", "error", err)
		}
		for line := range strings.Lines(list.String()) {
			name, at, _ := strings.Cut(strings.TrimRight(line, "\r\n"), "\t")
			if rel, err := o.tree.Relative(at); err == nil && at != "" {
				folders[name] = rel
			}
		}
	}
	for i, f := range failures {
		if name, ok := strings.CutPrefix(f.File, ofPackage); ok {
			if at, known := folders[f.Package]; known {
				failures[i].File = path.Join(at, path.Base(name))
			} else {
				failures[i].File, failures[i].Line = "", 0
			}
		}
	}
}

// closableBuffer is a buffer that implements io.WriteCloser.
type closableBuffer struct{ *bytes.Buffer }

func (closableBuffer) Close() error { return nil }

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

// detect lists the folders of the workspace with tests that can be run.
func (o *Operators) detect(ctx context.Context, _ op.Call, args detectArgs) (*op.Answer[detectResult], error) {
	start := "."
	if args.Path != "" {
		folder, err := o.testFolder(args.Path)
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
func (o *Operators) projectsBelow(ctx context.Context, start string, most int) ([]project, error) {
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
	if len(found) == 0 && len(o.pythonTests(start)) > 0 {
		found = []project{{"python", start, pythonTest}}
	}
	return found, nil
}

var errNoProject = errors.New("no test project found here: no project of Go, Rust, npm or Python, and no Makefile with a target test")

// project is a folder with tests and the way to run them.
type project struct {
	kind    string
	dir     string // relative to the workspace
	command func(ctx context.Context, o *Operators, dir string, args testArgs) (child.Command, error)
}

// testKinds lists the supported kinds of projects with the file that
// identifies each, the most reliable first.
var testKinds = []struct {
	kind, marker string
	command      func(ctx context.Context, o *Operators, dir string, args testArgs) (child.Command, error)
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
func (o *Operators) projectIn(dir string) (project, error) {
	for _, k := range testKinds {
		info, err := o.tree.Root.Stat(path.Join(dir, k.marker))
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if k.kind == "npm" && o.scripts(dir)["test"] == "" {
			if made, err := o.makeIn(dir); err != nil || made.kind != "" {
				return made, err
			}
		}
		return project{k.kind, dir, k.command}, nil
	}
	return project{}, nil
}

var testTarget = lazyregexp.New(`(?m)^test[ \t]*:(?:[^=]|$)`)

// makeIn returns the project of a Makefile that has a target test.
func (o *Operators) makeIn(dir string) (project, error) {
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
func (o *Operators) scripts(dir string) map[string]string {
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
func (o *Operators) untested(p project) bool {
	script := o.scripts(p.dir)["test"]
	return p.kind == "npm" && (script == "" || strings.Contains(script, "no test specified"))
}

// testCommand finds the project that contains path, searching upwards, and
// returns the command that runs its tests.
func (o *Operators) testCommand(ctx context.Context, c op.Call, args testArgs) (child.Command, project, error) {
	if strings.HasPrefix(args.Path, "-") {
		return child.Command{}, project{}, fmt.Errorf("the argument path of %s is %q; name a package or a folder, not an option", c.Tool, args.Path)
	}
	if args.Run != "" {
		if _, err := regexp.Compile(args.Run); err != nil {
			return child.Command{}, project{}, fmt.Errorf("the regular expression %q cannot be read: %w", args.Run, err)
		}
	}
	p, err := o.projectOf(args.Path)
	if errors.Is(err, errNoProject) {
		below, searched := o.projectsBelow(ctx, ".", maxNamed+1)
		if searched == nil && len(below) > 0 {
			dirs := make([]string, len(below))
			for i, p := range below {
				dirs[i] = p.dir
			}
			err = fmt.Errorf("%w; name one of the folders below that have some: %s", err, english.Some(dirs, maxNamed, ""))
		}
	}
	if err != nil {
		return child.Command{}, project{}, err
	}
	if err := o.checkPath(ctx, p, args.Path); err != nil {
		return child.Command{}, project{}, err
	}
	cmd, err := p.command(ctx, o, p.dir, args)
	cmd.Dir = o.tree.OnDisk(p.dir)
	return cmd, p, err
}

// projectOf returns the project that contains a path.
func (o *Operators) projectOf(name string) (project, error) {
	start, err := o.testFolder(name)
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
	if p := o.pythonAbove(start); p.kind != "" {
		return p, nil
	}
	return project{}, errNoProject
}

// testFolder returns the folder that contains a path argument. Anything that
// is not a path of the workspace, such as an import path, means the workspace.
func (o *Operators) testFolder(name string) (string, error) {
	name = strings.TrimSuffix(strings.TrimSuffix(name, "..."), "/")
	if name == "" {
		return ".", nil
	}
	at, err := o.tree.Resolve(name)
	if err != nil {
		return "", err
	}
	info, err := o.tree.Root.Stat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ".", nil
	case err != nil:
		return "", fmt.Errorf("looking at %s: %w", at, err)
	case info.IsDir():
		return at, nil
	default:
		return path.Dir(at), nil
	}
}

// below returns a path argument relative to the folder of the project if such
// a file exists, or else unchanged.
func (o *Operators) below(dir, name string) string {
	at, err := o.tree.Resolve(name)
	if err != nil {
		return name
	}
	if _, err := o.tree.Root.Stat(at); err != nil {
		return name
	}
	if at == dir {
		return "."
	}
	if dir != "." {
		at = strings.TrimPrefix(at, dir+"/")
	}
	return "./" + at
}

func (o *Operators) textReport(report *testReport, dir string) *textReport {
	return &textReport{testReport: report, dir: dir, inside: o.tree.Relative, blocks: map[string]*testBlock{}}
}

func (o *Operators) goEvents(shown io.Writer, status func(string), report *testReport, dir string) *goEvents {
	return &goEvents{
		shown: shown, status: status, report: report, dir: dir, inside: o.tree.Relative,
		packages: map[string]*goPackage{}, builds: map[string][]string{},
	}
}
