package tests_test

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"replan/mcpclient/builtin"
	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/workspacetest"
)

type testFailure struct {
	Name, Package, File, Message string
	Line                         int
}

type fullResult struct {
	Passed             bool
	Summary, Output    string
	Total, OK, Skipped int
	Failed             []string
	Failures           []testFailure
}

// recorded returns a script that prints the recorded output of a test runner with
// the current folder in it.
func recorded(t *testing.T, file string, exit int) string {
	t.Helper()
	at, err := filepath.Abs(filepath.Join("testdata", "runners", file))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("sed \"s#WORKSPACE#$PWD#g\" '%s'; exit %d", at, exit)
}

func TestReportsOfRunnersAreParsed(t *testing.T) {
	pytestFile := map[string]string{"pyproject.toml": ""}
	unittestFile := map[string]string{"test_shop.py": "import unittest\n"}
	unittestFailed := []string{"test_bad (import failed)", "test_shop.TestShop.test_err", "test_shop.TestShop.test_add", "test_shop.TestShop.test_sub (i=0)", "test_shop.TestShop.test_sub (i=2)"}
	npmFile := func(script string) map[string]string {
		return map[string]string{"package.json": `{"scripts": {"test": "` + script + `"}}`}
	}
	for name, c := range map[string]struct {
		files   map[string]string
		tool    string
		output  string
		exit    int
		run     string
		counts  [3]int // total, ok, skipped
		failed  []string
		places  map[string]string // part of the message by FILE:LINE
		wantErr string
	}{
		"cargo": {
			map[string]string{"Cargo.toml": ""},
			"cargo", "cargo.txt", 101, "",
			[3]int{4, 1, 1},
			[]string{"tests::result", "tests::breaks"},
			map[string]string{"src/lib.rs:9": "assertion `left == right` failed: why", ":0": `Error: "no"`},
			"2 failed: ",
		},
		"cargo build failure": {
			map[string]string{"Cargo.toml": ""},
			"cargo", "cargo-build.txt", 101, "",
			[3]int{1, 0, 0},
			[]string{"ca (build failed)"},
			map[string]string{"src/lib.rs:12": "expected `i32`, found `&str`"},
			"1 failed: ca (build failed)",
		},
		"cargo without a match": {
			map[string]string{"Cargo.toml": ""}, "cargo", "cargo-none.txt", 0, "zzz", [3]int{}, []string{}, nil, `no test matches "zzz"`,
		},
		"pytest": {
			pytestFile, "python3", "pytest.txt", 1, "",
			[3]int{7, 2, 1},
			[]string{"tests/test_a.py::test_x", "tests/test_a.py::test_p[a b]", "tests/test_a.py::TestC::test_m", "tests/test_a.py::test_fix"},
			map[string]string{"tests/test_a.py:7": "one is\n  not two\nassert 1 == 2", "tests/test_a.py:10": "- c", "tests/test_a.py:3": "ValueError: bad y", "tests/test_a.py:16": "RuntimeError: fixture"},
			"4 failed: ",
		},
		"pytest import error": {
			pytestFile, "python3", "pytest-collect.txt", 2, "",
			[3]int{1, 0, 0},
			[]string{"tests/test_b.py"},
			map[string]string{"tests/test_b.py:1": "No module named 'nosuchmodule'"},
			"1 failed: tests/test_b.py",
		},
		"pytest without a match": {
			pytestFile, "python3", "pytest-none.txt", 5, "zzz", [3]int{}, []string{}, nil, `no test matches "zzz"`,
		},
		"unittest": {
			unittestFile, "python3", "unittest.txt", 1, "",
			[3]int{6, 0, 1},
			unittestFailed,
			map[string]string{"test_shop.py:4": "AssertionError: -1 != 3", "test_shop.py:9": "ValueError: x\ny", "test_bad.py:1": "No module named 'nothere'", "test_shop.py:15": "2 != 1"},
			"5 failed: test_bad (import failed), test_shop.TestShop.test_err, ",
		},
		"unittest before Python 3.11": {
			unittestFile, "python3", "unittest-3.8.txt", 1, "",
			[3]int{6, 0, 1},
			unittestFailed,
			map[string]string{"test_shop.py:4": "AssertionError: -1 != 3", "test_bad.py:1": "No module named 'nothere'"},
			"5 failed: ",
		},
		"jest": {
			npmFile("jest"), "npm", "jest.txt", 1, "",
			[3]int{5, 2, 1},
			[]string{"math › subtracts", "./bad.test.js (test suite failed to run)"},
			map[string]string{"sum.test.js:5": "Received: 2", "bad.test.js:1": "Cannot find module 'nosuch'"},
			"2 failed: ",
		},
		"jest without a match": {
			npmFile("jest"), "npm", "jest-none.txt", 0, "zzz", [3]int{4, 0, 4}, []string{}, nil, `no test matches "zzz"`,
		},
		"vitest": {
			npmFile("vitest run"), "npm", "vitest.txt", 1, "",
			[3]int{3, 1, 0},
			[]string{"bad.test.ts", "sum.test.ts > math > subtracts"},
			map[string]string{"sum.test.ts:5": "expected 2 to be 1", ":0": "No test suite found"},
			"2 failed: ",
		},
		"mocha": {
			npmFile("mocha"), "npm", "mocha.txt", 1, "",
			[3]int{3, 1, 1},
			[]string{"math subtracts"},
			map[string]string{"a.test.js:3": "2 !== 1"},
			"1 failed: math subtracts",
		},
		"node in TAP": {
			npmFile("node --test"), "npm", "node-tap.txt", 1, "",
			[3]int{3, 1, 0},
			[]string{"subtracts", "math"},
			map[string]string{"a.test.js:4": "2 !== 1"},
			"2 failed: ",
		},
		"node": {
			npmFile("node --test"), "npm", "node-spec.txt", 1, "",
			[3]int{3, 1, 0},
			[]string{"subtracts"},
			map[string]string{"a.test.js:4": "2 !== 1"},
			"1 failed: subtracts",
		},
	} {
		t.Run(name, func(t *testing.T) {
			workspacetest.Fake(t, c.tool, recorded(t, c.output, c.exit))
			b := newBench(t, workspace.Config{})
			b.Write(t, c.files)
			var a args
			if c.run != "" {
				a = args{"run": c.run}
			}
			got := b.Ask(t, "test.run", a, nil)
			res := workspacetest.Into[fullResult](t, got.Data)
			if !got.IsError || res.Passed || !reflect.DeepEqual(res.Failed, c.failed) || !strings.Contains(res.Summary, c.wantErr) {
				t.Errorf("got %q, %q", res.Summary, res.Failed)
			}
			if counts := [3]int{res.Total, res.OK, res.Skipped}; counts != c.counts {
				t.Errorf("got counts %v", counts)
			}
			for place, part := range c.places {
				if !hasFailure(res.Failures, place, part) {
					t.Errorf("no failure at %s with %q in %+v", place, part, res.Failures)
				}
			}
		})
	}
}

func hasFailure(all []testFailure, place, part string) bool {
	for _, f := range all {
		if fmt.Sprintf("%s:%d", f.File, f.Line) == place && strings.Contains(f.Message, part) {
			return true
		}
	}
	return false
}

func TestAllowedFailuresAreAnswered(t *testing.T) {
	workspacetest.Fake(t, "cargo", recorded(t, "cargo.txt", 101))
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"Cargo.toml": ""})
	got := workspacetest.Into[fullResult](t, b.Must(t, "test.run", args{"allow_failures": true}).Data)
	if got.Passed || len(got.Failures) != 2 {
		t.Errorf("got %+v", got)
	}
}

func TestMakefileIsTheFallback(t *testing.T) {
	workspacetest.Fake(t, "make", "echo make \"$@\" in $PWD")
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"Makefile": "all:\n\ttrue\n\ntest: all\n\ttrue\n", "sub/x.c": "", "other/Makefile": "TEST := test\ntest := no\n"})
	for _, path := range []string{".", "sub", "other"} {
		if got := b.Must(t, "test.run", args{"path": path}); got.Data["command"] != "make test" || !strings.Contains(got.Text, "make test in "+b.Dir) {
			t.Errorf("%s: %s", path, got.Text)
		}
	}
	b.Refused(t, "test.run", args{"run": "x"}, "make test cannot be narrowed")
	b.Write(t, map[string]string{"package.json": `{"devDependencies": {}}`})
	if got := b.Must(t, "test.run", nil); got.Data["command"] != "make test" {
		t.Errorf("with a package.json without tests: got %s", got.Text)
	}
}

func TestNpmPassesFilterOfItsRunner(t *testing.T) {
	workspacetest.Fake(t, "npm", "echo fine")
	b := newBench(t, workspace.Config{})
	for script, flag := range map[string]string{
		"vitest run": "--testNamePattern=^a b$", "mocha -r ts": "--grep=^a b$", "node --no-warnings --test": "--test-name-pattern=^a b$",
	} {
		b.Write(t, map[string]string{"package.json": `{"scripts": {"test": "` + script + `"}}`})
		if got := b.Ask(t, "test.run", args{"run": "^a b$", "path": "."}, nil); got.Data["command"] != "npm test --silent -- "+flag {
			t.Errorf("%s: %v", script, got.Data["command"])
		}
	}
}

func TestProjectsAreDetected(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{
		"go.mod": "module m\n", "web/package.json": "{}", "web/node_modules/x/package.json": "{}",
		"py/pyproject.toml": "", "rust/Cargo.toml": "", "docs/a.md": "",
	})
	type project struct{ Kind, Dir, Command string }
	type result struct{ Projects []project }
	got := workspacetest.Into[result](t, b.Must(t, "test.detect", nil).Data)
	want := []project{
		{"go", ".", "go test -json -count=1 -timeout=9m0s ./..."},
		{"python", "py", "python3 -m pytest -q --color=no"},
		{"cargo", "rust", "cargo test --color=never"},
		{"npm", "web", "npm test --silent"},
	}
	if !reflect.DeepEqual(got.Projects, want) {
		t.Errorf("got %+v", got)
	}
	if got := workspacetest.Into[result](t, b.Must(t, "test.detect", args{"path": "docs"}).Data); got.Projects == nil || len(got.Projects) != 0 {
		t.Errorf("got %+v", got)
	}
}

// goModule is a module with every kind of failure.
var goModule = map[string]string{
	"go.mod":      "module example.test/m\n\ngo 1.24\n",
	"two.go":      goodGo,
	"two_test.go": "package m\n\nimport \"testing\"\n\nfunc TestTwo(t *testing.T) {\n\tif Two() != 2 {\n\t\tt.Error(\"not two\")\n\t}\n}\n\nfunc TestLater(t *testing.T) { t.Skip(\"not yet\") }\n",
	"sub/red_test.go": "package sub_test\n\nimport (\n\t\"fmt\"\n\t\"testing\"\n)\n\nfunc TestRed(t *testing.T) {\n\tt.Log(\"of the parent\")\n" +
		"\tt.Run(\"inner\", func(t *testing.T) {\n\t\tt.Errorf(\"want %d\\nand more\", 3)\n\t})\n\tt.Run(\"fine\", func(t *testing.T) { fmt.Println(\"noise\") })\n}\n\n" +
		"func TestOpen(t *testing.T) {\n\tfmt.Print(\"no end of line\")\n\tt.Fail()\n}\n\nfunc TestTwo(t *testing.T) {\n\tt.Fatal(\"also here\")\n}\n",
	"deep/down/panic.go":      "package down\n\nfunc Set(m map[string]int) {\n\tm[\"x\"] = 1\n}\n",
	"deep/down/panic_test.go": "package down\n\nimport \"testing\"\n\nfunc TestPanic(t *testing.T) {\n\tt.Log(\"before\")\n\tSet(nil)\n}\n\nfunc TestTwo(t *testing.T) { t.Error(\"never runs\") }\n",
	"broken/b.go":             "package broken\n\nvar X int = \"text\"\n",
	"broken/b_test.go":        "package broken\n",
	"needs/n_test.go":         "package needs\n\nimport (\n\t\"testing\"\n\n\t\"example.test/m/broken\"\n)\n\nfunc TestN(t *testing.T) { _ = broken.X }\n",
	"vet/v_test.go":           "package vet\n\nimport (\n\t\"fmt\"\n\t\"testing\"\n)\n\nfunc TestV(t *testing.T) { fmt.Printf(\"%d\", \"x\") }\n",
	"exits/e_test.go":         "package exits\n\nimport (\n\t\"fmt\"\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestExit(t *testing.T) {\n\tfmt.Println(\"last words\")\n\tos.Exit(3)\n}\n",
}

func TestGoFailuresAreNamedWithTheirPlaces(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{Environ: append(offline(), "GOFLAGS=-mod=mod")}) // with go vet
	files := map[string]string{}
	for name, text := range goModule {
		files["in/"+name] = text // the module is in a subfolder
	}
	b.Write(t, files)
	got := b.Ask(t, "test.run", args{"path": "in"}, nil)
	res := workspacetest.Into[fullResult](t, got.Data)
	if all := workspacetest.Into[fullResult](t, b.Ask(t, "test.run", args{"path": "in/..."}, nil).Data); len(all.Failed) < 8 {
		t.Errorf("with subfolders: got failures %q", all.Failed)
	} else {
		res = all
	}
	for place, want := range map[string]testFailure{
		"in/sub/red_test.go:11":     {Name: "TestRed/inner", Package: "example.test/m/sub", Message: "want 3\n    and more"},
		"in/sub/red_test.go:22":     {Name: "TestTwo", Package: "example.test/m/sub", Message: "also here"},
		"in/deep/down/panic.go:4":   {Name: "TestPanic", Package: "example.test/m/deep/down", Message: "panic: assignment to entry in nil map"},
		"in/broken/b.go:3":          {Name: "example.test/m/broken (build failed)", Package: "example.test/m/broken", Message: "cannot use \"text\""},
		"in/vet/v_test.go:8":        {Name: "example.test/m/vet (build failed)", Package: "example.test/m/vet", Message: "fmt.Printf format %d"},
		":0 example.test/m/exits":   {Name: "example.test/m/exits", Package: "example.test/m/exits", Message: "the package ended while TestExit ran\nlast words"},
		":0 TestOpen":               {Name: "TestOpen", Package: "example.test/m/sub", Message: "no end of line"},
		"in/sub/red_test.go:9":      {Name: "TestRed", Package: "example.test/m/sub", Message: "of the parent"},
		"in/broken/b.go:3 of needs": {Name: "example.test/m/needs (build failed)", Package: "example.test/m/needs", Message: "cannot use \"text\""},
	} {
		place, _, _ = strings.Cut(place, " ")
		found := false
		for _, f := range res.Failures {
			at := fmt.Sprintf("%s:%d", f.File, f.Line)
			found = found || f.Name == want.Name && f.Package == want.Package && at == place && strings.Contains(f.Message, want.Message)
		}
		if !found {
			t.Errorf("no failure %+v at %s in %+v", want, place, res.Failures)
		}
	}
	if res.OK != 2 || res.Skipped != 1 || res.Total != 9 {
		t.Errorf("got %d passed and %d skipped of %d", res.OK, res.Skipped, res.Total)
	}
	for _, part := range []string{"--- FAIL: TestRed", "    --- FAIL: TestRed/inner", "no end of line\n", "last words", "ok  \texample.test/m\t", "FAIL\texample.test/m/broken [build failed]"} {
		if !strings.Contains(res.Output, part) {
			t.Errorf("no %q in\n%s", part, res.Output)
		}
	}
	for _, part := range []string{`"Action"`, "=== RUN   TestRed", "noise", "--- PASS", "--- SKIP"} {
		if strings.Contains(res.Output, part) {
			t.Errorf("got %q in\n%s", part, res.Output)
		}
	}
}

func TestSameNameInTwoPackagesIsTwoFailures(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{Environ: offline()})
	red := func(pkg string) string {
		return "package " + pkg + "\n\nimport \"testing\"\n\nfunc TestSame(t *testing.T) { t.Error(\"red\") }\n"
	}
	b.Write(t, map[string]string{"go.mod": "module m\n", "a/a_test.go": red("a"), "b/b_test.go": red("b")})
	res := workspacetest.Into[fullResult](t, b.Ask(t, "test.run", nil, nil).Data)
	if len(res.Failed) != 2 || res.Failed[0] != "TestSame" || !strings.HasSuffix(res.Failed[1], ".TestSame") || len(res.Failures) != 2 {
		t.Errorf("got %+v", res)
	}
}

func TestGoTestOutputArrivesAsText(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{Environ: offline()})
	b.Write(t, map[string]string{"go.mod": "module m\n", "red_test.go": "package m\n\nimport \"testing\"\n\nfunc TestRed(t *testing.T) { t.Error(\"red\") }\n"})
	notes := make(chan string, 100)
	b.Client.OnNotification(func(n mcp.JSONRPCNotification) {
		status, _ := n.Params.AdditionalFields[builtin.StatusField].(bool)
		if n.Method == "notifications/progress" && !status {
			notes <- n.Params.AdditionalFields["message"].(string)
		}
	})
	got := b.Ask(t, "test.run", nil, map[string]any{"progressToken": "token"})
	want := workspacetest.Into[fullResult](t, got.Data).Output
	sent := ""
	for len(sent) < len(want) {
		sent += <-notes
	}
	if sent != want || !strings.Contains(sent, "--- FAIL: TestRed") || strings.Contains(sent, "Action") {
		t.Errorf("got progress %q, want %q", sent, want)
	}
}

func TestLinterFollowsTheProject(t *testing.T) {
	type result struct {
		Passed           bool
		Summary, Command string
		Findings         []struct {
			File, Message string
			Line          int
		}
	}
	for name, c := range map[string]struct {
		files   map[string]string
		tool    string
		script  string
		args    args
		command string
		passed  bool
		finding string // the first one
		n       int
	}{
		"golangci-lint": {
			map[string]string{".golangci.yml": "", "in/go.mod": "module m\n"},
			"golangci-lint",
			"echo 'a/b.go:3:4: bad thing (linter)'; echo '\tsource'; echo '1 issues:'; exit 1",
			args{"path": "in"},
			"golangci-lint run --color=never .", false, "in/a/b.go:3 bad thing (linter)", 1,
		},
		"eslint": {
			map[string]string{"package.json": `{"scripts": {"lint": "eslint ."}}`},
			"npm", recorded(t, "eslint.txt", 1),
			nil, "npm run lint --silent", false, "lint.js:1 error 'unused' is assigned a value but never used no-unused-vars", 3,
		},
		"ruff": {
			map[string]string{"pyproject.toml": "", "a.py": ""},
			"ruff", "echo \"a.py:1:8: F401 [*] \\`os\\` imported but unused\"; echo 'Found 1 error.'; exit 1",
			args{"path": "a.py"},
			"ruff check --output-format=concise -- ./a.py", false, "a.py:1 F401 [*] `os` imported but unused", 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			workspacetest.Fake(t, c.tool, c.script)
			b := newBench(t, workspace.Config{})
			b.Write(t, c.files)
			got := b.Ask(t, "test.lint", c.args, nil)
			res := workspacetest.Into[result](t, got.Data)
			if got.IsError == c.passed || res.Passed != c.passed || res.Command != c.command || len(res.Findings) != c.n {
				t.Fatalf("got %+v: %s", res, got.Text)
			}
			if f := res.Findings[0]; fmt.Sprintf("%s:%d %s", f.File, f.Line, f.Message) != c.finding {
				t.Errorf("got %+v", f)
			}
			if c.args == nil {
				c.args = args{}
			}
			c.args["allow_failures"] = true
			b.Must(t, "test.lint", c.args)
		})
	}
}

func TestGoVetIsTheDefaultLinter(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{Environ: offline()})
	b.Write(t, map[string]string{"go.mod": "module m\n\ngo 1.24\n", "in/v.go": "package in\n\nimport \"fmt\"\n\nfunc F() { fmt.Printf(\"%d\", \"x\") }\n", "ok/ok.go": "package ok\n"})
	got := b.Ask(t, "test.lint", nil, nil)
	if !got.IsError || !strings.Contains(got.Text, "1 finding of go") || !strings.Contains(fmt.Sprint(got.Data["findings"]), "file:in/v.go line:5") {
		t.Errorf("got %s, %v", got.Text, got.Data)
	}
	if got := b.Must(t, "test.lint", args{"path": "ok"}); !strings.Contains(got.Text, "go found nothing") {
		t.Errorf("got %s", got.Text)
	}
	b.Refused(t, "test.lint", args{"path": "-vettool=x"}, "not an option")
}

func TestMissingLinterIsNamed(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{Environ: []string{"PATH=" + t.TempDir()}})
	b.Refused(t, "test.lint", nil, "no project to lint found")
	b.Write(t, map[string]string{"py/setup.py": "", "web/package.json": "{}", "rust/Cargo.toml": ""})
	b.Refused(t, "test.lint", args{"path": "py"}, "neither ruff nor flake8")
	b.Refused(t, "test.lint", args{"path": "web"}, "no script lint")
	b.Refused(t, "test.lint", args{"path": "rust"}, "clippy is not installed")
}

func TestProcRun(t *testing.T) {
	t.Parallel()
	type result struct {
		Exit            int
		Output, Command string
		TimedOut        bool `json:"timed_out"`
	}
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"in/run.sh": "#!/bin/sh\necho \"$1|$2\"\n"})
	for name, c := range map[string]struct {
		args   args
		output string
	}{
		"arguments":       {args{"argv": []string{"printf", "%s-%s", "a b", "$HOME;*"}}, "a b-$HOME;*"},
		"shell":           {args{"shell": "echo one; echo two | tr t T >&2"}, "one\nTwo\n"},
		"folder":          {args{"argv": []string{"sh", "run.sh", "x", ""}, "dir": "in"}, "x|\n"},
		"empty input":     {args{"argv": []string{"cat"}}, ""},
		"allowed failure": {args{"shell": "echo no; exit 3", "allow_failure": true}, "no\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := workspacetest.Into[result](t, b.Must(t, "proc.run", c.args).Data); got.Output != c.output {
				t.Errorf("got %+v", got)
			}
		})
	}
	got := b.Ask(t, "proc.run", args{"shell": "echo no; exit 3"}, nil)
	if res := workspacetest.Into[result](t, got.Data); !got.IsError || res.Exit != 3 || !strings.Contains(got.Text, "exit status 3") || !strings.Contains(got.Text, "no") {
		t.Errorf("got %+v", got)
	}
	for _, c := range []struct {
		args    args
		wantErr string
	}{
		{args{}, "needs argv"},
		{args{"argv": []string{}}, "needs argv"},
		{args{"argv": []string{""}}, "needs argv"},
		{args{"argv": []string{"a"}, "shell": "b"}, "not both"},
		{args{"argv": []string{"a\x00b"}}, "NUL"},
		{args{"argv": []string{"no-such-program-here"}}, "no-such-program-here is not installed"},
		{args{"shell": "true", "dir": "../"}, "outside the workspace"},
		{args{"shell": "true", "dir": "in/run.sh"}, "is a file"},
		{args{"shell": "true", "timeout": "31m"}, "at most 30m"},
		{args{"shell": "true", "timeout": "soon"}, "like 90s"},
	} {
		b.Refused(t, "proc.run", c.args, c.wantErr)
	}
}
