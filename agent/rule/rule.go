package rule

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"replan/planning/plan"
	"replan/planning/prompt"
)

// Rule is one gate rule. Rules are tried in order and the first that matches a
// call decides about it.
type Rule struct {
	Tool    string            `json:"tool"`           // pattern over bare and qualified names, as in path.Match; * is any
	Args    map[string]string `json:"args,omitempty"` // argument → pattern, all of which must match; see [Decide]
	When    When              `json:"when,omitempty"` // what the tool must be like besides
	Verdict Verdict           `json:"verdict"`
	// Untrusted says that a rule which lets calls pass does so too where text from
	// a result is in them.
	Untrusted bool `json:"untrusted,omitempty"`

	Source string `json:"source"` // flag, configuration, built-in, plan, or user
	Why    string `json:"why"`    // in words, for the gate
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

// The sources of rules.
const (
	SourceFlag          = "flag"          // holds on when the run is resumed without the flag
	SourceConfiguration = "configuration" // of the user
	SourceBuiltIn       = "built-in"      // what nobody said: it lets no untrusted text into an effect
	SourcePlan          = "plan"          // the plan asks for a gate, which no other rule opens
	SourceUser          = "user"          // at a gate: with VerdictRun it lifts what asks, never what denies
)

// Verdict is what a rule says about a call.
type Verdict string

// The verdicts of a rule.
const (
	VerdictRun   Verdict = "run"
	VerdictAsk   Verdict = "ask"
	VerdictBlock Verdict = "block"
)

// Matches reports whether the rule speaks about the tool, whatever it says of
// arguments. The bare name of a workspace operator lets only the workspace's own
// tool pass; where the rule asks or denies, it covers every server's tool of that
// name.
func (r Rule) Matches(t plan.Tool) bool {
	switch {
	case r.When == WhenReadOnly && !t.ReadOnly,
		r.When == WhenDestructive && !t.Destructive,
		r.When == WhenUnmarked && t.Annotated,
		r.When == WhenTrusted && !t.Trusted,
		// A namesake on another server gets nothing that was meant for the workspace's own.
		r.Verdict == VerdictRun && plan.IsOperator(r.Tool) && !t.Trusted,
		r.Verdict == VerdictRun && leaves(t) && strings.ContainsAny(r.Tool, `*?[`):
		return false
	}
	qualified := t.QualifiedName()
	switch {
	case r.Source == SourceUser:
		return r.Tool == qualified // the tool that was shown, whatever it is called
	case strings.Contains(r.Tool, ":"):
		return prompt.MatchName(r.Tool, qualified) // which no bare name can pose as
	default:
		return prompt.MatchName(r.Tool, t.Name) || prompt.MatchName(r.Tool, qualified)
	}
}

// leaves reports whether what the tool does leaves this machine for good: only a
// rule that has its name lets it pass, no pattern.
func leaves(t plan.Tool) bool { return t.Trusted && t.Name == "vcs.push" }

// Equal reports whether both rules say the same.
func (r Rule) Equal(o Rule) bool {
	return r.Tool == o.Tool && r.When == o.When && r.Untrusted == o.Untrusted && r.Verdict == o.Verdict && r.Source == o.Source && r.Why == o.Why && maps.Equal(r.Args, o.Args)
}

// String is the rule as a flag has it: the tool, and ARG=PATTERN for each
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
	return strings.Join(words, " ")
}

// Speaking returns the rules of which one will decide about a call of the tool,
// in their order. Only the last has no conditions on arguments.
func Speaking(rules []Rule, t plan.Tool) []Rule {
	var out []Rule
	for _, r := range rules {
		if !r.Matches(t) {
			continue
		}
		if out = append(out, r); len(r.Args) == 0 {
			return out
		}
	}
	return append(out, Rule{Tool: t.Name, Verdict: VerdictAsk, Source: SourceBuiltIn, Why: "no rule speaks about this tool"})
}

// Decide returns the rule that decides about a call of the tool. Where no rule
// speaks, it asks.
//
// A condition is a pattern for the text of an argument, in which * and ? stop at
// a slash, ** does not, and a backslash takes the meaning from what follows. What
// is no text is matched as compact JSON; a name with dots leads into objects and
// lists. A condition on an argument that is not there does not match, unless its
// pattern is empty: that matches what is left out, and empty text.
//
// What lets a call pass is read narrowly: * stops at a quote, and no wildcard
// lets in a control character, or anything in a text with a step upwards (..).
// What asks or denies is read widely: neither the case of letters, nor dots and
// steps upwards, nor an absolute path hide a file from it.
//
// Where a [plan.Placeholder] stands for an argument and the decision hangs
// on it, the call asks.
func Decide(rules []Rule, t plan.Tool, args map[string]any) Rule {
	return DecideAmong(Speaking(rules, t), args)
}

// DecideAmong returns the first of the rules that speak about a tool whose conditions
// hold.
func DecideAmong(speaking []Rule, args map[string]any) Rule {
	var open []Rule // may decide, once all is known
	for _, r := range speaking {
		switch r.fit(args) {
		case fitsNot:
			continue
		case fitsPerhaps:
			open = append(open, r)
			continue
		}
		for _, o := range open {
			if o.Verdict != r.Verdict {
				o.Verdict = VerdictAsk
				o.Why = "it depends on " + strings.Join(slices.Sorted(maps.Keys(o.Args)), " and ") + ", which is not known yet: " + o.Why
				return o
			}
		}
		return r
	}
	return Rule{Verdict: VerdictAsk, Source: SourceBuiltIn, Why: "no rule speaks about this tool"}
}
