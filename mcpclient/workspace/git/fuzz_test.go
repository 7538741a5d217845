package git

import (
	"path"
	"strings"
	"testing"

	"replan/mcpclient/workspace/tree"
)

// FuzzReaders checks that what git prints, with names that an attacker chose, names
// no more files than it has records, and none outside the workspace.
func FuzzReaders(f *testing.F) {
	for _, text := range []string{
		"# branch.oid 1\x00# branch.head a\x00# branch.ab +1 -2\x001 .M N... 100644 100644 100644 1 2 in/a b\x002 R. N... 1 2 3 4 5 R100 in/b\x00in/a\x00u UU N... 1 2 3 4 5 6 7 in/c\x00? in/\x1b[2J\x00",
		":100644 100644 1 2 M\x00a\x00:1 2 3 4 R100\x00b\x00c\x001\t2\ta\x00-\t-\t\x00b\x00c\x00", "1\x002\x00u\x00?\x00:\x00", "# branch.ab +99999999999999999999 -x\x00",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		records := strings.Count(text, "\x00") + 1
		var status statusResult
		status.read(text, gitRepository{prefix: "in/", tree: &tree.Tree{}})
		var diff diffResult
		diff.read(text)
		if len(status.Files) > records || len(diff.Files) > records {
			t.Fatalf("%q: %d and %d files of %d records", text, len(status.Files), len(diff.Files), records)
		}
		for _, file := range status.Files {
			if strings.HasPrefix(file.Path, "in/") && !strings.Contains(text, "in/in/") || path.IsAbs(file.Path) && !strings.Contains(text, "in//") {
				t.Fatalf("%q: %+v", text, file)
			}
		}
	})
}
