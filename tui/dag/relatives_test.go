package dag

import (
	"testing"

	"replan/tui/panetest"
)

func TestSelectedStepHighlightsDependenciesAndDependents(t *testing.T) {
	run := panetest.WideRun(3)
	run.Steps[1].Step.DependsOn = []string{"1"}
	d := New(panetest.DarkLook(), panetest.Keys())
	resize(d, 60, 8)
	focus(d, true)
	d.Show(run)
	d.View()
	chosen := d.Chosen()
	for i := range d.list.outline.Rows {
		r := &d.list.outline.Rows[i]
		if r.Kind != RowStep || r == chosen {
			continue
		}
		want := relationDim
		if (chosen.Key == "1" && r.Key == "2") || (chosen.Key == "2" && r.Key == "1") {
			want = relationLit
		}
		if got := d.list.painter.relatives.of(r); got != want {
			t.Errorf("with %s selected, %s is %v", chosen.Key, r.Key, got)
		}
	}
}
