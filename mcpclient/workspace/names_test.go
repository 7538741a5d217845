package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"replan/mcpclient/workspace"
	"replan/planning/intent"
)

// TestPreparedFactsAreThoseOfASearchOfAllFiles compares prepared operators with new ones, which
// search all files, over a generated workspace that changes between the two.
func TestPreparedFactsAreThoseOfASearchOfAllFiles(t *testing.T) {
	t.Parallel()
	names := []string{"parseAll", "ParseAll", "Bed", "water_bed", "Flood", "TestFloodIsSeen", "test_flood", "go", "maximum"}
	goals := []string{
		"Who calls parseAll and water_bed()?", "why does Flood fail", "Where is the class Bed?", "Explain Bed.Flood and the constant maximum", "What is größe_x()?",
		"What happens if a bed is watered for more than 90 seconds?", "Where is part1/f3.go?", "hello",
	}
	forms := []string{"func %s() {}", "func (b *Bed) %s(n int) int {", "class %s:", "def %s(self):", "let mut %s = 1", "type %s struct{", "// %s is called", "x = %s(90)", "func\t%s", "FUNC %s", "const größe_x, %s = 1, 2", "# a bed is watered: %s"}
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same each time
	text := func() string {
		var b strings.Builder
		for range random.IntN(6) {
			fmt.Fprintf(&b, forms[random.IntN(len(forms))]+"\n", names[random.IntN(len(names))])
		}
		return b.String() + strings.Repeat(" ", random.IntN(3)*4000)
	}
	b := newBench(t, workspace.Config{})
	at := func(path string) string { return filepath.Join(b.Dir, filepath.FromSlash(path)) }
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var paths []string
	files := map[string]string{".gitignore": "gone.go\n", "part1/gone.go": "func parseAll() {}\n", "binary.go": "func parseAll()\x00\n", "sign.go": "func \u212Aparse() {}\nfunc parseAll() {}\n"}
	for i := range 120 {
		path := fmt.Sprintf("part%d/%sf%d.%s", i%7, strings.Repeat("in/", i%3), i, []string{"go", "py", "md", "go.txt"}[i%4])
		paths = append(paths, path)
		files[path] = text()
	}
	b.Write(t, files)
	old := time.Now().Add(-time.Hour)
	for path := range files {
		do(os.Chtimes(at(path), old, old))
	}
	for round := range 6 {
		do(b.Ops.Prepare(t.Context()))
		for range 8 {
			path := paths[random.IntN(len(paths))]
			before, err := os.Stat(at(path))
			if err != nil {
				continue // it was removed
			}
			switch random.IntN(6) {
			case 0: // other text
				do(os.WriteFile(at(path), []byte(text()), 0o600))
			case 1: // as long as before
				long := text() + strings.Repeat(" ", int(before.Size()))
				do(os.WriteFile(at(path), []byte(long[:before.Size()]), 0o600))
			case 2: // at the same time
				do(os.WriteFile(at(path), append([]byte(text()), make([]byte, before.Size()+1)...)[:before.Size()+1], 0o600))
				do(os.Chtimes(at(path), before.ModTime(), before.ModTime()))
			case 3:
				do(os.Rename(at(path), at(paths[random.IntN(len(paths))])))
			case 4:
				do(os.Remove(at(path)))
			case 5:
				b.Write(t, map[string]string{fmt.Sprintf("new%d/%d.go", round, random.IntN(3)): text()})
			}
		}
		whole, err := workspace.New(workspace.Config{Dir: b.Dir})
		do(err)
		found := 0
		for _, goal := range goals {
			got, err := b.Ops.Facts(t.Context(), intent.NewSurvey(goal))
			do(err)
			want, err := whole.Facts(t.Context(), intent.NewSurvey(goal))
			do(err)
			if found += len(want.Declared) + len(want.Tests) + len(want.Related); !reflect.DeepEqual(got, want) {
				t.Errorf("round %d, %q: got\n%+v\nwant\n%+v", round, goal, got, want)
			}
		}
		if do(whole.Close()); found < 20 {
			t.Errorf("in round %d, %d facts are compared", round, found)
		}
	}
}

func TestFactsEndWithTheirContext(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"a.go": "package a\n\nfunc parseAll() {}\n"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, goal := range []string{"Who calls parseAll?", "What happens if a bed is watered for more than 90 seconds?"} {
		if _, err := b.Ops.Facts(ctx, intent.NewSurvey(goal)); !errors.Is(err, context.Canceled) {
			t.Errorf("%q: got error %v", goal, err)
		}
	}
	if err := b.Ops.Prepare(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Prepare: got error %v", err)
	}
	if facts, err := b.Ops.Facts(t.Context(), intent.NewSurvey("Who calls parseAll?")); err != nil || len(facts.Declared) != 1 {
		t.Errorf("got facts %+v, error %v", facts, err)
	}
}

func TestTextsThatChangeBetweenGoalsAreReadAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	const about = "a bed is watered for 90 seconds\n"
	b.Write(t, map[string]string{"a.md": about, "b.md": strings.Repeat("-", len(about)), "c.md": "nothing\n"})
	old := time.Now().Add(-time.Hour)
	for _, path := range []string{"a.md", "b.md", "c.md"} {
		if err := os.Chtimes(filepath.Join(b.Dir, path), old, old); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"a.md", "b.md"} {
		if err := b.Ops.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if want == "b.md" {
				b.Write(t, map[string]string{"a.md": strings.Repeat("-", len(about)), "b.md": about})
			}
			facts, err := b.Ops.Facts(t.Context(), intent.NewSurvey("What happens if a bed is watered for more than 90 seconds?"))
			if err != nil || !slices.Equal(facts.Related, []string{want}) {
				t.Errorf("got %q, want %q; error %v", facts.Related, want, err)
			}
		}
	}
}
