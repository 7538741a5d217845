package undo_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"replan/mcpclient/workspace"
)

// names are the files and folders that random changes choose from.
var names = []string{"a", "b", "a/x", "a/y", "d", "d/e", "d/e/f", "d/e/g"}

// randomChange makes one random call, which may be refused.
func (b *bench) randomChange(t *rapid.T, run string) {
	at := func(label string) string { return rapid.SampledFrom(names).Draw(t, label) }
	text := func(label string) string { return rapid.StringMatching(`(a|b|\n){0,6}`).Draw(t, label) }
	tool := rapid.SampledFrom([]string{"fs.write", "fs.write", "fs.patch", "fs.move", "fs.remove", "fs.mkdir"}).Draw(t, "tool")
	a := args{"path": at("path")}
	switch tool {
	case "fs.write":
		a["text"] = text("text")
	case "fs.patch":
		a["old"], a["new"], a["all"] = "a", text("new")+"b", true
	case "fs.move":
		a = args{"from": at("from"), "to": at("to")}
	case "fs.remove":
		a["recursive"] = rapid.Bool().Draw(t, "recursive")
	}
	b.Ask(t, tool, a, runMeta(run))
}

// furnish creates a random tree.
func (b *bench) furnish(t *rapid.T) {
	entries, err := os.ReadDir(b.Dir)
	if err != nil {
		t.Fatalf("%v", err)
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(b.Dir, e.Name())); err != nil {
			t.Fatalf("%v", err)
		}
	}
	for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom(names), rapid.ID).Draw(t, "files") {
		at := filepath.Join(b.Dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			continue // a file is in the way
		}
		if info, err := os.Stat(at); err == nil && info.IsDir() {
			continue
		}
		text := rapid.StringMatching(`(a|b|\n){0,6}`).Draw(t, "content")
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatalf("%v", err)
		}
		if err := os.Chmod(at, rapid.SampledFrom([]fs.FileMode{0o644, 0o755, 0o600, 0o444}).Draw(t, "mode")); err != nil {
			t.Fatalf("%v", err)
		}
	}
}

func TestUndoRestoresRandomTrees(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	b := newBench(t, workspace.Config{Backups: state})
	number := 0
	rapid.Check(t, func(t *rapid.T) {
		b.furnish(t)
		before := b.wholeTree(t)
		number++
		runs := []string{fmt.Sprintf("r-%d", number), fmt.Sprintf("i-%d", number)}
		for range rapid.IntRange(1, 8).Draw(t, "changes") {
			b.randomChange(t, rapid.SampledFrom(runs).Draw(t, "run"))
		}
		b.undo(t, runs...)
		sameTree(t, b.wholeTree(t), before)
		if u := b.undo(t, runs...); len(u.Files) > 0 {
			t.Fatalf("second undo: got actions %v", actions(u))
		}
	})
}

// The test simulates a crash at any moment of a run's last change: it cuts the list
// of changes there and reverts some of the files.
func TestUndoAfterCrashAtAnyPoint(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	b := newBench(t, workspace.Config{Backups: state})
	number := 0
	rapid.Check(t, func(t *rapid.T) {
		b.furnish(t)
		before := b.wholeTree(t)
		number++
		run := fmt.Sprintf("r-%d", number)
		for range rapid.IntRange(0, 4).Draw(t, "changes before") {
			b.randomChange(t, run)
		}
		list := filepath.Join(state, run+".undo", "manifest.jsonl")
		old, _ := os.ReadFile(list) // may not exist yet
		was := b.wholeTree(t)
		b.randomChange(t, run)
		text, _ := os.ReadFile(list)
		if len(text) == len(old) {
			return // the change was refused
		}
		// The line that completes the change is lost, and so are some of its changes,
		// the last ones first.
		lines := strings.SplitAfter(string(text), "\n")
		noted := strings.Join(lines[:len(lines)-2], "")
		torn := ""
		if rapid.Bool().Draw(t, "torn") {
			torn = lines[len(lines)-2][:rapid.IntRange(0, len(lines[len(lines)-2])-1).Draw(t, "cut")]
		}
		if err := os.WriteFile(list, []byte(noted+torn), 0o600); err != nil {
			t.Fatalf("%v", err)
		}
		made := lines[len(strings.SplitAfter(string(old), "\n"))-1 : len(lines)-2]
		b.unmake(t, made, rapid.IntRange(0, len(made)).Draw(t, "not made"), was)
		b.litter(t, made[len(made)-1])
		b.undo(t, run)
		sameTree(t, b.wholeTree(t), before)
	})
}

// litter leaves the temporary file of an interrupted write.
func (b *bench) litter(t *rapid.T, line string) {
	var l backupLine
	if err := json.Unmarshal([]byte(line), &l); err != nil {
		t.Fatalf("%v", err)
	}
	if l.AfterSHA == "" || l.AfterSHA == "folder" {
		return
	}
	at := filepath.Join(filepath.Dir(filepath.Join(b.Dir, l.Path)), ".replan-ABCDEFGHIJKLMNOPQRSTUVWXYZ.tmp")
	if info, err := os.Stat(filepath.Dir(at)); err != nil || !info.IsDir() {
		return
	}
	if err := os.WriteFile(at, []byte("half"), 0o600); err != nil {
		t.Fatalf("%v", err)
	}
}

// unmake reverts the last n paths in the lines of a change.
func (b *bench) unmake(t *rapid.T, lines []string, n int, was map[string]string) {
	for i := range n {
		var l backupLine
		if err := json.Unmarshal([]byte(lines[len(lines)-1-i]), &l); err != nil {
			t.Fatalf("%v", err)
		}
		if l.Path == "" {
			continue
		}
		at := filepath.Join(b.Dir, l.Path)
		if err := os.RemoveAll(at); err != nil {
			t.Fatalf("%v", err)
		}
		entry, there := was[l.Path]
		if !there {
			continue
		}
		mode, content, file := strings.Cut(entry, " ")
		err := os.MkdirAll(at, 0o755)
		if file {
			if err = os.Remove(at); err == nil {
				err = os.WriteFile(at, []byte(content), 0o600)
			}
		}
		if err != nil {
			t.Fatalf("%v", err)
		}
		var perm fs.FileMode
		for _, r := range mode[1:] {
			perm <<= 1
			if r != '-' {
				perm |= 1
			}
		}
		if err := os.Chmod(at, perm); err != nil {
			t.Fatalf("%v", err)
		}
	}
}

func TestInterruptedUndoIsCompletedByTheNext(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{Backups: t.TempDir()})
	number := 0
	rapid.Check(t, func(t *rapid.T) {
		b.furnish(t)
		before := b.wholeTree(t)
		number++
		run := fmt.Sprintf("r-%d", number)
		for range rapid.IntRange(1, 5).Draw(t, "changes") {
			b.randomChange(t, run)
		}
		after := b.wholeTree(t)
		// Some files are already restored, as after an interrupted undo.
		for _, name := range names {
			mode, _, file := strings.Cut(before[name], " ")
			_, now, stays := strings.Cut(after[name], " ")
			if file && stays && mode[0] == '-' && rapid.Bool().Draw(t, "back") {
				_, content, _ := strings.Cut(before[name], " ")
				if err := os.WriteFile(filepath.Join(b.Dir, name), []byte(content), 0o600); err != nil {
					t.Fatalf("%v %s", err, now)
				}
			}
		}
		b.undo(t, run)
		got := b.wholeTree(t)
		for name, want := range before {
			_, content, _ := strings.Cut(want, " ")
			if _, now, _ := strings.Cut(got[name], " "); now != content {
				t.Fatalf("%s is %q, was %q", name, got[name], want)
			}
		}
	})
}
