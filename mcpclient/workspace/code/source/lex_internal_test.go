package source

import (
	"context"
	"strings"
	"testing"
	"time"
)

func TestSlowLexerFallsBackToPlainWords(t *testing.T) {
	src := "class A { void foo() {} } // foo is a word\n"
	tokens := 0
	f, err := lex(context.Background(), "A.java", src, func() bool {
		tokens++
		return tokens > 3
	})
	if err != nil || !f.Plain() {
		t.Fatalf("plain: %v, %v", f != nil && f.Plain(), err)
	}
	words := 0
	for i, l := range f.lexemes {
		if l.kind == word && f.at(i) == "foo" {
			words++
		}
	}
	if words != 2 { // in the comment too
		t.Errorf("got %d words foo, want 2", words)
	}
}

// A lexer without a limit would take minutes for this file.
func TestBlankFileStaysWithinTheTimeLimit(t *testing.T) {
	begun := time.Now()
	f, err := Lex(context.Background(), "Blank.java", strings.Repeat("\n", 120_000)+"class A {}\n")
	if err != nil {
		t.Fatal(err)
	}
	if !f.Plain() || f.Outline().Symbols == nil {
		t.Error("the file was not read as plain words")
	}
	if spent := time.Since(begun); spent > time.Minute { // the limit is a second; without one it takes an hour
		t.Errorf("took %s", spent)
	}
}

func TestReplacementStopsAtItsSizeLimit(t *testing.T) {
	p, err := NewPattern("a", strings.Repeat("b", 1000), false)
	if err != nil {
		t.Fatal(err)
	}
	edits, written := p.Edits(t.Context(), "a.txt", strings.Repeat("a\n", 5000), 4096)
	if written <= 4096 || len(edits) > 5 {
		t.Errorf("got %d edits of %d bytes", len(edits), written)
	}
}
