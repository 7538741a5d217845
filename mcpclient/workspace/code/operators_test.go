package code_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"replan/mcpclient/builtin"
	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/workspacetest"
)

// shop is a workspace with a Go module and scripts in other languages.
var shop = map[string]string{
	"go.mod": "module example.com/shop\n\ngo 1.21\n",
	"cart/cart.go": "// Package cart holds carts.\npackage cart\n\n// Cart is a cart of items.\ntype Cart struct{ items []int }\n\n" +
		"// Total sums up the items.\nfunc (c *Cart) Total() int { return len(c.items) }\n",
	"main.go":        "package main\n\nimport \"example.com/shop/cart\"\n\nfunc main() {\n\tprintln((&cart.Cart{}).Total(), \"Total\")\n}\n",
	"web/cart.ts":    "export class Basket {\n  sum(): number { return 1; } // sum\n}\nconsole.log(new Basket().sum(), \"sum\");\n",
	"web/use.js":     "import { Basket } from './cart';\nnew Basket().sum();\n",
	"tools/count.py": "def count_all(items):\n    \"\"\"count_all counts.\"\"\"\n    return len(items)\n\n\nprint(count_all([1]), 'count_all')\n",
	"docs/use.md":    "# Use\n\nCall `Total` and `count_all`.\n",
}

type symbolOf struct {
	Name, Kind, Path, Signature, Doc string
	Line                             int
}

type codeResult struct {
	Symbol, Name, By, Note, Diff, Kind, Language, Package string
	Symbols, Definitions, Outline                         []symbolOf
	References                                            []struct {
		Path, Text, In string
		Line, Column   int
		Definition     bool
	}
	Definition *struct {
		Path string
		Line int
	}
	Total, Edits, Lines int
	Truncated           bool
	Files               []struct {
		Path           string
		Added, Removed int
	}
	Hashes  map[string]string
	Imports []string
}

func (b *bench) code(t tb, tool string, a args) codeResult {
	t.Helper()
	return workspacetest.Into[codeResult](t, b.Must(t, tool, a).Data)
}

func TestLookupUsesTypesInGoAndWordsElsewhere(t *testing.T) {
	b := newBench(t, workspace.Config{})
	b.Write(t, shop)
	for symbol, want := range map[string]string{
		"Cart.Total": "types cart/cart.go:8 method", "Total": "types cart/cart.go:8 method", "Cart": "types cart/cart.go:5 struct",
		"count_all": "words tools/count.py:1 function", "Basket": "words web/cart.ts:1 class", "Basket.sum": "words web/cart.ts:2 method",
		"`count_all()`": "words tools/count.py:1 function",
	} {
		got := b.code(t, "code.definition", args{"symbol": symbol})
		if d := got.Definitions[0]; fmt.Sprintf("%s %s:%d %s", got.By, d.Path, d.Line, d.Kind) != want || got.Total != 1 {
			t.Errorf("%s: got %+v, want %s", symbol, got, want)
		}
	}
	for symbol, want := range map[string][]string{
		"Cart.Total": {"cart/cart.go:8", "main.go:6"},
		"sum":        {"web/cart.ts:2", "web/cart.ts:4", "web/use.js:2"},
		"count_all":  {"tools/count.py:1", "tools/count.py:6"},
	} {
		got := b.code(t, "code.references", args{"symbol": symbol})
		var at []string
		for _, r := range got.References {
			at = append(at, fmt.Sprintf("%s:%d", r.Path, r.Line))
		}
		if !slices.Equal(at, want) || got.Definition == nil || fmt.Sprintf("%s:%d", got.Definition.Path, got.Definition.Line) != want[0] || got.Total != len(want) {
			t.Errorf("%s: got %v (%+v), want %v", symbol, at, got, want)
		}
	}
	refs := b.code(t, "code.references", args{"symbol": "Cart.Total"})
	if refs.By != "types" || refs.Symbol != "example.com/shop/cart.Cart.Total" || !strings.Contains(refs.Note, "docs/use.md") {
		t.Errorf("got %+v", refs)
	}
	if refs = b.code(t, "code.references", args{"symbol": "count_all"}); refs.By != "words" || refs.Symbol != "count_all" || !strings.Contains(refs.Note, "docs/use.md") || !strings.Contains(refs.Note, "strings and comments") {
		t.Errorf("got %+v", refs)
	}
	b.Refused(t, "code.definition", args{"symbol": "Totl"}, "Total")
	b.Refused(t, "code.definition", args{"symbol": "count_al"}, "count_al")
	b.Refused(t, "code.definition", args{"symbol": "count_al", "path": "tools"}, "count_all")
	b.Refused(t, "code.references", args{"symbol": "Nothing_like_it"}, "Nothing_like_it")
	b.Refused(t, "code.references", args{"symbol": "()"}, "no name")
	b.Refused(t, "code.definition", args{"symbol": "Total", "path": "../x"}, "outside")
	b.Refused(t, "code.definition", args{"symbol": "Total", "path": "missing"}, `"missing"`)
}

func TestSymbolsByFolderFileAndQuery(t *testing.T) {
	b := newBench(t, workspace.Config{})
	b.Write(t, shop)
	for rule, c := range map[string]struct {
		args args
		want []string
		by   string
	}{
		"query in another case":        {args{"query": "TOTAL"}, []string{"Cart.Total"}, "types"},
		"folder":                       {args{"path": "tools"}, []string{"count_all"}, "words"},
		"file":                         {args{"path": "web/cart.ts"}, []string{"Basket", "Basket.sum"}, "words"},
		"part of a name":               {args{"query": "bask"}, []string{"Basket", "Basket.sum"}, "words"},
		"headings of a named document": {args{"path": "docs/use.md"}, []string{"Use"}, "words"},
		"Go before other languages":    {args{}, []string{"Cart", "Cart.items", "Cart.Total", "main", "count_all", "Basket", "Basket.sum"}, "types"},
	} {
		t.Run(rule, func(t *testing.T) {
			got := b.code(t, "code.symbols", c.args)
			var names []string
			for _, s := range got.Symbols {
				names = append(names, s.Name)
			}
			if !slices.Equal(names, c.want) || got.By != c.by || got.Total != len(c.want) {
				t.Errorf("got %v by %s, want %v by %s", names, got.By, c.want, c.by)
			}
		})
	}
	if few := b.code(t, "code.symbols", args{"max": 1}); len(few.Symbols) != 1 || !few.Truncated || few.Total != 7 {
		t.Errorf("max has no effect: %+v", few)
	}
	if file := b.code(t, "code.parse", args{"path": "tools/count.py"}); file.Language != "Python" || file.By != "words" || file.Lines != 6 || len(file.Outline) != 1 {
		t.Errorf("got %+v", file)
	}
	if file := b.code(t, "code.parse", args{"path": "main.go"}); file.Language != "Go" || file.By != "types" || file.Package != "main" || !slices.Equal(file.Imports, []string{"example.com/shop/cart"}) {
		t.Errorf("got %+v", file)
	}
	if file := b.code(t, "code.parse", args{"path": "go.mod"}); file.Note == "" || len(file.Outline) != 0 {
		t.Errorf("got %+v", file)
	}
	b.Refused(t, "code.parse", args{"path": "missing.py"}, "missing.py")
}

// patched applies a transformation with fs.patch.
func (b *bench) patched(t tb, change codeResult) {
	t.Helper()
	out := b.Ask(t, "fs.patch", args{"diff": change.Diff}, map[string]any{builtin.MetaHashes: toAny(change.Hashes)})
	if out.IsError {
		t.Fatalf("the diff does not fit: %s\n%s", out.Text, change.Diff)
	}
}

func TestRenamedGoCodeCompiles(t *testing.T) {
	b := newBench(t, workspace.Config{})
	b.Write(t, shop)
	change := b.code(t, "code.transform", args{"kind": "rename", "symbol": "Cart.Total", "new_name": "Cart.Sum"})
	if change.By != "types" || change.Kind != "rename" || len(change.Files) != 2 || len(change.Hashes) != 2 || !strings.Contains(change.Note, "docs/use.md") {
		t.Errorf("got %+v", change)
	}
	b.Same(t, shop)
	b.patched(t, change)
	if text := b.Files(t)["main.go"]; !strings.Contains(text, `.Sum(), "Total"`) {
		t.Errorf("got main.go %q", text)
	}
	build := exec.Command("go", "vet", "./...")
	build.Dir = b.Dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func TestSymbolsAreFoundByImportPath(t *testing.T) {
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{
		"go.mod":          "module example.com/shop/v2\n\ngo 1.21\n",
		"shop.go":         "package shop\n\ntype Cart struct{}\n\nfunc Open() Cart { return Cart{} }\n",
		"go-till/till.go": "package till\n\nimport \"example.com/shop/v2\"\n\ntype Drawer struct{ content shop.Cart }\n",
	})
	for symbol, want := range map[string]string{"Cart": "example.com/shop/v2.Cart", "Drawer": "example.com/shop/v2/go-till.Drawer"} {
		found := b.code(t, "code.references", args{"symbol": symbol})
		if found.By != "types" || found.Symbol != want {
			t.Fatalf("references of %s are by %s, of %s; want %s by types", symbol, found.By, found.Symbol, want)
		}
		if defined := b.code(t, "code.definition", args{"symbol": want}); len(defined.Definitions) != 1 {
			t.Errorf("%s: %d definitions, want 1", want, len(defined.Definitions))
		}
		again := b.code(t, "code.references", args{"symbol": found.Symbol})
		renamed := b.code(t, "code.transform", args{"kind": "rename", "symbol": found.Symbol, "new_name": "Renamed"})
		if again.By != "types" || renamed.By != "types" || renamed.Edits == 0 {
			t.Errorf("%s: references by %s, renamed by %s in %d edits", found.Symbol, again.By, renamed.By, renamed.Edits)
		}
	}
}

func TestGoWithoutToolchainIsSearchedByWords(t *testing.T) {
	b := newBench(t, workspace.Config{Environ: []string{"PATH=" + t.TempDir(), "HOME=" + t.TempDir()}})
	b.Write(t, shop)
	t.Setenv("PATH", t.TempDir())
	refs := b.code(t, "code.references", args{"symbol": "Cart.Total"})
	if refs.By != "words" || !strings.Contains(refs.Note, "matches are by name only") || len(refs.References) != 2 {
		t.Errorf("got %+v", refs)
	}
	change := b.code(t, "code.transform", args{"kind": "rename", "symbol": "Cart.Total", "new_name": "Sum"})
	if change.By != "words" || change.Edits != 2 || !strings.Contains(change.Note, "by name only") {
		t.Errorf("got %+v", change)
	}
	b.patched(t, change)
	if text := b.Files(t)["main.go"]; !strings.Contains(text, `.Sum(), "Total"`) {
		t.Errorf("got main.go %q", text)
	}
}

func TestRenameByWords(t *testing.T) {
	b := newBench(t, workspace.Config{})
	b.Write(t, shop)
	change := b.code(t, "code.transform", args{"kind": "rename", "symbol": "Basket.sum", "new_name": "total"})
	if change.By != "words" || change.Edits != 3 || !strings.Contains(change.Note, "web/cart.ts:2, web/cart.ts:4") {
		t.Errorf("got %+v", change)
	}
	b.patched(t, change)
	if got := b.Files(t)["web/cart.ts"]; got != "export class Basket {\n  total(): number { return 1; } // sum\n}\nconsole.log(new Basket().total(), \"sum\");\n" {
		t.Errorf("got web/cart.ts %q", got)
	}
}

// A rename also changes the formatting next to names, and the names of example
// functions.
func TestRenameFormatsAndRenamesExamples(t *testing.T) {
	base := map[string]string{
		"go.mod": "module example.com/run\n\ngo 1.21\n",
		"run.go": "// Package run runs.\npackage run\n\n// User is one.\ntype User struct {\n\tID    int // which\n\tName  string\n\tEmail string\n}\n\n" +
			"// Greet greets.\nfunc Greet(u User) string { return u.Name }\n\nconst (\n\tshort  = 1 // one\n\tlonger = 2 // two\n)\n\nvar _ = short + longer\n",
		"apply.go": "package run\n\n// Run is folded from events.\ntype Run struct{ seq int }\n\n// Apply folds an event.\nfunc (r *Run) Apply(n int) error { r.seq = n; return nil }\n\n" +
			"func each() []func(*Run) {\n\treturn []func(*Run){\n\t\tfunc(r *Run) { _ = r.Apply(1) }, // first\n\t\tfunc(r *Run) {},                 // second\n\t}\n}\n\nvar _ = each\n",
		"run_test.go": "package run_test\n\nimport (\n\t\"fmt\"\n\n\t\"example.com/run\"\n)\n\nfunc ExampleGreet() {\n\tfmt.Println(run.Greet(run.User{Name: \"x\"}))\n\t// Output: x\n}\n\n" +
			"func ExampleRun_Apply() {\n\tfmt.Println((&run.Run{}).Apply(1))\n\t// Output: <nil>\n}\n",
	}
	for rule, c := range map[string]struct{ symbol, name, in, has string }{
		"aligned field":                {"User.Email", "ElectronicMail", "run.go", "\tName           string\n\tElectronicMail string\n"},
		"aligned constant":             {"longer", "it", "run.go", "\tshort = 1 // one\n\tit    = 2 // two\n"},
		"function with examples":       {"Greet", "Welcome", "run_test.go", "func ExampleWelcome() {\n\tfmt.Println(run.Welcome("},
		"method with aligned comments": {"Run.Apply", "Fold", "apply.go", "_ = r.Fold(1) }, // first\n\t\tfunc(r *Run) {},                // second"},
		"method with examples":         {"Run.Apply", "Fold", "run_test.go", "func ExampleRun_Fold() {"},
	} {
		t.Run(rule, func(t *testing.T) {
			b := newBench(t, workspace.Config{})
			b.Write(t, base)
			b.patched(t, b.code(t, "code.transform", args{"kind": "rename", "symbol": c.symbol, "new_name": c.name}))
			if text := b.Files(t)[c.in]; !strings.Contains(text, c.has) {
				t.Errorf("%s: got\n%s", c.in, text)
			}
			vet := exec.Command("go", "vet", "./...")
			vet.Dir = b.Dir
			if out, err := vet.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

func TestRenameInOneFileListsOtherFiles(t *testing.T) {
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{
		"a.py": "def speak(): pass\n", "b.py": "def speak(): pass\n", "c.py": "from a import speak\nspeak()\nspeak()\nspeak()\n", "d.py": "x = 1\n",
	})
	b.Refused(t, "code.transform", args{"kind": "rename", "symbol": "speak", "new_name": "talk"}, "rename speak to talk in a.py")
	b.Write(t, map[string]string{"two.js": "class A { go() {} }\nclass B { go() {} }\n"})
	if out := b.Ask(t, "code.transform", args{"kind": "rename", "symbol": "A.go", "new_name": "run"}, nil); !out.IsError || strings.Contains(out.Text, "rename A.go") {
		t.Errorf("the refusal suggests a call that would be refused: %s", out.Text)
	}
	got := b.code(t, "code.transform", args{"kind": "rename", "symbol": "speak", "new_name": "talk", "path": "a.py"})
	if got.Edits != 1 || !strings.Contains(got.Note, "utside a.py, the old name speak still occurs 5 times") || !strings.Contains(got.Note, "b.py:1, c.py:1, c.py:2 and 2 more") {
		t.Errorf("got %+v", got)
	}
	if got = b.code(t, "code.transform", args{"kind": "rename", "symbol": "x", "new_name": "y", "path": "d.py"}); strings.Contains(got.Note, "utside") {
		t.Errorf("got note %s for a name that occurs nowhere else", got.Note)
	}
}

func TestAmbiguousRenameByWordsIsRefused(t *testing.T) {
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{
		"a.py": "class Dog:\n    def speak(self): pass\n\nclass Cat:\n    def speak(self): pass\n\nDog().speak()\n",
		"b.py": "tmp = 1\nother = tmp\n", "c.py": "def one(tmp):\n    return tmp\n", "d.js": "function both() {}\n", "e.py": "def both(): pass\n",
		"f.js": "x.lonely = 1\n", "g.js": "y.lonely = 2\n", "h.rb": "def taken; end\ndef free; end\n",
	})
	for rule, c := range map[string]struct {
		args    args
		wantErr string
	}{
		"method of two classes":   {args{"symbol": "Dog.speak", "new_name": "bark"}, "2 places"},
		"name in two languages":   {args{"symbol": "both", "new_name": "all"}, "2 places"},
		"undeclared name":         {args{"symbol": "lonely", "new_name": "alone"}, "no declaration of lonely"},
		"method of another class": {args{"symbol": "Fox.speak", "new_name": "bark"}, "no declaration of Fox.speak"},
		"existing name":           {args{"symbol": "free", "new_name": "taken"}, "h.rb:1"},
		"keyword":                 {args{"symbol": "free", "new_name": "end"}, "keyword of Ruby"},
		"same name":               {args{"symbol": "free", "new_name": "free"}, "already"},
		"unknown name":            {args{"symbol": "fre", "new_name": "x"}, "free"},
		"no new name":             {args{"symbol": "free"}, "new_name"},
		"arguments of replace":    {args{"symbol": "free", "new_name": "x", "glob": "*.py"}, "are of replace"},
	} {
		t.Run(rule, func(t *testing.T) {
			c.args["kind"] = "rename"
			before := b.Files(t)
			b.Refused(t, "code.transform", c.args, c.wantErr)
			b.Same(t, before)
		})
	}
	if got := b.code(t, "code.transform", args{"kind": "rename", "symbol": "speak", "new_name": "talk", "path": "a.py"}); got.Edits != 3 {
		t.Errorf("with a file: got %+v", got)
	}
	if got := b.code(t, "code.transform", args{"kind": "rename", "symbol": "both", "new_name": "all", "path": "d.js"}); got.Edits != 1 {
		t.Errorf("with a file of one language: got %+v", got)
	}
}

func TestReplace(t *testing.T) {
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"a.txt": "v1 v1\n", "in/b.md": "v1", "in/c.go": "// v1\n", "bin": "v1\x00", "node_modules/x": "v1", ".gitignore": "out\n", "out": "v1"})
	got := b.code(t, "code.transform", args{"kind": "replace", "pattern": "v1", "replacement": "v2"})
	if got.By != "text" || got.Edits != 4 || len(got.Files) != 3 || strings.Contains(got.Note, "longer words") {
		t.Errorf("got %+v", got)
	}
	b.Write(t, map[string]string{"long.txt": "v1 v10 xv1 _v1 v1\n"})
	if long := b.code(t, "code.transform", args{"kind": "replace", "pattern": "v1", "replacement": "v2", "path": "long.txt"}); !strings.Contains(long.Note, "3 times inside longer words") {
		t.Errorf("got %+v", long)
	}
	got = b.code(t, "code.transform", args{"kind": "replace", "pattern": `v(\d)`, "replacement": "w$1", "regex": true, "glob": "*.md"})
	if got.Edits != 1 || got.Files[0].Path != "in/b.md" {
		t.Errorf("got %+v", got)
	}
	b.patched(t, got)
	if text := b.Files(t)["in/b.md"]; text != "w1" {
		t.Errorf("got %q", text)
	}
	for rule, c := range map[string]struct {
		args    args
		wantErr string
	}{
		"pattern without matches": {args{"pattern": "v9", "replacement": ""}, "matches nothing in"},
		"glob without matches":    {args{"pattern": "v1", "replacement": "", "glob": "*.xyz"}, "no text file"},
		"no replacement":          {args{"pattern": "v1"}, "replacement"},
		"invalid expression":      {args{"pattern": "(", "replacement": "", "regex": true}, "cannot be read"},
		"arguments of rename":     {args{"pattern": "v1", "replacement": "", "symbol": "x"}, "are of rename"},
		"unknown kind":            {args{"kind": "extract"}, "rename or replace"},
	} {
		t.Run(rule+" is refused", func(t *testing.T) {
			if c.args["kind"] == nil {
				c.args["kind"] = "replace"
			}
			b.Refused(t, "code.transform", c.args, c.wantErr)
		})
	}
}

func TestStaleChangeIsRefused(t *testing.T) {
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"a.py": "total = 1\n"})
	change := b.code(t, "code.transform", args{"kind": "rename", "symbol": "total", "new_name": "sum"})
	b.Write(t, map[string]string{"a.py": "total = 1\n# more\n"})
	out := b.Ask(t, "fs.patch", args{"diff": change.Diff}, map[string]any{builtin.MetaHashes: toAny(change.Hashes)})
	if !out.IsError || !strings.Contains(out.Text, "changed") {
		t.Errorf("got %+v", out)
	}
}

// Applying the diff of code.transform with fs.patch gives exactly the replacement,
// with any line endings.
func TestPatchAppliesExactlyTheChange(t *testing.T) {
	b := newBench(t, workspace.Config{})
	line := rapid.SampledFrom([]string{"total", "a total b", "", "größe total", "totals", "\ttotal total", "+total", "-total", "--- a", "@@ total", "\\ total", "日本 total", "total\u00a0x"})
	rapid.Check(t, func(t *rapid.T) {
		files, want := map[string]string{}, map[string]string{}
		for _, name := range []string{"a.py", "in dir/b c.js", "ö.txt"} {
			end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end")
			lines := rapid.SliceOfN(line, 1, 12).Draw(t, "lines")
			text := strings.Join(lines, end)
			if rapid.Bool().Draw(t, "ended") {
				text += end
			}
			files[name] = text
			want[name] = strings.ReplaceAll(text, "total", "Summe")
		}
		for name := range b.Files(t) {
			if err := os.Remove(filepath.Join(b.Dir, name)); err != nil {
				t.Fatalf("%v", err)
			}
		}
		b.Write(t, files)
		if !strings.Contains(files["a.py"]+files["in dir/b c.js"]+files["ö.txt"], "total") {
			b.Refused(t, "code.transform", args{"kind": "replace", "pattern": "total", "replacement": "Summe"}, "nothing")
			return
		}
		b.patched(t, b.code(t, "code.transform", args{"kind": "replace", "pattern": "total", "replacement": "Summe"}))
		b.Same(t, want)
	})
}

func BenchmarkReferencesByWords(b *testing.B) {
	dir := b.TempDir()
	var text strings.Builder
	for i := range 200 {
		fmt.Fprintf(&text, "def function_%d(argument):\n    # a comment about it\n    return helper(argument, 'text', %d)\n\n", i, i)
	}
	for i := range 100 {
		src := text.String()
		if i%10 == 0 {
			src += "def wanted():\n    return wanted\n"
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.py", i)), []byte(src), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	served := newBench(b, workspace.Config{Dir: dir})
	for b.Loop() {
		if n := served.Must(b, "code.references", args{"symbol": "wanted"}).Data["total"]; n != 20.0 {
			b.Fatalf("got %v uses, want 20", n)
		}
	}
}

func TestReferencesWithoutMatchesHaveNoNoteAboutWrongOnes(t *testing.T) {
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"a.py": "# gone_name was here\n"})
	refs := b.code(t, "code.references", args{"symbol": "gone_name"})
	if len(refs.References) > 0 || !strings.Contains(refs.Note, "strings and comments") || strings.Contains(refs.Note, "wrong") {
		t.Errorf("got %+v", refs)
	}
}
