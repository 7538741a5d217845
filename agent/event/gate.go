package event

import (
	"replan/agent/rule"
	"replan/planning/plan"
)

// GateRequested says that a step, or the start of a project's servers, waits
// for a decision. It shows the whole call.
type GateRequested struct {
	Gate       string            `json:"gate"` // unique within a run
	Step       string            `json:"step,omitempty"`
	Title      string            `json:"title,omitempty"`
	Tool       string            `json:"tool,omitempty"` // bare name
	Server     string            `json:"server,omitempty"`
	Trusted    bool              `json:"trusted,omitempty"`  // one of the workspace's own operators
	Rule       rule.Rule         `json:"rule"`               // why it asks
	Planned    bool              `json:"planned,omitempty"`  // the plan asks for a gate here too, whatever rules say
	Args       map[string]any    `json:"args,omitempty"`     // in full
	Diff       string            `json:"diff,omitempty"`     // unified, from a dry application
	Hashes     map[string]string `json:"hashes,omitempty"`   // path → SHA-256 (hex) of what the diff was made against
	Removes    string            `json:"removes,omitempty"`  // "removes 180 of 214 lines of a.go": most of a file goes
	Outdated   string            `json:"outdated,omitempty"` // why it asks again about what was approved already
	Provenance []rule.Provenance `json:"provenance,omitempty"`
	Always     *Always           `json:"always,omitempty"`    // what the answer "always" would save; nil where there is no such answer
	NoAlways   string            `json:"no_always,omitempty"` // why there is not, a sentence
}

// Always is the rule that a gate's answer for always saves.
type Always struct {
	Rule rule.Rule `json:"rule"`
	Text string    `json:"text"` // as it is written into the configuration
}

// Decision is the answer to a gate.
type Decision string

// The answers to a gate.
const (
	Allow Decision = "allow"
	Deny  Decision = "deny"
	Edit  Decision = "edit" // the call is another one, and asks again
)

// Scope says how far a decision reaches.
type Scope string

// How far a decision reaches.
const (
	ScopeOnce   Scope = "once"
	ScopeRun    Scope = "run"    // every later call in this run that [GateRequested.ForRun] fits
	ScopeAlways Scope = "always" // every later call that the rule fits, in later runs too
)

// GateResolved is the answer to a gate.
type GateResolved struct {
	Gate     string   `json:"gate"`
	Decision Decision `json:"decision"`
	Scope    Scope    `json:"scope"`
	By       string   `json:"by"` // user, or the option that answered

	Rule *rule.Rule     `json:"rule,omitempty"` // for always: as it was saved
	Args map[string]any `json:"args,omitempty"` // of an edit: of the call as it is now, without references
}

// Undoable reports whether the call is of one of the workspace's operators for
// files, code and tests, whose name in a rule covers what a model wrote.
func (g GateRequested) Undoable() bool {
	return rule.Undoable(plan.Tool{Name: g.Tool, Trusted: g.Trusted})
}

// ForRun returns the rule that the answer for the run stands for: calls of the
// same tool, and where that runs programs, of the same program. A program that
// runs whatever it is told is bound to all of its words. Where there is no such
// answer, why says so.
func (g GateRequested) ForRun() (r rule.Rule, why string) {
	r = rule.Rule{Tool: g.QualifiedTool(), Verdict: rule.VerdictRun, Source: rule.SourceUser, Why: "you allowed this tool for the run"}
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
	if rule.Interprets(program) {
		r.Args = map[string]string{"argv": rule.Literal(plan.CanonicalJSON(g.Args["argv"])), "shell": ""}
		r.Why = "you allowed this command for the run"
	}
	return r, ""
}

// QualifiedTool is server:tool of the call that waits.
func (g GateRequested) QualifiedTool() string { return g.Server + ":" + g.Tool }
