package slash

import (
	"slices"
	"strings"
	"testing"
)

func TestSplitQuotesLikeAShell(t *testing.T) {
	for name, c := range map[string]struct {
		line string
		want []string
	}{
		"any number of blanks":        {"/plan  run\tlook ", []string{"/plan", "run", "look"}},
		"blanks in double quotes":     {`/plan check "my plan.json"`, []string{"/plan", "check", "my plan.json"}},
		"single quotes":               {`/plan check 'a "b" \c'`, []string{"/plan", "check", `a "b" \c`}},
		"quotes after an equals sign": {`--var name="a b" x`, []string{"--var", "name=a b", "x"}},
		"apostrophe":                  {"/plan create don't stop", []string{"/plan", "create", "don't", "stop"}},
		"escaped double quote":        {`"say \"no\" \\ \n"`, []string{`say "no" \ \n`}},
		"empty quotes":                {`a "" b`, []string{"a", "", "b"}},
		"JSON in single quotes":       {`--var 'x={"a": 1}'`, []string{"--var", `x={"a": 1}`}},
		"blank line":                  {"  ", []string{""}},
		"lone slash":                  {"/", []string{"/"}},
		"text right after a quote":    {`"a b"c`, []string{"a bc"}},
		"non-ASCII letters":           {"größe „x“", []string{"größe", "„x“"}},
		"backslash outside quotes":    {`a\b`, []string{`a\b`}},
		"other quote inside quotes":   {`"it's"`, []string{"it's"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Split(c.line)
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
	for _, line := range []string{`a "b`, `'`, `x='y`} {
		if got, err := Split(line); err == nil || !strings.Contains(err.Error(), "unclosed") {
			t.Errorf("%s: got %q, %v; want an unclosed quote", line, got, err)
		}
	}
}

func TestCodeBlockFenceFitsText(t *testing.T) {
	for text, want := range map[string]string{
		"a\nb\n":        "```\na\nb\n```",
		"```go\nx\n```": "````\n```go\nx\n```\n````",
		" \n":           "",
	} {
		if got := CodeBlock(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
