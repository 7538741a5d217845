package agent

import "replan/planning"

// Rule is one gate rule. Rules are tried in order and the first that matches a
// call decides about it.
type Rule struct {
	Tool    string  `json:"tool"`           // pattern over bare and qualified names, as in path.Match; * is any
	When    When    `json:"when,omitempty"` // what the tool must be like besides
	Verdict Verdict `json:"verdict"`
	Source  string  `json:"source"` // flag, configuration, built-in, plan, or user
	Why     string  `json:"why"`    // in words, for the gate
}

// When narrows a rule to tools of a kind.
type When string

// The kinds of tools a rule can be narrowed to.
const (
	WhenAny         When = ""
	WhenReadOnly    When = "read_only"
	WhenDestructive When = "destructive"
	WhenUnmarked    When = "unmarked" // the server says nothing of its effects
	WhenTrusted     When = "trusted"  // one of the workspace's own operators
)

// The sources of rules that more is made of than a word for the gate.
const (
	SourceFlag = "flag" // holds on when the run is resumed without the flag
	SourceUser = "user" // at a gate, for the run
)

// Verdict is what a rule says about a call.
type Verdict string

// The verdicts of a rule.
const (
	VerdictRun   Verdict = "run"
	VerdictAsk   Verdict = "ask"
	VerdictBlock Verdict = "block"
)

// Matches reports whether the rule speaks about the tool.
func (r Rule) Matches(t planning.Tool) bool {
	switch {
	case r.When == WhenReadOnly && !t.ReadOnly,
		r.When == WhenDestructive && !t.Destructive,
		r.When == WhenUnmarked && t.Annotated,
		r.When == WhenTrusted && !t.Trusted:
		return false
	}
	if r.Source == SourceUser {
		return r.Tool == t.QualifiedName() // the tool that was shown, whatever it is called
	}
	return planning.MatchName(r.Tool, t.Name) || planning.MatchName(r.Tool, t.QualifiedName())
}

// Decide returns the rule that decides about the tool. Where no rule speaks,
// it asks.
func Decide(rules []Rule, t planning.Tool) Rule {
	for _, r := range rules {
		if r.Matches(t) {
			return r
		}
	}
	return Rule{Tool: t.Name, Verdict: VerdictAsk, Source: "built-in", Why: "no rule speaks about this tool"}
}
