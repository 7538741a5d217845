package tests

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"replan/internal/lazyregexp"
	"replan/mcpclient/child"
	"replan/mcpclient/workspace/op"
	"replan/planning/plan"
)

// preview returns the command that runs in a folder of the workspace, without the
// flags that only concern its output and its time.
func preview(cmd child.Command, dir string) *op.Preview {
	argv := []string{cmd.Name}
	for i, arg := range cmd.Args {
		if arg == "--" || arg == "-k" { // what follows is the caller's
			argv = append(argv, cmd.Args[i:]...)
			break
		}
		flag, _, _ := strings.Cut(arg, "=")
		if !slices.Contains([]string{"-json", "-count", "-timeout", "-q", "--color", "--silent", "--message-format", "--output-format"}, flag) {
			argv = append(argv, arg)
		}
	}
	if dir == "." {
		dir = ""
	}
	return &op.Preview{Command: &plan.Command{Argv: argv, Dir: dir}}
}

func goTest(_ context.Context, o *projects, dir string, args testArgs) (child.Command, error) {
	// A little less than our own limit, which includes the build time. So go can
	// name the hanging test before the whole run is stopped.
	limit := args.limit - cmp.Or(o.margin, args.limit/10)
	flags := []string{"test", "-json", "-count=1", "-timeout=" + limit.String()}
	if args.Run != "" {
		flags = append(flags, "-run="+args.Run)
	}
	return child.Command{Name: "go", Args: append(flags, o.targets.goTarget(dir, args.Path, true))}, nil
}

func cargoTest(_ context.Context, _ *projects, _ string, args testArgs) (child.Command, error) {
	flags := []string{"test", "--color=never"}
	if args.Run != "" {
		flags = append(flags, "--", args.Run)
	}
	return child.Command{Name: "cargo", Args: flags}, nil
}

func makeTest(_ context.Context, _ *projects, _ string, args testArgs) (child.Command, error) {
	if args.Run != "" {
		return child.Command{}, errors.New("make test cannot be narrowed by run; leave it out")
	}
	return child.Command{Name: "make", Args: []string{"test"}}, nil
}

// runFlags select tests by name in the test runners that npm scripts call.
var runFlags = []struct {
	runner *lazyregexp.Regexp
	flag   string
}{
	{lazyregexp.New(`\b(?:jest|vitest|react-scripts test)\b`), "--testNamePattern="},
	{lazyregexp.New(`\bmocha\b`), "--grep="},
	{lazyregexp.New(`\bnode (?:.* )?--test\b`), "--test-name-pattern="},
}

func npmTest(_ context.Context, o *projects, dir string, args testArgs) (child.Command, error) {
	flags := []string{"test", "--silent"}
	var more []string
	if args.Run != "" {
		script := o.scripts(dir)["test"]
		for _, f := range runFlags {
			if f.runner.MatchString(script) && more == nil {
				more = append(more, f.flag+args.Run)
			}
		}
		if more == nil {
			return child.Command{}, errors.New("run cannot narrow npm test, since its script calls no known runner; leave run out, or name the file in path")
		}
	}
	if args.Path != "" {
		if name := o.targets.below(dir, strings.TrimSuffix(args.Path, "/...")); name != "." {
			more = append(more, strings.TrimPrefix(name, "./"))
		}
	}
	if len(more) > 0 {
		flags = append(append(flags, "--"), more...)
	}
	return child.Command{Name: "npm", Args: flags}, nil
}

// pythonTest runs pytest. Tests written for unittest run without it if python3
// cannot import pytest.
func pythonTest(ctx context.Context, o *projects, dir string, args testArgs) (child.Command, error) {
	if files := o.python.testFiles(dir); o.python.unittests(files) && !o.python.importsPytest(ctx, dir) {
		return o.python.unittest(dir, files, args), nil
	}
	flags := []string{"-m", "pytest", "-q", "--color=no"}
	if args.Run != "" {
		flags = append(flags, "-k", strings.ReplaceAll(args.Run, "|", " or "))
	}
	if args.Path != "" {
		flags = append(flags, o.targets.below(dir, strings.TrimSuffix(args.Path, "/...")))
	}
	return child.Command{Name: o.python.interpreter(), Args: flags}, nil
}
