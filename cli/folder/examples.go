package folder

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"replan/internal/lazyregexp"
)

// defines matches a definition in source code, in most languages.
var defines = lazyregexp.New(`(?m)^(?:export +)?(?:pub +)?(?:async +)?(?:func|type|def|class|function|fn|struct|interface) +([A-Za-z_][A-Za-z0-9_]{3,40})`)

// ExampleGoals returns three or four goals that suit a folder, for the welcome page.
// It reads only names, in the folder and in a few of those below it, and one file.
func ExampleGoals(folder string) []string {
	names, folders := list(folder)
	goals := []string{"explain what this project does"}
	defined := definedAmong(folder, names)
	const most = 8 // folders to look into
	for _, name := range folders[:min(len(folders), most)] {
		if defined != "" {
			break
		}
		below := filepath.Join(folder, name)
		inside, _ := list(below)
		defined = definedAmong(below, inside)
	}
	tested := slices.ContainsFunc(names, func(name string) bool {
		return slices.Contains([]string{"go.mod", "package.json", "pyproject.toml", "Cargo.toml", "setup.py", "pytest.ini"}, name)
	})
	switch {
	case defined != "" && tested:
		return append(goals, "where is "+defined+" used", "add tests for "+defined, "run the tests")
	case tested:
		return append(goals, "find TODO", "run the tests")
	case defined != "":
		return append(goals, "where is "+defined+" used", "what changed lately")
	}
	return append(goals, "find TODO", "what changed lately")
}

// list returns the names of the files in a folder, and those of the folders that may
// hold its sources.
func list(folder string) (files, folders []string) {
	const most = 2000           // names
	dir, err := os.Open(folder) //nolint:gosec // the workspace
	if err != nil {
		return nil, nil
	}
	entries, _ := dir.ReadDir(most) // a partial list is enough
	_ = dir.Close()
	for _, e := range entries {
		switch name := e.Name(); {
		case !e.IsDir():
			files = append(files, name)
		case !strings.HasPrefix(name, ".") && !slices.Contains([]string{"vendor", "node_modules", "testdata", "docs", "examples", "target", "dist"}, name):
			folders = append(folders, name)
		}
	}
	slices.Sort(files)
	slices.Sort(folders)
	return files, folders
}

// definedAmong returns a name that the first source file among names defines, ""
// if it finds none.
func definedAmong(folder string, names []string) string {
	for _, name := range names {
		if slices.Contains([]string{".go", ".py", ".ts", ".js", ".rs"}, filepath.Ext(name)) && !strings.Contains(name, "test") {
			return definedIn(filepath.Join(folder, name))
		}
	}
	return ""
}

// definedIn returns a name that a source file defines near its start, "" if it
// finds none.
func definedIn(path string) string {
	for _, found := range defines.FindAllStringSubmatch(string(head(path, 8<<10)), 20) {
		if name := found[1]; name != "main" && name != "init" {
			return name
		}
	}
	return ""
}
