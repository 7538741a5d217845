package dag_test

import (
	"fmt"
	"strings"
	"testing"

	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/dag"
	"replan/tui/draw"
	"replan/tui/panetest"
)

// planned shows the plan of a story as a list in the focused pane.
func planned(t *testing.T, st *panetest.Story, width int) (*panetest.Driver, *dag.Pane) {
	t.Helper()
	k, look := panetest.Keys(), panetest.DarkLook()
	look.SetTime(st.Now)
	shown := st.Runs(t).Shown()
	d := dag.New(look, k)
	d.Show(shown.State)
	d.SetState(dag.State{Size: draw.Rect{W: width, H: 30}, Focused: true, Live: shown.Active()})
	d.ShowList()
	s := &panetest.Driver{T: t, Keys: k, Part: d, Draw: d.View}
	s.Draw()
	return s, d
}

// selected returns the selected row.
func selected(d *dag.Pane) string { d.Chosen(); return d.Selected() }

func TestKeysSelectRows(t *testing.T) {
	s, d := planned(t, panetest.NewStory().Tested(), 52)
	if selected(d) != "8" {
		t.Fatalf("got step %q, want the running step", selected(d))
	}
	for _, c := range []struct{ keys, want string }{
		{"g", "1"}, {"j", "2"}, {"jj", "4"}, {"j", "revision 2"}, {"j", "gone 2 5"}, {"j", "7"}, {"k", "gone 2 5"}, {"G", "6"}, {"j", "6"}, {"f", "8"},
	} {
		if s.Type(c.keys); selected(d) != c.want {
			t.Fatalf("after %s step %q is selected, want %q", c.keys, selected(d), c.want)
		}
	}
}

func TestPlanFollowsMostUrgentStep(t *testing.T) {
	for want, st := range map[string]*panetest.Story{
		"1": panetest.NewStory().Drafting(), "2": panetest.NewStory().Branching(), "4": panetest.NewStory().Gated(), "5": panetest.NewStory().Replanning(),
		"7": panetest.NewStory().Revised(), "8": panetest.NewStory().Tested(), "6": panetest.NewStory().Finished(),
	} {
		if _, d := planned(t, st, 52); selected(d) != want {
			t.Errorf("step %s is selected, want %s", selected(d), want)
		}
	}
}

func TestStepListsDependenciesThatFit(t *testing.T) {
	fanIn := func(n int) *panetest.Story {
		p := plan.Plan{Title: "Fan in"}
		last := plan.Step{Index: fmt.Sprint(n + 2), Title: "Gather all of it", Executor: plan.ExecutorTool, Tool: "gather"}
		p.Steps = append(p.Steps, plan.Step{Index: "1", Title: "Begin", Executor: plan.ExecutorTool, Tool: "look"})
		for i := range n {
			index := fmt.Sprint(i + 2)
			p.Steps = append(p.Steps, plan.Step{Index: index, Title: untrusted.Text("Part " + index), Executor: plan.ExecutorTool, Tool: "look", DependsOn: []string{"1"}})
			last.DependsOn = append(last.DependsOn, index)
		}
		p.Steps = append(p.Steps, last)
		return panetest.NewStory().Plan(
			event.RunStarted{Goal: untrusted.Text(string(p.Title)), Limits: event.DefaultLimits(), Plan: &p, SkipSynthesis: true},
			event.PlanCreated{Plan: p, Revision: 1})
	}
	for _, c := range []struct {
		parts, width int
		want         string
	}{{3, 52, "←2,3,4"}, {3, 40, "←2,3,4"}, {6, 52, "←2…"}, {6, 40, "←2…"}} {
		s, _ := planned(t, fanIn(c.parts), c.width)
		for _, line := range s.Lines() {
			if strings.Contains(line, "Gather") && (!strings.Contains(line, c.want) || strings.Count(line, "←") > 1) {
				t.Errorf("%d parts, %d columns, want one %s: %s", c.parts, c.width, c.want, line)
			}
		}
		s.Wants("Gather")
	}
}

func TestCallsOfAnAgentFoldAndUnfold(t *testing.T) {
	s, d := planned(t, panetest.NewStory().Exploring(), 52)
	if selected(d) != "2" {
		t.Fatalf("step %s is selected", selected(d))
	}
	s.Wants("▸ 3 calls", "fs.read  auth/session.go") // the one that runs
	s.Lacks("2.1 fs.search")
	for _, open := range []string{"space", "enter"} {
		if open == "enter" {
			s.Type("j") // enter opens the line itself, on the step it looks in
		}
		s.Press(panetest.Key(open)).Wants("▾ 3 calls", "2.1 fs.search  ExpiresAt")
		s.Press(panetest.Key(open)).Wants("▸ 3 calls")
		s.Lacks("2.1 fs.search")
	}
	if s.Press(panetest.Key("space")).Type("j"); selected(d) != "2.1" {
		t.Fatalf("step %s is selected", selected(d))
	}
	if s.Press(panetest.Key("space")); selected(d) != "calls 2" {
		t.Errorf("folding from a call selects %s", selected(d))
	}
	s.Type("G").Press(panetest.Key("space")).Wants("there is nothing to collapse")
}

func TestCancelStopsAgentOrSingleCall(t *testing.T) {
	for name, c := range map[string]struct{ keys, step string }{
		"the agent":        {"x", "2"},
		"the folded calls": {"jx", "2.3"},
		"the call":         {" jjjjx", "2.3"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := planned(t, panetest.NewStory().Exploring(), 52)
			s.Type(c.keys).Sent(session.Cancel{Run: panetest.StoryRun, Step: c.step})
			s.Wants("Step " + c.step + " is being canceled")
		})
	}
	s, _ := planned(t, panetest.NewStory().Exploring(), 52)
	s.Type(" jjx").Sent()
	s.Wants("Step 2.1 has ended already.")
}

func TestStoppedAgentIsMarkedAndStaysChosen(t *testing.T) {
	for name, result := range map[string]event.Result{
		"by the user": {Status: event.StatusCanceled, Reason: event.ReasonInterrupted},
		"by a guard":  {Status: event.StatusFailed, Reason: event.ReasonGuard, Error: "3 tool calls were made, and no more may be (guard tool_calls)"},
	} {
		t.Run(name, func(t *testing.T) {
			s, d := planned(t, panetest.NewStory().Halted(result), 52)
			if selected(d) != "2" {
				t.Errorf("step %s is selected", selected(d))
			}
			if line := s.Lines()[s.Line("2 Find out why")]; !strings.Contains(line, "■") || !strings.Contains(line, "stopped") {
				t.Errorf("the step is not marked as stopped: %s", line)
			}
			s.Wants("▸ 3 of 4 calls")
			s.Lacks("◦ Find out why")
		})
	}
	s, _ := planned(t, panetest.NewStory().Patching(), 52)
	s.Wants("▸ 4 calls") // the last one is about to be made
}

func TestEscapeShowsAllStepsAgain(t *testing.T) {
	s, _ := planned(t, panetest.NewStory().Finished(), 52)
	s.Type("/tests").Press(panetest.Key("enter")).Lacks("Read the handler")
	s.Press(panetest.Key("esc")).Wants("Read the handler")
}
