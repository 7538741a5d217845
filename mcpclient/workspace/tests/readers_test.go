package tests

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// inWork returns a path relative to the workspace /home/me/m.
func inWork(name string) (string, error) {
	rel, err := filepath.Rel("/home/me/m", name)
	if err != nil || !filepath.IsLocal(rel) {
		return "", errors.New("outside")
	}
	return filepath.ToSlash(rel), nil
}

func TestStatusNamesTheOutermostRunningTest(t *testing.T) {
	t.Parallel()
	var got []string
	g := &goEvents{shown: io.Discard, status: func(text string) { got = append(got, text) }, report: &testReport{}, packages: map[string]*goPackage{}}
	for _, test := range []string{"TestA", "TestA/sub", "TestA", "TestB"} {
		g.event([]byte(`{"Action":"run","Package":"p","Test":"` + test + `"}`))
	}
	if want := []string{"running TestA", "running TestB"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func readEvents(shown *strings.Builder, chunks ...string) *testReport {
	report := &testReport{}
	g := &goEvents{shown: shown, status: func(string) {}, report: report, dir: ".", inside: inWork, packages: map[string]*goPackage{}, builds: map[string][]string{}}
	for _, chunk := range chunks {
		_, _ = g.Write([]byte(chunk)) // never fails
	}
	_ = g.Close() // nor does this
	return report
}

func TestEventsOfPackagesMayInterleave(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/runners/go.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	// The events of a package keep their order and follow those of builds.
	queues, order := map[string][]string{}, []string{}
	builds := ""
	for line := range strings.Lines(string(data)) {
		var e goEvent
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if e.Package == "" {
			builds += line
			continue
		}
		if queues[e.Package] == nil {
			order = append(order, e.Package)
		}
		queues[e.Package] = append(queues[e.Package], line)
	}
	var shown strings.Builder
	want := readEvents(&shown, string(data))
	for _, name := range []string{"TestRed/inner", "example.test/m/broken (build failed)", "example.test/m/dep (build failed)", "example.test/m/printy (build failed)", "missing (setup failed)", "TestPanic", "TestHang/in", "example.test/m/exits"} {
		if !slices.Contains(want.failed, name) {
			t.Errorf("%s is not among %q", name, want.failed)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		mixed := builds
		left := map[string][]string{}
		for name, queue := range queues {
			left[name] = queue
		}
		names := slices.Clone(order)
		for len(names) > 0 {
			name := rapid.SampledFrom(names).Draw(t, "package")
			mixed += left[name][0]
			if left[name] = left[name][1:]; len(left[name]) == 0 {
				names = slices.DeleteFunc(names, func(n string) bool { return n == name })
			}
		}
		at := rapid.IntRange(0, len(mixed)).Draw(t, "cut")
		var text strings.Builder
		got := readEvents(&text, mixed[:at], mixed[at:])
		if !sameStrings(got.failed, want.failed) || len(got.failures) != len(want.failures) || got.total != want.total || got.ok != want.ok || got.skipped != want.skipped {
			t.Fatalf("got %+v, want %+v", got, want)
		}
		if len(text.String()) != len(shown.String()) {
			t.Fatalf("got output\n%s\nwant\n%s", text.String(), shown.String())
		}
	})
}

func sameStrings(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

func TestOtherLinesAreShownUnchanged(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.StringMatching(`[^\n{]?[^\n]{0,20}`)).Draw(t, "lines")
		for i, l := range lines {
			var e goEvent
			if json.Unmarshal([]byte(l), &e) == nil && e.Action != "" {
				lines[i] = ""
			}
		}
		text := strings.Join(lines, "\n") + "\n"
		var shown strings.Builder
		if readEvents(&shown, text); shown.String() != text {
			t.Fatalf("got output %q, want %q", shown.String(), text)
		}
	})
}

func TestReadersAcceptAnyOutput(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/runners/*")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	var pieces []string
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		pieces = append(pieces, strings.Split(string(data), "\n")...)
	}
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.OneOf(rapid.SampledFrom(pieces), rapid.String())).Draw(t, "lines")
		report := &textReport{testReport: &testReport{}, dir: ".", inside: inWork, blocks: map[string]*testBlock{}}
		found := &lintLines{dir: ".", relative: inWork}
		for _, l := range lines {
			report.line(l)
			found.line(l)
		}
		report.finish()
		for _, f := range report.failures {
			if strings.HasPrefix(f.File, "..") || filepath.IsAbs(f.File) || f.Line < 0 {
				t.Fatalf("got a failure outside the workspace: %+v", f)
			}
		}
		var shown strings.Builder
		readEvents(&shown, strings.Join(lines, "\n"))
	})
}
