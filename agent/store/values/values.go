package values

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"

	"replan/agent/event"
	"replan/planning/plan"
)

// Max is the size of the largest value kept in its line, in bytes of JSON. A larger
// one is kept elsewhere, and the line has
//
//	{"ref":"<sha256>.json","sha256":"<sha256>","bytes":N}
//
// in its place. The line's own "refs", before "data", lists these references as
// JSON Pointers into the data, in the order of the text:
//
//	{"v":1,…,"kind":"step.completed","refs":["/result"],"data":{…}}
//
// A value that only looks like a reference is in no such list and stays as it is.
// Equal values are kept once.
const Max = event.LargeValue

// Suffix follows the hash in the name of a value.
const Suffix = ".json"

const (
	lineOpen  = `{"v":1,"seq":`
	refsField = `,"refs":`
	dataField = `,"data":`
)

// reference stands for a value in a line.
type reference struct {
	Ref    string `json:"ref"` // the name of the value
	SHA256 string `json:"sha256"`
	Bytes  int    `json:"bytes"`
}

// Value is a value that was taken out of a line.
type Value struct {
	SHA256 string // of the JSON, in hexadecimal digits
	JSON   io.WriterTo
}

// span is the place of a value in the data of a line.
type span struct {
	pointer    string
	start, end int
}

// Extract returns the line of an event with references in place of the values over Max,
// and these values. It takes the innermost large values, and a container of many small
// values as a whole.
func Extract(e event.Event) (text []byte, taken []Value, err error) {
	line, err := e.Line()
	if err != nil {
		return nil, nil, err
	}
	if !readable(line.JSON) {
		return nil, nil, fmt.Errorf("event %d: %w", e.Seq, errTooDeep)
	}
	if len(line.JSON) <= Max && len(line.Gaps) == 0 {
		return line.JSON, nil, nil
	}
	if text, taken, err = extract(line); err != nil {
		return nil, nil, fmt.Errorf("event %d: %w", e.Seq, err)
	}
	return text, taken, nil
}

// maxDepth is the nesting limit of encoding/json and jsontext for reading.
const maxDepth = 10000

var errTooDeep = fmt.Errorf("a value in it is nested more than %d deep, and cannot be read again", maxDepth)

// readable reports whether a line can be decoded again: deeper values can be
// written but not read. Few lines are long enough to need the check.
func readable(line []byte) bool {
	return len(line) <= maxDepth || bytes.Count(line, []byte("["))+bytes.Count(line, []byte("{")) <= maxDepth || json.Valid(line)
}

// extract is Extract for a long line. In each gap is a large value.
func extract(line event.Line) ([]byte, []Value, error) {
	// Inside a string the quotation mark would be escaped, so this is the field.
	at := bytes.Index(line.JSON, []byte(dataField))
	if at < 0 {
		return nil, nil, errMalformed
	}
	data := line.Part(at+len(dataField), len(line.JSON)-1)
	spans, err := largeValues(data)
	if err != nil || len(spans) == 0 {
		return line.JSON, nil, err
	}
	pointers := make([]string, len(spans))
	taken := make([]Value, len(spans))
	var out bytes.Buffer
	done := 0
	for i, s := range spans {
		pointers[i] = s.pointer
		raw := data.Part(s.start, s.end)
		sum, size := Hash(raw)
		taken[i] = Value{SHA256: sum, JSON: raw}
		ref, err := plan.EncodeJSON(reference{Ref: sum + Suffix, SHA256: sum, Bytes: size})
		if err != nil {
			return nil, nil, err
		}
		out.Write(data.JSON[done:s.start])
		out.Write(ref)
		done = s.end
	}
	out.Write(data.JSON[done:])
	refs, err := plan.EncodeJSON(pointers)
	if err != nil {
		return nil, nil, err
	}
	return bytes.Join([][]byte{line.JSON[:at], []byte(refsField), refs, []byte(dataField), out.Bytes(), []byte("}")}, nil), taken, nil
}

// largeValues finds the values to take, in text order.
func largeValues(data event.Line) ([]span, error) {
	var large []span
	gaps, deep := data.Gaps, false
	err := walkValues(data.JSON, func(pointer []byte, start, end int) {
		if len(gaps) > 0 && gaps[0].Start == start {
			// Around it are the line, and as many values as it has names in its pointer.
			deep = deep || 1+bytes.Count(pointer, []byte("/"))+gaps[0].Depth > maxDepth
			large, gaps = append(large, span{string(pointer), start, end}), gaps[1:]
			return
		}
		// The data itself stays if it is an object, as for every kind of event:
		// it has few fields, none of which is still large.
		if start == 0 && data.JSON[0] == '{' {
			return
		}
		// The remaining size, without the values found inside.
		left, inner := end-start, len(large)
		for inner > 0 && large[inner-1].start >= start {
			inner--
			left -= large[inner].end - large[inner].start - event.GapSize
		}
		if left > Max {
			large = append(large[:inner], span{string(pointer), start, end})
		}
	})
	if err == nil && deep {
		err = errTooDeep
	}
	return large, err
}

// Fetch returns the value with a hash and a size, and the words that name it in an error.
// It may refuse another size unread.
type Fetch func(sha256 string, size int) (value []byte, name string, err error)

// Known has the values that were put back. The zero Known has none. It is safe for
// concurrent use.
type Known struct {
	mu     sync.Mutex
	values map[string]any // by their SHA-256
}

// PutBack returns the line of an event with its values in place of the references. It
// refuses a value that is not what was taken out. Equal values are fetched and decoded
// once: events share them, and they may not be changed.
func (k *Known) PutBack(line []byte, fetch Fetch) (event.Line, error) {
	refs, at := References(line)
	if len(refs) == 0 {
		return event.Line{JSON: line}, nil
	}
	data := line[at : len(line)-1]
	var spans []span
	err := walkValues(data, func(pointer []byte, start, end int) {
		if len(spans) < len(refs) && string(pointer) == refs[len(spans)] {
			spans = append(spans, span{start: start, end: end})
		}
	})
	if err != nil {
		return event.Line{}, err
	}
	if len(spans) < len(refs) {
		return event.Line{}, fmt.Errorf("it has no value at %q, which should stand for another", refs[len(spans)])
	}
	whole := event.Line{JSON: line}
	done := 0
	for i, s := range spans {
		if s.start < done {
			return event.Line{}, fmt.Errorf("the value at %q stands within another that stands for one", refs[i])
		}
		value, err := k.resolve(data[s.start:s.end], fetch)
		if err != nil {
			return event.Line{}, err
		}
		whole.Gaps = append(whole.Gaps, event.Gap{Start: at + s.start, End: at + s.end, Value: value})
		done = s.end
	}
	return whole, nil
}

// resolve returns the value of a reference.
func (k *Known) resolve(raw []byte, fetch Fetch) (any, error) {
	var ref reference
	if err := json.Unmarshal(raw, &ref); err != nil {
		return nil, fmt.Errorf("a reference to a large value: %w", err)
	}
	if _, err := hex.DecodeString(ref.SHA256); err != nil || len(ref.SHA256) != 2*sha256.Size || ref.Ref != ref.SHA256+Suffix {
		return nil, fmt.Errorf("%q is not the name of a large value", ref.Ref)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if value, ok := k.values[ref.SHA256]; ok {
		return value, nil
	}
	text, name, err := fetch(ref.SHA256, ref.Bytes)
	if err != nil {
		return nil, err
	}
	if sum, size := Hash(bytes.NewReader(text)); size != ref.Bytes || sum != ref.SHA256 {
		return nil, fmt.Errorf("%s is not what was written", name)
	}
	value, err := plan.DecodeValue(text)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	k.add(ref.SHA256, value)
	return value, nil
}

// Add adds a value, which is then not fetched.
func (k *Known) Add(text []byte) error {
	value, err := plan.DecodeValue(text)
	if err != nil {
		return err
	}
	sum, _ := Hash(bytes.NewReader(text))
	k.mu.Lock()
	defer k.mu.Unlock()
	k.add(sum, value)
	return nil
}

func (k *Known) add(sum string, value any) {
	if k.values == nil {
		k.values = map[string]any{}
	}
	k.values[sum] = value
}

// References returns the JSON Pointers of a line to values that were taken out, and
// the offset of its data. It finds none if the fields are in another order.
func References(line []byte) (pointers []string, data int) {
	before, _, ok := bytes.Cut(line, []byte(dataField))
	if !ok || !bytes.HasPrefix(before, []byte(lineOpen)) || !bytes.Contains(before, []byte(refsField)) {
		return nil, 0
	}
	var head struct {
		Refs []string `json:"refs"`
	}
	if json.Unmarshal(slices.Concat(before, []byte("}")), &head) != nil {
		return nil, 0
	}
	return head.Refs, len(before) + len(dataField)
}

// Hash returns the SHA-256 of content in hexadecimal digits, and its length.
func Hash(content io.WriterTo) (hash string, size int) {
	sum := sha256.New()
	n, _ := content.WriteTo(sum) // a hash takes everything
	return hex.EncodeToString(sum.Sum(nil)), int(n)
}
