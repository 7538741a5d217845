package records

import (
	"encoding/json"
	"fmt"
	"strings"

	"replan/agent/event"
	"replan/agent/remote"
	"replan/internal/untrusted"
)

// The names of the workflow, of its steps and of its mailbox in the database.
const (
	Workflow = "run"
	Step     = "events"
	Commands = "commands"
)

// Record is the output of a step of a workflow.
type Record struct {
	Events []event.Event `json:"events,omitempty"` // of the run, its inner runs and its session
	Mail   bool          `json:"mail,omitempty"`   // a command has arrived, which the next step receives
	// TakenUp is the worker that takes the run up.
	TakenUp string `json:"taken_up,omitempty"`
	// NotOpened says why a worker gave the run back to its queue.
	NotOpened *NotOpened `json:"not_opened,omitempty"`
	End       *Outcome   `json:"end,omitempty"` // of the last record
}

// NotOpened is an attempt to open a run that failed, perhaps because of the worker.
type NotOpened struct {
	Worker string         `json:"worker"`
	Why    untrusted.Text `json:"why"`
}

// Outcome is the result of a workflow.
type Outcome struct {
	Status event.Status `json:"status"`
	Reason event.Reason `json:"reason"`
	// Note says what became of the changes, "" if there are none.
	Note untrusted.Text `json:"note,omitempty"`
}

// Serializer writes what DBOS stores for us as its type and JSON, such as
// `record {"mail":true}`: readable in the database, and without the base64 of the
// usual serializer.
type Serializer struct{}

// Name of the format in the database.
func (Serializer) Name() string { return "replan_json" }

// Encode returns the type and the JSON of a value.
func (Serializer) Encode(value any) (*string, error) {
	kind := ""
	switch value.(type) {
	case nil:
		kind = "nil"
	case remote.Task:
		kind = "task"
	case Record:
		kind = "record"
	case Outcome:
		kind = "outcome"
	case string:
		kind = "text"
	case int64: // times, in ms
		kind = "time"
	default:
		return nil, fmt.Errorf("store a value of type %T: no such values are expected", value)
	}
	var text strings.Builder
	text.WriteString(kind + " ")
	out := json.NewEncoder(&text)
	out.SetEscapeHTML(false)
	if err := out.Encode(value); err != nil {
		return nil, fmt.Errorf("store a %s: %w", kind, err)
	}
	stored := strings.TrimSuffix(text.String(), "\n")
	return &stored, nil
}

// Decode returns the value of a stored text.
func (Serializer) Decode(stored *string) (any, error) {
	if stored == nil {
		return nil, nil //nolint:nilnil // the contract of the interface: no output
	}
	kind, text, _ := strings.Cut(*stored, " ")
	switch kind {
	case "nil":
		return nil, nil //nolint:nilnil // the contract of the interface: nil comes back
	case "task":
		return decode[remote.Task](kind, text)
	case "record":
		return decode[Record](kind, text)
	case "outcome":
		return decode[Outcome](kind, text)
	case "text":
		return decode[string](kind, text)
	case "time":
		return decode[int64](kind, text)
	default:
		return nil, fmt.Errorf("read a stored value: %.20q is no type that is stored here; update replan-worker", kind)
	}
}

func decode[T any](kind, text string) (any, error) {
	var value T
	in := json.NewDecoder(strings.NewReader(text))
	in.UseNumber()
	if err := in.Decode(&value); err != nil {
		return nil, fmt.Errorf("read a stored %s: %w", kind, err)
	}
	return value, nil
}
