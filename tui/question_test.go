package tui_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/exp/golden"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning"
	"replan/planning/plan"
	"replan/tui"
	"replan/tui/draw"
	"replan/tui/panetest"
	"replan/tui/plantext"
)

// scene is a story and the keys pressed after it.
type scene struct {
	name string
	st   func() *story
	keys []tea.KeyPressMsg
}

// play shows the scene on a screen of that size.
func (c scene) play(t *testing.T, width, height int) *screen {
	t.Helper()
	st := c.st()
	s := settled(t, st, width, height)
	for i, k := range c.keys {
		s.press(k)
		if i == 0 && (k == ctrlR || k == ctrlO) { // deliver the requested list
			s.answered(st)
		}
	}
	s.m.Update(s.m.Rested())
	return s
}

func scenes() []scene {
	long := strings.Repeat("a line of the error\n", 60)
	return []scene{
		{"failed", func() *story { return newStory().Failing() }, nil},
		{"failed, the end of it", func() *story {
			return newStory().TwoDone().Plan(event.StepFailed{Index: "3", Attempt: 1, Error: untrusted.Text(long), Failure: event.FailureTool})
		}, letters("G")},
		{"failed, arguments edited", func() *story { return newStory().Failing() }, letters("e")},
		{"failed, arguments wrong", func() *story { return newStory().Failing() }, []tea.KeyPressMsg{letters("e")[0], tabKey, letters("{")[0], ctrl('s')}},
		{"a gate, for always", func() *story { return newStory().Revised() }, letters("a")},
		{"a gate, its call edited", func() *story { return newStory().Revised() }, letters("e")},
		{"in doubt", func() *story { return newStory().Resumed() }, nil},
		{"in doubt, looking around", func() *story { return newStory().Resumed() }, []tea.KeyPressMsg{escape}},
		{"runs", func() *story { return newStory().Listed() }, []tea.KeyPressMsg{ctrlR}},
		{"runs, a completed one chosen", func() *story { return newStory().Listed() }, append(append([]tea.KeyPressMsg{ctrlR}, letters("j")...), enter)},
		{"no runs", func() *story { return newStory().Greeted().Session([]agent.Summary{}) }, []tea.KeyPressMsg{ctrlR}},
		{"a plan done", func() *story { return newStory().Done() }, nil},
		{"a dry run", func() *story { return newStory().DryRun() }, nil},
		{"a dry run, its plan", func() *story { return newStory().DryRun() }, append([]tea.KeyPressMsg{tabKey}, letters("kj")...)},
		{"ended, its plan", func() *story { return newStory().Ended() }, []tea.KeyPressMsg{tabKey}},
		{"ended, taken up", func() *story { return newStory().Ended() }, []tea.KeyPressMsg{tabKey, enter}},
		{"run again", func() *story { return newStory().Rerun() }, nil},
		{"an agent", func() *story { return newStory().Exploring() }, nil},
		{"an agent, its plan", func() *story { return newStory().Exploring() }, []tea.KeyPressMsg{tabKey}},
		{"an agent, its calls", func() *story { return newStory().Exploring() }, append([]tea.KeyPressMsg{tabKey, space}, letters("jjj")...)},
		{"an agent, a gate", func() *story { return newStory().Patching() }, nil},
		{"an agent, looking around", func() *story { return newStory().Patching() }, []tea.KeyPressMsg{escape, tabKey}},
		{"chat calls", func() *story { return newStory().Calling() }, nil},
		{"chat calls, their list", func() *story { return newStory().Calling() }, append([]tea.KeyPressMsg{tabKey}, letters("G")...)},
		{"a child, its gate", func() *story { return newStory().Delegating() }, nil},
		{"a child, looking around", func() *story { return newStory().Delegating() }, []tea.KeyPressMsg{escape}},
		{"a child is over", func() *story { return newStory().Returned() }, nil},
		{"a chat is over", func() *story { return newStory().ChatAnswered() }, nil},
		{"steered and summarized", func() *story { return newStory().Spoken() }, nil},
		{"greeted with notes", func() *story { return newStory().Choosing() }, nil},
		{"models", func() *story { return newStory().Choosing() }, []tea.KeyPressMsg{ctrlO}},
		{"models, searched", func() *story { return newStory().Choosing() }, append(append([]tea.KeyPressMsg{ctrlO}, letters("em")...), downKey, rightKey, enter)},
		{"palette", func() *story { return newStory().Branching() }, []tea.KeyPressMsg{ctrlK}},
		{"palette, searched, refused", func() *story { return newStory().Branching() }, append(append([]tea.KeyPressMsg{ctrlK}, letters("undo last")...), enter)},
		{"help", func() *story { return newStory().Branching() }, []tea.KeyPressMsg{f1}},
		{"help, searched", func() *story { return newStory().Branching() }, append([]tea.KeyPressMsg{f1}, letters("/next")...)},
		{"help of the plan", func() *story { return newStory().Branching() }, []tea.KeyPressMsg{tabKey, f1}},
		{"quitting", func() *story { return newStory().Branching() }, []tea.KeyPressMsg{ctrl('c')}},
		{"the plan, being filtered", func() *story { return newStory().Branching() }, append([]tea.KeyPressMsg{tabKey}, letters("/read")...)},
		{"runs, searched", func() *story { return newStory().Listed() }, append([]tea.KeyPressMsg{ctrlR}, letters("/release")...)},
		{"a notice", func() *story { return newStory().Finished() }, []tea.KeyPressMsg{alt('y')}},
		{"a wide text", func() *story { return newStory().Wide() }, nil},
		{"a wide text, its plan", func() *story { return newStory().Wide() }, []tea.KeyPressMsg{tabKey}},
		{"profiles", func() *story { return newStory().Choosing() }, []tea.KeyPressMsg{ctrlO, tabKey}},
		{"no models", func() *story {
			return newStory().Greeted().Session(session.Models{Problem: "Ollama does not answer at 127.0.0.1:11434: start it with `ollama serve`"})
		}, []tea.KeyPressMsg{ctrlO}},
		{"exchanges", func() *story { return newStory().ChatAnswered() }, []tea.KeyPressMsg{ctrlX}},
		{"exchanges, one opened", func() *story { return newStory().ChatAnswered() }, append(append([]tea.KeyPressMsg{ctrlX}, letters("gj")...), enter)},
		{"no exchanges", func() *story { return newStory().Greeted() }, []tea.KeyPressMsg{ctrlX}},
	}
}

var wideAndNarrow = []struct{ w, h int }{{120, 36}, {40, 12}}

// drawnNarrow are the scenes that only move the focus to the plan. A wide screen
// draws the same panes before and after.
var drawnNarrow = []string{"a dry run, its plan", "a wide text, its plan", "an agent, its plan"}

func TestEveryDialogIsDrawnWideAndNarrow(t *testing.T) {
	for _, c := range scenes() {
		for _, size := range wideAndNarrow {
			if size.w >= draw.WideFrom && slices.Contains(drawnNarrow, c.name) {
				continue
			}
			t.Run(fmt.Sprintf("%s/%dx%d", c.name, size.w, size.h), func(t *testing.T) {
				golden.RequireEqual(t, c.play(t, size.w, size.h).front()+"\n")
			})
		}
	}
}

// TestHeaderNoticesAndFooterOfEveryScene keeps the edges of the screen of all
// scenes in one golden.
func TestHeaderNoticesAndFooterOfEveryScene(t *testing.T) {
	var out strings.Builder
	for _, c := range scenes() {
		for _, size := range wideAndNarrow {
			edges := c.play(t, size.w, size.h).m.Edges()
			fmt.Fprintf(&out, "%s, %dx%d\n%s\n\n", c.name, size.w, size.h, panetest.Stripped(edges))
		}
	}
	golden.RequireEqual(t, out.String())
}

func TestQuestionIgnoresKeysUntilGraceEnds(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().Failing())
	if !s.m.GateOpen() {
		t.Fatal("the question does not open")
	}
	s.m.Update(letters("a")[0])
	s.sent()
	s.wants("too early")
	s.m.Update(s.m.Rested())
	s.press(letters("xyzn ")...).press(enter, tabKey)
	s.sent()
	s.press(escape)
	if s.m.GateOpen() {
		t.Fatal("esc does not hide the question")
	}
	s.wants("step 3 failed: how should it continue?")
	s.press(escape)
	s.sent()
	s.wants("A question is open: esc again stops the run, ctrl+g returns to the question.")
	s.m.Update(ctrl('g'))
	s.m.Update(s.m.Rested())
	s.press(letters("r")...)
	s.sent(session.ResolveFailure{Run: panetest.StoryPlanRun, Step: "3", Decision: event.FailureRetry})
}

// ownPlanners makes the plans of a run without a model.
type ownPlanners struct{ planning.Planners }

func TestReplanWithOtherPlannerNeedsNoModel(t *testing.T) {
	for name, st := range map[string]*story{"active run": newStory().Failing(), "ended run": newStory().Ended()} {
		t.Run(name, func(t *testing.T) {
			for i, e := range st.Events {
				switch d := e.Data.(type) {
				case event.RunStarted:
					d.Model = ""
					st.Events[i].Data = d
				case session.Status:
					d.Model = ""
					st.Events[i].Data = d
				}
			}
			s := open(t, tui.Options{Planners: ownPlanners{}}, 120, 36).show(st).press(tabKey)
			if !s.m.GateOpen() {
				s.m.Update(enter)
			}
			s.m.Update(s.m.Rested())
			s.wants("p replan")
			s.lacks("no model")
			s.press(letters("p")...)
			s.sent(session.ResolveFailure{Run: panetest.StoryPlanRun, Step: "3", Decision: event.FailureReplan})
		})
	}
}

// failingBeside is a plan whose steps 1 and 2 run at once, so that one can fail
// while the other runs.
func failingBeside() *story {
	step := func(index string, after ...string) plan.Step {
		return plan.Step{Index: index, Title: untrusted.Text("Step " + index), Executor: plan.ExecutorTool, Tool: "look", DependsOn: after}
	}
	p := plan.Plan{Title: "Beside", Steps: []plan.Step{step("1"), step("2"), step("3", "1", "2")}}
	return newStory().Greeted().Plan(
		event.RunStarted{Goal: untrusted.Text(string(p.Title)), Model: "qwen3:8b", Limits: event.DefaultLimits(), Plan: &p, SkipSynthesis: true, Attended: true},
		event.PlanCreated{Plan: p, Revision: 1},
		event.StepStarted{Index: "1", Attempt: 1, Title: "Step 1", Executor: plan.ExecutorTool, Tool: "look"},
		event.StepStarted{Index: "2", Attempt: 1, Title: "Step 2", Executor: plan.ExecutorTool, Tool: "look"})
}

func TestPlanSelectsStepInQuestion(t *testing.T) {
	failed := event.StepFailed{Index: "2", Attempt: 1, Error: "no such file", Failure: event.FailureTool}
	for name, c := range map[string]struct {
		keys []tea.KeyPressMsg
		want string
	}{
		"plan follows running step":  {nil, "2"},
		"user selected another step": {append([]tea.KeyPressMsg{tabKey}, letters("G")...), "3"},
	} {
		t.Run(name, func(t *testing.T) {
			st := failingBeside()
			s := open(t, tui.Options{}, 120, 36).show(st).press(c.keys...)
			s.show((&story{Now: st.Now, Seq: st.Seq}).Plan(failed))
			if !s.m.GateOpen() || s.m.Selected() != c.want {
				t.Errorf("got dialog %v and step %s selected, want %s", s.m.GateOpen(), s.m.Selected(), c.want)
			}
		})
	}
	st := failingBeside()
	s := open(t, tui.Options{}, 120, 36).show(st.Plan(failed))
	s.m.Update(s.m.Rested())
	_, cmd := s.m.Update(letters("r")[0])
	s.sending(tea.Batch(cmd, func() tea.Msg { return nil }))
	if s.m.Selected() != "1" {
		t.Errorf("after the answer step %s is selected, want the running one", s.m.Selected())
	}
}

func TestOpenQuestionIsShownWhileAnotherStepRuns(t *testing.T) {
	st := failingBeside().Plan(event.StepFailed{Index: "1", Attempt: 1, Error: "no", Failure: event.FailureTool})
	for _, size := range []struct{ w, h int }{{120, 36}, {40, 12}} {
		s := settled(t, st, size.w, size.h).press(escape)
		s.wants("? step 1 failed: how")
		s.wants("ctrl+g")
		s.wants("2 Step 2")
	}
}

func TestSkippedAndPendingSignsDiffer(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		p := panetest.NotesPlan()
		pending := []rune(plantext.Plan(plan.Plan{Steps: p.Steps[:1]}, ascii))[0]
		st := newStory().Planned().Plan(event.StepSkipped{Index: "1", Reason: "not needed"})
		s := open(t, tui.Options{ASCII: ascii}, 120, 60).show(st).press(f1)
		for _, line := range s.lines() {
			if strings.Contains(line, string(pending)+" skipped") {
				t.Errorf("skipped and pending are both %c: %s", pending, line)
			}
		}
		s.wants(" skipped")
	}
}

func TestStepListsFailedDependency(t *testing.T) {
	st := failingBeside().Plan(event.StepFailed{Index: "1", Attempt: 1, Error: "no", Failure: event.FailureTool})
	settled(t, st, 120, 36).press(escape, tabKey).press(letters("b")...).wants("←1,2")
}
