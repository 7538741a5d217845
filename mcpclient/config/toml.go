package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlTable is the table of servers in Codex's configuration.
const tomlTable = "mcp_servers"

// errNoTOMLTable is the error of a TOML file that holds no servers.
var errNoTOMLTable = errors.New(": there is no [" + tomlTable + ".NAME] in it")

// parseTOML returns the servers of a configuration file as Codex writes it.
func parseTOML(text []byte) ([]found, error) {
	var root map[string]any
	if err := toml.Unmarshal(text, &root); err != nil {
		if at, ok := errors.AsType[*toml.DecodeError](err); ok {
			row, _ := at.Position()
			return nil, fmt.Errorf(":%d: is not TOML: %s", row, strings.TrimPrefix(err.Error(), "toml: "))
		}
		return nil, fmt.Errorf(" is not TOML: %s", strings.TrimPrefix(err.Error(), "toml: "))
	}
	value, ok := root[tomlTable]
	if !ok {
		return nil, errNoTOMLTable
	}
	servers, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf(": %s must be a table, one server under each name", tomlTable)
	}
	all := linesOf(text)
	for i := range all {
		var err error
		if all[i].value, err = json.Marshal(servers[all[i].name]); err != nil {
			return nil, fmt.Errorf(":%d: server %q: %w", all[i].line, all[i].name, err)
		}
	}
	return all, nil
}

// linesOf returns the names of the servers in the file's order, with the lines of
// their keys. The text is valid.
func linesOf(text []byte) []found {
	var all []found
	at := map[string]int{}
	note := func(path []string, line int) {
		if len(path) < 2 || path[0] != tomlTable {
			return
		}
		i, ok := at[path[1]]
		if !ok {
			i = len(all)
			at[path[1]] = i
			all = append(all, found{name: path[1], line: line, lines: map[string]int{}})
		}
		if len(path) > 2 && all[i].lines[path[2]] == 0 {
			all[i].lines[path[2]] = line
		}
	}
	var p unstable.Parser
	p.Reset(text)
	var section []string
	for p.NextExpression() {
		e := p.Expression()
		path, line := keyOf(text, e)
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			section = path
		case unstable.KeyValue:
			path = append(append([]string{}, section...), path...)
			// Inline tables write what sections write, so follow their keys too.
			inline(text, e.Value(), path, line, note)
		}
		note(path, line)
	}
	return all
}

// inline notes the keys of an inline table below a path. Other values have none.
func inline(text []byte, value *unstable.Node, path []string, line int, note func([]string, int)) {
	if value == nil || value.Kind != unstable.InlineTable || len(path) > 2 {
		return
	}
	for entries := value.Children(); entries.Next(); {
		entry := entries.Node()
		key, _ := keyOf(text, entry)
		below := append(append([]string{}, path...), key...)
		note(below, line)
		inline(text, entry.Value(), below, line, note)
	}
}

// keyOf returns the key of an expression and the line on which it stands.
func keyOf(text []byte, e *unstable.Node) (path []string, line int) {
	for key := e.Key(); key.Next(); {
		node := key.Node()
		if line == 0 {
			line = 1 + bytes.Count(text[:node.Raw.Offset], []byte("\n"))
		}
		path = append(path, string(node.Data))
	}
	return path, line
}
