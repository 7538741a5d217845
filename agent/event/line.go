package event

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"replan/planning/plan"
)

// largeText is the length of the shortest text that has a gap in a [Line].
const largeText = 256 << 10

// encodedAtOnce is how many bytes of a large text are encoded at once.
const encodedAtOnce = 64 << 10

// Line is the JSON of an event, with gaps for the large texts among its args and
// results. They are encoded as they are written, because an event may hold the same
// result several times.
type Line struct {
	JSON []byte // with a short string in place of each gap
	Gaps []Gap  // in order
}

// Gap is the place of a large text in the JSON of a line.
type Gap struct {
	Start, End int
	Text       string
}

// Line returns the event as a line without a line break. Text is not HTML-escaped.
func (e Event) Line() (Line, error) {
	if e.Data == nil {
		return Line{}, fmt.Errorf("encode event %d of run %s: it says nothing", e.Seq, e.Run)
	}
	var c cutter
	text, err := encode(wireEvent[Data]{V: Version, Seq: e.Seq, Time: e.Time.UTC(), Run: e.Run, Kind: e.Data.Kind(), Data: c.data(e.Data)})
	if err != nil {
		return Line{}, fmt.Errorf("encode %s event %d of run %s: %w", e.Data.Kind(), e.Seq, e.Run, err)
	}
	line := Line{JSON: text, Gaps: make([]Gap, len(c.cut))}
	for i, at := 0, 0; i < len(c.cut); i++ {
		start := at + bytes.Index(text[at:], c.mark)
		at = start + len(c.mark)
		line.Gaps[i] = Gap{Start: start, End: at, Text: c.cut[i]}
	}
	return line, nil
}

// Part returns the JSON from start to end, which lie in no gap.
func (l Line) Part(start, end int) Line {
	part := Line{JSON: l.JSON[start:end]}
	for _, g := range l.Gaps {
		if start <= g.Start && g.End <= end {
			part.Gaps = append(part.Gaps, Gap{Start: g.Start - start, End: g.End - start, Text: g.Text})
		}
	}
	return part
}

// WriteTo writes the JSON with the gaps filled. No write ends within a character.
func (l Line) WriteTo(w io.Writer) (written int64, err error) {
	write := func(part []byte) {
		if err == nil {
			var n int
			n, err = w.Write(part)
			written += int64(n)
		}
	}
	var encoded bytes.Buffer
	enc := json.NewEncoder(&encoded)
	enc.SetEscapeHTML(false)
	done := 0
	for _, g := range l.Gaps {
		write(l.JSON[done : g.Start+1]) // with the quotation mark
		for text := g.Text; text != "" && err == nil; {
			end := characterEnd(text, encodedAtOnce)
			encoded.Reset()
			_ = enc.Encode(text[:end]) // a text always has JSON
			write(encoded.Bytes()[1 : encoded.Len()-len("\"\n")])
			text = text[end:]
		}
		done = g.End - 1
	}
	write(l.JSON[done:])
	return written, err
}

// characterEnd returns the last end of a character in the first most bytes of a text.
func characterEnd(text string, most int) int {
	if len(text) <= most {
		return len(text)
	}
	for end := most; end > most-utf8.UTFMax; end-- {
		if utf8.RuneStart(text[end]) {
			return end
		}
	}
	return most // no character has so many bytes
}

// cutter cuts large texts out of the args, variables and results of an event.
type cutter struct {
	mark []byte   // JSON in place of each gap, which no other text can contain
	cut  []string // in the order in which they were encoded
}

// gap stands for a large text.
type gap struct {
	cutter *cutter
	text   string
}

// MarshalJSON returns the mark of the gap.
func (g gap) MarshalJSON() ([]byte, error) {
	g.cutter.cut = append(g.cutter.cut, g.text)
	return g.cutter.mark, nil
}

// data returns an event's data with its large texts cut out.
func (c *cutter) data(d Data) Data {
	switch d := d.(type) {
	case RunStarted:
		d.Plan = c.planAt(d.Plan)
		return d
	case PlanCreated:
		d.Plan = c.plan(d.Plan)
		return d
	case PlanDiff:
		d.Plan = c.plan(d.Plan)
		return d
	case StepStarted:
		d.Args = c.object(d.Args)
		return d
	case StepExpanded:
		items, _ := c.value(d.Items)
		d.Items = items.([]any)
		return d
	case StepCompleted:
		d.Result, _ = c.value(d.Result)
		d.Args = c.object(d.Args)
		return d
	case GateRequested:
		d.Args = c.object(d.Args)
		return d
	case RunCompleted:
		d.Plan, d.Variables = c.planAt(d.Plan), c.object(d.Variables)
		d.History = slices.Clone(d.History)
		for i := range d.History {
			item := &d.History[i]
			item.Args = c.object(item.Args)
			item.Result, _ = c.value(item.Result)
		}
		return d
	default:
		return d
	}
}

func (c *cutter) planAt(p *plan.Plan) *plan.Plan {
	if p == nil {
		return nil
	}
	cut := c.plan(*p)
	return &cut
}

func (c *cutter) plan(p plan.Plan) plan.Plan {
	p.Variables, p.Steps = c.object(p.Variables), slices.Clone(p.Steps)
	for i := range p.Steps {
		p.Steps[i].Args = c.object(p.Steps[i].Args)
	}
	return p
}

func (c *cutter) object(object map[string]any) map[string]any {
	v, _ := c.value(object)
	return v.(map[string]any)
}

// value returns a JSON value with its large texts cut out, and whether it has some. It
// copies what it changes.
func (c *cutter) value(v any) (_ any, cut bool) {
	switch v := v.(type) {
	case string:
		if len(v) < largeText {
			return v, false
		}
		if c.mark == nil {
			c.mark = []byte(`"` + rand.Text() + `"`) //nolint:forbidigo // no line has the mark in the end
		}
		return gap{c, v}, true
	case []any:
		list := v
		for i, item := range v {
			if item, ok := c.value(item); ok {
				if !cut {
					list, cut = slices.Clone(v), true
				}
				list[i] = item
			}
		}
		return list, cut
	case map[string]any:
		object := v
		for name, item := range v {
			if item, ok := c.value(item); ok {
				if !cut {
					object, cut = maps.Clone(v), true
				}
				object[name] = item
			}
		}
		return object, cut
	default:
		return v, false
	}
}

// wireEvent is the JSON form of an event.
type wireEvent[T any] struct {
	V    int       `json:"v"`
	Seq  uint64    `json:"seq"`
	Time time.Time `json:"time"`
	Run  string    `json:"run"`
	Kind Kind      `json:"kind"`
	Data T         `json:"data"`
}

// encode returns v as compact JSON without HTML escapes.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
