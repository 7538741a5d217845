package intent_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"replan/planning/intent"
	"replan/planning/plan"
)

// schemas are the arguments of the workspace's operators, optional ones in
// brackets.
var schemas = map[string]string{
	"fs.read":         "path [offset:integer] [limit:integer]",
	"fs.list":         "[path] [depth:integer]",
	"fs.stat":         "path",
	"fs.search":       "query [path] [regex:boolean] [ignore_case:boolean] [glob] [context:integer] [max:integer] [words:boolean]",
	"fs.write":        "path text",
	"fs.patch":        "[path] [old] [new] [all:boolean] [diff] [hashes:object]",
	"fs.move":         "from to",
	"fs.mkdir":        "path",
	"fs.remove":       "path",
	"code.symbols":    "[path] [query] [max:integer]",
	"code.definition": "symbol [path] [allow_none:boolean]",
	"code.references": "symbol [path] [allow_none:boolean]",
	"code.parse":      "path",
	"code.summarize":  "[text] [path] [diff] [log:object] [tests:object] [matches:object] [symbol]",
	"code.transform":  "kind [symbol] [new_name] [pattern] [replacement] [regex:boolean] [glob] [path]",
	"proc.run":        "[argv:array] [shell] [timeout]",
	"test.detect":     "[path]",
	"test.run":        "[path] [run] [timeout] [allow_failures:boolean] [allow_none:boolean] [sources:boolean]",
	"test.lint":       "[path] [allow_failures:boolean]",
	"vcs.status":      "",
	"vcs.diff":        "[of] [path] [ref]",
	"vcs.log":         "[path] [max:integer] [since] [allow_none:boolean]",
	"vcs.show":        "[ref] [path]",
	"vcs.branches":    "",
	"vcs.branch":      "name [create:boolean]",
	"vcs.commit":      "message [paths:array] [all:boolean]",
	"vcs.push":        "[remote] [branch] [set_upstream:boolean]",
}

// looking are the operators that the checks of chains call.
var looking = []string{"code.definition", "fs.stat", "vcs.branches", "vcs.log"}

// choices are sets of arguments; one set must be complete.
var choices = map[string][]string{
	"fs.patch":       {"path old new", "diff"},
	"code.transform": {"symbol new_name", "pattern replacement"},
	"proc.run":       {"argv", "shell"},
	"code.summarize": {"text", "path", "diff", "log", "tests", "matches", "symbol"},
}

// catalog returns the operators with schemas that allow no other arguments.
func catalog() plan.Catalog {
	var all plan.Catalog
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		properties, required := map[string]any{}, []string{}
		for _, arg := range strings.Fields(schemas[name]) {
			bare := strings.Trim(arg, "[]")
			arg, kind, ok := strings.Cut(bare, ":")
			if !ok {
				kind = "string"
			}
			properties[arg] = map[string]any{"type": kind}
			if strings.Contains(" "+schemas[name]+" ", " "+bare+" ") {
				required = append(required, arg)
			}
		}
		object := map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
		for _, set := range choices[name] {
			list, _ := object["anyOf"].([]any)
			object["anyOf"] = append(list, map[string]any{"required": strings.Fields(set)})
		}
		schema, err := json.Marshal(object)
		if err != nil {
			panic(err)
		}
		all = append(all, plan.Tool{Name: name, Server: "workspace", InputSchema: schema, ReadOnly: slices.Contains(looking, name)})
	}
	return all
}

// anyIntent generates an intent from Parse, or a known pair with any values.
func anyIntent(t *rapid.T) intent.Intent {
	in := intent.Parse(phrase(t))
	if rapid.Bool().Draw(t, "made up") {
		pair := rapid.SampledFrom(pairs).Draw(t, "pair")
		value := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "a.go", "a/b", "./...", "Foo.bar", "(*T).M", "TestX/a", "${x}", "$${", "*", ".", "..", "/", "two words"}))
		in = intent.Intent{Category: pair[0], Action: pair[1], Target: value.Draw(t, "target"), Params: map[string]string{}, Confidence: 1}
		for _, name := range []string{"new_name", "from", "to", "with", "in", "problem", "message", "max", "of", "create", "commit", "since", "line", "command", "kinds", "how", "case", "expression", "whole", "raised", "trace"} {
			if rapid.Bool().Draw(t, "has "+name) {
				in.Params[name] = value.Draw(t, name)
			}
		}
	}
	return in
}

var pairs = [][2]string{
	{"navigate", "find"},
	{"navigate", "references"},
	{"navigate", "definition"},
	{"navigate", "symbols"},
	{"navigate", "read"},
	{"explain", "explain"},
	{"modify", "edit"},
	{"modify", "fix"},
	{"modify", "extract"},
	{"refactor", "rename"},
	{"refactor", "refactor"},
	{"validate", "test"},
	{"validate", "lint"},
	{"debug", "debug"},
	{"create", "create"},
	{"create", "add_tests"},
	{"vcs", "status"},
	{"vcs", "diff"},
	{"vcs", "log"},
	{"vcs", "commit"},
	{"vcs", "branch"},
	{"vcs", "push"},
	{"vcs", "blame"},
	{"navigate", "lines"},
	{"project", "build"},
	{"project", "format"},
	{"project", "run"},
	{"project", "dependencies"},
}

func anyPolicy(t *rapid.T) intent.Policy {
	return intent.Policy{
		PreferTools:  rapid.SliceOfN(rapid.SampledFrom([]string{"code", "fs", "test", "other"}), 0, 3).Draw(t, "prefer"),
		RequireTests: rapid.Bool().Draw(t, "tests"),
	}
}

func TestEveryIntentHasAValidPlan(t *testing.T) {
	tools := catalog()
	rapid.Check(t, func(t *rapid.T) {
		in, policy := anyIntent(t), anyPolicy(t)
		c := nowhere.Route(in, policy)
		if c.Empty() != (in.Category == "unknown") {
			t.Fatalf("%+v has %d nodes", in, len(c.Nodes))
		}
		out, err := intent.Compose(c, "a goal")
		if err != nil {
			t.Fatalf("%+v: %v", in, err)
		}
		// A bound chain without a model must be valid as it is; otherwise a model
		// fills in args.
		open := !c.Bound() || c.NeedsModel()
		faults, _ := plan.Validate(out.Plan, plan.Rules{Catalog: tools, CheckTools: true, PartialArgs: open})
		if len(faults) > 0 {
			t.Fatalf("%+v: %s\n%v", in, draw(c), faults)
		}
		read, err := intent.DecodeChain([]byte(plan.CanonicalJSON(encoded(t, c))))
		if err != nil || draw(read) != draw(c) {
			t.Fatalf("%s\nread back is\n%s (%v)", draw(c), draw(read), err)
		}
		for _, n := range c.Nodes {
			if title := string(n.Title); title != strings.TrimSpace(title) {
				t.Fatalf("%+v: the title %q ends with nothing", in, title)
			}
		}
		checkOrder(t, out)
		if policy.RequireTests {
			checkTested(t, c)
		}
	})
}

func encoded(t *rapid.T, v any) any {
	data, err := plan.EncodeJSON(v)
	if err != nil {
		t.Fatal(err)
	}
	back, err := plan.DecodeValue(data)
	if err != nil {
		t.Fatal(err)
	}
	return back
}

// checkOrder reports whether the order is topological and the groups may run at once.
func checkOrder(t *rapid.T, out intent.Composition) {
	n := len(out.Graph.Nodes)
	place := make([]int, n)
	for at, i := range out.ExecutionOrder {
		place[i] = at
	}
	if len(out.ExecutionOrder) != n || len(slices.Compact(slices.Sorted(slices.Values(out.ExecutionOrder)))) != n {
		t.Fatalf("got order %v, want %d nodes", out.ExecutionOrder, n)
	}
	reaches := make([][]bool, n) // by any path
	for i := range reaches {
		reaches[i] = make([]bool, n)
	}
	for _, e := range out.Graph.Edges {
		if place[e[0]] >= place[e[1]] {
			t.Fatalf("the order %[2]v violates %[1]v", e, out.ExecutionOrder)
		}
		reaches[e[0]][e[1]] = true
	}
	for k := range n {
		for i := range n {
			for j := range n {
				reaches[i][j] = reaches[i][j] || reaches[i][k] && reaches[k][j]
			}
		}
	}
	for _, group := range out.Parallelizable {
		if len(group) < 2 {
			t.Fatalf("got a group of one: %v", out.Parallelizable)
		}
		for _, a := range group {
			for _, b := range group {
				if reaches[a][b] {
					t.Fatalf("%d and %d depend on each other but share a group in %v", a, b, out.Parallelizable)
				}
			}
		}
	}
}

// checkTested checks that tests cover every change and every commit.
func checkTested(t *rapid.T, c intent.Chain) {
	for i, n := range c.Nodes {
		switch n.Tool {
		case "vcs.commit":
			if !waitsForTests(c, i) {
				t.Fatalf("got no tests before the commit: %s", draw(c))
			}
		case "fs.patch", "fs.write", "fs.move":
			if !slices.ContainsFunc(c.Nodes, func(m intent.Node) bool { return m.Tool == "test.run" && slices.Contains(m.DependsOn, i) }) {
				t.Fatalf("got no tests after the change: %s", draw(c))
			}
		}
	}
}

func waitsForTests(c intent.Chain, at int) bool {
	return slices.ContainsFunc(c.Nodes[at].DependsOn, func(d int) bool { return c.Nodes[d].Tool == "test.run" || waitsForTests(c, d) })
}

func TestQuotedWordsReachTheOperatorsUnchanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		target := rapid.StringMatching(`[ -~]{1,20}`).Filter(func(s string) bool { return strings.TrimSpace(s) != "" }).Draw(t, "target")
		in := intent.Intent{Category: "navigate", Action: "find", Target: target, Params: map[string]string{"exact": "true"}, Confidence: 1}
		c := nowhere.Route(in, intent.Policy{})
		got, err := plan.Resolve(c.Nodes[0].Args["query"], nil)
		if err != nil || got != target {
			t.Fatalf("got query %[2]q, want %[1]q (%[3]v)", target, got, err)
		}
	})
}

func FuzzDecodeChain(f *testing.F) {
	f.Add([]byte(`{"nodes":[{"tool":"fs.read","args":{"path":"a"}},{"tool":"fix"}]}`))
	f.Add([]byte(`{"nodes":[{"tool":"fs.read","depends_on":[1]},{"tool":"fs.list","depends_on":[0]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := intent.DecodeChain(data)
		if err != nil {
			return
		}
		if _, err := intent.Compose(c, ""); err != nil {
			t.Fatalf("compose %s: %v", data, err)
		}
	})
}

func BenchmarkParseAndRoute(b *testing.B) {
	for name, words := range map[string]string{
		"rename": "please rename the authenticate function to verify_user",
		"fix":    "fix the nil pointer bug in handler.go",
		"commit": "commit with message 'fix login'",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				nowhere.Route(intent.Parse(words), intent.Policy{})
			}
		})
	}
}

func BenchmarkCompose(b *testing.B) {
	c := nowhere.Route(intent.Parse("rename Foo to Bar"), intent.Policy{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := intent.Compose(c, "rename Foo to Bar"); err != nil {
			b.Fatal(err)
		}
	}
}
