package folder_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"replan/cli/folder"
)

func TestExampleGoalsFitTheFolder(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"empty":             {nil, []string{"explain what this project does", "find TODO", "what changed lately"}},
		"a script":          {map[string]string{"tool.py": "import os\n\ndef convert(path):\n"}, []string{"explain what this project does", "where is convert used", "what changed lately"}},
		"no sources":        {map[string]string{"package.json": "{}", "node_modules/x/a.js": "function hidden() {"}, []string{"explain what this project does", "find TODO", "run the tests"}},
		"sources in a room": {map[string]string{"go.mod": "module m", "main.go": "func main() {", "shelf/a_test.go": "func TestA(", "shelf/shelf.go": "type Shelf struct {"}, []string{"explain what this project does", "where is Shelf used", "add tests for Shelf", "run the tests"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for path, text := range c.files {
				path = filepath.Join(dir, filepath.FromSlash(path))
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got := folder.ExampleGoals(dir); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
