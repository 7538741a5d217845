package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"replan/agent/event"
	"replan/internal/wholefile"
	"replan/planning/plan"
)

// maxValue is the size of the largest value kept in its line, in bytes of JSON. A
// larger one is kept in a file of its own, in the folder <run>.values, and the
// line has
//
//	{"ref":"<sha256>.json","sha256":"<sha256>","bytes":N}
//
// in its place. The line's own "refs", before "data", lists these references as
// JSON Pointers into the data, in the order of the text:
//
//	{"v":1,…,"kind":"step.completed","refs":["/result"],"data":{…}}
//
// A value that only looks like a reference is in no such list and stays as it is.
// Equal values share a file.
const maxValue = 256 << 10

const (
	refsField    = `,"refs":`
	dataField    = `,"data":`
	valuesSuffix = ".values"
	valueSuffix  = ".json"
)

// reference stands for a value in a separate file.
type reference struct {
	Ref    string `json:"ref"` // file name in the folder of values
	SHA256 string `json:"sha256"`
	Bytes  int    `json:"bytes"`
}

// referenceSize is the approximate length of a reference.
const referenceSize = len(`{"ref":"`) + 2*sha256.Size + len(`.json","sha256":"`) + 2*sha256.Size + len(`","bytes":12345678}`)

// value is a value for a separate file.
type value struct {
	name string
	json event.Line
}

// span is the place of a value in the data of a line.
type span struct {
	pointer    string
	start, end int
}

// extract replaces the values over maxValue in an event's line with references
// and returns them. It moves the innermost large values, and a container of many
// small values as a whole. In each gap is a large value.
func extract(line event.Line) ([]byte, []value, error) {
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
	moved := make([]value, len(spans))
	var out bytes.Buffer
	done := 0
	for i, s := range spans {
		pointers[i] = s.pointer
		raw := data.Part(s.start, s.end)
		sum, size := hashOf(raw)
		moved[i] = value{name: sum + valueSuffix, json: raw}
		ref, err := plan.EncodeJSON(reference{Ref: moved[i].name, SHA256: sum, Bytes: size})
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
	return bytes.Join([][]byte{line.JSON[:at], []byte(refsField), refs, []byte(dataField), out.Bytes(), []byte("}")}, nil), moved, nil
}

// largeValues finds the values to move, in text order.
func largeValues(data event.Line) ([]span, error) {
	var large []span
	gaps := data.Gaps
	err := walkValues(data.JSON, func(pointer []byte, start, end int) {
		if len(gaps) > 0 && gaps[0].Start == start {
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
			left -= large[inner].end - large[inner].start - referenceSize
		}
		if left > maxValue {
			large = append(large[:inner], span{string(pointer), start, end})
		}
	})
	return large, err
}

// values is the folder with the values of one journal.
type values struct {
	dir  string
	kept map[string]bool // names of files known to be intact; only a writer fills it
}

// valuesOf returns the folder with the values of the journal at path.
func valuesOf(path string) values {
	return values{dir: strings.TrimSuffix(path, journalSuffix) + valuesSuffix, kept: map[string]bool{}}
}

// keep writes the values and returns once they are on disk.
func (v *values) keep(moved []value) error {
	if len(moved) == 0 {
		return nil
	}
	if err := v.makeDir(); err != nil {
		return err
	}
	fresh := false
	for _, m := range moved {
		if v.kept[m.name] {
			continue
		}
		if err := v.put(m.name, m.json); err != nil {
			return err
		}
		v.kept[m.name] = true
		fresh = true
	}
	if !fresh {
		return nil
	}
	return syncDir(v.dir)
}

// makeDir makes the folder, and its name durable.
func (v values) makeDir() error {
	err := os.Mkdir(v.dir, 0o700)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("make the folder of large values: %w", err)
	}
	return syncDir(filepath.Dir(v.dir))
}

// put writes a file of the folder, unless it is there. Its name begins with the hash of
// its content.
func (v values) put(name string, content io.WriterTo) error {
	path := filepath.Join(v.dir, name)
	// The file may be a leftover of a crash or an earlier run of the program.
	if there, err := hashOfFile(path); err == nil && strings.HasPrefix(name, there) {
		return nil
	}
	if err := wholefile.WriteFrom(path, content); err != nil {
		return fmt.Errorf("keep a large value: %w", err)
	}
	return nil
}

// putBack replaces the references in a line's data with their values. Errors
// include the file name.
func (v values) putBack(data []byte, refs []string) ([]byte, error) {
	var spans []span
	err := walkValues(data, func(pointer []byte, start, end int) {
		if len(spans) < len(refs) && string(pointer) == refs[len(spans)] {
			spans = append(spans, span{start: start, end: end})
		}
	})
	if err != nil {
		return nil, err
	}
	if len(spans) < len(refs) {
		return nil, fmt.Errorf("it has no value at %q, which should stand for a file", refs[len(spans)])
	}
	var out bytes.Buffer
	done := 0
	for i, s := range spans {
		if s.start < done {
			return nil, fmt.Errorf("the value at %q stands within another that stands for a file", refs[i])
		}
		out.Write(data[done:s.start])
		whole, err := v.fetch(data[s.start:s.end])
		if err != nil {
			return nil, err
		}
		out.Write(whole)
		done = s.end
	}
	out.Write(data[done:])
	return out.Bytes(), nil
}

// fetch reads the value of a reference.
func (v values) fetch(raw []byte) ([]byte, error) {
	var ref reference
	if err := json.Unmarshal(raw, &ref); err != nil {
		return nil, fmt.Errorf("a reference to a file: %w", err)
	}
	if _, err := hex.DecodeString(ref.SHA256); err != nil || len(ref.SHA256) != 2*sha256.Size || ref.Ref != ref.SHA256+valueSuffix {
		return nil, fmt.Errorf("%q is not the name of a file of large values", ref.Ref)
	}
	path := filepath.Join(v.dir, ref.Ref)
	whole, err := os.ReadFile(path) //nolint:gosec // the name is a hash
	if err != nil {
		return nil, fmt.Errorf("its value cannot be read: %w", err)
	}
	if sum, size := hashOf(bytes.NewReader(whole)); size != ref.Bytes || sum != ref.SHA256 {
		return nil, fmt.Errorf("the file %s is not what was written", path)
	}
	return whole, nil
}

// hashOf returns the SHA-256 of content in hexadecimal digits, and its length.
func hashOf(content io.WriterTo) (hash string, size int) {
	sum := sha256.New()
	n, _ := content.WriteTo(sum) // a hash takes everything
	return hex.EncodeToString(sum.Sum(nil)), int(n)
}

// hashOfFile is hashOf for a file.
func hashOfFile(path string) (string, error) {
	file, err := os.Open(path) //nolint:gosec // the name is a hash
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	_, err = io.Copy(sum, file)
	return hex.EncodeToString(sum.Sum(nil)), errors.Join(err, file.Close())
}
