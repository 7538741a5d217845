package intent_test

import (
	"strings"
	"testing"

	"replan/planning/intent"
	"replan/planning/plan"
)

func TestFilesWithOrWithoutAKeyAreFoundByRule(t *testing.T) {
	files := map[string]any{
		"d/1.json": map[string]any{"id": 1, "name": "tea", "at": map[string]any{"shelf": 2}},
		"d/2.json": map[string]any{"name": "jam", "at": map[string]any{}},
		"d/3.json": []any{map[string]any{"name": "a"}, map[string]any{"name": "b"}},
		"d/4.json": []any{map[string]any{"id": 1}, map[string]any{"name": "b"}},
		"d/5.json": map[string]any{"item": map[string]any{"id": 5}},
		"d/6.yaml": "id: 6\nname: six\n",
		"d/7.yml":  "name: seven\n",
		"d/8.toml": "[id]\nnumber = 8\n",
		"d/9.csv":  "id,name\n",
		"e/1.json": map[string]any{"id": 1},
	}
	const question = "Which JSON files in d/ have no id field?"
	for name, tc := range map[string]struct{ goal, order, want string }{ // want is "no rule" where the model answers
		"without a field":              {question, "d/1.json d/2.json d/3.json", "d/2.json d/3.json"},
		"with a field":                 {"Which files in d/ have an id field?", "d/1.json d/2.json d/6.yaml d/7.yml d/8.toml", "d/1.json d/6.yaml d/8.toml"},
		"missing":                      {"List the YAML files in the d folder that are missing the id key", "d/6.yaml d/7.yml", "d/7.yml"},
		"lack":                         {"What JSON files of d/ lack the key `id`?", "d/1.json d/2.json", "d/2.json"},
		"do not have":                  {"List all files in d/ that don't have an id property.", "d/1.json d/2.json", "d/2.json"},
		"without":                      {"Show me the files in d/ without an id field", "d/1.json d/2.json", "d/2.json"},
		"contain":                      {"List the names of the JSON files in d/ that contain a name field", "d/1.json d/2.json d/3.json", "d/1.json d/2.json d/3.json"},
		"a key of an object":           {"Which files in d/ have the at.shelf key?", "d/1.json d/2.json", "d/1.json"},
		"none":                         {"Which files in d/ have no name field?", "d/1.json d/2.json", ""},
		"only some elements have it":   {question, "d/1.json d/4.json", "no rule"},
		"an object inside has it":      {question, "d/1.json d/5.json", "no rule"},
		"a file that is no data":       {question, "d/1.json d/9.csv", "no rule"},
		"files of two folders":         {question, "d/1.json e/1.json", "no rule"},
		"a second condition":           {"Which JSON files in d/ have no id field and a price over 3?", "d/1.json d/2.json", "no rule"},
		"another order":                {"Which JSON files in d/ have no id field, sorted by price?", "d/1.json d/2.json", "no rule"},
		"a condition on values":        {"Which JSON files in d/ have an id field of 3?", "d/1.json d/2.json", "no rule"},
		"a word that a file has":       {"Which JSON files in d/ have no id?", "d/1.json d/2.json", "d/2.json"},
		"a word that no file has":      {"Which JSON files in d/ contain errors?", "d/1.json d/2.json", "no rule"},
		"no name of a key":             {"Which JSON files in d/ have a duplicate key?", "d/1.json d/2.json", "no rule"},
		"another question":             {"What do the files in d/ contain?", "d/1.json d/2.json", "no rule"},
		"a change":                     {"Add an id to the JSON files in d/ that have no id field", "d/1.json d/2.json", "no rule"},
		"a list in a file is the same": {"Write report.txt with the names of the JSON files in d/ that have no id field, one a line.", "d/1.json d/2.json", "d/2.json"},
	} {
		t.Run(name, func(t *testing.T) {
			found, ok := intent.Filtered(tc.goal, reads(files, strings.Fields(tc.order)...))
			got := strings.Join(found, " ")
			if !ok {
				got = "no rule"
			}
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
	answer, ok := intent.AnswerFiltered(question, reads(files, "d/1.json", "d/2.json"))
	if want := "1 file of 2 files has no `id`:\n\n- `d/2.json`"; !ok || answer != want {
		t.Errorf("answered %t:\n%s\nwant\n%s", ok, answer, want)
	}
	if answer, _ = intent.AnswerFiltered("Which files in d/ have no name field?", reads(files, "d/1.json", "d/2.json")); answer != "None of 2 files have no `name`." {
		t.Errorf("answered %s", answer)
	}
}

func TestGoalNamesTheFileForTheNamesOfFiles(t *testing.T) {
	for goal, want := range map[string]string{
		"Write report.txt with the names of the JSON files in data/ that have no id field, one a line.": "report.txt",
		"Create LIST.md with the paths of all files in data/ that have an id key":                       "", // no list is mentioned
		"Create LIST.md with a list of all files in data/ that have an id key":                          "LIST.md",
		"Save the names of the YAML files in conf/ without a port key into ports.txt":                   "ports.txt",
		"write a list of the json files in data that have an id to ids.txt":                             "ids.txt",
		"Write a list of the files in data that have an error in them to a.txt":                         "",
		"Write report.txt with the names and prices of the JSON files in data/ that have no id field":   "",
		"Delete the files in data/ that have no id field":                                               "",
	} {
		if file, ok := intent.FilterFile(goal); ok != (want != "") || ok && file != want {
			t.Errorf("%s: got %q, want %q", goal, file, want)
		}
	}
}

func TestFilesThatDeclareAKindOfSymbolAreFound(t *testing.T) {
	listed := func(total int) []plan.HistoryItem {
		return []plan.HistoryItem{{Index: "1", Tool: "code.symbols", Args: map[string]any{"path": "notes"}, Status: plan.ItemCompleted, Result: map[string]any{
			"path": "notes", "total": total, "symbols": []any{
				map[string]any{"name": "load", "kind": "function", "path": "notes/book.py"},
				map[string]any{"name": "Book", "kind": "class", "path": "notes/book.py"},
				map[string]any{"name": "main", "kind": "function", "path": "notes/cli.py"},
			},
		}}}
	}
	files := []string{"README.md", "notes/__init__.py", "notes/book.py", "notes/cli.py", "notes/page.html", "tests/test_book.py"}
	for goal, want := range map[string]string{
		"Write a.txt with the names of the Python files in notes/ that define no function, one a line": "notes/__init__.py",
		"Which Python files in notes declare a class?":                                                 "notes/book.py",
		"Write the files in notes without functions to a.txt":                                          "notes/__init__.py",
		"List the files in notes that are long":                                                        "-",
		"Which files in notes have functions longer than 20 lines?":                                    "-",
		"Which files in notes have functions without a comment?":                                       "-",
		"Which files in notes declare a class named Book?":                                             "-",
		"Which files in notes have classes or constants?":                                              "-",
	} {
		found, ok := intent.FilesDeclaring(goal, files, listed(3))
		if got := strings.Join(found, " "); ok != (want != "-") || ok && got != want {
			t.Errorf("%s: %q, %t", goal, got, ok)
		}
	}
	if _, ok := intent.FilesDeclaring("Which files in notes define no function?", append(files, "notes/more/a.py"), listed(3)); ok {
		t.Error("files of a folder inside are left out")
	}
	if _, ok := intent.FilesDeclaring("Which files in notes define no function?", files, listed(9)); ok {
		t.Error("a list that is cut says which files define no function")
	}
}
