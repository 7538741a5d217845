package intent_test

import (
	"strings"
	"testing"

	"replan/planning/intent"
)

func TestOnlySomethingWholeIsAnAddition(t *testing.T) {
	for goal, want := range map[string]intent.Addition{
		"Write a test for `Reverse` in slug/slug_test.go and run it.":                   {Kind: intent.AddedTest},
		"add unit tests for Discount, then run the tests":                               {Kind: intent.AddedTest},
		"Add a test function that calls Make with an empty title":                       {Kind: intent.AddedTest},
		"Add a function count_beds to greenhouse/beds.py that takes a list of beds":     {Kind: intent.AddedCode},
		"please add a method clear to the class Book":                                   {Kind: intent.AddedCode, In: "Book"},
		"implement a helper for dates in util.go":                                       {Kind: intent.AddedCode},
		"The README does not say how to run the tests. Add a short section about it.":   {Kind: intent.AddedText},
		"append a line to .gitignore":                                                   {Kind: intent.AddedText},
		"Add a parameter limit to the function find":                                    {},
		"Add a doc comment to every function of a.go":                                   {},
		"Add retries to config/dev.json":                                                {},
		"Add a check to the method Put":                                                 {},
		"Add a function f to a.go and rename g to h":                                    {},
		"Create a function f and add a test for it":                                     {},
		"What does the function f add to the list?":                                     {},
		"Add a command `count` to the command line. It prints how many notes there are": {},
	} {
		got, ok := intent.AdditionWanted(goal)
		if got != want && ok || ok != (want.Kind != "") {
			t.Errorf("%s: got %+v, %v", goal, got, ok)
		}
	}
}

func TestGoalThatOnlyEditsIsTold(t *testing.T) {
	for goal, want := range map[string]bool{
		"word_count counts too many words. Fix it please.":                           true,
		"test_find fails. Find out why, fix the code and run the tests.":             true,
		`add "retries": 3 to config/dev.json and config/prod.json`:                   true,
		"Make Store.Len take the lock, remove its TODO and run the tests.":           true,
		"save the notes with an indent of 2 so the JSON file is easier to read":      true,
		"Create NOTES.md with a list of all functions":                               false,
		"Fix the port and commit it":                                                 false,
		"Rename f to g":                                                              false,
		"Add tests for Discount":                                                     false,
		"What fixes the port?":                                                       false,
		"Write the names of the files to names.txt":                                  false,
		"Update the README and move a.go to b.go":                                    false,
		"Change the greeting to \"hello\", then make sure that the tests still pass": true,
	} {
		if got := intent.EditsInPlace(goal); got != want {
			t.Errorf("%s: got %v", goal, got)
		}
	}
}

func TestGoalNamesANewFile(t *testing.T) {
	files := []string{"README.md", "config/dev.json"}
	for goal, want := range map[string]bool{
		"Fix the port in dev.json":                  false,
		"Fix the port in ./README.md, please":       false,
		"Put the names into names.txt":              true,
		"Say `see names.txt` in README.md":          false,
		"Lower the limit from 3.5 to 2 in dev.json": false,
	} {
		if got := intent.NamesNew(goal, files); got != want {
			t.Errorf("%s: got %v", goal, got)
		}
	}
}

func TestFilesToTakeSomethingFromAreOnlyRead(t *testing.T) {
	for goal, want := range map[string]bool{
		"Add a description to pyproject.toml, use the docstring of notes/__init__.py.":  true,
		"Set the title in README.md like in notes/__init__.py":                          false,
		"Write the header as in pyproject.toml, taking the text from notes/__init__.py": true,
		"Fix the docstring of notes/__init__.py":                                        false,
		"Update README.md and notes/__init__.py":                                        false,
		"Make README.md like __init__.py":                                               true,
	} {
		if got := intent.OnlyRead(goal, "notes/__init__.py"); got != want {
			t.Errorf("%s: got %v", goal, got)
		}
	}
}

func TestGoalThatOnlyCreatesAFileIsTold(t *testing.T) {
	files := []string{"README.md", "greenhouse/beds.py"}
	for goal, want := range map[string]string{
		"Create MODULES.md with the names of the modules in greenhouse/ and what each is for.": "MODULES.md",
		"Put the names of the imports of greenhouse/beds.py into imports.txt, one per line":    "imports.txt",
		"please make a file prices.csv with the name and the price of each item":               "prices.csv",
		"Create a .gitignore that ignores __pycache__":                                         ".gitignore",
		"Create a .gitignore that ignores __pycache__ and files that end in .log.":             ".gitignore",
		"Create a.txt and b.txt":                                "",
		"Write a test in tests/test_beds.py":                    "",
		"Create NOTES.md and commit it":                         "",
		"Create NOTES.md from README.md, then delete README.md": "",
		"Write a section about beds into README.md":             "",
		"What would you write into NOTES.md?":                   "",
	} {
		if got, ok := intent.CreatedFile(goal, files); got != want && ok || ok != (want != "") {
			t.Errorf("%s: got %q, %v", goal, got, ok)
		}
	}
}

func TestGoalThatOnlyMovesFilesIsTold(t *testing.T) {
	files := []string{"config/dev.json", "config/prod.json", "a.go"}
	for goal, want := range map[string]string{
		"move config/dev.json and config/prod.json to a new folder deploy/":   "config/dev.json config/prod.json > deploy",
		"Please move config/dev.json into ./deploy":                           "config/dev.json > deploy",
		"Move config/dev.json, config/prod.json to deploy/ and run the tests": "config/dev.json config/prod.json > deploy",
		"Move the function Make from a.go to b.go":                            "",
		"Move a.go to b.go": "",
		"Move config/dev.json to deploy and fix the paths": "",
		"Move config/dev.json":                             "",
	} {
		moved, folder, ok := intent.MoveWanted(goal, files)
		if got := strings.Join(moved, " ") + " > " + folder; ok != (want != "") || ok && got != want {
			t.Errorf("%s: got %q, %v", goal, got, ok)
		}
	}
}
