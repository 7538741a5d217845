package remote

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"replan/agent/store/values"
)

// wireOutput is the JSON form of an output. A large value of an event is written once, in
// a line of its own before the events that refer to it, as in a journal.
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

// output returns what the program writes next. The events share their large values.
func (p *program) output() (Output, error) {
	for {
		line, err := p.line()
		if err != nil {
			return Output{}, p.broken(err)
		}
		var wire wireOutput
		if err := p.decode(line, &wire); err != nil {
			return Output{}, fmt.Errorf("%s wrote a line that cannot be read; are it and replan of the same version? %w", p.name, err)
		}
		if wire.Value == nil {
			return wire.Output, nil
		}
	}
}

// decode reads a line, and keeps its value.
func (p *program) decode(line []byte, wire *wireOutput) error {
	in := json.NewDecoder(bytes.NewReader(line))
	in.UseNumber() // results keep all digits
	if err := in.Decode(wire); err != nil {
		return err
	}
	if wire.Value != nil {
		return p.known.Add(wire.Value)
	}
	if wire.Event == nil {
		return nil
	}
	whole, err := p.known.PutBack(wire.Event, func(string, int) ([]byte, string, error) {
		return nil, "", errors.New("it refers to a value that was not written before")
	})
	if err != nil {
		return err
	}
	e, err := whole.Event()
	if err != nil {
		return err
	}
	wire.Output.Event = &e
	return nil
}
