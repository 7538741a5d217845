package source_test

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"replan/mcpclient/workspace/code/source"
)

func TestUsesAreOutsideStringsAndComments(t *testing.T) {
	for rule, c := range map[string]struct {
		file, src, word string
		lines           []int // of uses
		quoted          int
	}{
		"comment and string":         {"a.py", "total = 1 # total\nprint('total', total)\n", "total", []int{1, 2}, 2},
		"doc string":                 {"a.py", "def f():\n  \"\"\"total\"\"\"\n  total()\n", "total", []int{3}, 1},
		"f-string":                   {"a.py", "print(f'{total:2} total')\n", "total", []int{1}, 1},
		"template literal":           {"a.js", "x = `total ${total}`\n", "total", []int{1}, 1},
		"regular expression":         {"a.js", "x = /total/.test(total)\n", "total", []int{1}, 1},
		"part of a word":             {"a.js", "subtotal; totals; total_; total$; _total\n", "total", nil, 0},
		"non-ASCII letters":          {"a.py", "größe = 1\nübergröße = größe\n", "größe", []int{1, 2}, 0},
		"dollar in a name":           {"a.ts", "$el; el; $el.el\n", "$el", []int{1, 1}, 0},
		"sigil before a name":        {"a.php", "<?php $total = 1; echo \"$total\"; // total\n", "total", []int{1, 1}, 1},
		"Ruby symbol":                {"a.rb", "attr_reader :total\nputs \"total #{total}\"\n", "total", []int{1, 2}, 1},
		"Ruby exclamation mark":      {"a.rb", "save!; save; a.save! != b\n", "save!", []int{1, 1}, 0},
		"dash in a CSS class":        {"a.css", ".shop-item { }\n.shop { }\n", "shop-item", []int{1}, 0},
		"C macro":                    {"a.c", "#define TWICE(x) total(x)\n/* total */\nint total;\n", "total", []int{1, 3}, 1},
		"shell variable in a string": {"a.sh", "echo \"$total total\" 'total' # total\n", "total", []int{1}, 3},
		"Kotlin template":            {"a.kt", "val x = \"a ${total} $total total\"\n", "total", []int{1, 1}, 1},
		"Rust format string":         {"a.rs", "fn f() { println!(\"{total} total\"); }\n", "total", []int{1}, 1},
		"HTML text":                  {"a.html", "<p>total</p>\n<script>\nlet total = 1\n</script>\n", "total", []int{3}, 1},
		"Ruby heredoc":               {"a.rb", "x = <<~E\n  don't total #{total + 1} total\nE\nputs total\n", "total", []int{2, 4}, 2},
		"Ruby shift operator":        {"a.rb", "x <<LIST\ntotal\n", "total", []int{2}, 0},
		"shell heredoc":              {"a.sh", "cat <<EOF\ntotal\nEOF\ntotal\n", "total", []int{4}, 1},
		"CR LF":                      {"a.py", "x = 1\r\ntotal = x\r\n# total\r\n", "total", []int{2}, 1},
	} {
		t.Run(rule, func(t *testing.T) {
			f, err := source.Lex(t.Context(), c.file, c.src)
			if err != nil {
				t.Fatal(err)
			}
			uses := f.Uses(c.word)
			var lines []int
			for _, r := range uses.References {
				lines = append(lines, r.Line)
				line := strings.Split(c.src, "\n")[r.Line-1]
				if got := line[r.Column-1:]; !strings.HasPrefix(got, c.word) {
					t.Errorf("line %d column %d is %q", r.Line, r.Column, got)
				}
			}
			if !reflect.DeepEqual(lines, c.lines) || len(uses.Quoted) != c.quoted {
				t.Errorf("got uses in lines %v, want %v; quoted %d times, want %d: %+v", lines, c.lines, len(uses.Quoted), c.quoted, uses.Quoted)
			}
		})
	}
}

func TestUseNamesItsEnclosingDeclaration(t *testing.T) {
	src := "class Shop:\n    def total(self):\n        return 1\n\n    def sum(self):\n        return self.total()\n\nShop().total()\n"
	f, err := source.Lex(t.Context(), "a.py", src)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range f.Uses("total").References {
		got = append(got, fmt.Sprintf("%d %q %v", r.Line, r.In, r.Definition))
	}
	want := []string{`2 "Shop" true`, `6 "Shop.sum" false`, `8 "" false`}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestParseNameAcceptsCommonSpellings(t *testing.T) {
	for given, want := range map[string][2]string{
		"Apply": {"Apply", ""}, "`Apply()`": {"Apply", ""}, "Run.Apply": {"Apply", "Run"}, "(*Run).Apply": {"Apply", "Run"},
		"Run#apply": {"apply", "Run"}, "shops::Shop::total": {"total", "shops.Shop"}, "$name": {"name", ""}, " 'x' ": {"x", ""},
		"apply(a, b)": {"apply", ""}, "example.com/mod/pkg.Run.Apply": {"Apply", "pkg.Run"}, "": {"", ""}, "@items": {"items", ""},
	} {
		if n := source.ParseName(given); n.Word != want[0] || n.Parent != want[1] {
			t.Errorf("%q: got %q of %q", given, n.Word, n.Parent)
		}
	}
}

func TestRenameToInvalidNameIsRefused(t *testing.T) {
	for rule, c := range map[string]struct{ file, src, to, wantErr string }{
		"keyword":                 {"a.py", "total = 1\n", "class", "keyword of Python"},
		"keyword of TypeScript":   {"a.ts", "let total = 1\n", "function", "keyword of TypeScript"},
		"keyword of PHP":          {"a.php", "<?php $total = 1;\n", "function", "keyword of PHP"},
		"leading digit":           {"a.py", "total = 1\n", "1st", "begins with a digit"},
		"two words":               {"a.py", "total = 1\n", "to tal", "no identifier"},
		"dashed word":             {"a.py", "total = 1\n", "to-tal", "no identifier"},
		"empty name":              {"a.py", "total = 1\n", "", "empty"},
		"existing name":           {"a.py", "total = 1\nsum = total\n", "sum", "a.py:2"},
		"Ruby mark in the middle": {"a.rb", "total = 1\n", "a!b", "no identifier"},
	} {
		t.Run(rule, func(t *testing.T) {
			f, err := source.Lex(t.Context(), c.file, c.src)
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := f.Rename("total", c.to); err == nil || !strings.Contains(err.Error(), c.wantErr) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestNameInStringsAndCommentsDoesNotConflict(t *testing.T) {
	f, err := source.Lex(t.Context(), "a.py", "total = 1 # sum\nprint('sum', total)\n")
	if err != nil {
		t.Fatal(err)
	}
	edits, _, err := f.Rename("total", "sum")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := source.Apply(f.Text, edits); err != nil || got != "sum = 1 # sum\nprint('sum', sum)\n" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestPatternsReplaceText(t *testing.T) {
	for rule, c := range map[string]struct {
		pattern, with string
		regex         bool
		src, want     string
	}{
		"plain text":                    {"a.b", "x", false, "a.b axb", "x axb"},
		"dollar in plain text":          {"a", "$1", false, "a", "$1"},
		"groups":                        {`(\w+)@(\w+)`, "$2 at $1", true, "me@home", "home at me"},
		"named group":                   {`(?P<x>a)`, "${x}${x}", true, "a", "aa"},
		"escaped dollar":                {`a`, "$$1", true, "a", "$1"},
		"line anchors":                  {`^a$`, "b", true, "a\nab\na", "b\nab\nb"},
		"empty matches":                 {`x*`, "y", true, "axxb", "ayb"},
		"identical replacement":         {`a+`, "a", true, "a aa", "a a"},
		"line end with CR LF":           {`b$`, "c", true, "ab\r\nb\r\n", "ac\r\nc\r\n"},
		"newline in a file with CR LF":  {"b", "c\nd", false, "ab\r\n", "ac\r\nd\r\n"},
		"multi-line pattern with CR LF": {"a\nb", "x", false, "1\r\na\r\nb\r\n", "1\r\nx\r\n"},
		"empty replacement":             {"a", "", false, "banana", "bnn"},
		"non-ASCII text":                {"ö", "oe", false, "schön größer", "schoen groeßer"},
	} {
		t.Run(rule, func(t *testing.T) {
			p, err := source.NewPattern(c.pattern, c.with, c.regex)
			if err != nil {
				t.Fatal(err)
			}
			edits, _ := p.Edits(t.Context(), "f", c.src, 1<<20)
			got, err := source.Apply(c.src, edits)
			if err != nil || got != c.want {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
	for rule, c := range map[string][3]string{
		"empty pattern":             {"", "", "empty"},
		"invalid expression":        {"(", "", "cannot be read"},
		"unknown group":             {"(a)", "$2", "$2"},
		"group followed by letters": {"(a)", "$1x", "${1}"},
	} {
		t.Run(rule+" is refused", func(t *testing.T) {
			if _, err := source.NewPattern(c[0], c[1], true); err == nil || !strings.Contains(err.Error(), c[2]) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestPatternsMatchWhatAnExpressionMatches(t *testing.T) {
	short := "a ab\nba a\n\nåb a.b\xffa\n"
	for _, src := range []string{short, strings.Repeat(short, 2*source.Stretch/len(short))} {
		for _, pattern := range []string{`\ba`, `^(?:a|b)`, `a$|b`, `\A.`, `(?i)(A)(B)?`, `[^b]*b|a`, `(a?)(.?)`, `.`, `(?s:.)\n`, `b*`} {
			p, err := source.NewPattern(pattern, "<${0}>", true)
			if err != nil {
				t.Fatal(err)
			}
			var want []source.Edit
			for _, m := range regexp.MustCompile("(?m)"+pattern).FindAllStringIndex(src, -1) {
				if m[0] < m[1] {
					want = append(want, source.Edit{Path: "f", Start: m[0], End: m[1], New: "<" + src[m[0]:m[1]] + ">"})
				}
			}
			if got, _ := p.Edits(t.Context(), "f", src, 10<<20); !slices.Equal(got, want) {
				t.Errorf("%s in %d bytes: got %d edits, want %d", pattern, len(src), len(got), len(want))
			}
		}
	}
}

func TestSimilarNamesAreSuggested(t *testing.T) {
	names := []string{"Run.Apply", "Run.Append", "Session", "apply_all", "x"}
	for asked, want := range map[string][]string{
		"Aply": {"Run.Apply"}, "apply": {"Run.Apply", "apply_all"}, "Sesion": {"Session"}, "qqqqq": nil,
	} {
		if got := source.Near(asked, names); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %q, want %q", asked, got, want)
		}
	}
}

func TestOverlappingEditsAreRefused(t *testing.T) {
	if _, err := source.Apply("abc", []source.Edit{{Start: 0, End: 2}, {Start: 1, End: 3}}); err == nil {
		t.Error("no error")
	}
	if _, err := source.Apply("abc", []source.Edit{{Start: 2, End: 9}}); err == nil {
		t.Error("no error")
	}
}
