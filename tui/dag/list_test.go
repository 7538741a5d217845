package dag

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"replan/agent"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/panetest"
)

func revisedTwice() *agent.Run {
	state := func(index, title string, status agent.StepStatus, change agent.Change, deps ...string) *agent.StepState {
		return &agent.StepState{Step: plan.Step{Index: index, Title: untrusted.Text(title), Tool: "t", DependsOn: deps}, Status: status, Change: change}
	}
	return &agent.Run{
		Terms: agent.Terms{ID: "r"},
		Board: agent.Board{
			Revision: 3,
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
		},
	}
}

func TestOlderRevisionsCollapseToOneLine(t *testing.T) {
	d := New(panetest.DarkLook(), panetest.Keys())
	resize(d, 60, 12)
	d.Show(revisedTwice())
	folded := "   ✓ 1 First  t    0ms\n │ ▸ rev 2: 2 removed, 1 added (enter opens)\n │ ▾ rev 3: because again\n − │ ✗ 4 Fourth  t  failed\n + ○ 5 Fifth   t ready"
	if got := panetest.Stripped(d.View()); squash(got) != squash(folded) {
		t.Fatalf("got\n%s", got)
	}
	d.Move(-100)
	d.Move(1)
	if !d.toggle() {
		t.Fatalf("%q is selected instead of the revision", d.Selected())
	}
	if got := panetest.Stripped(d.View()); !strings.Contains(got, "▾ rev 2") || !strings.Contains(got, "Second") || !strings.Contains(got, "Third") ||
		strings.Index(got, "Third") > strings.Index(got, "Fourth") {
		t.Fatalf("got\n%s", got)
	}
	if d.toggle(); strings.Contains(panetest.Stripped(d.View()), "Second") {
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
	d := New(panetest.DarkLook(), panetest.Keys())
	resize(d, 60, 8)
	d.Show(run)
	if got := panetest.Stripped(d.View()); !strings.Contains(got, "←2,3") {
		t.Errorf("got\n%s", got)
	}
}

func TestSummaryCountsStepsOfLongPlan(t *testing.T) {
	d := New(panetest.DarkLook(), panetest.Keys())
	resize(d, 60, 8)
	d.Show(panetest.WideRun(60))
	d.View()
	if got := ansi.Strip(d.Summary()); got != "✓20 ⠋4 ○6 ◦30" {
		t.Errorf("got %q", got)
	}
}

// longTitle returns a pane with one long title among short ones, with the keys.
func longTitle() *Pane {
	run := panetest.WideRun(4)
	run.Steps[1].Step.Title = "Find every caller of the function and write down what each one passes"
	for _, s := range run.Steps {
		s.Step.Tool = "fs.search"
	}
	d := New(panetest.DarkLook(), panetest.Keys())
	d.graph.mode = graphNever
	resize(d, 58, 8)
	focus(d, true)
	d.Show(run)
	return d
}

func TestTitlesTakeTheRoomOfTheToolsInANarrowPane(t *testing.T) {
	d := longTitle()
	focus(d, false)
	resize(d, 52, 8)
	got := panetest.Stripped(d.View())
	if strings.Contains(got, "fs.search") || !strings.Contains(got, "Find every caller of the function an…") {
		t.Errorf("got\n%s", got)
	}
}

func TestToolsAreInOneColumn(t *testing.T) {
	d := longTitle()
	focus(d, false)
	column := -1
	for _, line := range d.View()[:4] {
		text, _, found := strings.Cut(ansi.Strip(line), "fs.search")
		if at := ansi.StringWidth(text); !found || column >= 0 && at != column {
			t.Fatalf("the tool is in column %d, not %d:\n%s", at, column, panetest.Stripped(d.View()))
		} else {
			column = at
		}
	}
}

func TestChosenRowShowsItsWholeTitleOnTwoLines(t *testing.T) {
	d := longTitle()
	d.reveal("2")
	lines := strings.Split(panetest.Stripped(d.View()), "\n")
	if !strings.Contains(lines[1], "Find every caller of the") || !strings.Contains(lines[1], "fs.search") || !strings.Contains(lines[2], " function and write down what each one passes") {
		t.Errorf("got\n%s", strings.Join(lines, "\n"))
	}
	d.clicked(5, 2)
	if d.Selected() != "2" {
		t.Errorf("a click on the second line selects %q", d.Selected())
	}
	d.clicked(5, 4)
	if d.Selected() != "4" {
		t.Errorf("a click on the fourth row selects %q", d.Selected())
	}
}

func TestLastRowStaysInReachBelowTitleOnTwoLines(t *testing.T) {
	for _, chosen := range []string{"2", "4"} {
		d := longTitle()
		d.Run().Steps[3].Step.Title = d.Run().Steps[1].Step.Title
		resize(d, 58, 3)
		d.reveal(chosen)
		d.View()
		d.scroll(0, 9)
		if lines := d.View(); !strings.Contains(panetest.Stripped(lines), " 4 Find") {
			t.Errorf("with step %s chosen got\n%s", chosen, panetest.Stripped(lines))
		}
	}
}
