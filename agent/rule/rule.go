package rule

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// Rule is one gate rule. A rule that denies a call wins over every other. Among the
// rest the first that matches a call decides about it.
type Rule struct {
	Tool    string            `json:"tool"`           // pattern for bare and qualified names, as in path.Match; * matches any
	Args    map[string]string `json:"args,omitempty"` // argument → pattern; all must match, see [Decide]
	When    When              `json:"when,omitempty"` // additional condition on the kind of tool
	Pin     string            `json:"pin,omitempty"`  // the rule applies while this is the pin of the tool, see [plan.Tool]; "" is any
	Verdict Verdict           `json:"verdict"`
	// Untrusted extends a rule that allows calls to calls with text from a
	// result.
	Untrusted bool `json:"untrusted,omitempty"`
	// Contained restricts the rule to calls whose programs run in a box: in any, or
	// with ContainedOffline in one without network.
	Contained plan.Containment `json:"contained,omitempty"`

	Source string         `json:"source"` // flag, configuration, built-in, plan, or user
	Why    untrusted.Text `json:"why"`    // for display at the gate
}

// When restricts a rule to one kind of tools.
type When string

// Kinds of tools for When.
const (
	WhenAny         When = ""
	WhenReadOnly    When = "read_only"
	WhenDestructive When = "destructive"
	WhenUnmarked    When = "unmarked" // the server does not declare its effects
	WhenTrusted     When = "trusted"  // one of the workspace's own operators
	WhenEffects     When = "effects"  // not marked as one that only reads
)

// Sources of rules.
const (
	SourceFlag          = "flag"          // stays in force if the run is resumed without the flag
	SourceConfiguration = "configuration" // the user's configuration
	SourceBuiltIn       = "built-in"      // the default: it lets no untrusted text into an effect
	SourcePlan          = "plan"          // the plan asks for a gate, and no other rule can open it
	SourceUser          = "user"          // at a gate: with VerdictRun it lifts rules that ask, never rules that deny
)

// Verdict is the decision of a rule about a call.
type Verdict string

// Verdicts of a rule.
const (
	VerdictRun   Verdict = "run"
	VerdictAsk   Verdict = "ask"
	VerdictBlock Verdict = "block"
)

// Matches reports whether the rule applies to the tool, ignoring its conditions
// on arguments. If the rule allows calls, the bare name of a workspace operator
// matches only the workspace's own tool. If it asks or denies, the name matches
// the tool of every server.
func (r Rule) Matches(t plan.Tool) bool {
	switch {
	case r.Pin != "" && r.Pin != t.Pin,
		r.When == WhenReadOnly && !t.ReadOnly,
		r.When == WhenDestructive && !t.Destructive,
		r.When == WhenUnmarked && t.Annotated,
		r.When == WhenTrusted && !t.Trusted,
		r.When == WhenEffects && t.ReadOnly,
		r.Contained != plan.NotContained && t.Contained == plan.NotContained,
		r.Contained == plan.ContainedOffline && t.Contained != r.Contained,
		// A tool of the same name on another server gets no permission meant for
		// the workspace's own.
		r.Verdict == VerdictRun && !t.Trusted && (plan.IsOperator(r.Tool) || plan.IsOperator(t.Name) && r.Tool != "*" && !strings.Contains(r.Tool, ":")),
		r.Verdict == VerdictRun && leaves(t) && strings.ContainsAny(r.Tool, `*?[`):
		return false
	}
	qualified := t.QualifiedName()
	switch {
	case r.Source == SourceUser:
		return r.Tool == qualified // the exact tool that the user saw, whatever its name
	case strings.Contains(r.Tool, ":"):
		return prompt.MatchName(r.Tool, qualified) // no bare name can imitate a qualified one
	default:
		return prompt.MatchName(r.Tool, t.Name) || prompt.MatchName(r.Tool, qualified)
	}
}

// leaves reports whether the tool sends data off this machine for good. Only a
// rule with its exact name allows it, no pattern.
func leaves(t plan.Tool) bool { return t.Trusted && t.Name == "vcs.push" }

// Equal reports whether both rules are the same.
func (r Rule) Equal(o Rule) bool {
	return r.Tool == o.Tool && r.Pin == o.Pin && r.When == o.When && r.Untrusted == o.Untrusted && r.Contained == o.Contained && r.Verdict == o.Verdict && r.Source == o.Source && r.Why == o.Why && maps.Equal(r.Args, o.Args)
}

// String returns the rule in flag syntax: the tool, and ARG=PATTERN for each
// condition.
func (r Rule) String() string {
	words := []string{r.Tool}
	for _, name := range slices.Sorted(maps.Keys(r.Args)) {
		pattern := r.Args[name]
		if pattern == "" || strings.ContainsAny(pattern, "\"` \t\n") {
			pattern = strconv.Quote(pattern)
		}
		words = append(words, name+"="+pattern)
	}
	if r.Untrusted {
		words = append(words, "untrusted=yes")
	}
	if r.Contained != plan.NotContained {
		words = append(words, "contained="+string(r.Contained))
	}
	return strings.Join(words, " ")
}

// Matching returns the rules that may decide about a call of the tool, in order:
// those that deny, wherever they stand, then the others. Only the last has no
// conditions on arguments.
func Matching(rules []Rule, t plan.Tool) []Rule {
	var out []Rule
	for _, denies := range []bool{true, false} {
		for _, r := range rules {
			if (r.Verdict == VerdictBlock) != denies || !r.Matches(t) {
				continue
			}
			if out = append(out, r); len(r.Args) == 0 {
				return out
			}
		}
	}
	return append(out, Rule{Tool: t.Name, Verdict: VerdictAsk, Source: SourceBuiltIn, Why: "no rule covers this tool"})
}

// Decide returns the rule that decides about a call of the tool. If no rule
// matches, the call asks.
//
// A condition is a pattern for the text of an argument. * and ? stop at a slash,
// ** does not, and a backslash escapes the next character. Values other than text
// are matched as compact JSON; a name with dots refers to parts of objects and
// lists. A condition on a missing argument does not match. The exception is an
// empty pattern, which matches a missing argument and empty text.
//
// A rule that allows calls matches narrowly: * stops at a quote. No wildcard
// matches a control character, or any part of a text with a step upwards (..). A
// rule that asks or denies matches widely: letter case, dots, steps upwards and
// absolute paths cannot hide a file from it.
//
// If a [plan.Placeholder] stands for an argument and the decision depends on it,
// the call asks.
func Decide(rules []Rule, t plan.Tool, args map[string]any) Rule {
	return DecideAmong(Matching(rules, t), args)
}

// DecideAmong returns the first of the rules from [Matching] whose conditions
// match.
func DecideAmong(matching []Rule, args map[string]any) Rule {
	var open []Rule // may decide once all values are known
	for _, r := range matching {
		switch r.matchArgs(args) {
		case noMatch:
			continue
		case mayMatch:
			open = append(open, r)
			continue
		}
		for _, o := range open {
			if o.Verdict != r.Verdict {
				o.Verdict = VerdictAsk
				o.Why = untrusted.Text("it depends on "+strings.Join(slices.Sorted(maps.Keys(o.Args)), " and ")+", which is not known yet: ") + o.Why
				return o
			}
		}
		return r
	}
	return Rule{Verdict: VerdictAsk, Source: SourceBuiltIn, Why: "no rule covers this tool"}
}
