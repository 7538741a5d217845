package agent

// GateRequested says that a step, or the start of a project's servers, waits
// for a decision. It shows the whole call.
type GateRequested struct {
	Gate       string            `json:"gate"` // unique within a run
	Step       string            `json:"step,omitempty"`
	Title      string            `json:"title,omitempty"`
	Tool       string            `json:"tool,omitempty"` // bare name
	Server     string            `json:"server,omitempty"`
	Trusted    bool              `json:"trusted,omitempty"`  // one of the workspace's own operators
	Rule       Rule              `json:"rule"`               // why it asks
	Planned    bool              `json:"planned,omitempty"`  // the plan asks for a gate here too, whatever rules say
	Args       map[string]any    `json:"args,omitempty"`     // in full
	Diff       string            `json:"diff,omitempty"`     // unified, from a dry application
	Hashes     map[string]string `json:"hashes,omitempty"`   // path → SHA-256 (hex) of what the diff was made against
	Removes    string            `json:"removes,omitempty"`  // "removes 180 of 214 lines of a.go": most of a file goes
	Outdated   string            `json:"outdated,omitempty"` // why it asks again about what was approved already
	Provenance []Provenance      `json:"provenance,omitempty"`
	Always     *Always           `json:"always,omitempty"`    // what the answer "always" would save; nil where there is no such answer
	NoAlways   string            `json:"no_always,omitempty"` // why there is not, a sentence
}

// Always is the rule that a gate's answer for always saves.
type Always struct {
	Rule Rule   `json:"rule"`
	Text string `json:"text"` // as it is written into the configuration
}

// Provenance says where text in a gated call came from.
type Provenance struct {
	Arg  string `json:"arg"`  // the argument's name; "" is all of them
	Step string `json:"step"` // the step whose result it carries
	Tool string `json:"tool,omitempty"`
	// Mention is what the user's message mentions, in place of a step.
	Mention string `json:"mention,omitempty"`
	// Exact says that a reference carries the text of that result, Written that a
	// model wrote the argument after it had read it. It is one of them.
	Exact   bool `json:"exact,omitempty"`
	Written bool `json:"written,omitempty"`
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

	Rule *Rule          `json:"rule,omitempty"` // for always: as it was saved
	Args map[string]any `json:"args,omitempty"` // of an edit: of the call as it is now, without references
}
