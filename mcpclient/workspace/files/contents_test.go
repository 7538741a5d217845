package files_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"replan/mcpclient/builtin"
	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/op"
	"replan/mcpclient/workspace/workspacetest"
	"replan/planning/plan"
)

// TestEditedFileIsWhatThePatchMakes holds that a patch made from the contents of a
// preview leaves exactly the edited text, and is refused once the file has changed.
func TestEditedFileIsWhatThePatchMakes(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	meta := map[string]any{builtin.MetaPreview: true, builtin.MetaContents: true}
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "\n", "\tc", "-- d\n", "+e\n", "@@ f\n", "g\r\n", "\\ h\n"}), 1, 12).Draw(t, "lines"), "")
	})
	rapid.Check(t, func(rt *rapid.T) {
		before, edited := text.Draw(rt, "before"), text.Draw(rt, "edited")
		b.Write(t, map[string]string{"f.txt": before})
		f := workspacetest.Into[op.Preview](t, b.Ask(t, "fs.write", args{"path": "f.txt", "text": "x\n"}, meta).Data).File
		if f == nil || f.Before != before || f.Path != "f.txt" {
			rt.Fatalf("got %+v, want the text %q before", f, before)
		}
		diff, _, _ := plan.UnifiedDiff("a/f.txt", "b/f.txt", f.Before, edited)
		if diff == "" || strings.Count(before, "\n") == strings.Count(before, "\r\n") {
			return // a file of CRLF alone stays one
		}
		call := args{"diff": diff, "hashes": map[string]any{"f.txt": f.Hash}}
		if got := b.Ask(t, "fs.patch", call, nil); got.IsError {
			rt.Fatalf("from %q to %q: %s", before, edited, got.Text)
		}
		if got := b.Files(t)["f.txt"]; got != edited {
			rt.Fatalf("from %q to %q: the file is %q", before, edited, got)
		}
		if got := b.Ask(t, "fs.patch", call, nil); !got.IsError {
			rt.Fatal("a file that has changed was overwritten")
		}
	})
}
