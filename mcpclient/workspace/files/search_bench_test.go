package files_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"replan/mcpclient/workspace"
)

// bigModule names a folder with many files to search, such as a module of more
// than 50,000 lines.
const bigModule = "WORKSPACE_BENCH_DIR"

func benchDir(tb testing.TB) string {
	dir := os.Getenv(bigModule)
	if dir == "" {
		tb.Skip("set " + bigModule + " to a folder with many files")
	}
	return dir
}

// benchQueries are queries, the same ones for grep, and how many times as long as
// grep a search may take: an expression without literal text takes the time of the
// regular expression engine.
var benchQueries = []struct {
	name string
	args args
	grep []string
	most float64
}{
	{"rare word", args{"query": "goroutine"}, []string{"-F", "goroutine"}, 2},
	{"common word", args{"query": "context"}, []string{"-F", "context"}, 2},
	{"whole word", args{"query": `\bpos\b`, "regex": true}, []string{"-E", `\bpos\b`}, 2},
	{"expression", args{"query": `^func \([a-z]+ \*?[A-Z]\w*\) String`, "regex": true}, []string{"-E", `^func \([a-z]+ \*?[A-Z]\w*\) String`}, 2},
	{"several words", args{"query": `TODO|FIXME|XXX`, "regex": true}, []string{"-E", `TODO|FIXME|XXX`}, 2},
	{"word in any case", args{"query": "deprecated", "ignore_case": true}, []string{"-i", "-F", "deprecated"}, 2},
	{"no match", args{"query": "no such text at all"}, []string{"-F", "no such text at all"}, 2},
	{"expression without words", args{"query": `[a-z]+[0-9]{4,}x`, "regex": true}, []string{"-E", `[a-z]+[0-9]{4,}x`}, 5},
}

func BenchmarkSearch(b *testing.B) {
	dir := benchDir(b)
	for _, q := range benchQueries {
		b.Run(q.name, func(b *testing.B) {
			w := newBench(b, workspace.Config{Dir: dir})
			for b.Loop() {
				w.Must(b, "fs.search", q.args)
			}
		})
	}
}

func TestSearchIsNotMuchSlowerThanGrep(t *testing.T) {
	t.Parallel()
	dir := benchDir(t)
	grep, err := exec.LookPath("grep")
	if err != nil {
		t.Skip("grep is not installed")
	}
	w := newBench(t, workspace.Config{Dir: dir})
	const rounds = 21
	for _, q := range benchQueries {
		t.Run(q.name, func(t *testing.T) {
			var ours, theirs []time.Duration
			for range rounds {
				begin := time.Now()
				w.Must(t, "fs.search", q.args)
				ours = append(ours, time.Since(begin))
				cmd := exec.Command(grep, append([]string{"-rn", "-I", "--exclude-dir=.git"}, append(q.grep, ".")...)...)
				cmd.Dir = filepath.Clean(dir)
				begin = time.Now()
				_, _ = cmd.Output() // grep fails if it finds nothing
				theirs = append(theirs, time.Since(begin))
			}
			slices.Sort(ours)
			slices.Sort(theirs)
			a, b := ours[rounds/2], theirs[rounds/2]
			t.Logf("fs.search %v, grep -r %v: %.2f times", a, b, float64(a)/float64(b))
			if float64(a) > q.most*float64(b) {
				t.Errorf("fs.search took more than %.0f times as long as grep", q.most)
			}
		})
	}
}
