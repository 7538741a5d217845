package source_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"replan/mcpclient/workspace/code/source"
)

func TestWordsAreNamesOutsideStringsAndComments(t *testing.T) {
	for rule, c := range map[string]struct {
		file, src, word string
		lines           []int // of uses
		quoted          int
	}{
		"a comment and a string hold no use": {"a.py", "total = 1 # total\nprint('total', total)\n", "total", []int{1, 2}, 2},
		"a doc string holds no use":          {"a.py", "def f():\n  \"\"\"total\"\"\"\n  total()\n", "total", []int{3}, 1},
		"an f-string holds one":              {"a.py", "print(f'{total:2} total')\n", "total", []int{1}, 1},
		"a template literal holds one":       {"a.js", "x = `total ${total}`\n", "total", []int{1}, 1},
		"a regular expression holds none":    {"a.js", "x = /total/.test(total)\n", "total", []int{1}, 1},
		"a part of a word is no use":         {"a.js", "subtotal; totals; total_; total$; _total\n", "total", nil, 0},
		"letters beyond ASCII are letters":   {"a.py", "größe = 1\nübergröße = größe\n", "größe", []int{1, 2}, 0},
		"a dollar belongs to a name":         {"a.ts", "$el; el; $el.el\n", "$el", []int{1, 1}, 0},
		"a sigil does not":                   {"a.php", "<?php $total = 1; echo \"$total\"; // total\n", "total", []int{1, 1}, 1},
		"a Ruby symbol is a use":             {"a.rb", "attr_reader :total\nputs \"total #{total}\"\n", "total", []int{1, 2}, 1},
		"a Ruby mark belongs to a name":      {"a.rb", "save!; save; a.save! != b\n", "save!", []int{1, 1}, 0},
		"a dash belongs to a class of CSS":   {"a.css", ".shop-item { }\n.shop { }\n", "shop-item", []int{1}, 0},
		"a C macro is code":                  {"a.c", "#define TWICE(x) total(x)\n/* total */\nint total;\n", "total", []int{1, 3}, 1},
		"a shell variable in a string is":    {"a.sh", "echo \"$total total\" 'total' # total\n", "total", []int{1}, 3},
		"a Kotlin template is":               {"a.kt", "val x = \"a ${total} $total total\"\n", "total", []int{1, 1}, 1},
		"a Rust format string is":            {"a.rs", "fn f() { println!(\"{total} total\"); }\n", "total", []int{1}, 1},
		"the text of HTML is not":            {"a.html", "<p>total</p>\n<script>\nlet total = 1\n</script>\n", "total", []int{3}, 1},
		"a heredoc of Ruby is a string":      {"a.rb", "x = <<~E\n  don't total #{total + 1} total\nE\nputs total\n", "total", []int{2, 4}, 2},
		"a shift in Ruby is none":            {"a.rb", "x <<LIST\ntotal\n", "total", []int{2}, 0},
		"a heredoc of the shell is a string": {"a.sh", "cat <<EOF\ntotal\nEOF\ntotal\n", "total", []int{4}, 1},
		"a CR LF file has the same places":   {"a.py", "x = 1\r\ntotal = x\r\n# total\r\n", "total", []int{2}, 1},
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
				t.Errorf("used in lines %v, want %v; quoted %d times, want %d: %+v", lines, c.lines, len(uses.Quoted), c.quoted, uses.Quoted)
			}
		})
	}
}

func TestAUseSaysWhatItIsIn(t *testing.T) {
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

func TestNamesAreReadAsPeopleWriteThem(t *testing.T) {
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

func TestARenameByWordsIsRefused(t *testing.T) {
	for rule, c := range map[string]struct{ file, src, to, says string }{
		"to a keyword":                 {"a.py", "total = 1\n", "class", "keyword of Python"},
		"to a keyword of TypeScript":   {"a.ts", "let total = 1\n", "function", "keyword of TypeScript"},
		"to a keyword of PHP":          {"a.php", "<?php $total = 1;\n", "function", "keyword of PHP"},
		"to a number":                  {"a.py", "total = 1\n", "1st", "begins with a digit"},
		"to two words":                 {"a.py", "total = 1\n", "to tal", "no identifier"},
		"to a dashed word":             {"a.py", "total = 1\n", "to-tal", "no identifier"},
		"to nothing":                   {"a.py", "total = 1\n", "", "empty"},
		"to a name that is there":      {"a.py", "total = 1\nsum = total\n", "sum", "a.py:2"},
		"to a Ruby mark in the middle": {"a.rb", "total = 1\n", "a!b", "no identifier"},
	} {
		t.Run(rule, func(t *testing.T) {
			f, err := source.Lex(t.Context(), c.file, c.src)
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := f.Rename("total", c.to); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestANameThatStandsInTextAloneIsNotTaken(t *testing.T) {
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

func TestPatterns(t *testing.T) {
	for rule, c := range map[string]struct {
		pattern, with string
		regex         bool
		src, want     string
	}{
		"a text is no expression":               {"a.b", "x", false, "a.b axb", "x axb"},
		"a dollar of a text is a dollar":        {"a", "$1", false, "a", "$1"},
		"groups are put in":                     {`(\w+)@(\w+)`, "$2 at $1", true, "me@home", "home at me"},
		"a named group too":                     {`(?P<x>a)`, "${x}${x}", true, "a", "aa"},
		"two dollars are one":                   {`a`, "$$1", true, "a", "$1"},
		"^ and $ are of lines":                  {`^a$`, "b", true, "a\nab\na", "b\nab\nb"},
		"matches of nothing are passed over":    {`x*`, "y", true, "axxb", "ayb"},
		"what stays the same is no edit":        {`a+`, "a", true, "a aa", "a a"},
		"a line of CR LF ends before the CR":    {`b$`, "c", true, "ab\r\nb\r\n", "ac\r\nc\r\n"},
		"a new line becomes CR LF where all do": {"b", "c\nd", false, "ab\r\n", "ac\r\nd\r\n"},
		"a pattern over lines fits CR LF":       {"a\nb", "x", false, "1\r\na\r\nb\r\n", "1\r\nx\r\n"},
		"nothing may be put there":              {"a", "", false, "banana", "bnn"},
		"letters beyond ASCII":                  {"ö", "oe", false, "schön größer", "schoen groeßer"},
	} {
		t.Run(rule, func(t *testing.T) {
			p, err := source.NewPattern(c.pattern, c.with, c.regex)
			if err != nil {
				t.Fatal(err)
			}
			edits, _ := p.Edits("f", c.src, 1<<20)
			got, err := source.Apply(c.src, edits)
			if err != nil || got != c.want {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
	for rule, c := range map[string][3]string{
		"an empty pattern":          {"", "", "empty"},
		"a broken expression":       {"(", "", "cannot be read"},
		"a group that is not there": {"(a)", "$2", "$2"},
		"a group by a longer name":  {"(a)", "$1x", "${1}"},
	} {
		t.Run(rule+" is refused", func(t *testing.T) {
			if _, err := source.NewPattern(c[0], c[1], true); err == nil || !strings.Contains(err.Error(), c[2]) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestNearNames(t *testing.T) {
	names := []string{"Run.Apply", "Run.Append", "Session", "apply_all", "x"}
	for asked, want := range map[string][]string{
		"Aply": {"Run.Apply"}, "apply": {"Run.Apply", "apply_all"}, "Sesion": {"Session"}, "qqqqq": nil,
	} {
		if got := source.Near(asked, names); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %q, want %q", asked, got, want)
		}
	}
}

func TestEditsThatOverlapAreRefused(t *testing.T) {
	if _, err := source.Apply("abc", []source.Edit{{Start: 0, End: 2}, {Start: 1, End: 3}}); err == nil {
		t.Error("no error")
	}
	if _, err := source.Apply("abc", []source.Edit{{Start: 2, End: 9}}); err == nil {
		t.Error("no error")
	}
}
