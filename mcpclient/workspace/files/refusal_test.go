package files_test

import (
	"testing"

	"replan/mcpclient/workspace"
)

func TestTextThatStandsForContentIsRefused(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"a.go":    "package a\n\nfunc f() {\n\treturn\n}\n",
		"page.md": "Hello {{name}}\n",
	}
	for name, c := range map[string]struct {
		tool    string
		args    args
		wantErr []string
	}{
		"rest of code in a new text":   {"fs.patch", args{"path": "a.go", "old": "\treturn", "new": "\t// ... rest of code\n\treturn"}, []string{`"// ... rest of code"`, "a.go", "write the content itself"}},
		"rest of code in a diff":       {"fs.patch", args{"diff": "--- a/a.go\n+++ b/a.go\n@@ -3,3 +3,3 @@\n func f() {\n-\treturn\n+\t...\n }\n"}, []string{`"..."`}},
		"rest of code in a whole file": {"fs.write", args{"path": "a.go", "text": "package a\n\n// existing code\n"}, []string{`"// existing code"`}},
		"a loop of a template":         {"fs.write", args{"path": "NOTES.md", "text": "{{range .}}\n- {{.Name}}\n{{end}}\n"}, []string{`"{{range .}}"`}},
		"a list in braces":             {"fs.write", args{"path": "NOTES.md", "text": "{list}"}, []string{`"{list}"`}},
		"no text for a file that has":  {"fs.write", args{"path": "a.go", "text": " \n"}, []string{"text of fs.write is empty", "a.go has 5 lines", "fs.remove"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, workspace.Config{})
			b.Write(t, files)
			b.Refused(t, c.tool, c.args, c.wantErr...)
			if asked := b.Ask(t, c.tool, c.args, preview); !asked.IsError {
				t.Errorf("the gate would show it: %s", asked.Text)
			}
			b.Same(t, files)
		})
	}
	b := newBench(t, workspace.Config{})
	b.Write(t, files)
	b.Must(t, "fs.write", args{"path": "page.md", "text": "Good day {{name}}\n"})
	b.Must(t, "fs.write", args{"path": "empty", "text": ""})
	b.Must(t, "fs.write", args{"path": "empty", "text": "\n"})
	b.Same(t, map[string]string{"a.go": files["a.go"], "page.md": "Good day {{name}}\n", "empty": "\n"})
}

func TestChangeThatMakesAFileInvalidIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, text, old, new string }{
		"Go":   {"a.go", "package a\n\nvar x = 1\n", "var x = 1", "var x = \nimport \"fmt\""},
		"JSON": {"a.json", "{\"a\": 1}\n", "1}", "1,}"},
		"TOML": {"a.toml", "[project]\nversion = \"1\"\n", "version = \"1\"", "name = \"a\", version = \"1\""},
		"YAML": {"a.yaml", "a: 1\n---\nb: 1\n", "b: 1", "b: 1\n c: 2"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, workspace.Config{})
			b.Write(t, map[string]string{c.file: c.text})
			b.Refused(t, "fs.patch", args{"path": c.file, "old": c.old, "new": c.new}, "nothing was changed", c.file+" would no longer be valid")
			b.Same(t, map[string]string{c.file: c.text})
		})
	}
}

func TestFileThatWasNeverValidOrIsATemplateStaysEditable(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, text, old, new string }{
		"a template that was never valid":       {"chart.yaml", "a: {{ .Values.a }}\n{{- if .b }}\n", ".Values.a", ".Values.b"},
		"a template that was valid by chance":   {"chart.yaml", "a: \"{{ .Values.a }}\"\n", "a:", "{{- if .Values.b }}\na:"},
		"a file that becomes a template":        {"play.yml", "a: 1\n", "a: 1", "{% if b %}\na: 1\n{% endif %}"},
		"comments in JSON":                      {"tsconfig.json", "{\n  // strict\n  \"a\": 1\n}\n", "1", "2"},
		"documents, tags, anchors, double keys": {"a.yaml", "a: &x !Ref b\na: *x\n---\nb: 1\n", "b: 1", "b: 2"},
		"dates":                                 {"a.toml", "at = 2024-05-01T10:00:00Z\nday = 2024-05-01\n", "day = 2024-05-01", "day = 2024-05-02"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, workspace.Config{})
			b.Write(t, map[string]string{c.file: c.text})
			b.Must(t, "fs.patch", args{"path": c.file, "old": c.old, "new": c.new})
		})
	}
}
