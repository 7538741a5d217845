// Package policy says which calls stop at a gate, and how a gate is answered
// where nobody is there to press a key. It reads the rules of flags and of the
// configuration, has the built-in ones, and makes and saves the rule with which a
// gate is answered for always. Which rule decides about a call, [rule.Decide]
// says.
package policy

import (
	"fmt"
	"slices"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// Trust says what is known of the workspace and of what the user asked for.
type Trust struct {
	Workspace bool // the user trusts the workspace: its tests may run
	Tests     bool // the user's own words, or the plan that the user gave, ask for the tests
}

// BuiltIn returns the rules that hold where neither a flag nor the
// configuration says otherwise: what only reads runs, tests and linters run where
// they are trusted or asked for, plans that a model makes and runs in chat are
// held at the gates of their steps, everything else asks.
func BuiltIn(t Trust) []rule.Rule {
	const source = rule.SourceBuiltIn
	tests := rule.Rule{Tool: testTools[0], When: rule.WhenTrusted, Verdict: rule.VerdictAsk, Source: source, Why: "running tests runs the code of this folder"}
	lint := rule.Rule{Tool: testTools[1], When: rule.WhenTrusted, Verdict: rule.VerdictAsk, Source: source, Why: "a linter may run the code of this folder"}
	for _, r := range []*rule.Rule{&tests, &lint} {
		switch {
		case t.Workspace:
			r.Verdict, r.Why = rule.VerdictRun, "you trust this folder"
		case t.Tests:
			r.Verdict, r.Why = rule.VerdictRun, "you asked for the tests"
		}
	}
	return []rule.Rule{
		tests, lint,
		{Tool: prompt.PlanServer + ":*", When: rule.WhenTrusted, Verdict: rule.VerdictRun, Source: source, Why: "its steps have gates of their own"},
		{Tool: "workspace:vcs.push", When: rule.WhenTrusted, Verdict: rule.VerdictAsk, Source: source, Why: "what is pushed has left this machine"},
		{Tool: "*", When: rule.WhenReadOnly, Verdict: rule.VerdictRun, Source: source, Why: "it only reads"},
		{Tool: "*", When: rule.WhenDestructive, Verdict: rule.VerdictAsk, Source: source, Why: "it changes what is there"},
		{Tool: "*", When: rule.WhenUnmarked, Verdict: rule.VerdictAsk, Source: source, Why: "its server does not say what it may change"},
		{Tool: "*", Verdict: rule.VerdictAsk, Source: source, Why: "it has effects"},
	}
}

// testTools are the operators that run the code of the folder to check it.
var testTools = [...]string{"workspace:test.run", "workspace:test.lint"}

// PlansTests reports whether a plan that the user gave has a step that runs the
// tests or the linter of the workspace. nil has none.
func PlansTests(given *plan.Plan) bool {
	return given != nil && slices.ContainsFunc(given.Steps, func(s plan.Step) bool {
		return slices.ContainsFunc(testTools[:], func(name string) bool { return name == s.Tool || name == "workspace:"+s.Tool })
	})
}

// Approve says how gates are answered.
type Approve string

// How gates can be answered. The zero value leaves them open for the user.
const (
	ApproveAsk  Approve = ""
	ApproveNone Approve = "none" // a gate denies
	ApproveSafe Approve = "safe" // file changes inside the workspace and its tests, by its own operators
	ApproveAll  Approve = "all"
)

// ParseApprove reads the value of --approve.
func ParseApprove(text string) (Approve, error) {
	switch a := Approve(text); a {
	case ApproveNone, ApproveSafe, ApproveAll:
		return a, nil
	default:
		return "", fmt.Errorf("--approve takes none, safe or all, not %q", text)
	}
}

// Answer decides about a gate where nobody is asked; ok is false where the user
// is to be asked.
func (a Approve) Answer(g event.GateRequested) (decision event.Decision, ok bool) {
	switch a {
	case ApproveAll:
		return event.Allow, true
	case ApproveSafe:
		if g.Trusted && safeOperators[g.Tool] && g.Removes == "" && !changesStartup(g) {
			return event.Allow, true
		}
		return event.Deny, true
	case ApproveNone:
		return event.Deny, true
	default:
		return "", false
	}
}

// safeOperators are the workspace's own operators that --approve safe lets
// pass: their changes stay inside the workspace and can be taken back. What is
// remembered of the user lies outside it and goes on to every later session.
var safeOperators = map[string]bool{
	"fs.patch": true, "fs.write": true, "fs.move": true, "fs.mkdir": true, "fs.remove": true, "test.run": true, "test.lint": true,
}
