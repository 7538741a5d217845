package intent_test

import (
	"strings"
	"testing"

	"replan/planning/intent"
	"replan/planning/plan"
)

// surveyed returns the facts of a small workspace for a goal.
func surveyed(goal string) intent.Facts {
	s := intent.NewSurvey(goal)
	for _, folder := range []string{"slug", "sitemap", "docs", "docs/slug"} {
		s.See(folder, true)
	}
	for _, file := range []string{"README.md", "go.mod", "slug/slug.go", "slug/slug_test.go", "sitemap/sitemap.go", "docs/README.md", "a/util.go", "b/util.go", "app/store.py", "tests/test_store.py"} {
		s.See(file, false)
	}
	if s.Lines() != "" {
		for _, line := range []string{"func Make(title string) string {", "func Makes() {}", "func TestMake(t *testing.T) {", "func helperMake() {}"} {
			s.Line("", 0, line)
		}
	}
	return s.Facts(nil)
}

func TestChainsFitTheWorkspace(t *testing.T) {
	for goal, want := range map[string]string{
		"find Make in slug":              `fs.search{"path":"slug","query":"Make"}`,
		"find Make in parser":            `fs.search{"query":"Make parser","words":true}`,
		"find broken links in sitemap":   `fs.search{"path":"sitemap","query":"broken links","words":true}`,
		`find "broken links in sitemap"`: `fs.search{"ignore_case":true,"query":"broken links in sitemap"}`,
		"what is slug.go":                `fs.read{"path":"slug/slug.go"}; code.summarize{"path":"slug/slug.go","text":"${source}"} ←0`,
		"delete slug.go":                 `fs.remove{"path":"slug/slug.go"}!; test.run{"allow_none":true} ←0`,
		"why does Make fail":             `test.run{"allow_failures":true,"run":"TestMake"}; vcs.log{"allow_none":true,"max":10}; code.summarize{"log":"${log}","tests":"${tests}"} ←0 ←1`,
		"why does sitemap fail":          `test.run{"allow_failures":true,"path":"sitemap/..."}; vcs.log{"allow_none":true,"max":10,"path":"sitemap"}; code.summarize{"log":"${log}","tests":"${tests}"} ←0 ←1`,
		"why does the build fail":        `test.run{"allow_failures":true}; vcs.log{"allow_none":true,"max":10}; code.summarize{"log":"${log}","tests":"${tests}"} ←0 ←1`,
		"add tests for Nowhere": `code.definition{"symbol":"Nowhere"}; fs.read{"path":"${defined.definitions[0].path}"} ←0; code.symbols{"query":"Nowhere"}; ` +
			`<add_tests> ←1 ←2; fs.patch~! ←1 ←2 ←3; test.run{"allow_none":true} ←4`,
		"create slug/slug.go": `fs.read{"path":"slug/slug.go"}; <create> ←0; fs.patch~! ←0 ←1; test.run{"allow_none":true} ←2`,
		"add tests for sitemap.go": `fs.read{"path":"sitemap/sitemap.go"}; code.symbols{"path":"sitemap/sitemap.go"}; ` +
			`<add_tests> ←0 ←1; fs.write~! ←0 ←1 ←2; test.run{"allow_none":true} ←3`,
		"add tests for app/store.py": `fs.read{"path":"app/store.py"}; code.symbols{"path":"app/store.py"}; fs.read{"path":"tests/test_store.py"}; ` +
			`<add_tests> ←0 ←1 ←2; fs.patch~! ←0 ←1 ←2 ←3; test.run{"allow_none":true} ←4`,
	} {
		c := surveyed(goal).RouteWords(goal, intent.Policy{})
		if got := draw(c); got != want || !c.Bound() {
			t.Errorf("%q is\n     %s\nwant %s (%v)", goal, got, want, c.Missing)
		}
	}
}

func TestAmbiguousFileNamesAreMissing(t *testing.T) {
	const goal = "fix bug in util.go"
	c := surveyed(goal).RouteWords(goal, intent.Policy{})
	if !strings.Contains(strings.Join(c.Missing, ""), "which util.go? There are several: a/util.go, b/util.go") {
		t.Errorf("got missing %q", c.Missing)
	}
}

func TestBlankTargetIsMissingUnlessItIsReplaced(t *testing.T) {
	for in, missing := range map[*intent.Intent]bool{
		{Category: "navigate", Action: "references", Target: " ", Params: map[string]string{"with": ""}, Confidence: 1}: true,
		{Category: "modify", Action: "edit", Target: " ", Params: map[string]string{"with": ""}, Confidence: 1}:         false,
	} {
		if c := surveyed("").Route(*in, intent.Policy{}); (len(c.Missing) > 0) != missing {
			t.Errorf("%+v misses %q", *in, c.Missing)
		}
	}
}

func TestPlacesThatDoNotExistAreMissing(t *testing.T) {
	for goal, want := range map[string]bool{"rename Make to Build in slug": true, "rename Make to Build in comments": false} {
		c := surveyed(goal).RouteWords(goal, intent.Policy{})
		if c.Bound() != want {
			t.Errorf("%q: got %s, bound %v, missing %q", goal, draw(c), c.Bound(), c.Missing)
		}
	}
}

func TestUnclearGoalNamesNearestClearOrder(t *testing.T) {
	for goal, want := range map[string]string{
		"tell me about the pager of this program in detail": `I do not understand "tell me about the pager of this program in detail". Did you mean: find pager?`,
		"what is nothingness of being":                      `I do not understand "what is nothingness of being". Did you mean: what is nothingness?`,
		"fix the failing test":                              "Only a model can fix code. Did you mean: run the tests?",
		"mend the broken build":                             "Only a model can fix code. Did you mean: run the tests?",
		"refactor the login code":                           "Only a model can refactor code. Did you mean: find login?",
		"write tests for the login flow":                    "Only a model can write tests for code. Did you mean: find login?",
		"fnid where Parse is defined":                       `I do not understand "fnid where Parse is defined". Did you mean: find where Parse is defined?`,
		"whre is Parse definde":                             `I do not understand "whre is Parse definde". Did you mean: where is Parse defined?`,
		"rnu teh tests":                                     `I do not understand "rnu teh tests". Did you mean: run the tests?`,
		"move Lookup to lookup.go":                          `I do not understand "move Lookup to lookup.go". Did you mean: find where Lookup is defined, or where is Lookup used?`,
		"hello":                                             `I do not understand "hello".`,
		"make the code better":                              `I do not understand "make the code better".`,
		"undo":                                              "To undo what the last run changed, use the command undo: `replan undo`, or /undo on the screen.",
		"redo":                                              "To take an undo back, use the command redo: `replan redo`, or /redo on the screen.",
	} {
		refused := (intent.Facts{}).Refuse(goal)
		if refused.Text != want {
			t.Errorf("%q: got %q, want %q", goal, refused.Text, want)
		}
		for _, order := range refused.Near {
			if c := surveyed(order).RouteWords(order, intent.Policy{}); !c.Bound() || !c.Confident() || c.NeedsModel() {
				t.Errorf("%q names %q, which needs more: %q", goal, order, c.Missing)
			}
		}
	}
}

func TestCommitAndPushFollowTheRepository(t *testing.T) {
	known := intent.Facts{Known: true}
	clean, alone, nowhere := known, known, known
	clean.Clean, alone.NoUpstream, nowhere.NoRemote = true, true, true
	for _, c := range []struct {
		facts      intent.Facts
		goal, want string
		bound      bool
	}{
		{clean, "commit", "vcs.status", true},
		{alone, "push", `vcs.status; vcs.push{"set_upstream":true}! ←0`, true},
		{known, "push", `vcs.status; vcs.push! ←0`, true},
		{nowhere, "push", `vcs.status; vcs.push! ←0`, false},
	} {
		chain := c.facts.RouteWords(c.goal, intent.Policy{})
		if got := draw(chain); got != c.want || chain.Bound() != c.bound {
			t.Errorf("%q: got %s (bound %v), want %s", c.goal, got, chain.Bound(), c.want)
		}
	}
}

func TestEmptyResultsCountAsNothingFound(t *testing.T) {
	none, some := map[string]any{"matches": []any{}, "total": 0}, map[string]any{"matches": []any{map[string]any{"path": "a"}}, "total": 1}
	item := func(tool string, result any) plan.HistoryItem {
		return plan.HistoryItem{Index: tool, Tool: tool, Status: plan.ItemCompleted, Result: result}
	}
	files := map[string]any{"entries": []any{map[string]any{"path": "x/a.go"}}}
	for name, c := range map[string]struct {
		goal    string
		history []plan.HistoryItem
		want    bool
	}{
		"no match":                      {"find Foo", []plan.HistoryItem{item("fs.search", none)}, true},
		"a match":                       {"find Foo", []plan.HistoryItem{item("fs.search", some)}, false},
		"no match, but the file":        {"find a.go", []plan.HistoryItem{item("fs.search", none), item("fs.list", files)}, false},
		"neither match nor file":        {"find b.go", []plan.HistoryItem{item("fs.search", none), item("fs.list", files)}, true},
		"no definition":                 {"where is Foo defined", []plan.HistoryItem{item("code.definition", map[string]any{"definitions": []any{}})}, true},
		"no use of what is there":       {"where is Foo used", []plan.HistoryItem{item("code.references", map[string]any{"references": []any{}, "definition": map[string]any{"path": "a"}})}, false},
		"no use and no definition":      {"where is Foo used", []plan.HistoryItem{item("code.references", map[string]any{"references": []any{}, "definition": nil})}, true},
		"a declaration, and no match":   {"how does Signer.sign work", []plan.HistoryItem{item("fs.search", none), item("code.summarize", map[string]any{"summary": "`Signer.sign` is a method"})}, false},
		"no declaration and no match":   {"how does Signer.sign work", []plan.HistoryItem{item("fs.search", none), item("code.summarize", map[string]any{"summary": plan.NoDeclaration + "`Signer.sign` was found."})}, true},
		"no test of that name":          {"why does TestFoo fail", []plan.HistoryItem{item("test.run", map[string]any{"summary": `no test matches "TestFoo"`})}, true},
		"no tests":                      {"run the tests", []plan.HistoryItem{item("test.run", map[string]any{"passed": true, "summary": "there are no tests to run"})}, true},
		"tests that pass are an answer": {"run the tests", []plan.HistoryItem{item("test.run", map[string]any{"passed": true})}, false},
	} {
		if got := intent.NothingFound(intent.Parse(c.goal), c.history); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestCommitWithoutChangesCountsAsNothingToCommit(t *testing.T) {
	for name, c := range map[string]struct {
		goal, tool string
		result     map[string]any
		want       bool
	}{
		"a clean folder":        {"commit", "vcs.status", map[string]any{"clean": true}, true},
		"nothing was committed": {"commit", "vcs.commit", map[string]any{"hash": "", "note": "nothing to commit"}, true},
		"a commit":              {"commit", "vcs.commit", map[string]any{"hash": "0123456789ab"}, false},
		"another order":         {"git status", "vcs.status", map[string]any{"clean": true}, false},
	} {
		history := []plan.HistoryItem{{Index: "1", Tool: c.tool, Status: plan.ItemCompleted, Result: c.result}}
		if got := intent.NothingToCommit(intent.Parse(c.goal), history); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
		if intent.NothingFound(intent.Parse(c.goal), history) {
			t.Errorf("%s counts as nothing found", name)
		}
	}
}

func TestReferencesNameEachLineOnce(t *testing.T) {
	use := func(line int) map[string]any {
		return map[string]any{"path": "a.go", "line": line, "text": "Foo(Foo())"}
	}
	got := intent.Answer(intent.Parse("where is Foo used"), []plan.HistoryItem{{
		Index: "1", Tool: "code.references", Status: plan.ItemCompleted,
		Result: map[string]any{"symbol": "Foo", "references": []any{use(3), use(3), use(9)}, "total": 3},
	}}, "")
	if strings.Count(got, "a.go:3") != 1 || !strings.Contains(got, "a.go:9") || strings.Contains(got, "more") {
		t.Errorf("got %s", got)
	}
}

func TestHistoryReadsAsPlainText(t *testing.T) {
	got := intent.Answer(intent.Parse("show the last commits"), []plan.HistoryItem{{
		Index: "1", Tool: "vcs.log", Status: plan.ItemCompleted,
		Result: map[string]any{"commits": []any{
			map[string]any{"hash": "53788271b3", "author": "Andrey Nering", "date": "2026-04-22T10:00:00Z", "subject": "chore: remove CODEOWNERS"},
			map[string]any{"hash": "0123456789", "author": "a", "date": "2026-04-21T10:00:00Z", "subject": "*bold* <b>"},
		}, "total": 2},
	}}, "")
	for _, want := range []string{"- 53788271b3 chore: remove CODEOWNERS, Andrey Nering, 2026-04-22\n", "`*bold* <b>`"} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want %q in it", got, want)
		}
	}
}
