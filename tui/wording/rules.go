package wording

import (
	"maps"
	"slices"
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// RuleWords describes a gate rule: the calls it covers, its verdict and its owner.
func RuleWords(r rule.Rule) string {
	verbs := map[rule.Verdict][2]string{
		rule.VerdictAsk: {"needs your approval", "need your approval"}, rule.VerdictRun: {"runs without asking", "run without asking"},
		rule.VerdictBlock: {"is denied", "are denied"},
	}[r.Verdict]
	which := map[rule.When]string{
		rule.WhenReadOnly: " that only read", rule.WhenDestructive: " that can change or delete data",
		rule.WhenUnmarked: " that do not say what they change", rule.WhenTrusted: " of the workspace",
		rule.WhenEffects: " that may change something",
	}[r.When]
	covered := map[string]string{"workspace:test.run": "running tests", "workspace:test.lint": "running a linter"}[r.Tool]
	rest, every := strings.CutPrefix(r.String(), "*")
	switch {
	case every && (rest == "" || rest[0] == ' '):
		covered = "tools" + which + untrusted.Visible(rest) + " " + verbs[1]
		if which == "" && rest == "" {
			covered = "every tool " + verbs[0]
			if r.Source == rule.SourceBuiltIn {
				covered = "every other tool " + verbs[0]
			}
		}
	case covered != "" && r.Source == rule.SourceBuiltIn:
		if covered += " " + verbs[0]; r.Verdict == rule.VerdictAsk {
			covered += " unless your goal asks for tests"
		}
	default:
		covered = untrusted.Line(r.String()) + " " + verbs[0]
	}
	whose := map[string]string{
		rule.SourceFlag: "command-line flag", rule.SourceConfiguration: "config.toml",
		rule.SourceBuiltIn: "built-in rule", rule.SourcePlan: "the plan", rule.SourceUser: "your answer at a gate",
	}[r.Source]
	if whose == "" {
		return covered
	}
	return covered + " (" + whose + ")"
}

// SavedRule says what a rule allows that was saved at a gate.
func SavedRule(r rule.Rule) string { return savedCalls(r, "is always allowed here") }

// savedCalls names the calls that a rule covers which was saved at a gate; words follow
// their tool. Arguments that a call must not have are left out.
func savedCalls(r rule.Rule, words string) string {
	words = untrusted.Line(r.Tool[strings.IndexByte(r.Tool, ':')+1:]) + " " + words
	var with []string
	for _, name := range slices.Sorted(maps.Keys(r.Args)) {
		if r.Args[name] != "" {
			with = append(with, untrusted.Line(name+" "+r.Args[name]))
		}
	}
	if len(with) > 0 {
		words += " with " + english.List(with, "and")
	}
	return words
}

// RunScope names the calls that an answer for the whole run lets pass.
func RunScope(g event.GateRequested) string {
	if argv, _ := g.Args["argv"].([]any); g.Trusted && g.Tool == "proc.run" && len(argv) > 0 {
		if program, _ := argv[0].(string); program != "" {
			return untrusted.Line(program)
		}
	}
	return untrusted.Line(g.Tool)
}

// Grants lists what the user has allowed in a run beyond a single call, newest
// last.
func Grants(r *agent.Run) []string {
	var out []string
	for _, matched := range r.Rules() {
		if matched.Source != rule.SourceUser || matched.Verdict != rule.VerdictRun {
			continue
		}
		words := untrusted.Line(matched.String())
		if len(matched.Args) == 0 {
			words += " with any arguments"
		}
		out = append([]string{words}, out...)
	}
	return out
}

// Repeats reports whether the user already allowed the same call in the run. A change
// of files is never the same: it can differ although its arguments do not.
func Repeats(r *agent.Run, g event.GateRequested) bool {
	if g.Diff != "" {
		return false
	}
	allowed := func(q agent.Asked) bool { return q.About == agent.AskedGate && q.Decision == string(event.Allow) }
	for _, h := range r.History {
		if h.Tool != g.Tool && h.Tool != g.QualifiedTool() || !plan.EqualValues(h.Args, g.Args) {
			continue
		}
		for _, a := range r.AttemptsOf(h.Index) {
			if a.Number == h.Attempt && slices.ContainsFunc(a.Asked, allowed) {
				return true
			}
		}
	}
	return false
}

// RunScopeHint says what happens without a permission for the run, at the gate of a call
// that repeats.
func RunScopeHint(repeats bool) string {
	if repeats {
		return " (otherwise it asks again)"
	}
	return ""
}

// RuleReason says why a rule asks and who set it.
func RuleReason(r rule.Rule) string {
	if r.Source == "" {
		return r.Why.Visible()
	}
	return r.Why.Visible() + " (" + r.Source + " rule)"
}

// WouldWords says what a gate would do to a step in a dry run.
func WouldWords(r rule.Rule) string {
	if r.Verdict == rule.VerdictBlock {
		return "would be denied"
	}
	return "would ask"
}
