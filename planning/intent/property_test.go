package intent_test

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"replan/planning/intent"
)

// vocabulary generates texts similar to known ones.
var vocabulary = strings.Fields(`find where is used rename to -> from X AuthHandler "a the fix bug in tests test for commit with message
	: :: , and then don't why does fail what's it 'a b' "quoted words" ” run go ./... main.go foo() explain create new branch
	push log . ... git grep -r rg ls cat npm cargo pytest make build list functions tests cover since yesterday line 12 please thanks because in order → ‘x’ ' "" extract into function called you`)

func phrase(t *rapid.T) string {
	if rapid.Bool().Draw(t, "wild") {
		return rapid.String().Draw(t, "words")
	}
	words := rapid.SliceOfN(rapid.SampledFrom(vocabulary), 0, 14).Draw(t, "words")
	return strings.Join(words, rapid.SampledFrom([]string{" ", "  ", "\t"}).Draw(t, "blank"))
}

// derived names the parameters whose values are not words of the request.
var derived = map[string]bool{"create": true, "of": true, "exact": true, "commit": true, "kinds": true, "runs": true, "how": true, "typed": true, "case": true, "deep": true, "raised": true, "trace": true, "whole": true, "expression": true}

func TestAnyWordsHaveAnIntent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := phrase(t)
		in := intent.Parse(words)
		if in.Confidence < 0 || in.Confidence > 1 {
			t.Fatalf("%q: got confidence %v", words, in.Confidence)
		}
		if (in.Category == "unknown") != (in.Confidence < 0.5) || (in.Category == "unknown") != (in.Action == "none") {
			t.Fatalf("%q: %s %s at %v", words, in.Category, in.Action, in.Confidence)
		}
		if in.Params == nil {
			t.Fatalf("%q: no parameters", words)
		}
		if !strings.Contains(words, in.Target) {
			t.Fatalf("%q: the target %q is not in it", words, in.Target)
		}
		for name, value := range in.Params {
			if value == "" && name != "with" || !derived[name] && !strings.Contains(words, value) {
				t.Fatalf("%q: %s is %q", words, name, value)
			}
		}
		if again := intent.Parse(words); !reflect.DeepEqual(in, again) {
			t.Fatalf("%q: first %+v, then %+v", words, in, again)
		}
		if spaced := intent.Parse(" \n" + words + "\t "); !reflect.DeepEqual(in, spaced) {
			t.Fatalf("%q: %+v, with blanks around it %+v", words, in, spaced)
		}
	})
}

// patterns are requests with placeholders for one or two names.
var patterns = []string{
	"find ~", "please find the ~ function", "where is ~ used", "who calls ~?", "what is ~", "explain ~", "where is ~ defined",
	"list the symbols in ~", "rename ~ to ~", "rename the function ~ into ~", "fix the bug in ~", "why does ~ fail", "debug ~",
	"add tests for ~", "write unit tests for ~", "create ~", "could you test ~", "lint ~", "refactor ~", "extract ~ from ~",
	"edit ~", "create a branch called ~", "git diff ~", "find ~ in the file ~", "show me the callers of ~",
}

func TestCaseMattersOnlyInNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.SampledFrom(patterns).Draw(t, "pattern")
		name := rapid.StringMatching(`[A-Z][a-z]{2,6}[A-Z][a-z]{2,6}`)
		first, second := name.Draw(t, "first"), name.Draw(t, "second")
		fill := func(pattern string) string {
			return strings.Replace(strings.Replace(pattern, "~", first, 1), "~", second, 1)
		}
		shouted := []byte(pattern)
		for i, c := range shouted {
			if rapid.Bool().Draw(t, "shout") {
				shouted[i] = []byte(strings.ToUpper(string(c)))[0]
			}
		}
		quiet, loud := intent.Parse(fill(pattern)), intent.Parse(fill(string(shouted)))
		if !reflect.DeepEqual(quiet, loud) {
			t.Fatalf("%q is %+v, but %q is %+v", fill(pattern), quiet, fill(string(shouted)), loud)
		}
		if quiet.Target != first || quiet.Confidence < 0.75 {
			t.Fatalf("%q: %+v", fill(pattern), quiet)
		}
		if strings.Count(pattern, "~") == 2 && !hasValue(quiet.Params, second) {
			t.Fatalf("%q: %q is lost in %+v", fill(pattern), second, quiet)
		}
	})
}

func hasValue(params map[string]string, value string) bool {
	for _, v := range params {
		if v == value {
			return true
		}
	}
	return false
}

func TestQuotedTargetsLoseQuotesAndStayWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-zA-Z][a-z ,.]{0,10}[a-z]`).Draw(t, "name")
		quotes := rapid.SampledFrom([]string{`""`, "''", "``", "“”", "«»"}).Draw(t, "quotes")
		open, closed := []rune(quotes)[0], []rune(quotes)[1]
		in := intent.Parse("rename " + string(open) + name + string(closed) + " to `b`.")
		if in.Target != name || in.Params["new_name"] != "b" || in.Confidence != 0.9 {
			t.Fatalf("%q: %+v", name, in)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("rename X to Y")
	f.Add(strings.Repeat("'a ", 2000))
	f.Add(strings.Repeat("why to in ", 21))
	f.Fuzz(func(t *testing.T, words string) {
		if in := intent.Parse(words); !strings.Contains(words, in.Target) {
			t.Fatalf("%q: the target %q is not in it", words, in.Target)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	for name, words := range map[string]string{
		"short": "please rename the authenticate function to verify_user",
		"worst": strings.Repeat("extract out of from to into ", 10),
		"huge":  strings.Repeat("'a ", 1<<19),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				intent.Parse(words)
			}
		})
	}
}
