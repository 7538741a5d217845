package lazyregexp

import "testing"

func TestExpressionIsCompiledOnFirstUse(t *testing.T) {
	inTest = false
	defer func() { inTest = true }()
	invalid := New(`(`)
	if got := invalid.String(); got != `(` {
		t.Errorf("String() = %q", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("got no panic")
		}
	}()
	invalid.MatchString("x")
}

func TestInvalidPatternPanicsAtOnceInTests(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("got no panic")
		}
	}()
	New(`(`)
}

func TestExpressionMatches(t *testing.T) {
	word := New(`(\w)\w*`)
	if got := word.ReplaceAllString("two words", "$1"); got != "t w" {
		t.Errorf("ReplaceAllString() = %q", got)
	}
	if got := word.FindAllString("two words", -1); len(got) != 2 {
		t.Errorf("FindAllString() = %q", got)
	}
}
