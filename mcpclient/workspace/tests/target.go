package tests

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"replan/internal/lazyregexp"
	"replan/mcpclient/workspace/tree"
)

// targets say what paths and names of tests mean.
type targets struct{ tree *tree.Tree }

// resolve returns args with a path and a run as they were most likely meant. That is all
// tests where both say so, and the path where run names a file.
func (o *targets) resolve(args testArgs) testArgs {
	args.Path, args.Run = o.wholePath(args.Path), strings.TrimSpace(args.Run)
	file, _, node := strings.Cut(args.Run, "::")
	switch {
	case slices.Contains([]string{"all", "*", ".", "...", "./...", ".*"}, args.Run):
		args.Run = ""
	case args.Path == "" && args.Run != "" && (!node || strings.HasSuffix(file, ".py")) && o.exists(file):
		args.Path, args.Run = args.Run, ""
	default:
		args.Run = testNames(args.Run)
	}
	return args
}

// exists reports whether a name is a file with an ending, or a place in one.
func (o *targets) exists(name string) bool {
	at, err := o.tree.Resolve(name)
	if err != nil || path.Ext(at) == "" {
		return false
	}
	_, err = o.tree.Root.Stat(at)
	return err == nil
}

// wholePath returns a path argument with a pattern as its folder and all below it. A
// slash alone means everything.
func (o *targets) wholePath(name string) string {
	if _, ok := o.tree.Pattern(name); ok {
		folder := name
		for strings.ContainsAny(folder, "*?[{") {
			folder = path.Dir(folder)
		}
		name = folder + "/..."
	}
	if name == "/" || name == "./" {
		return ""
	}
	return name
}

var (
	testName = lazyregexp.New(`^[\pL_][\pL\pN_/.$]*$`)
	declared = lazyregexp.New(`^(?:func|def|fn|function|test)\s+`)
)

// testNames is a filter of tests: names as they are declared or called, and lists of
// names, become an expression of names.
func testNames(run string) string {
	var names []string
	for name := range strings.SplitSeq(run, ",") {
		name = declared.ReplaceAllString(strings.TrimSpace(name), "")
		if name = strings.TrimSuffix(name, "()"); !testName.MatchString(name) {
			return run
		}
		names = append(names, name)
	}
	return strings.Join(names, "|")
}

// checkPath fails for a path of a project of Go or Python that names nothing.
func (o *targets) checkPath(ctx context.Context, p project, name string) error {
	file, _, _ := strings.Cut(strings.TrimSuffix(strings.TrimSuffix(name, "..."), "/"), "::")
	if file == "" || p.kind != "go" && p.kind != "python" || p.kind == "go" && o.isImport(p.dir, file) {
		return nil
	}
	at, err := o.tree.Resolve(file)
	if err != nil {
		return err
	}
	if _, err := o.tree.Root.Stat(at); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w; leave path out to take everything", o.tree.NoFile(ctx, at))
	}
	return nil
}

var moduleLine = lazyregexp.New(`(?m)^module[ \t]+"?([^\s"]+)`)

// isImport reports whether a name is the path of a package, in this module or one with
// a domain.
func (o *targets) isImport(dir, name string) bool {
	if first, _, _ := strings.Cut(name, "/"); strings.Contains(strings.Trim(first, "."), ".") && path.Ext(name) != ".go" {
		return true
	}
	f, err := o.tree.LoadText(path.Join(dir, "go.mod"))
	if err != nil || !f.Exists {
		return true // a workspace of modules
	}
	m := moduleLine.FindStringSubmatch(string(f.Data))
	return m != nil && (name == m[1] || strings.HasPrefix(name, m[1]+"/"))
}

// testFolder returns the folder that contains a path argument. Anything that
// is not a path of the workspace, such as an import path, means the workspace.
func (o *targets) testFolder(name string) (string, error) {
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
func (o *targets) below(dir, name string) string {
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

// goTarget converts a path argument to one for the go command. A folder that is to be
// tested and has no tests itself means those below it.
func (o *targets) goTarget(dir, name string, tested bool) string {
	if name == "" {
		return "./..."
	}
	name, all := strings.CutSuffix(name, "...")
	name = strings.TrimSuffix(name, "/")
	if name == "" {
		name = "."
	}
	if strings.HasSuffix(name, ".go") {
		name = path.Dir(name)
	}
	target := o.below(dir, name)
	if all || tested && o.holdsNoTests(name) {
		target += "/..."
	}
	return target
}

// holdsNoTests reports whether a folder has folders in it and no Go tests of its own.
func (o *targets) holdsNoTests(name string) bool {
	at, err := o.tree.Resolve(name)
	if err != nil {
		return false
	}
	entries, err := fs.ReadDir(o.tree.Root.FS(), at)
	return err == nil && slices.ContainsFunc(entries, fs.DirEntry.IsDir) &&
		!slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return strings.HasSuffix(e.Name(), "_test.go") })
}
