package dag

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"replan/agent"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/keymap"
	"replan/tui/panetest"
)

func revisedTwice() *agent.Run {
	state := func(index, title string, status agent.StepStatus, change agent.Change, deps ...string) *agent.StepState {
		return &agent.StepState{Step: plan.Step{Index: index, Title: untrusted.Text(title), Tool: "t", DependsOn: deps}, Status: status, Change: change}
	}
	return &agent.Run{
		ID: "r", Revision: 3,
		Steps: []*agent.StepState{
			state("1", "First", agent.StepCompleted, agent.ChangeNone),
			state("5", "Fifth", agent.StepPending, agent.ChangeAdded, "1"),
		},
		Revisions: []agent.Revision{
			{Number: 2, Reason: "no", Removed: []agent.StepState{
				*state("2", "Second", agent.StepFailed, agent.ChangeNone), *state("3", "Third", agent.StepPending, agent.ChangeNone),
			}, After: []string{"1", "2"}, Added: []string{"4"}},
			{Number: 3, Reason: "again", Removed: []agent.StepState{*state("4", "Fourth", agent.StepFailed, agent.ChangeAdded)}, After: []string{"1"}, Added: []string{"5"}},
		},
	}
}

func TestOlderRevisionsCollapseToOneLine(t *testing.T) {
	d := New(panetest.DarkLook(), keymap.New())
	d.setSize(60, 12)
	d.Show(revisedTwice())
	folded := "   ┌ ✓ 1 First  t    0ms\n │ ▸ rev 2: 2 removed, 1 added (enter opens)\n │ ▾ rev 3: because again\n − │ ✗ 4 Fourth  t  failed\n + └ ○ 5 Fifth   t ready"
	if got := panetest.Stripped(d.lines()); squash(got) != squash(folded) {
		t.Fatalf("got\n%s", got)
	}
	d.Move(-100)
	d.Move(1)
	if !d.toggle() {
		t.Fatalf("%q is selected instead of the revision", d.Selected)
	}
	if got := panetest.Stripped(d.lines()); !strings.Contains(got, "▾ rev 2") || !strings.Contains(got, "Second") || !strings.Contains(got, "Third") ||
		strings.Index(got, "Third") > strings.Index(got, "Fourth") {
		t.Fatalf("got\n%s", got)
	}
	if d.toggle(); strings.Contains(panetest.Stripped(d.lines()), "Second") {
		t.Error("it does not collapse again")
	}
}

// squash reduces runs of blanks to one, so that column widths do not matter.
func squash(s string) string {
	var out []string
	for line := range strings.SplitSeq(s, "\n") {
		out = append(out, strings.Join(strings.Fields(strings.NewReplacer("▌", " ").Replace(line)), " "))
	}
	return strings.Join(out, "\n")
}

func TestBlockedStepNamesUnfinishedDependencies(t *testing.T) {
	run := panetest.WideRun(4)
	for i, s := range run.Steps {
		s.Status = agent.StepPending
		if i == 3 {
			s.Step.DependsOn = []string{"1", "2", "3"}
		}
	}
	run.Steps[0].Status = agent.StepCompleted
	d := New(panetest.DarkLook(), keymap.New())
	d.setSize(60, 8)
	d.Show(run)
	if got := panetest.Stripped(d.lines()); !strings.Contains(got, "←2,3") {
		t.Errorf("got\n%s", got)
	}
}

func TestSummaryCountsStepsOfLongPlan(t *testing.T) {
	d := New(panetest.DarkLook(), keymap.New())
	d.setSize(60, 8)
	d.Show(panetest.WideRun(60))
	d.lines()
	if got := ansi.Strip(d.Summary()); got != "✓20 ⠋4 ○6 ·30" {
		t.Errorf("got %q", got)
	}
}
