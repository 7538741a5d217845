package tui_test

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/tui"
	"replan/tui/panetest"
)

// clickOn clicks on the last occurrence of a text on the screen.
func (s *screen) clickOn(text string) *screen {
	s.t.Helper()
	lines := s.lines()
	for y, line := range slices.Backward(lines) {
		if i := strings.LastIndex(line, text); i >= 0 {
			clicked = tea.MouseClickMsg(left(ansi.StringWidth(line[:i]), y))
			return s.clickThere()
		}
	}
	s.t.Fatalf("%q is not on the screen:\n%s", text, s.text())
	return s
}

// clicked is the last click.
var clicked tea.MouseClickMsg

// clickThere clicks where the last click was.
func (s *screen) clickThere() *screen {
	_, cmd := s.m.Update(clicked)
	s.carryOut(cmd)
	s.rest()
	return s
}

func TestClickAnswersGateAndQuestion(t *testing.T) {
	gate := func(d event.Decision, scope event.Scope) session.Command {
		return session.Resolve{Run: panetest.StoryRun, Gate: "4.1.1", Decision: d, Scope: scope}
	}
	for _, size := range [][2]int{{120, 36}, {80, 24}, {40, 12}} {
		for text, want := range map[string]session.Command{
			"y ": gate(event.Allow, event.ScopeOnce), "r ": gate(event.Allow, event.ScopeRun), "n ": gate(event.Deny, event.ScopeOnce),
		} {
			s := settled(t, newStory().Gated(), size[0], size[1]).seen()
			words := map[string][]string{"y ": {"y allow once", "y once"}, "r ": {"r fs.patch for", "r run"}, "n ": {"n deny"}}[text]
			at := slices.IndexFunc(words, func(w string) bool { return strings.Contains(s.text(), w) })
			if at < 0 {
				t.Fatalf("no answer %q:\n%s", text, s.text())
			}
			if s.clickOn(words[at]); text == "n " {
				s.clickOn("enter deny")
			}
			s.sent(want)
		}
	}
	s := settled(t, newStory().Failing(), 120, 36).clickOn("e edit arguments")
	s.wants("Edit arguments")
	s.clickOn("esc discard").lacks("Edit arguments")
	s.clickOn("s skip")
	if c, ok := s.session.commands()[0].(session.ResolveFailure); !ok || c.Decision != event.FailureSkip {
		t.Errorf("a click on skip sends %v", c)
	}
}

func TestClickOnJustOpenedGateIsIgnored(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().Gated())
	x, y := s.find("y allow once")
	s.m.Update(tea.MouseClickMsg(left(x, y)))
	s.sent()
	s.wants("y came too early")
}

func TestClickAnswersQuitPrompt(t *testing.T) {
	s := settled(t, newStory().Branching(), 120, 36).press(ctrl('c'))
	s.clickOn("n no").lacks("Stop it and quit?")
	s.press(ctrl('c'))
	x, y := s.find("y yes")
	_, cmd := s.m.Update(tea.MouseClickMsg(left(x, y)))
	if cmd == nil {
		t.Fatal("a click on yes does nothing")
	}
	if _, quits := cmd().(tea.QuitMsg); !quits {
		t.Error("a click on yes does not quit")
	}
}

func TestClickOnHintWithSeveralKeys(t *testing.T) {
	s := settled(t, newStory().Finished(), 120, 36).press(tabKey, tea.KeyPressMsg{Code: 'g', Text: "g"})
	first := s.m.Selected()
	s.clickOn("down move")
	if s.m.Selected() == first {
		t.Error("a click on down selects no other step")
	}
	s.clickOn("up/down move")
	if s.m.Selected() != first {
		t.Errorf("a click on up selects step %s", s.m.Selected())
	}
}

func TestClickPlacesTextCursor(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().Greeted()).press(letters("one 日本 two")...)
	s.press(tea.KeyPressMsg{Code: 'j', Mod: tea.ModCtrl}).press(letters("three")...)
	s.clickOn("two").press(letters("X")...)
	s.wants("one 日本 Xtwo")
	s.clickOn("ree").press(letters("Y")...)
	s.wants("thYree")
	x, y := s.find("thYree")
	s.m.Update(tea.MouseClickMsg(left(x+30, y)))
	s.press(letters("Z")...)
	s.wants("thYreeZ")
}

// TestSecondClickActivatesChosenRow clicks twice in each list. The first click
// only selects.
func TestSecondClickActivatesChosenRow(t *testing.T) {
	for name, c := range map[string]struct {
		open  func() *screen
		click string
		done  func(s *screen) bool
	}{
		"palette": {func() *screen {
			return settled(t, newStory().Branching(), 120, 36).press(ctrlK).press(letters("follow the")...)
		}, "Follow the running step", func(s *screen) bool { return s.m.Focus() == "plan" }},
		"runs": {func() *screen { return settled(t, newStory().Listed(), 120, 36).press(ctrlR).show(newStory().Listed()) }, "publish the release", func(s *screen) bool {
			return slices.Contains(s.session.commands(), any(session.Resume{Run: "r-4"}))
		}},
		"settings": {func() *screen { return setting(t, 120, 36) }, "think", func(s *screen) bool {
			return slices.ContainsFunc(s.session.commands(), func(c any) bool { _, chose := c.(session.Choose); return chose })
		}},
		"servers": {func() *screen { return serving(t, 120, 36) }, "workspace", func(s *screen) bool { return strings.Contains(s.text(), "fs.patch") }},
		"themes":  {func() *screen { return tryingOn(t, 120, 36) }, "sea", func(s *screen) bool { return !strings.Contains(s.text(), "Themes") }},
		"timeline": {
			func() *screen { return settled(t, newStory().Finished(), 120, 36).press(tabKey).press(letters("t")...) },
			"Read", func(s *screen) bool { return s.m.Focus() == "step" },
		},
		"exchanges": {func() *screen { return settled(t, newStory().Finished(), 120, 36).press(ctrl('x')) }, "analysis", func(s *screen) bool {
			return strings.Contains(s.text(), "esc list")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := c.open()
			s.clickOn(c.click)
			if c.done(s) {
				t.Fatalf("the first click already acts:\n%s", s.text())
			}
			s.clickThere()
			if !c.done(s) {
				t.Errorf("the second click does nothing:\n%s", s.text())
			}
			s = c.open()
			s.clickOn(c.click).press(downKey, upKey).clickThere()
			if c.done(s) {
				t.Errorf("a key between the clicks is ignored:\n%s", s.text())
			}
		})
	}
}

func TestPaletteRanksWordMatchesFirst(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().Greeted()).press(ctrlK).press(letters("sett")...)
	s.wants("Open settings")
	s.lacks("Follow the running step")
	s.press(enter).wants("Settings")
}

func TestClickOnStepInAnswerOpensIt(t *testing.T) {
	answer := panetest.StoryAnswer[:180] + "`\n\nAll tests pass [3]. The list a[2] is no step, and neither is [99]."
	open := func() *screen {
		return settled(t, newStory().Answering().Run(event.SynthesisCompleted{Text: untrusted.Text(answer)}), 160, 48)
	}
	for text, step := range map[string]string{"[3]": "3", "[2]": "", "[99]": ""} {
		s := open()
		before := s.text()
		s.clickOn(text).mouse(tea.MouseReleaseMsg(clicked))
		if step != "" {
			s.wants("Step " + step)
		} else if s.text() != before {
			t.Errorf("a click on %s changes the screen:\n%s", text, s.text())
		}
	}
}

func TestKeyOpensTheStepsOfTheAnswerInTurn(t *testing.T) {
	answered := func(text string) *screen {
		return settled(t, newStory().Answering().Run(event.SynthesisCompleted{Text: untrusted.Text(text)}), 160, 48)
	}
	s := answered("All tests pass [3]. The list a[2] is no step, [99] neither, and both files are there [1][3].")
	for _, step := range []string{"3", "1", "3"} {
		s.press(alt('j')).wants("Step " + step + " ")
	}
	answered("All tests pass.").press(alt('j')).wants("The answer cites no step.")
}

func TestClickOnStepOfAnEarlierAnswerOpensNoOther(t *testing.T) {
	st := newStory().Answering().Run(event.SynthesisCompleted{Text: "All tests pass [3]."}, event.RunCompleted{Result: event.Result{Status: event.StatusCompleted, Reason: event.ReasonGoalMet}})
	plan := panetest.NotesPlan()
	st.Session(event.ChatUser{Text: "again"}).Plan(event.RunStarted{Goal: "again", Workspace: "/src", Session: panetest.StorySession, Plan: &plan, Model: "qwen3:8b"},
		event.PlanCreated{Plan: plan, Revision: 1})
	s := settled(t, st, 160, 60)
	s.clickOn("[3]").mouse(tea.MouseReleaseMsg(clicked))
	s.wants("this answer is of another run")
}
