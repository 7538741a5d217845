package intent_test

import (
	"strings"
	"testing"

	"replan/planning/intent"
	"replan/planning/plan"
)

const (
	slugSymbols = `{"path":"slug","symbols":[
		{"name":"Make","kind":"function","path":"slug/slug.go","line":5,"signature":"func Make(title string) string","doc":"Make returns the slug of a title. It is short.","exported":true},
		{"name":"Reverse","kind":"function","path":"slug/slug.go","line":9,"signature":"func Reverse(s string) string","exported":true},
		{"name":"legacyName","kind":"function","path":"slug/slug.go","line":14,"signature":"func legacyName(s string) string"},
		{"name":"Slug","kind":"type","path":"slug/slug.go","line":20,"signature":"type Slug string","exported":true},
		{"name":"TestMake","kind":"function","path":"slug/slug_test.go","line":5,"signature":"func TestMake(t *testing.T)","exported":true}],"total":5,"truncated":false}`
	todoMatches  = `{"matches":[{"path":"a.go","line":3,"text":"\t// TODO: lock_it *now*"},{"path":"a.go","line":9,"text":"// TODO: test"},{"path":"b_c.go","line":1,"text":"// TODO"}],"total":5,"files":3,"truncated":true}`
	threeCommits = `{"commits":[{"hash":"0123456789abcdef","subject":"Add the licence","date":"2026-01-02T03:04:05Z"},{"hash":"abcdef0123456789","subject":"Lower-case URLs","date":"2026-01-01T03:04:05Z"}],"total":2}`
)

func TestResultIsListedWithoutAModel(t *testing.T) {
	for name, c := range map[string]struct {
		tool, result string
		form         intent.ListForm
		want         string
	}{
		"exported functions by name": {
			"code.symbols", slugSymbols,
			intent.ListForm{Title: "Functions of slug", Names: true, Exported: true, Kinds: []string{"function"}},
			"# Functions of slug\n\n- `Make`\n- `Reverse`\n",
		},
		"exported functions with what they do": {
			"workspace:code.symbols", slugSymbols,
			intent.ListForm{Exported: true, Kinds: []string{"function"}},
			"- `func Make(title string) string`: Make returns the slug of a title.\n- `func Reverse(s string) string`\n",
		},
		"all symbols in plain text, counted": {
			"code.symbols", slugSymbols,
			intent.ListForm{Plain: true, Names: true, Count: true, Title: "Names"},
			"Names\n\n5 entries\n\nMake\nReverse\nlegacyName\nSlug\nTestMake\n",
		},
		"the outline of a file": {"code.parse", `{"path":"a.py","outline":[{"name":"f","kind":"function","signature":"def f()"}]}`, intent.ListForm{}, "- `def f()`\n"},
		"matches, of which some are left out": {
			"fs.search", todoMatches,
			intent.ListForm{},
			"- a.go:3: `// TODO: lock_it *now*`\n- a.go:9: `// TODO: test`\n- b_c.go:1: `// TODO`\n\n… and 2 more entries\n",
		},
		"files of one kind":  {"fs.list", `{"entries":[{"path":"data/a.csv","type":"file"},{"path":"data/b.json","type":"file"},{"path":"data/c","type":"dir"}]}`, intent.ListForm{Plain: true, Names: true, Kept: []string{".csv"}}, "a.csv\n"},
		"files with matches": {"fs.search", todoMatches, intent.ListForm{Plain: true, Names: true}, "a.go\nb_c.go\n"},
		"uses without the definition": {
			"code.references", `{"references":[{"path":"a.go","line":1,"text":"func f()","definition":true},{"path":"b.go","line":2,"text":"f()"}],"total":2}`, intent.ListForm{}, "- b.go:2: f()\n",
		},
		"commits":             {"vcs.log", threeCommits, intent.ListForm{}, "- `0123456`: Add the licence\n- `abcdef0`: Lower-case URLs\n"},
		"subjects":            {"vcs.log", threeCommits, intent.ListForm{Names: true}, "- Add the licence\n- Lower-case URLs\n"},
		"files and folders":   {"fs.list", `{"path":".","entries":[{"path":"docs","type":"dir"},{"path":"a.go","type":"file","size":3}]}`, intent.ListForm{}, "- docs/\n- a.go\n"},
		"changed files":       {"vcs.status", `{"branch":"main","files":[{"path":"a.go","status":"modified"}]}`, intent.ListForm{}, "- a.go: modified\n"},
		"branches":            {"vcs.branches", `{"current":"main","branches":[{"name":"main","subject":"Start"}]}`, intent.ListForm{}, "- main: Start\n"},
		"values of a file":    {"fs.read", `{"port":8080,"log":"info","cache":null}`, intent.ListForm{}, "- cache: null\n- log: info\n- port: 8080\n"},
		"a list of names":     {"list_tags", `["v1","v2"]`, intent.ListForm{Plain: true}, "v1\nv2\n"},
		"issues of a server":  {"list_issues", `{"total":2,"issues":[{"number":7,"title":"It breaks","state":"open"},{"number":8,"title":"Slow","state":"open"}]}`, intent.ListForm{}, "- It breaks: open\n- Slow: open\n"},
		"items with a number": {"list_jobs", `[{"id":1,"status":"done"},{"id":2,"status":"failed"}]`, intent.ListForm{}, "- 1: done\n- 2: failed\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := intent.List(c.tool, decoded(t, c.result), c.form)
			if !ok || got != c.want {
				t.Errorf("got %v\n%s\nwant\n%s", ok, got, c.want)
			}
		})
	}
}

func TestResultOfNoClearShapeIsNotListed(t *testing.T) {
	for name, c := range map[string]struct{ tool, result string }{
		"a text":                  {"fs.read", `"package a"`},
		"nothing found":           {"fs.search", `{"matches":[],"total":0}`},
		"no symbol that is asked": {"code.symbols", `{"symbols":[{"name":"a","kind":"function"}],"total":1}`},
		"two lists":               {"report", `{"a":[1],"b":[2]}`},
		"elements without names":  {"report", `[{"x":{"y":1}}]`},
		"null":                    {"report", `null`},
		"an object in an object":  {"report", `{"a":{"b":1}}`},
	} {
		t.Run(name, func(t *testing.T) {
			if got, ok := intent.List(c.tool, decoded(t, c.result), intent.ListForm{Exported: true}); ok {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestFormOfAListIsReadFromTheGoal(t *testing.T) {
	for goal, want := range map[string]string{
		"Create NOTES.md with a list of all exported functions of the package slug.": "exported function",
		"Write the names of all types into types.md":                                 "names type struct interface",
		"Create CHANGELOG.md with one line for each of the last three commits.":      "",
		"Count the TODO comments and list them in todo.md":                           "count",
		"One line for each struct type in the code: its name and the file it is in.": "files struct",
		"List each function with its file":                                           "files function",
		"List the files of the package":                                              "",
	} {
		form := intent.ListFormOf(goal, "a.md")
		var got []string
		for word, is := range map[string]bool{"exported": form.Exported, "names": form.Names, "count": form.Count, "files": form.Files, "plain": form.Plain} {
			if is {
				got = append(got, word)
			}
		}
		if text := strings.Join(append(got, form.Kinds...), " "); text != want {
			t.Errorf("%s: got %q, want %q", goal, text, want)
		}
	}
	if !intent.ListFormOf("list the files", "files.txt").Plain {
		t.Error("a file of plain text gets Markdown")
	}
}

func decoded(t *testing.T, text string) any {
	t.Helper()
	v, err := plan.DecodeValue([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestFilesOfAListAreOfTheKindThatTheGoalSays(t *testing.T) {
	for goal, want := range map[string]string{
		"Save the names of all csv files in data/ to csv.txt":            ".csv",
		"List the JSON and YAML files in config/":                        ".json .yaml .yml",
		"Create LIST.md with a Markdown list of the files in data/":      "",
		"Write the names of the files in data/ as JSON to names.json":    "",
		"Create LIST.txt with the names of the files that go into data/": "",
	} {
		if got := strings.Join(intent.ListFormOf(goal, "a.txt").Kept, " "); got != want {
			t.Errorf("%s: %q", goal, got)
		}
	}
}
