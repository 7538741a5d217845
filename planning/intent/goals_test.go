package intent_test

import (
	"testing"

	"replan/planning/intent"
	"replan/planning/plan"
)

func TestWordsSayWhetherAGoalWantsAChange(t *testing.T) {
	for goal, want := range map[string]struct{ change, all bool }{
		"Fix the typo in README.md":                        {true, false},
		"Read slug.go, and rename Make to New":             {true, false},
		"Please add a licence header to both files":        {true, true},
		"Update the version in all files":                  {true, true},
		"Which files use both functions?":                  {false, false},
		"What does the function that can delete files do?": {false, false},
		"Run the tests":                                    {false, false},
		"":                                                 {false, false},
	} {
		if got := intent.WantsChange(goal); got != want.change {
			t.Errorf("%q wants a change: %v", goal, got)
		}
		if got := intent.WantsAll(goal); got != want.all {
			t.Errorf("%q wants it in all files: %v", goal, got)
		}
	}
}

func TestOnlyPlainListsAreWrittenByRule(t *testing.T) {
	for goal, want := range map[string]string{
		"Create NOTES.md with a list of all functions of the package slug": "NOTES.md",
		"Write the names of all exported types to docs/types.txt":          "docs/types.txt",
		"Create NOTES.md with a list of functions that have no test":       "",
		"Create NOTES.md with a list of all functions, sorted by length":   "",
		"Create NOTES.md with a list of all files and fix the typo":        "",
		"Create NOTES.md with a summary of the package slug":               "",
		"List all functions of the package slug":                           "",
		"Create *.md with a list of all functions":                         "",
	} {
		if file, ok := intent.ListFile(goal); ok != (want != "") || ok && file != want {
			t.Errorf("%q: got %q, %v, want %q", goal, file, ok, want)
		}
	}
}

func TestListsAreAnsweredByTheirLook(t *testing.T) {
	step := func(tools ...string) []plan.Step {
		var steps []plan.Step
		for _, tool := range tools {
			steps = append(steps, plan.Step{Executor: plan.ExecutorTool, Tool: tool})
		}
		return steps
	}
	for name, tt := range map[string]struct {
		goal  string
		steps []plan.Step
		want  bool
	}{
		"a list":                        {"List all TODO comments", step("fs.search"), true},
		"a count":                       {"How many TODO comments are there?", step("fs.search"), true},
		"a reason":                      {"Why are there TODO comments?", step("fs.search"), false},
		"a way":                         {"How is TODO handled?", step("fs.search"), false},
		"a text, which has to be read":  {"What does README.md say?", step("fs.read"), false},
		"two lists, which are compared": {"List all TODO and FIXME comments", step("fs.search", "fs.search"), false},
		"a change":                      {"Remove all TODO comments", step("fs.search"), false},
	} {
		t.Run(name, func(t *testing.T) {
			if _, ok := intent.AnsweredByLooks(tt.goal, tt.steps); ok != tt.want {
				t.Errorf("%q is answered by rule: %v", tt.goal, ok)
			}
		})
	}
}

func TestChangesAreAnsweredByRuleUnlessSomethingIsAsked(t *testing.T) {
	for goal, want := range map[string]bool{
		"Create MODULES.md with the names of the modules and what each is for.": true,
		"Fix the port in a.go. What was it before":                              false,
		"Fix the port in a.go and what else is wrong?":                          false,
		"Rename Make to New and run the tests":                                  true,
		"Please fix the typo in README.md":                                      true,
		"Fix the bug and explain it":                                            false,
		"Fix Parse. What was wrong?":                                            false,
		"Find out why the test fails and fix it":                                false,
		"Add a test that says why it matters":                                   false,
		"What does Parse do?":                                                   false,
	} {
		if _, ok := intent.AnsweredByChanges(goal); ok != want {
			t.Errorf("%q is answered by rule: %v", goal, ok)
		}
	}
}
