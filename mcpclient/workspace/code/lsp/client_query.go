package lsp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/powernap/pkg/lsp/protocol"

	"replan/mcpclient/workspace/code/source"
)

// Renamed is the result of a rename.
type Renamed struct {
	Edits []source.Edit
	Read  map[string]string // the text that the edits apply to, by path
}

// pointing returns the params of a request about a place in an open file.
func (c *client) pointing(at source.Place) map[string]any {
	return map[string]any{
		"textDocument": map[string]any{"uri": c.uri(at.Path)}, "position": c.position(c.open[at.Path].text, at),
	}
}

// locationsOf parses one location, several, or none.
func locationsOf(raw json.RawMessage) ([]protocol.Location, error) {
	var several []protocol.Location
	if text := strings.TrimSpace(string(raw)); text == "" || text == "null" {
		return nil, nil
	} else if text[0] != '{' {
		return several, json.Unmarshal(raw, &several)
	}
	var one protocol.Location
	err := json.Unmarshal(raw, &one)
	return append(several, one), err
}

// text returns the file of a URI and its content. It returns false for files
// outside the workspace.
func (c *client) text(uri protocol.DocumentURI, known map[string]string) (path, text string, ok bool) {
	if path, ok = c.path(uri); !ok {
		return "", "", false
	}
	if text, ok = known[path]; ok {
		return path, text, true
	}
	if document, open := c.open[path]; open {
		text = document.text
	} else if read, err := c.read(path); err == nil {
		text = read
	} else {
		return "", "", false
	}
	known[path] = text
	return path, text, true
}

// places returns the distinct locations in the workspace, by file and place.
func (c *client) places(locations []protocol.Location) []source.Place {
	texts := map[string]string{}
	var found []source.Place
	for _, l := range locations {
		if path, text, ok := c.text(l.URI, texts); ok {
			found = append(found, c.place(path, text, l.Range.Start))
		}
	}
	slices.SortFunc(found, source.ComparePlaces)
	return slices.Compact(found)
}

// edits parses the edits of a server. It fails if they affect anything but the
// text of files in the workspace.
func (c *client) edits(edit protocol.WorkspaceEdit) (Renamed, error) {
	byFile := map[protocol.DocumentURI][]protocol.TextEdit{}
	for uri, edits := range edit.Changes {
		byFile[uri] = append(byFile[uri], edits...)
	}
	for _, change := range edit.DocumentChanges {
		if change.TextDocumentEdit == nil {
			return Renamed{}, &RefusedError{c.program.Name, "the rename would create, move or delete files"}
		}
		uri := change.TextDocumentEdit.TextDocument.URI
		for _, e := range change.TextDocumentEdit.Edits {
			text, err := e.AsTextEdit()
			if err != nil {
				return Renamed{}, fmt.Errorf("reading the rename from %s: %w", c.program.Name, err)
			}
			byFile[uri] = append(byFile[uri], text)
		}
	}
	result := Renamed{Read: map[string]string{}}
	for uri, edits := range byFile {
		path, text, ok := c.text(uri, result.Read)
		if !ok {
			return Renamed{}, &RefusedError{c.program.Name, fmt.Sprintf("the rename would change %s, which is outside the workspace or cannot be read", uri)}
		}
		for _, e := range edits {
			start := c.offset(text, e.Range.Start)
			found := source.Edit{Path: path, Start: start, End: max(start, c.offset(text, e.Range.End)), New: e.NewText}
			if text[start:found.End] != e.NewText && !slices.Contains(result.Edits, found) {
				result.Edits = append(result.Edits, found)
			}
		}
	}
	slices.SortFunc(result.Edits, func(a, b source.Edit) int {
		if a.Path != b.Path {
			return strings.Compare(a.Path, b.Path)
		}
		return a.Start - b.Start
	})
	return result, nil
}

// symbol covers both forms in which servers return declarations.
type symbol struct {
	Name           string              `json:"name"`
	Detail         string              `json:"detail"`
	Kind           protocol.SymbolKind `json:"kind"`
	Range          protocol.Range      `json:"range"`
	SelectionRange protocol.Range      `json:"selectionRange"`
	Children       []symbol            `json:"children"`
	Location       *protocol.Location  `json:"location"`
}

// mostNested is the number of levels of declarations that are listed. The name of each
// holds the names around it, so that deep ones would fill the memory.
const mostNested = 50

// symbols returns the symbols of a file, each followed by its members.
func (c *client) symbols(found []symbol, path string) []source.Symbol {
	var symbols []source.Symbol
	c.flatten(found, path, c.open[path].text, "", &symbols)
	return symbols
}

// flatten appends symbols, each followed by its members.
func (c *client) flatten(found []symbol, path, text, parent string, into *[]source.Symbol) {
	if strings.Count(parent, ".") >= mostNested {
		return
	}
	for _, f := range found {
		at, whole := f.SelectionRange, f.Range
		if f.Location != nil {
			at, whole = f.Location.Range, f.Location.Range
		}
		name := f.Name
		if parent != "" {
			name = parent + "." + name
		}
		*into = append(*into, source.Symbol{
			Name: name, Kind: kindOf(f.Kind), Parent: parent, Place: c.place(path, text, at.Start),
			EndLine: int(whole.End.Line) + 1, Signature: f.Detail,
		})
		c.flatten(f.Children, path, text, name, into)
	}
}

// kindOf converts a kind of the protocol to one of the operators.
func kindOf(kind protocol.SymbolKind) string {
	kinds := map[protocol.SymbolKind]string{
		protocol.Module: "module", protocol.Namespace: "namespace", protocol.Package: "package", protocol.Class: "class",
		protocol.Method: "method", protocol.Property: "field", protocol.Field: "field", protocol.Constructor: "constructor",
		protocol.Enum: "enum", protocol.Interface: "interface", protocol.Function: "function", protocol.Variable: "variable",
		protocol.Constant: "constant", protocol.EnumMember: "constant", protocol.Struct: "struct", protocol.TypeParameter: "type parameter",
		protocol.Object: "object", protocol.Event: "event", protocol.Operator: "operator",
	}
	if word, ok := kinds[kind]; ok {
		return word
	}
	return "name"
}
