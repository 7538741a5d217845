package intent_test

import (
	"strings"
	"testing"

	"replan/planning/intent"
	"replan/planning/plan"
)

func TestGoalWantsCommentsForEachDeclarationOfAFile(t *testing.T) {
	const functions = "function method constructor"
	for goal, want := range map[string]string{
		"Add a doc comment to every exported function of order/order.go that has none.":    "exported " + functions,
		"Write docstrings for all functions in notes/book.py":                              functions,
		"Please document each method of store.go and run the tests":                        "method constructor",
		"Add the missing doc comments to the types of store.go, then check the tests pass": "type struct interface class enum trait",
		"Document every public class in a.py":                                              "exported class",
		"Comment all exported symbols of store.go":                                         "exported function method constructor type struct interface class enum trait",
		"Add documentation to each function of a.ts":                                       functions,
		"The functions in a.go have no doc comments, please add one to each.":              functions,
		"The exported functions of a.go lack doc comments. Add one to each of them":        "exported " + functions,

		"All functions in a.go have a doc comment, please give each a test":                 "",
		"Add a doc comment to IsEmpty in order/order.go":                                    "",
		"Add a TODO comment to every function of a.go":                                      "",
		"Add a log line to every function of a.go":                                          "",
		"Add a doc comment to every function of a.go and rename Make":                       "",
		"Add a doc comment to every function of a.go except main":                           "",
		"Add a doc comment to the first two functions of all in a.go":                       "",
		"Add doc comments to all functions of a.go and b.go":                                "",
		"Add doc comments to all functions":                                                 "",
		"Remove the doc comment of every function in a.go":                                  "",
		"Comment out all functions in a.py":                                                 "",
		"Comment every function in a.py out":                                                "",
		"Add type hints and docstrings to every function in a.py":                           "",
		"Add logging to every function in a.py and a docstring":                             "",
		"Add a comment to every function of a.go with its complexity":                       "",
		"Explain every function of a.go":                                                    "",
		"Add the comment \"generated\" as documentation to every exported function of a.go": "",
	} {
		form, ok := intent.CommentsWanted(goal)
		got := strings.Join(form.Kinds, " ")
		if form.Exported {
			got = "exported " + got
		}
		if !ok {
			got = ""
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", goal, got, want)
		}
	}
}

func TestDeclarationsOfAFileAreLookedAtForTheirComments(t *testing.T) {
	const read = `fs.read{"path":"order/order.go"}`
	for goal, want := range map[string]string{
		"Add a doc comment to every exported function of order/order.go": read + `; code.symbols{"path":"order/order.go"}`,
		"Fix every exported function of order/order.go":                  read,
	} {
		if got := lookedAt(goal, lookers()); got != want {
			t.Errorf("%s: got %s, want %s", goal, got, want)
		}
	}
}

func TestDeclarationsWithoutCommentsAreFound(t *testing.T) {
	for name, c := range map[string]struct{ goal, result, want string }{
		"exported functions": {"Document every exported function of slug.go", slugSymbols, "Reverse"},
		"all functions":      {"Document every function of slug.go", slugSymbols, "Reverse legacyName TestMake"},
		"types":              {"Document every type of slug.go", slugSymbols, "Slug"},
		"a result that is cut": {
			"Document every function of slug.go", strings.Replace(slugSymbols, `"truncated":false`, `"truncated":true`, 1), "not known",
		},
		"two of a name": {"Document every exported function of slug.go", strings.Replace(slugSymbols, "legacyName", "Reverse", 1), "not known"},
	} {
		t.Run(name, func(t *testing.T) {
			value, err := plan.DecodeValue([]byte(c.result))
			if err != nil {
				t.Fatal(err)
			}
			form, _ := intent.CommentsWanted(c.goal)
			names, ok := intent.Uncommented(plan.HistoryItem{Tool: "code.symbols", Status: plan.ItemCompleted, Result: value}, form)
			got := strings.Join(names, " ")
			if !ok {
				got = "not known"
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
