package plain

import (
	"slices"
	"strings"

	"replan/agent"
	"replan/tui/untrusted"
)

// Rule names a gate rule by the calls that it is about, what becomes of them and
// whose rule it is.
func Rule(r agent.Rule) string {
	named := untrusted.Line(r.String())
	if rest, every := strings.CutPrefix(r.String(), "*"); every && (rest == "" || rest[0] == ' ') {
		named = "every tool" + untrusted.Visible(rest)
	}
	named += map[agent.When]string{
		agent.WhenReadOnly: " that only reads", agent.WhenDestructive: " that changes what is there",
		agent.WhenUnmarked: " that does not say what it may change", agent.WhenTrusted: " of the workspace's own",
	}[r.When]
	named += map[agent.Verdict]string{agent.VerdictAsk: " asks", agent.VerdictRun: " runs", agent.VerdictBlock: " is denied"}[r.Verdict]
	whose := map[string]string{
		agent.SourceFlag: "a flag of the command line", agent.SourceConfiguration: "your configuration, config.toml",
		agent.SourceBuiltIn: "built in", agent.SourcePlan: "the plan says so", agent.SourceUser: "you, at a gate",
	}[r.Source]
	if whose == "" {
		return named
	}
	return named + " (" + whose + ")"
}

// ForRun names the calls that the answer for the run lets pass.
func ForRun(g agent.GateRequested) string {
	if argv, _ := g.Args["argv"].([]any); g.Trusted && g.Tool == "proc.run" && len(argv) > 0 {
		if program, _ := argv[0].(string); program != "" {
			return untrusted.Line(program)
		}
	}
	return untrusted.Line(g.Tool)
}

// Passed says that a call passes by what the user has allowed in its run for
// longer than once, and by which answer; "" where it passes for another reason.
func Passed(r *agent.Run, d agent.StepStarted) string {
	if d.Rule == nil || !slices.ContainsFunc(r.Rules(), func(rule agent.Rule) bool {
		return rule.Source == agent.SourceUser && rule.Verdict == agent.VerdictRun && rule.Equal(*d.Rule)
	}) {
		return ""
	}
	return "passed without a gate: " + untrusted.Line(d.Tool) + " in step " + untrusted.Line(d.Index) + " (" + untrusted.Line(d.Rule.Why) + ")"
}

// Allowed names what the user has allowed in a run for longer than once, the
// newest last.
func Allowed(r *agent.Run) []string {
	var out []string
	for _, rule := range r.Rules() {
		if rule.Source != agent.SourceUser || rule.Verdict != agent.VerdictRun {
			continue
		}
		words := untrusted.Line(rule.String())
		if len(rule.Args) == 0 {
			words += " with any arguments"
		}
		out = append([]string{words}, out...)
	}
	return out
}
