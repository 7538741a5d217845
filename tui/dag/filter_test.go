package dag

import (
	"strings"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/tui/panetest"
)

func TestTheFilterStandsUnderTheStepsAndGoesWithEsc(t *testing.T) {
	d := New(panetest.DarkLook())
	d.SetSize(60, 8)
	d.Show(planOf("✓ fs.read", "✗ fs.write", "⠋ test.run", "✗ fs.read 2"))
	d.Lines()
	d.StartFilter()
	if got := d.Lines(); !strings.Contains(panetest.Stripped(got[7:]), "/") || !strings.Contains(panetest.Stripped(got[7:]), "status:failed") {
		t.Errorf("the line says %q", panetest.Stripped(got[7:]))
	}
	for _, letter := range "fail" {
		d.Seek(d.Filter.Text + string(letter))
	}
	if got := panetest.Stripped(d.Lines()); !strings.Contains(got, "/fail") || !strings.Contains(got, "2 steps of 4") {
		t.Errorf("got\n%s", got)
	}
	d.FilterHandlers().Act("list.choose")
	var went []string
	for range 3 {
		d.NextMatch(1)
		went = append(went, d.Selected)
	}
	d.NextMatch(-1)
	if went = append(went, d.Selected); strings.Join(went, " ") != "4 2 4 2" {
		t.Errorf("n and N went %v", went)
	}
	// What a step becomes decides about it at once.
	d.Run.Steps[2].Status = agent.StepFailed
	d.Heard(d.Run, event.StepFailed{Index: "3"})
	d.Touch()
	if got := kinds(d); got != "2 | 3 | 4" {
		t.Errorf("after a failure it shows %s", got)
	}
	d.clearFilter()
	if got := kinds(d); got != "1 | 2 | 3 | 4" || strings.Contains(panetest.Stripped(d.Lines()), "/fail") {
		t.Errorf("without a filter it shows %s", got)
	}
}
