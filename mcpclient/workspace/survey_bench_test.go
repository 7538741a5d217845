package workspace_test

import (
	"errors"
	"fmt"
	"runtime"
	"testing"

	"replan/mcpclient/workspace"
	"replan/planning/intent"
)

// large is a repository of 50,000 files in 1,000 folders, with an ignored folder of 10,000
// files.
func large(t testing.TB) *bench {
	b := newBench(t, workspace.Config{})
	files := map[string]string{".gitignore": "/build/\n*.o\n", "go.mod": "module example.com/large\n\ngo 1.24\n"}
	for i := range 50_000 - len(files) {
		folder := fmt.Sprintf("part%02d/area%02d", i%1000/40, i%40)
		files[fmt.Sprintf("%s/file%05d.go", folder, i)] = fmt.Sprintf("package area\n\n// Value%05d is one of many.\nfunc Value%05d() int {\n\treturn %d\n}\n", i, i, i)
	}
	for i := range 10_000 {
		files[fmt.Sprintf("build/%02d/out%05d.o", i%100, i)] = "x"
	}
	b.Write(t, files)
	git(t, b.Dir, "init", "-q", "-b", "main")
	git(t, b.Dir, "add", "-A")
	git(t, b.Dir, "-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "-q", "-m", "Start")
	return b
}

func BenchmarkFacts(b *testing.B) {
	bench := large(b)
	for _, prepared := range []bool{false, true} {
		for _, goal := range []string{"How is the port configured?", "Where is file04711.go?", "Who calls the function Value04711?"} {
			b.Run(fmt.Sprintf("prepared=%v/%s", prepared, goal), func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					if prepared {
						if err := bench.Ops.Prepare(b.Context()); err != nil {
							b.Fatal(err)
						}
					}
					b.StartTimer()
					if facts, err := bench.Ops.Facts(b.Context(), intent.NewSurvey(goal)); err != nil || len(facts.Sketch.Files) == 0 {
						b.Fatalf("%+v, %v", facts, err)
					}
				}
			})
		}
	}
}

// BenchmarkPrepare prepares new operators, and those that have prepared before. The memory
// that they then hold, of folders, texts and names, is B/file.
func BenchmarkPrepare(b *testing.B) {
	bench := large(b)
	held := func() float64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	for _, again := range []bool{false, true} {
		b.Run(fmt.Sprintf("again=%v", again), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				before := held()
				ops, err := workspace.New(workspace.Config{Dir: bench.Dir})
				if err == nil && again {
					err = ops.Prepare(b.Context())
				}
				if err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				err = ops.Prepare(b.Context())
				b.StopTimer()
				b.ReportMetric((held()-before)/50_000, "B/file")
				if err := errors.Join(err, ops.Close()); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}
