package intent_test

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"replan/planning/intent"
)

// pieces make lines that may declare the names of goals.
var pieces = []string{
	"func", "fn", "def", "function", "class", "struct", "let", "var", "type", "FUNC", "mut", "func(", "(", ")", "(a b)", " ", "  ", "\t", "\r", "\f", "\v", "\n", "_", "$", ".", "é",
	"makeSlug", "MakeSlug", "makeslug", "TestMakeSlug", "test_makeSlug_x", "Test", "parse_all", "größe_x", "\u212A", "ma\u212AeSlug", "te\u017Ft", "func TestMakeSlug(", "func ma\u212AeSlug()", "def te\u017FtMakeSlug():", "let mut parse_all", "x", "1", "\xff",
}

// TestFilesWhoseNamesAreNotWantedHoldNoLines compares the names of random texts with their
// lines, for goals that name functions, tests, words with letters outside of ASCII, and nothing.
func TestFilesWhoseNamesAreNotWantedHoldNoLines(t *testing.T) {
	t.Parallel()
	goals := []string{"Who calls makeSlug and parse_all?", "why does makeSlug fail", "where is parse_all", "explain größe_x()", "why does Größe fail", "what is the class x for", "hello"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 30).Draw(t, "text"), rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))
		names, ok := intent.DeclaredNames([]byte(text))
		for _, goal := range goals {
			s := intent.NewSurvey(goal)
			if s.Lines() == "" || !ok || s.Wants(names) {
				continue
			}
			find := regexp.MustCompile("(?i:" + s.Lines() + ")")
			for line := range strings.Lines(text) {
				if find.MatchString(strings.TrimRight(line, "\r\n")) {
					t.Errorf("%q declares %q, which %q does not want; but it has the line %q", text, names, goal, line)
				}
			}
		}
	})
}

func TestDeclaredNamesAreThoseBesideAKind(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"func (r *Run) Apply(e Event) {\n\ttype Local struct{}\n}": "\napply\nlocal\n",
		"let mut total = 1; const MOST: u8 = total;":               "\nmut\ntotal\nmost\n",
		"def a():\n    class  B(x): pass\n":                        "\na\nb\n",
		"function\nname() // functional type-safe":                 "",
		"func (func (func ( ) Deep() (":                            "\ndeep\n",
		"":                                                         "",
	} {
		if names, ok := intent.DeclaredNames([]byte(text)); names != want || !ok {
			t.Errorf("%q declares %q, %v; want %q", text, names, ok, want)
		}
	}
}

func TestNamesOfALongLineAreReadInLinearTime(t *testing.T) {
	t.Parallel()
	for _, text := range []string{strings.Repeat("func (", 1<<19), strings.Repeat("func (", 1<<19) + strings.Repeat(" ", 1<<20) + ")" + strings.Repeat(" ", 1<<20) + strings.Repeat("x", 1<<20)} {
		if names, ok := intent.DeclaredNames([]byte(text)); !ok || strings.Count(names, "\n") > 2 {
			t.Errorf("got %d bytes of names, %v", len(names), ok)
		}
	}
}
