package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/charmbracelet/x/powernap/pkg/lsp/protocol"

	"replan/mcpclient/workspace/code/source"
)

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
			return nil, fmt.Errorf("reading the definition from %s: %w", c.name(), err)
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
			return Renamed{}, &RefusedError{c.name(), "there is no name to change here"}
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
		return c.symbols(found, path), nil
	})
}

// ask synchronizes the server of a file and sends it a question.
func ask[T any](ctx context.Context, s *Servers, file string, holding []string, question func(context.Context, *client) (T, error)) (T, error) {
	var none T
	c, err := s.client(ctx, file)
	if err != nil {
		return none, err
	}
	paths := c.opens(file, holding)
	ctx, cancel := within(ctx, cmp.Or(s.cfg.Patience, requestTime))
	defer cancel()
	done, err := c.begin(ctx, paths...)
	if err != nil {
		return none, err
	}
	defer done()
	return question(ctx, c)
}

// Checks reports whether Diagnostics can answer for a file now: its server is
// running or may be started for it.
func (s *Servers) Checks(file string) bool {
	p, known := s.Program(file)
	if !known {
		return false
	}
	if s.cfg.Trusted {
		_, err := s.Find(p)
		return err == nil
	}
	slot := s.running[p.Language]
	if !slot.TryLock() { // it is starting
		return false
	}
	defer slot.Unlock()
	return slot.client != nil && slot.client.alive()
}

// Diagnostics returns the server's diagnostics for files of one language as
// they are on disk, by file and line. It fails if the server does not answer
// within the given time.
func (s *Servers) Diagnostics(ctx context.Context, paths []string, within time.Duration) ([]source.Diagnostic, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	c, err := s.client(ctx, paths[0])
	if err != nil {
		return nil, err
	}
	done, err := c.begin(ctx, paths...)
	if err != nil {
		return nil, err
	}
	defer done()
	var found []source.Diagnostic
	for _, at := range paths {
		items, err := c.diagnose(ctx, at, within)
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			found = append(found, c.diagnostic(at, item))
		}
	}
	slices.SortStableFunc(found, func(a, b source.Diagnostic) int {
		return source.ComparePlaces(source.Place{Path: a.Path, Line: a.Line, Column: a.Column}, source.Place{Path: b.Path, Line: b.Line, Column: b.Column})
	})
	return found, nil
}
