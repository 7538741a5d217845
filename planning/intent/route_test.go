package intent_test

import (
	"fmt"
	"strings"
	"testing"

	"replan/planning/intent"
	"replan/planning/plan"
)

// draw writes a chain on one line: each node as tool{args} and its dependencies,
// with ! for a gate, and ~ in place of args filled in by a model.
func draw(c intent.Chain) string {
	nodes := make([]string, len(c.Nodes))
	for i, n := range c.Nodes {
		text := n.Tool
		switch {
		case n.Executor == plan.ExecutorSelf:
			text = "<" + text + ">"
		case n.Args == nil:
			text += "~"
		case len(n.Args) > 0:
			text += plan.CanonicalJSON(n.Args)
		}
		if n.Gate {
			text += "!"
		}
		for _, d := range n.DependsOn {
			text += fmt.Sprintf(" ←%d", d)
		}
		nodes[i] = text
	}
	return strings.Join(nodes, "; ")
}

const applied = `; code.summarize{"diff":"${change.diff}"} ←%[1]d; fs.patch{"diff":"${change.diff}","hashes":"${change.hashes}"}! ←%[1]d; test.run{"allow_none":true} ←%[2]d`

func TestEachIntentHasItsChain(t *testing.T) {
	applying := func(change int) string { return fmt.Sprintf(applied, change, change+2) }
	for words, want := range map[string]string{
		"find X":                         `fs.search{"query":"X"}`,
		"find login flow":                `fs.search{"query":"login flow","words":true}`,
		"find TODO in internal/":         `fs.search{"path":"internal","query":"TODO"}`,
		"find TODO in the cli package":   `fs.search{"path":"cli","query":"TODO"}`,
		"find main.go":                   `fs.search{"ignore_case":true,"query":"main.go"}; fs.list{"depth":20}`,
		"where is Run.Apply used":        `code.references{"allow_none":true,"symbol":"Run.Apply"}`,
		"who calls (*Server).Close":      `code.references{"allow_none":true,"symbol":"Server.Close"}`,
		"find references to cli/run.go":  `fs.search{"ignore_case":true,"query":"cli/run.go"}`,
		"where is Foo used in a/b.go":    `code.references{"allow_none":true,"path":"a/b.go","symbol":"Foo"}`,
		"where is Config defined":        `code.definition{"allow_none":true,"symbol":"Config"}`,
		"go to the definition of func X": `code.definition{"allow_none":true,"symbol":"X"}`,
		"list the symbols in ./main.go":  `code.symbols{"path":"main.go"}`,
		"list methods of Graph":          `code.symbols{"max":2000,"query":"Graph"}`,
		"list the types in planning":     `code.symbols{"max":2000,"path":"planning"}`,
		"what is Session":                `fs.search{"query":"\\bSession\\b","regex":true}; code.summarize{"matches":"${found}","symbol":"Session"} ←0`,
		"what is `a ${b}`":               `fs.search{"ignore_case":true,"query":"a $${b}"}; code.summarize{"matches":"${found}","symbol":"a $${b}"} ←0`,
		"explain the retry logic":        `fs.search{"query":"retry logic","words":true}; code.summarize{"matches":"${found}","symbol":"retry logic"} ←0`,
		"explain cli/run.go":             `fs.read{"path":"cli/run.go"}; code.summarize{"path":"cli/run.go","text":"${source}"} ←0`,
		"explain internal/cache":         `code.symbols{"path":"internal/cache"}`,
		"replace foo with bar": `code.transform{"kind":"replace","pattern":"foo","replacement":"bar"}` +
			applying(0),
		"replace foo with bar in a.go": `code.transform{"kind":"replace","path":"a.go","pattern":"foo","replacement":"bar"}` +
			applying(0),
		"edit main.go":               `fs.read{"path":"main.go"}; <edit> ←0; fs.patch~! ←0 ←1; test.run{"allow_none":true} ←2`,
		"set maxRetries to 5":        `code.definition{"symbol":"maxRetries"}; fs.read{"path":"${defined.definitions[0].path}"} ←0; <edit> ←1; fs.patch~! ←1 ←2; test.run{"allow_none":true} ←3`,
		"set maxRetries to 5 in a.c": `fs.read{"path":"a.c"}; <edit> ←0; fs.patch~! ←0 ←1; test.run{"allow_none":true} ←2`,
		"fix bug in handler.go":      `fs.read{"path":"handler.go"}; code.parse{"path":"handler.go"}; <fix> ←0 ←1; fs.patch~! ←0 ←1 ←2; test.run{"allow_none":true} ←3`,
		"fix bug in Run.Apply":       `code.definition{"symbol":"Run.Apply"}; fs.read{"path":"${defined.definitions[0].path}"} ←0; <fix> ←1; fs.patch~! ←1 ←2; test.run{"allow_none":true} ←3`,
		"fix TestFoo": `code.definition{"symbol":"TestFoo"}; fs.read{"path":"${defined.definitions[0].path}"} ←0; ` +
			`test.run{"allow_failures":true,"run":"TestFoo","sources":true}; <fix> ←1 ←2; fs.patch~! ←1 ←2 ←3; test.run{"allow_none":true} ←4`,
		"fix the tests":                    `vcs.diff{"of":"all"}; test.run{"allow_failures":true,"sources":true}; <fix> ←0 ←1; fs.patch~! ←0 ←1 ←2; test.run{"allow_none":true} ←3`,
		"fix the failing tests":            `vcs.diff{"of":"all"}; test.run{"allow_failures":true,"sources":true}; <fix> ←0 ←1; fs.patch~! ←0 ←1 ←2; test.run{"allow_none":true} ←3`,
		"fix the user login":               `fs.search{"query":"user login","words":true}; <fix> ←0; fs.patch~! ←0 ←1; test.run{"allow_none":true} ←2`,
		"extract validate from handler.go": `fs.read{"path":"handler.go"}; <extract> ←0; fs.patch~! ←0 ←1; test.run{"allow_none":true} ←2`,
		"rename Foo to Bar": `code.references{"symbol":"Foo"}; code.transform{"kind":"rename","new_name":"Bar","symbol":"${uses.symbol}"} ←0` +
			applying(1),
		"rename Run.Apply to Run.Fold": `code.references{"symbol":"Run.Apply"}; code.transform{"kind":"rename","new_name":"Fold","symbol":"${uses.symbol}"} ←0` +
			applying(1),
		"rename foo to bar in auth.py": `code.references{"path":"auth.py","symbol":"foo"}; code.transform{"kind":"rename","new_name":"bar","path":"auth.py","symbol":"${uses.symbol}"} ←0` +
			applying(1),
		"rename foo.go to bar.go":   `fs.move{"from":"foo.go","to":"bar.go"}!; test.run{"allow_none":true} ←0`,
		"rename a/foo.go to bar.go": `fs.move{"from":"a/foo.go","to":"a/bar.go"}!; test.run{"allow_none":true} ←0`,
		"refactor Session": `code.definition{"symbol":"Session"}; fs.read{"path":"${defined.definitions[0].path}"} ←0; ` +
			`code.references{"symbol":"Session"}; <refactor> ←1 ←2; fs.patch~! ←1 ←2 ←3; test.run{"allow_none":true} ←4`,
		"refactor handler.go":       `fs.read{"path":"handler.go"}; <refactor> ←0; fs.patch~! ←0 ←1; test.run{"allow_none":true} ←2`,
		"run the tests":             `test.run`,
		"run TestFoo":               `test.run{"run":"TestFoo"}`,
		"run TestFoo/a in ./cli":    `test.run{"path":"cli/...","run":"TestFoo/a"}`,
		"test ./planning/...":       `test.run{"path":"planning/..."}`,
		"test ./...":                `test.run`,
		"test cli/run_test.go":      `test.run{"path":"cli"}`,
		"lint":                      `test.lint`,
		"lint cli/run.go":           `test.lint{"path":"cli"}`,
		"why does TestFoo fail":     `test.run{"allow_failures":true,"run":"TestFoo"}; vcs.log{"allow_none":true,"max":10}; code.summarize{"log":"${log}","tests":"${tests}"} ←0 ←1`,
		"debug agent/run.go":        `test.run{"allow_failures":true,"path":"agent"}; vcs.log{"allow_none":true,"max":10,"path":"agent/run.go"}; code.summarize{"log":"${log}","tests":"${tests}"} ←0 ←1`,
		"why do the tests fail":     `test.run{"allow_failures":true}; vcs.log{"allow_none":true,"max":10}; code.summarize{"log":"${log}","tests":"${tests}"} ←0 ←1`,
		"create docs/undo.md":       `fs.list{"depth":2}; <create> ←0; fs.write~! ←0 ←1; test.run{"allow_none":true} ←2`,
		"implement login":           `fs.list{"depth":2}; <create> ←0; fs.write~! ←0 ←1; test.run{"allow_none":true} ←2`,
		"implement a rate limiter":  `fs.list{"depth":2}; <create> ←0; fs.write~! ←0 ←1; test.run{"allow_none":true} ←2`,
		"add logging to handler.go": `fs.read{"path":"handler.go"}; <create> ←0; fs.patch~! ←0 ←1; test.run{"allow_none":true} ←2`,
		"add tests for parser.go":   `fs.read{"path":"parser.go"}; code.symbols{"path":"parser.go"}; <add_tests> ←0 ←1; fs.patch~! ←0 ←1 ←2; test.run{"allow_none":true} ←3`,
		"add tests for Run.Apply": `code.definition{"symbol":"Run.Apply"}; fs.read{"path":"${defined.definitions[0].path}"} ←0; ` +
			`code.symbols{"query":"Run.Apply"}; <add_tests> ←1 ←2; fs.patch~! ←1 ←2 ←3; test.run{"allow_none":true} ←4`,
		"git status":                   `vcs.status`,
		"show the diff":                `vcs.diff{"of":"all"}`,
		"git diff main":                `vcs.diff{"of":"all","ref":"main"}`,
		"what changed in planning/":    `vcs.diff{"of":"all","path":"planning"}`,
		"log":                          `vcs.log`,
		"show the last commits":        `vcs.log`,
		"history of main.go":           `vcs.log{"path":"main.go"}`,
		"commit":                       `vcs.diff{"of":"commit"}; code.summarize{"diff":"${changes.diff}"} ←0; vcs.commit{"message":"${summary.title}"}! ←1`,
		`commit with message "a ${b}"`: `vcs.diff{"of":"commit"}; code.summarize{"diff":"${changes.diff}"} ←0; vcs.commit{"message":"a $${b}"}! ←1`,
		"commit main.go":               `vcs.diff{"of":"commit","path":"main.go"}; code.summarize{"diff":"${changes.diff}"} ←0; vcs.commit{"message":"${summary.title}","paths":["main.go"]}! ←1`,
		"list branches":                `vcs.branches`,
		"switch to branch main":        `vcs.branch{"name":"main"}!`,
		"create a branch called fix/1": `vcs.branch{"create":true,"name":"fix/1"}!`,
		"push":                         `vcs.status; vcs.push! ←0`,
		"push to origin":               `vcs.status; vcs.push{"remote":"origin"}! ←0`,
		"hello there":                  ``,
		"don't rename Foo to Bar":      ``,
	} {
		c := nowhere.Route(intent.Parse(words), intent.Policy{})
		if got := draw(c); got != want {
			t.Errorf("%q: got\n     %s\nwant %s", words, got, want)
		}
		if len(c.Missing) > 0 {
			t.Errorf("%q: got missing %v", words, c.Missing)
		}
	}
}

func TestMissingPartsAreNamed(t *testing.T) {
	for words, want := range map[string]string{
		"rename Foo":                     "rename Foo to what?",
		"rename it to Bar":               "rename what?",
		"rename Foo to account service":  "not a valid name",
		"rename Foo, Bar to Baz":         "not the name of a symbol",
		"rename Foo.a to Bar.b":          "elsewhere",
		"explain this":                   "explain what?",
		"rename foo.go to bar":           "lacks an extension such as .go",
		"rename *.go to a.go":            "one new path",
		"fix it":                         "fix what?",
		"rename Foo to Bar in (x)":       "no file or folder",
		"create a branch":                "what is the branch called?",
		"git diff between two revisions": "neither a path nor a revision",
	} {
		in := intent.Parse(words)
		c := nowhere.Route(in, intent.Policy{})
		if c.Empty() {
			t.Errorf("%q: got nothing (%s)", words, spell(in))
			continue
		}
		if c.Bound() || c.Ready() || !strings.Contains(strings.Join(c.Missing, "; "), want) {
			t.Errorf("%q: got missing %q, want %q", words, c.Missing, want)
		}
	}
}

func TestChainIsReadyOnlyWithNothingMissing(t *testing.T) {
	for words, want := range map[string]struct{ bound, model, confident, ready bool }{
		"rename Foo to Bar":                  {true, false, true, true},
		"find AuthHandler":                   {true, false, true, true},
		"run the tests":                      {true, false, true, true},
		"commit":                             {true, false, true, true},
		"fix bug in handler.go":              {true, true, true, false},
		"find user login":                    {true, false, true, false}, // left to the model if there is one
		"rename Foo":                         {false, false, true, false},
		"rename Foo to Bar without the docs": {true, false, false, false},
		"hello":                              {false, false, false, false},
	} {
		c := nowhere.Route(intent.Parse(words), intent.Policy{})
		if c.Bound() != want.bound || c.NeedsModel() != want.model || c.Confident() != want.confident || c.Ready() != want.ready {
			t.Errorf("%q: bound %v, needs a model %v, confident %v, ready %v", words, c.Bound(), c.NeedsModel(), c.Confident(), c.Ready())
		}
	}
}

func TestPolicyChangesChains(t *testing.T) {
	prefer := func(tools ...string) intent.Policy { return intent.Policy{PreferTools: tools} }
	commit := `vcs.diff{"of":"commit"}; code.summarize{"diff":"${changes.diff}"} ←0; `
	for _, c := range []struct {
		rule, words string
		policy      intent.Policy
		want        string
	}{
		{"find by symbols", "find Foo", prefer("code", "test"), `code.symbols{"query":"Foo"}`},
		{"first preference wins", "find Foo", prefer("fs", "code"), `fs.search{"query":"Foo"}`},
		{"find several words", "find user login", prefer("code"), `fs.search{"query":"user login","words":true}`},
		{"explain by definition", "what is Foo", prefer("code"), `code.definition{"allow_none":true,"symbol":"Foo"}`},
		{"references by search", "where is Foo used", prefer("fs"), `fs.search{"query":"\\bFoo\\b","regex":true}`},
		{"unknown preference is ignored", "find Foo", prefer("serena"), `fs.search{"query":"Foo"}`},
		{
			"tests before a commit", "commit",
			intent.Policy{RequireTests: true},
			commit + `test.run; vcs.commit{"message":"${summary.title}"}! ←1 ←2`,
		},
		{"tests are not added twice", "rename a.go to b.go", intent.Policy{RequireTests: true}, `fs.move{"from":"a.go","to":"b.go"}!; test.run{"allow_none":true} ←0`},
		{"reading needs no tests", "find Foo", intent.Policy{RequireTests: true}, `fs.search{"query":"Foo"}`},
	} {
		if got := draw(nowhere.Route(intent.Parse(c.words), c.policy)); got != c.want {
			t.Errorf("%s: %q: got %s, want %s", c.rule, c.words, got, c.want)
		}
	}
}

func TestRequiredTestsAreAddedToDecodedChains(t *testing.T) {
	for nodes, want := range map[string]string{
		`{"tool":"fs.write"},{"tool":"vcs.commit","args":{"message":"m"}}`: `fs.write~!; test.run ←0; vcs.commit{"message":"m"}! ←0 ←1`,
		`{"tool":"fs.remove","args":{"path":"a"}},{"tool":"vcs.status"}`:   `fs.remove{"path":"a"}!; vcs.status~ ←0; test.run{"allow_none":true} ←0`,
	} {
		c, err := intent.DecodeChain([]byte(`{"nodes":[` + nodes + `]}`))
		if got := draw(intent.Policy{RequireTests: true}.Apply(c)); err != nil || got != want {
			t.Errorf("got %s (%v), want %s", got, err, want)
		}
	}
}

func TestPolicyRefusesUnknownFields(t *testing.T) {
	p, err := intent.DecodePolicy([]byte(`{"prefer_tools":["code","test"],"require_tests":true}`))
	if err != nil || len(p.PreferTools) != 2 || !p.RequireTests {
		t.Errorf("%+v: %v", p, err)
	}
	for text, want := range map[string]string{
		`{"require_test":true}`:   "require_test",
		`{"prefer_tools":"code"}`: "the policy is not of the form",
		`[]`:                      "the policy is not of the form",
		``:                        "the policy is not of the form",
		`{} {}`:                   "something follows",
		`{"gates":[]}`:            "gates",
	} {
		if _, err := intent.DecodePolicy([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestVerbsWithoutObjectsAreNotBound(t *testing.T) {
	for _, words := range []string{"commit with message", "rename to Bar"} {
		if chain := nowhere.Route(intent.Parse(words), intent.Policy{}); chain.Bound() {
			t.Errorf("%q: bound to %v", words, chain.Tools())
		}
	}
}

// nowhere is an unknown workspace.
var nowhere intent.Facts
