package main_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// imports says which packages of this module, and which others, a package may import. Of
// several rows that are about a package, each holds. In "may" and "not", a name stands for a
// package and all below it, with a dollar for that package alone; the longest one decides.
var imports = []struct{ of, may, not, why string }{
	{"examples/...", "", "internal", "an example shows what programs outside can do"},
	{"themes", "", "*", "themes stand alone"},
	{"internal/partstest internal/redact internal/timelimit internal/wholefile internal/tomledit internal/picture internal/testgarbage", "", "*", "they stand alone"},
	{"internal/english internal/markdown internal/jsonparts internal/jsonsize internal/nesting internal/testfile internal/untrusted", "internal/english", "*", "counts, lists, Markdown and clean text stand alone"},
	{"internal/placeholder", "internal/lazyregexp", "*", "what stands for content stands alone"},

	{"planning/...", "planning internal/lazyregexp internal/english internal/markdown internal/jsonsize internal/nesting internal/testfile internal/untrusted internal/placeholder", "*", "planning imports no other room"},
	{"planning/... agent agent/event", "", "os$ net/http", "planning and the core do no I/O"},
	{"planning/... agent", "", "charm.land github.com/mark3labs/mcp-go github.com/ollama/ollama", "planning and the core know no screen, and call nobody"},
	{"planning/plan/...", "planning/plan planning/expression internal/lazyregexp internal/english internal/jsonsize internal/nesting internal/untrusted internal/placeholder", "*", "a plan is data that knows no other package"},
	{"planning/expression", "internal/lazyregexp internal/english", "*", "an expression is about values, not about plans"},
	{"planning/reply", "planning/plan internal/lazyregexp internal/english internal/untrusted", "*", "replies are read into plans alone"},
	{"planning/prompt", "planning/plan planning/reply planning/retrieval planning/intent planning/pace planning/fit internal/lazyregexp internal/english internal/markdown internal/testfile internal/untrusted", "*", "prompts are made of plans, replies, findings and what the words of a goal mean"},
	{"planning/retrieval", "planning/plan", "*", "tools are ranked by their words alone"},
	{"planning/fit", "planning/plan planning/pace internal/untrusted", "*", "findings and tasks are of plans alone"},

	{"agent/event", "planning agent/rule internal/jsonparts internal/lazyregexp internal/untrusted", "*", "events are data of plans and rules"},
	{"agent agent/event", "", "math/rand", "the core is deterministic"},
	{"agent/rule", "planning internal/lazyregexp internal/untrusted", "* os$", "rules are about calls, not about events"},
	{"agent", "planning agent/event agent/rule internal/english internal/jsonparts internal/lazyregexp internal/markdown internal/untrusted", "*", "the core imports planning alone"},
	{"agent/store/journal agent/store/values agent/policy agent/ollama/...", "planning agent$ agent/event agent/rule agent/ollama agent/store/values internal/wholefile internal/redact internal/english internal/untrusted internal/picture", "*", "these rooms import agent and planning alone"},
	{"agent/store", "planning agent$ agent/event agent/rule agent/session agent/store internal/wholefile internal/untrusted", "*", "the store imports agent and planning alone"},
	{"agent/store/instructions", "", "*", "instructions are files alone"},
	{"agent/store/plans", "planning internal/wholefile internal/english internal/untrusted", "*", "stored plans import planning alone"},
	{"agent/session", "planning agent$ agent/event agent/rule internal/english internal/untrusted", "* os$", "what a session and its user exchange is data of agent and planning"},
	{"agent/remote", "planning/plan agent$ agent/event agent/policy agent/session agent/store/values internal/untrusted", "*", "runs elsewhere are data of agent and planning"},
	{"agent/plantool", "planning agent$", "* os$", "results of plan tools are data of agent and planning"},
	{"agent/runner", "planning agent internal/timelimit internal/english internal/markdown internal/picture internal/untrusted", "* agent/store agent/remote", "the runner imports agent and planning alone, is given its journal, and does not know where it runs"},
	{"agent/runner/intake", "planning agent/event agent/session", "* os$", "jobs on their way are values: whoever carries out their steps does the I/O"},
	{"agent/...", "", "charm.land", "the engine knows no screen"},

	{"mcpclient/...", "planning mcpclient internal/timelimit internal/wholefile internal/redact internal/lazyregexp internal/english internal/markdown internal/jsonsize internal/nesting internal/testfile internal/testgarbage internal/untrusted internal/placeholder internal/tomledit internal/picture", "* charm.land", "tools import planning alone, and know no screen"},
	{"mcpclient/box", "", "*", "the box stands alone"},
	{"mcpclient mcpclient/connection mcpclient/server mcpclient/trust mcpclient/child mcpclient/config mcpclient/incoming mcpclient/oauth", "", "mcpclient/workspace", "the client knows its own server by mcpclient/builtin alone"},
	{"mcpclient/workspace/files mcpclient/workspace/data mcpclient/workspace/git mcpclient/workspace/tests mcpclient/workspace/process mcpclient/workspace/memory mcpclient/workspace/undo", "mcpclient/workspace/op mcpclient/workspace/tree mcpclient/workspace/change mcpclient/workspace/grep mcpclient/workspace/code/source", "mcpclient/workspace", "families of operators do not know each other"},
	{"mcpclient/workspace/code", "mcpclient/workspace/op mcpclient/workspace/tree mcpclient/workspace/change mcpclient/workspace/grep mcpclient/workspace/code", "mcpclient/workspace", "families of operators do not know each other"},
	{"mcpclient/workspace/op mcpclient/workspace/tree", "", "mcpclient/workspace", "what operators share knows none of them"},
	{"mcpclient/workspace/change mcpclient/workspace/grep", "mcpclient/workspace/op mcpclient/workspace/tree mcpclient/workspace/code/source", "mcpclient/workspace", "what operators share knows none of them"},
	{"mcpclient/workspace/code/source mcpclient/workspace/code/golang mcpclient/workspace/code/digest mcpclient/workspace/code/lsp", "mcpclient/workspace/code/ mcpclient/box mcpclient/child internal/lazyregexp internal/english internal/markdown internal/testfile", "* github.com/mark3labs/mcp-go", "what is known of code stands alone, and is no tool"},

	{"tui/...", "", "mcpclient agent/ollama agent/store github.com/mark3labs/mcp-go github.com/ollama/ollama", "servers and models reach the screen as events, and it reads no files"},
	{"tui/story tui/wording tui/plantext tui/transcript", "", "tui/draw tui/keymap charm.land", "sentences and text without styles know no screen and no keys"},
	{"tui/plain", "", "tui/keymap charm.land/bubbletea tui$", "the line log is no screen"},
	{"tui/...", "", "tui/plain tui/transcript", "the line log and transcripts are for the command line"},
	{panes, "", "tui$ agent/runner " + panes, "only the root model knows the panes; they send commands and ask queries of agent/session"},
	{"tui/clock", "", "*", "the clock knows no run and no screen"},
	{"tui/notify", "internal/untrusted", "*", "alerts know no run and no screen"},
	{"tui/selection", "tui/draw", "*", "a selection is of drawn lines"},
	{"tui/answerguard tui/panes tui/draw tui/editor tui/keymap tui/live tui/story tui/wording tui/timing tui/plantext", "", "tui$ " + panes, "text, keys and sentences know no pane"},

	{"agent/... planning/... mcpclient/... tui/... internal/... themes distributed/records distributed/host distributed/client distributed/telemetry distributed/postgrestest examples/...", "", "cli", "only main and workers import cli"},
	{"cli/...", "", "cli$", "only main imports cli itself"},
	{"cli/serve", "", "agent/store agent/runner mcpclient os$", "the server is given its sessions, its tools and what lies on disk"},
	{"distributed/records distributed/host distributed/client", "", "distributed/worker distributed/telemetry tui mcpclient", "what a worker is made of does not know its commands"},
	{"distributed/telemetry", "planning agent/event", "*", "metrics and traces are of events alone"},
	{"distributed/postgrestest", "", "*", "the server for tests stands alone"},
}

const panes = "tui/ask tui/chat tui/dag tui/dialog tui/frame tui/input tui/replay tui/review tui/step tui/timeline"

func TestPackagesImportWhatTheyMay(t *testing.T) {
	used := map[int]bool{}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == "testdata" || len(file) > 1 && d.Name()[0] == '.') {
			return fs.SkipDir
		}
		if err != nil || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		in := filepath.ToSlash(filepath.Dir(file))
		for row, rule := range imports {
			if !isOf(rule.of, in) {
				continue
			}
			used[row] = true
			for _, spec := range parsed.Imports {
				name, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					return err
				}
				if longest(rule.not, name) > longest(rule.may, name) && name != path.Join("replan", in) {
					t.Errorf("%s imports %s: %s", file, name, rule.why)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for row, rule := range imports {
		if !used[row] {
			t.Errorf("the row about %q is about no package", rule.of)
		}
	}
}

// isOf reports whether a package is one of those that a row is about.
func isOf(packages, name string) bool {
	for p := range strings.FieldsSeq(packages) {
		if folder, below := strings.CutSuffix(p, "/..."); p == name || below && (name == folder || strings.HasPrefix(name, folder+"/")) {
			return true
		}
	}
	return false
}

// longest returns the length of the longest name that stands for an imported package, 0 if
// none does. A star stands for the whole module.
func longest(names, imported string) int {
	most := 0
	for name := range strings.FieldsSeq(names) {
		name, alone := strings.CutSuffix(name, "$")
		for _, full := range []string{name, "replan/" + name} {
			if name == "*" {
				full = "replan"
			}
			if imported == full || !alone && strings.HasPrefix(imported, strings.TrimSuffix(full, "/")+"/") {
				most = max(most, len(full))
			}
		}
	}
	return most
}
