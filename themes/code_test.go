package themes

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

const goSource = "package main\n\n// add adds.\nfunc add(a, b int) int {\n\treturn a + b // \"sum\"\n}\n"

func TestCodeKeepsLinesOfSource(t *testing.T) {
	for _, c := range []struct{ name, source, language string }{
		{"language name", goSource, "go"},
		{"file name", goSource, "cmd/add.GO"},
		{"no final newline", "x = 1", "python"},
		{"empty", "", "go"},
		{"unknown language", "a\nb", "klingon"},
		{"carriage return", "a := 1\r\nb := 2\r\n", "go"},
		{"diff", "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n", "diff"},
		{"longer than the limit", strings.Repeat("a := \"é\"\n", 20_000), "go"},
		{"long line", strings.Repeat("[1,", 40_000), "json"},
		{"long line among others", "x := 1\n" + strings.Repeat("y", 100_000) + "\nz := 2", "go"},
	} {
		t.Run(c.name, func(t *testing.T) { checkCode(t, c.source, c.language) })
	}
}

type fataler interface{ Fatalf(string, ...any) }

// checkCode compares the code and its highlighted form with the source.
func checkCode(t fataler, source, language string) {
	want := strings.Split(source, "\n")
	lines := Code(source, language)
	theme := new(Set).New(Dark, true, Mode{})
	drawn := theme.Highlight(source, language)
	if len(lines) != len(want) || len(drawn) != len(want) {
		t.Fatalf("got %d and %d lines, want %d", len(lines), len(drawn), len(want))
	}
	for i, line := range lines {
		var text strings.Builder
		for _, span := range line {
			text.WriteString(span.Text)
		}
		if text.String() != want[i] {
			t.Fatalf("line %d: got %q, want %q", i, text.String(), want[i])
		}
		if strings.Contains(drawn[i], "\x1b") && strings.LastIndex(drawn[i], "\x1b[m") != strings.LastIndex(drawn[i], "\x1b[") {
			t.Fatalf("line %d leaves a style open: %q", i, drawn[i])
		}
		if got := ansi.StringWidth(drawn[i]); got != ansi.StringWidth(want[i]) {
			t.Fatalf("line %d: got width %d: %q", i, got, drawn[i])
		}
	}
}

func TestCodeKeepsAnySource(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom([]string{
			"func ", "x", " = ", "\"", "'", "`", "/*", "*/", "//", "#", "<a href=", ">", "{", "}", "\n", "\t", "é", "世界", "👩‍👩‍👧", "---\n", "+ y\n", "\\", "$(", "0x1F", "\r\n",
		}), 0, 60).Draw(r, "pieces")
		language := rapid.SampledFrom([]string{"go", "python", "html", "yaml", "json", "sh", "diff", "markdown", "rust", "sql", "Dockerfile", "Makefile", "a.tsx", "x.toml", "c++", ""}).Draw(r, "language")
		checkCode(r, strings.Join(pieces, ""), language)
	})
}

func TestCodeKinds(t *testing.T) {
	kinds := map[string]CodeKind{}
	for _, line := range Code(goSource, "main.go") {
		for _, span := range line {
			kinds[strings.TrimSpace(span.Text)] = span.Kind
		}
	}
	for text, want := range map[string]CodeKind{
		"package": CodeKeyword, "func": CodeKeyword, "add": CodeFunction, "int": CodeType,
		"// add adds.": CodeComment, "return": CodeKeyword,
	} {
		if got, ok := kinds[text]; !ok || got != want {
			t.Errorf("%q: got kind %d, want %d", text, got, want)
		}
	}
}

func BenchmarkCode(b *testing.B) {
	source := strings.Repeat(goSource, 150)
	b.SetBytes(int64(len(source)))
	for b.Loop() {
		Code(source, "x.go")
	}
}

// The lexer alone would take minutes for this source.
func TestSlowLexerIsCutOff(t *testing.T) {
	source := strings.Repeat("\n", 16<<10-1)
	begun := time.Now()
	if lines := Code(source, "java"); len(lines) != 16<<10 {
		t.Errorf("got %d lines, want %d", len(lines), 16<<10)
	}
	if spent := time.Since(begun); spent > 20*time.Second { // the budget is 300 ms
		t.Errorf("took %s", spent)
	}
}
