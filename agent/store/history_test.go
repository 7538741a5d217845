package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"replan/agent/store"
)

func historyLines(t *testing.T, h *store.History) string {
	t.Helper()
	lines, err := h.Lines()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, l := range lines {
		out = append(out, l.Workspace+":"+l.Text)
	}
	return strings.Join(out, " ")
}

func TestHistoryKeepsEachLineOncePerWorkspace(t *testing.T) {
	h := store.OpenHistory(filepath.Join(t.TempDir(), "state", "history.json"))
	for _, l := range []store.HistoryLine{{"a", "one"}, {"a", "two"}, {"b", "one"}, {"a", "one"}, {"a", " \n"}, {"a", strings.Repeat("x", 20_000)}} {
		if err := h.Add(l); err != nil {
			t.Fatal(err)
		}
	}
	if got := historyLines(t, h); got != "a:two b:one a:one" {
		t.Errorf("got the lines %s", got)
	}
}

func TestHistoryFileIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.json")
	if err := store.OpenHistory(path).Add(store.HistoryLine{Text: "secret"}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	h := store.OpenHistory(filepath.Join(t.TempDir(), "history.json"))
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for n := range 130 {
				if err := h.Add(store.HistoryLine{Text: fmt.Sprint(i, n)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if lines, err := h.Lines(); err != nil || len(lines) != 500 {
		t.Errorf("%d lines, %v", len(lines), err)
	}
}

func TestDamagedHistoryIsReportedAndReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.json")
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := store.OpenHistory(path)
	if lines, err := h.Lines(); err == nil || len(lines) != 0 {
		t.Errorf("read %v, %v", lines, err)
	}
	if err := h.Add(store.HistoryLine{Workspace: "a", Text: "one"}); err != nil {
		t.Fatal(err)
	}
	if got := historyLines(t, h); got != "a:one" {
		t.Errorf("got the lines %s", got)
	}
}
