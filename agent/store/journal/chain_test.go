package journal_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"replan/agent/event"
	"replan/agent/store/journal"
)

// resealed returns a line of a journal with other text and a right checksum, as a
// program without the key would write it.
func resealed(line []byte, from, to string) []byte {
	cut := bytes.LastIndex(line, []byte(`,"crc":`))
	return []byte(sealed(strings.Replace(string(line[:cut]), from, to, 1) + "}"))
}

func TestForgedLinesAreReadButNotContinued(t *testing.T) {
	from, good := write(t, 5)
	lines := bytes.SplitAfter(bytes.TrimSuffix(good, []byte("\n")), []byte("\n"))
	lines[4] = append(lines[4], '\n')
	changed := func(change func([][]byte) [][]byte) []byte { return bytes.Join(change(slices.Clone(lines)), nil) }
	for name, c := range map[string]struct {
		text []byte
		line int
	}{
		"changed line": {changed(func(l [][]byte) [][]byte {
			l[2] = resealed(l[2], `"run":"r"`, `"run":"s"`)
			return l
		}), 3},
		"changed last line": {changed(func(l [][]byte) [][]byte {
			l[4] = resealed(l[4], `"run":"r"`, `"run":"s"`)
			return l
		}), 5},
		"line taken out":  {changed(func(l [][]byte) [][]byte { return slices.Delete(l, 2, 3) }), 3},
		"first taken out": {changed(func(l [][]byte) [][]byte { return l[1:] }), 1},
		"lines exchanged": {changed(func(l [][]byte) [][]byte { l[1], l[2] = l[2], l[1]; return l }), 2},
		"line twice":      {changed(func(l [][]byte) [][]byte { return slices.Insert(l, 2, l[1]) }), 3},
		"line without code": {changed(func(l [][]byte) [][]byte {
			return append(l, []byte(sealed(`{"v":1,"seq":6,"time":"2026-01-01T00:00:00Z","run":"r","kind":"note","data":{"text":"x"}}`)))
		}), 6},
	} {
		t.Run(name, func(t *testing.T) {
			path := copied(t, from, c.text)
			_, _, err := journal.Open(path)
			var damage journal.DamageError
			if !asDamage(err, &damage) || damage.Line != c.line {
				t.Errorf("Open: %v, want damage at line %d", err, c.line)
			}
			if _, _, err := journal.Read(path); err != nil {
				t.Errorf("Read: %v", err)
			}
		})
	}
}

func TestChainHoldsAcrossBlocks(t *testing.T) {
	t.Parallel()
	path := inTemp(t)
	text := event.Note{Text: "0123456789"}
	var written []event.Event
	for i := range 4000 { // more than one block
		written = append(written, sampleEvent(i+1, text))
	}
	j, err := journal.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Append(written...); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j, got, err := journal.Open(path)
	if err != nil || len(got) != len(written) {
		t.Fatalf("%d events: %v", len(got), err)
	}
	if err := j.Append(sampleEvent(4001, text)); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	for at := range 4000 { // a line missing anywhere, at the start of a block too
		if at%997 > 0 && len(bytes.Join(lines[:at], nil))%(256<<10) > 170 {
			continue
		}
		_, _, err := journal.Open(copied(t, path, bytes.Join(slices.Delete(slices.Clone(lines), at, at+1), nil)))
		var damage journal.DamageError
		if !asDamage(err, &damage) || damage.Line != at+1 {
			t.Fatalf("without line %d: %v", at+1, err)
		}
	}
}

func TestJournalOfAnotherFolderIsNotContinued(t *testing.T) {
	_, good := write(t, 3)
	path, _ := write(t, 3) // its folder has a key of its own
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err := journal.Open(path)
	var damage journal.DamageError
	if !asDamage(err, &damage) || damage.Line != 1 {
		t.Errorf("Open: %v, want damage at line 1", err)
	}
}

func TestJournalsCreatedAtOnceShareOneKey(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		all.Go(func() { store(t, filepath.Join(dir, name+".jsonl"), events(2)) })
	}
	all.Wait()
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		j, _, err := journal.Open(filepath.Join(dir, name+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, ".key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key: %v, %v", info, err)
	}
}

func TestLinesStayJSON(t *testing.T) {
	_, good := write(t, 2)
	for line := range bytes.Lines(good) {
		var fields struct{ MAC, CRC string }
		if err := json.Unmarshal(line, &fields); err != nil || len(fields.MAC) != 32 || len(fields.CRC) != 8 {
			t.Errorf("%s: %v", line, err)
		}
	}
}
