package plain

import (
	"slices"
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
)

// Rule describes a gate rule: the calls it covers, its verdict and its owner.
func Rule(r rule.Rule) string {
	named := untrusted.Line(r.String())
	if rest, every := strings.CutPrefix(r.String(), "*"); every && (rest == "" || rest[0] == ' ') {
		named = "every tool" + untrusted.Visible(rest)
	}
	named += map[rule.When]string{
		rule.WhenReadOnly: " that only reads", rule.WhenDestructive: " that changes what is there",
		rule.WhenUnmarked: " that does not say what it may change", rule.WhenTrusted: " of the workspace's own",
	}[r.When]
	named += map[rule.Verdict]string{rule.VerdictAsk: " asks", rule.VerdictRun: " runs", rule.VerdictBlock: " is denied"}[r.Verdict]
	whose := map[string]string{
		rule.SourceFlag: "a flag of the command line", rule.SourceConfiguration: "your configuration, config.toml",
		rule.SourceBuiltIn: "built in", rule.SourcePlan: "the plan says so", rule.SourceUser: "you, at a gate",
	}[r.Source]
	if whose == "" {
		return named
	}
	return named + " (" + whose + ")"
}

// ForRun names the calls that an answer for the whole run lets pass.
func ForRun(g event.GateRequested) string {
	if argv, _ := g.Args["argv"].([]any); g.Trusted && g.Tool == "proc.run" && len(argv) > 0 {
		if program, _ := argv[0].(string); program != "" {
			return untrusted.Line(program)
		}
	}
	return untrusted.Line(g.Tool)
}

// Passed says which earlier answer lets a call pass for longer than once, or
// returns "" if the call passes for another reason.
func Passed(r *agent.Run, d event.StepStarted) string {
	if d.Rule == nil || !slices.ContainsFunc(r.Rules(), func(matched rule.Rule) bool {
		return matched.Source == rule.SourceUser && matched.Verdict == rule.VerdictRun && matched.Equal(*d.Rule)
	}) {
		return ""
	}
	return "passed without a gate: " + untrusted.Line(d.Tool) + " in step " + untrusted.Line(d.Index) + " (" + untrusted.Line(d.Rule.Why) + ")"
}

// Allowed lists what the user has allowed in a run beyond a single call, newest
// last.
func Allowed(r *agent.Run) []string {
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
