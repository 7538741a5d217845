package worker_test

import (
	"path/filepath"
	"testing"

	"replan/distributed/records"
)

func TestPatchIsFoundByTheEndOfItsRun(t *testing.T) {
	t.Parallel()
	here := "sqlite:" + filepath.Join(t.TempDir(), "runs.db")
	h := hosted(t, here, "w1")
	carryOut(t, here, "r-20260101-120000-abc123")
	d, err := records.Open(t.Context(), here)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.SavePatch(t.Context(), "r-20260101-120000-abc123", "+one\n"); err != nil || d.Close() != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"abc123"}, {"r-20260101-120000-abc123"}, nil} {
		if exit, out, said := run(t, "", append([]string{"patch", "--on", here}, args...)...); exit != 0 || out != "+one\n" || said != "" {
			t.Errorf("patch %q exits with %d and says %q%q", args, exit, out, said)
		}
	}
	refused(t, 2, "the database has no run def456", "patch", "--on", here, "def456")
	refused(t, 2, `"def456" is too much: name one run`, "patch", "--on", here, "abc123", "def456")
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}
