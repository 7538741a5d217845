package tests

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"replan/internal/english"
	"replan/mcpclient/child"
	"replan/mcpclient/workspace/op"
	"replan/mcpclient/workspace/tree"
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

// runner runs tests.
type runner struct {
	tree     *tree.Tree
	children *child.Runner
	log      *slog.Logger
	targets  *targets
	projects *projects
	sources  *sources
}

func (o *runner) test(ctx context.Context, c op.Call, args testArgs) (*op.Answer[testResult], error) {
	var err error
	if args.limit, err = c.Limit(args.Timeout, defaultTestTime); err != nil {
		return nil, err
	}
	args = o.targets.resolve(args)
	cmd, project, err := o.testCommand(ctx, c, args)
	if args.AllowNone && (errors.Is(err, errNoProject) || err == nil && o.projects.untested(project)) {
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
	out, err := o.children.Run(ctx, cmd)
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
		if result.Sources, err = o.sources.of(ctx, result.Failures); err != nil {
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
func (o *runner) placeInPackages(ctx context.Context, dir string, failures []testFailure) {
	var packages []string
	for _, f := range failures {
		if strings.HasPrefix(f.File, ofPackage) && !slices.Contains(packages, f.Package) {
			packages = append(packages, f.Package)
		}
	}
	folders := map[string]string{}
	if len(packages) > 0 {
		list := &bytes.Buffer{}
		_, err := o.children.Run(ctx, child.Command{
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

// testCommand finds the project that contains path, searching upwards, and
// returns the command that runs its tests.
func (o *runner) testCommand(ctx context.Context, c op.Call, args testArgs) (child.Command, project, error) {
	if strings.HasPrefix(args.Path, "-") {
		return child.Command{}, project{}, fmt.Errorf("the argument path of %s is %q; name a package or a folder, not an option", c.Tool, args.Path)
	}
	if args.Run != "" {
		if _, err := regexp.Compile(args.Run); err != nil {
			return child.Command{}, project{}, fmt.Errorf("the regular expression %q cannot be read: %w", args.Run, err)
		}
	}
	p, err := o.projects.projectOf(args.Path)
	if errors.Is(err, errNoProject) {
		below, searched := o.projects.projectsBelow(ctx, ".", maxNamed+1)
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
	if err := o.targets.checkPath(ctx, p, args.Path); err != nil {
		return child.Command{}, project{}, err
	}
	cmd, err := p.command(ctx, o.projects, p.dir, args)
	cmd.Dir = o.tree.OnDisk(p.dir)
	return cmd, p, err
}

func (o *runner) textReport(report *testReport, dir string) *textReport {
	return &textReport{testReport: report, dir: dir, inside: o.tree.Relative, blocks: map[string]*testBlock{}}
}

func (o *runner) goEvents(shown io.Writer, status func(string), report *testReport, dir string) *goEvents {
	return &goEvents{
		shown: shown, status: status, report: report, dir: dir, inside: o.tree.Relative,
		packages: map[string]*goPackage{}, builds: map[string][]string{},
	}
}
