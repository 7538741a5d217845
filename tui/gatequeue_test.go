package tui_test

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/plan"
	"replan/tui/panetest"
)

// abreast: calls of independent steps wait at gates, in the given order.
func (s *story) abreast(gates ...string) *story {
	return s.asked().after(100).run(panetest.Abreast(storyGoal, gates...)...)
}

func TestGatesQueueInPlanOrder(t *testing.T) {
	s := settled(t, newStory().abreast("3", "1", "2"), 120, 40)
	for _, step := range []string{"1", "2", "3"} {
		s.wants("Gate " + step + " of 3")
		s.wants("step " + step + " waits for your answer")
		s.press(tabKey)
	}
	st := newStory().abreast("3")
	s = settled(t, st, 120, 40)
	s.wants("step 3 waits for your answer")
	s.show(more(st).run(panetest.Reading("1"), panetest.Reading("2")))
	s.wants("Gate 3 of 3") // the shown gate stays
	s.wants("step 3 waits for your answer")
	s.press(escape).wants("step 3 waits for your answer")
	s.press(ctrl('g')).wants("Gate 3 of 3")
}

func TestShortGateListsWaitingCalls(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 36}} {
		s := settled(t, newStory().abreast("1", "2", "3"), size[0], size[1])
		s.wants("step 2  vcs.push")
		s.wants("step 3  vcs.push")
	}
}

func TestClickChoosesStepBehindOpenGate(t *testing.T) {
	s := settled(t, newStory().abreast("1", "2"), 120, 40)
	for y, line := range s.lines() {
		if strings.Contains(line, "4 Step 4") {
			s.m.Update(tea.MouseClickMsg{X: 90, Y: y, Button: tea.MouseLeft})
		}
	}
	s.wants("▌○ 4 Step 4")
	if !s.m.GateOpen() {
		t.Fatal("the gate is closed")
	}
	s.m.Update(s.m.Rested())
	s.press(letters("y")...)
	s.sent(allow("1"))
}

func TestUndeliverableSteeringStaysInInput(t *testing.T) {
	s := settled(t, newStory().answering(), 120, 36).press(append(letters("x"), ctrl('t'))...)
	s.sent()
	if got := s.m.Typed(); got != "x" {
		t.Errorf("the input holds %q", got)
	}
	s.lacks("ctrl+t steer")
	settled(t, newStory().exploring(), 120, 36).press(letters("x")...).wants("ctrl+t steer")
}

func TestCallAllowedForRunIsReported(t *testing.T) {
	const notice = "allowed without a gate: fs.patch in step 4 (you allowed this tool for the run)"
	r := rule.Rule{Tool: "workspace:fs.patch", Verdict: rule.VerdictRun, Source: rule.SourceUser, Why: "you allowed this tool for the run"}
	for name, c := range map[string]struct {
		rule *rule.Rule
		from []rule.Provenance
		want string
		mark bool
	}{
		"arguments of the plan":   {&r, nil, notice, false},
		"untrusted text":          {&r, []rule.Provenance{{Arg: "new", Step: "1", Tool: "vcs.push"}}, notice, true},
		"allowed by another rule": {&rule.Rule{Tool: "fs.*", Verdict: rule.VerdictRun, Source: rule.SourceConfiguration}, nil, "", false},
		"approved in the review":  {&rule.Rule{Tool: "fs.patch", Verdict: rule.VerdictRun, Source: rule.SourceUser, Why: "you approved this call in the review of the plan"}, nil, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			st := newStory().abreast().run(panetest.Patching("3", "a.go", panetest.PatchRule), event.GateResolved{Gate: "3.1.1", Decision: event.Allow, Scope: event.ScopeRun, By: "user"})
			st.run(event.StepStarted{Index: "4", Attempt: 1, Executor: plan.ExecutorTool, Tool: "fs.patch", Rule: c.rule, Provenance: c.from})
			s := settled(t, st, 200, 50)
			if c.want == "" {
				s.lacks("passed without a gate")
			} else {
				s.wants(c.want)
			}
			if got := strings.Contains(s.text(), "untrusted text"); got != c.mark {
				t.Errorf("got marked %t", got)
			}
		})
	}
}

func TestDeniedStepIsReportedAsDenied(t *testing.T) {
	st := newStory().abreast("1").run(event.GateResolved{Gate: "1.1.1", Decision: event.Deny, Scope: event.ScopeOnce, By: "user"},
		event.StepFailed{Index: "1", Attempt: 1, Error: "denied at the gate", Failure: event.FailureDenied})
	s := settled(t, attended(st), 120, 40)
	s.wants("Denied · step 1")
	s.wants("step 1 was denied: how should the run continue?")
	s.lacks("failed")
}

// attended makes every run of the story attended.
func attended(s *story) *story {
	for i, e := range s.events {
		if d, ok := e.Data.(event.RunStarted); ok {
			d.Attended = true
			s.events[i].Data = d
		}
	}
	return s
}

func TestListOfGatesSaysWhichPartItShows(t *testing.T) {
	settled(t, newStory().crowded(), 120, 36).seen().lacks("-5 of 5")
	settled(t, newStory().crowded(), 80, 20).seen().wants("1-3 of 5")
}
