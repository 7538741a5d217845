package source_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
	"golang.org/x/tools/txtar"
	"pgregory.net/rapid"

	"replan/mcpclient/workspace/code/source"
)

// fixtures returns small files in the supported languages.
func fixtures(t testing.TB) []txtar.File {
	t.Helper()
	data, err := os.ReadFile("testdata/languages.txtar")
	if err != nil {
		t.Fatal(err)
	}
	return txtar.Parse(data).Files
}

func outlined(t *testing.T, name, src string) string {
	t.Helper()
	lang, ok := source.LanguageOf(name)
	if !ok {
		t.Fatalf("unknown language of %s", name)
	}
	o, err := source.OutlineOf(t.Context(), name, src)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "== %s: %s, package %q, imports %q\n", name, lang.Name, o.Package, o.Imports)
	for _, s := range o.Symbols {
		exported := "-"
		if s.Exported {
			exported = "+"
		}
		fmt.Fprintf(&b, "%s %d-%d:%d %s %s | %s | %q\n", exported, s.Line, s.EndLine, s.Column, s.Kind, s.Name, s.Signature, s.Doc)
	}
	return b.String()
}

func TestOutlineFindsDeclarations(t *testing.T) {
	var b strings.Builder
	for _, f := range fixtures(t) {
		b.WriteString(outlined(t, f.Name, string(f.Data)))
	}
	golden.RequireEqual(t, []byte(b.String()))
}

func TestLineEndingsDoNotChangeTheOutline(t *testing.T) {
	for _, f := range fixtures(t) {
		t.Run(f.Name, func(t *testing.T) {
			want := outlined(t, f.Name, string(f.Data))
			if got := outlined(t, f.Name, strings.ReplaceAll(string(f.Data), "\n", "\r\n")); got != want {
				t.Errorf("with CR LF:\n%s\nwant:\n%s", got, want)
			}
			if got := outlined(t, f.Name, strings.TrimSuffix(string(f.Data), "\n")); got != want {
				t.Errorf("without a final newline:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

func TestTruncatedFilesHaveAnOutline(t *testing.T) {
	for _, f := range fixtures(t) {
		for at := 0; at < len(f.Data); at += 97 {
			for _, piece := range []string{string(f.Data[:at]), string(f.Data[at:])} {
				if !strings.HasPrefix(strings.ToValidUTF8(piece, "?"), piece) {
					continue
				}
				if _, err := source.OutlineOf(t.Context(), f.Name, piece); err != nil {
					t.Errorf("%s at %d: %v", f.Name, at, err)
				}
			}
		}
	}
}

func TestUnterminatedCommentsHaveAnOutline(t *testing.T) {
	for _, comment := range []string{"/*", "/*/", "/* ", "/**"} {
		file, err := source.Lex(t.Context(), "a.go", "package a\n\nconst Max = 10 "+comment)
		if err != nil {
			t.Fatal(err)
		}
		if got := file.Outline().Symbols; len(got) != 1 || got[0].Name != "Max" {
			t.Errorf("after %q: got symbols %+v, want Max", comment, got)
		}
	}
}

func TestBrokenFilesHaveAnOutline(t *testing.T) {
	files := fixtures(t)
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom(files).Draw(t, "file")
		src := string(f.Data)
		for range rapid.IntRange(1, 4).Draw(t, "wounds") {
			from := rapid.IntRange(0, len(src)).Draw(t, "from")
			to := rapid.IntRange(from, min(len(src), from+30)).Draw(t, "to")
			put := rapid.SampledFrom([]string{"", "{", "}", "(", ")", "<", ">", "\"", "'", "\n", "class ", "typedef ", "\r\n", "=> {", "/*"}).Draw(t, "put")
			src = strings.ToValidUTF8(src[:from]+put+src[to:], "?")
		}
		file, err := source.Lex(context.Background(), f.Name, src)
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		for _, s := range file.Outline().Symbols {
			if s.Line < 1 || s.EndLine < s.Line || s.EndLine > max(1, file.LineCount()) || s.Column < 1 {
				t.Fatalf("%s: %+v", f.Name, s)
			}
		}
	})
}

func TestLanguageIsFoundByFileName(t *testing.T) {
	for name, want := range map[string]string{
		"a.py": "Python", "a.PY": "Python", "web/a.d.ts": "TypeScript", "a.h": "C++", "Makefile": "Makefile", "Dockerfile": "Docker",
		"go.mod": "plain text", "a.sql": "SQL", "a.md": "Markdown", "a.unknown": "", "LICENSE": "", ".gitignore": "", "a.lock": "plain text",
		"Rakefile": "Ruby", "a.rs": "Rust", "x/y.kt": "Kotlin", "a.json": "JSON", "CMakeLists.txt": "CMake",
	} {
		if l, ok := source.LanguageOf(name); l.Name != want || ok != (want != "") {
			t.Errorf("%s: got %q", name, l.Name)
		}
	}
}
