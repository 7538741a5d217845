package journal_test

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"replan/agent/event"
	"replan/agent/store/journal"
	"replan/internal/testgarbage"
)

// holdVariable names the journal that this test binary holds, like another
// process, until its standard input ends.
const holdVariable = "REPLAN_TEST_HOLD"

func TestMain(m *testing.M) {
	if path := os.Getenv(holdVariable); path != "" {
		os.Exit(holdJournal(path))
	}
	testgarbage.CollectLess()
	goleak.VerifyTestMain(m)
}

func holdJournal(path string) int {
	j, events, err := journal.Open(path)
	if err != nil {
		if errors.Is(err, journal.ErrLocked) {
			fmt.Println("locked")
			return 0
		}
		fmt.Println(err)
		return 1
	}
	fmt.Println("held", len(events))
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := j.Close(); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// sampleEvent returns the n-th event of run r.
func sampleEvent(n int, data event.Data) event.Event {
	return event.Event{Seq: uint64(n), Time: time.Unix(int64(n), 0).UTC(), Run: "r", Data: data}
}

// number returns numbered events with this data.
func number(data ...event.Data) []event.Event {
	out := make([]event.Event, len(data))
	for i, d := range data {
		out[i] = sampleEvent(i+1, d)
	}
	return out
}

// store writes a journal of these events, with one Append each.
func store(t testing.TB, path string, events []event.Event) {
	t.Helper()
	j, err := journal.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if err := j.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// sealed returns a line with its checksum, as the package comment describes it.
func sealed(line string) string {
	sum := crc32.Checksum([]byte(line), crc32.MakeTable(crc32.Castagnoli))
	return fmt.Sprintf(`%s,"crc":"%08x"}`, line[:len(line)-1], sum) + "\n"
}

// inTemp returns a path for a journal in a new folder.
func inTemp(t testing.TB) string { return filepath.Join(t.TempDir(), "r.jsonl") }

// copied writes a journal with this text into a new folder that has the key of
// another journal's folder.
func copied(t testing.TB, from string, text []byte) string {
	t.Helper()
	path := inTemp(t)
	if err := os.Link(filepath.Join(filepath.Dir(from), ".key"), filepath.Join(filepath.Dir(path), ".key")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// asDamage reports whether err is a *journal.DamageError, and copies it.
func asDamage(err error, into *journal.DamageError) bool {
	var damage *journal.DamageError
	if !errors.As(err, &damage) {
		return false
	}
	*into = *damage
	return true
}
