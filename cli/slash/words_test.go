package slash

import (
	"slices"
	"strings"
	"testing"
)

func TestSplitQuotesAsAShell(t *testing.T) {
	for name, c := range map[string]struct {
		line string
		want []string
	}{
		"blanks part words, however many":        {"/plan  run\tlook ", []string{"/plan", "run", "look"}},
		"double quotes keep blanks":              {`/plan check "my plan.json"`, []string{"/plan", "check", "my plan.json"}},
		"single quotes keep all":                 {`/plan check 'a "b" \c'`, []string{"/plan", "check", `a "b" \c`}},
		"quotes may open after an equals sign":   {`--var name="a b" x`, []string{"--var", "name=a b", "x"}},
		"an apostrophe is one":                   {"/plan create don't stop", []string{"/plan", "create", "don't", "stop"}},
		"a backslash keeps a double quote":       {`"say \"no\" \\ \n"`, []string{`say "no" \ \n`}},
		"empty quotes are a word":                {`a "" b`, []string{"a", "", "b"}},
		"JSON in single quotes stays whole":      {`--var 'x={"a": 1}'`, []string{"--var", `x={"a": 1}`}},
		"nothing is one empty word":              {"  ", []string{""}},
		"a slash alone is a word of its own":     {"/", []string{"/"}},
		"what follows a quote joins it":          {`"a b"c`, []string{"a bc"}},
		"letters beyond ASCII are like others":   {"größe „x“", []string{"größe", "„x“"}},
		"a backslash outside quotes stays":       {`a\b`, []string{`a\b`}},
		"a quote of the other kind stays within": {`"it's"`, []string{"it's"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Split(c.line)
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
	for _, line := range []string{`a "b`, `'`, `x='y`} {
		if got, err := Split(line); err == nil || !strings.Contains(err.Error(), "not closed") {
			t.Errorf("%s gave %q, %v", line, got, err)
		}
	}
}

func TestCodeBlockHoldsAnyText(t *testing.T) {
	for text, want := range map[string]string{
		"a\nb\n":        "```\na\nb\n```",
		"```go\nx\n```": "````\n```go\nx\n```\n````",
		" \n":           "",
	} {
		if got := CodeBlock(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
