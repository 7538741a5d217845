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

// lesson is what one block of lines of the examples' README runs, and what it is
// said to print.
type lesson struct {
	line      int    // of the README, where the block begins
	script    string // for a shell
	said      []string
	unordered bool // branches that run at once end in any order
}

// readLessons finds the blocks for a shell in Markdown, each with the block of
// text that follows it.
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
			if len(lessons) == 0 || lessons[len(lessons)-1].said != nil {
				t.Fatalf("line %d: this is the output of nothing", begun)
			}
			last := &lessons[len(lessons)-1]
			last.said, last.unordered = block, fence != "text"
			fence = ""
		default:
			t.Fatalf("line %d: nobody holds a block of %q against what happens", begun, fence)
		}
	}
	if fence != "" {
		t.Fatalf("line %d: the block does not end", begun)
	}
	return lessons
}

// masks take out of a line what differs from run to run.
var masks = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`\br-\d{8}-\d{6}-[0-9a-f]+\b`), "RUN"},
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

// elided is the line that stands for any number of lines.
const elided = "…"

// differs says how what was printed is not what was said, "" where it is.
func (l lesson) differs(printed string) string {
	var came []string
	for line := range strings.Lines(strings.TrimRight(printed, "\n")) {
		came = append(came, masked(strings.TrimRight(line, "\n")))
	}
	if l.unordered {
		return inAnyOrder(l.said, came)
	}
	return inOrder(l.said, came)
}

func inOrder(said, came []string) string {
	leaveOut := false
	for _, line := range said {
		if line == elided {
			leaveOut = true
			continue
		}
		at := slices.Index(came, masked(line))
		switch {
		case at < 0:
			return "nowhere from there on: " + line
		case at > 0 && !leaveOut:
			return "not said: " + came[0]
		}
		came, leaveOut = came[at+1:], false
	}
	if len(came) > 0 && !leaveOut {
		return "not said: " + came[0]
	}
	return ""
}

func inAnyOrder(said, came []string) string {
	leaveOut := false
	for _, line := range said {
		if line == elided {
			leaveOut = true
			continue
		}
		at := slices.Index(came, masked(line))
		if at < 0 {
			return "nowhere: " + line
		}
		came = slices.Delete(came, at, at+1)
	}
	if len(came) > 0 && !leaveOut {
		return "not said: " + came[0]
	}
	return ""
}

// newExamples returns a folder with the examples as they are in the repository,
// and what programs that run there find in their environment.
func newExamples(t *testing.T) (dir string, environ []string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the lines are for a POSIX shell")
	}
	dir = t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "examples"), os.DirFS("../examples")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "examples", "out")); err != nil {
		t.Fatal(err)
	}
	environ = append(os.Environ(),
		"HOME="+t.TempDir(), "TMPDIR="+t.TempDir(), "REPLAN_HOME="+t.TempDir(), "OLLAMA_HOST=127.0.0.1:1", // nobody answers there
		"GOPROXY=off", "GOTOOLCHAIN=local", "GOFLAGS=")
	for name, value := range goEnv() {
		environ = append(environ, name+"="+value)
	}
	return dir, environ
}

// TestTheExamplesDoWhatTheirReadmeSays runs every line of it in one shell, as a
// reader does.
func TestTheExamplesDoWhatTheirReadmeSays(t *testing.T) {
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

	// What is built from the repository is at hand already, or is run there.
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
			t.Errorf("the README does not say %q any more", line)
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
	var printed, complaints bytes.Buffer
	shell.Stdout, shell.Stderr = &printed, &complaints
	if err := shell.Run(); err != nil {
		t.Errorf("the lines end with %v\n%s", err, complaints.String())
	}
	rest := printed.String()
	for _, l := range lessons {
		block, after, ok := strings.Cut(rest, "\n"+mark)
		if !ok {
			t.Fatalf("line %d: its block did not end\n%s", l.line, complaints.String())
		}
		var exit string
		exit, rest, _ = strings.Cut(after, "\n")
		if exit != "0" {
			t.Errorf("line %d: %q ends with exit code %s\n%s", l.line, l.script, exit, complaints.String())
		}
		if differs := l.differs(block); differs != "" {
			t.Errorf("line %d: %s\n%s\nprinted\n%s", l.line, differs, l.script, block)
		}
	}
	// The README shows what it prints of the plan that is not valid, and this is
	// beside it on standard error.
	const said = "replan: the plan cannot be run as it is: mend what is listed, then check it again (3 faults)\n"
	if complaints.String() != said {
		t.Errorf("it complained:\n%swant\n%s", complaints.String(), said)
	}
	for path, text := range files(t, dir) {
		if was, err := os.ReadFile(filepath.Join("..", path)); path != "replan" && (err != nil || string(was) != text) {
			t.Errorf("the examples make %s anew, or another (%v)", path, err)
		}
	}
}

// files returns what is in a folder, by path.
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

// TestBranchesOfTheExampleRunAtOnce holds what the README says of the times in
// words: the tests overlap, and a step waits for what it depends on alone.
func TestBranchesOfTheExampleRunAtOnce(t *testing.T) {
	t.Parallel()
	dir, environ := newExamples(t)
	replan, err := exec.LookPath("replan")
	if err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), replan, "plan", "run", "examples/parallel.json", "--output", "json")
	run.Dir, run.Env = dir, environ
	var complaints bytes.Buffer
	run.Stderr = &complaints
	out, err := run.Output()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, complaints.String(), out)
	}
	began, ended := map[string]int{}, map[string]int{}
	var sum, took int64
	for i, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		var e event.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("line %d is no event: %v", i+1, err)
		}
		switch d := e.Data.(type) {
		case event.StepStarted:
			began[d.Index] = i
		case event.StepCompleted:
			ended[d.Index], sum = i, sum+d.MS
		case event.RunCompleted:
			took = d.DurationMS
		}
	}
	for _, test := range []string{"2", "3", "4"} {
		for _, other := range []string{"2", "3", "4"} {
			if began[test] > ended[other] {
				t.Errorf("step %s began when step %s had ended", test, other)
			}
		}
		if began["6"] > ended[test] {
			t.Errorf("step 6 waited for step %s", test)
		}
	}
	if took >= sum {
		t.Errorf("the run took %d ms, and its steps together %d ms", took, sum)
	}
}
