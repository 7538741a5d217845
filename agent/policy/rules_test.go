package policy_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"pgregory.net/rapid"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/rule"
	"replan/planning/plan"
)

func TestParseRules(t *testing.T) {
	for text, want := range map[string]map[string]string{
		"fs.write":                             nil,
		"  fs.write  path=docs/**  ":           {"path": "docs/**"},
		"fs.move from=docs/** to=docs/**":      {"from": "docs/**", "to": "docs/**"},
		`proc.run shell="go test ./..."`:       {"shell": "go test ./..."},
		"proc.run shell=`say \"hi\"` dir=.":    {"shell": `say "hi"`, "dir": "."},
		`proc.run argv=["go","vet","*"]`:       {"argv": `["go","vet","*"]`},
		"files:write repo.owner=me":            {"repo.owner": "me"},
		"fs.write path=":                       {"path": ""},
		"fs.write text=a=b":                    {"text": "a=b"},
		`fs.write path="a b"  text="\u0063 d"`: {"path": "a b", "text": "c d"},
	} {
		r, err := policy.Parse(text, rule.VerdictRun, rule.SourceFlag)
		if err != nil || !maps.Equal(r.Args, want) {
			t.Errorf("%q: %v, %v", text, r.Args, err)
			continue
		}
		again, err := policy.Parse(r.String(), rule.VerdictRun, rule.SourceFlag)
		if err != nil || !again.Equal(r) {
			t.Errorf("%q is written as %q and read back as %+v (%v)", text, r, again, err)
		}
	}
}

func TestParseErrorsAreOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "empty rule",
		"[fs":                             "not a pattern",
		"fs.write docs/**":                `"docs/**" is not a condition: write ARG=PATTERN`,
		"fs.write =x":                     "is not a condition",
		"fs.write path =x":                `"path" is not a condition`,
		`fs.write path="a`:                "a quote that is not closed",
		`fs.write path="a"b`:              "a quote that is not closed",
		"fs.write path=a path=b":          "two conditions on path",
		"fs.write path=a b":               `"b" is not a condition`,
		`fs.write path="\x"`:              "a quote that is not closed",
		"fs.write path=docs/** , text=**": "is not a condition",
	} {
		if _, err := policy.Parse(text, rule.VerdictRun, rule.SourceFlag); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestRulesOrderConfiguration(t *testing.T) {
	rules, err := policy.Rules(
		[]policy.Block{
			{Tool: "fs.patch", Args: map[string]string{"path": "docs/**"}, Action: "allow", Why: "docs are free"},
			{Tool: "fs.*", Action: "ask"},
			{Tool: "x", Action: "deny"},
		},
		policy.Section{Allow: []string{"a path=x"}, Deny: []string{"d"}}, everywhere,
	)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rules {
		got = append(got, string(r.Verdict)+" "+r.String())
		if r.Source != rule.SourceConfiguration || r.Why == "" {
			t.Errorf("%+v", r)
		}
	}
	if got := strings.Join(got, "; "); got != "block d; run fs.patch path=docs/**; ask fs.*; block x; run a path=x" {
		t.Error(got)
	}
	if rules[1].Why != "docs are free" {
		t.Error(rules[1].Why)
	}
	for want, b := range map[string]policy.Block{
		`policy (block 2): action takes ask, allow or deny, not "maybe"`:                    {Tool: "x", Action: "maybe"},
		`policy (block 2): action takes ask, allow or deny, not ""`:                         {Tool: "x"},
		"policy (block 2): tool is missing":                                                 {Action: "ask"},
		"policy (block 2): the rule \"[x\" is not a pattern":                                {Tool: "[x", Action: "ask"},
		`policy (block 2): workspace takes the path of a folder from / or ~/ on, not "src"`: {Tool: "x", Action: "ask", Workspace: "src"},
		"argument without a name":                                                           {Tool: "x", Action: "ask", Args: map[string]string{"": "x"}},
	} {
		if _, err := policy.Rules([]policy.Block{{Tool: "y", Action: "ask"}, b}, policy.Section{}, everywhere); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// everywhere accepts the blocks of every folder.
func everywhere(string) bool { return true }

func TestRulesSkipOtherFolders(t *testing.T) {
	mine, other := filepath.Join(t.TempDir(), "mine"), filepath.Join(t.TempDir(), "other")
	blocks := []policy.Block{
		{Tool: "a", Action: "allow", Workspace: other},
		{Tool: "b", Action: "deny", Workspace: mine},
		{Tool: "c", Action: "ask"},
		{Tool: "d", Action: "allow", Workspace: mine},
	}
	rules, err := policy.Rules(blocks, policy.Section{}, func(folder string) bool { return folder == mine })
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rules {
		got = append(got, r.Tool)
	}
	if got := strings.Join(got, " "); got != "b c d" {
		t.Error(got)
	}
	blocks[0].Action = "maybe"
	if _, err := policy.Rules(blocks, policy.Section{}, func(string) bool { return false }); err == nil {
		t.Error("an invalid block of another folder was accepted")
	}
}

// gate returns the gate of a call of the workspace.
func gate(tool string, args map[string]any) event.GateRequested {
	return event.GateRequested{Step: "1", Tool: tool, Server: "workspace", Trusted: true, Args: args, Rule: rule.Rule{Source: rule.SourceBuiltIn}}
}

// folder is the workspace of the gates.
var folder = filepath.Join(os.TempDir(), "no-such-folder")

// schemas are the input schemas of some tools.
var schemas = map[string]string{
	"proc.run":   `{"properties":{"argv":{},"shell":{},"dir":{},"timeout":{},"allow_failure":{}}}`,
	"vcs.push":   `{"properties":{"remote":{},"branch":{},"set_upstream":{}}}`,
	"vcs.branch": `{"properties":{"name":{},"create":{}}}`,
	"vcs.commit": `{"properties":{"message":{},"paths":{},"all":{}}}`,
	"fs.patch":   `{"properties":{"path":{},"old":{},"new":{},"all":{},"diff":{},"hashes":{}}}`,
	"fs.remove":  `{"properties":{"path":{},"recursive":{}}}`,
	"send":       `{"properties":{"to":{},"n":{},"copy":{}}}`,
}

// toolOf returns the tool of a gate.
func toolOf(g event.GateRequested) plan.Tool {
	return plan.Tool{Name: g.Tool, Server: g.Server, Trusted: g.Trusted, InputSchema: json.RawMessage(schemas[g.Tool])}
}

func TestSavedRuleBindsOmittedArguments(t *testing.T) {
	remote := gate("send", map[string]any{"to": "me"})
	remote.Server, remote.Trusted = "mail", false
	for name, c := range map[string]struct {
		gate  event.GateRequested
		wider map[string]any
	}{
		"another folder":                      {gate("proc.run", map[string]any{"argv": []any{"make"}}), map[string]any{"argv": []any{"make"}, "dir": "third_party/evil"}},
		"another branch":                      {gate("vcs.push", map[string]any{"remote": "origin"}), map[string]any{"remote": "origin", "branch": "x"}},
		"new upstream":                        {gate("vcs.push", map[string]any{"remote": "origin"}), map[string]any{"remote": "origin", "set_upstream": true}},
		"new branch":                          {gate("vcs.branch", map[string]any{"name": "x"}), map[string]any{"name": "x", "create": true}},
		"all changes":                         {gate("vcs.commit", map[string]any{"message": "m"}), map[string]any{"message": "m", "all": true}},
		"folder with its content":             {gate("fs.remove", map[string]any{"path": "x"}), map[string]any{"path": "x", "recursive": true}},
		"all matches in the file":             {gate("fs.patch", map[string]any{"path": "a", "old": "x", "new": "y"}), map[string]any{"path": "a", "old": "x", "new": "y", "all": true}},
		"another argument of a server's tool": {remote, map[string]any{"to": "me", "copy": "you"}},
	} {
		always, why := policy.Offer(c.gate, toolOf(c.gate), folder)
		if always == nil {
			t.Errorf("%s: no rule is offered: %s", name, why)
			continue
		}
		rules := []rule.Rule{always.Rule}
		if got := rule.Decide(rules, toolOf(c.gate), c.gate.Args); got.Verdict != rule.VerdictRun {
			t.Errorf("%s: the rule does not match its own call: %+v", name, got)
		}
		if got := rule.Decide(rules, toolOf(c.gate), c.wider); got.Verdict == rule.VerdictRun {
			t.Errorf("%s is allowed by the rule %s", name, always.Rule)
		}
	}
}

func TestSavedRuleNamesItsFolder(t *testing.T) {
	real := t.TempDir()
	real, err := filepath.EvalSymlinks(real)
	if err != nil {
		t.Fatal(err)
	}
	g := gate("test.run", nil)
	offered := func(workspace string) policy.Block {
		always, why := policy.Offer(g, toolOf(g), workspace)
		if always == nil {
			t.Fatal(why)
		}
		var read struct {
			Policy []policy.Block `toml:"policy"`
		}
		if err := toml.Unmarshal([]byte(always.Text), &read); err != nil {
			t.Fatal(err)
		}
		return read.Policy[0]
	}
	if got := offered(real).Workspace; got != real {
		t.Errorf("got the folder %q, want %q", got, real)
	}
	if runtime.GOOS != "windows" {
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(real, link); err != nil {
			t.Fatal(err)
		}
		if got := offered(link).Workspace; got != real {
			t.Errorf("behind a link: got the folder %q, want %q", got, real)
		}
		if always, _ := policy.Offer(g, toolOf(g), "/"); always != nil {
			t.Errorf("a rule for every folder is offered: %s", always.Text)
		}
	}
}

func TestOfferReturnsNarrowestRule(t *testing.T) {
	foreign := gate("send", map[string]any{"to": "a*b", "n": 7})
	foreign.Server, foreign.Trusted = "mail", false
	odd := gate("we*rd[", map[string]any{})
	odd.Server, odd.Trusted = "x", false
	for want, g := range map[string]event.GateRequested{
		`workspace:fs.patch path=docs/a.md all="" diff=""`:           gate("fs.patch", map[string]any{"path": "docs/a.md", "old": "x", "new": "y"}),
		"workspace:fs.write path=\"a \\\"b\\\".md\"":                 gate("fs.write", map[string]any{"path": `a "b".md`, "text": "x"}),
		"workspace:fs.move from=a to=b":                              gate("fs.move", map[string]any{"from": "a", "to": "b"}),
		"workspace:test.run":                                         gate("test.run", map[string]any{"path": "./x"}),
		`workspace:vcs.commit all="" paths=""`:                       gate("vcs.commit", map[string]any{"message": "x"}),
		"workspace:proc.run argv=`[\"go\",\"vet\"]` dir=sub shell=":  gate("proc.run", map[string]any{"argv": []any{"go", "vet"}, "dir": "sub", "timeout": "1m"}),
		"workspace:proc.run shell=\"ls \\\\*\" argv= dir=":           gate("proc.run", map[string]any{"shell": `ls *`}),
		"workspace:memory.write text=\"I like tea\"":                 gate("memory.write", map[string]any{"text": "I like tea"}),
		`mail:send n=7 to=a\*b copy=`:                                foreign,
		`x:we\*rd\[`:                                                 odd,
		"workspace:vcs.push branch=main remote=origin set_upstream=": gate("vcs.push", map[string]any{"remote": "origin", "branch": "main"}),
		`workspace:fs.remove path=../docs/a.md recursive=`:           gate("fs.remove", map[string]any{"path": "../docs/a.md"}),
	} {
		always, why := policy.Offer(g, toolOf(g), folder)
		if always == nil {
			t.Errorf("%s: no rule is offered: %s", want, why)
			continue
		}
		rule, err := policy.Parse(want, rule.VerdictRun, rule.SourceConfiguration)
		if err != nil || !maps.Equal(rule.Args, always.Rule.Args) || rule.Tool != always.Rule.Tool {
			t.Errorf("%s: got the offer %s (%v)", want, always.Rule, err)
		}
		var read struct {
			Policy []policy.Block `toml:"policy"`
		}
		if err := toml.Unmarshal([]byte(always.Text), &read); err != nil || len(read.Policy) != 1 {
			t.Errorf("%s: %v in\n%s", want, err, always.Text)
			continue
		}
		if saved, err := read.Policy[0].Rule(); err != nil || !saved.Equal(always.Rule) {
			t.Errorf("%s: the saved rule is %+v (%v), the offered one %+v", want, saved, err, always.Rule)
		}
	}
}

func TestOfferGivesReasonForNoRule(t *testing.T) {
	carries := gate("fs.write", map[string]any{"path": "a"})
	carries.Provenance = []rule.Provenance{{Arg: "path", Step: "1"}}
	planned := gate("fs.write", map[string]any{"path": "a"})
	planned.Rule.Source = rule.SourcePlan
	for want, g := range map[string]event.GateRequested{
		"come from a result":  carries,
		"the plan itself":     planned,
		"not a step of a run": {Title: "servers"},
		"binds fs.patch":      gate("fs.patch", map[string]any{"diff": "x"}),
		"binds proc.run":      gate("proc.run", map[string]any{"timeout": "1s"}),
		"too long to read":    gate("proc.run", map[string]any{"shell": strings.Repeat("x", 2000)}),
	} {
		if always, why := policy.Offer(g, toolOf(g), folder); always != nil || !strings.Contains(string(why), want) {
			t.Errorf("%s: %+v, %q", want, always, why)
		}
	}
}

// TestOfferedRuleMatchesItsCall draws calls with arbitrary text.
func TestOfferedRuleMatchesItsCall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		args := map[string]any{}
		for name, text := range rapid.MapOfN(rapid.StringMatching(`[a-z._]{1,6}`), rapid.String(), 0, 3).Draw(t, "args") {
			args[name] = text
		}
		g := event.GateRequested{Step: "1", Tool: rapid.StringMatching(`[a-z*?\[.-]{1,8}`).Draw(t, "tool"), Server: "s", Args: args}
		always, _ := policy.Offer(g, toolOf(g), folder)
		if always == nil {
			return
		}
		var read struct {
			Policy []policy.Block `toml:"policy"`
		}
		if err := toml.Unmarshal([]byte(always.Text), &read); err != nil {
			t.Fatalf("%v in %q", err, always.Text)
		}
		r, err := read.Policy[0].Rule()
		tool := plan.Tool{Name: g.Tool, Server: g.Server}
		if err != nil || rule.Decide([]rule.Rule{r}, tool, args).Verdict != rule.VerdictRun {
			t.Fatalf("the rule %q does not match %v (%v)", r, args, err)
		}
		other := plan.Tool{Name: g.Tool + "x", Server: g.Server}
		if rule.Decide([]rule.Rule{r}, other, args).Verdict == rule.VerdictRun {
			t.Fatalf("the rule %q matches another tool", r)
		}
	})
}

const block = "[[policy]]\ntool = 'workspace:fs.patch'\naction = 'allow'\n"

func TestInsertPutsBlockFirstAndKeepsTheRest(t *testing.T) {
	for name, c := range map[string]struct{ before, after string }{
		"empty file":               {"", block},
		"file without blocks":      {"# mine\n[gates] # here\nallow = [ 'x' ]\n", "# mine\n[gates] # here\nallow = [ 'x' ]\n\n" + block},
		"no line break at the end": {"[gates]\nallow = ['x']", "[gates]\nallow = ['x']\n\n" + block},
		"another block": {
			"[gates]\ndeny = ['y']\n\n  [[ policy ]]  # first\ntool = 'a'\naction = 'ask'\n[screen]\nascii = true\n",
			"[gates]\ndeny = ['y']\n\n" + block + "\n  [[ policy ]]  # first\ntool = 'a'\naction = 'ask'\n[screen]\nascii = true\n",
		},
		"comment above a block": {
			"[gates]\n\n# what the docs need\n# is free\n[[policy]]\ntool = 'a'\naction = 'ask'\n",
			"[gates]\n\n" + block + "\n# what the docs need\n# is free\n[[policy]]\ntool = 'a'\naction = 'ask'\n",
		},
		"block inside a string": {
			"[x]\nt = '''\n[[policy]]\ntool = 1\n'''\n", "[x]\nt = '''\n[[policy]]\ntool = 1\n'''\n\n" + block,
		},
		"Windows' line breaks": {"[gates]\r\nallow = ['x']\r\n", "[gates]\r\nallow = ['x']\r\n\r\n" + strings.ReplaceAll(block, "\n", "\r\n")},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := policy.Insert([]byte(c.before), block)
			if err != nil || string(got) != c.after {
				t.Errorf("%v\n%q, want\n%q", err, got, c.after)
			}
		})
	}
	for name, before := range map[string]string{
		"list instead of blocks": "policy = [{tool = 'a', action = 'ask'}]\n",
		"section of that name":   "[policy]\ntool = 'a'\n",
		"no TOML":                "[gates\n",
	} {
		if got, err := policy.Insert([]byte(before), block); err == nil {
			t.Errorf("%s became\n%s", name, got)
		}
	}
}

func TestSaveCreatesFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "config.toml")
	always := event.Always{Rule: rule.Rule{Tool: "workspace:fs.patch"}, Text: block}
	if err := policy.Save(path, always); err != nil {
		t.Fatal(err)
	}
	always.Text = strings.Replace(block, "fs.patch", "fs.write", 1)
	if err := policy.Save(path, always); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != always.Text+"\n"+block {
		t.Errorf("%s", got)
	}
	if runtime.GOOS != "windows" {
		link := filepath.Join(t.TempDir(), "config.toml")
		if err := os.Symlink(path, link); err != nil {
			t.Fatal(err)
		}
		if err := policy.Save(link, always); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Error("the link to the configuration became a file")
		}
	}
	if err := policy.Save(filepath.Join(path, "below"), always); err == nil || !strings.Contains(err.Error(), "the rule is: workspace:fs.patch") {
		t.Errorf("%v", err)
	}
}

func TestAlwaysCanMeanThisToolOfThisServer(t *testing.T) {
	folder := t.TempDir()
	foreign := event.GateRequested{Step: "1", Tool: "get_[x]", Server: "web", Pin: "abc", Args: map[string]any{"q": "a"}}
	offered := policy.OfferTool(foreign, folder)
	if offered == nil {
		t.Fatal("it is not offered")
	}
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		t.Fatal(err)
	}
	want := "[[policy]]\ntool = 'web:get_\\[x]'\npin = 'abc'\nworkspace = '" + real + "'\naction = 'allow'\n"
	if offered.Text != want {
		t.Errorf("the rule is\n%s, want\n%s", offered.Text, want)
	}
	tool := plan.Tool{Name: foreign.Tool, Server: "web", Pin: "abc"}
	for name, c := range map[string]struct {
		tool plan.Tool
		runs bool
	}{
		"with other arguments":    {tool, true},
		"of another server":       {plan.Tool{Name: tool.Name, Server: "webs", Pin: "abc"}, false},
		"after it has changed":    {plan.Tool{Name: tool.Name, Server: "web", Pin: "abd"}, false},
		"another tool":            {plan.Tool{Name: "get_x", Server: "web", Pin: "abc"}, false},
		"posing in its bare name": {plan.Tool{Name: "web:" + tool.Name, Server: "evil", Pin: "abc"}, false},
	} {
		got := rule.Decide([]rule.Rule{offered.Rule}, c.tool, map[string]any{"q": "b"})
		if (got.Verdict == rule.VerdictRun) != c.runs {
			t.Errorf("%s: %s", name, got.Verdict)
		}
	}
	for name, change := range map[string]func(*event.GateRequested){
		"text from a result":    func(g *event.GateRequested) { g.Provenance = []rule.Provenance{{Arg: "q", Step: "1", Exact: true}} },
		"gate of the plan":      func(g *event.GateRequested) { g.Planned = true },
		"changed tool":          func(g *event.GateRequested) { g.Changed = "-a\n+b\n" },
		"the workspace's own":   func(g *event.GateRequested) { g.Trusted = true },
		"question of a session": func(g *event.GateRequested) { g.Step = "" },
	} {
		g := foreign
		change(&g)
		if policy.OfferTool(g, folder) != nil {
			t.Errorf("%s: it is offered", name)
		}
	}
}
