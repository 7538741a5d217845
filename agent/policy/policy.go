// Package policy says which calls stop at a gate, and how a gate is answered
// where nobody is there to press a key.
package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"replan/agent"
	"replan/planning"
)

// Trust says what is known of the workspace and of what the user asked for.
type Trust struct {
	Workspace bool // the user trusts the workspace: its tests may run
	Tests     bool // the user's own words, or the plan that the user gave, ask for the tests
}

// BuiltIn returns the rules that hold where neither a flag nor the
// configuration says otherwise: what only reads runs, tests run where they are
// trusted or asked for, plans that a model makes and runs in chat are held at the
// gates of their steps, everything else asks.
func BuiltIn(t Trust) []agent.Rule {
	const source = "built-in"
	tests := agent.Rule{Tool: "workspace:test.run", When: agent.WhenTrusted, Verdict: agent.VerdictAsk, Source: source, Why: "running tests runs the code of this folder"}
	switch {
	case t.Workspace:
		tests.Verdict, tests.Why = agent.VerdictRun, "you trust this folder"
	case t.Tests:
		tests.Verdict, tests.Why = agent.VerdictRun, "you asked for the tests"
	}
	return []agent.Rule{
		tests,
		{Tool: planning.PlanServer + ":*", When: agent.WhenTrusted, Verdict: agent.VerdictRun, Source: source, Why: "its steps have gates of their own"},
		{Tool: "*", When: agent.WhenReadOnly, Verdict: agent.VerdictRun, Source: source, Why: "it only reads"},
		{Tool: "*", When: agent.WhenDestructive, Verdict: agent.VerdictAsk, Source: source, Why: "it changes what is there"},
		{Tool: "*", When: agent.WhenUnmarked, Verdict: agent.VerdictAsk, Source: source, Why: "its server does not say what it may change"},
		{Tool: "*", Verdict: agent.VerdictAsk, Source: source, Why: "it has effects"},
	}
}

// PlansTests reports whether a plan that the user gave has a step that runs the
// tests of the workspace. nil has none.
func PlansTests(given *planning.Plan) bool {
	return given != nil && slices.ContainsFunc(given.Steps, func(s planning.Step) bool {
		return s.Tool == "test.run" || s.Tool == "workspace:test.run"
	})
}

// Parse reads a rule that the user wrote, in a flag or the configuration: a tool name, bare or
// server:tool, in which * stands for any text without a slash.
func Parse(text string, verdict agent.Verdict, source string) (agent.Rule, error) {
	pattern := strings.TrimSpace(text)
	if pattern == "" {
		return agent.Rule{}, fmt.Errorf("an empty rule matches nothing: name a tool, such as fs.patch or files:*")
	}
	if _, err := path.Match(pattern, ""); err != nil {
		return agent.Rule{}, fmt.Errorf("the rule %q is not a pattern: %w", text, err)
	}
	return agent.Rule{Tool: pattern, Verdict: verdict, Source: source, Why: "your " + source + " says so: " + pattern}, nil
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
func (a Approve) Answer(g agent.GateRequested) (decision agent.Decision, ok bool) {
	switch a {
	case ApproveAll:
		return agent.Allow, true
	case ApproveSafe:
		if g.Trusted && safeOperators[g.Tool] {
			return agent.Allow, true
		}
		return agent.Deny, true
	case ApproveNone:
		return agent.Deny, true
	default:
		return "", false
	}
}

// safeOperators are the workspace's own operators that --approve safe lets
// pass: their changes stay inside the workspace and can be taken back. What is
// remembered of the user lies outside it and goes on to every later session.
var safeOperators = map[string]bool{"fs.patch": true, "fs.write": true, "test.run": true}
