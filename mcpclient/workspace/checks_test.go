package workspace_test

import (
	"maps"
	"testing"

	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/workspacetest"
	"replan/planning/expression"
	"replan/planning/intent"
	"replan/planning/plan"
)

// carry carries out the plan of an order, but for the tool idle, and returns the titles
// of the checks that do not hold, and how many do.
func carry(t *testing.T, b *bench, order, idle string) (refuted []string, verified int) {
	t.Helper()
	p := intent.Facts{}.RouteWords(order, intent.Policy{}).Plan(order)
	variables := map[string]any{}
	call := func(tool string, args map[string]any, values map[string]any) any {
		resolved, err := plan.ResolveArgs(args, values)
		if err != nil {
			t.Fatalf("%s: %s: %v", order, tool, err)
		}
		return b.Must(t, tool, resolved).Data
	}
	for _, s := range p.Steps {
		var result any = map[string]any{}
		if s.Tool != idle {
			result = call(s.Tool, s.Args, variables)
		}
		if s.ResultVariable != "" {
			variables[s.ResultVariable] = result
		}
		for _, check := range s.Checks {
			values := maps.Clone(variables)
			values["result"], values["args"] = result, s.Args
			if check.Tool != "" {
				values["result"] = call(check.Tool, check.Args, values)
			}
			e, err := expression.Compile(check.Expect, nil)
			if err != nil {
				t.Fatal(err)
			}
			switch holds, saw, err := e.Holds(values); {
			case err != nil:
				t.Errorf("%s: %s: %v", order, check.Expect, err)
			case holds:
				verified++
			default:
				t.Logf("%s: %s: %s", order, check.Expect, plan.SawWords(saw))
				refuted = append(refuted, string(check.Title))
			}
		}
	}
	return refuted, verified
}

// repository is a workspace with files in a repository without a commit.
func repository(t *testing.T, files map[string]string) *bench {
	b := newBench(t, workspace.Config{})
	b.Write(t, files)
	workspacetest.Git(t, b.Dir, "init", "-q", "-b", "main")
	workspacetest.Git(t, b.Dir, "config", "user.name", "A")
	workspacetest.Git(t, b.Dir, "config", "user.email", "a@example.org")
	return b
}

const goModule = "module m\n\ngo 1.24\n"

func TestChecksOfChainsHoldForRightResults(t *testing.T) {
	t.Parallel()
	workspacetest.NeedGit(t)
	cart := "package m\n\n// Cart holds things.\ntype Cart struct{}\n\nfunc (c *Cart) Add() {}\n\n// Bag is no Cart.\ntype Bag struct{}\n\nfunc (b *Bag) Add() {}\n\nfunc use() { Cart := 1; _ = Cart }\n"
	for name, tt := range map[string]struct {
		files map[string]string
		order string
		idle  string // the tool whose effect the checks miss; "" if nothing changes
		want  int    // checks
	}{
		"a type, with a comment and a local of its name": {map[string]string{"go.mod": goModule, "cart.go": cart, "README.md": "# Cart\n"}, "rename Cart to Basket", "fs.patch", 2},
		"a method whose name another type has":           {map[string]string{"go.mod": goModule, "cart.go": cart}, "rename Cart.Add to Put", "fs.patch", 2},
		"a name that an ignored file has, too": {map[string]string{
			"go.mod": goModule, "cart.go": cart, "gen.go": "//go:build ignore\n\npackage m\n\ntype Cart int\n", "gen2.go": "//go:build ignore\n\npackage m\n\ntype Cart int\n",
		}, "rename Cart to Basket", "fs.patch", 2},
		"a name of one folder": {map[string]string{
			"go.mod": goModule, "a/a.go": "package a\n\ntype Config int\n", "b/b.go": "package b\n\ntype Config int\n",
		}, "rename Config to Settings in a", "fs.patch", 2},
		"a class, by words":                 {map[string]string{"cart.py": "class Cart:\n    pass\n\ndef use():\n    return Cart()\n", "other.js": "const Cart = 1\n"}, "rename Cart to Basket in cart.py", "fs.patch", 2},
		"a text that its replacement holds": {map[string]string{"a.txt": "foo\n", "b.txt": "foo foo\n"}, "replace foo with foobar", "fs.patch", 2},
		"tests":                             {map[string]string{"go.mod": goModule, "a_test.go": "package m\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\n"}, "run the tests", "", 1},
		"a first commit":                    {map[string]string{"a.txt": "a\n"}, `commit with message "first"`, "", 1},
		"a branch":                          {map[string]string{"a.txt": "a\n"}, "create branch side", "vcs.branch", 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := repository(t, tt.files)
			if tt.idle != "" {
				if refuted, _ := carry(t, b, tt.order, tt.idle); len(refuted) != 1 {
					t.Errorf("without %s, the refuted checks are %q", tt.idle, refuted)
				}
			}
			if refuted, verified := carry(t, b, tt.order, ""); len(refuted) > 0 || verified != tt.want {
				t.Errorf("%d checks hold, and %q do not", verified, refuted)
			}
		})
	}
}

func TestCommitOfNothingRefutesNothing(t *testing.T) {
	t.Parallel()
	workspacetest.NeedGit(t)
	b := repository(t, map[string]string{"a.txt": "a\n"})
	for range 2 {
		if refuted, _ := carry(t, b, `commit with message "all of it"`, ""); len(refuted) > 0 {
			t.Errorf("%q do not hold", refuted)
		}
	}
}
