package placeholder_test

import (
	"testing"

	"replan/internal/placeholder"
)

func TestPlaceholderIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		path, text, known string
		want              string
	}{
		"rest of code in a comment":        {"a.go", "package a\n\nfunc f() {\n\t// ... rest of code\n}\n", "", "// ... rest of code"},
		"existing code between dots":       {"a.py", "def f():\n    # ... existing code ...\n    return 1\n", "", "# ... existing code ..."},
		"rest unchanged":                   {"a.js", "f()\n// rest of the code remains unchanged\n", "", "// rest of the code remains unchanged"},
		"existing code here":               {"a.ts", "/* existing code here */\n", "", "/* existing code here */"},
		"code unchanged, no comment":       {"a.rs", "fn f() {}\nrest of the code unchanged\n", "", "rest of the code unchanged"},
		"dots alone in Go":                 {"a.go", "package a\n\nfunc f() {\n\t...\n}\n", "", "..."},
		"one character of dots":            {"a.c", "int f() {\n  …\n}\n", "", "…"},
		"dots in a comment of Python":      {"a.py", "x = 1\n# ...\n", "", "# ..."},
		"dots in JSON":                     {"a.json", "{\n  \"a\": 1,\n  ...\n}\n", "", "..."},
		"remaining functions":              {"a.go", "package a\n// … remaining functions\n", "", "// … remaining functions"},
		"same as before":                   {"a.java", "class A {\n  // same as before\n}\n", "", "// same as before"},
		"a list in braces":                 {"NOTES.md", "{list}", "", "{list}"},
		"a list in brackets":               {"NOTES.md", "# Notes\n\n<list of functions>\n", "", "<list of functions>"},
		"braces as an item":                {"NOTES.md", "# Notes\n\n- {function}\n- {function}\n", "", "{function}"},
		"braces as an item among others":   {"NOTES.md", "# Notes\n\n- Make\n- {function}\n", "", "{function}"},
		"a field of a template":            {"NOTES.md", "# Functions\n\nThe first is {{.Name}}.\n", "", "{{.Name}}"},
		"a loop of a template":             {"NOTES.md", "{{range .}}\n- {{.Name}}\n{{end}}\n", "", "{{range .}}"},
		"a variable in a string of Python": {"notes/__init__.py", "\"\"\"Notes.\"\"\"\n__version__ = \"{{version}}\"\n", "", "{{version}}"},
		"a variable in JSON":               {"package.json", `{"version": "{{ version }}"}`, `{"version": "1.0.0"}`, "{{ version }}"},
		"text to insert":                   {"README.md", "# Shop\n\n[insert text here]\n", "", "[insert text here]"},
		"text to insert in a sentence":     {"README.md", "# Shop\n\nThe shop sells [list of goods].\n", "", "[list of goods]"},
		"only a TODO":                      {"NOTES.md", "TODO: add content\n", "", "TODO: add content"},
		"a heading and a TODO":             {"NOTES.md", "# Notes\n\nTODO: add content\n", "", "TODO: add content"},
		"only a TODO in code":              {"a.go", "// TODO: write this\n", "", "// TODO: write this"},
		"content here":                     {"NOTES.md", "Content goes here.", "", "Content goes here."},
		"a message that is only dots":      {"", "...", "", "..."},
		"a message that is only a name":    {"", "{{commit_message}}", "", "{{commit_message}}"},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := placeholder.Find(c.text, c.path, c.known)
			if !ok || got != c.want {
				t.Errorf("got %q, %v, want %q", got, ok, c.want)
			}
		})
	}
}

func TestContentIsNoPlaceholder(t *testing.T) {
	for name, c := range map[string]struct{ path, text, known string }{
		"empty":                          {"a.go", "", ""},
		"a body of Python":               {"a.py", "class A(Protocol):\n    def f(self) -> int: ...\n    def g(self) -> int:\n        ...\n", ""},
		"a variadic function of Go":      {"a.go", "func f(a ...int) {\n\tg(a...)\n}\n", ""},
		"spread in JavaScript":           {"a.js", "const a = [\n  ...b,\n  ...c\n]\n", ""},
		"a comment that ends in dots":    {"a.go", "// reading the rest of the file ...\nread()\n", ""},
		"a comment about the rest":       {"a.go", "// The rest of the line is a comment.\nskip()\n", ""},
		"a comment about existing code":  {"a.go", "// existing code paths use the old name\nf()\n", ""},
		"dots in Markdown":               {"README.md", "Read it:\n\n```\nfoo\n...\nbar\n```\n\nand so on ...\n", ""},
		"the end of a document of YAML":  {"a.yaml", "---\na: 1\n...\n", ""},
		"a template of Go":               {"a.tmpl", "{{range .}}{{.Name}}{{end}}", ""},
		"a page of Jinja":                {"a.html", "<p>{{ name }}</p>", ""},
		"a component of Vue":             {"a.vue", "<p>{{ name }}</p>", ""},
		"a chart of Helm":                {"chart/templates/a.yaml", "name: {{ .Values.name }}", ""},
		"a workflow":                     {".github/workflows/ci.yml", "run: ${{ matrix.go }}", ""},
		"a task file":                    {"justfile", "build:\n  go build {{flags}}\n", ""},
		"a literal of Go":                {"a.go", "var a = [][]int{{x}}\n", ""},
		"a style of React":               {"a.jsx", "<p style={{color}}>{list}</p>", ""},
		"a template in a string of Go":   {"a.go", "var t = template.Must(template.New(\"\").Parse(\"{{.Name}}\"))\n", ""},
		"a manual that quotes templates": {"README.md", "Write `{{.Name}}` for the name.\n\n```\n{{range .}}\n```\n", ""},
		"a page of Jekyll":               {"a.md", "---\ntitle: x\n---\n{{ site.title }}\n", ""},
		"what the file has already":      {"a.md", "Hello {{name}}, good day {{name}}\n", "Hello {{name}}\n"},
		"dots that the file has already": {"a.go", "package a\n// ...\nfunc f() {}\n", "package a\n// ...\n"},
		"an empty object":                {"a.json", "{}", ""},
		"an empty list":                  {"a.json", "[]", ""},
		"a section":                      {"a.ini", "[server]\nport = 1\n", ""},
		"a link":                         {"a.md", "See [add a user](users.md) and [your account][1].\n", ""},
		"a TODO among other content":     {"NOTES.md", "# Notes\n\nTODO: add more\n\nMake makes slugs.\n", ""},
		"a list of tasks":                {"TODO.md", "TODO: buy milk\n", ""},
		"a tag":                          {"a.html", "<br>", ""},
		"usage":                          {"README.md", "Usage: `tool <list of files>`\n", ""},
		"a TODO of code":                 {"a.go", "package a\n\n// TODO: measure this\nfunc f() {}\n", ""},
		"an f-string":                    {"a.py", "x = f\"{name}\"\n", ""},
		"a message about templates":      {"", "Escape {{.Name}} in pages", ""},
		"the name of a heading":          {"NOTES.md", "# Content\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got, ok := placeholder.Find(c.text, c.path, c.known); ok {
				t.Errorf("%q passes for a placeholder", got)
			}
		})
	}
}
