package policy

import (
	"fmt"
	"slices"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// Trust describes the workspace and the user's request.
type Trust struct {
	Workspace bool // the user trusts the workspace, so its tests may run
	Tests     bool // the user's own words, or the plan that the user gave, ask for the tests
}

// BuiltIn returns the rules that apply if neither a flag nor the configuration
// says otherwise. Read-only calls run. Tests and linters run where trusted or
// asked for. Plans that a chat model makes and runs wait at the gates of their
// steps. Everything else asks.
func BuiltIn(t Trust) []rule.Rule {
	const source = rule.SourceBuiltIn
	tests := rule.Rule{Tool: testTools[0], When: rule.WhenTrusted, Verdict: rule.VerdictAsk, Source: source, Why: "tests run code of this folder"}
	lint := rule.Rule{Tool: testTools[1], When: rule.WhenTrusted, Verdict: rule.VerdictAsk, Source: source, Why: "a linter may run code in this folder"}
	for _, r := range []*rule.Rule{&tests, &lint} {
		switch {
		case t.Workspace:
			r.Verdict, r.Why = rule.VerdictRun, "you trust this folder"
		case t.Tests:
			r.Verdict, r.Why = rule.VerdictRun, "your goal asks for the tests"
		}
	}
	return []rule.Rule{
		tests, lint,
		{Tool: prompt.PlanServer + ":plan_*", When: rule.WhenTrusted, Verdict: rule.VerdictRun, Source: source, Why: "its steps have their own gates"},
		{Tool: "workspace:vcs.push", When: rule.WhenTrusted, Verdict: rule.VerdictAsk, Source: source, Why: "a push sends your commits to a remote"},
		{Tool: "*", When: rule.WhenReadOnly, Verdict: rule.VerdictRun, Source: source, Why: "it only reads"},
		{Tool: "*", When: rule.WhenDestructive, Verdict: rule.VerdictAsk, Source: source, Why: "it can change or delete data"},
		{Tool: "*", When: rule.WhenUnmarked, Verdict: rule.VerdictAsk, Source: source, Why: "its server does not say what it changes"},
		{Tool: "*", Verdict: rule.VerdictAsk, Source: source, Why: "it makes changes"},
	}
}

// testTools are the operators that run the workspace's code to check it.
var testTools = [...]string{"workspace:test.run", "workspace:test.lint"}

// PlansTests reports whether a plan given by the user has a step that runs the
// workspace's tests or linter. It returns false for nil.
func PlansTests(given *plan.Plan) bool {
	return given != nil && slices.ContainsFunc(given.Steps, func(s plan.Step) bool {
		return slices.ContainsFunc(testTools[:], func(name string) bool { return name == s.Tool || name == "workspace:"+s.Tool })
	})
}

// Approve is a way to answer gates.
type Approve string

// Ways to answer gates. The zero value leaves them to the user.
const (
	ApproveAsk  Approve = ""
	ApproveNone Approve = "none" // a gate denies
	ApproveSafe Approve = "safe" // file changes inside the workspace and its tests, by its own operators
	// ApproveContained allows that, and calls whose programs run in a box: those of
	// the workspace, and without network also those of other servers.
	ApproveContained Approve = "contained"
	ApproveAll       Approve = "all"

	ApproveUnasked Approve = "unasked" // a gate denies, since no user can be asked; no value of --approve
)

// ByNobody marks an answer as a default, since no user could give one.
const ByNobody = "nobody was there to be asked"

// By says who gives the answer to a gate.
func (a Approve) By(g event.GateRequested) string {
	if a == ApproveUnasked || g.Changed != "" && a != ApproveNone {
		return ByNobody
	}
	return "--approve " + string(a)
}

// ParseApprove parses the value of --approve.
func ParseApprove(text string) (Approve, error) {
	switch a := Approve(text); a {
	case ApproveNone, ApproveSafe, ApproveContained, ApproveAll:
		return a, nil
	default:
		return "", fmt.Errorf("--approve takes none, safe, contained or all, not %q", text)
	}
}

// Answer decides about a gate without the user; ok is false if the user must
// decide. Only the user can accept a tool that its server has changed.
func (a Approve) Answer(g event.GateRequested) (decision event.Decision, ok bool) {
	if g.Changed != "" && a != ApproveAsk {
		return event.Deny, true
	}
	switch a {
	case ApproveAll:
		return event.Allow, true
	case ApproveSafe:
		if g.Trusted && safeOperators[g.Tool] && g.Removes == "" && !changesStartup(g) {
			return event.Allow, true
		}
		return event.Deny, true
	case ApproveContained:
		if g.Contained == plan.ContainedOffline || g.Contained == plan.ContainedFiles && g.Trusted {
			return event.Allow, true
		}
		return ApproveSafe.Answer(g)
	case ApproveNone, ApproveUnasked:
		return event.Deny, true
	default:
		return "", false
	}
}

// Least returns the narrowest way to answer gates that allows this one.
func Least(g event.GateRequested) Approve {
	for _, a := range []Approve{ApproveSafe, ApproveContained} {
		if decision, _ := a.Answer(g); decision == event.Allow {
			return a
		}
	}
	return ApproveAll
}

// AcceptCommand returns the command that shows how the server of a gate's tool has
// changed the tool, and accepts that.
func AcceptCommand(g event.GateRequested) string { return "replan tools accept " + g.QualifiedTool() }

// safeOperators are the workspace's own operators that --approve safe lets pass.
// Their changes stay inside the workspace and can be undone. The memory of the
// user lies outside it and affects every later session, so its tools are not
// listed.
var safeOperators = map[string]bool{
	"fs.patch": true, "fs.write": true, "fs.move": true, "fs.mkdir": true, "fs.remove": true,
	"code.remove": true, "code.insert": true, "code.comment": true, "data.set": true, "test.run": true, "test.lint": true,
}
