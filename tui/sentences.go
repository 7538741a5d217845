package tui

import (
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/prompt"
	"replan/tui/untrusted"
)

// ruleWords says why a rule asks, and whose it is.
func ruleWords(r rule.Rule) string {
	if r.Source == "" {
		return r.Why
	}
	return r.Why + " (" + r.Source + " rule)"
}

// askedWords says what a gate asked, where nobody is asked any more.
func askedWords(g event.GateRequested) string {
	what := untrusted.Line(g.Tool)
	if g.Step != "" {
		what += " in " + stepWords(g.Step)
	}
	if g.Rule.Why != "" {
		what += ": " + ruleWords(g.Rule)
	}
	return "asked about " + what
}

// resolvedWords says how a gate was answered.
func resolvedWords(g *agent.Gate, d event.GateResolved) string {
	what := "the call"
	if g != nil {
		what = untrusted.Line(g.Tool)
		if g.Step != "" {
			what += " in " + stepWords(g.Step)
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
	return words + byWords(d.By)
}

// wouldWords says what a gate would do to a step of a dry run.
func wouldWords(r rule.Rule) string {
	if r.Verdict == rule.VerdictBlock {
		return "would be denied"
	}
	return "would ask"
}

// questionWords asks a question of the run in a line.
func questionWords(q agent.Question) string {
	switch {
	case q.Doubt:
		return stepWords(q.Step) + " is in doubt: did it take effect?"
	case q.Denied:
		return stepWords(q.Step) + " was denied: how shall the run go on?"
	}
	return stepWords(q.Step) + " failed: how shall it go on?"
}

// doubtWords says what was decided about a step in doubt.
func doubtWords(d event.DoubtResolved) string {
	step := stepWords(d.Step)
	switch d.Decision {
	case event.DoubtDone:
		step += " counts as done: it took effect"
	case event.DoubtRerun:
		step += " runs again"
	default:
		step += " stays in doubt, and the run ends"
	}
	return step + byWords(d.By)
}

// failureWords says how the run goes on after a failed step.
func failureWords(d event.FailureResolved) string {
	step := stepWords(d.Step)
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
	return step + byWords(d.By)
}

// byWords says who decided, where it was not the user.
func byWords(by string) string {
	switch {
	case by == "" || by == "user":
		return ""
	case strings.HasPrefix(by, "nobody "): // a sentence of its own
		return " (" + untrusted.Line(by) + ")"
	}
	return " (by " + untrusted.Line(by) + ")"
}

// stepWords names a step in a sentence: one of the plan, or a call that a model
// makes in the chat.
func stepWords(index string) string {
	if number, ok := strings.CutPrefix(index, prompt.ChatParent+"."); ok {
		return "call " + untrusted.Line(number)
	}
	return "step " + untrusted.Line(index)
}

// decisionWords says what was decided.
func decisionWords(q agent.Asked) string {
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

// whoWords says who decided.
func whoWords(by string) string {
	switch by {
	case "user":
		return "you"
	case "":
		return "nobody named"
	default:
		return untrusted.Line(by)
	}
}
