package files_test

import (
	"strings"
	"testing"

	"replan/mcpclient/workspace"
)

const notesPy = `class Book:
    """All notes."""

    # Reads the file.
    @classmethod
    def load(cls):
        return cls(read())

    def find(self, word):
        """Returns the notes that hold word."""
        return [n for n in self.notes if word in n["text"]]


class Shelf:
    def size(self):
        return len(self.books)


class Box:
    def size(self):
        return 1


def tags(text):
    return text.split()
`

func TestWholeNewDeclarationReplacesTheOnlyOneOfItsName(t *testing.T) {
	t.Parallel()
	const fixed = "    def find(self, word):\n        \"\"\"Returns the notes that hold word.\"\"\"\n        return [n for n in self.notes if word.lower() in n[\"text\"].lower()]\n"
	const oldFind = "    def find(self, word):\n        \"\"\"Returns the notes that hold word.\"\"\"\n        return [n for n in self.notes if word in n[\"text\"]]\n"
	for name, c := range map[string]struct{ path, before, old, new, after, note string }{
		"old is of another file": {
			"a.py", notesPy, "assert len(b.find(\"milk\")) == 1", fixed, strings.Replace(notesPy, oldFind, fixed, 1), "which new declares, lines 9 to 11",
		},
		"old declares what the file does not": {
			"a.py", notesPy, "def test_find():\n    assert find()", fixed, strings.Replace(notesPy, oldFind, fixed, 1), "the whole of Book.find",
		},
		"without indentation": {
			"a.py", notesPy, "assert find()", "def find(self, word):\n    return [n for n in self.notes if word.lower() in n[\"text\"].lower()]",
			strings.Replace(notesPy, oldFind, "    def find(self, word):\n        return [n for n in self.notes if word.lower() in n[\"text\"].lower()]\n", 1), "the whole of Book.find",
		},
		"old is the whole without indentation, and new has lost its line breaks": {
			"a.py", notesPy, strings.ReplaceAll("\n"+oldFind, "\n    ", "\n")[1:], "def find(self, word):    return [n for n in self.notes if word.lower() in n[\"text\"].lower()]",
			strings.Replace(notesPy, oldFind, "    def find(self, word):\n        return [n for n in self.notes if word.lower() in n[\"text\"].lower()]\n", 1), "ignoring white space",
		},
		"old is a line of its body": {
			"a.py", notesPy, "return [n for n in self.notes if word in n[\"text\"]]", fixed, strings.Replace(notesPy, oldFind, fixed, 1), "only a part of Book.find",
		},
		"old is in its body and elsewhere": {
			"a.py", notesPy, "return", fixed, strings.Replace(notesPy, oldFind, fixed, 1), "only a part of Book.find",
		},
		"decorators and comments stay": {
			"a.py", notesPy, "nothing of it", "def load(cls):\n    return cls(read(path()))", strings.Replace(notesPy, "cls(read())", "cls(read(path()))", 1), "the whole of Book.load",
		},
		"a new comment takes the place of the old, and decorators stay": {
			"a.py", notesPy, "nothing of it", "# Reads the path.\ndef load(cls):\n    return cls(read(path()))",
			strings.NewReplacer("Reads the file", "Reads the path", "cls(read())", "cls(read(path()))").Replace(notesPy), "the whole of Book.load",
		},
		"a function of Go, whose comment stays": {
			"slug.go", slugGo, "assertEqual(Reverse(\"ab\"), \"ba\")", "func Reverse(s string) string {\n\treturn turned(s)\n}",
			strings.Replace(slugGo, "return s\n", "return turned(s)\n", 1), "the whole of Reverse, which new declares",
		},
		"a type with all its members and one more": {
			"a.go", "package a\n\ntype A struct {\n\tX int\n}\n", "nothing of it", "type A struct {\n\tX int\n\tY int\n}", "package a\n\ntype A struct {\n\tX int\n\tY int\n}\n", "the whole of A",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, workspace.Config{})
			b.Write(t, map[string]string{c.path: c.before})
			a := args{"path": c.path, "old": c.old, "new": c.new}
			if diff, _ := b.Ask(t, "fs.patch", a, preview).Data["diff"].(string); !strings.HasPrefix(diff, "old ") || !strings.Contains(diff, c.note) {
				t.Errorf("the preview does not say %q: %s", c.note, diff)
			}
			b.Must(t, "fs.patch", a)
			b.Same(t, map[string]string{c.path: c.after})
		})
	}
}

func TestNewDeclarationIsNotGuessedWhereItsPlaceIsNotClear(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ path, before, old, new string }{
		"two of its name":               {"a.py", notesPy, "nothing of it", "def size(self):\n    return 2"},
		"none of its name":              {"a.py", notesPy, "nothing of it", "def count(self):\n    return 2"},
		"two declarations":              {"a.py", notesPy, "nothing of it", "def tags(text):\n    return text\n\n\ndef words(text):\n    return text"},
		"more than the declaration":     {"a.py", notesPy, "nothing of it", "import re\n\ndef tags(text):\n    return re.split(text)"},
		"another kind":                  {"a.py", notesPy, "nothing of it", "class tags:\n    size = 1"},
		"a function for a method":       {"a.py", notesPy, "nothing of it", "def find(word):\n    return word"},
		"a function of Go for a method": {"a.go", "package a\n\nfunc (o A) Sum() int {\n\treturn 1\n}\n", "nothing of it", "func Sum() int {\n\treturn 2\n}"},
		"a method of another type":      {"a.go", "package a\n\nfunc (o A) Sum() int {\n\treturn 1\n}\n", "nothing of it", "func (b B) Sum() int {\n\treturn 2\n}"},
		"a docstring alone":             {"a.py", notesPy, "nothing of it", "def find(self, word):\n    \"\"\"Finds notes.\"\"\""},
		"an empty body":                 {"slug.go", slugGo, "nothing of it", "func Reverse(s string) string {\n\t// later\n}"},
		"much less than it was":         {"slug.go", slugGo, "nothing of it", "func legacyName(s string) string {\n\treturn s\n}"},
		"a type without a member":       {"a.py", notesPy, "nothing of it", "class Book:\n    def find(self, word):\n        return word"},
		"old declares another of it":    {"a.py", notesPy, "def tags(text, sep):\n    return text.split(sep)", "def find(self, word):\n    return word.split()"},
		"the file has changed":          {"a.py", notesPy, "def tags(text, sep):\n    return launch(rocket)", "def tags(text, sep):\n    return text.split(sep)"},
		"no code":                       {"a.md", "# Sum\n\ntext\n", "nothing of it", "func Sum() int {\n\treturn 2\n}"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, workspace.Config{})
			b.Write(t, map[string]string{c.path: c.before})
			b.Refused(t, "fs.patch", args{"path": c.path, "old": c.old, "new": c.new}, "old does not occur in "+c.path)
			b.Same(t, map[string]string{c.path: c.before})
		})
	}
}

func TestExactMatchOutsideTheNewDeclarationIsTakenAsItIs(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"a.py": "class A:\n    def find(self):\n        return 1\n\n\nclass B:\n    pass\n"})
	b.Must(t, "fs.patch", args{"path": "a.py", "old": "    pass", "new": "    def find(self):\n        return 2"})
	b.Same(t, map[string]string{"a.py": "class A:\n    def find(self):\n        return 1\n\n\nclass B:\n    def find(self):\n        return 2\n"})
}

func TestBlanksBeforeACommentAreNoLostLineBreaks(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"a.py": "x = 1\ny = 2\n"})
	b.Must(t, "fs.patch", args{"path": "a.py", "old": "x = 1\ny = 2", "new": "x = 1    # metres    north"})
	b.Same(t, map[string]string{"a.py": "x = 1    # metres    north\n"})
}
