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

func TestClickChoosesStepBehindOpenGate(t *testing.T) {
	s := settled(t, newStory().Abreast("1", "2"), 120, 40)
	for y, line := range s.lines() {
		if strings.Contains(line, "4 Step 4") {
			s.m.Update(tea.MouseClickMsg{X: 90, Y: y, Button: tea.MouseLeft})
		}
	}
	s.wants("▌  ○ 4 Step 4")
	if !s.m.GateOpen() {
		t.Fatal("the gate is closed")
	}
	s.m.Update(s.m.Rested())
	s.press(letters("y")...)
	s.sent(allow("1"))
}

func TestUndeliverableSteeringStaysInInput(t *testing.T) {
	s := settled(t, newStory().Answering(), 120, 36).press(append(letters("x"), ctrl('t'))...)
	s.sent()
	if got := s.m.Typed(); got != "x" {
		t.Errorf("the input holds %q", got)
	}
	s.lacks("ctrl+t steer")
	settled(t, newStory().Exploring(), 120, 36).press(letters("x")...).wants("ctrl+t steer")
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
			st := newStory().Abreast().Run(panetest.Patching("3", "a.go", panetest.PatchRule), event.GateResolved{Gate: "3.1.1", Decision: event.Allow, Scope: event.ScopeRun, By: "user"})
			st.Run(event.StepStarted{Index: "4", Attempt: 1, Executor: plan.ExecutorTool, Tool: "fs.patch", Rule: c.rule, Provenance: c.from})
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
