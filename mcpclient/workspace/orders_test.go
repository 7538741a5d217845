package workspace_test

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"testing"

	"replan/internal/untrusted"
	"replan/mcpclient/workspace"
	"replan/planning/intent"
	"replan/planning/plan"
)

// ordersText lists orders that people type without a model, and what becomes of each; its head
// describes the form.
//
//go:embed testdata/orders.txt
var ordersText string

// order is one of them.
type order struct{ words, outcome, tools, says string }

// readOrders returns the orders of each project.
func readOrders(t *testing.T) map[string][]order {
	all, project := map[string][]order{}, ""
	for line := range strings.Lines(ordersText) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "## "); ok {
			project = name
		}
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		columns := strings.Split(line, " :: ")
		if len(columns) != 4 {
			t.Fatalf("this is not of the form words :: outcome :: tools :: says: %q", line)
		}
		all[project] = append(all[project], order{columns[0], columns[1], columns[2], columns[3]})
	}
	return all
}

// reads are the tools whose calls the test makes: they only read.
var reads = []string{"fs.read", "fs.list", "fs.search", "code.symbols", "code.definition", "code.references", "code.summarize", "vcs.log", "fs.stat", "vcs.show", "vcs.diff", "vcs.status"}

// TestOrdersWithoutAModelDoWhatTheySay holds what becomes of orders in a small repository of
// each language: they are done, they ask, or they are refused with a hint. None does anything
// else than what it says, and most are done.
func TestOrdersWithoutAModelDoWhatTheySay(t *testing.T) {
	needGit(t)
	useful, all := 0, 0
	for project, orders := range readOrders(t) {
		b := newBench(t, workspace.Config{})
		b.Write(t, projects[project])
		git(t, b.Dir, "init", "-q", "-b", "main")
		git(t, b.Dir, "add", "-A")
		git(t, b.Dir, "-c", "user.name=Ann", "-c", "user.email=ann@example.com", "commit", "-q", "-m", "Begin the project")
		for _, o := range orders {
			if all++; o.outcome == "useful" {
				useful++
			}
			facts, err := b.Ops.Facts(t.Context(), intent.NewSurvey(o.words))
			if err != nil {
				t.Fatal(err)
			}
			chain := facts.RouteWords(o.words, intent.Policy{})
			outcome, says := "useful", ""
			switch {
			case chain.Empty(), chain.Bound() && (!chain.Confident() || chain.NeedsModel()):
				outcome, says = "refused", facts.Refuse(o.words).Text
			case !chain.Bound():
				outcome, says = "asks", strings.Join(chain.Missing, "; ")
			default:
				says = answered(t, b, chain, project == "go")
			}
			tools := strings.Join(calls(chain), ", ")
			if outcome == "refused" {
				tools = ""
			}
			if outcome != o.outcome || o.says != "-" && !strings.Contains(says, o.says) || tools != o.tools && o.tools != "*" {
				t.Errorf("%s: %s :: %s :: %s :: %s\nwant :: %s :: %s :: %s", project, o.words, outcome, tools, says, o.outcome, o.tools, o.says)
			}
		}
	}
	t.Logf("%d of %d orders are useful without a model", useful, all)
	if useful*10 < all*8 {
		t.Errorf("%d of %d orders are useful", useful, all)
	}
}

// calls are the tools of a chain, with the command of a program and a mark where they ask.
func calls(chain intent.Chain) []string {
	var all []string
	for _, n := range chain.Nodes {
		call := n.Tool
		if argv, ok := n.Args["argv"].([]any); ok {
			call += " " + strings.Trim(fmt.Sprint(argv), "[]")
		}
		if n.Gate {
			call += "?"
		}
		all = append(all, call)
	}
	return all
}

// answered calls the tools of a chain that only reads and runs Go's tests at most, and returns
// its answer; "" for all other chains.
func answered(t *testing.T, b *bench, chain intent.Chain, runs bool) string {
	var history []plan.HistoryItem
	variables := map[string]any{}
	for i, n := range chain.Nodes {
		if !slices.Contains(reads, n.Tool) && (n.Tool != "test.run" || chain.Intent.Action != "debug" || !runs) {
			return ""
		}
		given := args{}
		for name, value := range n.Args {
			if text, ok := value.(string); ok && strings.HasPrefix(text, "${") {
				value = variables[strings.Trim(text, "${}")]
			}
			given[name] = value
		}
		item := plan.HistoryItem{Index: fmt.Sprint(i + 1), Tool: n.Tool, Args: n.Args, Status: plan.ItemCompleted}
		got := b.Ask(t, n.Tool, given, nil)
		item.Result = got.Data
		if got.Data == nil {
			item.Result = got.Text
		}
		if got.IsError {
			item.Status, item.Error = plan.ItemFailed, untrusted.Text(got.Text)
		}
		variables[n.ResultVariable] = item.Result
		history = append(history, item)
	}
	return intent.Answer(chain.Intent, history, "")
}

// projects are the repositories of the orders.
var projects = map[string]map[string]string{
	"go": {
		"go.mod":    "module example.com/pflag\n\ngo 1.24\n",
		"README.md": "# Flags\n\nThis is deprecated.\n",
		"flag.go": `// Package pflag reads flags.
package pflag

import "errors"

// ErrHelp is returned for -help.
var ErrHelp = errors.New("pflag: help requested")

// NormalizedName is the name of a flag.
type NormalizedName string

// FlagSet is a set of flags.
type FlagSet struct{ changed bool }

// NewFlagSet returns an empty set.
func NewFlagSet(name string) *FlagSet { return &FlagSet{} }

// Parse reads arguments.
func (f *FlagSet) Parse(arguments []string) error {
	if Lookup("help") != "" { // TODO: read them all
		return ErrHelp
	}
	return nil
}

// Changed reports whether a flag was set.
func (f *FlagSet) Changed() bool { return f.changed }

// Lookup finds a flag.
func Lookup(name string) NormalizedName { return "" }

// StringVarP defines a string flag.
func StringVarP(p *string, name, shorthand string) { *p = name }
`,
		"bool.go":      "package pflag\n\n// boolValue is a flag. FIXME: it has no name.\ntype boolValue bool\n",
		"flag_test.go": "package pflag\n\nimport \"testing\"\n\nfunc TestShorthand(t *testing.T) {\n\tif NewFlagSet(\"a\").Changed() || Lookup(\"b\") != \"\" {\n\t\tt.Error(\"it is changed\")\n\t}\n}\n\nfunc TestBoolFlag(t *testing.T) {}\n",
	},
	"py": {
		"pyproject.toml":             "[project]\nname = \"itsdangerous\"\ndependencies = [\"cryptography>=41\"]\n\n[build-system]\nrequires = [\"flit_core\"]\n\n[tool.pytest.ini_options]\ntestpaths = [\"tests\"]\n",
		"src/itsdangerous/exc.py":    "class BadSignature(Exception):\n    \"\"\"A signature does not match.\"\"\"\n",
		"src/itsdangerous/signer.py": "from .exc import BadSignature\n\n\nclass Signer:\n    \"\"\"Signs texts.\"\"\"\n\n    def sign(self, value):\n        return value + \".\"  # TODO: use a salt\n\n    def unsign(self, signed):\n        if not signed.endswith(\".\"):\n            raise BadSignature(signed)\n        return signed[:-1]\n\n\ndef check(signed):\n    return Signer().unsign(signed)\n",
		"tests/test_signer.py":       "from itsdangerous.signer import Signer\n\n\ndef test_unsign():\n    assert Signer().unsign(\"a.\") == \"a\"\n",
	},
	"ts": {
		"package.json":             "{\n  \"name\": \"p-queue\",\n  \"scripts\": {\"build\": \"tsc\", \"test\": \"node --test\"},\n  \"dependencies\": {\"eventemitter3\": \"^5.0.0\"}\n}\n",
		"source/index.ts":          "import PriorityQueue from './priority-queue.js';\n\nexport default class PQueue {\n\tqueue = new PriorityQueue();\n\n\tadd(run: () => void): void {\n\t\tthis.queue.enqueue(run); // TODO: sort\n\t}\n\n\tnext(): void {\n\t\tthis.queue.dequeue();\n\t}\n}\n",
		"source/priority-queue.ts": "// The queue of tasks.\nexport default class PriorityQueue {\n\titems: Array<() => void> = [];\n\n\tenqueue(run: () => void): void {\n\t\tthis.items.push(run);\n\t}\n\n\tdequeue(): void {\n\t\tthis.items.shift();\n\t}\n}\n\nexport function size(queue: PriorityQueue): number {\n\treturn queue.items.length;\n}\n",
	},
	"rs": {
		"Cargo.toml": "[package]\nname = \"hexyl\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
		"src/lib.rs": "/// How a border looks.\npub enum Border {\n    Ascii,\n}\n\n/// Prints bytes.\npub struct Printer {\n    border: Border,\n}\n\nimpl Printer {\n    /// Makes one.\n    pub fn new(border: Border) -> Printer {\n        Printer { border }\n    }\n}\n\npub fn print_all() -> Printer {\n    Printer::new(Border::Ascii)\n}\n",
	},
}
