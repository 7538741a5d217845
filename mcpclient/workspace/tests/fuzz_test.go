package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzReaders checks that no output of a runner or a linter makes its reader panic,
// names a file outside the workspace, or counts fewer tests than failures.
func FuzzReaders(f *testing.F) {
	files, err := filepath.Glob("testdata/runners/*")
	if err != nil || len(files) == 0 {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data[:min(len(data), 2000)]))
	}
	f.Add(`{"Action":"run","Package":"p","Test":"T"}` + "\n" + `{"Action":"output","Package":"p","Test":"T","Output":"    ../../etc/a_test.go:9: \u001b[2J\n"}` + "\n" + `{"Action":"fail","Package":"p","Test":"T"}`)
	f.Add("/etc/passwd:1:2: x\n..\\..\\a.go:99999999999999999999: y\n")
	f.Fuzz(func(t *testing.T, output string) {
		report := &textReport{testReport: &testReport{}, dir: ".", inside: inWork, blocks: map[string]*testBlock{}}
		found := &lintLines{dir: ".", relative: inWork}
		for line := range strings.SplitSeq(output, "\n") {
			report.line(line)
			found.line(line)
		}
		report.finish()
		var shown strings.Builder
		half := len(output) / 2
		events := readEvents(&shown, output[:half], output[half:])
		for _, r := range []*testReport{report.testReport, events} {
			for _, failure := range r.failures {
				if failure.File != "" && !filepath.IsLocal(failure.File) || failure.Line < 0 {
					t.Fatalf("%q has a failure outside the workspace: %+v", output, failure)
				}
			}
		}
	})
}
