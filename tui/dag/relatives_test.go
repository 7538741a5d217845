package dag

import (
	"testing"

	"replan/tui/panetest"
)

func TestSelectedStepHighlightsItsOwnDependenciesAndDependents(t *testing.T) {
	run := panetest.WideRun(7)
	for i := range 4 { // a chain of five, and two on their own
		run.Steps[i+1].Step.DependsOn = []string{run.Steps[i].Step.Index}
	}
	d := New(panetest.DarkLook(), panetest.Keys())
	resize(d, 60, 12)
	focus(d, true)
	d.Show(run)
	d.View()
	d.selectKey("3")
	d.View()
	want := map[string]relation{"1": relationNone, "2": relationLit, "3": relationSelf, "4": relationLit, "5": relationNone, "6": relationDim, "7": relationDim}
	for i := range d.list.outline.Rows {
		r := &d.list.outline.Rows[i]
		if got := d.list.painter.relatives.of(r); r.Kind == RowStep && got != want[r.Key] {
			t.Errorf("with 3 selected, %s is %v", r.Key, got)
		}
	}
}
