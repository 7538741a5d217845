package undo_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"replan/mcpclient/workspace/change"
	"replan/mcpclient/workspace/tree"
	"replan/mcpclient/workspace/undo"
)

// FuzzManifest checks that an undo with any record of changes writes nothing outside
// the workspace, and nothing inside that the record did not keep.
func FuzzManifest(f *testing.F) {
	const x, y = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881", "a1fce4363854ff888cff4b8e7875d600c2682390412a8cf79b37d0b11148b0fa" // of "x" and "y"
	whole := `{"change":"1","path":"a","before_sha":"` + y + `","after_sha":"` + x + `","mode":"644"}` + "\n"
	for _, text := range []string{
		whole + `{"change":"1","done":true}` + "\n", whole, whole + `{"undone":true}` + "\n{", `{"change":"1","path":"../outside","before_sha":"` + y + `","after_sha":"` + x + "\"}\n",
		`{"change":"1","path":"link/outside","after_sha":"` + x + "\"}\n", `{"change":"1","path":".git/config","before_sha":"../../outside"}` + "\n", "null\n7\n", `{"change":"1","path":"a","before_sha":"folder","after_sha":"` + x + `","mode":"7777777"}` + "\n",
	} {
		f.Add([]byte(text))
	}
	top := f.TempDir()
	outside, dir, runs := filepath.Join(top, "outside"), filepath.Join(top, "in"), filepath.Join(top, "runs")
	put := func(t testing.TB, name, text string) {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		put(t, outside, "x")
		put(t, filepath.Join(dir, "a"), "x")
		if err := os.Symlink("..", filepath.Join(dir, "link")); err != nil {
			t.Skip(err)
		}
		put(t, filepath.Join(runs, "r.undo", "manifest.jsonl"), string(text))
		put(t, filepath.Join(runs, "r.undo", y), "y")
		files, err := tree.Open(dir, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = files.Close() }()
		log, err := undo.New(files, undo.Config{Dir: runs, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		writer := change.NewWriter(files, log, nil, filepath.Join(top, "locks"), slog.New(slog.DiscardHandler), 1000)
		if _, err := log.Undo(t.Context(), writer, false, "r"); err != nil && err.Error() == "" {
			t.Fatal("an error without words")
		}
		if got, err := os.ReadFile(outside); err != nil || string(got) != "x" {
			t.Fatalf("%s: the file outside is %q, %v", text, got, err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, "a")); err == nil && string(got) != "x" && string(got) != "y" {
			t.Fatalf("%s: the file is %q", text, got)
		}
		entries, err := os.ReadDir(top)
		if err != nil || len(entries) > 4 {
			t.Fatalf("%s: the folder above holds %v, %v", text, entries, err)
		}
	})
}
