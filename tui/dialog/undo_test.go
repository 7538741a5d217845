package dialog_test

import (
	"strings"
	"testing"

	"replan/agent"
	"replan/internal/untrusted"
	"replan/tui/dialog"
	"replan/tui/draw"
	"replan/tui/panetest"
)

func TestRunIsNamedByTitleAndGoalUnlessOneContainsTheOther(t *testing.T) {
	for _, c := range []struct{ title, goal, want string }{
		{"Rename Item to Line", "rename Item to Line, run the tests", "rename Item to Line, run the tests"},
		{"Find where `Foo` is used", "find where foo is used.", "Find where `Foo` is used"},
		{"Fix the build", "make it compile", "Fix the build · make it compile"},
		{"Rename Items", "rename Item", "Rename Items · rename Item"},
		{"", "make it compile", "make it compile"},
		{"Fix the build", "", "Fix the build"},
		{"", "???", "???"},
	} {
		d := dialog.NewUndo(panetest.DarkLook(), panetest.Keys())
		d.Open(agent.Summary{Title: untrusted.Text(c.title), Goal: untrusted.Text(c.goal)}, false)
		lines := d.View(draw.Rect{W: 80, H: 20})
		row := panetest.Stripped(lines[lineOf(t, lines, "Undo last run")+1:][:1])
		if got := strings.Trim(row, "│ "); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
