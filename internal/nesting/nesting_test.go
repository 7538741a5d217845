package nesting_test

import (
	"strings"
	"testing"

	"replan/internal/nesting"
)

func TestOnlyBracketsOfTheTextItselfNest(t *testing.T) {
	deep := strings.Repeat("[", nesting.Most)
	for name, c := range map[string]struct {
		text string
		fits bool
	}{
		"as deep as may be":       {deep, true},
		"one deeper":              {deep + "{", false},
		"closed again":            {strings.Repeat("[]", nesting.Most*2), true},
		"in a text":               {deep + `"[[\"[["`, true},
		"behind a text":           {deep + `"\\"[`, false},
		"in a comment":            {deep + "// [[[\n/* [[ */", true},
		"behind a comment":        {deep + "// x\n/* x */[", false},
		"a text that is not over": {deep + `"[[[\`, true},
		"a comment of one line":   {deep + "// [[[", true},
	} {
		if err := nesting.Check([]byte(c.text)); (err == nil) != c.fits {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
