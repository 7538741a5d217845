package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"replan/internal/lazyregexp"
	"replan/internal/untrusted"
	"replan/planning/expression"
)

// Text is text from outside: of a model, a tool, a file or a user. Printing it, or calling
// its methods, returns it safe to draw; string(t) is the text as it came. Programs outside
// this module write plan.Text(s) where s is a variable; a literal needs no conversion.
type Text = untrusted.Text

// Plan is a directed acyclic graph of typed steps with their goal. Its JSON form
// is the plan file; unknown fields are kept in Extra and written back.
type Plan struct {
	ID         string         // see CheckID; empty until the plan is stored
	Title      Text           // required
	Goal       Text           // the user's goal, word for word; Title if a file has none
	DoneWhen   Text           // how one will know the goal is met; shown, never enforced
	Variables  map[string]any // JSON values, numbers as json.Number
	OnFailure  OnFailure      // the effect of a failed step unless the step says otherwise
	Steps      []Step         // in the order they were written
	Acceptance []Check        // of the goal: held after the last step, before the answer
	Milestones []Milestone    // shown, never enforced
	Risks      []string       // shown, never enforced
	PlannedBy  string         // the model that made the plan and writes its missing optional args; "" for a plan of a person or a program
	Provenance []Provenance   // of the untrusted text that this model had read
	Extra      map[string]any // unknown fields of the file, kept
}

// Step is one node of a plan.
type Step struct {
	Index           string         // unique within a plan; the position from 1 where a file has none
	Title           Text           // one line for people
	Executor        Executor       // ExecutorTool where a file has none
	Tool            string         // tool name, bare or server:tool; required for ExecutorTool
	Profile         string         // for ExecutorAgent
	Args            map[string]any // JSON values, numbers as json.Number, with ${variable} references; nil where the file has none
	DependsOn       []string       // indices of the steps that must be done first
	ResultVariable  string         // the name under which later steps refer to the result
	ExpectedOutcome Text           // never enforced; the replanner and the screen read it
	When            string         // an expression, see package expression; if false, the step is not taken; "" always takes it
	ForEach         *ForEach       // the list whose items it is carried out for, one by one; nil carries it out once
	Until           *Until         // what a step that only reads waits for; nil waits for nothing
	Checks          []Check        // held when the step's work is done; a refuted one fails the step
	OnFailure       OnFailure      // overrides the plan's
	Timeout         time.Duration  // 0 means the runner's default
	Retries         int            // more attempts after a failure, for read-only tools alone
	Gate            bool           // asks always; false exempts nothing
	Synthesize      bool           // the synthesizer sees the result even where another step consumed it
	Extra           map[string]any // unknown fields of the file, kept

	Leads bool // of a reply: it begins a list, and would come after the steps before it
}

// Name returns the index as a screen shows it. That of a new plan needs no change;
// one in an old journal may hold characters that cannot be drawn.
func (s Step) Name() string { return untrusted.Line(s.Index) }

// Check is a condition that is held against the world once a step, or a plan, is
// done. It is JSON "check" of a step, and "acceptance" of a plan.
type Check struct {
	Title  Text           // one line for people; empty where a file has none, see Name
	Expect string         // an expression, see package expression
	Tool   string         // a read-only tool whose result Expect sees as result; "" for the step's own result
	Args   map[string]any // of Tool, with ${variable} references; nil where the file has none
	Extra  map[string]any // unknown fields of the file, kept
}

// Name returns what a screen calls the check: its title, or what it expects.
func (c Check) Name() string { return untrusted.Line(cmp.Or(string(c.Title), c.Expect)) }

// Until is what a step waits for: its call is repeated until the expression holds.
type Until struct {
	Expect string         // an expression, see package expression
	Every  time.Duration  // between two calls; DefaultEvery where a file has none
	For    time.Duration  // after which the step fails; DefaultFor where a file has none
	Extra  map[string]any // unknown fields of the file, kept
}

// How often and how long a step waits if its plan does not say so.
const (
	DefaultEvery = 10 * time.Second
	DefaultFor   = 10 * time.Minute
)

// MarshalJSON writes the form of the plan file.
func (u Until) MarshalJSON() ([]byte, error) {
	var w ObjectWriter
	w.Add("expect", u.Expect)
	w.Add("every", u.Every.String())
	w.Add("for", u.For.String())
	w.addExtra(u.Extra)
	return w.Bytes()
}

// ForEach makes a step run once for each item of a list. Its result is the list of their
// results, in the order of the items, null for an item that failed or was skipped. In a
// plan file these are the fields for_each, as, max and at_once of the step.
type ForEach struct {
	Items  any    // a list, or text that is one ${variable} reference to a list
	As     string // what args and expressions call the item; DefaultAs where a file has none
	Max    int    // more items are refused; DefaultMax where a file has none
	AtOnce int    // of them; 0 means as many as the run has slots
}

// Defaults and bounds of a step that runs for each item of a list.
const (
	DefaultAs  = nameItem
	DefaultMax = 50
	MostItems  = 10_000 // that Max may be
)

// Own reports whether a variable has a value of its own for each item: the item, or its
// position from 0.
func (f *ForEach) Own(variable string) bool {
	return f != nil && (variable == f.As || variable == nameIndex)
}

// ValuesFor returns the values of those variables for the item at a position.
func (f *ForEach) ValuesFor(item any, position int) map[string]any {
	return map[string]any{f.As: item, nameIndex: json.Number(strconv.Itoa(position))}
}

// List returns the items, given the values of variables. It fails if there is no list, or
// if it is longer than Max.
func (f *ForEach) List(values map[string]any) ([]any, error) {
	v, err := Resolve(f.Items, values)
	if err != nil {
		return nil, err
	}
	list, ok := v.([]any)
	switch {
	case !ok:
		return nil, fmt.Errorf("for_each needs a list, and %s is %s", f.words(), typeName(v))
	case len(list) > f.Max:
		return nil, fmt.Errorf("for_each has %d items, and max is %d", len(list), f.Max)
	}
	return list, nil
}

// Estimate returns, before the run, for how many items a step of the plan will be carried
// out. If that is not known, it returns the most, and the step whose result decides, if
// one does.
func (f *ForEach) Estimate(p Plan) (n int, known bool, after string) {
	for _, reference := range References(f.Items) {
		for _, s := range p.Steps {
			if s.ResultVariable == reference.Name {
				return f.Max, false, s.Index
			}
		}
	}
	items, err := f.List(p.Variables)
	if err != nil {
		return f.Max, false, ""
	}
	return len(items), true, ""
}

// words names the list in a message.
func (f *ForEach) words() string {
	if text, ok := f.Items.(string); ok {
		return OneLine(text, 60)
	}
	return "it"
}

// Milestone names a strategic phase of a plan and the steps that belong to it.
type Milestone struct {
	Title Text           `json:"title"`
	Steps []string       `json:"steps,omitempty"` // indices
	Extra map[string]any `json:"-"`               // unknown fields of the file, kept
}

// Executor says who carries a step out.
type Executor string

// The executors. A tool step is one call of one tool. An agent step is a bounded loop of
// calls under a profile. A self step is the model's own words.
const (
	ExecutorTool  Executor = "tool"
	ExecutorAgent Executor = "agent"
	ExecutorSelf  Executor = "self"
)

// OnFailure is the effect of a failed step.
type OnFailure string

// The effects of a failed step. The zero value defers to the plan. For a plan, it
// defers to the default of its origin: abort for a file, replan for a goal planned
// here.
const (
	OnFailureDefault OnFailure = ""
	OnFailureAbort   OnFailure = "abort"  // nothing new starts, running steps may finish
	OnFailureSkip    OnFailure = "skip"   // the steps that depend on it are skipped too
	OnFailureReplan  OnFailure = "replan" // the planner makes a new plan of the remaining work
)

// idPattern is the form of a plan's id; no path can hide in one.
var idPattern = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// Step returns the step with the given index.
func (p Plan) Step(index string) (Step, bool) {
	for _, s := range p.Steps {
		if s.Index == index {
			return s, true
		}
	}
	return Step{}, false
}

// Tools returns the names of the tools that the steps and the checks of the plan call,
// each once.
func (p Plan) Tools() []string {
	var names []string
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, s := range p.Steps {
		if ExecutorOf(s) == ExecutorTool {
			add(s.Tool)
		}
		for _, c := range s.Checks {
			add(c.Tool)
		}
	}
	for _, c := range p.Acceptance {
		add(c.Tool)
	}
	return names
}

// FailureOf returns the effect of a failure of step: the step's own setting, else
// the plan's, else fallback.
func (p Plan) FailureOf(step Step, fallback OnFailure) OnFailure {
	if step.OnFailure != OnFailureDefault {
		return step.OnFailure
	}
	if p.OnFailure != OnFailureDefault {
		return p.OnFailure
	}
	return fallback
}

// With returns the plan with these steps in place of its own, and with milestones
// and an acceptance of these alone.
func (p Plan) With(steps []Step) Plan {
	p.Acceptance = p.acceptanceOf(steps)
	p.Steps = steps
	p.Milestones = KeepMilestones(p.Milestones, steps)
	return p
}

// acceptanceOf returns the acceptance without the checks that name results which these
// steps no longer have.
func (p Plan) acceptanceOf(steps []Step) []Check {
	lost := make(map[string]bool)
	for _, s := range p.Steps {
		_, given := p.Variables[s.ResultVariable]
		lost[s.ResultVariable] = !given
	}
	for _, s := range steps {
		delete(lost, s.ResultVariable)
	}
	return slices.DeleteFunc(slices.Clone(p.Acceptance), func(c Check) bool {
		return slices.ContainsFunc(checkVariables(Step{Checks: []Check{c}}), func(name string) bool { return lost[name] })
	})
}

// KeepMilestones removes missing steps from the milestones, and then milestones
// without steps.
func KeepMilestones(milestones []Milestone, steps []Step) []Milestone {
	there := ByIndex(steps)
	var kept []Milestone
	for _, m := range milestones {
		before := len(m.Steps)
		m.Steps = slices.DeleteFunc(slices.Clone(m.Steps), func(index string) bool {
			_, ok := there[index]
			return !ok
		})
		if len(m.Steps) > 0 || before == 0 {
			kept = append(kept, m)
		}
	}
	return kept
}

// Evidence is what is known about one check, or about a step without one.
type Evidence struct {
	Title untrusted.Text     `json:"title"`
	State EvidenceState      `json:"state"`
	Saw   []expression.Sight `json:"saw"`  // the values that the check looked at
	Step  string             `json:"step"` // index; "" for the plan's acceptance

	Reason untrusted.Text `json:"reason,omitempty"` // why the check had no answer, or what shows that a step without checks has done its work: a clause
}

// EvidenceState says how far something is shown to hold.
type EvidenceState string

// The states of evidence. The zero value is of a step that claims nothing: it only
// reads, and nothing checks it.
const (
	StateVerified  EvidenceState = "verified"  // a check held, or tests, a linter or a build that ran show it
	StateClaimed   EvidenceState = "claimed"   // a tool or a model says so, and nothing checks it
	StateUnchecked EvidenceState = "unchecked" // there is a check that was not evaluated
	StateRefuted   EvidenceState = "refuted"   // a check did not hold
)

// NoTests begins what test.run says, and why a check about it is not evaluated, if there
// was no test that could fail.
const NoTests = "there are no tests to run"

// NoDeclaration begins the summary of a name that code.summarize finds declared nowhere.
const NoDeclaration = "No declaration of "

// CountVerified returns how many pieces of evidence are verified.
func CountVerified(evidence []Evidence) int {
	n := 0
	for _, e := range evidence {
		if e.State == StateVerified {
			n++
		}
	}
	return n
}

// SawWords says which values a check looked at: "result.failed is 3"; "" for none.
func SawWords(sights []expression.Sight) string {
	words := make([]string, len(sights))
	for i, s := range sights {
		words[i] = untrusted.Line(s.Path + " is " + CanonicalJSON(s.Value))
	}
	return strings.Join(words, " and ")
}
