package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
	defaultTestTime = 5 * time.Minute
	maxFailureText  = 16 << 10 // bytes of output in the text of a failure
	maxFailures     = 200      // names of failed tests that are kept
)

type testArgs struct {
	Path    string `json:"path"`
	Run     string `json:"run"`
	Timeout string `json:"timeout"`

	limit time.Duration // what Timeout means
}

type testResult struct {
	Passed  bool     `json:"passed"`
	Summary string   `json:"summary"`
	Failed  []string `json:"failed"` // tests, and packages that could not be built
	Command string   `json:"command"`
	Output  string   `json:"output"`
	Spill   string   `json:"spill,omitempty"` // file with all of the output
}

func (o *Operators) test(ctx context.Context, c call) (*mcp.CallToolResult, error) {
	var args testArgs
	if err := c.decode(&args); err != nil {
		return nil, err
	}
	args.limit = defaultTestTime
	if args.Timeout != "" {
		var err error
		if args.limit, err = time.ParseDuration(args.Timeout); err != nil || args.limit <= 0 {
			return nil, fmt.Errorf("the argument timeout of test.run is %q; say it like 90s or 5m", args.Timeout)
		}
	}
	child, err := o.testCommand(args)
	if err != nil {
		return nil, err
	}
	report := &testReport{}
	child.timeout, child.line = args.limit, report.line
	out, err := o.execute(ctx, c, child)
	if err != nil {
		return nil, err
	}
	result := testResult{
		Passed:  out.exit == 0 && !out.timedOut,
		Failed:  append([]string{}, report.failed...),
		Command: child.String(), Output: out.output, Spill: out.spill,
	}
	switch {
	case out.timedOut:
		result.Summary = fmt.Sprintf("the tests did not end within %s and were stopped", child.timeout)
	case result.Passed && args.Run != "" && report.noneRan():
		result.Passed = false
		result.Summary = fmt.Sprintf("no test matches %q", args.Run)
	case result.Passed:
		result.Summary = report.passed()
		return structured(result, result.Summary+"\n"+out.output), nil
	case len(report.failed) > 0:
		result.Summary = fmt.Sprintf("%d failed: %s", len(report.failed), strings.Join(report.failed, ", "))
	default:
		result.Summary = fmt.Sprintf("%s ended with %s", child, out.state)
	}
	failure := structured(result, result.Summary+"\n\n"+middleCut(report.trim(out.output), maxFailureText))
	failure.IsError = true
	return failure, nil
}

// middleCut keeps the beginning and the end of a text.
func middleCut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	head, tail := text[:most/2], text[len(text)-most/2:]
	return strings.ToValidUTF8(fmt.Sprintf("%s\n[cut: %d bytes left out]\n%s", head, len(text)-most, tail), "")
}

// testKinds are the kinds of projects whose tests can be run, by the file that
// tells them, the surest first.
var testKinds = []struct {
	marker  string
	command func(o *Operators, dir string, args testArgs) (command, error)
}{
	{"go.mod", goTest},
	{"go.work", goTest},
	{"Cargo.toml", cargoTest},
	{"package.json", npmTest},
	{"pyproject.toml", pytest},
	{"pytest.ini", pytest},
	{"setup.py", pytest},
	{"requirements.txt", pytest},
}

// testCommand finds the project that path lies in, from there upwards, and
// says how its tests are run.
func (o *Operators) testCommand(args testArgs) (command, error) {
	if strings.HasPrefix(args.Path, "-") {
		return command{}, fmt.Errorf("the argument path of test.run is %q; name a package or a folder, not an option", args.Path)
	}
	if args.Run != "" {
		if _, err := regexp.Compile(args.Run); err != nil {
			return command{}, fmt.Errorf("the regular expression %q cannot be read: %w", args.Run, err)
		}
	}
	start, err := o.testFolder(args.Path)
	if err != nil {
		return command{}, err
	}
	for dir := start; ; dir = path.Dir(dir) {
		for _, kind := range testKinds {
			info, err := o.root.Stat(path.Join(dir, kind.marker))
			if err != nil || !info.Mode().IsRegular() {
				continue
			}
			child, err := kind.command(o, dir, args)
			child.dir = o.onDisk(dir)
			return child, err
		}
		if dir == "." {
			return command{}, errors.New("there is no go.mod, Cargo.toml, package.json or pyproject.toml to tell how the tests are run; name the folder that has one in path")
		}
	}
}

// testFolder is the folder that a path argument lies in; what is no path of
// the workspace, like an import path, stands for the workspace.
func (o *Operators) testFolder(name string) (string, error) {
	name = strings.TrimSuffix(strings.TrimSuffix(name, "..."), "/")
	if name == "" {
		return ".", nil
	}
	at, err := o.resolve(name)
	if err != nil {
		return "", err
	}
	info, err := o.root.Stat(at)
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

// below is a path argument relative to the folder of the project, as far as
// there is such a file; otherwise it is left as it is.
func (o *Operators) below(dir, name string) string {
	at, err := o.resolve(name)
	if err != nil {
		return name
	}
	if _, err := o.root.Stat(at); err != nil {
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

func goTest(o *Operators, dir string, args testArgs) (command, error) {
	target := "./..."
	if args.Path != "" {
		name, all := strings.CutSuffix(args.Path, "...")
		name = strings.TrimSuffix(name, "/")
		if name == "" {
			name = "."
		}
		if strings.HasSuffix(name, ".go") {
			name = path.Dir(name)
		}
		target = o.below(dir, name)
		if all {
			target += "/..."
		}
	}
	// A little less than our own limit, which counts the time to build, too: go
	// then names the test that hangs before all of it is stopped.
	limit := args.limit - args.limit/10
	flags := []string{"test", "-count=1", "-timeout=" + limit.String()}
	if args.Run != "" {
		flags = append(flags, "-run="+args.Run)
	}
	return command{name: "go", args: append(flags, target)}, nil
}

func cargoTest(_ *Operators, _ string, args testArgs) (command, error) {
	flags := []string{"test", "--color=never"}
	if args.Run != "" {
		flags = append(flags, "--", args.Run)
	}
	return command{name: "cargo", args: flags}, nil
}

func npmTest(_ *Operators, _ string, args testArgs) (command, error) {
	if args.Run != "" {
		return command{}, errors.New("npm test cannot be narrowed by run; leave it out, or name the file in path")
	}
	flags := []string{"test", "--silent"}
	if args.Path != "" {
		flags = append(flags, "--", args.Path)
	}
	return command{name: "npm", args: flags}, nil
}

func pytest(o *Operators, dir string, args testArgs) (command, error) {
	flags := []string{"-m", "pytest", "-q", "--color=no"}
	if args.Run != "" {
		flags = append(flags, "-k", args.Run)
	}
	if args.Path != "" {
		flags = append(flags, o.below(dir, strings.TrimSuffix(args.Path, "/...")))
	}
	return command{name: "python3", args: flags}, nil
}
