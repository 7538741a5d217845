package ask_test

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/agent/session"
	"replan/tui/panetest"
)

// because is the no to the gate of step 4, with a reason.
func because(reason string) session.Command {
	return session.Resolve{Run: run, Gate: "4.1.1", Decision: event.Deny, Scope: event.ScopeOnce, Reason: reason}
}

func TestNoTakesAReason(t *testing.T) {
	for name, c := range map[string]struct {
		keys func(s *screen)
		want []session.Command
	}{
		"enter alone is a plain no":  {func(s *screen) { s.Press(panetest.Key("enter")) }, []session.Command{deny("4.1.1")}},
		"typed words are the reason": {func(s *screen) { s.Type("yes, no"); s.Press(panetest.Key("enter")) }, []session.Command{because("yes, no")}},
		"blanks are no reason":       {func(s *screen) { s.Type("  "); s.Press(panetest.Key("enter")) }, []session.Command{deny("4.1.1")}},
		"pasted lines become one":    {func(s *screen) { s.Update(tea.PasteMsg{Content: "a\n b"}); s.Press(panetest.Key("enter")) }, []session.Command{because("a b")}},
		"esc leaves the gate as it was": {func(s *screen) {
			s.Type("why")
			s.Press(panetest.Key("esc"))
			s.Wants("allow once", "deny")
			s.Lacks("why not?")
		}, nil},
		"esc forgets what was typed": {func(s *screen) {
			s.Type("why")
			s.Press(panetest.Named("esc")...)
			s.Rest()
			s.Touch(panetest.Key("n"))
			s.Press(panetest.Key("enter"))
		}, []session.Command{deny("4.1.1")}},
		"keys of other answers are typed":  {func(s *screen) { s.Type("yrae"); s.Press(panetest.Key("enter")) }, []session.Command{because("yrae")}},
		"the keys are said before an end":  {func(s *screen) { s.Wants("why not?", "enter deny", "esc back") }, nil},
		"the call stays in view beside it": {func(s *screen) { s.Wants("verifyUser") }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := settled(t, 120, 36, renames(panetest.HandlerGate())...)
			s.Touch(panetest.Key("n"))
			s.Rest()
			c.keys(s)
			s.Sent(c.want...)
			if s.dialog.Showing() != (c.want == nil) {
				t.Errorf("the gate is open: %t", s.dialog.Showing())
			}
		})
	}
}

func TestLineForTheReasonSaysWhoHearsIt(t *testing.T) {
	for heard, want := range map[bool]string{true: "or what to do instead", false: "kept with the run"} {
		s := settled(t, 120, 36, append([]event.Data{startedWith(heard)}, renames(panetest.HandlerGate())[1:]...)...)
		s.Touch(panetest.Key("n"))
		s.Wants(want)
	}
}

// startedWith starts a run, with a model or without one.
func startedWith(model bool) event.RunStarted {
	start := started()
	if start.Model = ""; model {
		start.Model = "m"
	}
	return start
}

func TestEscGoesBackFromTheDetailsOfAGate(t *testing.T) {
	s := settled(t, 120, 36, renames(panetest.HandlerGate())...)
	s.Press(panetest.Key("i"))
	s.Wants("why it asks", "esc back")
	s.Press(panetest.Key("esc"))
	s.Lacks("why it asks")
	s.Wants("allow once", "esc look around")
	s.Press(panetest.Key("esc"))
	if s.dialog.Showing() {
		t.Error("the second esc does not hide the gate")
	}
}
