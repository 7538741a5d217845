package prompt_test

import (
	"strings"
	"testing"

	"replan/planning/prompt"
)

func TestNamings(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want string
	}{
		"path":                     {"explain @internal/slug.go", "internal/slug.go"},
		"at the start":             {"@a.go and @b.go", "a.go|b.go"},
		"punctuation after a name": {"see @a.go, (@b.go) and @c.go.", "a.go|b.go|c.go"},
		"quoted name with blanks":  {`look at @"a note.txt".`, "a note.txt"},
		"open quote":               {`look at @"a note`, ""},
		"sign within a word":       {"mail me@home.org", ""},
		"escaped sign":             {`what is \@a.go`, ""},
		"lone sign":                {"@ home", ""},
		"name on its own line":     {"this:\n@a.go\nthere", "a.go"},
		"resource of a server":     {"@docs:doc://guide", "docs:doc://guide"},
		"other scripts":            {"@文書/é.txt", "文書/é.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, n := range prompt.Namings(c.text) {
				got = append(got, n.Name)
				if !strings.HasPrefix(c.text[n.Start:n.End], "@") || !strings.Contains(c.text[n.Start:n.End], n.Name) {
					t.Errorf("the name %q has the text %q", n.Name, c.text[n.Start:n.End])
				}
			}
			if strings.Join(got, "|") != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestNamesReadBackUnchanged(t *testing.T) {
	for _, name := range []string{"a.go", "a b.go", "dir/", "odd).go.", "docs:doc://x"} {
		if n := prompt.Namings("see " + prompt.NameOf(name) + " here"); len(n) != 1 || n[0].Name != name {
			t.Errorf("%q was written as %s and not read back", name, prompt.NameOf(name))
		}
	}
}

func TestUnmentionedDropsTheSign(t *testing.T) {
	mentions := []prompt.Mention{{Name: "a.go"}, {Name: "b c.go"}}
	if got := prompt.Unmentioned(`what is in @a.go, @"b c.go" and @Override`, mentions); got != `what is in a.go, "b c.go" and @Override` {
		t.Error(got)
	}
	if got := prompt.Unescaped(`\@a and b\@c`); got != `@a and b\@c` {
		t.Error(got)
	}
}

func TestMentionsAreDataAndShortenedBeforeGoal(t *testing.T) {
	long := strings.Repeat("word ", 10_000)
	b := prompt.Brief{Goal: "explain it", Prompting: prompt.Prompting{
		ContextWindow: 8192, SkipAnalysis: true, SkipPlan: true,
		Mentions: []prompt.Mention{{Name: "short.txt", Text: "short```"}, {Name: "long.txt", Text: long, Bytes: len(long)}},
	}}
	req := prompt.ChatRequest(b, false)
	var all strings.Builder
	for _, m := range req.Messages {
		all.WriteString(string(m.Role) + ": " + m.Content + "\n")
	}
	text := all.String()
	for _, want := range []string{"\nuser: Data: the file short.txt", "\n````\nshort```\n````\n", "the file long.txt", "characters left out", "\n\nexplain it\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the prompt lacks %q", want)
		}
	}
	if !strings.Contains(req.Shortened, "what you mention shortened by") || strings.Contains(req.Shortened, "too long all the same") {
		t.Error(req.Shortened)
	}
}
