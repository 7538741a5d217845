package dag

import (
	"strings"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/tui/panetest"
)

func TestFilterShowsMatchesUntilCleared(t *testing.T) {
	d := New(panetest.DarkLook(), panetest.Keys())
	resize(d, 60, 8)
	d.Show(planOf("✓ fs.read", "✗ fs.write", "⠋ test.run", "✗ fs.read 2"))
	d.View()
	d.startFilter()
	if got := d.View(); !strings.Contains(panetest.Stripped(got[7:]), "/") || !strings.Contains(panetest.Stripped(got[7:]), "status:failed") {
		t.Errorf("the filter line is %q", panetest.Stripped(got[7:]))
	}
	for _, letter := range "fail" {
		d.seek(d.filter.text + string(letter))
	}
	if got := panetest.Stripped(d.View()); !strings.Contains(got, "/fail") || !strings.Contains(got, "2 steps of 4") {
		t.Errorf("got\n%s", got)
	}
	d.Mode().Actions.Act("list.choose")
	var selected []string
	for range 3 {
		d.nextMatch(1)
		selected = append(selected, d.Selected())
	}
	d.nextMatch(-1)
	if selected = append(selected, d.Selected()); strings.Join(selected, " ") != "4 2 4 2" {
		t.Errorf("n and N select %v", selected)
	}
	// A changed status is filtered at once.
	d.Run().Steps[2].Status = agent.StepFailed
	d.ApplyEvent(d.Run(), event.StepFailed{Index: "3"})
	d.Invalidate()
	if got := rowsOf(d); got != "2 | 3 | 4" {
		t.Errorf("after a failure got %s", got)
	}
	d.clearFilter()
	if got := rowsOf(d); got != "1 | 2 | 3 | 4" || strings.Contains(panetest.Stripped(d.View()), "/fail") {
		t.Errorf("without a filter got %s", got)
	}
}
