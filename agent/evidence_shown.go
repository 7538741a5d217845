package agent

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"replan/internal/lazyregexp"
	"replan/internal/untrusted"
	"replan/planning/expression"
	"replan/planning/intent"
	"replan/planning/plan"
)

// A completed step without checks is shown to have done its work if it ran tests, a linter or a
// build that ended well, or if tests that ran after it cover what it changed.

// allSkipped is why tests show nothing that were all skipped.
const allSkipped untrusted.Text = "all tests were skipped"

// shown returns what is known about a completed step without checks. It reports false if the
// step claims nothing.
func (r *evidence) shown(s stepView, tests []testRun) (plan.Evidence, bool) {
	e := plan.Evidence{Title: s.title(), State: plan.StateClaimed, Saw: []expression.Sight{}, Step: s.index()}
	if !r.claims(s) {
		return e, false
	}
	all := []stepView{s}
	if s.expands() {
		all = slices.DeleteFunc(slices.Clone(s.fanOutState().all()), func(item stepView) bool { return item.status() != StepCompleted })
	}
	for i, one := range all {
		state, why, claims := r.shownBy(one, tests)
		if !claims {
			return e, false
		}
		if i == 0 || state != plan.StateVerified && e.State != plan.StateUnchecked {
			e.State, e.Reason = state, why
		}
	}
	return e, true
}

// shownBy returns how far a completed call is shown to have done its work, and by what. It
// reports false if the call claims nothing: a test run that may end with failures only reports.
func (r *evidence) shownBy(s stepView, tests []testRun) (state plan.EvidenceState, why untrusted.Text, claims bool) {
	tool := r.tools.facts(s.tool()).Tool
	if s.executor() != plan.ExecutorTool || !tool.Trusted {
		return plan.StateClaimed, "", true
	}
	said := members(s.result())
	switch tool.Name {
	case "test.run", "test.lint":
		if passed, _ := said["passed"].(bool); !passed {
			return "", "", false
		}
		if why := nothingRan(tool, s.result()); why != "" {
			return plan.StateUnchecked, why, true
		}
		if tool.Name == "test.run" && number(said["ok"]) == 0 {
			return plan.StateClaimed, "", true // its runner counts no tests
		}
		summary, _ := said["summary"].(string)
		return plan.StateVerified, untrusted.Text(summary), true
	case "proc.run":
		if name := builds(s.startedWith()); name != "" && said["exit"] != nil && number(said["exit"]) == 0 {
			return plan.StateVerified, untrusted.Text(name + " ended well"), true
		}
		return plan.StateClaimed, "", true
	}
	files := changedFiles(s)
	for _, t := range tests {
		if len(files) > 0 && !t.began.Before(s.begun().Add(time.Duration(s.ms())*time.Millisecond)) && t.cover(files) {
			return plan.StateVerified, untrusted.Text(fmt.Sprintf("step %s tested it: %s", t.step, t.summary)), true
		}
	}
	return plan.StateClaimed, "", true
}

// testRun is a step that ran tests, all of them passed.
type testRun struct {
	step    string
	began   time.Time
	folder  string // with the folders below it; "." is the workspace
	command string
	summary string
}

// testRuns returns the steps of the plan, and the items, whose tests passed. A run of tests
// chosen by name is none: others may fail.
func (r *evidence) testRuns() []testRun {
	var out []testRun
	for _, s := range r.board.steps() {
		all := []stepView{s}
		if s.expands() {
			all = s.fanOutState().all()
		}
		for _, one := range all {
			tool := r.tools.facts(one.tool()).Tool
			if one.executor() != plan.ExecutorTool || !runsTests(tool) || one.status() != StepCompleted || one.isDry() {
				continue
			}
			said, args := members(one.result()), one.startedWith()
			passed, _ := said["passed"].(bool)
			if only, _ := args["run"].(string); !passed || number(said["ok"]) == 0 || only != "" {
				continue
			}
			t := testRun{step: one.index(), began: one.begun()}
			t.command, _ = said["command"].(string)
			t.summary, _ = said["summary"].(string)
			folder, _ := args["path"].(string)
			t.folder = path.Clean(strings.TrimSuffix(strings.TrimSuffix(folder, "..."), "/"))
			out = append(out, t)
		}
	}
	return out
}

// sources are the endings of the files that a test runner tests, by a word of its command.
var sources = map[string][]string{
	"go": {".go", "go.mod", "go.sum"}, "cargo": {".rs", "Cargo.toml"},
	"pytest": {".py"}, "python": {".py"}, "python3": {".py"}, "unittest": {".py"},
	"npm": script, "npx": script, "pnpm": script, "yarn": script, "bun": script, "deno": script, "node": script,
}

var script = []string{".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts"}

// cover reports whether the tests cover changes of all these files: they lie in the tested
// folder or below it, and are in the language that the runner tests.
func (t testRun) cover(files []string) bool {
	var tested []string
	for _, word := range strings.Fields(t.command) {
		tested = append(tested, sources[path.Base(word)]...)
	}
	return !slices.ContainsFunc(files, func(file string) bool {
		below := t.folder == "." || strings.HasPrefix(file, t.folder+"/") || file == t.folder
		return !below || !slices.ContainsFunc(tested, func(end string) bool { return strings.HasSuffix(file, end) })
	})
}

// diffFile matches the line of a diff that names a file.
var diffFile = lazyregexp.New(`(?m)^(?:---|\+\+\+) (?:[ab]/)?([^\t\n]+)`)

// changedFiles returns the files that a call of the workspace's own operators has changed, as
// its arguments and the diff of its gate name them, relative to the workspace.
func changedFiles(s stepView) []string {
	var out []string
	add := func(file string) {
		if file = path.Clean(file); file != "/dev/null" && !slices.Contains(out, file) {
			out = append(out, file)
		}
	}
	args := s.startedWith()
	for _, name := range []string{"path", "from", "to"} {
		if file, _ := args[name].(string); file != "" {
			add(file)
		}
	}
	diff, _ := args["diff"].(string)
	for _, found := range diffFile.FindAllStringSubmatch(diff+"\n"+s.diff(), -1) {
		add(found[1])
	}
	return out
}

// buildCommands are the programs that build or check code, with the words after them that do so.
var buildCommands = map[string][]string{
	"go": {"build", "vet"}, "cargo": {"build", "check", "clippy"}, "dotnet": {"build"}, "mvn": {"compile"}, "gradle": {"assemble"},
	"npm": {"run build"}, "pnpm": {"run build", "build"}, "yarn": {"run build", "build"}, "bun": {"run build"}, "make": {"build"}, "tsc": {""},
}

// builds returns the command of a call of a program that builds or checks code: "go build". It
// is "" for other programs.
func builds(args map[string]any) string {
	list, _ := args["argv"].([]any)
	var words []string
	for _, word := range list {
		text, _ := word.(string)
		words = append(words, text)
	}
	if len(words) == 0 {
		return ""
	}
	program, rest := path.Base(words[0]), strings.Join(words[1:], " ")
	for _, word := range buildCommands[program] {
		if word == "" || rest == word || strings.HasPrefix(rest, word+" ") {
			return strings.TrimSpace(program + " " + word)
		}
	}
	return ""
}

// nothingRan returns why a result of test.run shows nothing: no test ran. It is "" if tests ran, or
// if the tool is another.
func nothingRan(t plan.Tool, result any) untrusted.Text {
	said := members(result)
	switch {
	case !runsTests(t):
		return ""
	case intent.Untested(result):
		return plan.NoTests
	case number(said["total"]) > 0 && number(said["skipped"]) == number(said["total"]):
		return allSkipped
	default:
		return ""
	}
}

// members returns the members of a result that is an object; nil of another.
func members(result any) map[string]any {
	m, _ := result.(map[string]any)
	return m
}

// number returns a count of a result, 0 if it is none.
func number(v any) int64 {
	switch v := v.(type) {
	case json.Number:
		n, _ := v.Int64()
		return n
	case int:
		return int64(v)
	case float64:
		return int64(v)
	default:
		return 0
	}
}
