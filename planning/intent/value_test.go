package intent_test

import (
	"slices"
	"testing"

	"replan/planning/intent"
)

func TestValueWantedReadsGoalsThatChangeOneValue(t *testing.T) {
	t.Parallel()
	for goal, want := range map[string]intent.ValueChange{
		"Set MAX_BEDS to 20 in greenhouse/beds.py.":                                    {Name: "MAX_BEDS", To: "20", In: []string{"greenhouse/beds.py"}},
		"Change keep_days from 14 to 30 in both files in config/.":                     {Name: "keep_days", From: "14", To: "30"},
		"Change the timeout from 30 to 60 in both files in config/ and in the README.": {Name: "timeout", From: "30", To: "60", In: []string{"README"}},
		"Set the version in notes/__init__.py to the one in pyproject.toml.":           {Name: "version", In: []string{"notes/__init__.py"}, Of: "pyproject.toml"},
		"please raise the retry limit to 5 in config/app.json and run the tests":       {Name: "retry limit", To: "5", In: []string{"config/app.json"}},
		"Set MaxOrders to 500.": {Name: "MaxOrders", To: "500"},
		"Change the default port from 8080 to 9090 in cmd/shop/main.go and in the README.": {Name: "default port", From: "8080", To: "9090", In: []string{"cmd/shop/main.go", "README"}},
		"bump the version to 1.2.0, then check that the tests pass":                        {Name: "version", To: "1.2.0"},
	} {
		got, ok := intent.ValueWanted(goal)
		if !ok || got.Name != want.Name || got.From != want.From || got.To != want.To || got.Of != want.Of || !slices.Equal(got.In, want.In) {
			t.Errorf("%s: %+v, %t", goal, got, ok)
		}
	}
}

func TestValueWantedLeavesOtherGoalsToTheModel(t *testing.T) {
	t.Parallel()
	for _, goal := range []string{
		"Change the function Total to skip items without a price", "Set up a linter to run on every commit", "Rename IsEmpty to Empty",
		"Change the timeout from 30 to 60 and explain why it was 30", "Update the README to describe the new flag and its default",
		"Set MAX_BEDS to 20 and delete legacy_label", "Which port is it set to?", "Change all tabs to spaces", "Switch the class Store to pointers in store.go and fix its callers",
	} {
		if got, ok := intent.ValueWanted(goal); ok {
			t.Errorf("%s: %+v", goal, got)
		}
	}
}

func TestValueIsChangedInPlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		change   intent.ValueChange
		text     string
		old, new string // "" means that the place is not clear
	}{
		{"a number in JSON", intent.ValueChange{Name: "keep_days", From: "14", To: "30"}, "{\n  \"keep_days\": 14,\n  \"interval\": 14\n}\n", `  "keep_days": 14,`, `  "keep_days": 30,`},
		{"a constant of Python", intent.ValueChange{Name: "MAX_BEDS", To: "20"}, "MAX_BEDS = 12\n\nclass Bed:\n", "MAX_BEDS = 12", "MAX_BEDS = 20"},
		{"a constant of Go", intent.ValueChange{Name: "MaxOrders", To: "500"}, "// MaxOrders is it.\nconst MaxOrders = 1000\n", "const MaxOrders = 1000", "const MaxOrders = 500"},
		{"the words of a name", intent.ValueChange{Name: "default port", From: "8080", To: "9090"}, "const defaultPort = \"8080\"\n", `const defaultPort = "8080"`, `const defaultPort = "9090"`},
		{"a version in quotes", intent.ValueChange{Name: "version", To: "0.3.1"}, "__version__ = \"0.3.0\"\n", `__version__ = "0.3.0"`, `__version__ = "0.3.1"`},
		{"a value of YAML", intent.ValueChange{Name: "timeout", To: "60"}, "server:\n  timeout: 30 # seconds\n", "  timeout: 30 # seconds", "  timeout: 60 # seconds"},
		{"a variable with a type", intent.ValueChange{Name: "limit", To: "9"}, "let limit: number = 5;\n", "let limit: number = 5;", "let limit: number = 9;"},
		{"prose that holds the old value once", intent.ValueChange{Name: "timeout", From: "30", To: "60"}, "# shop\n\n- Requests time out after 30 seconds.\n", "- Requests time out after 30 seconds.", "- Requests time out after 60 seconds."},
		{"prose that holds the old value twice", intent.ValueChange{Name: "timeout", From: "30", To: "60"}, "30 tries of 30 seconds\n", "", ""},
		{"prose without an old value", intent.ValueChange{Name: "timeout", To: "60"}, "- Requests time out after 30 seconds.\n", "", ""},
		{"two places", intent.ValueChange{Name: "port", To: "1"}, "a:\n  port: 2\nb:\n  port: 3\n", "", ""},
		{"a value that is there already", intent.ValueChange{Name: "port", To: "1"}, "port: 1\n", "", ""},
		{"a part of a longer number", intent.ValueChange{Name: "port", From: "80", To: "90"}, "listens on 8080\n", "", ""},
		{"the same line twice", intent.ValueChange{Name: "port", From: "80", To: "90"}, "port: 80\nport: 80\n", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			old, new, ok := c.change.Patch(c.text)
			if ok != (c.old != "") || ok && (old != c.old || new != c.new) {
				t.Errorf("got %q → %q, %t", old, new, ok)
			}
		})
	}
}
