package event

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"replan/internal/jsonparts"
)

// LargeValue is the size of the largest JSON value that has no gap in a [Line].
const LargeValue = 256 << 10

// GapSize is what a gap adds to the size of a list or an object. That is about the length
// of a reference to a value that is kept elsewhere.
const GapSize = len(`{"ref":".json","sha256":"","bytes":12345678}`) + 2*2*sha256.Size

// Line is the JSON of an event, with gaps for the large values among its args and
// results. A gap takes an innermost value, or as a whole a list or an object of many
// small values. The values are encoded as they are written, because an event may hold the
// same result several times.
type Line struct {
	JSON []byte // with a short string in place of each gap
	Gaps []Gap  // in order
}

// Gap is the place of a large value in the JSON of a line.
type Gap struct {
	Start, End int
	Value      any
	Depth      int // how deep lists and objects nest in the value
}

// Line returns the event as a line without a line break. Text is not HTML-escaped.
func (e Event) Line() (Line, error) {
	if e.Data == nil {
		return Line{}, fmt.Errorf("encode event %d of run %s: it says nothing", e.Seq, e.Run)
	}
	var c cutter
	data := changed(e.Data, &c)
	text, err := encode(wireEvent[Data]{V: Version, Seq: e.Seq, Time: e.Time.UTC(), Run: e.Run, Kind: data.Kind(), Data: data})
	if err = cmp.Or(err, c.err); err != nil {
		return Line{}, fmt.Errorf("encode %s event %d of run %s: %w", e.Data.Kind(), e.Seq, e.Run, err)
	}
	line := Line{JSON: text, Gaps: make([]Gap, len(c.cut))}
	for i, at := 0, 0; i < len(c.cut); i++ {
		start := at + bytes.Index(text[at:], c.mark)
		at = start + len(c.mark)
		line.Gaps[i] = Gap{Start: start, End: at, Value: c.cut[i].value, Depth: c.cut[i].depth}
	}
	return line, nil
}

// Part returns the JSON from start to end, which lie in no gap.
func (l Line) Part(start, end int) Line {
	part := Line{JSON: l.JSON[start:end]}
	for _, g := range l.Gaps {
		if start <= g.Start && g.End <= end {
			g.Start, g.End = g.Start-start, g.End-start
			part.Gaps = append(part.Gaps, g)
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
	done := 0
	for _, g := range l.Gaps {
		write(l.JSON[done:g.Start])
		if err == nil {
			var n int64
			n, err = jsonparts.Write(w, g.Value)
			written += n
		}
		done = g.End
	}
	write(l.JSON[done:])
	return written, err
}

// cutter cuts large values out of the args, variables and results of an event.
type cutter struct {
	mark    []byte // JSON in place of each gap, which no other text can contain
	cut     []gap  // in the order in which they were encoded
	encoder *json.Encoder
	encoded bytes.Buffer // what the encoder wrote last
	err     error        // the first of a value that has no JSON
}

// gap stands for a large value.
type gap struct {
	cutter *cutter
	value  any
	depth  int
}

// MarshalJSON returns the mark of the gap.
func (g gap) MarshalJSON() ([]byte, error) {
	g.cutter.cut = append(g.cutter.cut, g)
	return g.cutter.mark, nil
}

func (c *cutter) changeValue(v any) any { return c.value(v).value }

func (c *cutter) changeList(list []any) []any { return c.list(list).value.([]any) }

func (c *cutter) changeObject(object map[string]any) map[string]any {
	return c.object(object).value.(map[string]any)
}

// part is a JSON value with its large values cut out.
type part struct {
	value any
	cut   bool // it is not the value that it was
	size  int  // of its JSON
	depth int  // how deep lists and objects nest in the value that it was
}

// value returns a JSON value with its large values cut out, or itself. It copies what it
// changes.
func (c *cutter) value(v any) part {
	var p part
	switch v := v.(type) {
	case string:
		// A large text is not encoded here.
		if p = (part{value: v, size: len(v)}); p.size <= LargeValue {
			p.size = c.size(v)
		}
	case json.Number:
		p = part{value: v, size: c.size(v)}
	case []any:
		p = c.list(v)
	case map[string]any:
		p = c.object(v)
	default:
		return part{value: v, size: c.size(v)}
	}
	if p.size <= LargeValue {
		return p
	}
	if c.mark == nil {
		c.mark = []byte(`"` + rand.Text() + `"`) //nolint:forbidigo // no line has the mark in the end
	}
	return part{value: gap{c, v, p.depth}, cut: true, size: GapSize, depth: p.depth}
}

func (c *cutter) list(list []any) part {
	p := part{value: list, size: len("[") + max(len(list), len("]")), depth: 1}
	for i, item := range list {
		now := c.value(item)
		p.size, p.depth = p.size+now.size, max(p.depth, 1+now.depth)
		if !now.cut {
			continue
		}
		if !p.cut {
			p.value, p.cut = slices.Clone(list), true
		}
		p.value.([]any)[i] = now.value
	}
	return p
}

func (c *cutter) object(object map[string]any) part {
	p := part{value: object, size: len("{") + max(len(object), len("}")), depth: 1}
	for name, item := range object {
		now := c.value(item)
		p.size, p.depth = p.size+c.size(name)+len(":")+now.size, max(p.depth, 1+now.depth)
		if !now.cut {
			continue
		}
		if !p.cut {
			p.value, p.cut = maps.Clone(object), true
		}
		p.value.(map[string]any)[name] = now.value
	}
	return p
}

// size returns the size of the JSON of a small value.
func (c *cutter) size(v any) int {
	if c.encoder == nil {
		c.encoder = json.NewEncoder(&c.encoded)
		c.encoder.SetEscapeHTML(false)
	}
	c.encoded.Reset()
	c.err = cmp.Or(c.err, c.encoder.Encode(v))
	return c.encoded.Len() - len("\n")
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
