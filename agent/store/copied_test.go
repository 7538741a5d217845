package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"replan/agent/event"
)

func TestCopiedJournalIsNotResumed(t *testing.T) {
	s := newStore(t)
	j, err := s.CreateJournal("run", "r-20261129-000000-aaaaaa")
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Append(event.Event{Seq: 1, Time: time.Now().UTC(), Run: "r-20261129-000000-aaaaaa", Data: event.RunStarted{}}); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(s.Runs.Dir, "*aaaaaa.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("found %v: %v", files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(strings.ReplaceAll(files[0], "aaaaaa", "bbbbbb"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.ReopenRun("r-20261129-000000-bbbbbb"); err == nil || !strings.Contains(err.Error(), "is a copy of that of r-20261129-000000-aaaaaa") {
		t.Errorf("the copy is opened: %v", err)
	}
	if j, _, err := s.ReopenRun("r-20261129-000000-aaaaaa"); err != nil {
		t.Error(err)
	} else if err := j.Close(); err != nil {
		t.Error(err)
	}
}
