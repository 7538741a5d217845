//go:build linux

package files_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"replan/mcpclient/workspace"
)

func TestFilesOfOddNamesAreListedApartAndNotDenied(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	for _, name := range []string{"caf\xe8", "caf\xe9", "two\nlines"} {
		if err := os.WriteFile(filepath.Join(b.Dir, name), nil, 0o600); err != nil {
			t.Skip("no such names here: ", err)
		}
	}
	var names []string
	for _, e := range b.Must(t, "fs.list", nil).Data["entries"].([]any) {
		names = append(names, e.(map[string]any)["path"].(string))
	}
	if got := fmt.Sprintf("%q", names); got != `["caf\\xe8" "caf\\xe9" "two\nlines"]` {
		t.Errorf("got %s", got)
	}
	b.Refused(t, "fs.read", args{"path": "two\nlines"}, "holds control characters", "rename it first")
}
