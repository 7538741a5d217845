package telling

import (
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/prompt"
)

// RuleWords says why a rule asks and who set it.
func RuleWords(r rule.Rule) string {
	if r.Source == "" {
		return r.Why
	}
	return r.Why + " (" + r.Source + " rule)"
}

// AskedWords describes the question of a gate that is no longer open.
func AskedWords(g event.GateRequested) string {
	what := untrusted.Line(g.Tool)
	if g.Step != "" {
		what += " in " + StepWords(g.Step)
	}
	if g.Rule.Why != "" {
		what += ": " + RuleWords(g.Rule)
	}
	return "asked about " + what
}

// ResolvedWords describes the answer to a gate.
func ResolvedWords(g *agent.Gate, d event.GateResolved) string {
	what := "the call"
	if g != nil {
		what = untrusted.Line(g.Tool)
		if g.Step != "" {
			what += " in " + StepWords(g.Step)
		}
	}
	words := "allowed " + what
	switch {
	case d.Decision == event.Deny:
		words = "denied " + what
	case d.Decision == event.Edit:
		words = "edited the call of " + what
	case d.Scope == event.ScopeRun:
		words += ", and later calls of it in this run"
	case d.Scope == event.ScopeAlways && d.Rule != nil:
		words += ", and always by the rule " + untrusted.Line(d.Rule.String())
	}
	return words + ByWords(d.By)
}

// WouldWords says what a gate would do to a step in a dry run.
func WouldWords(r rule.Rule) string {
	if r.Verdict == rule.VerdictBlock {
		return "would be denied"
	}
	return "would ask"
}

// QuestionWords describes a question of the run in one line.
func QuestionWords(q agent.Question) string {
	switch {
	case q.Doubt:
		return StepWords(q.Step) + " is in doubt: did it take effect?"
	case q.Denied:
		return StepWords(q.Step) + " was denied: how shall the run go on?"
	}
	return StepWords(q.Step) + " failed: how shall it go on?"
}

// DoubtWords describes the decision about a step in doubt.
func DoubtWords(d event.DoubtResolved) string {
	step := StepWords(d.Step)
	switch d.Decision {
	case event.DoubtDone:
		step += " counts as done: it took effect"
	case event.DoubtRerun:
		step += " runs again"
	default:
		step += " stays in doubt, and the run ends"
	}
	return step + ByWords(d.By)
}

// FailureWords says how the run continues after a failed step.
func FailureWords(d event.FailureResolved) string {
	step := StepWords(d.Step)
	switch {
	case d.Decision == event.FailureRetry && d.Args != nil:
		step += " is tried again with other arguments"
	case d.Decision == event.FailureRetry:
		step += " is tried again"
	case d.Decision == event.FailureSkip:
		step += " is left out, with what needs it"
	case d.Decision == event.FailureReplan:
		step = "a new plan replaces " + step
	default:
		step += " ends the run"
	}
	return step + ByWords(d.By)
}

// ByWords names who decided, or returns "" if it was the user.
func ByWords(by string) string {
	switch {
	case by == "" || by == "user":
		return ""
	case strings.HasPrefix(by, "nobody "): // a complete sentence
		return " (" + untrusted.Line(by) + ")"
	}
	return " (by " + untrusted.Line(by) + ")"
}

// StepWords names a step for use in a sentence: a step of the plan, or a model's
// call in the chat.
func StepWords(index string) string {
	if number, ok := strings.CutPrefix(index, prompt.ChatParent+"."); ok {
		return "call " + untrusted.Line(number)
	}
	return "step " + untrusted.Line(index)
}

// DecisionWords describes a decision.
func DecisionWords(q agent.Asked) string {
	switch q.About {
	case agent.AskedGate:
		switch event.Decision(q.Decision) {
		case event.Deny:
			return "denied"
		case event.Edit:
			return "edited"
		}
		switch q.Scope {
		case event.ScopeRun:
			return "allowed for the run"
		case event.ScopeAlways:
			return "allowed always"
		}
		return "allowed once"
	case agent.AskedDoubt:
		switch event.DoubtDecision(q.Decision) {
		case event.DoubtDone:
			return "taken for done"
		case event.DoubtRerun:
			return "to be run again"
		}
	default:
		switch event.FailureDecision(q.Decision) {
		case event.FailureRetry:
			return "to be tried again"
		case event.FailureSkip:
			return "left out"
		case event.FailureReplan:
			return "to be planned anew"
		}
	}
	return "the run was ended"
}

// WhoWords names who decided.
func WhoWords(by string) string {
	switch by {
	case "user":
		return "you"
	case "":
		return "nobody named"
	default:
		return untrusted.Line(by)
	}
}
