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
		"Change the default port from 8080 to 9090 in cmd/shop/main.go and in the README.":                          {Name: "default port", From: "8080", To: "9090", In: []string{"cmd/shop/main.go", "README"}},
		"The default port should be 9090 instead of 8080. Update cmd/shop/main.go, config/dev.json and the README.": {Name: "default port", From: "8080", To: "9090", In: []string{"cmd/shop/main.go", "config/dev.json", "README"}},
		"Use 60 instead of 30 as the timeout in config/app.json":                                                    {Name: "timeout", From: "30", To: "60", In: []string{"config/app.json"}},
		"The timeout in config/dev.json and config/prod.json should be 60, not 30":                                  {Name: "timeout", From: "30", To: "60", In: []string{"config/dev.json", "config/prod.json"}},
		"copy the version from pyproject.toml into notes/__init__.py":                                               {Name: "version", In: []string{"notes/__init__.py"}, Of: "pyproject.toml"},
		"make the version in notes/__init__.py equal to the one in pyproject.toml":                                  {Name: "version", In: []string{"notes/__init__.py"}, Of: "pyproject.toml"},
		"The timeout must be 60 instead of 30":                                                                      {Name: "timeout", From: "30", To: "60"},
		"bump the version to 1.2.0, then check that the tests pass":                                                 {Name: "version", To: "1.2.0"},
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
		"Change the timeout to 30 in a.json and b.json but not in c.json", "Change the timeout to 30 in all files in config/ except a.json",
		"Change retries from 3 to 5 in config.py and update the tests", "Set port to 80 in a.json and run the tests, then commit",
		"Set port to 80 in a.json and run the migration and the tests", "Reduce the number of beds to 3 in config.json", "Change README.md to markdown",
		"Set MAX_BEDS to 20 and delete legacy_label", "The error should be returned instead of logged. Update store.go", "Use slog instead of log for the messages in main.go and fix the tests",
		"Change title to heading in a.yaml", "Change print to println in a.go", "Change the port to 90?", "The result should be 5, not 4. Update a.go",
		"The total of add(2, 2) should be 4 instead of 5. Update a.go",
		"Which port is it set to?", "Change all tabs to spaces", "Switch the class Store to pointers in store.go and fix its callers",
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
		{"the last word of a name", intent.ValueChange{Name: "default port", From: "8080", To: "9090"}, "{\n  \"port\": 8080,\n  \"timeout\": 30\n}\n", `  "port": 8080,`, `  "port": 9090,`},
		{"a longer name with the old value", intent.ValueChange{Name: "port", From: "8080", To: "9090"}, "// defaultPort is used if SHOP_PORT is not set.\nconst defaultPort = \"8080\"\n\nfunc port() string {\n", `const defaultPort = "8080"`, `const defaultPort = "9090"`},
		{"none if a longer name has the word by chance", intent.ValueChange{Name: "port", From: "80", To: "90"}, "report_count = 80\n", "", ""},
		{"none for the maximum of what stands there", intent.ValueChange{Name: "maximum port", To: "5"}, "port: 2\n", "", ""},
		{"none for the port of something else", intent.ValueChange{Name: "port of the client", To: "5"}, "  \"port\": 80,\n", "", ""},
		{"a name without an empty word", intent.ValueChange{Name: "default port", To: "5"}, "port: 2\n", "port: 2", "port: 5"},
		{"a line of code about the name", intent.ValueChange{Name: "port", From: "80", To: "90"}, "listen(\"port\", 80)\n", `listen("port", 80)`, `listen("port", 90)`},
		{"none in a line of code about something else", intent.ValueChange{Name: "port", From: "80", To: "90"}, "width = min(x, 80)\n", "", ""},
		{"none if two longer names have the old value", intent.ValueChange{Name: "port", From: "8080", To: "9090"}, "httpPort = 8080\ngrpcPort = 8080\n", "", ""},
		{"the first word of a name", intent.ValueChange{Name: "log level", To: "warn"}, "{\n  \"log\": \"debug\",\n  \"port\": 80\n}\n", `  "log": "debug",`, `  "log": "warn",`},
		{"none if the first and the last word of a name are both there", intent.ValueChange{Name: "log level", To: "warn"}, "{\n  \"log\": \"a\",\n  \"level\": \"b\"\n}\n", "", ""},
		{"a version in quotes", intent.ValueChange{Name: "version", To: "0.3.1"}, "__version__ = \"0.3.0\"\n", `__version__ = "0.3.0"`, `__version__ = "0.3.1"`},
		{"a value of YAML", intent.ValueChange{Name: "timeout", To: "60"}, "server:\n  timeout: 30 # seconds\n", "  timeout: 30 # seconds", "  timeout: 60 # seconds"},
		{"a variable with a type", intent.ValueChange{Name: "limit", To: "9"}, "let limit: number = 5;\n", "let limit: number = 5;", "let limit: number = 9;"},
		{"prose that holds the old value once", intent.ValueChange{Name: "timeout", From: "30", To: "60"}, "# shop\n\n- Requests time out after 30 seconds.\n", "- Requests time out after 30 seconds.", "- Requests time out after 60 seconds."},
		{"prose that holds the old value twice", intent.ValueChange{Name: "timeout", From: "30", To: "60"}, "30 tries of 30 seconds\n", "", ""},
		{"prose without an old value", intent.ValueChange{Name: "timeout", To: "60"}, "- Requests time out after 30 seconds.\n", "", ""},
		{"two places", intent.ValueChange{Name: "port", To: "1"}, "a:\n  port: 2\nb:\n  port: 3\n", "", ""},
		{"a value that is there already", intent.ValueChange{Name: "port", To: "1"}, "port: 1\n", "", ""},
		{"a part of a longer number", intent.ValueChange{Name: "port", From: "80", To: "90"}, "listens on 8080\n", "", ""},
		{"the first of two words", intent.ValueChange{Name: "title", To: "Shop"}, "title: Hello World\n", "", ""},
		{"a list", intent.ValueChange{Name: "ports", To: "80"}, "ports: [81, 82]\n", "", ""},
		{"an object", intent.ValueChange{Name: "server", To: "80"}, "  \"server\": {\n", "", ""},
		{"a text of several lines", intent.ValueChange{Name: "note", To: "x"}, "note: |\n  a\n", "", ""},
		{"a call", intent.ValueChange{Name: "size", To: "5"}, "size = max(3, 4)\n", "", ""},
		{"a part of a sum", intent.ValueChange{Name: "timeout", To: "5"}, "timeout = 60 * time.Second\n", "", ""},
		{"a comparison", intent.ValueChange{Name: "timeout", To: "5"}, "timeout == 3\n", "", ""},
		{"an address", intent.ValueChange{Name: "host", To: "http://b"}, "host: http://a#b\n", "", ""},
		{"the type of a field", intent.ValueChange{Name: "timeout", To: "5"}, "\ttimeout time.Duration\n", "", ""},
		{"the type of a member", intent.ValueChange{Name: "timeout", To: "5"}, "  timeout: number;\n", "", ""},
		{"a sentence that begins with the name", intent.ValueChange{Name: "timeout", To: "5"}, "timeout is what we wait\n", "", ""},
		{"a number without its unit", intent.ValueChange{Name: "timeout", To: "30"}, "timeout: 10s\n", "", ""},
		{"a number with its unit", intent.ValueChange{Name: "timeout", To: "30s"}, "timeout: 10s\n", "timeout: 10s", "timeout: 30s"},
		{"a negative number", intent.ValueChange{Name: "offset", To: "-5"}, "offset = -3\n", "offset = -3", "offset = -5"},
		{"a word for a number", intent.ValueChange{Name: "version", To: "latest"}, "\"version\": \"1.2.0\",\n", "", ""},
		{"a range of versions", intent.ValueChange{Name: "react", To: "19.0.0"}, "\"react\": \"^18.0.0\",\n", "", ""},
		{"nothing for a text", intent.ValueChange{Name: "name", To: "null"}, "\"name\": \"a\",\n", "", ""},
		{"a quote in a text", intent.ValueChange{Name: "name", To: "it's"}, "name = 'a'\n", "", ""},
		{"a switch", intent.ValueChange{Name: "debug", To: "true"}, "  \"debug\": false,\n", `  "debug": false,`, `  "debug": true,`},
		{"a switch of another language", intent.ValueChange{Name: "debug", To: "true"}, "DEBUG = False\n", "", ""},
		{"a word of YAML", intent.ValueChange{Name: "log level", To: "debug"}, "log_level: info\n", "log_level: info", "log_level: debug"},
		{"the name of a variable", intent.ValueChange{Name: "theme", To: "dark"}, "const theme = light\n", "", ""},
		{"two tables", intent.ValueChange{Name: "key", To: "5"}, "[a]\nkey = 1\n[b]\nkey = 2\n", "", ""},
		{"the old value of another name", intent.ValueChange{Name: "port", From: "80", To: "90"}, "timeout = 80\n", "", ""},
		{"another old value than the goal says", intent.ValueChange{Name: "port", From: "80", To: "90"}, "port = 8000\n# 80 tries\n", "", ""},
		{"prose that holds the old value twice in a row", intent.ValueChange{Name: "timeout", From: "30", To: "60"}, "30 30\n", "", ""},
		{"a part of a version", intent.ValueChange{Name: "version", From: "1.2", To: "1.3"}, "Needs v 1.2.3 now\n", "", ""},
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

func TestGoalSaysWhichWordTakesThePlaceOfWhich(t *testing.T) {
	t.Parallel()
	for goal, want := range map[string]string{
		"The environment variable should be called HTTP_PORT instead of SHOP_PORT. Change it in cmd/shop/main.go and in the README.": "SHOP_PORT HTTP_PORT",

		"Replace NOTES_FILE with NOTES_PATH in notes/book.py and README.md":                   "NOTES_FILE NOTES_PATH",
		"rename the environment variable SHOP_PORT to PORT_HTTP in main.go and run the tests": "SHOP_PORT PORT_HTTP",
		"Use slog instead of log in main.go":                                                  "",
		"Replace the loop with a map in a.go":                                                 "",
		"What happens if NOTES_FILE is called NOTES_PATH instead of that?":                    "",
		"Replace MAX_A with MAX_B in a.go and delete b.go":                                    "",
		"Can you replace MAX_A with MAX_B in both files in config/?":                          "MAX_A MAX_B",
		"Replace MAX_A with MAX_B in a.go but not in b.go":                                    "",
		"Replace MAX_A with MAX_B only in the function f of a.go":                             "",
		"Replace MAX_A with MAX_B in the error message of a.go":                               "",
		"Replace MAX_A by MAX_B * 2 in a.go":                                                  "",
		"Replace MAX_A with os.MAX_B in a.go":                                                 "",
		"Do not replace MAX_A with MAX_B in a.go":                                             "",
		"Should the key be called MAX_A instead of MAX_B in a.go?":                            "",
		"In a.go we use MAX_A instead of MAX_B. Fix that.":                                    "",
		"The bug is that we use MAX_A instead of MAX_B. Change it in a.go":                    "",
		"Use MAX_A instead of MAX_B where it is longer than 5 in a.go":                        "",
		"Rename the flag dry_run to no_op in a.go, keep the old one working":                  "",
	} {
		from, to, ok := intent.WordReplaced(goal)
		if got := from + " " + to; ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q, %t", goal, got, ok)
		}
	}
	old, changed, ok := intent.ReplaceWord("a\n// A_B is it.\nx := 1\ny := A_B + A_BC\n", "A_B", "C_D")
	if !ok || old != "// A_B is it.\nx := 1\ny := A_B + A_BC" || changed != "// C_D is it.\nx := 1\ny := C_D + A_BC" {
		t.Errorf("got %q and %q, %t", old, changed, ok)
	}
	if _, _, ok := intent.ReplaceWord("A_B = 1\nC_D = 2\n", "A_B", "C_D"); ok {
		t.Error("a word is replaced by one that the text has already")
	}
}
