package records

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/remote"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// The names of the workflow, of its steps and of its mailbox in the database.
const (
	Workflow = "run"
	Step     = "events"
	Commands = "commands"
)

// Record is the output of a step of a workflow.
type Record struct {
	Events []event.Event // of the run, its inner runs and its session
	Mail   bool          // a command has arrived, which the next step receives
	// TakenUp is the worker that takes the run up.
	TakenUp string
	// NotOpened says why a worker gave the run back to its queue.
	NotOpened *NotOpened
	// Stopped means that the worker that took the run up stops before it has opened it.
	Stopped bool
	End     *Outcome // of the last record

	// lines are the events as they are stored, with references in place of large values;
	// nil if there are none. Without Events they have been read, and not put back.
	lines []json.RawMessage
}

// NotOpened is an attempt to open a run that failed, perhaps because of the worker.
type NotOpened struct {
	Worker string         `json:"worker"`
	Why    untrusted.Text `json:"why"`
}

// wireRecord is the JSON form of a record.
type wireRecord struct {
	Events    []json.RawMessage `json:"events,omitempty"`
	Mail      bool              `json:"mail,omitempty"`
	TakenUp   string            `json:"taken_up,omitempty"`
	NotOpened *NotOpened        `json:"not_opened,omitempty"`
	Stopped   bool              `json:"stopped,omitempty"`
	End       *Outcome          `json:"end,omitempty"`
}

// MarshalJSON returns the record as it is stored.
func (r Record) MarshalJSON() ([]byte, error) {
	wire := wireRecord{r.lines, r.Mail, r.TakenUp, r.NotOpened, r.Stopped, r.End}
	if r.lines == nil {
		for _, e := range r.Events {
			line, err := e.MarshalJSON()
			if err != nil {
				return nil, err
			}
			wire.Events = append(wire.Events, line)
		}
	}
	return plan.EncodeJSON(wire)
}

// UnmarshalJSON reads a stored record. One with references has no events yet.
func (r *Record) UnmarshalJSON(text []byte) error {
	var wire wireRecord
	if err := json.Unmarshal(text, &wire); err != nil {
		return err
	}
	*r = Record{Mail: wire.Mail, TakenUp: wire.TakenUp, NotOpened: wire.NotOpened, Stopped: wire.Stopped, End: wire.End}
	if slices.ContainsFunc(wire.Events, refers) {
		r.lines = wire.Events
		return nil
	}
	var err error
	r.Events, err = decodeLines(wire.Events, func(line []byte, e *event.Event) error { return e.UnmarshalJSON(line) })
	return err
}

// decoded returns a record with its events.
func (r Record) decoded(run string, decode func(line []byte, e *event.Event) error) (Record, error) {
	if r.Events != nil || r.lines == nil {
		return r, nil
	}
	var err error
	if r.Events, err = decodeLines(r.lines, decode); err != nil {
		return Record{}, err
	}
	return r, nil
}

func decodeLines(lines []json.RawMessage, decode func(line []byte, e *event.Event) error) ([]event.Event, error) {
	if lines == nil {
		return nil, nil
	}
	events := make([]event.Event, len(lines))
	for i, line := range lines {
		if err := decode(line, &events[i]); err != nil {
			return nil, err
		}
	}
	return events, nil
}

// hasReferences reports whether values of its events are stored elsewhere.
func (r Record) hasReferences() bool { return r.lines != nil }

// Outcome is the result of a workflow.
type Outcome struct {
	Status event.Status `json:"status"`
	Reason event.Reason `json:"reason"`
	// Note says what became of the changes, "" if there are none.
	Note untrusted.Text `json:"note,omitempty"`
	// Summary spares lists the records; nil if the run did not begin.
	Summary *agent.Summary `json:"summary,omitempty"`
}

// OutcomeOf returns the outcome of a run that ends with an answer.
func OutcomeOf(reply event.ChatReply) Outcome {
	return Outcome{Status: cmp.Or(reply.Status, event.StatusCompleted), Reason: reply.Reason}
}

// SessionID returns the id of the session of a run.
func SessionID(run string) string { return "s-" + strings.TrimPrefix(run, "r-") }

// Serializer writes what DBOS stores for us as its type and JSON, such as `record
// {"mail":true}`. That is readable in the database, and without the base64 of the usual
// serializer.
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
