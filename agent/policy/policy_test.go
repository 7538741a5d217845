package policy_test

import (
	"strings"
	"testing"

	"replan/agent"
	"replan/agent/policy"
	"replan/planning/plan"
	"replan/planning/prompt"
)

var (
	read    = plan.Tool{Name: "fs.read", Server: "workspace", ReadOnly: true, Annotated: true, Trusted: true}
	patch   = plan.Tool{Name: "fs.patch", Server: "workspace", Destructive: true, Annotated: true, Trusted: true}
	tests   = plan.Tool{Name: "test.run", Server: "workspace", Annotated: true, Trusted: true}
	lint    = plan.Tool{Name: "test.lint", Server: "workspace", Annotated: true, Trusted: true}
	push    = plan.Tool{Name: "vcs.push", Server: "workspace", Annotated: true, Trusted: true}
	silent  = plan.Tool{Name: "fetch", Server: "web"}
	foreign = plan.Tool{Name: "test.run", Server: "web", Annotated: true}
	keep    = plan.Tool{Name: "memory.write", Server: "workspace", Destructive: true, Annotated: true, Trusted: true}
	// namesake is another server's tool that is called like an operator.
	namesake = plan.Tool{Name: "fs.patch", Server: "other", Destructive: true, Annotated: true}
	posing   = plan.Tool{Name: prompt.PlanExecute, Server: prompt.PlanServer, Annotated: true}
)

func TestWhichCallsAsk(t *testing.T) {
	flag := func(text string, v agent.Verdict) []agent.Rule {
		r, err := policy.Parse(text, v, "flag")
		if err != nil {
			t.Fatal(err)
		}
		return []agent.Rule{r}
	}
	for name, c := range map[string]struct {
		tool  plan.Tool
		trust policy.Trust
		flags []agent.Rule
		want  agent.Verdict
	}{
		"what only reads runs":                               {tool: read, want: agent.VerdictRun},
		"a change asks":                                      {tool: patch, want: agent.VerdictAsk},
		"a change asks in a trusted folder too":              {tool: patch, trust: policy.Trust{Workspace: true}, want: agent.VerdictAsk},
		"an unmarked tool asks":                              {tool: silent, want: agent.VerdictAsk},
		"tests ask":                                          {tool: tests, want: agent.VerdictAsk},
		"tests run in a trusted folder":                      {tool: tests, trust: policy.Trust{Workspace: true}, want: agent.VerdictRun},
		"tests run where they were asked for":                {tool: tests, trust: policy.Trust{Tests: true}, want: agent.VerdictRun},
		"linters ask":                                        {tool: lint, want: agent.VerdictAsk},
		"linters run in a trusted folder":                    {tool: lint, trust: policy.Trust{Workspace: true}, want: agent.VerdictRun},
		"a push asks":                                        {tool: push, want: agent.VerdictAsk},
		"a push asks where everything is let pass":           {tool: push, flags: flag("*", agent.VerdictRun), want: agent.VerdictAsk},
		"a push passes by its name":                          {tool: push, flags: flag("vcs.push", agent.VerdictRun), want: agent.VerdictRun},
		"another server's test.run always asks":              {tool: foreign, trust: policy.Trust{Workspace: true, Tests: true}, want: agent.VerdictAsk},
		"what is to be remembered asks":                      {tool: keep, trust: policy.Trust{Workspace: true, Tests: true}, want: agent.VerdictAsk},
		"a server that poses as the program asks":            {tool: posing, want: agent.VerdictAsk},
		"a flag lets a change pass":                          {tool: patch, flags: flag("fs.patch", agent.VerdictRun), want: agent.VerdictRun},
		"a flag may name the server":                         {tool: patch, flags: flag("workspace:*", agent.VerdictRun), want: agent.VerdictRun},
		"a flag blocks what only reads":                      {tool: read, flags: flag("fs.*", agent.VerdictBlock), want: agent.VerdictBlock},
		"a bare operator name lets the workspace's pass":     {tool: patch, flags: flag("fs.patch", agent.VerdictRun), want: agent.VerdictRun},
		"a bare operator name lets no other server's pass":   {tool: namesake, flags: flag("fs.patch", agent.VerdictRun), want: agent.VerdictAsk},
		"a qualified name lets another server's pass":        {tool: namesake, flags: flag("other:fs.patch", agent.VerdictRun), want: agent.VerdictRun},
		"a bare operator name denies every server's":         {tool: namesake, flags: flag("fs.patch", agent.VerdictBlock), want: agent.VerdictBlock},
		"a bare name that is no operator means any server's": {tool: silent, flags: flag(silent.Name, agent.VerdictRun), want: agent.VerdictRun},
		"a flag for one tool says nothing of others":         {tool: patch, flags: flag("fs.write", agent.VerdictRun), want: agent.VerdictAsk},
	} {
		t.Run(name, func(t *testing.T) {
			rule := agent.Decide(append(c.flags, policy.BuiltIn(c.trust)...), c.tool, nil)
			if rule.Verdict != c.want {
				t.Errorf("%s by %+v, want %s", rule.Verdict, rule, c.want)
			}
			if rule.Why == "" {
				t.Error("the rule does not say why")
			}
		})
	}
}

func TestPlansOfAModelAreHeldAtTheirSteps(t *testing.T) {
	deny := func(pattern string) []agent.Rule {
		r, err := policy.Parse(pattern, agent.VerdictBlock, "configuration")
		if err != nil {
			t.Fatal(err)
		}
		return []agent.Rule{r}
	}
	for _, tool := range prompt.PlanTools() {
		t.Run(tool.Name, func(t *testing.T) {
			for _, trust := range []policy.Trust{{}, {Workspace: true, Tests: true}} {
				if got := agent.Decide(policy.BuiltIn(trust), tool, nil); got.Verdict != agent.VerdictRun || !strings.Contains(got.Why, "gates of their own") {
					t.Errorf("%+v: %s by %+v", trust, got.Verdict, got)
				}
			}
			for _, pattern := range []string{tool.Name, "plan_*", "replan:*", "*"} {
				if got := agent.Decide(append(deny(pattern), policy.BuiltIn(policy.Trust{})...), tool, nil); got.Verdict != agent.VerdictBlock {
					t.Errorf("denied by %s: %s by %+v", pattern, got.Verdict, got)
				}
			}
		})
	}
}

func TestParseRefusesWhatIsNoPattern(t *testing.T) {
	for _, text := range []string{"", "  ", "[fs"} {
		if _, err := policy.Parse(text, agent.VerdictRun, "flag"); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

func TestHowGatesAreAnswered(t *testing.T) {
	own := agent.GateRequested{Tool: "fs.patch", Server: "workspace", Trusted: true}
	other := agent.GateRequested{Tool: "fs.patch", Server: "web"}
	remember := agent.GateRequested{Tool: "memory.write", Server: "workspace", Trusted: true}
	shell := agent.GateRequested{Tool: "proc.run", Server: "workspace", Trusted: true}
	for name, c := range map[string]struct {
		approve policy.Approve
		gate    agent.GateRequested
		want    agent.Decision
	}{
		"none denies": {policy.ApproveNone, own, agent.Deny},
		"all allows":  {policy.ApproveAll, other, agent.Allow},
		"safe allows the workspace's own changes":     {policy.ApproveSafe, own, agent.Allow},
		"safe denies other servers":                   {policy.ApproveSafe, other, agent.Deny},
		"safe denies what lies outside the workspace": {policy.ApproveSafe, remember, agent.Deny},
		"safe denies commands":                        {policy.ApproveSafe, shell, agent.Deny},
		"safe allows to move a file":                  {policy.ApproveSafe, agent.GateRequested{Tool: "fs.move", Server: "workspace", Trusted: true}, agent.Allow},
		"safe allows to remove a file":                {policy.ApproveSafe, agent.GateRequested{Tool: "fs.remove", Server: "workspace", Trusted: true}, agent.Allow},
		"safe allows the linter":                      {policy.ApproveSafe, agent.GateRequested{Tool: "test.lint", Server: "workspace", Trusted: true}, agent.Allow},
		"safe denies a commit":                        {policy.ApproveSafe, agent.GateRequested{Tool: "vcs.commit", Server: "workspace", Trusted: true}, agent.Deny},
		"safe denies a push":                          {policy.ApproveSafe, agent.GateRequested{Tool: "vcs.push", Server: "workspace", Trusted: true}, agent.Deny},
		"safe denies to remove most of a file":        {policy.ApproveSafe, agent.GateRequested{Tool: "fs.write", Server: "workspace", Trusted: true, Removes: "removes 180 of 214 lines of a.go"}, agent.Deny},
		"all allows to remove most of a file":         {policy.ApproveAll, agent.GateRequested{Tool: "fs.write", Server: "workspace", Trusted: true, Removes: "removes 180 of 214 lines of a.go"}, agent.Allow},
		"ask leaves it open":                          {policy.ApproveAsk, own, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got, _ := c.approve.Answer(c.gate); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	if _, err := policy.ParseApprove("maybe"); err == nil {
		t.Error("--approve maybe was taken")
	}
}
