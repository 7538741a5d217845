package planning_test

import (
	"strings"
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
			if strings.HasPrefix(tt.goal, "test_") { // it says whether the change is right
				want += "; 4 test.run{} ←3"
			}
			if got := drawn(p.Outcome().Plan); got != want {
				t.Errorf("got\n     %s\nwant %s", got, want)
			}
		})
	}
}

func TestPatchIsAimedAtWholeFunctions(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"with parameters on lines of their own": {"def f(\n    a,\n):\n    return 1\n\n\nx = 2\n", `"old":"def f(\n    a,\n):\n    return 1",`},
		"with a result after them":              {"func f(\n\ta int,\n) int {\n\treturn 1\n}\n", `"old":"func f(\n\ta int,\n) int {\n\treturn 1\n}",`},
		"with line ends of Windows":             {"def f():\r\n    return 1\r\n\r\nx = 2\r\n", `"old":"def f():\r\n    return 1",`},
		"with a comment at the left margin":     {"def f():\n    a = 1\n# why\n    return a\n\n\n# what x is\nx = 2\n", `"old":"def f():\n    a = 1\n# why\n    return a",`},
		"none with a string of several lines":   {"def f():\n    s = \"\"\"\nx\n\"\"\"\n    return s\n", ""},
		"none with a label":                     {"func f() {\n\tg()\nagain:\n\tgoto again\n}\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := workplace(t, "Fix f", true)
			b.Prompting.Sketch.Files, b.Prompting.Sketch.Named = []string{"a.py"}, []string{"f: function, a.py:1"}
			source, text := reading("1", "a.py")
			text.Result, b.Looks = tt.text, []plan.Step{source}
			p := planning.NewPipeline(b)
			p.(planning.Looker).Looked([]plan.HistoryItem{text})
			p.Absorb(stepsOf(`2 fs.patch {"path":"a.py"}`))
			want := `1 fs.read{"path":"a.py"}; 2 fs.patch{` + tt.want + `"path":"a.py"} ←1`
			if got := drawn(p.Outcome().Plan); got != want {
				t.Errorf("got\n     %s\nwant %s", got, want)
			}
		})
	}
}
