package lsp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/powernap/pkg/lsp/protocol"

	"replan/mcpclient/workspace/code/source"
)

// FuzzReplies checks that no reply of a language server names a place outside the
// workspace or an edit outside its file, and that what it lists is no larger than its
// reply by more than a limit.
func FuzzReplies(f *testing.F) {
	dir := f.TempDir()
	const text = "package a\r\n\nvar é = \"👩\" // x\n"
	if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte(text), 0o600); err != nil {
		f.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = root.Close() })
	w := workspace{folder: source.NewFolder(dir), root: root}
	here := string(w.uri("a.go"))
	const at = `"range":{"start":{"line":2,"character":4},"end":{"line":2,"character":5}}`
	for _, reply := range []string{
		`{"uri":"FILE",` + at + `}`, `[{"uri":"file:///etc/passwd",` + at + `},null]`, `null`, `{"changes":{"FILE":[{` + at + `,"newText":"z"}]}}`, `{"documentChanges":[{"textDocument":{"uri":"FILE","version":1},"edits":[{"range":{"start":{"line":4294967295,"character":4294967295},"end":{"line":0,"character":0}},"newText":""}]}]}`,
		`{"documentChanges":[{"kind":"delete","uri":"FILE"}]}`, `[{"name":"A","kind":5,` + at + `,"selectionRange":{"start":{"line":0,"character":1},"end":{}},"children":[{"name":"b","kind":6,"children":[{"name":"c"}]}]}]`, `[{"name":"\u001b[2J","location":{"uri":"x:y",` + at + `}}]`,
		`[` + strings.Repeat(`{"name":"`+strings.Repeat("n", 100)+`","children":[`, 200) + strings.Repeat(`]}`, 200) + `]`,
	} {
		f.Add(reply)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		raw := json.RawMessage(strings.ReplaceAll(reply, "FILE", here))
		for _, utf8 := range []bool{false, true} {
			c := &client{workspace: w, utf8: utf8, open: map[string]document{"a.go": {text: text}}}
			if locations, err := locationsOf(raw); err == nil {
				for _, p := range c.places(locations) {
					if !filepath.IsLocal(p.Path) || p.Line < 1 || p.Column < 1 || p.Column > len(text)+1 {
						t.Fatalf("%s is at %+v", raw, p)
					}
				}
			}
			var edit protocol.WorkspaceEdit
			if json.Unmarshal(raw, &edit) == nil {
				if renamed, err := c.edits(edit); err == nil {
					for _, e := range renamed.Edits {
						if !filepath.IsLocal(e.Path) || e.Start < 0 || e.End < e.Start || e.End > len(renamed.Read[e.Path]) {
							t.Fatalf("%s has the edit %+v", raw, e)
						}
					}
				}
			}
			var symbols []symbol
			if json.Unmarshal(raw, &symbols) != nil {
				continue
			}
			var flat []source.Symbol
			c.flatten(symbols, "a.go", text, "", &flat)
			size := 0
			for _, s := range flat {
				size += len(s.Name) + len(s.Parent)
			}
			if size > 2*mostNested*len(raw) {
				t.Fatalf("%d symbols with names of %d bytes, from a reply of %d", len(flat), size, len(raw))
			}
		}
	})
}
