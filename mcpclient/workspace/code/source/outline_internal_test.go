package source

import (
	"context"
	"strings"
	"testing"
)

// The full names of parents in these files would add up to hundreds of times the
// size of the file.
func TestOutlineSizeIsProportionalToTheFile(t *testing.T) {
	long := strings.Repeat("A", 10_000)
	for _, test := range []struct{ name, file, src string }{
		{"nested classes", "A.java", strings.Repeat("class A {\n", 3000)},
		{"nested namespaces", "a.cs", strings.Repeat("namespace A {\n", 3000)},
		{"class with a long name", "A.java", "class " + long + " {\n" + strings.Repeat("int a;\n", 3000) + "}\n"},
		{"Python class with a long name", "a.py", "class " + long + ":\n" + strings.Repeat("  def a(self): pass\n", 3000)},
		{"long heading", "a.md", "# " + long + "\n" + strings.Repeat("## a\n", 3000)},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, err := Lex(context.Background(), test.file, test.src)
			if err != nil {
				t.Fatal(err)
			}
			size := 0
			symbols := f.Outline().Symbols
			for _, s := range symbols {
				size += len(s.Name) + len(s.Parent)
			}
			if len(symbols) < 3000 {
				t.Errorf("got %d symbols", len(symbols))
			}
			if most := len(symbols)*2*(maxParent+8) + 2*len(long); size > most {
				t.Errorf("names and parents of %d symbols take %d bytes, more than %d", len(symbols), size, most)
			}
		})
	}
}
