package plan_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"replan/internal/untrusted"
	"replan/planning/plan"
)

// worded returns a plan of one step with this title and this expected outcome.
func worded(title, expected string) plan.Plan {
	return plan.Plan{Title: "T", Steps: []plan.Step{{Index: "1", Title: untrusted.Text(title), ExpectedOutcome: untrusted.Text(expected), Executor: plan.ExecutorSelf}}}
}

func TestVagueTitlesGetAWarning(t *testing.T) {
	for _, title := range []string{
		"Fix everything", "Do it", "Do it.", "Handle the rest", "Implement", "Make changes", "Make the necessary changes", "implement the change",
		"Then fix it!", "Do the remaining work", "Finish the task", "Update the code as needed", "Carry out the step", "Everything", "Fix and test it",
	} {
		if got := warned(worded(title, ""), plan.Rules{}); !slices.Equal(got, []string{"vague_step /steps/0/title"}) {
			t.Errorf("title %q: got %q", title, got)
		}
	}
	for _, expected := range []string{
		"success", "Success!", "done", "Done.", "it works", "It works as expected", "ok", "everything is fine", "completed successfully",
		"The step is done", "task completed", "works correctly",
	} {
		if got := warned(worded("a", expected), plan.Rules{}); !slices.Equal(got, []string{"vague_step /steps/0/expected_outcome"}) {
			t.Errorf("outcome %q: got %q", expected, got)
		}
	}
}

func TestSpecificTitlesGetNoWarning(t *testing.T) {
	for _, title := range []string{
		"a", "Read", "Write", "Sum up", "Test", "Run the tests", "Fix slug.Make", "Fix issue 12", "Handle an empty file", "Implement login",
		"Make", "Make all", "Run make", "Make the build", "Change the port to 80", "Update go.mod", "Update the changelog", "Process orders", "Do the math",
		"Execute query 3", "Complete the README", "Commit the changes", "Apply the patch", "Read the rest", "Review the changes", "全部修正", "Fix everything in parse.go",
	} {
		if got := warned(worded(title, ""), plan.Rules{}); len(got) > 0 {
			t.Errorf("title %q: got %q", title, got)
		}
	}
	for _, expected := range []string{
		"", "x", "all pass", "all tests pass", "no errors", "exit code 0", "the file is complete", "every package passes", "the build succeeds", "files and lines",
		"TestMake passes", "done.txt", "the service works on port 80", "200 OK",
	} {
		if got := warned(worded("a", expected), plan.Rules{}); len(got) > 0 {
			t.Errorf("outcome %q: got %q", expected, got)
		}
	}
}

// warned lists the warnings of a plan.
func warned(p plan.Plan, r plan.Rules) []string {
	_, warnings := plan.Validate(p, r)
	return faultsAt(warnings)
}

// written returns a plan of one call with these args.
func written(t *testing.T, tool, args string) plan.Plan {
	t.Helper()
	p := mustPlan(t, `{"title":"T","variables":{"v":1},"steps":[{"title":"a","tool":"`+tool+`","args":`+args+`}]}`)
	return p
}

func TestFileContentsInModelPlanGetWarning(t *testing.T) {
	writer := plan.Rules{CheckTools: true, Planned: true, PartialArgs: true, Catalog: plan.Catalog{
		{Name: "put", Server: "s", InputSchema: json.RawMessage(`{"type":"object"}`)},
		{Name: "look", Server: "s", ReadOnly: true, InputSchema: json.RawMessage(`{"type":"object"}`)},
	}}
	long, lines := `"`+strings.Repeat("é", 401)+`"`, `"a\nb\n\nc\r\nd"`
	for _, tt := range []struct {
		name, tool, args string
		want             []string
	}{
		{"long text", "put", `{"p":"x","text":` + long + `}`, []string{"content_in_args /steps/0/args/text"}},
		{"four lines", "put", `{"text":` + lines + `}`, []string{"content_in_args /steps/0/args/text"}},
		{"nested texts warn once", "put", `{"edits":[{"old":"a","new":` + lines + `},{"new":` + long + `}]}`, []string{"content_in_args /steps/0/args/edits/0/new"}},
		{"three lines", "put", `{"text":"a\n\nb\n\n\nc\n"}`, nil},
		{"400 characters", "put", `{"text":"` + strings.Repeat("é", 400) + `"}`, nil},
		{"read-only tool", "look", `{"query":` + lines + `}`, nil},
		{"references", "put", `{"text":"${v}\n${v}\n${v}\n${v}"}`, nil},
		{"no text", "put", `{"n":[1,2,3,4,5,6],"flag":true}`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := warned(written(t, tt.tool, tt.args), writer); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			file := writer
			file.Planned = false
			if got := warned(written(t, tt.tool, tt.args), file); len(got) > 0 {
				t.Errorf("in a plan file: got %q", got)
			}
		})
	}
}

func TestBuiltInPlansHaveNoWarnings(t *testing.T) {
	for _, plans := range []struct {
		files string
		model bool // check them as plans of a model
		least int
	}{{"../../examples/*.json", false, 6}, {"../../cli/demo/words/*.json", true, 2}} {
		files, err := filepath.Glob(plans.files)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			p, faults := plan.DecodePlan(data)
			if len(faults) > 0 || len(p.Steps) == 0 {
				continue // not a plan
			}
			found++
			rules := plan.Rules{Planned: plans.model}
			for _, s := range p.Steps { // any of them could change something
				if _, err := rules.Catalog.Find(s.Tool); err != nil {
					rules.Catalog = append(rules.Catalog, plan.Tool{Name: s.Tool, Server: "s"})
				}
			}
			if got := slices.DeleteFunc(warned(p, rules), func(s string) bool { return strings.HasPrefix(s, "unchecked_tools") }); len(got) > 0 {
				t.Errorf("%s: %q", file, got)
			}
		}
		if found < plans.least {
			t.Errorf("found only %d plans in %s", found, plans.files)
		}
	}
}
