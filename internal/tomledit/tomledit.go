package tomledit

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// ErrPlace reports that a key cannot be changed without touching other parts of
// the document.
var ErrPlace = errors.New("the file writes this section in an unusual way: edit it yourself")

// Set returns a document in which the key of the section has the value, written
// in TOML. Where the key is missing, Set adds it at the end of its section, and a
// missing section at the end of the document.
func Set(document []byte, section, key, value string) ([]byte, error) {
	found, err := find(document, section, key)
	if err != nil {
		return nil, err
	}
	newline := newlineOf(document)
	line := key + " = " + value
	var out []byte
	switch {
	case found.value.length > 0:
		out = splice(document, found.value, value)
	case found.inline > 0:
		comma := ", "
		if found.empty {
			comma = " "
		}
		out = splice(document, span{at: found.inline}, comma+line)
	case found.end > 0:
		if found.dotted {
			line = section + "." + line
		}
		if at := found.end; document[at-1] != '\n' {
			out = splice(document, span{at: at}, newline+line)
		} else {
			out = splice(document, span{at: at}, found.indent+line+newline)
		}
	default:
		text := "[" + section + "]" + newline + line + newline
		switch {
		case len(document) == 0:
		case document[len(document)-1] != '\n':
			text = newline + newline + text
		default:
			text = newline + text
		}
		out = append(slices.Clip(document), text...)
	}
	var decoded map[string]any
	if err := toml.Unmarshal([]byte("value = "+value), &decoded); err != nil {
		return nil, fmt.Errorf("the value %s is not valid TOML: %w", value, err)
	}
	return out, differOnly(document, out, section, key, decoded["value"], true)
}

// Unset returns a document without the key of the section. The line goes with
// the comment behind the value; the section stays.
func Unset(document []byte, section, key string) ([]byte, error) {
	found, err := find(document, section, key)
	if err != nil || found.value.length == 0 {
		return document, err
	}
	out := splice(document, found.whole, "")
	return out, differOnly(document, out, section, key, nil, false)
}

// Line returns the number of the line that has the value of a key, 0 if it is missing.
func Line(document []byte, section, key string) int {
	found, err := find(document, section, key)
	if err != nil || found.value.length == 0 {
		return 0
	}
	return bytes.Count(document[:found.value.at], []byte("\n")) + 1
}

// span is a range of bytes.
type span struct{ at, length int }

// splice replaces a range of bytes.
func splice(document []byte, s span, text string) []byte {
	return slices.Concat(document[:s.at], []byte(text), document[s.at+s.length:])
}

// newlineOf returns the line end that a document uses.
func newlineOf(document []byte) string {
	if bytes.Contains(document, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// place is where a document has a key, or takes it.
type place struct {
	value span // of the key; empty if it is missing
	whole span // of the key with its value: its line or lines, or its part of an inline table

	end    int    // after the last line of the section; 0 if there is no section
	indent string // of that line
	dotted bool   // the section has no header, only keys such as section.key
	inline int    // behind the last value of an inline table; 0 if the section is none
	empty  bool   // that table has no values
}

// find returns the place of a key.
func find(document []byte, section, key string) (place, error) {
	var (
		p      unstable.Parser
		found  place
		within []string // the current table
		listed bool     // in a [[table]]
	)
	p.Reset(document)
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			var at int
			within, at = path(e)
			listed = e.Kind == unstable.ArrayTable
			if !listed && slices.Equal(within, []string{section}) {
				found.end, found.dotted = nextLine(document, at), false
			}
		case unstable.KeyValue:
			if listed {
				break
			}
			name, _ := path(e)
			full := slices.Concat(within, name)
			end := int(e.Raw.Offset + e.Raw.Length)
			start := lineStart(document, int(e.Raw.Offset))
			switch {
			case slices.Equal(full, []string{section, key}):
				found.value = valueOf(document, e)
				found.whole = span{at: start, length: nextLine(document, end) - start}
			case slices.Equal(full, []string{section}):
				found.inTable(document, e, key)
			}
			if len(full) > 1 && full[0] == section && len(within) < 2 {
				found.end, found.dotted = nextLine(document, end), len(within) == 0
				found.indent = string(document[start:e.Raw.Offset])
			}
		}
	}
	if err := p.Error(); err != nil {
		return place{}, fmt.Errorf("the file is not valid TOML: %w", err)
	}
	return found, nil
}

// inTable finds the place of a key in a section that is an inline table.
func (f *place) inTable(document []byte, table *unstable.Node, key string) {
	if table.Value().Kind != unstable.InlineTable {
		return
	}
	value := valueOf(document, table)
	f.inline, f.empty = value.at+1, true // behind the brace
	before := f.inline                   // the end of the value before
	for child := range children(table.Value()) {
		start, end := int(child.Raw.Offset), int(child.Raw.Offset+child.Raw.Length)
		name, _ := path(child)
		switch {
		case slices.Equal(name, []string{key}):
			f.value = valueOf(document, child)
			if !f.empty {
				start = before // with the comma before it
			} else if comma := bytes.IndexByte(document[end:], ','); comma >= 0 && len(bytes.TrimSpace(document[end:end+comma])) == 0 {
				end += comma + 1 // with the comma behind it
			}
			f.whole = span{at: start, length: end - start}
		default:
		}
		f.inline, f.empty = int(child.Raw.Offset+child.Raw.Length), false
		before = f.inline
	}
}

// children iterates over the children of a node.
func children(n *unstable.Node) func(yield func(*unstable.Node) bool) {
	return func(yield func(*unstable.Node) bool) {
		for it := n.Children(); it.Next(); {
			if !yield(it.Node()) {
				return
			}
		}
	}
}

// path returns the parts of a node's key, and the offset behind it.
func path(n *unstable.Node) (parts []string, end int) {
	for it := n.Key(); it.Next(); {
		part := it.Node()
		parts = append(parts, string(part.Data))
		end = int(part.Raw.Offset + part.Raw.Length)
	}
	return parts, end
}

// valueOf returns the range of the value in a key with its value.
func valueOf(document []byte, n *unstable.Node) span {
	_, at := path(n)
	end := int(n.Raw.Offset + n.Raw.Length)
	at += bytes.IndexByte(document[at:end], '=') + 1
	at += len(document[at:end]) - len(bytes.TrimLeft(document[at:end], " \t"))
	end = at + len(bytes.TrimRight(document[at:end], " \t"))
	return span{at: at, length: end - at}
}

// lineStart returns the start of the line at an offset.
func lineStart(document []byte, at int) int { return bytes.LastIndexByte(document[:at], '\n') + 1 }

// nextLine returns the start of the next line, or the end of the document.
func nextLine(document []byte, at int) int {
	if i := bytes.IndexByte(document[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(document)
}

// differOnly verifies that two documents have the same values, except for the key
// of the section.
func differOnly(before, after []byte, section, key string, value any, set bool) error {
	was, is := map[string]any{}, map[string]any{}
	if err := toml.Unmarshal(before, &was); err != nil {
		return fmt.Errorf("the file is not valid TOML: %w", err)
	}
	if err := toml.Unmarshal(after, &is); err != nil {
		return ErrPlace
	}
	table, isTable := was[section].(map[string]any)
	if !isTable {
		table = map[string]any{}
	}
	if set {
		table[key] = value
	} else {
		delete(table, key)
	}
	was[section] = table
	if !set && len(table) == 0 { // a section of dotted keys is gone with its last one
		if _, found := is[section]; !found {
			delete(was, section)
		}
	}
	if !reflect.DeepEqual(was, is) {
		return ErrPlace
	}
	return nil
}
