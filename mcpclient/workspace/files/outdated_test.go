package files_test

import (
	"fmt"
	"strings"
	"testing"

	"replan/mcpclient/builtin"
	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/workspacetest"
)

// thirtyLines returns the lines 1 to 30 with some of them replaced.
func thirtyLines(replaced map[int]string) string {
	var b strings.Builder
	for i := 1; i <= 30; i++ {
		if text, ok := replaced[i]; ok {
			b.WriteString(text)
			continue
		}
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

func TestApprovedPatchOfChangedFile(t *testing.T) {
	t.Parallel()
	patch := func(line int, text string) args {
		return args{"path": "f", "old": fmt.Sprintf("line %d\n", line), "new": text}
	}
	second := patch(20, "twenty\n")
	for name, c := range map[string]struct {
		run     string // makes the first change; "" means a change outside the operators
		first   int    // the line of the first change
		text    string
		refused string
	}{
		"other lines by the same run":           {"r1", 2, "two\n", ""},
		"moved hunk by the same run":            {"r1", 2, "two\nand more\n", "f was changed by another step of this run since it was approved"},
		"nearby lines by the same run":          {"r1", 18, "eighteen\n", "f was changed by another step of this run since it was approved"},
		"same line by the same run":             {"r1", 20, "other\n", "f changed since it was approved"},
		"other lines by another run":            {"r2", 2, "two\n", "f changed since it was approved"},
		"other lines by the user":               {"", 2, "two\n", "f changed since it was approved"},
		"other lines by the run, then the user": {"r1 and somebody", 2, "two\n", "f changed since it was approved"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, workspace.Config{Backups: t.TempDir()})
			b.Write(t, map[string]string{"f": thirtyLines(nil)})
			shown := b.Ask(t, "fs.patch", second, map[string]any{builtin.MetaPreview: true})
			promised := workspacetest.Into[workspacetest.ChangeResult](t, shown.Data)
			want := map[int]string{c.first: c.text}
			run, more, _ := strings.Cut(c.run, " ")
			if run == "" {
				b.Write(t, map[string]string{"f": thirtyLines(want)})
			} else if got := b.Ask(t, "fs.patch", patch(c.first, c.text), map[string]any{builtin.MetaRun: run}); got.IsError {
				t.Fatal(got.Text)
			}
			if more != "" {
				want[4] = "four\n"
				b.Write(t, map[string]string{"f": thirtyLines(want)})
			}
			got := b.Ask(t, "fs.patch", second, map[string]any{
				builtin.MetaHashes: toAny(promised.Hashes), builtin.MetaDiff: builtin.DiffHash(promised.Diff), builtin.MetaRun: "r1",
			})
			if c.refused == "" {
				want[20] = "twenty\n"
			}
			b.Same(t, map[string]string{"f": thirtyLines(want)})
			if got.IsError != (c.refused != "") || !strings.HasPrefix(got.Text, c.refused) {
				t.Errorf("got %q, want %q", got.Text, c.refused)
			}
			if reason, _ := got.Meta[builtin.MetaOutdated].(string); reason != c.refused {
				t.Errorf("got reason %q in the meta, want %q", reason, c.refused)
			}
		})
	}
}
