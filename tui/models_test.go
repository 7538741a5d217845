package tui_test

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/agent/session"
	"replan/planning/prompt"
	"replan/tui"
)

// picking opens the list of models and delivers it.
func picking(t *testing.T, width, height int) *screen {
	t.Helper()
	st := newStory().Choosing()
	s := open(t, tui.Options{}, width, height).show(st).press(ctrlO)
	s.wants("Asking the server for its models")
	s.answered(st)
	return s
}

// altM pulls a model.
var altM = tea.KeyPressMsg{Code: 'm', Mod: tea.ModAlt}

func TestPullIsNamedAndFollowedInTheModelList(t *testing.T) {
	s := picking(t, 120, 36).press(altM)
	s.press(letters("tiny:1bx")...).press(backspace)
	s.wants("Pull tiny:1b")
	s.press(enter)
	s.sent(asks("models"), session.Pull{Model: "tiny:1b"})
	now := newStory().Now
	at := session.PullProgress{Model: "tiny:1b", Step: "pulling a", Done: 1_300_000_000, Total: 5_200_000_000, Rate: 42_000_000}
	s.show((&story{Now: now}).Session(at))
	s.wants("25%")
	s.wants("1.3 GB of 5.2 GB")
	s.wants("42 MB/s")
	s.press(altM)
	s.wants("tiny:1b is being pulled")
	s.press(escape)
	s.wants("pulling tiny:1b 25%") // in the header
	s.press(ctrlO, tea.KeyPressMsg{Code: 'z', Mod: tea.ModAlt})
	s.sent(asks("models"), session.Pull{Model: "tiny:1b"}, asks("models"), session.CancelPull{})
	at.Ended, at.Canceled = true, true
	s.show((&story{Now: now}).Session(at))
	s.wants("pull of tiny:1b canceled")
	s.lacks("pulling tiny:1b")
}

func TestFailedPullSaysWhy(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().Greeted())
	s.show((&story{Now: newStory().Now}).Session(
		session.PullProgress{Model: "tiny"}, session.PullProgress{Model: "tiny", Ended: true, Problem: "the registry has no model tiny: check its name"}))
	s.wants("tiny was not pulled")
	s.wants("the registry has no model tiny: check its name")
	s.lacks("pulling tiny")
}

func TestReplayChoosesNoModel(t *testing.T) {
	s := replayed(t, newStory().ChatAnswered(), 120, 36).press(ctrlO)
	s.sent()
	s.wants("it uses no model")
}

func TestChatReportsChoiceOnce(t *testing.T) {
	status := func(change func(*session.Status)) session.Status {
		st := session.Status{Workspace: "/src/auth-service", Model: "qwen3:8b", ContextWindow: 32768, Tools: 6, Think: prompt.ThinkLow, Profile: "reviewer"}
		change(&st)
		return st
	}
	for name, c := range map[string]struct {
		keys   []tea.KeyPressMsg
		status session.Status
		want   string
	}{
		"a model":    {[]tea.KeyPressMsg{downKey, downKey, enter}, status(func(s *session.Status) { s.Model = "gemma3:1b" }), "from the next run on: gemma3:1b, 32k of context, no tools. gemma3:1b cannot think, so"},
		"a level":    {[]tea.KeyPressMsg{leftKey, leftKey, leftKey, leftKey, enter}, status(func(s *session.Status) { s.Think = prompt.ThinkAuto }), "from the next run on: think auto"},
		"a profile":  {[]tea.KeyPressMsg{tabKey, upKey, enter}, status(func(s *session.Status) { s.Profile = "explorer" }), "from the next run on: the profile explorer"},
		"no profile": {[]tea.KeyPressMsg{tabKey, upKey, upKey, enter}, status(func(s *session.Status) { s.Profile = "" }), "from the next run on: no profile"},
		"model and level": {
			[]tea.KeyPressMsg{downKey, downKey, rightKey, enter},
			status(func(s *session.Status) { s.Model, s.Think = "gemma3:1b", prompt.ThinkMedium }),
			"from the next run on: gemma3:1b, 32k of context, no tools; think medium. gemma3:1b cannot think, so",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := picking(t, 200, 36).press(c.keys...)
			now := newStory().Now
			s.show((&story{Now: now}).Session(status(func(s *session.Status) { s.Tools = 7 })))
			s.lacks("from the next run on") // the choice is not in effect yet
			chosen := s.lastChoice()
			s.show((&story{Now: now}).Session(c.status, session.Chosen{Choice: chosen}, session.Chosen{Choice: chosen}))
			if n := strings.Count(s.text(), c.want); n != 1 {
				t.Errorf("reported %d times:\n%s", n, s.text())
			}
			s.wants("explain what this project does") // the greeting stays until the first message
		})
	}
	s := picking(t, 200, 36).press(downKey, downKey, enter)
	now := newStory().Now
	s.show((&story{Now: now}).Session(session.Chosen{Choice: s.lastChoice(), Problem: "the server is down"}, session.Chosen{Choice: s.lastChoice()}))
	s.lacks("from the next run on")
}

// lastChoice returns the choice that was sent to the session last.
func (s *screen) lastChoice() session.Choice {
	s.t.Helper()
	for _, sent := range slices.Backward(s.session.commands()) {
		if c, ok := sent.(session.Choose); ok {
			return session.Choice(c)
		}
	}
	s.t.Fatal("no choice was sent")
	return session.Choice{}
}
