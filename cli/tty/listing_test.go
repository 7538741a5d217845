package tty_test

import (
	"testing"

	"replan/cli/tty"
)

func TestTabsKeepsWholeValuesOnOneLine(t *testing.T) {
	got := tty.Tabs([][]string{{"r-1", "a\tgoal\nof two lines", ""}, {"r-2", "\x1b[31mred", "3/4"}})
	if want := "r-1\ta goal of two lines\t\nr-2\t^[[31mred\t3/4\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
