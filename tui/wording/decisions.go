package wording

import (
	"fmt"
	"slices"
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// Decision is a decision about a step in doubt or a failed one, worded for every
// place that shows it.
type Decision struct {
	Choice string // the answer in the dialog
	Short  string // the same for narrow screens
	Help   string // what the answer does, for questions of the command line
	Does   string // what the decision does to the step, for the line log
	Story  string // the decision itself, for the story of the step

	sentence string // what happens to the step, whose name replaces %s
}

var doubts = map[event.DoubtDecision]Decision{
	event.DoubtDone: {
		Choice: "it took effect: continue", Short: "done", Help: "it took effect, and the run continues",
		Does: "it took effect", Story: "counts as done", sentence: "%s counts as done: it took effect",
	},
	event.DoubtRerun: {
		Choice: "run it again", Short: "run again", Help: "run it again",
		Does: "to be run again", Story: "to be run again", sentence: "%s runs again",
	},
	event.DoubtAbort: {
		Choice: "abort, it stays in doubt", Short: "abort", Help: "it stays in doubt, and the run ends",
		Does: "it stays in doubt, and the run ends", Story: "the run was ended", sentence: "%s stays in doubt, and the run ends",
	},
}

var failures = map[event.FailureDecision]Decision{
	event.FailureRetry: {
		Choice: "retry", Short: "retry", Help: "try it again",
		Does: "to be tried again", Story: "to be tried again", sentence: "%s is tried again",
	},
	event.FailureSkip: {
		Choice: "skip, with its dependents", Short: "skip", Help: "skip it and the steps that depend on it",
		Does: "to be skipped, with its dependents", Story: "left out", sentence: "%s is skipped, with its dependents",
	},
	event.FailureReplan: {
		Choice: "replan", Short: "replan", Help: "make a new plan for the rest",
		Does: "to be replanned", Story: "to be replanned", sentence: "a new plan replaces %s",
	},
	event.FailureAbort: {
		Choice: "abort, end the run", Short: "abort", Help: "end the run",
		Does: "the run ends", Story: "the run was ended", sentence: "you ended the run at %s",
	},
}

// OfDoubt returns the words for a decision about a step in doubt. An unknown
// decision aborts.
func OfDoubt(d event.DoubtDecision) Decision {
	if words, ok := doubts[d]; ok {
		return words
	}
	return doubts[event.DoubtAbort]
}

// OfFailure returns the words for a decision about a failed step. An unknown
// decision aborts.
func OfFailure(d event.FailureDecision) Decision {
	if words, ok := failures[d]; ok {
		return words
	}
	return failures[event.FailureAbort]
}

// DoubtWords says what happens to a step in doubt. It does not name who decided.
func DoubtWords(d event.DoubtResolved) string {
	return fmt.Sprintf(OfDoubt(d.Decision).sentence, StepWords(d.Step))
}

// FailureWords says how the run continues after a failed step. It does not name
// who decided.
func FailureWords(d event.FailureResolved) string {
	words := fmt.Sprintf(OfFailure(d.Decision).sentence, StepWords(d.Step))
	if d.Decision == event.FailureRetry && d.Args != nil {
		words += " with other arguments"
	}
	return words
}

// ElicitationWords describes how a question of a server was answered.
func ElicitationWords(d event.ElicitationResolved) string {
	did := map[plan.ElicitationAction]string{plan.ElicitationAccept: "answered", plan.ElicitationDecline: "declined", plan.ElicitationCancel: "canceled"}[d.Action]
	if did == "" {
		did = untrusted.Line(string(d.Action))
	}
	return did + " the server's question in " + StepWords(d.Step) + ByWords(d.By)
}

// AsksUser reports whether the call of a step waits for the user's answer to its
// server.
func AsksUser(r *agent.Run, s *agent.StepState) bool {
	return r != nil && s.Status == agent.StepRunning && slices.ContainsFunc(r.Elicitations, func(q event.ElicitationRequested) bool { return q.Step == s.Step.Index })
}

// AskedWords describes the question of a gate that is no longer open.
func AskedWords(g event.GateRequested) string {
	what := untrusted.Line(g.Tool)
	if g.Step != "" {
		what += " in " + StepWords(g.Step)
	}
	if g.Rule.Why != "" {
		what += ": " + RuleReason(g.Rule)
	}
	return "asked about " + what
}

// ResolvedWords describes the answer to a gate after its call. It does not name the
// user.
func ResolvedWords(g *agent.Gate, d event.GateResolved) string {
	what := "the call"
	if g != nil {
		what = untrusted.Line(g.Tool)
		if g.Step != "" {
			what += " in " + StepWords(g.Step)
		}
		if d.Decision == event.Edit {
			what = "the call of " + what
		}
	}
	return answered(d, " "+what+ByWords(d.By))
}

// ResolvedItemsWords describes equal answers to so many gates of the items of a step.
func ResolvedItemsWords(count int, tool, step string, d event.GateResolved) string {
	return answered(d, " "+english.Count(count, "call")+" of "+untrusted.Line(tool)+" in "+StepWords(step)+ByWords(d.By))
}

// GateDecision describes the answer to a gate below it, in the line log: allowed by you.
func GateDecision(d event.GateResolved) string {
	words := answered(d, strings.TrimPrefix(SignedBy(d.By), ","))
	if d.Decision == event.Edit {
		words += ": it asks again"
	}
	return words
}

// answered says how a gate was answered. what follows the verb.
func answered(d event.GateResolved, what string) string {
	switch {
	case d.Declined():
		return "declined" + what + ReasonGiven(d.Reason)
	case d.Decision == event.Deny:
		return "denied" + what
	case d.Decision == event.Edit:
		return "edited" + what
	case d.Scope == event.ScopeRun:
		return "allowed" + what + ", and later calls of it in this run"
	case d.Scope == event.ScopeAlways && d.Rule != nil:
		return "allowed" + what + ", and always for " + savedCalls(*d.Rule, "in this workspace")
	default:
		return "allowed" + what
	}
}

// DecisionWords describes the answer to a request of a step, for its story.
func DecisionWords(q agent.Asked) string {
	switch q.About {
	case agent.AskedDoubt:
		return OfDoubt(event.DoubtDecision(q.Decision)).Story
	case agent.AskedGate:
	default:
		return OfFailure(event.FailureDecision(q.Decision)).Story
	}
	switch {
	case q.Declined():
		return "declined"
	}
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

// SignedBy names who decided, also if it was the user: ", by you".
func SignedBy(by string) string {
	if by == "" || strings.HasPrefix(by, "nobody ") {
		return ByWords(by)
	}
	return ", by " + WhoWords(by)
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

// open words the state of a step that waits for the user's decision, and what to
// decide.
func open(q agent.Question) (verb, state, asks string) {
	switch {
	case q.Doubt:
		return "is ", "in doubt", "did it take effect?"
	case q.Declined:
		return "was ", "declined", "how should the run continue?"
	case q.Denied:
		return "was ", "denied", "how should the run continue?"
	default:
		return "", "failed", "how should it continue?"
	}
}

// QuestionState names the state that a question is about: in doubt, denied, failed.
func QuestionState(q agent.Question) string {
	_, state, _ := open(q)
	return state
}

// QuestionWords describes a question of the run in one line.
func QuestionWords(q agent.Question) string {
	verb, state, asks := open(q)
	return StepWords(q.Step) + " " + verb + state + ": " + asks
}

// QuestionAsks describes a question after the name of its step.
func QuestionAsks(q agent.Question) string {
	_, state, asks := open(q)
	return state + "; " + asks
}
