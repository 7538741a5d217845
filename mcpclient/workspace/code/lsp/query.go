package lsp

import (
	"cmp"
	"context"
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

// Definition returns where the name at a place is declared. It omits
// declarations outside the workspace.
func (s *Servers) Definition(ctx context.Context, at source.Place) ([]source.Place, error) {
	return ask(ctx, s, at.Path, nil, func(ctx context.Context, c *client) ([]source.Place, error) {
		var raw json.RawMessage
		if err := c.request(ctx, "textDocument/definition", c.pointing(at), &raw); err != nil {
			return nil, err
		}
		locations, err := locationsOf(raw)
		if err != nil {
			return nil, fmt.Errorf("reading the definition from %s: %w", c.program.Name, err)
		}
		return c.places(locations), nil
	})
}

// References returns the uses of the name at a place, including its
// declaration, by file and place. holding lists files that may use it, for
// servers that know only open files.
func (s *Servers) References(ctx context.Context, at source.Place, holding []string) ([]source.Reference, error) {
	return ask(ctx, s, at.Path, holding, func(ctx context.Context, c *client) ([]source.Reference, error) {
		find := func(declaration bool) ([]source.Place, error) {
			params := c.pointing(at)
			params["context"] = map[string]any{"includeDeclaration": declaration}
			var found []protocol.Location
			if err := c.request(ctx, "textDocument/references", params, &found); err != nil {
				return nil, err
			}
			return c.places(found), nil
		}
		all, err := find(true)
		if err != nil {
			return nil, err
		}
		uses, err := find(false)
		if err != nil {
			return nil, err
		}
		refs := make([]source.Reference, len(all))
		for i, place := range all {
			refs[i] = source.Reference{Place: place, Definition: !slices.Contains(uses, place)}
		}
		return refs, nil
	})
}

// Rename returns the edits that rename the name at a place. holding lists
// files that may use it, for servers that know only open files. It fails with
// a [RefusedError] if the server refuses.
func (s *Servers) Rename(ctx context.Context, at source.Place, name string, holding []string) (Renamed, error) {
	return ask(ctx, s, at.Path, holding, func(ctx context.Context, c *client) (Renamed, error) {
		params := c.pointing(at)
		params["newName"] = name
		var edit *protocol.WorkspaceEdit
		if err := c.request(ctx, "textDocument/rename", params, &edit); err != nil {
			return Renamed{}, err
		}
		if edit == nil {
			return Renamed{}, &RefusedError{c.program.Name, "there is no name to change here"}
		}
		return c.edits(*edit)
	})
}

// Symbols returns the declarations of a file in their order.
func (s *Servers) Symbols(ctx context.Context, path string) ([]source.Symbol, error) {
	return ask(ctx, s, path, nil, func(ctx context.Context, c *client) ([]source.Symbol, error) {
		var found []symbol
		params := map[string]any{"textDocument": map[string]any{"uri": c.uri(path)}}
		if err := c.request(ctx, "textDocument/documentSymbol", params, &found); err != nil {
			return nil, err
		}
		var symbols []source.Symbol
		c.flatten(found, path, c.open[path].text, "", &symbols)
		return symbols, nil
	})
}

// ask synchronizes the server of a file and sends it a question.
func ask[T any](ctx context.Context, s *Servers, file string, holding []string, question func(context.Context, *client) (T, error)) (T, error) {
	var none T
	c, err := s.client(ctx, file)
	if err != nil {
		return none, err
	}
	paths := []string{file}
	if c.program.openAll {
		for _, at := range holding {
			if _, ours := c.program.language(at); ours && at != file {
				paths = append(paths, at)
			}
		}
	}
	ctx, cancel := within(ctx, cmp.Or(s.cfg.Patience, requestTime))
	defer cancel()
	done, err := c.begin(ctx, paths...)
	if err != nil {
		return none, err
	}
	defer done()
	return question(ctx, c)
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
