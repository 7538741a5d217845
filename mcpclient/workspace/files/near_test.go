package files_test

import (
	"strings"
	"testing"

	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/workspacetest"
)

const slugGo = `// Package slug makes slugs.
package slug

// Make returns the slug of a title.
func Make(title string) string {
	return clean(title)
}

// legacyName is how slugs were made once.
func legacyName(s string) string {
	if s == "" {
		return "x"
	}
	return s + "-old"
}

// Reverse turns a text around.
func Reverse(s string) string {
	return s
}
`

const slugWithoutLegacy = `// Package slug makes slugs.
package slug

// Make returns the slug of a title.
func Make(title string) string {
	return clean(title)
}

// Reverse turns a text around.
func Reverse(s string) string {
	return s
}
`

const bookPy = `import json


class Book:
    """Notes."""

    def find(self, word):
        for note in self.notes:
            if word in note:
                return note

    @property
    def size(self):
        return len(self.notes)


def load(path):
    return json.load(open(path))
`

func TestNearMissIsMatchedToTheOnlyNearPlace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path, before, old, new string
		after, note            string
	}{
		"a wrong capital": {
			"README.md", "# Shop\n\nRequests time out after 30 seconds.\n", "requests time out after 30 seconds", "Requests time out after 60 seconds",
			"# Shop\n\nRequests time out after 60 seconds.\n", "ignoring case, to line 3: Requests time out after 30 seconds.",
		},
		"other indentation, which the file keeps": {
			"a.go", "package a\n\nfunc f() {\n\tif x {\n\t\treturn\n\t}\n}\n", "    if x {\n        return\n    }", "    if x {\n        if y {\n            z()\n        }\n        return\n    }",
			"package a\n\nfunc f() {\n\tif x {\n\t\tif y {\n\t\t\tz()\n\t\t}\n\t\treturn\n\t}\n}\n", "ignoring white space, to line 4",
		},
		"no indentation at all": {
			"a.py", bookPy, "for note in self.notes:\n    if word in note:\n        return note", "for note in self.notes:\n    if word.lower() in note.lower():\n        return note",
			strings.Replace(bookPy, "if word in note:", "if word.lower() in note.lower():", 1), "ignoring white space",
		},
		"blank lines left out": {
			"f", "a b\n\n\nc d\nend\n", "a b\nc d\n", "e\n", "e\nend\n", "ignoring white space, to line 1: a b",
		},
		"blanks around signs": {
			"f", "limit=30 # s\n", "limit = 30", "limit = 60", "limit=60 # s\n", "ignoring white space",
		},
		"blanks of a JSON value": {
			"a.json", "{\n  \"port\": 8080,\n  \"host\": \"a\"\n}\n", `"port":8080`, `"port":9090`, "{\n  \"port\": 9090,\n  \"host\": \"a\"\n}\n", "ignoring white space",
		},
		"a blank in a word": {
			"README.md", "# Shop\n\nRequests time out after 30 seconds.\n", "requests timeout after 30 seconds", "requests timeout after 60 seconds",
			"# Shop\n\nRequests time out after 60 seconds.\n", "ignoring case and blanks",
		},
		"a blank left out of a word that changes": {
			"f", "The timeout is short\n", "the time out is short", "the time in is short", "The time in is short\n", "ignoring case and blanks",
		},
		"a sign in place of a blank": {
			"f", "see Foo Bar now\n", "see  foo bar", "see foo, bar", "see Foo, Bar now\n", "ignoring case and white space",
		},
		"lines that change in the middle get the indentation of the file": {
			"a.py", "def f():\n        one()\n        two()\n", "def f():\n  one()\n  two()", "def f():\n  three()\n  four()",
			"def f():\n        three()\n        four()\n", "ignoring white space",
		},
		"case and white space": {
			"f", "The  Default\nport\n", "the default port", "the port", "the port\n", "ignoring case and white space",
		},
		"lines with CR LF": {
			"f", "one\r\n\ttwo\r\nthree\r\n", "one\n  two", "1\n  2", "1\r\n\t2\r\nthree\r\n", "ignoring white space",
		},
		"removed lines go whole": {
			"f", "a\n\tbig  word\nc\n", "big word", "", "a\nc\n", "ignoring white space",
		},
		"the first word is missing, and only new has it": {
			"README.md", "The timeout is 30 seconds.\n", "timeout is 30", "The timeout is 60", "The timeout is 60 seconds.\n", `with "The " before it`,
		},
		"func is missing, and new has it": {
			"slug.go", slugGo, "Reverse(s string) string {\n\treturn s\n}", "func Reverse(s string) string {\n\treturn s + s\n}",
			strings.Replace(slugGo, "\treturn s\n", "\treturn s + s\n", 1), `with "func " before it`,
		},
		"a function without func is removed whole": {
			"slug.go", slugGo, "legacyName(s string) string {\n\tif s == \"\" {\n\t\treturn \"x\"\n\t}\n\treturn s + \"-old\"\n}", "",
			slugWithoutLegacy, "the whole of it, lines 10 to 15",
		},
		"the first line of a function that is to go": {
			"slug.go", slugGo, "func legacyName(s string) string {", "", slugWithoutLegacy, "only a part of legacyName",
		},
		"a part of its first line": {
			"slug.go", slugGo, "legacyName(s string)", "", slugWithoutLegacy, "only a part of legacyName",
		},
		"its first line in other letters, with a body left out": {
			"slug.go", slugGo, "func LegacyName(s string) string {\n\t// ...\n}", "", slugWithoutLegacy, "only a part of legacyName",
		},
		"the first line for a whole new function": {
			"slug.go", slugGo, "func Reverse(s string) string {", "func Reverse(s string) string {\n\treturn \"\"\n}",
			strings.Replace(slugGo, "\treturn s\n", "\treturn \"\"\n", 1), "only a part of Reverse",
		},
		"a method of a class": {
			"a.py", bookPy, "def size(self):", "", strings.Replace(bookPy, "\n    @property\n    def size(self):\n        return len(self.notes)\n", "", 1), "only a part of Book.size",
		},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{c.path: c.before}
			b := newBench(t, workspace.Config{})
			b.Write(t, files)
			a := args{"path": c.path, "old": c.old, "new": c.new}
			asked := b.Ask(t, "fs.patch", a, preview)
			if diff, _ := asked.Data["diff"].(string); !strings.Contains(diff, c.note) || !strings.HasPrefix(diff, "old ") {
				t.Errorf("the preview does not say %q: %s", c.note, asked.Text)
			}
			b.Same(t, files)
			done := b.Must(t, "fs.patch", a)
			got := workspacetest.Into[struct{ Files []struct{ Note string } }](t, done.Data)
			if !strings.Contains(got.Files[0].Note, c.note) || !strings.Contains(done.Text, c.note) {
				t.Errorf("the result does not say %q: %+v, %q", c.note, got, done.Text)
			}
			b.Same(t, map[string]string{c.path: c.after})
		})
	}
}

func TestExactMatchIsTakenAsItIs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ path, before, old, new, after string }{
		"a word of a longer line":     {"a.go", "package a\n\nfunc Old(n int) {\n}\n", "Old(n int)", "New(n int)", "package a\n\nfunc New(n int) {\n}\n"},
		"a line added to a function":  {"a.go", "package a\n\nfunc f() {\n}\n", "func f() {", "func f() {\n\tg()", "package a\n\nfunc f() {\n\tg()\n}\n"},
		"a docstring added":           {"a.py", "def f():\n    return 1\n", "def f():", "def f():\n    \"\"\"One.\"\"\"", "def f():\n    \"\"\"One.\"\"\"\n    return 1\n"},
		"a word taken from the front": {"a.ts", "export function f() {\n}\n", "export ", "", "function f() {\n}\n"},
		"a whole function":            {"a.go", "package a\n\nfunc f() {\n}\n", "func f() {\n}\n", "", "package a\n\n"},
		"a call wrapped in itself":    {"a.go", "package a\n\nvar x = a(b)\n", "b)", "a(b))", "package a\n\nvar x = a(a(b))\n"},
		"other case elsewhere":        {"f", "Port\nport\n", "port", "Port", "Port\nPort\n"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, workspace.Config{})
			b.Write(t, map[string]string{c.path: c.before})
			done := b.Must(t, "fs.patch", args{"path": c.path, "old": c.old, "new": c.new})
			if strings.Contains(done.Text, "matched") {
				t.Errorf("an exact match is called near: %s", done.Text)
			}
			b.Same(t, map[string]string{c.path: c.after})
		})
	}
}

func TestNearMissIsNeverGuessed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path, before, old, new string
		wantErr                []string
	}{
		"two near places": {
			"f", "Port: 1\nx\nPORT: 1\n", "port: 1", "port: 2",
			[]string{"2 places are equally near ignoring case", "line 1: Port: 1", "line 3: PORT: 1"},
		},
		"two places in other white space": {
			"f", "\tif x {\n\t\ty()\n\n\tif x {\n\t\ty()\n", "if x {\n  y()", "z", []string{"2 places are equally near ignoring white space", "line 1", "line 4"},
		},
		"a part of a longer word":  {"f", "export = 1\n", "Port = 1", "port = 2", []string{"does not occur in f"}},
		"two letters":              {"f", "AB\n", "ab", "c", []string{"does not occur in f"}},
		"the most similar lines":   {"f", "a\nreturn errEmpty(user)\n\tdone\nb\n", "return errEmtpy(usr)\ndone()", "x", []string{"the most similar lines are 2 to 3", "return errEmpty(user)\n\tdone"}},
		"nothing similar":          {"f", "a\nb\n", "something else altogether", "x", []string{"no line is similar", "read the file"}},
		"new is what stands there": {"f", "Port 80\n", "port  80", "Port 80", []string{"nothing to change"}},
		"a body that is another": {
			"slug.go", slugGo, "func LegacyName(s string) string {\n\tfor range 10 {\n\t\tlaunch(rocket)\n\t}\n\tpanic(nil)\n}", "func legacyName(s string) string {\n\treturn s\n}",
			[]string{"does not occur in slug.go"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, workspace.Config{})
			files := map[string]string{c.path: c.before}
			b.Write(t, files)
			b.Refused(t, "fs.patch", args{"path": c.path, "old": c.old, "new": c.new}, c.wantErr...)
			b.Same(t, files)
		})
	}
}
