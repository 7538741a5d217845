package remote

import (
	"encoding/json"
	"errors"
	"io"

	"replan/agent/store/values"
)

// wireOutput is the JSON form of an output. A large value of an event is written once, as
// in a journal. It has a line of its own before the events that refer to it.
type wireOutput struct {
	Output
	Event json.RawMessage `json:"event,omitempty"`
	Value json.RawMessage `json:"value,omitempty"`
}

// Writer writes outputs as lines. It is not safe for concurrent use.
type Writer struct {
	to      io.Writer
	written map[string]bool // values, by their SHA-256
}

// NewWriter returns a writer that has written nothing.
func NewWriter(to io.Writer) *Writer { return &Writer{to, map[string]bool{}} }

// Write writes an output.
func (w *Writer) Write(o Output) error {
	wire := wireOutput{Output: o}
	if o.Event != nil {
		line, large, err := values.Extract(*o.Event)
		if err != nil {
			return err
		}
		for _, v := range large {
			if err := w.value(v); err != nil {
				return err
			}
		}
		wire.Event = line
	}
	out := json.NewEncoder(w.to)
	out.SetEscapeHTML(false)
	return out.Encode(wire)
}

func (w *Writer) value(v values.Value) error {
	if w.written[v.SHA256] {
		return nil
	}
	w.written[v.SHA256] = true
	_, before := io.WriteString(w.to, `{"value":`)
	_, err := v.JSON.WriteTo(w.to)
	_, after := io.WriteString(w.to, "}\n")
	return errors.Join(before, err, after)
}
