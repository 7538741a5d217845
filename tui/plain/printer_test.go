package plain_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"replan/themes"
	"replan/tui/plain"
)

// lines returns what a printer writes on a terminal of 30 cells.
func lines(write func(*plain.Printer)) []string {
	o := terminal(themes.Mode{})
	o.Width = func() int { return 30 }
	var out strings.Builder
	write(plain.NewPrinter(&out, o))
	return strings.Split(strings.TrimSuffix(ansi.Strip(out.String()), "\n"), "\n")
}

func TestLongLinesHangBehindTheirSignOrLabel(t *testing.T) {
	const words = "one two three four five six seven"
	for name, c := range map[string]struct {
		write func(*plain.Printer)
		want  string
	}{
		"sign":   {func(p *plain.Printer) { p.Line("  %s %s", p.Signs.Done, words) }, "  ✓ one two three four five\n    six seven"},
		"label":  {func(p *plain.Printer) { p.Line("  rule: %s", words) }, "  rule: one two three four\n        five six seven"},
		"words":  {func(p *plain.Printer) { p.Line("  %s", words) }, "  one two three four five six\n  seven"},
		"field":  {func(p *plain.Printer) { p.Fields(plain.Field{"goal", words}, plain.Field{"model", ""}) }, "goal  one two three four five\n      six seven"},
		"list":   {func(p *plain.Printer) { p.Markdown("- " + words) }, "• one two three four five six\n  seven"},
		"output": {func(p *plain.Printer) { p.Block("  ", words+"\n  x", 0) }, "  " + words + "\n    x"},
		"plan": {func(p *plain.Printer) {
			p.Plan("", "├ ○ 1. "+words+"  [a]\n└ ○ 2. two                                [b]\n")
		}, "├ ○ 1. one two three fou…  [a]\n└ ○ 2. two                 [b]"},
		"short line": {func(p *plain.Printer) { p.Line("%s %s", p.Signs.Done, "done") }, "✓ done"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(lines(c.write), "\n"); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestLongLinesStayWholeWithoutATerminal(t *testing.T) {
	var out strings.Builder
	p := plain.NewPrinter(&out, plain.Options{})
	long := strings.Repeat("word ", 40) + "end"
	p.Line("%s %s", p.Signs.Done, long)
	p.Fields(plain.Field{Name: "goal", Value: long})
	if got, want := out.String(), "✓ "+long+"\ngoal: "+long+"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
