package dag

import (
	"reflect"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/agent/session"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/panetest"
)

// listPane shows a plan as a list on ten lines.
func listPane(run *agent.Run) *Pane {
	d := New(panetest.DarkLook(), panetest.Keys())
	d.graph.mode = graphNever
	d.Show(run)
	d.SetState(State{Size: draw.Rect{W: 80, H: 10}})
	d.View()
	return d
}

func TestMouseAndKeysActOnPane(t *testing.T) {
	d := listPane(panetest.WideRun(40))
	d.Update(tea.MouseClickMsg{X: 3, Y: 4, Button: tea.MouseLeft})
	if d.Selected() != d.list.outline.Rows[d.list.view.top+4].Key || d.cursor.Follows {
		t.Errorf("a click on line 4 selects %q, following %v", d.Selected(), d.cursor.Follows)
	}
	top := d.list.view.top
	if d.Update(tea.MouseWheelMsg{Button: tea.MouseWheelDown}); d.list.view.top != top+draw.WheelStep {
		t.Errorf("the wheel scrolls from %d to %d", top, d.list.view.top)
	}
	d.Actions()["plan.filter"].Do()
	d.Update(tea.KeyPressMsg{Code: 'x', Text: "x"})
	if !d.filter.typing || d.filter.text != "x" {
		t.Errorf("typing %v, the filter is %q", d.filter.typing, d.filter.text)
	}
}

func TestOpenFailedStepAsksOnlyIfRunIsResumable(t *testing.T) {
	run := panetest.WideRun(3)
	run.Steps[1].Status = agent.StepFailed
	d := listPane(run)
	d.reveal("2")
	open := d.Actions()["plan.open"]
	if w := open.Do(); keymap.Place(keymap.First[keymap.Focus](w)) != keymap.PlaceStep || keymap.First[keymap.ReopenFailure](w).Step != nil {
		t.Errorf("for a run that cannot be resumed got %+v", w)
	}
	d.state.Resumable = true
	if w := open.Do(); keymap.First[keymap.ReopenFailure](w).Step != run.Steps[1] || keymap.Place(keymap.First[keymap.Focus](w)) != keymap.PlaceEverywhere {
		t.Errorf("for a resumable run got %+v", w)
	}
}

func TestCancelNamesStepAndIsRefusedAfterRun(t *testing.T) {
	run := panetest.WideRun(3)
	run.Steps[0].Status = agent.StepRunning
	d := listPane(run)
	d.reveal("1")
	_, why := d.Actions().Act("plan.cancel")
	if !strings.Contains(why, "has ended") {
		t.Errorf("after the run it is refused with %q", why)
	}
	d.state.Live = true
	w, why := d.Actions().Act("plan.cancel")
	if want := []session.Command{session.Cancel{Run: run.ID, Step: "1"}}; why != "" || !reflect.DeepEqual(panetest.Sent(w), want) || string(keymap.First[keymap.FooterUntilEvent](w)) == "" {
		t.Errorf("refused %q, asks for %+v", why, w)
	}
}

func TestCancelOfItemSaysThatNoOtherBegins(t *testing.T) {
	d := listPane(panetest.EachRun(8, 2))
	d.state.Live = true
	d.selectKey("2")
	d.toggleCalls()
	for key, want := range map[string]string{"2": "; the others continue.", "2.4": "; no other item begins."} {
		d.reveal(key)
		if w, why := d.Actions().Act("plan.cancel"); why != "" || !strings.HasSuffix(string(keymap.First[keymap.FooterUntilEvent](w)), want) {
			t.Errorf("for step %s it is refused with %q, and says %q", key, why, string(keymap.First[keymap.FooterUntilEvent](w)))
		}
	}
}
