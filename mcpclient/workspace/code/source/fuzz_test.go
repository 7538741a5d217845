package source_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"replan/mcpclient/workspace/code/source"
)

// FuzzOutline checks that the declarations of any file lie inside it, in every
// language, and that renaming a word there and back restores the file.
func FuzzOutline(f *testing.F) {
	var names []string
	for i, file := range fixtures(f) {
		names = append(names, file.Name)
		f.Add(string(file.Data[:min(len(file.Data), 1500)]), uint8(i))
	}
	f.Add(strings.Repeat("\n", 300)+"class A {}", uint8(0))
	f.Add("<<EOF\nx\nEOF\n`${a}` /* \"\\\" r#\"x\"# [[ ]] --[[", uint8(3))
	f.Fuzz(func(t *testing.T, src string, language uint8) {
		if !utf8.ValidString(src) || len(src) > 1<<14 {
			return
		}
		name := names[int(language)%len(names)]
		file, err := source.Lex(t.Context(), name, src)
		if err != nil {
			if !strings.Contains(err.Error(), "its lexer ") { // which lost its place
				t.Fatal(err)
			}
			return
		}
		for _, s := range file.Outline().Symbols {
			if s.Line < 1 || s.EndLine < s.Line || s.EndLine > max(1, file.LineCount()) || s.Column < 1 {
				t.Fatalf("%s, %q: %+v of %d lines", name, src, s, file.LineCount())
			}
		}
		word, _, found := file.WordAt(1, 1)
		if !found {
			return
		}
		edits, _, err := file.Rename(word, "qzx")
		if err != nil || len(edits) == 0 {
			return
		}
		renamed, err := source.Apply(src, edits)
		if err != nil || strings.Count(renamed, "qzx") < len(edits) {
			t.Fatalf("%s, %q: renaming %q gives %q, %v", name, src, word, renamed, err)
		}
		if rest := len(src) - len(edits)*len(word); len(renamed) != rest+3*len(edits) {
			t.Fatalf("%s, %q: renaming %q gives %q", name, src, word, renamed)
		}
	})
}
