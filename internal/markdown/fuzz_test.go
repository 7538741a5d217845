package markdown_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"replan/internal/markdown"
)

// FuzzQuotes checks with a parser of Markdown that text cannot leave the block or the
// span of code that quotes it.
func FuzzQuotes(f *testing.F) {
	for _, s := range []string{"a", "```\nb", "~~~", "` `` ```", "`", " ` ", "a\r```\rb", "\n\n```", "<script>", "[a](b)", "\t```", "x\u2028```", "\x00", "\\`", "a\n    ```"} {
		f.Add(s)
	}
	parse := func(source string) ast.Node { return goldmark.DefaultParser().Parse(text.NewReader([]byte(source))) }
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			return
		}
		for name, block := range map[string]string{"Block": markdown.Block(s), "Fence": markdown.Fence("go", s, len(s)+1)} {
			root := parse(block)
			if root.ChildCount() != 1 || root.FirstChild().Kind() != ast.KindFencedCodeBlock {
				t.Fatalf("%s(%q) = %q has %d parts", name, s, block, root.ChildCount())
			}
		}
		code := markdown.Code(s, 200)
		if code == "" {
			return
		}
		paragraph := parse("a " + code + " b").FirstChild()
		if paragraph.Kind() != ast.KindParagraph || paragraph.NextSibling() != nil || strings.Contains(code, "\n") {
			t.Fatalf("Code(%q) = %q is no span", s, code)
		}
		spans := 0
		for n := paragraph.FirstChild(); n != nil; n = n.NextSibling() {
			if n.Kind() != ast.KindText {
				spans++
			}
			if n.Kind() != ast.KindText && n.Kind() != ast.KindCodeSpan {
				t.Fatalf("Code(%q) = %q holds a %s", s, code, n.Kind())
			}
		}
		if spans != 1 {
			t.Fatalf("Code(%q) = %q has %d spans", s, code, spans)
		}
	})
}
