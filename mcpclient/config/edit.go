package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// ErrNoEntry reports that a file has no server of a name.
var ErrNoEntry = errors.New("there is no such server in the file")

// entry is a server in the keys of the convention.
type entry struct {
	Type         string            `json:"type,omitempty"`
	Command      string            `json:"command,omitempty"`
	Args         []string          `json:"args,omitempty"`
	Env          map[string]string `json:"env,omitempty"`
	Dir          string            `json:"cwd,omitempty"`
	Inherit      []string          `json:"inherit,omitempty"`
	URL          string            `json:"url,omitempty"`
	Headers      map[string]string `json:"headers,omitempty"`
	Helper       string            `json:"headersHelper,omitempty"`
	OAuth        *OAuth            `json:"oauth,omitempty"`
	IncludeTools []string          `json:"includeTools,omitempty"`
	ExcludeTools []string          `json:"excludeTools,omitempty"`
	Timeout      string            `json:"timeout,omitempty"`
	StartTimeout string            `json:"startup_timeout,omitempty"`
	Required     bool              `json:"required,omitempty"`
	Parallel     bool              `json:"parallel,omitempty"`
	Roots        *bool             `json:"roots,omitempty"`
	Disabled     bool              `json:"disabled,omitempty"`
	Protocol     string            `json:"protocol,omitempty"`
}

// entryOf returns how a server is written. Its variables are not expanded.
func entryOf(s Server) entry {
	e := entry{
		Command: s.Command, Args: s.Args, Env: s.Env, Dir: s.Dir, Inherit: s.Inherit,
		URL: s.URL, Headers: s.Headers, Helper: s.HeadersHelper, IncludeTools: s.IncludeTools, ExcludeTools: s.ExcludeTools,
		OAuth: s.OAuth, Required: s.Required, Parallel: s.Parallel, Disabled: s.Disabled, Protocol: s.Protocol,
	}
	if s.NoRoots {
		e.Roots = new(bool)
	}
	switch {
	case s.SSE:
		e.Type = "sse"
	case s.URL != "":
		e.Type = "http"
	}
	if s.Timeout > 0 {
		e.Timeout = s.Timeout.String()
	}
	if s.StartTimeout > 0 {
		e.StartTimeout = s.StartTimeout.String()
	}
	return e
}

// Set returns the text of a JSON file of servers with a server added at the end. If the
// file has its name already, the server is replaced. It changes no other byte: comments,
// layout and line ends stay. An empty text becomes a new file. Variables of the server,
// such as ${NAME}, are written as they are.
func Set(text []byte, s Server) (after []byte, replaced bool, err error) {
	if err := CheckName(s.Name); err != nil {
		return nil, false, err
	}
	mark, body := cutMark(text)
	if len(bytes.TrimSpace(body)) == 0 {
		body = []byte("{\n}\n")
	}
	root, object, err := editable(body)
	if err != nil {
		return nil, false, err
	}
	key, value := table(object)
	if value == nil {
		key = "mcpServers"
		body = insert(body, root, object, key, func(string, string) []byte { return []byte("{}") })
		if _, object, err = editable(body); err != nil {
			return nil, false, err
		}
		_, value = table(object)
	}
	servers, ok := value.Value.(*hujson.Object)
	if !ok {
		return nil, false, fmt.Errorf("%q must be an object, one server under each name", key)
	}
	write := func(indent, unit string) []byte {
		return bytes.ReplaceAll(encode(entryOf(s), indent, unit), []byte("\n"), []byte(newlineOf(body)))
	}
	at := -1
	for i := range servers.Members {
		if literal(servers.Members[i].Name) == s.Name {
			at = i
		}
	}
	if at < 0 {
		after = insert(body, value, servers, s.Name, write)
	} else {
		m := servers.Members[at]
		indent, unit := indentOf(body, m.Name.StartOffset), unitOf(body, value, servers)
		if !ownLine(body, m.Name.StartOffset) {
			unit = ""
		}
		after = splice(body, m.Value.StartOffset, m.Value.EndOffset, write(indent, unit))
	}
	if err := valid(after, s.Name); err != nil {
		return nil, false, err
	}
	return append(mark, after...), at >= 0, same(body, after, s.Name)
}

// valid returns what is wrong with the entry of a server, apart from variables that
// are not set.
func valid(text []byte, name string) error {
	entries, err := parse("", text)
	if err != nil {
		return fmt.Errorf("the file%w", err)
	}
	for _, e := range entries {
		if e.name != name {
			continue
		}
		s, err := e.unexpanded(SourceUser)
		if err == nil && !strings.Contains(s.URL, "${") {
			err = checkURL(s.URL)
		}
		return err
	}
	return nil
}

// Remove returns the text of a JSON file of servers without a server, the comments
// directly above it and the one behind it. It changes no other byte. The error is
// [ErrNoEntry] if the file does not have the server.
func Remove(text []byte, name string) ([]byte, error) {
	mark, body := cutMark(text)
	servers, err := serversIn(body)
	if err != nil {
		return nil, err
	}
	for i := range servers.Members {
		if literal(servers.Members[i].Name) == name {
			after := cut(body, servers, i)
			return append(mark, after...), same(body, after, name)
		}
	}
	return nil, ErrNoEntry
}

// cutMark separates the byte order mark of a file.
func cutMark(text []byte) (mark, body []byte) {
	if body, ok := bytes.CutPrefix(text, []byte("\ufeff")); ok {
		return []byte("\ufeff"), body
	}
	return nil, text
}

// editable parses a file that is to be changed.
func editable(text []byte) (*hujson.Value, *hujson.Object, error) {
	root, err := document(text)
	if err != nil {
		return nil, nil, fmt.Errorf("the file is not JSON: %s", strings.TrimPrefix(err.Error(), "hujson: "))
	}
	object, ok := root.Value.(*hujson.Object)
	if !ok {
		return nil, nil, errors.New("the file must be an object")
	}
	return &root, object, nil
}

// serversIn returns the object with the servers of a file. The error is [ErrNoEntry] if
// there is none.
func serversIn(body []byte) (*hujson.Object, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, ErrNoEntry
	}
	_, object, err := editable(body)
	if err != nil {
		return nil, err
	}
	_, value := table(object)
	if value == nil {
		return nil, ErrNoEntry
	}
	servers, ok := value.Value.(*hujson.Object)
	if !ok {
		return nil, ErrNoEntry
	}
	return servers, nil
}

// same returns an error if an edit changed another server than the named one, or
// made the file unreadable.
func same(before, after []byte, name string) error {
	others := func(text []byte) (string, error) {
		_, object, err := editable(text)
		if err != nil {
			return "", err
		}
		_, value := table(object)
		if value == nil {
			return "", nil
		}
		servers, ok := value.Value.(*hujson.Object)
		if !ok {
			return "", nil
		}
		var b strings.Builder
		for _, m := range servers.Members {
			if key := literal(m.Name); key != name {
				fmt.Fprintf(&b, "%q: %s\n", key, text[m.Value.StartOffset:m.Value.EndOffset])
			}
		}
		return b.String(), nil
	}
	was, err := others(before)
	if err != nil {
		return err
	}
	is, err := others(after)
	if err != nil || is != was {
		return errors.New("the file is written in an unusual way: edit it yourself")
	}
	return nil
}

func splice(text []byte, from, to int, with []byte) []byte {
	return bytes.Join([][]byte{text[:from], with, text[to:]}, nil)
}

func newlineOf(text []byte) string {
	if bytes.Contains(text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// ownLine reports whether only blanks stand before a position in its line.
func ownLine(text []byte, at int) bool {
	start := bytes.LastIndexByte(text[:at], '\n') + 1
	return start > 0 && len(bytes.TrimSpace(text[start:at])) == 0
}

// indentOf returns the blanks at the start of the line of a position.
func indentOf(text []byte, at int) string {
	line := text[bytes.LastIndexByte(text[:at], '\n')+1:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// unitOf returns by how much the members of an object are indented.
func unitOf(text []byte, value *hujson.Value, object *hujson.Object) string {
	outer := indentOf(text, value.StartOffset)
	for _, m := range object.Members {
		if inner := indentOf(text, m.Name.StartOffset); ownLine(text, m.Name.StartOffset) && len(inner) > len(outer) {
			return strings.TrimPrefix(inner, outer)
		}
	}
	return cmp.Or(outer, "  ")
}

// insert adds a member at the end of an object. write returns its value for an
// indentation and its unit; the unit is "" if all is on one line.
func insert(text []byte, value *hujson.Value, object *hujson.Object, name string, write func(indent, unit string) []byte) []byte {
	newline := newlineOf(text)
	quoted, _ := json.Marshal(name) // cannot fail for a string
	member := func(indent, unit string) string { return string(quoted) + ": " + string(write(indent, unit)) }
	closing := value.EndOffset - 1 // of the brace
	outer, unit := indentOf(text, value.StartOffset), unitOf(text, value, object)
	if len(object.Members) == 0 {
		inner := outer + unit
		body := newline + inner + member(inner, unit)
		if inside := text[value.StartOffset+1 : closing]; bytes.ContainsRune(inside, '\n') {
			end := value.StartOffset + 1 + len(bytes.TrimRight(inside, " \t\r\n"))
			return splice(text, end, end, []byte(body))
		}
		return splice(text, closing, closing, []byte(body+newline+outer))
	}
	last := object.Members[len(object.Members)-1]
	end := last.Value.EndOffset
	comma, trailing := end, last.Value.AfterExtra != nil
	if trailing {
		comma = end + len(last.Value.AfterExtra) + 1
	}
	if !ownLine(text, last.Name.StartOffset) {
		body := " " + member(outer, "")
		if trailing {
			return splice(text, comma, comma, []byte(body+","))
		}
		return splice(text, end, end, []byte(","+body))
	}
	indent := indentOf(text, last.Name.StartOffset)
	body := newline + indent + member(indent, unit)
	at := restOfLine(text, comma, closing)
	if trailing {
		return splice(text, at, at, []byte(body+","))
	}
	// The comma goes directly behind the value, the member behind its comment.
	return bytes.Join([][]byte{text[:end], []byte(","), text[end:at], []byte(body), text[at:]}, nil)
}

// restOfLine returns the end of the comment that follows in the same line, or at if
// there is none.
func restOfLine(text []byte, at, limit int) int {
	line := text[at:limit]
	if i := bytes.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	line = bytes.TrimRight(line, " \t\r")
	words := bytes.TrimLeft(line, " \t")
	if !isComment(words) {
		return at
	}
	return at + len(line)
}

// isComment reports whether a line without its indentation is one comment.
func isComment(line []byte) bool {
	return bytes.HasPrefix(line, []byte("//")) ||
		bytes.HasPrefix(line, []byte("/*")) && bytes.Index(line, []byte("*/")) == len(line)-2
}

// cut removes the member of an object.
func cut(text []byte, object *hujson.Object, i int) []byte {
	m := object.Members[i]
	start := m.Name.StartOffset - len(m.Name.BeforeExtra)
	own := ownLine(text, m.Name.StartOffset)
	if own {
		start = bytes.LastIndexByte(text[:m.Name.StartOffset], '\n') + 1
		first := m.Name.StartOffset - len(m.Name.BeforeExtra)
		for start-1 > first { // comments directly above
			above := bytes.LastIndexByte(text[:start-1], '\n') + 1
			if above < first || !isComment(bytes.TrimSpace(text[above:start-1])) {
				break
			}
			start = above
		}
	}
	end := m.Value.EndOffset + len(m.Value.AfterExtra)
	if last := i == len(object.Members)-1; !last || m.Value.AfterExtra != nil {
		end++ // its comma
		end = restOfLine(text, end, len(text))
		rest := text[end:]
		switch blanks := len(rest) - len(bytes.TrimLeft(rest, " \t")); {
		case own && bytes.HasPrefix(rest, []byte("\r\n")):
			end += 2
		case own && bytes.HasPrefix(rest, []byte("\n")):
			end++
		case own: // another member follows in the line
			start = m.Name.StartOffset
			end += blanks
		case i == 0:
			end += blanks
		}
		return splice(text, start, end, nil)
	}
	// The last one has no comma, so that of the one before goes too.
	end = restOfLine(text, m.Value.EndOffset, len(text))
	if own && bytes.HasPrefix(bytes.TrimLeft(text[end:], " \t\r"), []byte("\n")) {
		start-- // the line goes whole
		if start > 0 && text[start-1] == '\r' {
			start--
		}
	}
	after := splice(text, start, end, nil)
	if i > 0 {
		before := object.Members[i-1].Value
		comma := before.EndOffset + len(before.AfterExtra)
		after = splice(after, comma, comma+1, nil)
	}
	return after
}

// encode returns an entry as text: on one line without a unit of indentation.
func encode(e entry, indent, unit string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(e) // cannot fail: strings, numbers and lists of them
	compact := bytes.TrimSpace(b.Bytes())
	value, err := hujson.Parse(compact)
	if err != nil {
		return compact // unreachable: it was just encoded
	}
	return layout(value, indent, unit)
}

// layout writes a value with one member a line, and lists on one line.
func layout(value hujson.Value, indent, unit string) []byte {
	switch v := value.Value.(type) {
	case *hujson.Array:
		var parts [][]byte
		for _, e := range v.Elements {
			parts = append(parts, layout(e, indent, ""))
		}
		return append(append([]byte("["), bytes.Join(parts, []byte(", "))...), ']')
	case *hujson.Object:
		open, gap, closing := "{", ", ", "}"
		if unit != "" {
			open, gap, closing = "{\n"+indent+unit, ",\n"+indent+unit, "\n"+indent+"}"
		}
		var parts [][]byte
		for _, m := range v.Members {
			parts = append(parts, bytes.Join([][]byte{m.Name.Pack(), layout(m.Value, indent+unit, unit)}, []byte(": ")))
		}
		return append(append([]byte(open), bytes.Join(parts, []byte(gap))...), closing...)
	default:
		return value.Pack()
	}
}
