package rule

import (
	"strings"

	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// Uncovered returns the untrusted text of a call that the rule does not allow;
// the call then stops at a gate. from lists the origins of text in the call.
// toolOf returns the tool that produced a text; ok is false if none did.
//
// Reading with the workspace's own operators sends text nowhere. Passing text to
// another server sends it, unless the text came from the same server. What that
// server declares about its tool counts only if the user trusts the server. A call
// with effects carries all of its text, except an edit computed by the workspace's
// own operator.
func Uncovered(rule Rule, tool plan.Tool, args map[string]any, from []Provenance, toolOf func(Provenance) (plan.Tool, bool)) []Provenance {
	if prompt.IsPlanTool(tool) || tool.KeepsText() {
		return nil // the steps of a plan have their own gates
	}
	var out []Provenance
	for _, p := range from {
		source, known := toolOf(p)
		switch {
		case known && tool.ReadOnly && source.Server == tool.Recipient(args):
		case known && worksOut(source) && !p.Written && tool.Trusted && tool.Name == "fs.patch":
		case rule.Covers(p, tool, args):
		default:
			out = append(out, p)
		}
	}
	return out
}

// worksOut reports whether the result of a tool is an edit computed from what the
// plan asks for. The gate of fs.patch shows all of that edit.
func worksOut(t plan.Tool) bool { return t.Trusted && t.Name == "code.transform" }

// Covers reports whether a rule that allows calls also allows the untrusted text.
// Text from a reference is covered only by a rule that names untrusted text. Text
// written by a model is also covered by a pattern for the argument, or by the
// name of an operator whose effects undo reverts. Text that decides whether the call
// is made is also covered by such a name, and the project's notes by any rule. Built-in rules
// cover nothing.
func (r Rule) Covers(p Provenance, t plan.Tool, args map[string]any) bool {
	switch {
	case r.Verdict != VerdictRun || r.Source == SourceBuiltIn:
		return false
	case r.Untrusted, p.Notes:
		return true
	case p.Decides:
		return Undoable(t)
	case !p.Written:
		return false
	default:
		return Undoable(t) || r.binds(p.Arg, args)
	}
}

// binds reports whether the rule has a pattern for an argument or a part of it;
// "" means every argument with text.
func (r Rule) binds(arg string, args map[string]any) bool {
	if arg == "" {
		for name, value := range args {
			if hasText(value) && !r.binds(name, args) {
				return false
			}
		}
		return true
	}
	for name, pattern := range r.Args {
		if pattern != "" && (name == arg || strings.HasPrefix(name, arg+".")) {
			return true
		}
	}
	return false
}

// hasText reports whether a value can hold text.
func hasText(value any) bool {
	switch value.(type) {
	case string, linkedPath, plan.Placeholder, []any, map[string]any:
		return true
	default:
		return false
	}
}

// Undoable reports whether the tool is one of the workspace's operators for
// files, code and tests.
func Undoable(t plan.Tool) bool {
	family, _, _ := strings.Cut(t.Name, ".")
	return t.Trusted && (family == "fs" || family == "code" || family == "test")
}

// UntrustedText returns the rule that asks about the untrusted text in a call.
func UntrustedText(t plan.Tool) Rule {
	why := "it makes changes, and its arguments contain text from a result"
	if t.ReadOnly {
		why = "it sends text from a result to the server " + t.Server
	}
	return Rule{Tool: t.Name, Verdict: VerdictAsk, Source: SourceBuiltIn, Why: untrusted.Text(why)}
}

// ProjectNotes returns the rule about the notes of a folder that the user does not trust.
// It asks about calls that a model wrote with these notes before it.
func ProjectNotes(t plan.Tool) Rule {
	why := "it sends to the server " + t.Server + " what a model wrote that had read the notes of this folder (AGENTS.md), which is not trusted"
	return Rule{Tool: t.Name, Verdict: VerdictAsk, Source: SourceBuiltIn, Why: untrusted.Text(why)}
}

// DecidingText returns the rule that asks about untrusted text which decides whether a
// call is made. With items the answer holds for all items of its step.
func DecidingText(t plan.Tool, items bool) Rule {
	why := "text from a result decides whether it is called"
	if items {
		why = "text from a result decides for which items it is called; the answer holds for all of them"
	}
	return Rule{Tool: t.Name, Verdict: VerdictAsk, Source: SourceBuiltIn, Why: untrusted.Text(why)}
}

// ChangedTool returns the rule for calls of a tool that its server has changed. No
// other rule and no grant lifts it. A change that no gate can show is refused.
func ChangedTool(tool plan.Tool) Rule {
	if tool.TooLong {
		return Rule{Tool: tool.Name, Verdict: VerdictBlock, Source: SourceBuiltIn, Why: tool.Changed}
	}
	return Rule{
		Tool: tool.Name, Verdict: VerdictAsk, Source: SourceBuiltIn,
		Why: "its server has changed it since you accepted it; allowing the call accepts the change",
	}
}
