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
	"replan/agent/rule"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/themes"
	"replan/tui"
)

// reviewSteps are steps, each for one thing that a review handles.
func reviewSteps() []plan.Step {
	return []plan.Step{
		{Index: "1", Title: "Read the handler", Executor: plan.ExecutorTool, Tool: "fs.read", Args: map[string]any{"path": "auth/handler.go"}, ResultVariable: "handler"},
		{Index: "2", Title: "Write the notes", Executor: plan.ExecutorTool, Tool: "fs.write", Args: map[string]any{"path": "notes.md", "text": "# Notes\n\nall of them\n"}, ExpectedOutcome: "notes.md is there"},
		{Index: "3", Title: "Keep a copy of the handler", Executor: plan.ExecutorTool, Tool: "fs.write", Args: map[string]any{"path": "copy.go", "text": "${handler}"}},
		{Index: "4", Title: "Push it", Executor: plan.ExecutorTool, Tool: "vcs.push", Args: map[string]any{}, DependsOn: []string{"2", "3"}},
		{Index: "5", Title: "Sum up what was done", Executor: plan.ExecutorSelf, DependsOn: []string{"4"}},
	}
}

// reviewing: the plan is complete and waits for review.
func (s *story) reviewing() *story { return s.reviewingSteps(reviewSteps()) }

// reviewingSteps: a plan of these steps waits for review.
func (s *story) reviewingSteps(steps []plan.Step) *story {
	schema := func(required ...string) json.RawMessage {
		return json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{"path":{"type":"string"},"text":{"type":"string"}},"required":%s}`, plan.CanonicalJSON(list(required))))
	}
	s.greeted().after(200).session(event.ChatUser{Text: "tidy up"})
	p := plan.Plan{Title: "Tidy up", Goal: "tidy up", Steps: steps}
	return s.after(50).run(event.RunStarted{
		Goal: "tidy up", Workspace: "/src/auth-service", Session: storySession, Model: "qwen3:8b", Limits: event.DefaultLimits(), Review: true, Plan: &p,
		Catalogue: plan.Catalogue{
			{Name: "fs.read", Server: "workspace", ReadOnly: true, Annotated: true, Trusted: true, InputSchema: schema("path")},
			{Name: "fs.write", Server: "workspace", Annotated: true, Destructive: true, Trusted: true, InputSchema: schema("path", "text")},
			{Name: "vcs.push", Server: "workspace", Annotated: true, Destructive: true, Trusted: true, InputSchema: json.RawMessage(`{"type":"object"}`)},
		},
		Rules: []rule.Rule{
			{Tool: "vcs.push", Verdict: rule.VerdictBlock, Source: rule.SourceFlag, Why: "--deny says so"},
			{Tool: "*", When: rule.WhenReadOnly, Verdict: rule.VerdictRun, Source: rule.SourceBuiltIn},
			{Tool: "*", Verdict: rule.VerdictAsk, Source: rule.SourceBuiltIn, Why: "it can change or delete data"},
		},
	}, event.PlanCreated{Plan: p, Revision: 1})
}

func list(words []string) []any {
	out := []any{}
	for _, w := range words {
		out = append(out, w)
	}
	return out
}

// looking opens a screen at a review whose grace time is over.
func looking(t *testing.T, width, height int) *screen {
	t.Helper()
	s := open(t, tui.Options{Theme: themes.Dark}, width, height).show(newStory().reviewing())
	s.m.Update(s.m.ReviewRested())
	return s
}

// reviewAnswer returns the answer to the review that was sent.
func (s *screen) reviewAnswer() agent.ReviewAnswer {
	s.t.Helper()
	for _, c := range s.session.commands() {
		if r, ok := c.(session.Review); ok {
			if r.Run != storyRun {
				s.t.Errorf("the answer was sent for the run %s", r.Run)
			}
			return r.Answer
		}
	}
	s.t.Fatalf("no answer was sent:\n%s", s.text())
	return agent.ReviewAnswer{}
}

func TestReviewIgnoresKeysUntilGraceEnds(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).press(letters("typing on")...).show(newStory().reviewing())
	if !s.m.Reviewing() {
		t.Fatal("the review does not open")
	}
	s.wants("Review · Tidy up")
	s.m.Update(enter)
	s.sent()
	s.wants("you were typing")
	s.m.Update(s.m.ReviewRested())
	s.press(enter)
	s.lacks("press it again")
	if a := s.reviewAnswer(); a.Decision != event.ReviewRun || a.Plan != nil || a.Revision != 1 || len(a.Approved) > 0 {
		t.Errorf("sent %+v", a)
	}
	if s.m.Reviewing() {
		t.Error("the review is still open after the answer")
	}
	if got := s.m.Typed(); got != "typing on" {
		t.Errorf("the input holds %q", got)
	}
}

func TestReviewKeys(t *testing.T) {
	down := func(n int) []tea.KeyPressMsg { return slices.Repeat([]tea.KeyPressMsg{downKey}, n) }
	tests := []struct {
		name  string
		keys  []tea.KeyPressMsg
		wants []string
		lacks []string
	}{
		{"selected step is shown whole", down(1), []string{"all of them", "it can change or delete data", "rule     ", "notes.md is there"}, nil},
		{"approve gate", append(down(1), space), []string{"✓ approved", "1 gate approved", "once, for exactly this call"}, nil},
		{"withdraw approval", append(down(1), space, space), []string{"No edits yet."}, []string{"approved,"}},
		{"gate with reference asks later", append(down(2), space), []string{"asks later", "because ${handler} is inserted then"}, []string{"gate approved"}},
		{"step without gate", []tea.KeyPressMsg{space}, []string{"Step 1 does not ask."}, nil},
		{"denied step stays denied", append(down(3), space), []string{"denied", "--deny says so"}, []string{"gate approved"}},
		{"approve all gates", letters("A"), []string{"1 gate approved"}, nil},
		{"no other gate", letters("AA"), []string{"No gate is left to approve."}, nil},
		{"remove step", append(down(4), letters("x")...), []string{"1 out", "it will not run"}, nil},
		{"restore step", append(down(4), letters("xx")...), []string{"No edits yet."}, nil},
		{"removal asks about dependents", append(down(1), letters("x")...), []string{"Step 2 is needed by 4, 5. Remove all of them?"}, nil},
		{"confirm removal of dependents", append(down(1), letters("xy")...), []string{"3 out"}, nil},
		{"cancel removal", append(down(1), letters("xn")...), []string{"No edits yet."}, nil},
		{"restore step with its dependencies", append(append(down(1), letters("xy")...), append(down(3), letters("x")...)...), []string{"Restored steps: 2, 4, 5", "Nothing"[:0]}, []string{"3 out"}},
		{"move step up", append(down(1), letters("K")...), []string{"1 moved", "after 2"}, nil},
		{"move step up by shift+up", append(down(1), tea.KeyPressMsg{Code: tea.KeyUp, Mod: tea.ModShift}), []string{"1 moved"}, nil},
		{"move step back down", append(down(1), letters("KJ")...), []string{"No edits yet."}, []string{"after 2"}},
		{"not above its dependency", append(down(2), letters("KK")...), []string{"Step 3 needs the result of step 1 (${handler})."}, nil},
		{"undo last change", append(down(1), letters("KAu")...), []string{"1 moved"}, []string{"gate approved"}},
		{"nothing to undo", letters("u"), []string{"Nothing was changed."}, nil},
		{"refusal asks", letters("n"), []string{"Refuse this plan?"}, nil},
		{"cancel refusal", letters("nn"), []string{"No edits yet."}, []string{"Refuse this plan?"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, size := range [][2]int{{120, 36}, {80, 40}} {
				s := looking(t, size[0], size[1]).press(test.keys...)
				for _, text := range test.wants {
					s.wants(text)
				}
				for _, text := range test.lacks {
					s.lacks(text)
				}
				s.sent()
			}
		})
	}
}

func TestReviewSendsChangedPlan(t *testing.T) {
	s := looking(t, 120, 36).press(downKey).press(letters("A")...).press(letters("K")...).press(downKey, downKey, downKey).press(letters("xy")...)
	s.press(letters("y")...)
	a := s.reviewAnswer()
	if a.Plan == nil || len(a.Plan.Steps) != 4 && len(a.Plan.Steps) != 3 || !slices.Equal(a.Approved, []string{"2"}) {
		t.Fatalf("sent %+v", a)
	}
	if first := a.Plan.Steps[0]; !slices.Equal(first.DependsOn, []string{"2"}) {
		t.Errorf("step 1 depends on %v", first.DependsOn)
	}
}

func TestPlanRefusalNeedsConfirmation(t *testing.T) {
	s := looking(t, 80, 24).press(letters("ny")...)
	if a := s.reviewAnswer(); a.Decision != event.ReviewRefuse || a.Plan != nil {
		t.Errorf("sent %+v", a)
	}
}

func TestReviewEditsStepAsJSON(t *testing.T) {
	s := looking(t, 120, 36).press(downKey).press(letters("e")...)
	s.wants("Edit step 2")
	s.wants(`"path": "notes.md"`)
	if s.m.View().Cursor == nil {
		t.Error("there is no cursor")
	}
	s.press(letters("x")...).press(ctrl('s'))
	s.wants("This is not JSON")
	s.press(backspace)
	s.m.Update(tea.PasteMsg{Content: " "})
	s.press(ctrl('s'))
	s.lacks("Edit step 2")
	s.wants("No edits yet.")
}

func TestInvalidStepEditListsEveryProblem(t *testing.T) {
	s := looking(t, 120, 36).press(downKey).press(letters("e")...)
	s.enter(`{"title": " ", "args": {"path": [7]}}`)
	for _, text := range []string{"Not changed", "step 2 has no title", "path: got array"} {
		s.wants(text)
	}
	s.enter(`{"title": "Write other notes", "args": {"path": "other.md", "text": "x"}}`)
	s.wants("Write other notes")
	s.wants("1 edited")
	s.press(letters("y")...)
	if got := s.reviewAnswer().Plan.Steps[1]; got.Title != "Write other notes" || got.Args["path"] != "other.md" {
		t.Errorf("sent %+v", got)
	}
}

func TestReviewCanBeHiddenAndReopened(t *testing.T) {
	s := looking(t, 120, 36).press(letters("A")...).press(escape)
	if s.m.Reviewing() {
		t.Fatal("the review is still open")
	}
	s.sent()
	s.wants("the plan waits for review")
	s.wants("ctrl+g review")
	s.press(escape)
	s.sent()
	s.wants("esc again stops the run")
	s.press(ctrl('g'))
	if !s.m.Reviewing() {
		t.Fatal("ctrl+g does not reopen the review")
	}
	s.wants("1 gate approved") // changes are kept
	s.press(escape, escape, escape)
	s.sent(session.Stop{})
}

func TestReviewAskedForByKeyAnswersAtOnce(t *testing.T) {
	s := looking(t, 120, 36).press(escape, ctrl('g')).press(letters("y")...)
	if a := s.reviewAnswer(); a.Decision != event.ReviewRun {
		t.Errorf("sent %+v", a)
	}
}

func TestRejectedReviewAnswerReopensReview(t *testing.T) {
	st := newStory().reviewing()
	s := open(t, tui.Options{}, 120, 36).show(st)
	s.m.Update(s.m.ReviewRested())
	s.press(letters("Ay")...)
	next := &story{now: st.now, seq: st.seq}
	s.show(next.session(event.Note{Level: "warn", Text: "the plan still waits for review: no"}))
	s.wants("the plan still waits for review: no")
	if !s.m.Reviewing() {
		t.Error("the review is closed")
	}
}

func TestChatSummarizesReviewChanges(t *testing.T) {
	st := newStory().reviewing()
	s := open(t, tui.Options{}, 120, 36).show(st)
	plan := plan.Plan{Title: "Tidy up", Goal: "tidy up", Steps: reviewSteps()[1:3]}
	plan.Steps[0].Title = "Write other notes"
	plan.Steps[1].Args, plan.Steps[1].DependsOn = map[string]any{"path": "copy.go", "text": "x"}, []string{"2"}
	next := &story{now: st.now, seq: st.seq}
	s.show(next.run(event.PlanReviewed{
		Revision: 1, Decision: event.ReviewRun, By: "user", Plan: &plan, Edited: []string{"2", "3"}, Removed: []string{"1", "4", "5"},
		Moved: []event.Move{{Step: "3", After: "2"}}, Approved: []event.Approval{{Step: "2", Tool: "workspace:fs.write", Args: plan.Steps[0].Args}},
	}))
	if s.m.Reviewing() {
		t.Error("the review is still open")
	}
	for _, text := range []string{"reviewed the plan: 2 edited · 1 moved · 3 out · 1 gate", "− 4 Push it", "~ 2 Write other notes", "step 3 waits for 2"} {
		s.wants(text)
	}
	s.wants("Plan · 0/2")
}

func TestAltLTogglesReviewOfNextPlans(t *testing.T) {
	altL := tea.KeyPressMsg{Code: 'l', Mod: tea.ModAlt}
	st := newStory().greeted()
	s := open(t, tui.Options{}, 120, 36).show(st).press(altL)
	s.sent(session.Hold{On: true})
	s.wants("wait for your review")
	next := &story{now: st.now, seq: st.seq}
	s.show(next.session(session.Status{Workspace: "/src/auth-service", Model: "qwen3:8b", Review: true}))
	s.wants("review on")
	s.press(altL)
	s.sent(session.Hold{On: true}, session.Hold{On: false})
}

func TestReplayOpensNoReview(t *testing.T) {
	s := open(t, tui.Options{Replay: true}, 120, 36).show(newStory().reviewing())
	if s.m.Reviewing() {
		t.Error("a replay opens a review")
	}
}

func TestMouseChoosesReviewSteps(t *testing.T) {
	s := looking(t, 120, 36)
	s.wants("Step 1")
	s.m.Update(tea.MouseClickMsg{X: 10, Y: 4, Button: tea.MouseLeft})
	s.wants("Step 3")
	s.m.Update(tea.MouseWheelMsg{X: 90, Y: 4, Button: tea.MouseWheelDown})
	s.wants("Step 3")
}

func TestReviewShowsTitlesBesideFreeRoomAndChosenOnesWhole(t *testing.T) {
	steps := reviewSteps()
	steps[0].Title = "Read the handler of every request whole"
	steps[1].Title = "Write notes about every function of the package that no test calls, whatever its name"
	for _, size := range [][2]int{{120, 36}, {80, 24}} {
		s := open(t, tui.Options{Theme: themes.Dark}, size[0], size[1]).show(newStory().reviewingSteps(steps))
		s.m.Update(s.m.ReviewRested())
		s.wants("Read the handler of every request whole ")
		s.m.Update(downKey)
		if _, y := s.find("2 Write notes"); !strings.Contains(s.lines()[y+1], "whatever its name") {
			t.Errorf("the second step is not whole:\n%s", s.text())
		}
		s.clickOn("Push it")
		s.wants("Step 4")
	}
}

func TestReviewGivesTitlesTheRoomOfToolsAndBlankStates(t *testing.T) {
	steps := reviewSteps()
	for i := range steps {
		steps[i].Title += ", as far as it is known"
		steps[i].Tool = strings.Replace(steps[i].Tool, "fs.write", "a_server:write_the_file", 1)
		steps[i].DependsOn = nil
	}
	steps[4].DependsOn = []string{"1", "2", "3", "4"}
	s := open(t, tui.Options{Theme: themes.Dark}, 100, 30).show(newStory().reviewingSteps(steps))
	s.wants("Sum up what was done, ")
	s.wants("a_server:writ") // what the titles leave
}

func TestAReviewIsDrawnWideAndNarrow(t *testing.T) {
	changed := append([]tea.KeyPressMsg{downKey}, letters("AK")...)
	for _, c := range []struct {
		name string
		w, h int
		o    tui.Options
		keys []tea.KeyPressMsg
	}{
		{"wide", 120, 30, tui.Options{Theme: themes.Dark}, changed},
		{"narrow", 80, 24, tui.Options{Theme: themes.Dark}, changed},
		{"small", 40, 12, tui.Options{Theme: themes.Dark}, changed},
		{"ascii", 80, 24, tui.Options{ASCII: true, NoColor: true}, append([]tea.KeyPressMsg{downKey}, letters("xy")...)},
		{"editing", 80, 24, tui.Options{Theme: themes.Dark}, append([]tea.KeyPressMsg{downKey}, letters("e")...)},
		{"asking", 40, 12, tui.Options{Theme: themes.Dark}, append([]tea.KeyPressMsg{downKey}, letters("x")...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, c.o, c.w, c.h).show(newStory().reviewing())
			s.m.Update(s.m.ReviewRested())
			s.press(c.keys...)
			golden.RequireEqual(t, s.front()+"\n")
		})
	}
}

func TestReviewNotifiesUnfocusedTerminalOnce(t *testing.T) {
	term := inTerminal(t, tui.Options{}, "TERM=xterm-256color")
	term.update(tea.BlurMsg{})
	st := newStory().reviewing()
	term.deliver(st)
	if got, want := term.notifications(), "\a\x1b]9;replan: Review: Tidy up\a"; got != want {
		t.Errorf("sent %q, want %q", got, want)
	}
	term.deliver(more(st).after(60_000).session(event.Note{Level: "info", Text: "something else"}))
	if got := term.notifications(); got != "" {
		t.Errorf("notified again: %q", got)
	}
}

func TestReviewShowsTheListOfAStep(t *testing.T) {
	steps := reviewSteps()
	steps[2].ForEach = &plan.ForEach{Items: "${handler}", As: "part", Max: 9, AtOnce: 2}
	s := open(t, tui.Options{Theme: themes.Dark}, 120, 30).show(newStory().reviewingSteps(steps))
	s.m.Update(s.m.ReviewRested())
	s.press(downKey, downKey)
	s.wants("${handler} as part, at most 9, 2 at once")
	s.wants("at most 9 items, known once step 1 is")
}
