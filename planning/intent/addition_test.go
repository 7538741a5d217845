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
		"Add a function Name to a.go":                                                   {Kind: intent.AddedCode},
		"Add a type annotation to f in beds.py":                                         {},
		"Add a class attribute to Bed":                                                  {},
		"Add function names to the error messages":                                      {},
		"Add test coverage to the CI":                                                   {},
		"Add a struct tag to each field of Item":                                        {},
		"Add enum value Foo to Kind":                                                    {},
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
		"word_count counts too many words. Fix it please.":                      true,
		"test_find fails. Find out why, fix the code and run the tests.":        true,
		`add "retries": 3 to config/dev.json and config/prod.json`:              true,
		"Make Store.Len take the lock, remove its TODO and run the tests.":      true,
		"save the notes with an indent of 2 so the JSON file is easier to read": true,
		"How should I fix a.go?":                            false,
		"I want to know what to use instead of log in a.go": false,
		"Fix a.go but do not touch b.go":                    false,
		"Fix the port in a.json, leave b.json alone":        false,
		"Change the port in a.json, not in b.json":          false,
		"Remove README.md and fix a.go":                     false,
		"Delete the file a.go":                              false,
		"Convert config/dev.json to YAML":                   false,
		"Make a copy of a.go":                               false,
		"Add a.go to git":                                   false,
		"Fix a.go in a new branch":                          false,
		"Fix a.go and start the server":                     false,
		"Set up a linter for a.go":                          false,
		"Create NOTES.md with a list of all functions":      false,
		"Fix the port and commit it":                        false,
		"Rename f to g":                                     false,
		"Add tests for Discount":                            false,
		"What fixes the port?":                              false,
		"Write the names of the files to names.txt":         false,
		"Update the README and move a.go to b.go":           false,
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
		"Fix the port in dev.json and the README":   false,
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
		"Set the version in README.md to the one in notes/__init__.py":                  true,
		"Remove the TODO from notes/__init__.py and README.md":                          false,
		"Use slog instead of log in notes/__init__.py and README.md":                    false,
		"Take the lock in notes/__init__.py and README.md":                              false,
		"Fix the typo in the value in notes/__init__.py and README.md":                  false,
		"Correct the one in notes/__init__.py and those in README.md":                   false,
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
		"Collect the names of all files into files.txt":                                        "files.txt",
		"Write a short NEWS.md":                                 "NEWS.md",
		"Create a file called NEWS.md that says what is new":    "NEWS.md",
		"Add NEWS.md to .gitignore":                             "",
		"Add a link to NEWS.md in README.md":                    "",
		"Add support for .env files":                            "",
		"Write a function that reads data.csv":                  "",
		"Write a script that creates NEWS.md every night":       "",
		"Make the program write its output to out.txt":          "",
		"Write to out.txt instead of stdout":                    "",
		"Save the orders to orders.json when the server stops":  "",
		"Make main.go compile":                                  "",
		"Create a branch for NEWS.md":                           "",
		"Create NEWS.md in docs/":                               "",
		"Create lib.py by moving Bed out of greenhouse/beds.py": "",
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
		"Can you move a.go to the folder lib?":                                "a.go > lib",
		"Move a.go to the config folder":                                      "a.go > config",
		"Move a.go to config":                                                 "a.go > config",
		"Move the contents of a.go to lib/":                                   "",
		"Move line 3 of a.go to the end":                                      "",
		"Move the function in a.go to lib/":                                   "",
		"Move `Make` from a.go to lib/":                                       "",
		"Move everything in a.go except Make to lib/":                         "",
		"Move a.go to lib/ unless the tests fail":                             "",
		"Move config/dev.json to deploy/ but keep a copy":                     "",
		"Move a.go and the other Go files to lib/":                            "",
		"Move a.go up to the top":                                             "",
		"Move a.go to another folder":                                         "",
		"Move a.go to a folder of your choice":                                "",
		"Move a.go to /tmp":                                                   "",
		"Move a.go to ~/backup":                                               "",
		"Move a.go to ../lib":                                                 "",
		"What happens if I move a.go to lib/?":                                "",
		"Should I move a.go to lib/?":                                         "",
		"Explain how to move a.go to lib/":                                    "",
		"Move the function Make from a.go to b.go":                            "",
		"Move a.go to b.go":                                                   "",
		"Move config/dev.json to deploy and fix the paths":                    "",
		"Move config/dev.json":                                                "",
	} {
		moved, folder, ok := intent.MoveWanted(goal, files)
		if got := strings.Join(moved, " ") + " > " + folder; ok != (want != "") || ok && got != want {
			t.Errorf("%s: got %q, %v", goal, got, ok)
		}
	}
}
