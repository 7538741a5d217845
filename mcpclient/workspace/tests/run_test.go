package tests_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"replan/mcpclient/builtin"
	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/op"
	"replan/mcpclient/workspace/workspacetest"
)

const (
	goodGo   = "package m\n\nfunc Two() int { return 2 }\n"
	goodTest = "package m\n\nimport \"testing\"\n\nfunc TestTwo(t *testing.T) {\n\tif Two() != 2 {\n\t\tt.Error(\"not two\")\n\t}\n}\n"
	redTest  = "package sub\n\nimport \"testing\"\n\nfunc TestRed(t *testing.T) {\n\tt.Run(\"inner\", func(t *testing.T) { t.Errorf(\"want %d\", 3) })\n}\n\nfunc TestGreen(t *testing.T) {}\n"
)

type testResult struct {
	Passed                          bool
	Summary, Command, Output, Spill string
	Failed                          []string
}

func TestGoTestResults(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{Environ: offline()})
	b.Write(t, map[string]string{
		"go.mod": "module example.test/m\n\ngo 1.24\n", "two.go": goodGo, "two_test.go": goodTest,
		"sub/red_test.go": redTest, "bare/bare.go": "package bare\n",
		"exits/e_test.go":  "package exits\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestExit(t *testing.T) { os.Exit(3) }\n",
		"broken/b_test.go": "package broken\n\nvar x int = \"text\"\n",
		"nested/go.mod":    "module example.test/nested\n\ngo 1.24\n", "nested/in/n_test.go": strings.Replace(redTest, "sub", "in", 1),
	})
	for name, c := range map[string]struct {
		args    args
		failed  []string
		summary string
		text    []string
	}{
		"green":                   {args{"path": "."}, nil, "the tests passed: 1 package", nil},
		"green, by file":          {args{"path": "two_test.go"}, nil, "the tests passed: 1 package", nil},
		"green, by import path":   {args{"path": "example.test/m"}, nil, "the tests passed: 1 package", nil},
		"green, by absolute path": {args{"path": b.Dir}, nil, "the tests passed: 1 package", nil},
		"one of several":          {args{"path": "sub", "run": "Green"}, nil, "the tests passed: 1 package", nil},
		"nothing to run":          {args{"path": "bare"}, nil, "there are no tests to run", nil},
		"no match":                {args{"path": ".", "run": "TestThree"}, []string{}, `no test matches "TestThree"`, nil},
		"red":                     {args{"path": "./sub/..."}, []string{"TestRed/inner", "TestRed"}, "2 failed: ", []string{"want 3", "red_test.go:6"}},
		"red in a nested module":  {args{"path": "nested/in"}, []string{"TestRed/inner", "TestRed"}, "2 failed: ", []string{"want 3"}},
		"build failure":           {args{"path": "broken"}, []string{"example.test/m/broken (build failed)"}, "1 failed: example.test/m/broken (build failed)", []string{"b_test.go:3"}},
		"exit without output":     {args{"path": "exits"}, []string{"example.test/m/exits"}, "1 failed: example.test/m/exits", nil},
		"everything": {
			nil,
			[]string{"TestRed/inner", "TestRed", "example.test/m/broken (build failed)", "example.test/m/exits"},
			"4 failed: ",
			[]string{"want 3", "b_test.go:3"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := b.Ask(t, "test.run", c.args, nil)
			res := workspacetest.Into[testResult](t, got.Data)
			if green := c.failed == nil; got.IsError == green || res.Passed != green {
				t.Fatalf("got passed %v, error %v: %s", res.Passed, got.IsError, got.Text)
			}
			if !sameSet(res.Failed, c.failed) || !strings.Contains(res.Summary, c.summary) {
				t.Errorf("got failed %q, summary %q", res.Failed, res.Summary)
			}
			if !strings.HasPrefix(got.Text, res.Summary) {
				t.Errorf("got a text that does not begin with the summary: %q", got.Text)
			}
			for _, part := range c.text {
				if !strings.Contains(got.Text, part) || !strings.Contains(res.Output, part) {
					t.Errorf("no %q in %q", part, got.Text)
				}
			}
			if got.IsError && strings.Contains(got.Text, "ok  \t") {
				t.Errorf("got passing packages in the text: %q", got.Text)
			}
			if !strings.HasPrefix(res.Command, "go test ") {
				t.Errorf("got command %q", res.Command)
			}
		})
	}
}

func sameSet(got, want []string) bool {
	count := map[string]int{}
	for _, s := range got {
		count[s]++
	}
	for _, s := range want {
		count[s]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return len(got) == len(want)
}

func TestFolderWithoutProjectIsReported(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"main.c": ""})
	b.Refused(t, "test.run", nil, "no test project found")
	b.Write(t, map[string]string{"web/package.json": "{}"})
	b.Refused(t, "test.run", nil, "no test project found", "folders below that have some: web")
	b.Refused(t, "test.run", args{"path": "web", "run": "x"}, "npm", "leave run out")
}

// Finding out which runner there is happens without a question.
func TestLookForPytestRunsNoCodeOfTheProject(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3")
	}
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"test_a.py": "import unittest\n", "importlib.py": "open('ran', 'w')\n", "sys.py": "open('ran', 'w')\n"})
	b.Must(t, "test.detect", nil)
	if _, ran := b.Files(t)["ran"]; ran {
		t.Error("a module of the project was imported")
	}
}

func TestAllowNonePassesWithoutTests(t *testing.T) {
	const npmInit = `{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}`
	for name, files := range map[string]map[string]string{
		"no project":                 {"main.c": ""},
		"package.json without tests": {"package.json": "{}"},
		"package.json of npm init":   {"package.json": npmInit},
		"pytest without tests":       {"pyproject.toml": ""},
	} {
		t.Run(name, func(t *testing.T) {
			workspacetest.Fake(t, "python3", "exit 5")
			workspacetest.Fake(t, "npm", "exit 1")
			b := newBench(t, workspace.Config{})
			b.Write(t, files)
			got := b.Must(t, "test.run", args{"allow_none": true})
			res := workspacetest.Into[testResult](t, got.Data)
			if !res.Passed || res.Summary != "there are no tests to run here" || res.Failed == nil || got.Data["failures"] == nil {
				t.Errorf("got %+v", got.Data)
			}
			b.Refused(t, "test.run", nil)
			shown := b.Ask(t, "test.run", args{"allow_none": true}, workspacetest.Preview).Data["command"]
			b.Write(t, map[string]string{"go.mod": "module m\n", "a_test.go": "package m\n"})
			late := b.Ask(t, "test.run", args{"allow_none": true}, map[string]any{builtin.MetaCommand: shown})
			if !late.IsError || !strings.Contains(late.Text, "nothing was started: the command changed") {
				t.Errorf("tests that appeared after the approval: got %s", late.Text)
			}
		})
	}
	t.Run("failing project", func(t *testing.T) {
		workspacetest.Fake(t, "npm", "exit 1")
		b := newBench(t, workspace.Config{})
		b.Write(t, map[string]string{"package.json": `{"scripts": {"test": "jest"}}`})
		b.Refused(t, "test.run", args{"allow_none": true}, "ended with")
	})
	t.Run("path outside the workspace", func(t *testing.T) {
		b := newBench(t, workspace.Config{})
		b.Refused(t, "test.run", args{"allow_none": true, "path": "../x"}, "outside")
	})
}

func TestOtherRunners(t *testing.T) {
	for name, c := range map[string]struct {
		files   map[string]string
		tool    string
		script  string
		args    args
		command string
		gate    string
		failed  []string
	}{
		"cargo": {
			map[string]string{"Cargo.toml": ""},
			"cargo", "echo 'test a::works ... ok'; echo 'test a::breaks ... FAILED'; exit 101",
			args{"run": "a"},
			"cargo test --color=never -- a",
			"cargo test -- a",
			[]string{"a::breaks"},
		},
		"npm": {
			map[string]string{"package.json": "{}"}, "npm", "echo fine", args{"path": "test/a.js"}, "npm test --silent -- test/a.js", "npm test -- test/a.js", nil,
		},
		"pytest": {
			map[string]string{"py/pyproject.toml": "", "py/tests/test_a.py": ""},
			"python3", "pwd; echo 'FAILED tests/test_a.py::test_x - assert 1 == 2'; exit 1",
			args{"path": "py/tests", "run": "x"},
			"python3 -m pytest -q --color=no -k x ./tests",
			"python3 -m pytest -k x ./tests in py",
			[]string{"tests/test_a.py::test_x"},
		},
		"Python without a project file": {
			map[string]string{"tests/test_a.py": "def test_x(): pass\n"},
			"python3", "echo fine",
			args{"path": "tests/test_a.py"},
			"python3 -m pytest -q --color=no ./tests/test_a.py", "python3 -m pytest ./tests/test_a.py", nil,
		},
		"unittest where pytest is missing": {
			map[string]string{"test_a.py": "import unittest\n"}, "python3", withoutPytest, nil, "python3 -m unittest discover", "python3 -m unittest discover", nil,
		},
		"unittest in tox.ini's project": {
			map[string]string{"tox.ini": "", "tests/a_test.py": "import unittest\n"},
			"python3", withoutPytest,
			args{"run": "^test_a$|test_b"},
			"python3 -m unittest discover -s tests -p *_test.py -k test_a -k test_b",
			"python3 -m unittest discover -s tests -p *_test.py -k test_a -k test_b",
			nil,
		},
		"unittest in a package, by file": {
			map[string]string{"tests/__init__.py": "", "tests/test_a.py": "import unittest\n"},
			"python3", withoutPytest,
			args{"path": "tests/test_a.py"},
			"python3 -m unittest tests/test_a.py", "python3 -m unittest tests/test_a.py", nil,
		},
		"unittest where pytest is installed": {
			map[string]string{"test_a.py": "import unittest\n"}, "python3", "echo fine", nil, "python3 -m pytest -q --color=no", "python3 -m pytest", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			workspacetest.Fake(t, c.tool, c.script)
			b := newBench(t, workspace.Config{})
			b.Write(t, c.files)
			if got := previewed(t, b, "test.run", c.args); got != c.gate {
				t.Errorf("its gate shows %q", got)
			}
			got := b.Ask(t, "test.run", c.args, nil)
			res := workspacetest.Into[testResult](t, got.Data)
			if res.Command != c.command || !sameSet(res.Failed, c.failed) || res.Passed != (c.failed == nil) {
				t.Errorf("got %+v", res)
			}
		})
	}
}

// withoutPytest is a python3 that cannot import pytest.
const withoutPytest = `[ "$1" != -c ]`

// previewed returns the command and the folder that a call previews.
func previewed(t *testing.T, b *bench, tool string, call args) string {
	t.Helper()
	shown := workspacetest.Into[op.Preview](t, b.Ask(t, tool, call, workspacetest.Preview).Data)
	if shown.Command == nil {
		return ""
	}
	words := strings.Join(shown.Command.Argv, " ")
	if shown.Command.Dir != "" {
		words += " in " + shown.Command.Dir
	}
	return words
}

func TestPreviewNamesTheCommandOfGoAndStartsNothing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	b := newBench(t, workspace.Config{})
	if got := previewed(t, b, "test.run", args{"allow_none": true}); got != "" {
		t.Errorf("without a project: got %q", got)
	}
	b.Write(t, map[string]string{"go.mod": "module m\n", "slug/slug.go": "package slug\n"})
	for want, call := range map[string]args{"go test ./...": nil, "go test -run=-json ./slug": {"path": "slug", "run": "-json"}} {
		if got := previewed(t, b, "test.run", call); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := previewed(t, b, "test.lint", nil); got != "go vet ./..." {
		t.Errorf("the linter: got %q", got)
	}
}

// TestOnlyTheApprovedCommandStarts: what a project's files say may change between the
// approval of a call and its start.
func TestOnlyTheApprovedCommandStarts(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // whatever starts is not found
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"go.mod": "module m\n", "in/go.mod": "module in\n", "in/a_test.go": "package in\n", "a_test.go": "package m\n"})
	for tool, argv := range map[string][]any{"test.run": {"go", "test", "./..."}, "test.lint": {"go", "vet", "./..."}} {
		for name, c := range map[string]struct {
			command map[string]any
			want    string
		}{
			"same":           {map[string]any{"argv": argv}, "not installed"},
			"other argument": {map[string]any{"argv": append(argv[:2:2], "./in")}, "nothing was started: the command changed since it was approved"},
			"other folder":   {map[string]any{"argv": argv, "dir": "in"}, "nothing was started: the command changed since it was approved"},
			"no command":     {map[string]any{"argv": "go"}, "must be an object of argv and dir"},
		} {
			if got := b.Ask(t, tool, nil, map[string]any{builtin.MetaCommand: c.command}); !got.IsError || !strings.Contains(got.Text, c.want) {
				t.Errorf("%s, %s: got %q, want %q", tool, name, got.Text, c.want)
			}
		}
	}
}

func TestMissingRunnerIsNamed(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{Environ: []string{"PATH=" + t.TempDir()}})
	b.Write(t, map[string]string{"Cargo.toml": ""})
	b.Refused(t, "test.run", nil, "cargo is not installed")
}

func TestRunnersGetNoSecrets(t *testing.T) {
	workspacetest.Fake(t, "cargo", "env")
	b := newBench(t, workspace.Config{Environ: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/home/me", "GOFLAGS=-mod=mod", "GITHUB_TOKEN=hidden", "AWS_SESSION_TOKEN=hidden", "DB_PASSWORD=hidden",
	}})
	b.Write(t, map[string]string{"Cargo.toml": ""})
	out := workspacetest.Into[testResult](t, b.Must(t, "test.run", nil).Data).Output
	for _, want := range []string{"HOME=/home/me\n", "GOFLAGS=-mod=mod\n", "GIT_TERMINAL_PROMPT=0\n", "NO_COLOR=1\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %q", want, out)
		}
	}
	if strings.Contains(out, "hidden") {
		t.Errorf("a secret was passed on: %q", out)
	}
}

func TestLongOutputIsCutAndSpilled(t *testing.T) {
	workspacetest.Fake(t, "cargo", "i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done; echo 'test late ... FAILED'; exit 1")
	spill := filepath.Join(t.TempDir(), "spill")
	b := newBench(t, workspace.Config{MaxOutput: 1000, SpillDir: spill})
	b.Write(t, map[string]string{"Cargo.toml": ""})
	res := workspacetest.Into[testResult](t, b.Ask(t, "test.run", nil, nil).Data)
	if len(res.Output) > 1200 || !strings.HasPrefix(res.Output, "line 0\n") || !strings.HasSuffix(res.Output, "test late ... FAILED\n") || !strings.Contains(res.Output, "[cut: ") {
		t.Errorf("got %d bytes: %q", len(res.Output), res.Output)
	}
	if !reflect.DeepEqual(res.Failed, []string{"late"}) {
		t.Errorf("failures in the omitted part are lost: got %q", res.Failed)
	}
	whole, err := os.ReadFile(res.Spill)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(whole), "\n")
	if len(lines) != 2002 || lines[1234] != "line 1234" || filepath.Dir(res.Spill) != spill {
		t.Errorf("spill file %s: got %d lines", res.Spill, len(lines))
	}
}

func TestSpilledOutputIsKeptForAWeek(t *testing.T) {
	t.Parallel()
	spill := t.TempDir()
	for name, days := range map[string]int{"output-old.txt": 8, "output-new.txt": 6, "notes.txt": 8} {
		at := filepath.Join(spill, name)
		if err := os.WriteFile(at, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		written := time.Now().AddDate(0, 0, -days)
		if err := os.Chtimes(at, written, written); err != nil {
			t.Fatal(err)
		}
	}
	newBench(t, workspace.Config{SpillDir: spill})
	left, err := filepath.Glob(filepath.Join(spill, "*"))
	if err != nil || len(left) != 2 || filepath.Base(left[0]) != "notes.txt" || filepath.Base(left[1]) != "output-new.txt" {
		t.Errorf("got files %q: %v", left, err)
	}
}

func TestShortOutputIsNotSpilled(t *testing.T) {
	workspacetest.Fake(t, "cargo", "echo short")
	spill := filepath.Join(t.TempDir(), "spill")
	b := newBench(t, workspace.Config{SpillDir: spill})
	b.Write(t, map[string]string{"Cargo.toml": ""})
	if res := workspacetest.Into[testResult](t, b.Must(t, "test.run", nil).Data); res.Output != "short\n" || res.Spill != "" {
		t.Errorf("got %+v", res)
	}
	if _, err := os.Stat(spill); err == nil {
		t.Error("the spill folder was created")
	}
}
