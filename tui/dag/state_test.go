package dag

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/themes"
	"replan/tui/draw"
	"replan/tui/panetest"
)

// everyState is a run with a step in every state, after a replan.
func everyState() *agent.Run {
	began := time.Unix(100, 0)
	run := &agent.Run{Terms: agent.Terms{ID: "r"}, Board: agent.Board{Revision: 3}, Clock: agent.Clock{StartedAt: began, Now: began}}
	add := func(index, title, tool string, status agent.StepStatus, deps string) *agent.StepState {
		step := plan.Step{Index: index, Title: untrusted.Text(title), Tool: tool, Executor: plan.ExecutorTool}
		if deps != "" {
			step.DependsOn = strings.Split(deps, ",")
		}
		s := &agent.StepState{Step: step, Status: status}
		run.Steps = append(run.Steps, s)
		return s
	}
	add("1", "List the packages", "fs.list", agent.StepCompleted, "").MS = 34
	add("2", "Read the handler", "fs.read", agent.StepCompleted, "1").MS = 1240
	s := add("3", "Download the fixtures", "net.fetch", agent.StepRunning, "1")
	s.StartedAt, s.Progress = began, event.StepProgress{Done: 62, Total: 100, Message: "fixtures.tar"}
	s = add("4", "Run the tests", "test.run", agent.StepRunning, "1")
	s.StartedAt, s.Progress, s.Attempt = began, event.StepProgress{Done: 3, Total: 8}, 2
	s = add("5", "Ask the explorer", "", agent.StepRunning, "1")
	s.StartedAt, s.Step.Executor, s.Step.Profile = began, plan.ExecutorAgent, "explorer"
	s.Loop = &agent.Loop{Calls: []*agent.StepState{
		{Step: plan.Step{Index: "5.1", Title: "fs.search", Args: map[string]any{"query": "ExpiresAt"}}, Status: agent.StepCompleted, MS: 80, Parent: "5"},
		{Step: plan.Step{Index: "5.2", Title: "fs.read", Args: map[string]any{"path": "session.go"}}, Status: agent.StepRunning, StartedAt: began, Parent: "5"},
	}}
	add("6", "Look the name up again", "fs.search", agent.StepPending, "2").RetryAt = began.Add(time.Minute)
	run.Steps[5].Attempt, run.Steps[5].Error = 1, "the index is being built"
	s = add("7", "Write the report", "fs.write", agent.StepWaiting, "2")
	s.Change = agent.ChangeAdded
	s = add("8", "Look for callers", "fs.search", agent.StepPending, "2")
	s.Change, s.Step.Args = agent.ChangeRevised, map[string]any{"query": "verifyUser"}
	add("9", "Push the branch", "vcs.push", agent.StepInDoubt, "2").Error = "the connection was lost"
	s = add("10", "Measure the coverage", "test.cover", agent.StepFailed, "2")
	s.Error = "exit status 1: no test files"
	add("11", "Publish the coverage", "net.put", agent.StepSkipped, "10").Error = "step 10 did not succeed"
	add("12", "Sum up", "", agent.StepPending, "3,4,5,7").Step.Executor = plan.ExecutorSelf
	removed := agent.StepState{Step: plan.Step{Index: "7", Title: "Patch the handler", Tool: "fs.patch"}, Status: agent.StepFailed}
	before := *run.Steps[7]
	before.Step.Args, before.Step.Tool = map[string]any{"query": "authenticate"}, "fs.grep"
	run.Revisions = []agent.Revision{
		{Number: 2, Reason: "first", Removed: []agent.StepState{{Step: plan.Step{Index: "4", Title: "Old", Tool: "t"}}}, After: []string{"1"}},
		{Number: 3, Reason: "the text to replace is not in handler.go\nsecond line", Removed: []agent.StepState{removed}, After: []string{"2"}, Added: []string{"7"}, Revised: []string{"8"}, Before: []agent.StepState{before}},
	}
	return run
}

func TestStepStates(t *testing.T) {
	for _, c := range []struct {
		name string
		mode themes.Mode
		dark bool
	}{{"dark", themes.Mode{}, true}, {"light", themes.Mode{}, false}, {"no color", themes.Mode{NoColor: true}, true}, {"ascii", themes.Mode{ASCII: true, NoColor: true}, true}} {
		for _, width := range []int{110, 60, 40} {
			t.Run(fmt.Sprintf("%s %d", c.name, width), func(t *testing.T) {
				l := draw.NewStyles(new(themes.Set).New(themes.Auto, c.dark, c.mode))
				l.Now = time.Unix(104, 0)
				d := New(l, panetest.Keys())
				resize(d, width, 24)
				focus(d, true)
				d.Show(everyState())
				d.View()
				d.selectKey("2")
				lines := d.View()
				if c.name == "ascii" || c.name == "dark" && width != 60 {
					golden.RequireEqual(t, panetest.Stripped(lines)+"\n")
					return
				}
				golden.RequireEqual(t, strings.Join(lines, "\n")+"\n")
			})
		}
	}
}

func TestDraftedPlanIsLabeled(t *testing.T) {
	run := planOf("· fs.read", "⠋ fs.read", "· sum 1,2")
	run.Revision = 0
	for _, s := range run.Steps {
		s.Draft = true
	}
	d := New(panetest.DarkLook(), panetest.Keys())
	resize(d, 50, 4)
	d.Show(run)
	if got := panetest.Stripped(d.View()); strings.Count(got, "drafting") != 2 || strings.Count(got, "◌") != 2 {
		t.Errorf("got\n%s", got)
	}
	if d.Title() != "Plan · drafting · 0:00 · follow" {
		t.Errorf("the title is %q", d.Title())
	}
}

// TestRollUps draws a large plan: with automatic roll-ups, with an opened fan-out,
// and narrow.
func TestRollUps(t *testing.T) {
	for _, c := range []struct {
		name  string
		width int
		mode  themes.Mode
		do    func(d *Pane)
	}{
		{"wide", 90, themes.Mode{}, func(*Pane) {}},
		{"narrow", 40, themes.Mode{}, func(*Pane) {}},
		{"ascii", 60, themes.Mode{ASCII: true, NoColor: true}, func(*Pane) {}},
		{"opened", 60, themes.Mode{}, func(d *Pane) { d.Move(-100); d.Move(1); d.toggle() }},
		{"filtered", 60, themes.Mode{}, func(d *Pane) { d.startFilter(); d.filter.text, d.stale = "read running", true }},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := draw.NewStyles(new(themes.Set).New(themes.Dark, true, c.mode))
			l.Now = time.Unix(4, 0)
			d := New(l, panetest.Keys())
			resize(d, c.width, 14)
			focus(d, true)
			d.Show(panetest.FanRun(100, 4))
			d.View()
			c.do(d)
			golden.RequireEqual(t, panetest.Stripped(d.View())+"\n")
		})
	}
}

func TestStepThatIsNotTakenKeepsItsTitle(t *testing.T) {
	for width, wants := range map[int]string{48: "Deploy to production", 60: "Deploy to production", 100: "stage is \"test\""} {
		run := planOf("✓ find the longest title of them", "— deploy")
		s := run.Steps[1]
		s.Step.Title, s.NotTaken, s.Error = "Deploy to production", true, "not taken: stage is \"test\""
		s.Status = agent.StepSkipped
		d := New(panetest.DarkLook(), panetest.Keys())
		d.graph.mode = graphNever
		d.Show(run)
		d.SetState(State{Size: draw.Rect{W: width, H: 10}})
		got := panetest.Stripped(d.View())
		if !strings.Contains(got, "Deploy to production") || !strings.Contains(got, wants) || strings.Count(got, "not taken") != 1 {
			t.Errorf("%d cells wide it is\n%s", width, got)
		}
	}
}
