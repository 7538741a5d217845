package tests

import (
	"bytes"
	"cmp"
	"context"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"replan/internal/testfile"
	"replan/mcpclient/child"
	"replan/mcpclient/workspace/tree"
)

// python knows how tests of Python are run.
type python struct {
	tree     *tree.Tree
	children *child.Runner
	targets  *targets
}

// interpreter returns the interpreter that runs tests.
func (o *python) interpreter() string {
	return cmp.Or(o.inVirtual(filepath.Join("bin", "python3")), o.inVirtual(filepath.Join("Scripts", "python.exe")), "python3")
}

// inVirtual returns the path of a program of the virtual environment in use, if that lies in
// the workspace. From there nothing is taken by its name. It returns "" if there is none.
func (o *python) inVirtual(name string) string {
	venv := child.Variable(o.children.Environ, "VIRTUAL_ENV")
	if _, outside := o.tree.Relative(venv); !filepath.IsAbs(venv) || outside != nil {
		return ""
	}
	path, err := exec.LookPath(filepath.Join(venv, name))
	if err != nil {
		return ""
	}
	return path
}

// unittest returns the command that runs tests with Python's own runner.
func (o *python) unittest(dir string, files []string, args testArgs) child.Command {
	flags := []string{"-m", "unittest"}
	at := ""
	if args.Path != "" {
		at = strings.TrimPrefix(o.targets.below(dir, strings.TrimSuffix(args.Path, "/...")), "./")
	}
	switch {
	case strings.HasSuffix(at, ".py"):
		flags = append(flags, at)
	case at != "" && at != ".":
		flags = append(flags, "discover", "-s", at)
	default:
		flags = append(flags, "discover")
		// unittest looks only into folders that are packages.
		if sub := path.Dir(files[0]); sub != dir {
			if _, err := o.tree.Root.Stat(path.Join(sub, "__init__.py")); err != nil {
				flags = append(flags, "-s", path.Base(sub))
			}
		}
	}
	if !strings.HasSuffix(at, ".py") && !strings.HasPrefix(path.Base(files[0]), "test") {
		flags = append(flags, "-p", "*_test.py")
	}
	if args.Run != "" {
		for name := range strings.SplitSeq(args.Run, "|") {
			flags = append(flags, "-k", strings.Trim(name, "^$()"))
		}
	}
	return child.Command{Name: o.interpreter(), Args: flags}
}

// testFiles lists Python's test files in a folder, or else in its folder tests or
// test.
func (o *python) testFiles(dir string) []string {
	for _, in := range []string{dir, path.Join(dir, "tests"), path.Join(dir, "test")} {
		entries, err := fs.ReadDir(o.tree.Root.FS(), in)
		if err != nil {
			continue
		}
		var files []string
		for _, e := range entries {
			if e.Type().IsRegular() && path.Ext(e.Name()) == ".py" && testfile.Is(e.Name()) {
				files = append(files, path.Join(in, e.Name()))
			}
		}
		if len(files) > 0 {
			return files
		}
	}
	return nil
}

// above returns the topmost folder with Python tests among a folder and those
// above it, since tests import modules from the top.
func (o *python) above(start string) (found project) {
	for dir := start; ; dir = path.Dir(dir) {
		if len(o.testFiles(dir)) > 0 {
			found = project{"python", dir, pythonTest}
		}
		if dir == "." {
			return found
		}
	}
}

// unittests reports whether one of the files uses unittest.
func (o *python) unittests(files []string) bool {
	for _, at := range files {
		if f, err := o.tree.LoadText(at); err == nil && bytes.Contains(f.Data, []byte("unittest")) {
			return true
		}
	}
	return false
}

// findPytest exits with 0 if pytest can be imported. Python looks for modules in the
// working folder first, so that is left out: the project could have an importlib.py.
const findPytest = "import sys; sys.path = [p for p in sys.path if p]; import importlib.util; " +
	"sys.exit(importlib.util.find_spec('pytest') is None)"

// importsPytest reports whether python finds pytest. It runs no code of the project, and
// so looks for a file if the interpreter may be part of it.
func (o *python) importsPytest(ctx context.Context, dir string) bool {
	if name := o.interpreter(); name != "python3" {
		found, err := filepath.Glob(filepath.Join(filepath.Dir(name), "pytest*"))
		return err == nil && len(found) > 0
	}
	out, err := o.children.Run(ctx, child.Command{
		Name: "python3", Args: []string{"-c", findPytest},
		Dir: o.tree.OnDisk(dir), Timeout: 10 * time.Second, Quiet: true, Unwatched: true,
	})
	return err == nil && out.Exit == 0
}
