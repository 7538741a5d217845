package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"replan/agent/event"
)

// lesson is one block of commands in the examples' README and its documented
// output.
type lesson struct {
	line      int    // line of the README where the block begins
	script    string // shell commands
	want      []string
	unordered bool // concurrent branches end in any order
}

// readLessons finds the shell blocks in Markdown, each with the text block that
// follows it.
func readLessons(t *testing.T, markdown string) []lesson {
	t.Helper()
	var lessons []lesson
	var block []string
	fence, begun := "", 0
	for i, line := range strings.Split(markdown, "\n") {
		info, isFence := strings.CutPrefix(line, "```")
		switch {
		case !isFence:
			block = append(block, line)
		case fence == "":
			fence, begun, block = info, i+1, nil
		case fence == "sh":
			lessons = append(lessons, lesson{line: begun, script: strings.Join(block, "\n")})
			fence = ""
		case fence == "text", fence == "text unordered":
			if len(lessons) == 0 || lessons[len(lessons)-1].want != nil {
				t.Fatalf("line %d: this output follows no shell block", begun)
			}
			last := &lessons[len(lessons)-1]
			last.want, last.unordered = block, fence != "text"
			fence = ""
		default:
			t.Fatalf("line %d: blocks of kind %q are not checked", begun, fence)
		}
	}
	if fence != "" {
		t.Fatalf("line %d: the block does not end", begun)
	}
	return lessons
}

// masks replace the parts of a line that vary between runs.
var masks = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`\br-\d{8}-\d{6}-[0-9a-f]+\b`), "RUN"},
	{regexp.MustCompile(`\bthe run [0-9a-f]{6}\b`), "the run ID"},
	{regexp.MustCompile(`\b\d+(\.\d+)?(m\d+)?(\.\d+)?m?s\b`), "TIME"},
	{regexp.MustCompile(`, in /\S.*$`), ", in FOLDER"},
}

func masked(line string) string {
	line = strings.TrimRight(line, " \r")
	for _, m := range masks {
		line = m.pattern.ReplaceAllString(line, m.with)
	}
	return line
}

// elided stands for any number of lines.
const elided = "…"

// mismatch describes how the output differs from the documented one, or returns
// "".
func (l lesson) mismatch(printed string) string {
	var got []string
	for line := range strings.Lines(strings.TrimRight(printed, "\n")) {
		got = append(got, masked(strings.TrimRight(line, "\n")))
	}
	if l.unordered {
		return inAnyOrder(l.want, got)
	}
	return inOrder(l.want, got)
}

func inOrder(want, got []string) string {
	skip := false
	for _, line := range want {
		if line == elided {
			skip = true
			continue
		}
		at := slices.Index(got, masked(line))
		switch {
		case at < 0:
			return "missing after the lines before it: " + line
		case at > 0 && !skip:
			return "not documented: " + got[0]
		}
		got, skip = got[at+1:], false
	}
	if len(got) > 0 && !skip {
		return "not documented: " + got[0]
	}
	return ""
}

func inAnyOrder(want, got []string) string {
	skip := false
	for _, line := range want {
		if line == elided {
			skip = true
			continue
		}
		at := slices.Index(got, masked(line))
		if at < 0 {
			return "missing: " + line
		}
		got = slices.Delete(got, at, at+1)
	}
	if len(got) > 0 && !skip {
		return "not documented: " + got[0]
	}
	return ""
}

// newExamples returns a folder with a copy of the repository's examples, and the
// environment for programs that run there.
func newExamples(t *testing.T) (dir string, environ []string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the commands need a POSIX shell")
	}
	dir = t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "examples"), os.DirFS("../examples")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "examples", "out")); err != nil {
		t.Fatal(err)
	}
	environ = append(os.Environ(),
		"HOME="+t.TempDir(), "TMPDIR="+t.TempDir(), "REPLAN_HOME="+t.TempDir(), "OLLAMA_HOST=127.0.0.1:1", // nothing listens there
		"GOPROXY=off", "GOTOOLCHAIN=local", "GOGC="+lessCollection)
	for name, value := range goEnv() {
		environ = append(environ, name+"="+value)
	}
	return dir, environ
}

// The test runs every command of the README in one shell, as a reader would.
func TestExamplesMatchTheirReadme(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs the go command many times")
	}
	markdown, err := os.ReadFile("../examples/README.md")
	if err != nil {
		t.Fatal(err)
	}
	lessons := readLessons(t, string(markdown))
	dir, environ := newExamples(t)

	// Programs of the repository are already built, or run in the repository.
	replan, err := exec.LookPath("replan")
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	instead := map[string]string{
		"go build -o replan .":      `ln -s "$BUILT_REPLAN" replan`,
		"go run ./examples/planner": `(cd "$REPOSITORY" && go run ./examples/planner)`,
	}
	for line := range instead {
		if !strings.Contains(string(markdown), "\n"+line+"\n") {
			t.Errorf("the README no longer has %q", line)
		}
	}
	const mark = "=== end of a block: "
	var script strings.Builder
	for _, l := range lessons {
		for line := range strings.SplitSeq(l.script, "\n") {
			if other, ok := instead[line]; ok {
				line = other
			}
			script.WriteString(line + "\n")
		}
		script.WriteString(`printf '\n` + mark + `%s\n' $?` + "\n")
	}

	shell := exec.CommandContext(t.Context(), "sh", "-c", script.String())
	shell.Dir = dir
	shell.Env = append(environ, "BUILT_REPLAN="+replan, "REPOSITORY="+root)
	var printed, stderr bytes.Buffer
	shell.Stdout, shell.Stderr = &printed, &stderr
	if err := shell.Run(); err != nil {
		t.Errorf("the shell failed: %v\n%s", err, stderr.String())
	}
	rest := printed.String()
	for _, l := range lessons {
		block, after, ok := strings.Cut(rest, "\n"+mark)
		if !ok {
			t.Fatalf("line %d: the block did not end\n%s", l.line, stderr.String())
		}
		var exit string
		exit, rest, _ = strings.Cut(after, "\n")
		if exit != "0" {
			t.Errorf("line %d: %q: exit code %s\n%s", l.line, l.script, exit, stderr.String())
		}
		if mismatch := l.mismatch(block); mismatch != "" {
			t.Errorf("line %d: %s\n%s\nprinted\n%s", l.line, mismatch, l.script, block)
		}
	}
	// The README shows only the standard output for the invalid plan. This goes to
	// standard error.
	const want = "replan: the plan is not valid: fix the errors above, then check it again (3 errors)\n"
	if stderr.String() != want {
		t.Errorf("got on standard error:\n%swant\n%s", stderr.String(), want)
	}
	for path, text := range files(t, dir) {
		if was, err := os.ReadFile(filepath.Join("..", path)); path != "replan" && (err != nil || string(was) != text) {
			t.Errorf("the examples created or changed %s (%v)", path, err)
		}
	}
}

// files returns the contents of a folder's files by path.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		all[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The README describes the timing: the tests overlap, and a step waits only for
// its dependencies.
func TestExampleBranchesRunConcurrently(t *testing.T) {
	t.Parallel()
	dir, environ := newExamples(t)
	replan, err := exec.LookPath("replan")
	if err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), replan, "plan", "run", "examples/parallel.json", "--output", "json")
	run.Dir, run.Env = dir, environ
	var stderr bytes.Buffer
	run.Stderr = &stderr
	out, err := run.Output()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, stderr.String(), out)
	}
	began, ended := map[string]int{}, map[string]int{}
	var sum, duration int64
	for i, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		var e event.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("line %d is not an event: %v", i+1, err)
		}
		switch d := e.Data.(type) {
		case event.StepStarted:
			began[d.Index] = i
		case event.StepCompleted:
			ended[d.Index], sum = i, sum+d.MS
		case event.RunCompleted:
			duration = d.DurationMS
		}
	}
	for _, test := range []string{"2", "3", "4"} {
		for _, other := range []string{"2", "3", "4"} {
			if began[test] > ended[other] {
				t.Errorf("step %s began after step %s ended", test, other)
			}
		}
		if began["6"] > ended[test] {
			t.Errorf("step 6 waited for step %s", test)
		}
	}
	if duration >= sum {
		t.Errorf("the run took %d ms, want less than the sum of its steps, %d ms", duration, sum)
	}
}
