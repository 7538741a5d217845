package wording_test

import (
	"strings"
	"testing"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/plan"
	"replan/tui/wording"
)

func TestCallsAreWrittenAsUsersTypeThem(t *testing.T) {
	for want, g := range map[string]event.GateRequested{
		"run all tests":                    {Tool: "test.run", Args: map[string]any{"allow_none": true}},
		"nothing: there are no tests here": {Tool: "test.run", Trusted: true, Command: &plan.Command{Argv: []string{}}},
		"go test ./...":                    {Tool: "test.run", Command: &plan.Command{Argv: []string{"go", "test", "./..."}}},
		"go vet ./...\nin the folder x":    {Tool: "test.lint", Command: &plan.Command{Argv: []string{"go", "vet", "./..."}, Dir: "x"}},
		"run the tests of ./slug":          {Tool: "test.run", Args: map[string]any{"path": "./slug"}},
		"make -C 'a dir'\nin the folder x": {Tool: "proc.run", Args: map[string]any{"argv": []any{"make", "-C", "a dir"}, "dir": "x"}},
		"git commit -- a.go\nfix it":       {Tool: "vcs.commit", Args: map[string]any{"message": "fix it", "paths": []any{"a.go"}}},
		"git push origin main":             {Tool: "vcs.push", Args: map[string]any{"remote": "origin", "branch": "main"}},
	} {
		g.Trusted = true
		if got := wording.CallWords(g); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		g.Trusted = false
		if got := wording.CallWords(g); got != "" {
			t.Errorf("the tool of another server: got %q", got)
		}
	}
}

func TestWarningNamesWhatUntrustedTextCanDo(t *testing.T) {
	exact := func(arg string) []rule.Provenance {
		return []rule.Provenance{{Arg: arg, Step: "1", Tool: "fs.read", Exact: true}}
	}
	written := []rule.Provenance{{Step: "1", Tool: "fs.read", Written: true}}
	for name, c := range map[string]struct {
		gate event.GateRequested
		goal string
		want string
	}{
		"a command":               {event.GateRequested{Tool: "proc.run", Trusted: true, Provenance: exact("shell")}, "", "part of a command"},
		"another server":          {event.GateRequested{Tool: "send", Server: "mail", Provenance: written}, "", "the server mail"},
		"a path from a result":    {event.GateRequested{Tool: "fs.write", Trusted: true, Provenance: exact("path"), Args: map[string]any{"path": "x.go"}}, "fix it", "chose the path x.go"},
		"not what the goal names": {event.GateRequested{Tool: "fs.write", Trusted: true, Provenance: written, Args: map[string]any{"path": "x.go"}}, "fix slug/slug.go", "chose the path x.go"},
		"what the goal names":     {event.GateRequested{Tool: "fs.write", Trusted: true, Provenance: written, Args: map[string]any{"path": "slug/slug.go"}}, "fix slug/slug.go", ""},
		"under a named folder":    {event.GateRequested{Tool: "fs.write", Trusted: true, Provenance: written, Args: map[string]any{"path": "slug/x.go"}}, "fix slug/", ""},
		"text of a file":          {event.GateRequested{Tool: "fs.write", Trusted: true, Provenance: exact("text"), Args: map[string]any{"path": "x.go"}}, "fix it", ""},
		"no untrusted text":       {event.GateRequested{Tool: "proc.run", Trusted: true}, "", ""},
	} {
		got := wording.Warning(c.gate, nil, c.goal)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestCallLinesShowWhatAPersonCanJudge(t *testing.T) {
	hash := strings.Repeat("0a", 32)
	hashes := map[string]any{"a.go": hash, "b.go": hash}
	files := func(names ...string) map[string]string {
		out := map[string]string{}
		for _, name := range names {
			out[name] = hash
		}
		return out
	}
	diff := map[string]any{"diff": "--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-a\n+b\n", "hashes": hashes}
	for want, g := range map[string]event.GateRequested{
		"a.go, b.go":                           {Args: diff, Diff: "x", Hashes: files("b.go", "a.go")},
		"5 files: a, b, c, d, e":               {Args: diff, Diff: "x", Hashes: files("e", "d", "c", "b", "a")},
		"diff (5 lines)  hashes of a.go, b.go": {Args: diff, Trusted: true},
		`to { "wallet": "` + hash + `" }`:      {Tool: "pay", Args: map[string]any{"to": map[string]any{"wallet": hash}}},
		`hashes { "wallet": "` + hash + `" }`:  {Tool: "pay", Args: map[string]any{"hashes": map[string]any{"wallet": hash}}},
		"nothing: there are no tests here":     {Tool: "test.run", Trusted: true, Command: &plan.Command{Argv: []string{}}},
		"go test ./...":                        {Tool: "test.run", Trusted: true, Command: &plan.Command{Argv: []string{"go", "test", "./..."}}},
		"git commit  fix it":                   {Tool: "vcs.commit", Trusted: true, Args: map[string]any{"message": "fix it"}, Diff: "x", Hashes: files("a")},
		`n 1  to "me"  ids {"a":"b"}`:          {Tool: "send", Args: map[string]any{"to": "me", "n": 1, "ids": map[string]any{"a": "b"}}},
	} {
		if got := wording.CallLine(g); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if hashes["a.go"] != hash || diff["hashes"].(map[string]any)["b.go"] != hash {
		t.Error("the call itself has changed")
	}
}

func TestRulesAreWorded(t *testing.T) {
	for want, r := range map[string]rule.Rule{
		"running tests needs your approval unless your goal asks for tests (built-in rule)": {Tool: "workspace:test.run", When: rule.WhenTrusted, Verdict: rule.VerdictAsk, Source: rule.SourceBuiltIn},
		"every other tool needs your approval (built-in rule)":                              {Tool: "*", Verdict: rule.VerdictAsk, Source: rule.SourceBuiltIn},
		"tools that can change or delete data need your approval (built-in rule)":           {Tool: "*", When: rule.WhenDestructive, Verdict: rule.VerdictAsk, Source: rule.SourceBuiltIn},
		"every tool is denied (config.toml)":                                                {Tool: "*", Verdict: rule.VerdictBlock, Source: rule.SourceConfiguration},
		"fs.write runs without asking (command-line flag)":                                  {Tool: "fs.write", Verdict: rule.VerdictRun, Source: rule.SourceFlag},
	} {
		if got := wording.RuleWords(r); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestSavedRulesAreWorded(t *testing.T) {
	for want, r := range map[string]rule.Rule{
		"test.run is always allowed here":                           {Tool: "workspace:test.run", Args: map[string]string{"path": "", "run": "", "sources": ""}},
		"fs.patch is always allowed here with path auth/jwt.go":     {Tool: "workspace:fs.patch", Args: map[string]string{"all": "", "path": "auth/jwt.go"}},
		"deploy is always allowed here with stage test and times 1": {Tool: "deploy", Args: map[string]string{"stage": "test", "times": "1"}},
	} {
		if got := wording.SavedRule(r); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
