package event

import (
	"slices"
	"strings"

	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// GateRequested reports that a step, or the start of a project's servers, waits
// for a decision. It shows the complete call.
type GateRequested struct {
	Gate       string            `json:"gate"`           // unique within a run
	Call       string            `json:"call,omitempty"` // SHA-256 (hex) of the tool, what is said of it, and the args: an answer is for this call
	Step       string            `json:"step,omitempty"`
	Title      untrusted.Text    `json:"title,omitempty"`
	Tool       string            `json:"tool,omitempty"` // bare name
	Server     string            `json:"server,omitempty"`
	Trusted    bool              `json:"trusted,omitempty"` // one of the workspace's own operators
	Pin        string            `json:"pin,omitempty"`     // of the tool, see [plan.Tool]
	Contained  plan.Containment  `json:"contained,omitempty"`
	Changed    untrusted.Text    `json:"changed,omitempty"`  // how its server has changed the tool, a unified diff; allowing the call accepts that
	Rule       rule.Rule         `json:"rule"`               // why it asks
	Planned    bool              `json:"planned,omitempty"`  // the plan asks for a gate here too, independent of rules
	Args       map[string]any    `json:"args,omitempty"`     // complete
	Diff       string            `json:"diff,omitempty"`     // unified, from a dry run of the call
	Hashes     map[string]string `json:"hashes,omitzero"`    // path → SHA-256 (hex) of the files under the diff
	Nothing    bool              `json:"nothing,omitempty"`  // it would change nothing: no gate opens, and the call is bound to no file
	Command    *plan.Command     `json:"command,omitempty"`  // process that the call would start, if its tool names it
	Removes    string            `json:"removes,omitempty"`  // "removes 180 of 214 lines of a.go": the call removes most of a file
	Outdated   untrusted.Text    `json:"outdated,omitempty"` // why it asks again about an approved call
	Provenance []rule.Provenance `json:"provenance,omitempty"`
	Items      int               `json:"items,omitempty"`       // for how many items of the step the answer holds; 0 means for this call alone
	Always     *Always           `json:"always,omitempty"`      // what the answer "always" would save; nil if that answer is not available
	AlwaysTool *Always           `json:"always_tool,omitempty"` // what "always this tool" would save; nil if that answer is not available
	NoAlways   untrusted.Text    `json:"no_always,omitempty"`   // why "always" is not available, a sentence
}

// Always is the rule that the answer "always" at a gate saves.
type Always struct {
	Rule rule.Rule `json:"rule"`
	Text string    `json:"text"` // as written to the configuration
}

// Decision is the answer to a gate.
type Decision string

// Answers to a gate.
const (
	Allow Decision = "allow"
	Deny  Decision = "deny"
	Edit  Decision = "edit" // the call is replaced by another, which asks again
)

// Scope is the range of calls that a decision applies to.
type Scope string

// Scopes of a decision.
const (
	ScopeOnce   Scope = "once"
	ScopeRun    Scope = "run"    // every later call in this run that matches [GateRequested.ForRun]
	ScopeAlways Scope = "always" // every later call that matches the rule, in later runs too
	// ScopeTool answers with the wider rule of [GateRequested.AlwaysTool]. The event
	// of the answer then has ScopeAlways, and that rule.
	ScopeTool Scope = "tool"
)

// GateResolved is the answer to a gate.
type GateResolved struct {
	Gate     string   `json:"gate"`
	Call     string   `json:"call,omitempty"` // of the gate that was answered
	Decision Decision `json:"decision"`
	Scope    Scope    `json:"scope"`
	By       string   `json:"by"` // user, or the option that answered

	Rule *rule.Rule     `json:"rule,omitempty"` // for always: the saved rule
	Args map[string]any `json:"args,omitempty"` // of an edit: the args of the new call, without references

	Reason untrusted.Text `json:"reason,omitempty"` // why the user said no, in their words; "" if they gave none
}

// notUsers begin the names of what answers in place of a user: an option, the default where
// nobody can be asked, and a server whose client cannot ask.
var notUsers = []string{"--", "nobody ", "replan serve"}

// Declined reports whether a user said no, or a program in their place: no option did, and it
// is not the default where nobody can be asked.
func (d GateResolved) Declined() bool {
	return d.Decision == Deny && !slices.ContainsFunc(notUsers, func(begin string) bool { return strings.HasPrefix(d.By, begin) })
}

// Undoable reports whether the call uses one of the workspace's operators for
// files, code and tests. Naming such an operator in a rule covers text written by
// a model.
func (g GateRequested) Undoable() bool {
	return rule.Undoable(plan.Tool{Name: g.Tool, Trusted: g.Trusted})
}

// ForRun returns the rule for the answer "run": calls of the same tool and, if
// the tool runs programs, of the same program. For a program that executes its
// arguments, such as a shell or `git -c`, the rule requires the same arguments. If that
// answer is not available, why is the reason.
func (g GateRequested) ForRun() (r rule.Rule, why string) {
	if g.Changed != "" {
		return rule.Rule{}, "its server has changed the tool: allow it once, which accepts the change"
	}
	r = rule.Rule{Tool: g.QualifiedTool(), Pin: g.Pin, Contained: g.Contained, Verdict: rule.VerdictRun, Source: rule.SourceUser, Why: "you allowed this tool for the run"}
	if !g.Trusted || g.Tool != "proc.run" {
		return r, ""
	}
	if text, _ := g.Args["shell"].(string); text != "" {
		return rule.Rule{}, "a shell command is allowed once at a time"
	}
	argv, _ := g.Args["argv"].([]any)
	if len(argv) == 0 {
		return rule.Rule{}, "the call names no program"
	}
	program, _ := argv[0].(string)
	if program == "" {
		return rule.Rule{}, "the call names no program"
	}
	r.Args, r.Why = map[string]string{"argv.0": rule.Literal(program), "shell": ""}, "you allowed this program for the run"
	words := make([]string, len(argv))
	for i, word := range argv {
		words[i], _ = word.(string)
	}
	if rule.Interprets(program) || rule.Launches(words) {
		r.Args = map[string]string{"argv": rule.Literal(plan.CanonicalJSON(g.Args["argv"])), "shell": ""}
		r.Why = "you allowed this command for the run"
	}
	return r, ""
}

// QualifiedTool returns server:tool of the waiting call.
func (g GateRequested) QualifiedTool() string { return g.Server + ":" + g.Tool }
