package draw_test

import (
	"strings"
	"testing"

	"replan/tui/draw"
	"replan/tui/panetest"
	"replan/tui/wording"
)

func TestTableFitsItsWidth(t *testing.T) {
	tools := wording.Table{
		Names:   []string{"name", "stars", "note"},
		Rows:    [][]string{{"lazygit", "52000", "a simple terminal UI for git"}, {"日本語", "7", ""}, {"fzf"}},
		Numbers: []bool{false, true, false},
	}
	for name, c := range map[string]struct {
		table   wording.Table
		width   int
		want    []string
		missing string
	}{
		"room for all": {tools, 60, []string{
			"name     stars  note",
			"lazygit  52000  a simple terminal UI for git",
			"日本語       7",
			"fzf",
		}, ""},
		"the widest column is cut": {tools, 28, []string{
			"name     stars  note",
			"lazygit  52000  a simple te…",
			"日本語       7",
			"fzf",
		}, ""},
		"columns without room are left out": {tools, 16, []string{
			"name    stars",
			"lazyg…  52000",
			"日本語      7",
			"fzf",
		}, "1 more column"},
		"the last column is cut to a cell": {tools, 1, []string{"n", "l", "", "f"}, "2 more columns"},
		"a plain listing": {wording.Table{Rows: [][]string{{"src/", ""}, {"a.go", "6 bytes"}, {"b.go", "1.2 KB"}}, Numbers: []bool{false, true}}, 40, []string{
			"src/",
			"a.go  6 bytes",
			"b.go   1.2 KB",
		}, ""},
	} {
		table := draw.NewTable(panetest.DarkLook(), c.width, c.table)
		var got []string
		for i := range table.Count() {
			for _, row := range table.Rows(i, c.width) {
				if draw.VisibleWidth(row) > c.width {
					t.Errorf("%s: %q is wider than %d cells", name, row, c.width)
				}
				got = append(got, strings.TrimRight(draw.Unstyled(row), " "))
			}
		}
		if strings.Join(got, "\n") != strings.Join(c.want, "\n") || table.Missing() != c.missing {
			t.Errorf("%s: got\n%s\n%q", name, strings.Join(got, "\n"), table.Missing())
		}
	}
}
