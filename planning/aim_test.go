package planning_test

import (
	"testing"

	"replan/planning"
	"replan/planning/plan"
)

func TestPatchIsAimedAtTheFunctionThatIsMeant(t *testing.T) {
	const book = "class Book:\n    def find(self, word):\n        \"\"\"Finds it.\"\"\"\n        return word in self.notes\n\n\ndef tags(text):\n    return text.split()\n\n\ndef size(text):\n    return 1\n"
	const tests = "from book import Book\n\n\ndef test_find_in_any_case():\n    assert Book().find(tags(\"a\"))\n\n\ndef test_both():\n    assert size(tags(\"\"))\n\n\ndef test_empty():\n    assert tags(\"\")\n"
	const find = `"old":"def find(self, word):\n    \"\"\"Finds it.\"\"\"\n    return word in self.notes",`
	const tagged = `"old":"def tags(text):\n    return text.split()",`
	for name, tt := range map[string]struct{ goal, declared, want string }{
		"the one that the goal names":                {"Fix the function tags", "tags: function, notes/book.py:7", tagged},
		"a method, without its indentation":          {"Fix find", "find: function, notes/book.py:2", find},
		"the one that a test calls and is named for": {"test_find_in_any_case fails. Fix the code.", "test_find_in_any_case: function, tests/test_book.py:4", find},
		"the only one that a test calls":             {"test_empty fails. Fix the code.", "test_empty: function, tests/test_book.py:12", tagged},
		"none if a test calls two":                   {"test_both fails. Fix the code.", "test_both: function, tests/test_book.py:8", ""},
		"none if a class is meant":                   {"Fix the class Book", "Book: class, notes/book.py:1", ""},
		"none if nothing is named":                   {"Fix the code", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := workplace(t, tt.goal, true)
			b.Prompting.Sketch.Files = []string{"notes/book.py", "tests/test_book.py"}
			if tt.declared != "" {
				b.Prompting.Sketch.Named = []string{tt.declared}
			}
			source, text := reading("1", "notes/book.py")
			test, calls := reading("2", "tests/test_book.py")
			text.Result, calls.Result = book, tests
			b.Looks = []plan.Step{source, test}
			p := planning.NewPipeline(b)
			p.(planning.Looker).Looked([]plan.HistoryItem{text, calls})
			p.Absorb(stepsOf(`3 fs.patch {"path":"notes/book.py"}`))
			want := `1 fs.read{"path":"notes/book.py"}; 2 fs.read{"path":"tests/test_book.py"}; 3 fs.patch{` + tt.want + `"path":"notes/book.py"} ←1,2`
			if got := drawn(p.Outcome().Plan); got != want {
				t.Errorf("got\n     %s\nwant %s", got, want)
			}
		})
	}
}
