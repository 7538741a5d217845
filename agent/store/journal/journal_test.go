package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"replan/agent/event"
	"replan/agent/store/journal"
	"replan/internal/untrusted"
)

func events(n int) []event.Event {
	out := make([]event.Event, n)
	for i := range out {
		out[i] = event.Event{
			Seq: uint64(i + 1), Time: time.Unix(int64(i), 0).UTC(), Run: "r",
			Data: event.Note{Level: "info", Text: untrusted.Text(fmt.Sprintf("<b> & \u2028 %d \"crc\":\"00000000\"}", i))},
		}
	}
	return out
}

// write writes a journal of n events and returns its path and bytes.
func write(t *testing.T, n int) (string, []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "runs", "r.jsonl")
	j, err := journal.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events(n) {
		if err := j.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, data
}

func TestReadReturnsWrittenEvents(t *testing.T) {
	path, data := write(t, 4)
	got, torn, err := journal.Read(path)
	if err != nil || torn || len(got) != 4 {
		t.Fatalf("read %d events, torn %v: %v", len(got), torn, err)
	}
	for i, e := range events(4) {
		if got[i] != e {
			t.Errorf("event %d is %v, want %v", i, got[i], e)
		}
	}
	if bytes.Contains(data, []byte(`\u003c`)) {
		t.Error("text is HTML-escaped")
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v: %v", info.Mode(), err)
	}
}

func TestTornEndIsIgnored(t *testing.T) {
	t.Parallel()
	path, data := write(t, 3)
	last := bytes.LastIndexByte(data[:len(data)-1], '\n') + 1
	for cut := last + 1; cut < len(data); cut++ {
		if err := os.WriteFile(path, data[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		got, torn, err := journal.Read(path)
		if err != nil || !torn || len(got) != 2 {
			t.Fatalf("cut at %d of %d: %d events, torn %v, %v", cut, len(data), len(got), torn, err)
		}
	}
}

func TestDamageNamesItsLine(t *testing.T) {
	t.Parallel()
	path, data := write(t, 3)
	second := bytes.IndexByte(data, '\n') + 1
	for at := second; data[at] != '\n'; at++ {
		damaged := bytes.Clone(data)
		damaged[at] ^= 1
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := journal.Read(path)
		var damage *journal.DamageError
		if !errors.As(err, &damage) || damage.Line != 2 {
			t.Fatalf("byte %d flipped: %v", at-second, err)
		}
	}
}

func TestJournalHasOneWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.jsonl")
	j, err := journal.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Create(path); !errors.Is(err, journal.ErrLocked) {
		t.Errorf("second writer: %v, want ErrLocked", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Create(path); !errors.Is(err, os.ErrExist) {
		t.Errorf("existing journal: %v, want ErrExist", err)
	}
}
