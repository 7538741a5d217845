package remote

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// Task says what a worker is to do, and what it needs for it.
type Task struct {
	Run        string         `json:"run"` // the id of the run
	Goal       untrusted.Text `json:"goal,omitempty"`
	Plan       *plan.Plan     `json:"plan,omitempty"` // run as it is; nil plans the goal
	OnFailure  plan.OnFailure `json:"on_failure,omitempty"`
	Synthesize bool           `json:"synthesize,omitempty"` // of a plan: write an answer at the end
	Strict     bool           `json:"strict,omitempty"`     // of a plan: do not fit args to the schemas of tools

	Approve  policy.Approve      `json:"approve,omitempty"`
	Review   bool                `json:"review,omitempty"`   // hold plans until a user has reviewed them
	Attended bool                `json:"attended,omitempty"` // a user answers gates and questions
	InDoubt  event.DoubtDecision `json:"in_doubt,omitempty"` // the answer for steps in doubt if no user can be asked

	Needs    Needs  `json:"needs,omitzero"`
	Source   Source `json:"source,omitzero"`
	Priority uint   `json:"priority,omitempty"` // 1 is the highest; 0 is after all that have one
	By       string `json:"by,omitempty"`       // who submitted it
}

// Terms are what whoever resumes a run decides anew.
type Terms struct {
	Approve  policy.Approve      `json:"approve,omitempty"`
	Review   bool                `json:"review,omitempty"`
	Attended bool                `json:"attended,omitempty"`
	InDoubt  event.DoubtDecision `json:"in_doubt,omitempty"`
}

// Terms returns the terms of the task.
func (t Task) Terms() Terms { return Terms{t.Approve, t.Review, t.Attended, t.InDoubt} }

// Agree replaces the terms of the task.
func (t *Task) Agree(n Terms) {
	t.Approve, t.Review, t.Attended, t.InDoubt = n.Approve, n.Review, n.Attended, n.InDoubt
}

// Needs says what a worker must offer to get a run.
type Needs struct {
	Servers []string `json:"servers,omitempty"` // MCP servers, by name
	Model   string   `json:"model,omitempty"`   // by name; "" is any
}

// Source is where a run works: in a fresh checkout of a revision, whose changes come
// back as a branch. The zero value is an empty folder.
type Source struct {
	Repository string `json:"repository,omitempty"` // a URL or a path that git can clone
	Revision   string `json:"revision,omitempty"`   // "" is the default branch
}

// Request is the first line that a worker program reads; exactly one of the pointers is
// set.
type Request struct {
	Submit  *Task     `json:"submit,omitempty"`  // start a run and follow it
	Follow  *Follow   `json:"follow,omitempty"`  // follow a run that was submitted
	Resume  *Follow   `json:"resume,omitempty"`  // resume a run that has ended, and follow it
	Terms   *Terms    `json:"terms,omitempty"`   // with Resume: in place of those that the run was submitted with
	Runs    *List     `json:"runs,omitempty"`    // list runs, newest first
	Journal *Follow   `json:"journal,omitempty"` // return the summary of a run and its events so far
	Workers *struct{} `json:"workers,omitempty"` // list workers
	Detach  bool      `json:"detach,omitempty"`  // with Submit or Resume: do not follow the run
	NoWait  bool      `json:"no_wait,omitempty"` // with Submit: fail if no worker offers what the run needs now
}

// Follow names a run.
type Follow struct {
	Run string `json:"run,omitempty"` // its id, or the end of it; "" is the newest
}

// List says which runs to list.
type List struct {
	Newest int `json:"newest,omitempty"` // this many; 0 is all
}

// Input is each further line that a worker program reads: a command for the run that it
// follows.
type Input struct {
	Command session.Command // nil with Terms
	Terms   *Terms          // of a run that is resumed
	By      string          // who sent it
}

// Output is what a worker program writes next; exactly one field is set.
type Output struct {
	Accepted *Accepted       `json:"accepted,omitempty"`
	Event    *event.Event    `json:"event,omitempty"`
	Past     bool            `json:"past,omitempty"` // Event happened before the program was started
	Note     untrusted.Text  `json:"note,omitempty"` // news for the user
	Runs     []agent.Summary `json:"runs,omitempty"`
	Workers  []Worker        `json:"workers,omitempty"`
	Problem  *Problem        `json:"problem,omitempty"` // the last line, if the request failed
	End      bool            `json:"end,omitempty"`     // the last line
}

// Accepted says that the database has the run.
type Accepted struct {
	Run     string `json:"run"`
	Session string `json:"session"` // the id of its session
}

// Problem says why a request failed.
type Problem struct {
	Code string         `json:"code"` // one of the Code constants
	Text untrusted.Text `json:"text"` // one sentence: what failed, and what to do
}

// Error is the sentence.
func (p *Problem) Error() string { return string(p.Text) }

// The codes of problems.
const (
	CodeUsage    = "usage"     // the request cannot be carried out as it is
	CodeDatabase = "database"  // the database cannot be reached, or refuses
	CodeNoWorker = "no_worker" // no worker offers what the run needs
	CodeNotFound = "not_found" // there is no such run
	CodeVersion  = "version"   // written by another version of replan
)

// Worker is a program that carries out runs.
type Worker struct {
	ID       string   `json:"id"`
	Version  string   `json:"version"`
	Servers  []string `json:"servers,omitempty"`
	Models   []string `json:"models,omitempty"`
	Sources  []string `json:"sources,omitempty"` // patterns of the repositories that it clones
	Runs     int      `json:"runs"`              // under way
	SilentMS int64    `json:"silent_ms"`         // since its last sign of life, by the clock of the database
	Alive    bool     `json:"alive"`
}

// commands are the commands that reach a run of workers, by their name on the wire.
var commands = map[string]reflect.Type{
	"resolve":            reflect.TypeFor[session.Resolve](),
	"edit":               reflect.TypeFor[session.Edit](),
	"answer_elicitation": reflect.TypeFor[session.AnswerElicitation](),
	"review":             reflect.TypeFor[session.Review](),
	"resolve_doubt":      reflect.TypeFor[session.ResolveDoubt](),
	"resolve_failure":    reflect.TypeFor[session.ResolveFailure](),
	"cancel":             reflect.TypeFor[session.Cancel](),
	"stop":               reflect.TypeFor[session.Stop](),
	"steer":              reflect.TypeFor[session.Steer](),
}

// wireInput is the JSON form of a command.
type wireInput struct {
	Command string          `json:"command,omitempty"`
	Terms   *Terms          `json:"terms,omitempty"`
	Data    json.RawMessage `json:"data,omitempty"`
	By      string          `json:"by,omitempty"`
}

// Reaches reports whether a command reaches a run of workers.
func Reaches(c session.Command) bool { return nameOf(c) != "" }

func nameOf(c session.Command) string {
	for name, of := range commands {
		if reflect.TypeOf(c) == of {
			return name
		}
	}
	return ""
}

// MarshalJSON returns a command as one line.
func (i Input) MarshalJSON() ([]byte, error) {
	if i.Terms != nil {
		return json.Marshal(wireInput{Terms: i.Terms, By: i.By})
	}
	name := nameOf(i.Command)
	if name == "" {
		return nil, fmt.Errorf("encode the command %T: it does not reach a run elsewhere", i.Command)
	}
	data, err := json.Marshal(i.Command)
	if err != nil {
		return nil, fmt.Errorf("encode the command %s: %w", name, err)
	}
	return json.Marshal(wireInput{Command: name, Data: data, By: i.By})
}

// UnmarshalJSON reads a command.
func (i *Input) UnmarshalJSON(line []byte) error {
	var wire wireInput
	if err := json.Unmarshal(line, &wire); err != nil {
		return fmt.Errorf("decode a command: %w", err)
	}
	if wire.Terms != nil {
		*i = Input{Terms: wire.Terms, By: wire.By}
		return nil
	}
	of, ok := commands[wire.Command]
	if !ok {
		return fmt.Errorf("decode a command: there is none called %q", wire.Command)
	}
	value := reflect.New(of)
	if len(wire.Data) > 0 {
		in := json.NewDecoder(bytes.NewReader(wire.Data))
		in.UseNumber() // arguments keep all digits
		if err := in.Decode(value.Interface()); err != nil {
			return fmt.Errorf("decode the command %s: %w", wire.Command, err)
		}
	}
	*i = Input{Command: value.Elem().Interface().(session.Command), By: wire.By}
	return nil
}
