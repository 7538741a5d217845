package folder

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// defines matches a definition in source code, in most languages.
var defines = regexp.MustCompile(`(?m)^(?:export +)?(?:pub +)?(?:async +)?(?:func|def|class|function|fn|struct|interface) +([A-Za-z_][A-Za-z0-9_]{3,40})`)

// ExampleGoals returns three goals that suit a folder, for the greeting. It reads
// only the names in the folder and one file.
func ExampleGoals(folder string) []string {
	const most = 2000           // names
	dir, err := os.Open(folder) //nolint:gosec // the workspace
	if err != nil {
		return nil
	}
	names, _ := dir.Readdirnames(most) // a partial list is enough
	_ = dir.Close()
	slices.Sort(names)
	tested, source := false, ""
	for _, name := range names {
		switch name {
		case "go.mod", "package.json", "pyproject.toml", "Cargo.toml", "setup.py", "pytest.ini":
			tested = true
		}
		if source == "" && slices.Contains([]string{".go", ".py", ".ts", ".js", ".rs"}, filepath.Ext(name)) && !strings.Contains(name, "test") {
			source = definedIn(filepath.Join(folder, name))
		}
	}
	goals := []string{"explain what this project does"}
	if source != "" {
		goals = append(goals, "where is "+source+" used")
	} else {
		goals = append(goals, "find TODO")
	}
	if tested {
		return append(goals, "run the tests")
	}
	return append(goals, "what changed lately")
}

// definedIn returns a name that a source file defines near its start, "" if it
// finds none.
func definedIn(path string) string {
	for _, found := range defines.FindAllSubmatch(head(path, 32<<10), -1) {
		if name := string(found[1]); name != "main" && name != "init" {
			return name
		}
	}
	return ""
}
