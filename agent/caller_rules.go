package agent

import (
	"fmt"
	"slices"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// ruleFor returns the rule that decides about a step's call. A call that a rule
// allows still asks if its arguments carry untrusted text that the rule does not
// cover. A user's grant can lift that. A plan may ask for a gate but cannot
// exempt a call from one. A tool that any revision put behind a gate stays behind
// one in the steps of a replan.
func (r *caller) ruleFor(s stepView, facts toolFacts) rule.Rule {
	if facts.Err != nil {
		return rule.Rule{Tool: s.tool(), Verdict: rule.VerdictAsk, Source: rule.SourceBuiltIn, Why: "there is no such tool"}
	}
	tool, args := facts.Tool, s.callState().args()
	if lacking, _ := s.requestState().lacking(); r.terms.DryRun() && len(lacking) > 0 {
		args = merge(args, nil)
		for _, name := range lacking {
			args[name] = plan.Placeholder("<" + name + ">") // the model would write it
		}
	}
	args = rule.Linked(args, s.gateState().linkTargets())
	matched := rule.DecideAmong(facts.Rules, args)
	if r.permissions.hasChanged(tool) && matched.Verdict != rule.VerdictBlock {
		return rule.ChangedTool(tool)
	}
	var uncovered []rule.Provenance
	if matched.Verdict == rule.VerdictRun || matched.Verdict == rule.VerdictAsk && r.permissions.grants() {
		uncovered = r.uncovered(s, tool, matched, args)
	}
	switch {
	case matched.Verdict != rule.VerdictRun || len(uncovered) == 0:
	case !slices.ContainsFunc(uncovered, func(p rule.Provenance) bool { return !p.Notes }):
		matched = rule.ProjectNotes(tool)
	case slices.ContainsFunc(uncovered, func(p rule.Provenance) bool { return !p.Decides }):
		matched = rule.UntrustedText(tool)
	default:
		matched = rule.DecidingText(tool, s.isItem())
	}
	if matched.Verdict == rule.VerdictAsk {
		matched = r.permissions.lift(matched, tool, args, uncovered)
	}
	switch {
	case matched.Verdict != rule.VerdictRun:
	case s.gateState().removal() != "":
		return RemovalRule(tool.Name, s.gateState().removal())
	case r.permissions.planGates(s, tool):
		return gatedByPlan(tool.Name)
	case s.authorState().edits() > 0 && !s.gateState().allowed():
		return rule.Rule{Tool: tool.Name, Verdict: rule.VerdictAsk, Source: rule.SourceUser, Why: "you edited this call; this is what it would do now"}
	}
	return matched
}

// uncovered returns the untrusted text in a step's call that the rule does not
// cover.
func (r *caller) uncovered(s stepView, tool plan.Tool, matched rule.Rule, args map[string]any) []rule.Provenance {
	if prompt.IsPlanTool(tool) || tool.KeepsText() {
		return nil
	}
	from := r.origins.provenance(s)
	if s.isItem() && s.planStep().gateState().allowsItems(tool) {
		from = slices.DeleteFunc(from, func(p rule.Provenance) bool { return p.Decides })
	}
	return rule.Uncovered(matched, tool, args, from, r.tools.toolOf)
}

// unseen reports whether a call may change workspace files and passes by a rule
// that says nothing about its arguments. Such a call may not remove most of a
// file.
func (r *caller) unseen(s stepView, facts toolFacts) bool {
	return facts.Err == nil && facts.Tool.Trusted && facts.Tool.Previews && !s.gateState().allowed() && len(r.ruleFor(s, facts).Args) == 0
}

// gate returns the question that a step's call must pass.
func (r *caller) gate(s stepView) OpenGate {
	facts := r.tools.facts(s.tool())
	tool := facts.Tool
	return OpenGate{
		Gate: event.GateRequested{
			Gate: r.gateID(s), Call: callHash(tool, s.callState().args()), Step: s.index(), Title: s.title(),
			Tool: tool.Name, Server: tool.Server, Trusted: tool.Trusted, Contained: tool.Contained, Pin: tool.Pin, Changed: tool.Changed, Rule: r.ruleFor(s, facts), Planned: r.permissions.planGates(s, tool), Args: s.callState().args(),
			Outdated: s.gateState().reopenReason(), Provenance: r.origins.provenance(s), Items: r.sharing(s, facts),
		},
		Attempt: s.nextAttempt(),
		Tool:    tool,
	}
}

// gateID returns the id of the gate for a step's next attempt in this revision. A
// question about a call that the plan has dropped, or the user has edited, is
// thus not mistaken for one about its replacement.
func (r *caller) gateID(s stepView) string {
	id := fmt.Sprintf("%s.%d.%d", s.index(), r.board.revision(), s.nextAttempt())
	if s.authorState().edits() > 0 {
		id += fmt.Sprintf("e%d", s.authorState().edits())
	}
	if of := s.planStep(); s.isItem() && of.attempt() > 1 { // an earlier attempt may have closed it unanswered
		id += fmt.Sprintf("a%d", of.attempt())
	}
	return id
}

// sharing returns how many items an answer at the gate of an item is for. It is for all items
// of its step if only their choice makes it ask, else 0.
func (r *caller) sharing(s stepView, facts toolFacts) int {
	if !s.isItem() || !r.ruleFor(s, facts).Equal(rule.DecidingText(facts.Tool, true)) {
		return 0
	}
	return s.planStep().fanOutState().count()
}

// passed reports whether the user approved, in the review, the call that a step
// is about to make.
func (r *caller) passed(s stepView) bool {
	tool := r.tools.facts(s.tool()).Tool
	return !r.permissions.hasChanged(tool) && s.gateState().approved(tool, s.callState().args(), s.nextAttempt())
}

// judgedPaths returns what the rules judged in place of the paths of a call, nil if no rule
// about the tool is about a path.
func (r *caller) judgedPaths(s stepView, facts toolFacts) map[string]string {
	judges := slices.ContainsFunc(facts.Rules, rule.Rule.JudgesPaths) ||
		r.permissions.judgePaths()
	switch {
	case !facts.Tool.Trusted || !judges:
		return nil
	case s.gateState().linkTargets() == nil:
		return map[string]string{}
	default:
		return s.gateState().linkTargets()
	}
}

// deniedBy says which rule denied a call.
func deniedBy(r rule.Rule) string {
	switch r.Source {
	case rule.SourceFlag:
		return "denied by --deny " + r.String()
	case rule.SourceBuiltIn: // no gate can show how its server has changed the tool
		return "denied: " + string(r.Why)
	}
	return "denied by a rule: " + string(r.Why)
}

// RemovalRule returns the rule for a call that would remove most of a file. No
// grant lifts it, and no rule that names only a tool.
func RemovalRule(tool, removes string) rule.Rule {
	return rule.Rule{Tool: tool, Verdict: rule.VerdictAsk, Source: rule.SourceBuiltIn, Why: untrusted.Text("it " + removes)}
}

// gatedByPlan returns the rule for a step whose plan asks for a gate.
func gatedByPlan(tool string) rule.Rule {
	return rule.Rule{Tool: tool, Verdict: rule.VerdictAsk, Source: rule.SourcePlan, Why: "the plan asks for a gate here"}
}
