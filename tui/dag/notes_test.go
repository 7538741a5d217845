package dag

import (
	"strings"
	"testing"

	"replan/planning/plan"
	"replan/tui/panetest"
)

func TestPlanNotesFillAvailableRoom(t *testing.T) {
	d := New(panetest.DarkLook(), panetest.Keys())
	run := panetest.WideRun(3)
	run.Plan.DoneWhen = "the tests pass"
	run.Plan.Milestones = []plan.Milestone{{Title: "Understand", Steps: []string{"1", "2"}}, {Title: "Report"}}
	run.Plan.Risks = []string{"a \x1b[31mred\x1b[0m risk"}
	d.Show(run)
	resize(d, 60, 20)
	if got := panetest.Stripped(d.plan.notes(60, 10)); !strings.Contains(got, "done if  the tests pass") || !strings.Contains(got, "◇ milestone: Understand (1, 2)") || !strings.Contains(got, "◇ milestone: Report") || strings.Contains(got, "\x1b") {
		t.Errorf("got\n%s", got)
	}
	if got := d.plan.notes(60, 3); len(got) != 3 {
		t.Errorf("for 3 lines it draws %d", len(got))
	}
	run.Plan.DoneWhen, run.Plan.Milestones, run.Plan.Risks = "", nil, nil
	if got := d.plan.notes(60, 10); len(got) != 0 {
		t.Errorf("a plan without notes draws %q", got)
	}
}
