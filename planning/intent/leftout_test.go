package intent_test

import (
	"strings"
	"testing"

	"replan/planning/intent"
	"replan/planning/plan"
)

func TestAnswerOfAllTestsNamesThoseLeftOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ words, files, want string }{
		"Python in a folder":        {"run the tests", "go.mod a_test.go py/pyproject.toml py/tests/test_a.py", "Not run: the Python tests in `py`; `run the tests in py` runs them."},
		"Python beside Go":          {"run the tests", "go.mod a_test.go pyproject.toml tests/test_a.py", "Not run: the Python tests; `pytest` runs them."},
		"Python without a project":  {"run the tests", "go.mod a_test.go tools/test_a.py", "Not run: the Python tests in `tools`, where no file says how they are run."},
		"another module of Go":      {"run the tests", "go.mod a_test.go sub/go.mod sub/b_test.go", "Not run: the Go tests in `sub`; `run the tests in sub` runs them."},
		"Rust and a web client":     {"run the tests", "go.mod Cargo.toml src/lib.rs web/package.json web/a.test.ts", "Not run: the Rust tests (`cargo test` runs them) and the JavaScript tests in `web` (`run the tests in web` runs them)."},
		"one project":               {"run the tests", "go.mod a_test.go sub/b_test.go", ""},
		"no tests in the other":     {"run the tests", "go.mod a_test.go requirements.txt docs/conf.py", ""},
		"modules for tests":         {"run the tests", "go.mod a_test.go testdata/go.mod testdata/b_test.go vendor/x/go.mod vendor/x/b_test.go", ""},
		"packages of one workspace": {"run the tests", "package.json a.test.ts packages/b/package.json packages/b/b.test.ts", ""},
		"a folder is named":         {"run the tests in py", "go.mod a_test.go py/pyproject.toml py/tests/test_a.py", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			survey := intent.NewSurvey(c.words)
			for at := range strings.FieldsSeq(c.files) {
				survey.See(at, false)
			}
			survey.See("py", true)
			chain := survey.Facts(nil).RouteWords(c.words, intent.Policy{})
			answer := intent.Answer(chain.Intent, []plan.HistoryItem{{
				Index: "1", Tool: "test.run", Status: plan.ItemCompleted, Result: map[string]any{"passed": true, "summary": "the tests passed: 2 passed"},
			}}, "")
			head, left, _ := strings.Cut(answer, "\n\n")
			if left != c.want {
				t.Errorf("got %q, want %q", answer, c.want)
			}
			want := map[bool]string{true: "The tests pass: 2 passed", false: "The Go tests pass: 2 passed"}[c.want == ""]
			if name == "another module of Go" {
				want = "The Go tests at the root pass: 2 passed"
			}
			if head != want {
				t.Errorf("the answer begins %q, want %q", head, want)
			}
		})
	}
}
