package code_test

import (
	"strings"
	"testing"

	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/workspacetest"
)

// edited is a source file before and after a call.
type edited struct {
	path, before string
	args         args
	after        string
	note         string // that the result and the preview have; "" for none
}

func (b *bench) edits(t *testing.T, tool string, c edited) {
	t.Helper()
	files := map[string]string{c.path: c.before}
	b.Write(t, files)
	asked := b.Ask(t, tool, c.args, workspacetest.Preview)
	diff, _ := asked.Data["diff"].(string)
	if asked.IsError || !strings.Contains(diff, "+++ b/"+c.path) || !strings.Contains(diff, c.note) {
		t.Errorf("the preview is %s", asked.Text)
	}
	b.Same(t, files)
	done := b.Must(t, tool, c.args)
	if !strings.Contains(done.Text, c.note) {
		t.Errorf("the result does not say %q: %s", c.note, done.Text)
	}
	if got := b.Files(t)[c.path]; got != c.after {
		t.Errorf("got\n%s\nwant\n%s", got, c.after)
	}
}

func TestDeclarationIsRemovedWholeWithItsComment(t *testing.T) {
	for name, c := range map[string]edited{
		"a function of Go": {
			"a.go", "package a\n\n// A is one.\nfunc A() {\n}\n\n// b is two.\n// It has two lines.\nfunc b(s string) string {\n\treturn s // b\n}\n\n// C is three.\nfunc C() {}\n",
			args{"symbol": "b"},
			"package a\n\n// A is one.\nfunc A() {\n}\n\n// C is three.\nfunc C() {}\n", "",
		},
		"the last one, by its first line": {
			"a.go", "package a\n\nfunc A() {}\n\nfunc b(s string) string {\n\treturn s\n}\n",
			args{"symbol": "func b(s string) string {"},
			"package a\n\nfunc A() {}\n", "",
		},
		"a method, whose uses are left": {
			"a.go", "package a\n\ntype S struct{}\n\n// Len counts.\nfunc (s *S) Len() int { return 0 }\n\nvar n = (&S{}).Len()\n",
			args{"symbol": "func (s *S) Len() int {"},
			"package a\n\ntype S struct{}\n\nvar n = (&S{}).Len()\n", "Len is still used in 1 place: a.go:8",
		},
		"a constant of a group": {
			"a.go", "package a\n\nconst (\n\t// A is one.\n\tA = 1\n\n\t// B is two.\n\tB = 2\n)\n",
			args{"symbol": "B", "path": "a.go"},
			"package a\n\nconst (\n\t// A is one.\n\tA = 1\n)\n", "",
		},
		"the only variable of a group": {
			"a.go", "package a\n\n// Group.\nvar (\n\tx = 1\n)\n\nfunc A() {}\n", args{"symbol": "x"}, "package a\n\nfunc A() {}\n", "",
		},
		"a field": {
			"a.go", "package a\n\ntype S struct {\n\tA int\n\tB int // two\n}\n", args{"symbol": "S.B"}, "package a\n\ntype S struct {\n\tA int\n}\n", "",
		},
		"a method of Python with its decorator": {
			"a.py", "class A:\n    \"\"\"Doc.\"\"\"\n\n    @cached(\n        1,\n    )\n    def f(self):\n        return 1\n        # end\n\n    def g(self):\n        return 2\n\n\nx = 1\n",
			args{"symbol": "A.f"},
			"class A:\n    \"\"\"Doc.\"\"\"\n\n    def g(self):\n        return 2\n\n\nx = 1\n", "",
		},
		"the only method of a class of Python": {
			"a.py", "class A:\n    def f(self):\n        return 1\n\n\nx = 1\n", args{"symbol": "f"}, "class A:\n    pass\n\n\nx = 1\n", "",
		},
		"a constant of several lines of Python": {
			"a.py", "import os\n\nNAMES = [\n    \"a\",\n]\nX = 1\n", args{"symbol": "NAMES"}, "import os\n\nX = 1\n", "",
		},
		"an arrow function of TypeScript": {
			"a.ts", "export const a = 1;\n\n/**\n * Adds.\n */\nexport const add = (x: number) => {\n  return x + 1;\n};\n\nexport class B {\n  sum() { return 1; }\n}\n",
			args{"symbol": "add"},
			"export const a = 1;\n\nexport class B {\n  sum() { return 1; }\n}\n", "",
		},
		"a struct of Rust with its attribute": {
			"a.rs", "use std::fmt;\n\n/// One.\n#[derive(Debug)]\nstruct One {\n    a: u8,\n}\n\nfn two() {}\n", args{"symbol": "One"}, "use std::fmt;\n\nfn two() {}\n", "",
		},
		"a method of Java with CR LF": {
			"A.java", "class A {\r\n    /** One. */\r\n    @Override\r\n    int one() {\r\n        return 1;\r\n    }\r\n\r\n    int two() { return 2; }\r\n}\r\n",
			args{"symbol": "one"},
			"class A {\r\n    int two() { return 2; }\r\n}\r\n", "",
		},
		"a function of the shell": {
			"a.sh", "#!/bin/sh\n# greet greets.\ngreet() {\n  echo hi\n}\n\necho done\n", args{"symbol": "greet"}, "#!/bin/sh\n\necho done\n", "",
		},
	} {
		t.Run(name, func(t *testing.T) { newBench(t, workspace.Config{}).edits(t, "code.remove", c) })
	}
}

func TestDeclarationThatIsNotClearStays(t *testing.T) {
	files := map[string]string{
		"a.go":   "package a\n\nfunc Same() {}\n\nvar x, y = 1, 2\n",
		"b/b.go": "package b\n\nfunc Same() {}\n",
		"a.js":   "class A { foo() { return 1 } bar() { return 2 } }\n",
		"a.md":   "# Same\n",
	}
	for name, c := range map[string]struct {
		args    args
		wantErr []string
	}{
		"two of the same name":    {args{"symbol": "Same"}, []string{"Same is declared in 2 places: Same (a.go:3), Same (b/b.go:3)", "set path"}},
		"another name in a line":  {args{"symbol": "x"}, []string{"x and y are declared in the same line"}},
		"no such name":            {args{"symbol": "Sane"}, []string{"there is no symbol Sane", "similar: Same"}},
		"members in one line":     {args{"symbol": "foo"}, []string{"same line"}},
		"a file without the name": {args{"symbol": "Same", "path": "a.js"}, []string{"there is no symbol Same in a.js"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, workspace.Config{})
			b.Write(t, files)
			b.Refused(t, "code.remove", c.args, c.wantErr...)
			b.Same(t, files)
		})
	}
	b := newBench(t, workspace.Config{})
	b.Write(t, files)
	b.Must(t, "code.remove", args{"symbol": "Same", "path": "b"})
	if got := b.Files(t)["b/b.go"]; got != "package b\n" {
		t.Errorf("got %q", got)
	}
}

func TestCodeIsInsertedBesideADeclaration(t *testing.T) {
	const src = "package a\n\n// A is one.\nfunc A() {}\n\n// B is two.\nfunc B() {}\n"
	for name, c := range map[string]edited{
		"before, above its comment":     {"a.go", src, args{"symbol": "B", "text": "func new() {}"}, "package a\n\n// A is one.\nfunc A() {}\n\nfunc new() {}\n\n// B is two.\nfunc B() {}\n", ""},
		"after":                         {"a.go", src, args{"symbol": "A", "where": "after", "text": "// New is new.\nfunc New() {\n}\n"}, "package a\n\n// A is one.\nfunc A() {}\n\n// New is new.\nfunc New() {\n}\n\n// B is two.\nfunc B() {}\n", ""},
		"after the last":                {"a.go", strings.TrimSuffix(src, "\n"), args{"symbol": "B", "where": "after", "text": "var x = 1"}, src + "\nvar x = 1\n", ""},
		"a constant":                    {"a.go", "package a\n\nconst (\n\tA = 1\n)\n", args{"symbol": "A", "where": "after", "text": "B = 2"}, "package a\n\nconst (\n\tA = 1\n\tB = 2\n)\n", ""},
		"a comment":                     {"a.go", "package a\n\nfunc f() {}\n", args{"symbol": "f", "text": "// f does nothing."}, "package a\n\n// f does nothing.\nfunc f() {}\n", ""},
		"a decorator below the comment": {"A.java", "class A {\n    /** One. */\n    int one() {\n        return 1;\n    }\n}\n", args{"symbol": "one", "text": "@Deprecated"}, "class A {\n    /** One. */\n    @Deprecated\n    int one() {\n        return 1;\n    }\n}\n", ""},
		"a method with its indentation": {"a.py", "class A:\n    def f(self):\n        return 1\n", args{"symbol": "f", "where": "after", "text": "def g(self):\n    return 2"}, "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 2\n", ""},
		"after the last declaration":    {"a.py", "import os\n\n\ndef f():\n    return 1\n\n\nif __name__ == \"__main__\":\n    f()\n", args{"path": "a.py", "text": "def g():\n    return 2\n"}, "import os\n\n\ndef f():\n    return 1\n\n\ndef g():\n    return 2\n\n\nif __name__ == \"__main__\":\n    f()\n", ""},
		"without the top of a file":     {"a_test.go", "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\n", args{"path": "a_test.go", "text": "package a\n\nimport (\n\t\"testing\"\n)\n\nfunc TestB(t *testing.T) {}"}, "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\n\nfunc TestB(t *testing.T) {}\n", ""},
		"inside a class":                {"a.py", "class A:\n    def f(self):\n        return 1\n\n\nclass B:\n    def f(self):\n        return 2\n", args{"symbol": "A", "where": "inside", "text": "def g(self):\n    return 3"}, "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 3\n\n\nclass B:\n    def f(self):\n        return 2\n", ""},
		"behind the methods of a type":  {"a.go", "package a\n\ntype S struct{}\n\nfunc (s S) A() {}\n\nfunc b() {}\n", args{"symbol": "S", "where": "inside", "text": "func (s S) B() {}"}, "package a\n\ntype S struct{}\n\nfunc (s S) A() {}\n\nfunc (s S) B() {}\n\nfunc b() {}\n", ""},
		"a section of a text":           {"a.md", "# A\n\nOne.\n", args{"path": "a.md", "text": "## B\n\nTwo."}, "# A\n\nOne.\n\n## B\n\nTwo.\n", ""},
		"an item of a list":             {"a.md", "# A\n\n- one\n", args{"path": "a.md", "text": "- two"}, "# A\n\n- one\n- two\n", ""},
		"a line of a list of lines":     {"a.txt", "one\r\ntwo", args{"path": "a.txt", "text": "three"}, "one\r\ntwo\r\nthree\r\n", ""},
		"two blank lines of Python":     {"a.py", "import os\n\n\ndef f():\n    return 1\n", args{"symbol": "f", "text": "def g():\n    return 2\n"}, "import os\n\n\ndef g():\n    return 2\n\n\ndef f():\n    return 1\n", ""},
	} {
		t.Run(name, func(t *testing.T) { newBench(t, workspace.Config{}).edits(t, "code.insert", c) })
	}
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"a.go": src})
	b.Refused(t, "code.insert", args{"symbol": "A", "text": " "}, "text of code.insert is empty")
	b.Refused(t, "code.insert", args{"symbol": "A", "text": "x()", "where": "below"}, "before, after or inside")
	b.Refused(t, "code.insert", args{"text": "x()"}, "needs a symbol", "path of a file")
	b.Write(t, map[string]string{"a.md": "# A\n"})
	b.Refused(t, "code.insert", args{"path": "a.md", "text": "## Tests"}, "heading alone")
	b.Refused(t, "code.insert", args{"path": "b.go", "text": "x()"}, "no file", "fs.write")
	b.Refused(t, "code.insert", args{"path": "a.go", "text": "func A() {\n\treturn\n}"}, "a.go has already", "fs.patch")
	b.Refused(t, "code.insert", args{"symbol": "A", "text": "This function does nothing at all."}, "code.comment")
	b.Refused(t, "code.insert", args{"symbol": "A", "text": "// A is one.\nfunc A() {\n\treturn\n}"}, "a.go has already", "fs.patch")
	b.Same(t, map[string]string{"a.go": src, "a.md": "# A\n"})
}

func TestCommentHasTheFormOfItsLanguage(t *testing.T) {
	const replaced = "is replaced"
	for name, c := range map[string]edited{
		"Go, whose name leads":             {"a.go", "package a\n\nfunc Discount(n int) int { return n }\n", args{"symbol": "Discount", "text": "Returns the discount."}, "package a\n\n// Discount returns the discount.\nfunc Discount(n int) int { return n }\n", ""},
		"Go, with the name given":          {"a.go", "package a\n\n// Old.\nfunc Discount(n int) int { return n }\n", args{"symbol": "Discount", "text": "// Discount is less.\nfunc Discount(n int) int {"}, "package a\n\n// Discount is less.\nfunc Discount(n int) int { return n }\n", replaced},
		"Go, this function":                {"a.go", "package a\n\nfunc F() {}\n", args{"symbol": "F", "text": "This function does nothing."}, "package a\n\n// F does nothing.\nfunc F() {}\n", ""},
		"Go, its kind first":               {"a.go", "package a\n\nfunc F() {}\n", args{"symbol": "F", "text": "The function `F` does nothing."}, "package a\n\n// F does nothing.\nfunc F() {}\n", ""},
		"Go, its name in quotes":           {"a.go", "package a\n\nfunc F() {}\n", args{"symbol": "F", "text": "`F` does nothing."}, "package a\n\n// F does nothing.\nfunc F() {}\n", ""},
		"Go, the title of a step first":    {"a.go", "package a\n\nfunc F() {}\n", args{"symbol": "F", "text": "Describe F: does nothing."}, "package a\n\n// F does nothing.\nfunc F() {}\n", ""},
		"Go, an article first":             {"a.go", "package a\n\ntype T int\n", args{"symbol": "T", "text": "A T is a number."}, "package a\n\n// A T is a number.\ntype T int\n", ""},
		"Go, directives stay":              {"a.go", "package a\n\n// F is old.\n//\n//go:noinline\nfunc F() {}\n", args{"symbol": "F", "text": "F is new."}, "package a\n\n// F is new.\n//go:noinline\nfunc F() {}\n", replaced},
		"Go, a method, broken in lines":    {"a.go", "package a\n\ntype T struct{}\n\nfunc (t T) Len() int { return 0 }\n", args{"symbol": "T.Len", "text": strings.Repeat("counts what is there ", 5)}, "package a\n\ntype T struct{}\n\n// Len counts what is there counts what is there counts what is there counts\n// what is there counts what is there\nfunc (t T) Len() int { return 0 }\n", ""},
		"a docstring":                      {"a.py", "class A:\n    def f(self, x={\"a\": 1}):  # f\n        return 1\n", args{"symbol": "A.f", "text": "Return one."}, "class A:\n    def f(self, x={\"a\": 1}):  # f\n        \"\"\"Return one.\"\"\"\n        return 1\n", ""},
		"a docstring in place of one":      {"a.py", "def f(a,\n      b):\n    \"\"\"Old.\n\n    Long.\n    \"\"\"\n    return 1\n", args{"symbol": "f", "text": "\"\"\"New.\n\nLonger.\"\"\""}, "def f(a,\n      b):\n    \"\"\"New.\n\n    Longer.\n    \"\"\"\n    return 1\n", replaced},
		"a variable of Python":             {"a.py", "x = 1\n", args{"symbol": "x", "text": "One."}, "# One.\nx = 1\n", ""},
		"TypeScript":                       {"a.ts", "export class A {\n  sum() {\n    return 1;\n  }\n}\n", args{"symbol": "sum", "text": "Adds up."}, "export class A {\n  /** Adds up. */\n  sum() {\n    return 1;\n  }\n}\n", ""},
		"Java, in place of one, two lines": {"A.java", "/**\n * Old.\n */\n@Deprecated\nclass A {\n}\n", args{"symbol": "A", "text": "New.\nTwo."}, "/**\n * New.\n * Two.\n */\n@Deprecated\nclass A {\n}\n", replaced},
		"Rust, above attributes":           {"a.rs", "#[derive(Debug)]\nstruct One {\n    a: u8,\n}\n", args{"symbol": "One", "text": "One."}, "/// One.\n#[derive(Debug)]\nstruct One {\n    a: u8,\n}\n", ""},
	} {
		t.Run(name, func(t *testing.T) { newBench(t, workspace.Config{}).edits(t, "code.comment", c) })
	}
}

func TestCommentThatSaysNothingOfItsDeclarationIsRefused(t *testing.T) {
	const src = "package a\n\nfunc Total() int { return 1 }\n\nfunc Sum() int { return 2 }\n"
	for name, c := range map[string]struct{ text, wantErr string }{
		"three dots":                   {"...", "stands for a comment"},
		"a mark for later":             {"TODO", "stands for a comment"},
		"a text that stands for words": {"// [insert comment here]", "stands for a comment"},
		"the name alone":               {"// Sum", "say what it does"},
		"another function of Go":       {"Total returns the sum.", "is about Total"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, workspace.Config{})
			b.Write(t, map[string]string{"a.go": src})
			b.Refused(t, "code.comment", args{"symbol": "Sum", "text": c.text}, c.wantErr)
			b.Same(t, map[string]string{"a.go": src})
		})
	}
}
