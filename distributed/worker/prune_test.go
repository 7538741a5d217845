package worker_test

import (
	"path/filepath"
	"strings"
	"testing"

	"replan/agent/remote"
	"replan/distributed/records"
)

func TestPruneSaysWhatItRemoves(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "runs.db")
	h := hosted(t, "sqlite:"+file, "w1")
	defer func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}()
	carryOut(t, "sqlite:"+file, "r-old")
	carryOut(t, "sqlite:"+file, "r-new")
	d, err := records.Open(t.Context(), "sqlite:"+file)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close() //nolint:errcheck // of a test
	for _, run := range []string{"r-old", "r-new"} {
		for ended := false; !ended; { // the end is recorded just before the workflow ends
			if ended, err = d.Sweep(t.Context(), run); err != nil {
				t.Fatal(err)
			}
		}
	}
	execute(t, file, "UPDATE workflow_status SET completed_at = completed_at - 3 * 24 * 3600 * 1000 WHERE workflow_uuid = 'r-old'")
	prune := func(want string, more ...string) {
		t.Helper()
		if exit, out, said := run(t, "", append([]string{"prune", "--on", "sqlite:" + file, "--older-than", "2d"}, more...)...); exit != 0 || said != "" || !strings.HasPrefix(out, want) {
			t.Errorf("prune %q exits with %d and says %q%q", more, exit, out, said)
		}
	}
	prune("would remove 1 run: ", "--dry-run")
	prune("removed 1 run: ")
	prune("removed 0 runs: 0 bytes\n")
	if all := ask(t, "sqlite:"+file, `{"runs":{}}`); len(all[0].Runs) != 1 || all[0].Runs[0].Run != "r-new" {
		t.Errorf("the runs are %+v", all[0].Runs)
	}
	problem(t, ask(t, "sqlite:"+file, `{"follow":{"run":"r-old"}}`), remote.CodeNotFound, "no run r-old")
}

func TestPruneWithoutAnAgeIsRefused(t *testing.T) {
	t.Parallel()
	here := "sqlite:" + filepath.Join(t.TempDir(), "runs.db")
	refused(t, 2, "say how old the runs must be", "prune", "--on", here)
	refused(t, 2, `--older-than takes a time such as 30d, 2w or 12h, not "soon"`, "prune", "--on", here, "--older-than", "soon")
	refused(t, 2, `"extra" is too much: replan-worker prune takes flags only`, "prune", "--on", here, "--older-than", "30d", "extra")
	refused(t, 1, "start a worker on it first", "prune", "--on", here, "--older-than", "30d")
}
