package worker_test

import (
	"path/filepath"
	"testing"
)

func TestLimitsOfToolsAreSetListedAndRemoved(t *testing.T) {
	t.Parallel()
	here := "sqlite:" + filepath.Join(t.TempDir(), "runs.db")
	h := hosted(t, here, "w1")
	defer func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}()
	const none = "there are no queues yet: the first run makes one\n"
	queues := func(want string, flags ...string) {
		t.Helper()
		if exit, out, said := run(t, "", append([]string{"queues", "--on", here}, flags...)...); exit != 0 || said != "" || out != none+want {
			t.Errorf("queues %q exits with %d and says %q%q, want %q", flags, exit, out, said, none+want)
		}
	}
	const all = "calls of github:*: 0 under way or next, at most 5 at once\n"
	queues("")
	queues(all, "--tool", "github:*", "--at-once", "5")
	queues(all+"calls of github:create_issue: 0 under way or next, at most 2 at once\n", "--tool", "github:create_issue", "--at-once", "2")
	queues(all, "--tool", "github:create_issue", "--at-once", "0")
	queues(all)
}

func TestLimitOfAToolWithWrongFlagsIsRefused(t *testing.T) {
	t.Parallel()
	here := "sqlite:" + filepath.Join(t.TempDir(), "runs.db")
	for _, name := range []string{"", "create_issue", "github:", ":create_issue", "git*:create_issue", "github:create_*"} {
		refused(t, 2, "--tool takes SERVER:TOOL or SERVER:*, not \""+name+`"`, "queues", "--on", here, "--at-once", "2", "--tool", name)
	}
	refused(t, 2, "--tool needs --at-once N", "queues", "--on", here, "--tool", "github:*")
	refused(t, 2, "--rate is about runs: leave it out with --tool", "queues", "--on", here, "--tool", "github:*", "--at-once", "2", "--rate", "1/1h")
	refused(t, 2, "--at-once and --per-worker take a number from 0", "queues", "--on", here, "--tool", "github:*", "--at-once", "-1")
	refused(t, 2, `"extra" is too much: replan-worker queues takes flags only`, "queues", "--on", here, "extra")
	refused(t, 2, `--at-once takes a whole number, not "many"`, "queues", "--on", here, "--at-once", "many")
}
