package dialog

import (
	"testing"

	"replan/agent"
	"replan/internal/untrusted"
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
		got := runWords(panetest.DarkLook(), agent.Summary{Title: untrusted.Text(c.title), Goal: untrusted.Text(c.goal)})
		if got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
