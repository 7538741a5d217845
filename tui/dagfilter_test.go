package tui

import (
	"strings"
	"testing"

	"replan/agent"
	"replan/agent/event"
)

func TestTheFilterStandsUnderTheStepsAndGoesWithEsc(t *testing.T) {
	d := newDAGPane(darkLook())
	d.setSize(60, 8)
	d.show(planOf("✓ fs.read", "✗ fs.write", "⠋ test.run", "✗ fs.read 2"))
	d.lines()
	d.startFilter()
	if got := d.lines(); !strings.Contains(stripped(got[7:]), "/") || !strings.Contains(stripped(got[7:]), "status:failed") {
		t.Errorf("the line says %q", stripped(got[7:]))
	}
	for _, letter := range "fail" {
		d.seek(d.filter.text + string(letter))
	}
	if got := stripped(d.lines()); !strings.Contains(got, "/fail") || !strings.Contains(got, "2 steps of 4") {
		t.Errorf("got\n%s", got)
	}
	d.filterHandlers().act("list.choose")
	var went []string
	for range 3 {
		d.nextMatch(1)
		went = append(went, d.selected)
	}
	d.nextMatch(-1)
	if went = append(went, d.selected); strings.Join(went, " ") != "4 2 4 2" {
		t.Errorf("n and N went %v", went)
	}
	// What a step becomes decides about it at once.
	d.run.Steps[2].Status = agent.StepBroken
	d.heard(d.run, event.StepFailed{Index: "3"})
	d.touch()
	if got := kinds(d); got != "2 | 3 | 4" {
		t.Errorf("after a failure it shows %s", got)
	}
	d.clearFilter()
	if got := kinds(d); got != "1 | 2 | 3 | 4" || strings.Contains(stripped(d.lines()), "/fail") {
		t.Errorf("without a filter it shows %s", got)
	}
}
