package tui_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/tui"
	"replan/tui/panetest"
)

func TestAlwaysShowsRuleBeforeSaving(t *testing.T) {
	s := settled(t, newStory().revised(), 120, 36)
	s.press(letters("a")...)
	s.sent()
	for _, line := range []string{"[[policy]]", "tool = 'workspace:fs.patch'", "args = {path = 'auth/jwt.go', all = '', diff = ''}", "workspace = '/src/auth-service'", "action = 'allow'"} {
		s.wants(line)
	}
	s.press(letters("are ")...).press(enter)
	s.sent() // only y saves it
	s.press(escape)
	s.sent()
	s.lacks("[[policy]]")
	if !s.m.GateOpen() {
		t.Fatal("leaving the rule closes the gate")
	}
	s.press(letters("a")...)
	s.wants("action = 'allow'")
	s.press(letters("y")...)
	s.sent(session.Resolve{Run: storyRun, Gate: "7.2.1", Decision: event.Allow, Scope: event.ScopeAlways})
	if s.m.GateOpen() {
		t.Error("the gate is still open after its answer")
	}
}

func TestAlwaysRequiresReadingWholeRule(t *testing.T) {
	st := newStory().revised()
	gate := st.events[len(st.events)-1].Data.(event.GateRequested)
	gate.Always.Text = "[[policy]]\ntool = 'x'\nargs = {a = '1', b = '2', c = '3', d = '4', e = '5', f = '6', g = '7', h = '8', i = '9', j = '10', k = '11', l = '12', m = '13', n = '14', o = '15', p = '16'}\naction = 'allow'\n"
	st.events[len(st.events)-1].Data = gate
	s := settled(t, st, 40, 12)
	s.press(letters("a")...)
	s.wants("[[policy]]")
	s.press(letters("y")...)
	s.sent()
	s.wants("Read the whole rule")
	s.press(letters("jjjjj")...)
	s.wants("action = 'allow'")
	s.press(letters("y")...)
	s.sent(session.Resolve{Run: storyRun, Gate: "7.2.1", Decision: event.Allow, Scope: event.ScopeAlways})
}

func TestAlwaysSaysWhyNoRuleIsOffered(t *testing.T) {
	s := settled(t, newStory().gated(), 120, 36)
	s.press(letters("a")...)
	s.sent()
	s.wants(`"always" is off: the arguments come from a result that can change.`)
	s.press(letters("y")...)
	s.sent(session.Resolve{Run: storyRun, Gate: "4.1.1", Decision: event.Allow, Scope: event.ScopeOnce})
}

func TestChatNamesSavedRule(t *testing.T) {
	st := newStory().revised()
	s := open(t, tui.Options{}, 120, 36).show(st)
	next := &story{now: st.now, seq: st.seq}
	rule := panetest.HelperRule().Rule
	s.show(next.run(event.GateResolved{Gate: "7.2.1", Decision: event.Allow, Scope: event.ScopeAlways, By: "user", Rule: &rule}))
	s.wants("and always for fs.patch in this")
	s.wants("workspace with path auth/jwt.go")
}

// schemed adds a schema for fs.patch to a story.
func schemed(st *story) *story {
	for i, e := range st.events {
		started, ok := e.Data.(event.RunStarted)
		if !ok {
			continue
		}
		started.Catalogue = plan.Catalogue{{
			Name: "fs.patch", Server: "workspace", Trusted: true, Annotated: true, Previews: true,
			InputSchema: json.RawMessage(`{"type":"object","required":["path"],"properties":{"path":{"type":"string"},"new":{"type":"string"},"all":{"type":"boolean"}}}`),
		}}
		st.events[i].Data = started
	}
	return st
}

func TestGateCallCanBeEdited(t *testing.T) {
	s := settled(t, schemed(newStory().revised()), 120, 36)
	s.press(letters("e")...)
	s.wants("Edit arguments")
	s.wants("all   not set") // an argument that the call does not have
	kill(s)                  // the new text
	s.m.Update(tea.PasteMsg{Content: "${x} stays"})
	s.press(backTab)
	s.m.Update(tea.PasteMsg{Content: `"yes"`})
	s.press(ctrl('s'))
	s.sent()
	s.wants("Not sent: the args of fs.patch do not fit: all: got string, want boolean")
	s.press(ctrl('z'))
	s.m.Update(tea.PasteMsg{Content: "true"})
	s.press(ctrl('s'))
	s.sent(session.Edit{Run: storyRun, Gate: "7.2.1", Args: map[string]any{"path": "auth/jwt.go", "old": "authenticate(ctx, s.token)", "new": "${x} stays", "all": true}})
	if s.m.GateOpen() {
		t.Error("the gate of the old call is still open")
	}
}

func TestEditedCallThatCannotBeMadeIsNotSent(t *testing.T) {
	s := settled(t, newStory().revised(), 120, 36).press(letters("e")...)
	s.session.file = func(map[string]any) (plan.FileChange, error) {
		return plan.FileChange{}, errors.New("the diff cannot be read: line 3")
	}
	s.press(letters("X")...).press(ctrl('s'))
	s.sent()
	s.wants("Edit arguments")
	s.wants("Not sent: the diff cannot be read: line 3")
	s.session.file = nil
	s.press(letters("Y")...).lacks("Not sent")
	if s.press(ctrl('s')); s.m.GateOpen() {
		t.Error("the gate of the old call is still open")
	}
}

func TestEditedCallOpensNewGate(t *testing.T) {
	st := schemed(newStory().revised())
	s := open(t, tui.Options{}, 120, 36).show(st)
	next := &story{now: st.now, seq: st.seq}
	s.show(next.run(
		event.GateResolved{Gate: "7.2.1", Decision: event.Edit, Scope: event.ScopeOnce, By: "user", Args: map[string]any{"path": "docs/a.md"}},
		event.GateRequested{Gate: "7.2.1e1", Step: "7", Title: "Rename in the token helper", Tool: "fs.patch", Server: "workspace", Trusted: true, Args: map[string]any{"path": "docs/a.md"}, Diff: "--- a/docs/a.md\n+++ b/docs/a.md\n@@ -1 +1 @@\n-x\n+y\n"},
	))
	s.wants("docs/a.md")
	s.wants("edited the call of fs.patch in step 7")
	s.m.Update(letters("y")[0])
	s.sent() // just opened: the grace time starts again
	s.m.Update(s.m.Rested())
	s.press(letters("y")...)
	s.sent(session.Resolve{Run: storyRun, Gate: "7.2.1e1", Decision: event.Allow, Scope: event.ScopeOnce})
}

func TestTypingContinuesWhenDialogOpens(t *testing.T) {
	for name, c := range map[string]struct {
		story  *story
		opened func(*screen) bool
	}{
		"gate":     {newStory().gated(), func(s *screen) bool { return s.m.GateOpen() }},
		"question": {newStory().failing(), func(s *screen) bool { return s.m.GateOpen() }},
		"review":   {newStory().reviewing(), func(s *screen) bool { return s.m.Reviewing() }},
	} {
		t.Run(name, func(t *testing.T) {
			for before, typed := range map[string]string{"": "rename x", "please ": "retry a y"} {
				s := open(t, tui.Options{}, 120, 36)
				s.press(letters(before)...).show(c.story)
				if !c.opened(s) {
					t.Fatal("the dialog does not open")
				}
				for _, k := range letters(typed) {
					s.m.Update(k)
				}
				s.sent()
				if got := s.m.Typed(); got != before+typed || !c.opened(s) {
					t.Errorf("the input holds %q, dialog open %v", got, c.opened(s))
				}
			}
		})
	}
}

// TestRepeatedCallIsOfferedForTheRun: the second gate for a call says which answer
// allows the next ones.
func TestRepeatedCallIsOfferedForTheRun(t *testing.T) {
	const offer = "r test.run for this run (otherwise it asks again)"
	gate := func(step string, args map[string]any) event.GateRequested {
		return event.GateRequested{
			Gate: step + ".1.1", Step: step, Title: "Run the tests", Tool: "test.run", Server: "workspace", Trusted: true, Args: args,
			Command: &plan.Command{Argv: []string{"go", "test", "./..."}},
		}
	}
	all, one := map[string]any{"allow_none": true}, map[string]any{"path": "./auth"}
	for name, c := range map[string]struct {
		args   map[string]any
		by     event.Decision
		offers bool
	}{
		"same call":         {all, event.Allow, true},
		"another call":      {one, event.Allow, false},
		"a call was denied": {all, event.Deny, false},
	} {
		t.Run(name, func(t *testing.T) {
			st := newStory().abreast("1")
			for _, i := range []int{0, 1} {
				created := st.events[len(st.events)-2].Data.(event.PlanCreated)
				created.Plan.Steps[i].Tool = "test.run"
			}
			st.events = st.events[:len(st.events)-1]
			st.run(gate("1", all))
			s := settled(t, st, 120, 36)
			s.wants("r test.run for this run")
			s.lacks(offer)
			next := more(st).run(event.GateResolved{Gate: "1.1.1", Decision: c.by, Scope: event.ScopeOnce, By: "user"})
			if c.by == event.Allow {
				next = next.run(event.StepStarted{Index: "1", Attempt: 1, Executor: plan.ExecutorTool, Tool: "test.run", Args: all}, event.StepCompleted{Index: "1", Attempt: 1})
			} else {
				next = next.run(event.StepFailed{Index: "1", Attempt: 1, Error: "denied at the gate", Failure: event.FailureDenied})
			}
			s.show(next.run(gate("2", c.args)))
			s.wants("test.run")
			if got := strings.Contains(s.text(), offer); got != c.offers {
				t.Errorf("offered: %t\n%s", got, s.text())
			}
		})
	}
}
