package dag

import (
	"strings"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/tui/panetest"
)

// lostRun is a run of two servers in which the first step is done.
func lostRun() *agent.Run {
	run := panetest.FanRun(6, 0)
	run.Catalog = plan.Catalog{{Name: "fs.list", Server: "files"}, {Name: "fs.read", Server: "files"}, {Name: "fs.write", Server: "disk"}}
	return run
}

func TestStepsThatLostTheirServerAreMarked(t *testing.T) {
	d := New(panetest.DarkLook(), panetest.Keys())
	resize(d, 100, 12)
	d.Show(lostRun())
	d.graph.mode = graphNever
	before := panetest.Stripped(d.View())
	d.Lose([]string{"disk"})
	got := panetest.Stripped(d.View())
	if strings.Count(got, "no tool") != 3 || strings.Count(got, "needs the server disk") != 3 {
		t.Errorf("got\n%s", got)
	}
	for line := range strings.SplitSeq(got, "\n") {
		if lost := strings.Contains(line, "fs.write"); lost != strings.Contains(line, "no tool") {
			t.Errorf("wrong mark: %s", line)
		}
	}
	d.Lose(nil)
	if got := panetest.Stripped(d.View()); got != before {
		t.Errorf("with the server back it shows\n%s\nbefore it was\n%s", got, before)
	}
}

func TestSubAgentThatLostAllServersIsMarked(t *testing.T) {
	run := agent.NewRun(nil)
	start := event.RunStarted{Catalog: plan.Catalog{{Name: "fs.read", Server: "files"}, {Name: "fs.read", Server: "disk"}}}
	start.Prompting.Profiles = []prompt.Profile{{Name: "reader", Tools: []string{"fs.*", "disk:*", "files:*"}}}
	if err := run.Apply(event.Event{Run: "r", Seq: 1, Data: start}); err != nil {
		t.Fatal(err)
	}
	run.Revision = 1
	run.Steps = []*agent.StepState{{Step: plan.Step{Index: "1", Title: "Read it", Executor: plan.ExecutorAgent, Profile: "reader"}, Status: agent.StepPending}}
	d := New(panetest.DarkLook(), panetest.Keys())
	resize(d, 100, 12)
	d.Show(run)
	d.graph.mode = graphNever
	d.Lose([]string{"disk"})
	if got := panetest.Stripped(d.View()); strings.Contains(got, "no tool") {
		t.Errorf("with a server left:\n%s", got)
	}
	d.Lose([]string{"disk", "files"})
	if got := panetest.Stripped(d.View()); !strings.Contains(got, "no tool") || !strings.Contains(got, "needs the server disk or files") {
		t.Errorf("with both lost:\n%s", got)
	}
}

func TestStepsThatNoLongerRunAreNotMarked(t *testing.T) {
	d := New(panetest.DarkLook(), panetest.Keys())
	resize(d, 100, 12)
	d.Lose([]string{"disk", "files"})
	run := lostRun()
	run.Steps[2].Status = agent.StepRunning
	d.Show(run)
	d.graph.mode = graphNever
	if got := panetest.Stripped(d.View()); strings.Count(got, "no tool") != 4 { // one is done, one runs
		t.Errorf("got\n%s", got)
	}
	run.Result = &event.Result{}
	d.Invalidate()
	if got := panetest.Stripped(d.View()); strings.Contains(got, "no tool") {
		t.Errorf("a run that is over shows\n%s", got)
	}
}

func TestGraphMarksStepsThatLostTheirServer(t *testing.T) {
	d := New(panetest.DarkLook(), panetest.Keys())
	resize(d, 120, 30)
	d.Show(lostRun())
	d.graph.mode = graphAlways
	d.Lose([]string{"disk"})
	if got := panetest.Stripped(d.View()); strings.Count(got, "no tool") != 3 {
		t.Errorf("got\n%s", got)
	}
}
