package source

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// ticking returns a meter whose lexer may work for some tokens, on a machine that
// holds up the tokens that held reports.
func ticking(tokens int, held func(token int) bool) meter {
	clock, work := time.Unix(0, 0), 0
	return meter{
		most:  time.Duration(tokens),
		spent: func() time.Duration { work++; return time.Duration(work) },
		now: func() time.Time {
			if held(work) {
				clock = clock.Add(time.Hour)
			}
			return clock
		},
	}
}

func TestLexerThatDoesTooMuchFallsBackToPlainWords(t *testing.T) {
	src := "class A { void foo() {} } // foo is a word\n"
	for name, held := range map[string]func(int) bool{
		"a free machine":                func(int) bool { return false },
		"a machine that holds up every": func(int) bool { return true },
	} {
		f, err := lex(t.Context(), "A.java", src, ticking(3, held))
		if err != nil || !f.Plain() {
			t.Fatalf("%s: plain: %v, %v", name, f != nil && f.Plain(), err)
		}
		words := 0
		for i, l := range f.lexemes {
			if l.kind == word && f.at(i) == "foo" {
				words++
			}
		}
		if words != 2 { // in the comment too
			t.Errorf("%s: got %d words foo, want 2", name, words)
		}
	}
}

func TestMachineThatHoldsALexerUpChangesNothing(t *testing.T) {
	src := "class Signer:\n    def sign(self, s): # Signer\n        return 'Signer'\n"
	want, err := Lex(t.Context(), "signer.py", src)
	if err != nil {
		t.Fatal(err)
	}
	for last := range 40 {
		got, err := lex(t.Context(), "signer.py", src, ticking(10_000, func(token int) bool { return token <= last }))
		if err != nil || got.Plain() || !reflect.DeepEqual(got.lexemes, want.lexemes) {
			t.Fatalf("held up until token %d: plain %v, %v, %v", last, got.Plain(), got.lexemes, err)
		}
	}
}

func TestOwnLexersReadLikeThoseOfChroma(t *testing.T) {
	src := "class A { /* c */ 'x' \"y\\n\" } # z\n<?php $a = <<<X\nq\nX;\n<b>{{ a }}</b>\n"
	for _, l := range lexers.GlobalLexerRegistry.Lexers {
		if grammarOf(l.Config().Name) == nil {
			continue // to compile all takes seconds
		}
		read := func(l chroma.Lexer) []chroma.Token {
			next, err := l.Tokenise(nil, src)
			if err != nil {
				t.Fatal(err)
			}
			var tokens []chroma.Token
			for len(tokens) < 1000 { // some never end
				tokens = append(tokens, next())
			}
			return tokens
		}
		own := tokenizers().Get(l.Config().Name)
		if got, want := read(own), read(l); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", l.Config().Name, got, want)
		}
	}
}

// Without a limit the lexer would take minutes for this file.
func TestBlankFileStaysWithinTheLimitOfWork(t *testing.T) {
	f, err := lex(t.Context(), "blank.cpp", strings.Repeat("\n", 120_000)+"class A {};\n", meter{spent: processorTime, now: time.Now, most: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if !f.Plain() || f.Outline().Symbols == nil {
		t.Error("the file was not read as plain words")
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
