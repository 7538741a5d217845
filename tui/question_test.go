package tui_test

import (
	"encoding/json"
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
		{"failed", func() *story { return newStory().failing() }, nil},
		{"failed, the end of it", func() *story {
			return newStory().twoDone().plan(event.StepFailed{Index: "3", Attempt: 1, Error: untrusted.Text(long), Failure: event.FailureTool})
		}, letters("G")},
		{"failed, arguments edited", func() *story { return newStory().failing() }, letters("e")},
		{"failed, arguments wrong", func() *story { return newStory().failing() }, []tea.KeyPressMsg{letters("e")[0], tabKey, letters("{")[0], ctrl('s')}},
		{"a gate, for always", func() *story { return newStory().revised() }, letters("a")},
		{"a gate, its call edited", func() *story { return newStory().revised() }, letters("e")},
		{"in doubt", func() *story { return newStory().resumed() }, nil},
		{"in doubt, looking around", func() *story { return newStory().resumed() }, []tea.KeyPressMsg{escape}},
		{"runs", func() *story { return newStory().listed() }, []tea.KeyPressMsg{ctrlR}},
		{"runs, a completed one chosen", func() *story { return newStory().listed() }, append(append([]tea.KeyPressMsg{ctrlR}, letters("j")...), enter)},
		{"no runs", func() *story { return newStory().greeted().session([]agent.Summary{}) }, []tea.KeyPressMsg{ctrlR}},
		{"a plan done", func() *story { return newStory().done() }, nil},
		{"a dry run", func() *story { return newStory().dryRun() }, nil},
		{"a dry run, its plan", func() *story { return newStory().dryRun() }, append([]tea.KeyPressMsg{tabKey}, letters("kj")...)},
		{"ended, its plan", func() *story { return newStory().ended() }, []tea.KeyPressMsg{tabKey}},
		{"ended, taken up", func() *story { return newStory().ended() }, []tea.KeyPressMsg{tabKey, enter}},
		{"run again", func() *story { return newStory().rerun() }, nil},
		{"an agent", func() *story { return newStory().exploring() }, nil},
		{"an agent, its plan", func() *story { return newStory().exploring() }, []tea.KeyPressMsg{tabKey}},
		{"an agent, its calls", func() *story { return newStory().exploring() }, append([]tea.KeyPressMsg{tabKey, space}, letters("jjj")...)},
		{"an agent, a gate", func() *story { return newStory().patching() }, nil},
		{"an agent, looking around", func() *story { return newStory().patching() }, []tea.KeyPressMsg{escape, tabKey}},
		{"chat calls", func() *story { return newStory().calling() }, nil},
		{"chat calls, their list", func() *story { return newStory().calling() }, append([]tea.KeyPressMsg{tabKey}, letters("G")...)},
		{"a child, its gate", func() *story { return newStory().delegating() }, nil},
		{"a child, looking around", func() *story { return newStory().delegating() }, []tea.KeyPressMsg{escape}},
		{"a child is over", func() *story { return newStory().returned() }, nil},
		{"a chat is over", func() *story { return newStory().chatAnswered() }, nil},
		{"steered and summarized", func() *story { return newStory().spoken() }, nil},
		{"greeted with notes", func() *story { return newStory().choosing() }, nil},
		{"models", func() *story { return newStory().choosing() }, []tea.KeyPressMsg{ctrlO}},
		{"models, searched", func() *story { return newStory().choosing() }, append(append([]tea.KeyPressMsg{ctrlO}, letters("em")...), downKey, rightKey, enter)},
		{"palette", func() *story { return newStory().branching() }, []tea.KeyPressMsg{ctrlK}},
		{"palette, searched, refused", func() *story { return newStory().branching() }, append(append([]tea.KeyPressMsg{ctrlK}, letters("undo last")...), enter)},
		{"help", func() *story { return newStory().branching() }, []tea.KeyPressMsg{f1}},
		{"help, searched", func() *story { return newStory().branching() }, append([]tea.KeyPressMsg{f1}, letters("/next")...)},
		{"help of the plan", func() *story { return newStory().branching() }, []tea.KeyPressMsg{tabKey, f1}},
		{"quitting", func() *story { return newStory().branching() }, []tea.KeyPressMsg{ctrl('c')}},
		{"the plan, being filtered", func() *story { return newStory().branching() }, append([]tea.KeyPressMsg{tabKey}, letters("/read")...)},
		{"runs, searched", func() *story { return newStory().listed() }, append([]tea.KeyPressMsg{ctrlR}, letters("/release")...)},
		{"a notice", func() *story { return newStory().finished() }, []tea.KeyPressMsg{ctrl('y')}},
		{"a wide text", func() *story { return newStory().wide() }, nil},
		{"a wide text, its plan", func() *story { return newStory().wide() }, []tea.KeyPressMsg{tabKey}},
		{"profiles", func() *story { return newStory().choosing() }, []tea.KeyPressMsg{ctrlO, tabKey}},
		{"no models", func() *story {
			return newStory().greeted().session(session.Models{Problem: "Ollama does not answer at 127.0.0.1:11434: start it with `ollama serve`"})
		}, []tea.KeyPressMsg{ctrlO}},
		{"exchanges", func() *story { return newStory().chatAnswered() }, []tea.KeyPressMsg{ctrlX}},
		{"exchanges, one opened", func() *story { return newStory().chatAnswered() }, append(append([]tea.KeyPressMsg{ctrlX}, letters("gj")...), enter)},
		{"no exchanges", func() *story { return newStory().greeted() }, []tea.KeyPressMsg{ctrlX}},
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

func TestFailureAnswers(t *testing.T) {
	for key, want := range map[string]event.FailureDecision{
		"r": event.FailureRetry, "s": event.FailureSkip, "p": event.FailureReplan, "a": event.FailureAbort,
	} {
		t.Run(key, func(t *testing.T) {
			s := settled(t, newStory().failing(), 120, 36).press(letters(key)...)
			s.sent(session.ResolveFailure{Run: storyPlanRun, Step: "3", Decision: want})
			if s.m.GateOpen() {
				t.Error("the dialog is still open")
			}
		})
	}
}

func TestDoubtAnswers(t *testing.T) {
	for key, want := range map[string]event.DoubtDecision{"d": event.DoubtDone, "r": event.DoubtRerun, "a": event.DoubtAbort} {
		t.Run(key, func(t *testing.T) {
			s := settled(t, newStory().resumed(), 120, 36).press(letters(key)...)
			s.sent(session.ResolveDoubt{Run: storyPlanRun, Step: "3", Decision: want})
		})
	}
}

func TestQuestionIgnoresKeysUntilGraceEnds(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().failing())
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
	s.sent(session.ResolveFailure{Run: storyPlanRun, Step: "3", Decision: event.FailureRetry})
}

func TestQuestionShowsWholeErrorAndCall(t *testing.T) {
	s := settled(t, newStory().failing(), 120, 60)
	for _, text := range []string{
		"Open the ticket", "tickets.open", "step 3", "the number of the new ticket", "the labels are: release, bug, feature",
		`labels ["release","docs"]`, "- smaller",
	} {
		s.wants(text)
	}
}

func TestUnavailableReplanSaysWhy(t *testing.T) {
	st := newStory().failing()
	for i, e := range st.events {
		if d, ok := e.Data.(event.RunStarted); ok {
			d.Model = ""
			st.events[i].Data = d
		}
	}
	s := settled(t, st, 120, 36)
	s.wants("p replan (no model)")
	s.press(letters("p")...)
	s.sent()
	s.wants("No replan: no model.")
}

// ownPlanners makes the plans of a run without a model.
type ownPlanners struct{ planning.Planners }

func TestReplanWithOtherPlannerNeedsNoModel(t *testing.T) {
	for name, st := range map[string]*story{"active run": newStory().failing(), "ended run": newStory().ended()} {
		t.Run(name, func(t *testing.T) {
			for i, e := range st.events {
				switch d := e.Data.(type) {
				case event.RunStarted:
					d.Model = ""
					st.events[i].Data = d
				case session.Status:
					d.Model = ""
					st.events[i].Data = d
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
			s.sent(session.ResolveFailure{Run: storyPlanRun, Step: "3", Decision: event.FailureReplan})
		})
	}
}

// kill empties a text area, from its beginning.
func kill(s *screen) {
	for range 40 {
		s.press(ctrl('k'), tea.KeyPressMsg{Code: tea.KeyDelete})
	}
}

// numbered is a failed step with a text, a number and an object as arguments.
func numbered() *story {
	return newStory().planned().startStep(storyPlanRun, "1", map[string]any{"n": json.Number("12345678901234567890"), "title": "Release 1.4", "with": map[string]any{"a": true}}).
		plan(event.StepFailed{Index: "1", Attempt: 1, Error: "no", Failure: event.FailureTool})
}

func TestEditedArgumentsAreSentAsTyped(t *testing.T) {
	s := settled(t, numbered(), 120, 36).press(letters("e")...)
	s.wants("Edit arguments")
	s.wants("title  Release 1.4")
	s.wants("12345678901234567890")
	s.press(tabKey)
	kill(s)
	s.m.Update(tea.PasteMsg{Content: "Release \"1.5\"\r\n\tand more"})
	s.press(ctrl('s'))
	s.sent(session.ResolveFailure{
		Run: storyPlanRun, Step: "1", Decision: event.FailureRetry,
		Args: map[string]any{"title": "Release \"1.5\"\n\tand more", "n": json.Number("12345678901234567890"), "with": map[string]any{"a": true}},
	})
	if s.m.GateOpen() {
		t.Error("the dialog is still open")
	}
}

func TestTabsOfTextsAreKept(t *testing.T) {
	args := map[string]any{"text": "func a() {\n\treturn // ⇥\n}\n"}
	st := newStory().planned().startStep(storyPlanRun, "1", args).plan(event.StepFailed{Index: "1", Attempt: 1, Error: "no", Failure: event.FailureTool})
	s := settled(t, st, 120, 36).press(letters("e")...)
	s.wants("␉return // ⇥")
	s.press(ctrl('s'))
	s.sent(session.ResolveFailure{Run: storyPlanRun, Step: "1", Decision: event.FailureRetry, Args: args})
}

func TestInvalidArgumentsAreNotSent(t *testing.T) {
	for typed, want := range map[string]string{
		"{\n  \"a\": x}": "n is not JSON at line 2",
		"{} {}":          "something follows",
	} {
		t.Run(typed, func(t *testing.T) {
			s := settled(t, numbered(), 120, 36).press(letters("e")...)
			kill(s)
			s.m.Update(tea.PasteMsg{Content: typed})
			s.press(ctrl('s'))
			s.sent()
			s.wants(want)
			s.wants("Edit arguments")
			s.press(letters(" ")...)
			s.lacks(want)
		})
	}
}

func TestBooleanFieldSaysWhatItTakes(t *testing.T) {
	f := draw.NewFields(panetest.DarkLook(), map[string]any{"all": true}, json.RawMessage(`{"properties":{"all":{"type":"boolean"}}}`))
	f.SetSize(60, 10)
	f.Update(tea.KeyPressMsg{Code: 'z', Text: "z"})
	if args := f.Args(); args != nil || f.Fault != "all takes true or false" {
		t.Errorf("got %v, %q", args, f.Fault)
	}
}

func TestEscapeDiscardsEditedArguments(t *testing.T) {
	s := settled(t, newStory().failing(), 120, 36).press(letters("edra?q")...).press(escape)
	s.sent()
	if s.lacks("Edit arguments"); !s.m.GateOpen() {
		t.Error("the question closed with the editor")
	}
	s.press(letters("e")...)
	s.lacks("dra?q")
}

func TestControlCharactersAreEditedAsEscapes(t *testing.T) {
	args := map[string]any{"text": "a\u202eb\x1b[2J\u0085\U000e0041"}
	st := newStory().planned().startStep(storyPlanRun, "1", args).plan(event.StepFailed{Index: "1", Attempt: 1, Error: "no", Failure: event.FailureTool})
	s := settled(t, st, 120, 36).press(letters("e")...)
	s.wants(`"a\u202eb\u001b[2J\u0085\udb40\udc41"`)
	s.press(ctrl('s'))
	s.sent(session.ResolveFailure{Run: storyPlanRun, Step: "1", Decision: event.FailureRetry, Args: args})
}

func TestOversizedArgumentsCannotBeEdited(t *testing.T) {
	list := make([]any, 12_000)
	for i := range list {
		list[i] = "x"
	}
	st := newStory().planned().startStep(storyPlanRun, "1", map[string]any{"list": list}).
		plan(event.StepFailed{Index: "1", Attempt: 1, Error: "no", Failure: event.FailureTool})
	s := settled(t, st, 120, 36).press(letters("e")...)
	s.wants("These arguments are too long to be edited here.")
	s.lacks("Edit arguments")
}

func TestGateAndQuestionQueue(t *testing.T) {
	st := newStory().planned().startStep(storyPlanRun, "1", nil)
	st.plan(event.GateRequested{Gate: "4.1.1", Step: "4", Title: "Tell the team", Tool: "chat.post"})
	s := open(t, tui.Options{}, 120, 36).show(st)
	s.wants("Gate")
	next := &story{now: st.now, seq: st.seq}
	s.show(next.plan(event.StepFailed{Index: "1", Attempt: 1, Error: "no such file", Failure: event.FailureTool}))
	s.wants("Gate 1 of 2")
	s.m.Update(s.m.Rested())
	_, cmd := s.m.Update(letters("y")[0])
	s.sending(cmd)
	s.wants("Failed · step 1 · fs.read")
	s.m.Update(s.m.Rested())
	s.press(letters("s")...)
	s.sent(
		session.Resolve{Run: storyPlanRun, Gate: "4.1.1", Decision: event.Allow, Scope: event.ScopeOnce},
		session.ResolveFailure{Run: storyPlanRun, Step: "1", Decision: event.FailureSkip},
	)
}

// failingBeside is a plan whose steps 1 and 2 run at once, so that one can fail
// while the other runs.
func failingBeside() *story {
	step := func(index string, after ...string) plan.Step {
		return plan.Step{Index: index, Title: untrusted.Text("Step " + index), Executor: plan.ExecutorTool, Tool: "look", DependsOn: after}
	}
	p := plan.Plan{Title: "Beside", Steps: []plan.Step{step("1"), step("2"), step("3", "1", "2")}}
	return newStory().greeted().plan(
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
			s.show((&story{now: st.now, seq: st.seq}).plan(failed))
			if !s.m.GateOpen() || s.m.Selected() != c.want {
				t.Errorf("got dialog %v and step %s selected, want %s", s.m.GateOpen(), s.m.Selected(), c.want)
			}
		})
	}
	st := failingBeside()
	s := open(t, tui.Options{}, 120, 36).show(st.plan(failed))
	s.m.Update(s.m.Rested())
	_, cmd := s.m.Update(letters("r")[0])
	s.sending(tea.Batch(cmd, func() tea.Msg { return nil }))
	if s.m.Selected() != "1" {
		t.Errorf("after the answer step %s is selected, want the running one", s.m.Selected())
	}
}

func TestOpenQuestionIsShownWhileAnotherStepRuns(t *testing.T) {
	st := failingBeside().plan(event.StepFailed{Index: "1", Attempt: 1, Error: "no", Failure: event.FailureTool})
	for _, size := range []struct{ w, h int }{{120, 36}, {40, 12}} {
		s := settled(t, st, size.w, size.h).press(escape)
		s.wants("? step 1 failed: how")
		s.wants("ctrl+g")
		s.wants("2 Step 2")
	}
}

func TestStepListsDependenciesThatFit(t *testing.T) {
	fanIn := func(n int) *story {
		p := plan.Plan{Title: "Fan in"}
		last := plan.Step{Index: fmt.Sprint(n + 2), Title: "Gather all of it", Executor: plan.ExecutorTool, Tool: "gather"}
		p.Steps = append(p.Steps, plan.Step{Index: "1", Title: "Begin", Executor: plan.ExecutorTool, Tool: "look"})
		for i := range n {
			index := fmt.Sprint(i + 2)
			p.Steps = append(p.Steps, plan.Step{Index: index, Title: untrusted.Text("Part " + index), Executor: plan.ExecutorTool, Tool: "look", DependsOn: []string{"1"}})
			last.DependsOn = append(last.DependsOn, index)
		}
		p.Steps = append(p.Steps, last)
		return newStory().greeted().plan(
			event.RunStarted{Goal: untrusted.Text(string(p.Title)), Limits: event.DefaultLimits(), Plan: &p, SkipSynthesis: true},
			event.PlanCreated{Plan: p, Revision: 1})
	}
	for _, c := range []struct {
		parts, width int
		want         string
	}{{3, 120, "←2,3,4"}, {3, 40, "←2,3,4"}, {6, 120, "←2…"}, {6, 40, "←2…"}} {
		s := open(t, tui.Options{}, c.width, 36).show(fanIn(c.parts)).press(tabKey)
		for _, line := range s.lines() {
			if strings.Contains(line, "Gather") && (!strings.Contains(line, c.want) || strings.Count(line, "←") > 1) {
				t.Errorf("%d parts, %d columns, want one %s: %s", c.parts, c.width, c.want, line)
			}
		}
		s.wants("Gather")
	}
}

func TestSkippedAndPendingSignsDiffer(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		p := panetest.NotesPlan()
		pending := []rune(plantext.Plan(plan.Plan{Steps: p.Steps[:1]}, ascii))[0]
		st := newStory().planned().plan(event.StepSkipped{Index: "1", Reason: "not needed"})
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
	st := failingBeside().plan(event.StepFailed{Index: "1", Attempt: 1, Error: "no", Failure: event.FailureTool})
	settled(t, st, 120, 36).press(escape, tabKey).press(letters("b")...).wants("←1,2")
}
