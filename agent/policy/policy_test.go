package policy_test

import (
	"slices"
	"strings"
	"testing"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/rule"
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
	// namesake is another server's tool with the name of an operator.
	namesake = plan.Tool{Name: "fs.patch", Server: "other", Destructive: true, Annotated: true}
	posing   = plan.Tool{Name: prompt.PlanExecute, Server: prompt.PlanServer, Annotated: true}
)

func TestVerdicts(t *testing.T) {
	flag := func(text string, v rule.Verdict) []rule.Rule {
		r, err := policy.Parse(text, v, "flag")
		if err != nil {
			t.Fatal(err)
		}
		return []rule.Rule{r}
	}
	for name, c := range map[string]struct {
		tool  plan.Tool
		trust policy.Trust
		flags []rule.Rule
		want  rule.Verdict
	}{
		"read-only tool runs":                              {tool: read, want: rule.VerdictRun},
		"change asks":                                      {tool: patch, want: rule.VerdictAsk},
		"change asks in a trusted folder":                  {tool: patch, trust: policy.Trust{Workspace: true}, want: rule.VerdictAsk},
		"unannotated tool asks":                            {tool: silent, want: rule.VerdictAsk},
		"tests ask":                                        {tool: tests, want: rule.VerdictAsk},
		"tests run in a trusted folder":                    {tool: tests, trust: policy.Trust{Workspace: true}, want: rule.VerdictRun},
		"requested tests run":                              {tool: tests, trust: policy.Trust{Tests: true}, want: rule.VerdictRun},
		"linters ask":                                      {tool: lint, want: rule.VerdictAsk},
		"linters run in a trusted folder":                  {tool: lint, trust: policy.Trust{Workspace: true}, want: rule.VerdictRun},
		"push asks":                                        {tool: push, want: rule.VerdictAsk},
		"push asks despite a rule for everything":          {tool: push, flags: flag("*", rule.VerdictRun), want: rule.VerdictAsk},
		"push runs by a rule for it":                       {tool: push, flags: flag("vcs.push", rule.VerdictRun), want: rule.VerdictRun},
		"another server's test.run always asks":            {tool: foreign, trust: policy.Trust{Workspace: true, Tests: true}, want: rule.VerdictAsk},
		"memory.write asks":                                {tool: keep, trust: policy.Trust{Workspace: true, Tests: true}, want: rule.VerdictAsk},
		"plan tool of another server asks":                 {tool: posing, want: rule.VerdictAsk},
		"flag allows a change":                             {tool: patch, flags: flag("fs.patch", rule.VerdictRun), want: rule.VerdictRun},
		"flag names the server":                            {tool: patch, flags: flag("workspace:*", rule.VerdictRun), want: rule.VerdictRun},
		"flag blocks a read-only tool":                     {tool: read, flags: flag("fs.*", rule.VerdictBlock), want: rule.VerdictBlock},
		"bare operator name allows the workspace's tool":   {tool: patch, flags: flag("fs.patch", rule.VerdictRun), want: rule.VerdictRun},
		"bare operator name allows no other server's tool": {tool: namesake, flags: flag("fs.patch", rule.VerdictRun), want: rule.VerdictAsk},
		"qualified name allows another server's tool":      {tool: namesake, flags: flag("other:fs.patch", rule.VerdictRun), want: rule.VerdictRun},
		"bare operator name blocks every server's tool":    {tool: namesake, flags: flag("fs.patch", rule.VerdictBlock), want: rule.VerdictBlock},
		"other bare name allows any server's tool":         {tool: silent, flags: flag(silent.Name, rule.VerdictRun), want: rule.VerdictRun},
		"flag for one tool does not match others":          {tool: patch, flags: flag("fs.write", rule.VerdictRun), want: rule.VerdictAsk},
	} {
		t.Run(name, func(t *testing.T) {
			rule := rule.Decide(append(c.flags, policy.BuiltIn(c.trust)...), c.tool, nil)
			if rule.Verdict != c.want {
				t.Errorf("%s by %+v, want %s", rule.Verdict, rule, c.want)
			}
			if rule.Why == "" {
				t.Error("the rule has no reason")
			}
		})
	}
}

func TestPlanToolsRunUnlessDenied(t *testing.T) {
	deny := func(pattern string) []rule.Rule {
		r, err := policy.Parse(pattern, rule.VerdictBlock, "configuration")
		if err != nil {
			t.Fatal(err)
		}
		return []rule.Rule{r}
	}
	for _, tool := range prompt.PlanTools() {
		t.Run(tool.Name, func(t *testing.T) {
			for _, trust := range []policy.Trust{{}, {Workspace: true, Tests: true}} {
				if got := rule.Decide(policy.BuiltIn(trust), tool, nil); got.Verdict != rule.VerdictRun || !strings.Contains(string(got.Why), "their own gates") {
					t.Errorf("%+v: %s by %+v", trust, got.Verdict, got)
				}
			}
			for _, pattern := range []string{tool.Name, "plan_*", "replan:*", "*"} {
				if got := rule.Decide(append(deny(pattern), policy.BuiltIn(policy.Trust{})...), tool, nil); got.Verdict != rule.VerdictBlock {
					t.Errorf("denied by %s: %s by %+v", pattern, got.Verdict, got)
				}
			}
		})
	}
}

func TestParseRefusesInvalidPatterns(t *testing.T) {
	for _, text := range []string{"", "  ", "[fs"} {
		if _, err := policy.Parse(text, rule.VerdictRun, "flag"); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

// boxed returns a gate for a call whose program runs in a box.
func boxed(g event.GateRequested, c plan.Containment) event.GateRequested {
	g.Contained = c
	return g
}

func TestRuleForContainedCallsFitsNoOthers(t *testing.T) {
	for text, fits := range map[string][]plan.Containment{
		"proc.run":                   {plan.NotContained, plan.ContainedFiles, plan.ContainedOffline},
		"proc.run contained=files":   {plan.ContainedFiles, plan.ContainedOffline},
		"proc.run contained=offline": {plan.ContainedOffline},
	} {
		r, err := policy.Parse(text, rule.VerdictRun, rule.SourceFlag)
		if err != nil || r.String() != text {
			t.Fatal(r, err)
		}
		for _, c := range []plan.Containment{plan.NotContained, plan.ContainedFiles, plan.ContainedOffline} {
			if got := r.Matches(plan.Tool{Name: "proc.run", Server: "workspace", Trusted: true, Contained: c}); got != slices.Contains(fits, c) {
				t.Errorf("%s fits a call in the box %q: %v", text, c, got)
			}
		}
	}
	if _, err := policy.Parse("proc.run contained=maybe", rule.VerdictRun, rule.SourceFlag); err == nil {
		t.Error("contained=maybe was taken")
	}
}

// What is allowed in the box is not allowed without it, as by a resume.
func TestAnswerForContainedCallHoldsInTheBoxAlone(t *testing.T) {
	g := boxed(event.GateRequested{Step: "1", Tool: "proc.run", Server: "workspace", Trusted: true, Args: map[string]any{"argv": []any{"make"}}}, plan.ContainedFiles)
	tool := plan.Tool{Name: "proc.run", Server: "workspace", Trusted: true, Contained: plan.ContainedFiles}
	outside := tool
	outside.Contained = plan.NotContained
	forRun, _ := g.ForRun()
	always, why := policy.Offer(g, tool, t.TempDir())
	if always == nil {
		t.Fatal(why)
	}
	for name, r := range map[string]rule.Rule{"run": forRun, "always": always.Rule} {
		if !r.Matches(tool) || r.Matches(outside) {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if !strings.Contains(always.Text, "contained = 'files'") {
		t.Error(always.Text)
	}
}

func TestApproveAnswersGates(t *testing.T) {
	own := event.GateRequested{Tool: "fs.patch", Server: "workspace", Trusted: true}
	other := event.GateRequested{Tool: "fs.patch", Server: "web"}
	remember := event.GateRequested{Tool: "memory.write", Server: "workspace", Trusted: true}
	shell := event.GateRequested{Tool: "proc.run", Server: "workspace", Trusted: true}
	for name, c := range map[string]struct {
		approve policy.Approve
		gate    event.GateRequested
		want    event.Decision
	}{
		"none denies": {policy.ApproveNone, own, event.Deny},
		"all allows":  {policy.ApproveAll, other, event.Allow},
		"safe allows the workspace's own changes":             {policy.ApproveSafe, own, event.Allow},
		"safe denies other servers":                           {policy.ApproveSafe, other, event.Deny},
		"safe denies changes outside the workspace":           {policy.ApproveSafe, remember, event.Deny},
		"safe denies commands":                                {policy.ApproveSafe, shell, event.Deny},
		"safe allows moving a file":                           {policy.ApproveSafe, event.GateRequested{Tool: "fs.move", Server: "workspace", Trusted: true}, event.Allow},
		"safe allows removing a file":                         {policy.ApproveSafe, event.GateRequested{Tool: "fs.remove", Server: "workspace", Trusted: true}, event.Allow},
		"safe allows the linter":                              {policy.ApproveSafe, event.GateRequested{Tool: "test.lint", Server: "workspace", Trusted: true}, event.Allow},
		"safe denies a commit":                                {policy.ApproveSafe, event.GateRequested{Tool: "vcs.commit", Server: "workspace", Trusted: true}, event.Deny},
		"safe denies a push":                                  {policy.ApproveSafe, event.GateRequested{Tool: "vcs.push", Server: "workspace", Trusted: true}, event.Deny},
		"safe denies removing most of a file":                 {policy.ApproveSafe, event.GateRequested{Tool: "fs.write", Server: "workspace", Trusted: true, Removes: "removes 180 of 214 lines of a.go"}, event.Deny},
		"all allows removing most of a file":                  {policy.ApproveAll, event.GateRequested{Tool: "fs.write", Server: "workspace", Trusted: true, Removes: "removes 180 of 214 lines of a.go"}, event.Allow},
		"safe denies commands in the box":                     {policy.ApproveSafe, boxed(shell, plan.ContainedOffline), event.Deny},
		"contained allows commands in the box":                {policy.ApproveContained, boxed(shell, plan.ContainedFiles), event.Allow},
		"contained denies commands outside":                   {policy.ApproveContained, shell, event.Deny},
		"contained allows the workspace's own changes":        {policy.ApproveContained, own, event.Allow},
		"contained denies a push":                             {policy.ApproveContained, event.GateRequested{Tool: "vcs.push", Server: "workspace", Trusted: true}, event.Deny},
		"contained denies other servers that use the network": {policy.ApproveContained, boxed(other, plan.ContainedFiles), event.Deny},
		"contained allows other servers without network":      {policy.ApproveContained, boxed(other, plan.ContainedOffline), event.Allow},
		"contained denies tools that changed":                 {policy.ApproveContained, event.GateRequested{Tool: "x", Server: "web", Contained: plan.ContainedOffline, Changed: "+ more"}, event.Deny},
		"ask decides nothing":                                 {policy.ApproveAsk, own, ""},
		"nobody denies":                                       {policy.ApproveUnasked, own, event.Deny},
	} {
		t.Run(name, func(t *testing.T) {
			if got, _ := c.approve.Answer(c.gate); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	if _, err := policy.ParseApprove("maybe"); err == nil {
		t.Error("--approve maybe was accepted")
	}
}

func TestAnswerOfGateNamesWhatDecided(t *testing.T) {
	own, changed := event.GateRequested{Tool: "fs.patch"}, event.GateRequested{Tool: "search", Changed: "+ more"}
	for name, c := range map[string]struct {
		approve policy.Approve
		gate    event.GateRequested
		want    string
	}{
		"the flag":                       {policy.ApproveNone, own, "--approve none"},
		"the flag for another value":     {policy.ApproveSafe, own, "--approve safe"},
		"nobody without the flag":        {policy.ApproveUnasked, own, policy.ByNobody},
		"nobody accepts a changed tool":  {policy.ApproveAll, changed, policy.ByNobody},
		"the flag denies a changed tool": {policy.ApproveNone, changed, "--approve none"},
	} {
		if got := c.approve.By(c.gate); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
