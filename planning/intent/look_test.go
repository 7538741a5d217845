package intent_test

import (
	"fmt"
	"strings"
	"testing"

	"replan/planning/intent"
	"replan/planning/plan"
)

// lookers are the operators that looks use.
func lookers() plan.Catalog {
	var tools plan.Catalog
	for _, name := range strings.Fields("fs.read fs.list fs.search code.symbols code.definition code.references vcs.show vcs.log vcs.diff") {
		tools = append(tools, plan.Tool{Name: name, Server: "workspace", Trusted: true, ReadOnly: true})
	}
	return tools
}

// shop is a small workspace: its files with the lines that declare something.
var shop = []struct{ file, lines string }{
	{"README.md", ""},
	{"CHANGELOG.md", ""},
	{"Makefile", ""},
	{"go.mod", ""},
	{"config.json", ""},
	{"config.yaml", ""},
	{"order/order.go", "func IsEmpty(o Order) bool {\ntype Order struct {\nfunc Total(o Order) int {\nconst maxItems = 10"},
	{"order/order_test.go", "func TestTotal(t *testing.T) {"},
	{"store/store.go", "type Store struct {\nfunc (s *Store) Len() int {\nfunc Open(path string) *Store {"},
	{"a/run.go", "func Handle() {"},
	{"b/run.go", "func Handle() {"},
	{"c/run.go", "func Handle() {"},
	{"data/big.json", ""},
	{"data/users.csv", ""},
	{"data/items.csv", ""},
	{"docs/setup.md", ""},
	{"docs/usage.md", ""},
	{"many/1.txt", ""},
	{"many/2.txt", ""},
	{"many/3.txt", ""},
	{"many/4.txt", ""},
	{"many/5.txt", ""},
	{"many/6.txt", ""},
	{"many/7.txt", ""},
}

// lookedAt draws the calls for a goal in the shop; an exclamation mark says that they are
// all that the goal asks about.
func lookedAt(goal string, tools plan.Catalog) string {
	s := intent.NewSurvey(goal)
	for _, folder := range strings.Fields("order store a b c data docs many") {
		s.See(folder, true)
	}
	for _, f := range shop {
		s.See(f.file, false)
		for i, line := range strings.Split(f.lines, "\n") {
			s.Line(f.file, i+1, line)
		}
	}
	looks := s.Facts(func(at string) int64 { return map[string]int64{"data/big.json": 1 << 20}[at] }).Look(goal, tools)
	var calls []string
	for i, step := range looks.Steps {
		if step.Index != fmt.Sprint(i+1) || step.Title == "" || step.Executor != plan.ExecutorTool {
			calls = append(calls, fmt.Sprintf("BAD STEP %+v", step))
		}
		calls = append(calls, step.Tool+plan.CanonicalJSON(step.Args))
	}
	drawn := strings.Join(calls, "; ")
	if looks.Whole {
		drawn += " !"
	}
	return drawn
}

func TestGoalsNameWhatIsLookedAt(t *testing.T) {
	const readme, orders = `fs.read{"path":"README.md"}`, `fs.read{"path":"order/order.go"}`
	for goal, want := range map[string]string{
		// Files.
		"What does README.md say?":                          readme + " !",
		"What does the readme say?":                         readme + " !",
		"Summarize ./README.md":                             readme + " !",
		"What is the difference between readme and go.mod?": readme + `; fs.read{"path":"go.mod"} !`,
		"What does order.go contain?":                       orders + " !",
		"Explain what run.go contains":                      "", // there are three
		"What is in data/big.json?":                         `fs.read{"limit":120,"path":"data/big.json"} !`,
		"Can you change the port in config.json to 80?":     `fs.read{"path":"config.json"}`,
		"can you change README.md":                          readme,
		"Fix the typo in README.md":                         readme,
		"Create NOTES.md":                                   "", // it does not exist yet
		"Create NOTES.md with the headings of README.md":    readme,
		`Write "see go.mod" into README.md`:                 readme,
		"What does README.md say about Redis?":              readme, // the looks may not hold all of it
		"What does missing.md say?":                         "",
		"Read README.md, go.mod and config.yaml":            readme + `; fs.read{"path":"go.mod"}; fs.read{"path":"config.yaml"}`,
		"Say what config is":                                "", // a word of prose
		"What does the store do?":                           "", // likewise
		// Folders.
		"Which files in docs mention the setup?":                         `fs.read{"path":"docs/setup.md"}; fs.read{"path":"docs/usage.md"}`,
		"What is in the docs folder?":                                    `fs.read{"path":"docs/setup.md"}; fs.read{"path":"docs/usage.md"} !`,
		"List the files in many/":                                        `fs.list{"path":"many"} !`,
		"Which files are in the data folder?":                            `fs.list{"path":"data"} !`,
		"List the files in order.":                                       `fs.list{"path":"order"} !`,
		"Show me the folder structure of docs":                           `fs.list{"path":"docs"} !`,
		"Which files in docs are about the setup?":                       `fs.read{"path":"docs/setup.md"}`,
		"Which functions does package order have?":                       `code.symbols{"path":"order"} !`,
		"Which csv files are in data/?":                                  `fs.read{"path":"data/users.csv"}; fs.read{"path":"data/items.csv"} !`,
		"Delete the folder docs":                                         `fs.read{"path":"docs/setup.md"}; fs.read{"path":"docs/usage.md"}`,
		"Which constants does the order package export?":                 `code.symbols{"path":"order"}`,
		"Add comments to the packages order and store":                   `fs.read{"path":"order/order.go"}; fs.read{"path":"order/order_test.go"}; fs.read{"path":"store/store.go"}`,
		"Which files import the order package?":                          `fs.search{"query":"^\\s*(\\w+ |import )?\"([^\"]*/)?order\"$|^\\s*(import|from|use)\\s+([\\w.:]*[.:])?order\\b|(from|require\\()\\s*['\"]([^'\"]*/)?order['\"/]","regex":true} !`,
		"How many commits are there, and who made them?":                 `vcs.log{"max":200} !`,
		"How many files are there in data/ and of which types are they?": `fs.list{"path":"data"} !`,
		// Declarations.
		"show all FIXME and TODO comments":                                                  `fs.search{"query":"FIXME|TODO","regex":true} !`,
		"find the todos in the code":                                                        `fs.search{"query":"TODO"} !`,
		"What is a todo in this app?":                                                       "",
		"what's different in config.json compared to config.yaml?":                          `fs.read{"path":"config.json"}; fs.read{"path":"config.yaml"} !`,
		"Write API.md listing every exported function of store":                             `code.symbols{"path":"store"}`,
		"Save the names of all csv files in data/ to csv.txt":                               `fs.list{"path":"data"}`,
		"What structs does the Go code define? Tell me their names and how many there are.": `code.symbols{"path":"."} !`,
		"Show me each place where IsEmpty is used, with the file name.":                     `code.references{"symbol":"IsEmpty"} !`,
		"Where does the number 350 occur? I need every place with its file.":                `fs.search{"query":"\\b350\\b","regex":true} !`,
		"list all the constants in the code and which file each one is in":                  `code.symbols{"path":"."} !`,
		"How many methods are there in the Go code? Please name them.":                      `code.symbols{"path":"."} !`,
		"Put the messages of all commits so far into HISTORY.txt":                           `vcs.log{"max":200}`,
		"List all functions of the project":                                                 `code.symbols{"path":"."} !`,
		"Create TYPES.md with a line for each struct in the code":                           `code.symbols{"path":"."}`,
		"Add a new function to the code":                                                    "",
		"What does IsEmpty() do?":                                                           orders + " !",
		"Who calls IsEmpty()?":                                                              `code.references{"symbol":"IsEmpty"} !`,
		"Which files use the function Total?":                                               `code.references{"symbol":"Total"} !`,
		"Rename IsEmpty to HasNone":                                                         orders,
		"What does Store.Len return?":                                                       `fs.read{"path":"store/store.go"}`,
		"What does the function Handle do?":                                                 `code.definition{"symbol":"Handle"} !`,
		"Why does TestTotal fail?":                                                          `fs.read{"path":"order/order_test.go"}; ` + orders,
		"What is maxItems?":                                                                 orders + " !",
		"How many orders are there in total?":                                               "", // no name in code
		"Where is MAX_USERS read?":                                                          `fs.search{"query":"MAX_USERS"}`,
		`Where do we print "out of stock"?`:                                                 `fs.search{"query":"out of stock"} !`,
		`Replace "out of stock" with "gone"`:                                                "", // often the text to write
		"What does do_nothing do and what is go.mod":                                        `fs.search{"query":"do_nothing"}; fs.read{"path":"go.mod"} !`,
		// Marks, commits and tests.
		"List all TODO comments":                      `fs.search{"query":"TODO"} !`,
		"Which TODOs and FIXMEs are there?":           `fs.search{"query":"TODO|FIXME","regex":true} !`,
		`What does "TODO" mean?`:                      `fs.search{"query":"TODO"} !`,
		"What do I have todo?":                        "",
		"What did the last commit change?":            `vcs.show{} !`,
		"Which commit added order.go?":                `vcs.log{"max":20,"path":"order/order.go"} !`,
		"What does `Len` return if it is empty?":      `fs.read{"path":"store/store.go"}`,
		"Total should be 0 for no items. Add that.":   `fs.read{"path":"order/order.go"}`,
		"Summarize the last three commits":            `vcs.log{"max":3} !`,
		"What are the last 5 commits?":                `vcs.log{"max":5} !`,
		"What are the recent commits?":                `vcs.log{"max":10} !`,
		"What did commit abc1234 change?":             `vcs.show{"ref":"abc1234"} !`,
		"Commit the changes":                          "",
		"Explain the uncommitted changes":             `vcs.diff{} !`,
		"Revert the last commit":                      `vcs.show{}`,
		"How many tests are there?":                   `fs.search{"query":"func (Test|Fuzz|Benchmark)\\w*\\(|def test_\\w+|^\\s*(it|test)\\(|#\\[(tokio::)?test\\]|@Test\\b","regex":true} !`,
		"Which tests fail?":                           "",
		"Run the tests":                               "",
		"":                                            "",
		"Hello!":                                      "",
		"What is the difference between TCP and UDP?": "",
	} {
		if got := strings.TrimSpace(lookedAt(goal, lookers())); got != want {
			t.Errorf("%q looks at\n     %s\nwant %s", goal, got, want)
		}
	}
}

func TestLooksUseOnlyTrustedReaders(t *testing.T) {
	const goal = "What does README.md say?"
	for name, tools := range map[string]plan.Catalog{
		"not on offer":      {},
		"another server's":  {{Name: "fs.read", Server: "evil", ReadOnly: true}},
		"one with effects":  {{Name: "fs.read", Server: "workspace", Trusted: true}},
		"ambiguous, no own": {{Name: "fs.read", Server: "a", ReadOnly: true}, {Name: "fs.read", Server: "b", ReadOnly: true}},
	} {
		if got := lookedAt(goal, tools); got != "" {
			t.Errorf("%s: got the looks %s", name, got)
		}
	}
}

func TestLooksAreFewAndMadeOnce(t *testing.T) {
	many := "Compare README.md, CHANGELOG.md, Makefile, go.mod, config.json, config.yaml, order.go and store.go"
	if got := lookedAt(many, lookers()); strings.Count(got, ";") != 5 || strings.HasSuffix(got, "!") {
		t.Errorf("got %s", got)
	}
	if got := lookedAt("What does README.md say that readme does not say?", lookers()); strings.Count(got, "fs.read") != 1 {
		t.Errorf("got %s", got)
	}
	if got := lookedAt(strings.Repeat("What does README.md say? ", 100_000), lookers()); strings.Count(got, "fs.read") != 1 {
		t.Errorf("got %s for a long goal", got)
	}
}

func TestQuestionsOnlyAsk(t *testing.T) {
	for goal, want := range map[string]bool{
		"What does README.md say?":                                        true,
		"which functions are exported":                                    true,
		"Explain how the parser works":                                    true,
		"List all TODO comments":                                          true,
		"Please tell me where Make is declared":                           true,
		"Can you tell me what changed?":                                   true,
		"Do we have tests for the parser?":                                true,
		"do the docs mention Redis?":                                      true,
		"Have we a changelog?":                                            true,
		"Give me the names of all packages":                               true,
		"Is there a linter?":                                              true,
		"How do I add a command?":                                         true,
		"Why does the build fail":                                         true,
		"Compare a.go and b.go":                                           true,
		"Summarise the last commit":                                       true,
		"Read a.go, and then explain what Make does":                      true,
		"What would change if I rename Make?":                             true,
		`What does "delete everything" mean?`:                             true,
		"Show me the code, then summarize it":                             true,
		"Can you change the port?":                                        false,
		"Please give the fields of Item JSON tags":                        false,
		"Give me the fields of Item":                                      true,
		"For which months do the amounts differ between a.csv and b.csv?": true,
		"can you please fix the typo in README.md?":                       false,
		"What does Make do? Rename it to New.":                            false,
		"Find all uses of Make and rename them":                           false,
		"Explain the bug, then fix it":                                    false,
		"List the TODOs and delete them":                                  false,
		"do it":                                                           false,
		"Do the migration":                                                false,
		"Have the CLI print its version":                                  false,
		"Give Make a doc comment":                                         false,
		"Rename Make to New":                                              false,
		"I want you to add a test":                                        false,
		"Let's clean up the imports":                                      false,
		"Run the tests and tell me which fail":                            false,
		"Check the links, and if one is dead, remove it":                  false,
		"Show the diff but commit nothing; push the branch":               false,
		"Hello!":                false,
		"":                      false,
		"Der Parser ist kaputt": false,
	} {
		if got := intent.OnlyAsks(goal); got != want {
			t.Errorf("%q only asks: %v, want %v", goal, got, want)
		}
	}
}

func TestGoalsThatWantTheTestsRun(t *testing.T) {
	for goal, want := range map[string]bool{
		"Run the tests":                                        true,
		"run all unit tests":                                   true,
		"Rename Make to New and run the tests":                 true,
		"Fix the typo and check that the tests pass":           true,
		"Make sure the tests pass":                             true,
		"Ensure all tests still pass":                          true,
		"Change it, then verify with the tests":                true,
		"Rerun the failing tests":                              true,
		"Update go.mod so that the tests pass":                 true,
		"Add a flag. The tests pass afterwards.":               true,
		"Run test TestMake":                                    true,
		"rerun tests":                                          true,
		"Rename Make to New":                                   false,
		"Add tests for the parser":                             false,
		"Write a test for Make":                                false,
		"Delete the tests folder":                              false,
		"Which tests are there?":                               false,
		"How many tests fail?":                                 false,
		"Rename test.run to tests.run":                         false,
		"Move helper.go next to the tests":                     false,
		"Run the linter":                                       false,
		"Test the waters":                                      false,
		"Explain what the tests of the parser cover":           false,
		`Replace "run the tests" with "just test" in the docs`: false,
		"Hello!": false,
		"":       false,
	} {
		if got := intent.WantsTests(goal); got != want {
			t.Errorf("%q wants the tests run: %v, want %v", goal, got, want)
		}
	}
}

// sketched describes a workspace of these files for a goal.
func sketched(goal string, files ...string) intent.Sketch {
	s := intent.NewSurvey(goal)
	for _, file := range files {
		s.See(file, false)
	}
	return s.Sketch()
}

func TestSketchNamesFilesLanguagesAndTests(t *testing.T) {
	s := sketched("x", "go.mod", "main.go", "a_test.go", "web/package.json", "web/app.ts", "README.md")
	if got := fmt.Sprint(s.Languages, s.Tests, s.Files, s.Near); got != "[Go TypeScript] [go test ./...] [go.mod main.go a_test.go web/package.json web/app.ts README.md] []" {
		t.Errorf("got %s", got)
	}
	if s = sketched("x", "a.c", "b.py", "c.go", "d.rs", "pyproject.toml", "setup.py"); len(s.Languages) != 3 || fmt.Sprint(s.Tests) != "[pytest]" {
		t.Errorf("got the languages %v and the tests %v", s.Languages, s.Tests)
	}
	if !sketched("x").Empty() || sketched("x", "a").Empty() || sketched("x").InRepository("main", nil).Empty() {
		t.Error("a sketch is empty if neither files nor a branch are known")
	}
}

func TestSketchOfLargeWorkspaceNamesFoldersAndNearFiles(t *testing.T) {
	var files []string
	for i := range 400 {
		files = append(files, fmt.Sprintf("internal/part%d/file_%d.go", i%20, i))
	}
	files = append(files, "README.md", "internal/parser/parser.go", "internal/parser/parser_test.go", "docs/parser.md")
	s := sketched("Rename the parser of dates", files...)
	if got := strings.Join(s.Files, ", "); len(got) > 1000 || !strings.Contains(got, "README.md") || !strings.Contains(got, "internal/part3/ (20)") {
		t.Errorf("got %d bytes of files: %s", len(got), got)
	}
	if got := strings.Join(s.Near, ", "); len(got) > 300 || got != "docs/parser.md, internal/parser/parser.go, internal/parser/parser_test.go" && got != "internal/parser/parser.go, docs/parser.md, internal/parser/parser_test.go" && got != "internal/parser/parser.go, internal/parser/parser_test.go, docs/parser.md" {
		t.Errorf("near are %s", got)
	}
	wide := make([]string, 5000)
	for i := range wide {
		wide[i] = fmt.Sprintf("dir%d/file.go", i)
	}
	if got := strings.Join(sketched("x", wide...).Files, ", "); len(got) > 1000 || !strings.HasSuffix(got, "…") {
		t.Errorf("got %d bytes of folders: %.200s", len(got), got)
	}
}

func TestSketchNamesFewChangedFiles(t *testing.T) {
	changed := strings.Fields("a b c d e f g h i j k")
	s := sketched("x", "a").InRepository("topic", changed)
	if got := strings.Join(s.Changed, " "); s.Branch != "topic" || got != "a b c d e f g h and 3 more" {
		t.Errorf("got %s on %s", got, s.Branch)
	}
	if strings.Join(changed, "") != "abcdefghijk" {
		t.Error("the list of the caller changed")
	}
}
