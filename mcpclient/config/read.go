package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/tailscale/hujson"

	"replan/internal/nesting"
)

// maxConfig is the maximum size of a configuration file, in bytes.
const maxConfig = 1 << 20

// found is one server in a configuration file, whatever its format.
type found struct {
	name  string
	line  int
	value json.RawMessage // standard JSON
	lines map[string]int  // of its keys; a key without one is on the line of the name
	style style
	other string // a note on another table of servers in the file; on the first server alone
}

// style says what is special in the entries of a program's files.
type style struct {
	braces  bool // {env:NAME} is a variable too
	seconds bool // the number of a "timeout" is one of seconds
	// perTool are switches of single tools outside of the servers' entries: a
	// pattern of NAME_TOOL and whether it is on.
	perTool map[string]bool
}

// Read reads the servers of a configuration file, in the file's order. A file
// whose name ends in .toml is read as Codex writes it: [mcp_servers.NAME].
// Any other is JSON, with comments and trailing commas allowed, that holds the
// servers under "mcpServers", "servers", "mcp", Zed's "context_servers" or Amp's
// "amp.mcpServers".
//
// Variables expand as [Server] says for its fields; ${workspaceFolder} is folder. A
// timeout is a duration ("30s") or a number of milliseconds. A startup_timeout is a
// duration or a number of seconds. A number that makes no sense in its unit is read
// in the other one, with a note. The files of some programs have a timeout in
// seconds. Unknown keys give notes.
//
// The result includes invalid servers, with Problem set. The error lists every
// mistake in one sentence each, with the file, the line and the server. If the
// whole file is unusable, Read returns only the error. The error wraps
// fs.ErrNotExist if there is no file.
func Read(path string, source Source, folder string) ([]Server, error) {
	text, err := readBounded(path)
	if err != nil {
		return nil, fmt.Errorf("reading the MCP servers: %w", err)
	}
	entries, err := parse(path, text)
	if err != nil {
		return nil, fmt.Errorf("%s%w", path, err)
	}
	var servers []Server
	var mistakes []error
	seen := map[string]bool{}
	for _, e := range entries {
		server, err := e.read(source, folder)
		again := seen[e.name]
		if err == nil && again {
			err = errors.New("the name is used twice")
		}
		seen[e.name] = true
		for i, note := range server.Notes {
			server.Notes[i] = filepath.Base(path) + note
		}
		if err != nil {
			mistakes = append(mistakes, fmt.Errorf("%s:%d: server %q: %w", path, e.line, e.name, err))
			name := e.name
			if again {
				name = fmt.Sprintf("%s (line %d)", name, e.line) // the first one keeps the name
			}
			server = Server{
				Name: name, Problem: fmt.Sprintf("%s:%d: %v", filepath.Base(path), e.line, err),
				Required: server.Required, Notes: server.Notes, shown: server.shown,
			}
		}
		server.Source = source
		servers = append(servers, server)
	}
	return servers, errors.Join(mistakes...)
}

// errNoTable is the error of a JSON file that holds no servers.
var errNoTable = errors.New(`: there is no "mcpServers" in it, and none of the names that other programs use: ` + strings.Join(tables[1:], ", ") + `; servers go under "mcpServers"`)

// tables are the keys that hold servers: that of the convention, of VS Code, opencode,
// Zed and Amp.
var tables = []string{"mcpServers", "servers", "mcp", "context_servers", "amp.mcpServers"}

// parse returns the servers of a file. The error continues a sentence that begins
// with the file's path.
func parse(path string, text []byte) ([]found, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // some editors write a byte order mark
	toml := strings.EqualFold(filepath.Ext(path), ".toml")
	switch {
	case len(bytes.TrimSpace(text)) == 0 && toml:
		return nil, errors.New(" is empty; write [mcp_servers.NAME] into it, or remove it")
	case len(bytes.TrimSpace(text)) == 0:
		return nil, errors.New(` is empty; write {"mcpServers": {}} into it, or remove it`)
	case toml:
		return parseTOML(text)
	}
	root, err := document(text)
	if err != nil {
		return nil, fmt.Errorf(" is not JSON: %s", strings.TrimPrefix(err.Error(), "hujson: "))
	}
	object, ok := root.Value.(*hujson.Object)
	if !ok {
		return nil, errors.New(`: the file must be an object with "mcpServers" in it`)
	}
	key, value := table(object)
	if value == nil {
		return nil, errNoTable
	}
	servers, ok := value.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf(`: %q must be an object, one server under each name`, key)
	}
	how := style{seconds: writesSeconds(path)}
	if key == "mcp" { // opencode's
		how.braces, how.perTool = true, switches(object)
	}
	all := membersOf(servers, text, how)
	if other, ok := member(object, "servers"); ok && key == "mcpServers" && other.Value.Kind() == '{' && len(all) > 0 {
		line := 1 + bytes.Count(text[:other.StartOffset], []byte("\n"))
		all[0].other = fmt.Sprintf(`:%d: "servers" is ignored, since the file has "mcpServers": move its servers there`, line)
	}
	return all, nil
}

// table returns what holds the servers of a JSON file, and its key. Some files have another "mcp" beside
// "mcpServers", and some write "mcp": {"servers": {…}}.
func table(object *hujson.Object) (string, *hujson.Value) {
	for _, key := range tables {
		value, ok := member(object, key)
		if !ok {
			continue
		}
		if below, ok := value.Value.(*hujson.Object); ok && key == "mcp" {
			if inner, ok := member(below, "servers"); ok && !isServer(inner) {
				return key, inner
			}
		}
		return key, value
	}
	return "", nil
}

// isServer reports whether a value looks like the entry of one server.
func isServer(value *hujson.Value) bool {
	object, ok := value.Value.(*hujson.Object)
	if !ok {
		return false
	}
	for _, key := range []string{"type", "command", "url"} {
		if of, ok := member(object, key); ok && of.Value.Kind() != '{' {
			return true
		}
	}
	return false
}

// switches returns opencode's "tools": patterns of tools, and whether they are on.
func switches(object *hujson.Object) map[string]bool {
	value, ok := member(object, "tools")
	if !ok {
		return nil
	}
	of := value.Clone()
	of.Standardize()
	var all map[string]any
	if json.Unmarshal(of.Pack(), &all) != nil {
		return nil
	}
	on := map[string]bool{}
	for name, value := range all {
		if value, ok := value.(bool); ok {
			on[name] = value
		}
	}
	return on
}

// membersOf returns the servers of a table.
func membersOf(servers *hujson.Object, text []byte, how style) []found {
	lineOf := func(name *hujson.Value) int { return 1 + bytes.Count(text[:name.StartOffset], []byte("\n")) }
	var all []found
	for i := range servers.Members {
		m := &servers.Members[i]
		f := found{name: literal(m.Name), line: lineOf(&m.Name), lines: map[string]int{}, style: how}
		if entry, ok := m.Value.Value.(*hujson.Object); ok {
			for j := range entry.Members {
				f.lines[literal(entry.Members[j].Name)] = lineOf(&entry.Members[j].Name)
			}
		}
		value := m.Value.Clone()
		value.Standardize()
		f.value = value.Pack()
		all = append(all, f)
	}
	return all
}

// document parses JSON with comments. The parser itself has no bound of nesting.
func document(text []byte) (hujson.Value, error) {
	if err := nesting.Check(text); err != nil {
		return hujson.Value{}, err
	}
	return hujson.Parse(text)
}

// readBounded reads a regular file. It refuses any other kind: a pipe without
// a writer, for example, would block the program forever.
func readBounded(path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file; write the servers into one", path)
	}
	file, err := os.Open(path) //nolint:gosec // the path is the user's own choice
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, maxConfig+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxConfig {
		return nil, fmt.Errorf("%s is larger than %d KB", path, maxConfig>>10)
	}
	return text, nil
}

func member(object *hujson.Object, name string) (*hujson.Value, bool) {
	for i := range object.Members {
		if literal(object.Members[i].Name) == name {
			return &object.Members[i].Value, true
		}
	}
	return nil, false
}

func literal(v hujson.Value) string {
	text, ok := v.Value.(hujson.Literal)
	if !ok {
		return ""
	}
	return text.String()
}
