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
	st := newStory().choosing()
	s := open(t, tui.Options{}, width, height).show(st).press(ctrlO)
	s.wants("Asking the server for its models")
	s.answered(st)
	return s
}

func ptr[T any](v T) *T { return &v }

func TestChoiceSendsOnlyDifferences(t *testing.T) {
	for name, c := range map[string]struct {
		keys []tea.KeyPressMsg
		want session.Choose
	}{
		"other model":           {[]tea.KeyPressMsg{downKey, downKey, enter}, session.Choose{Model: ptr("gemma3:1b")}},
		"model found by search": {append(letters("GEM"), enter), session.Choose{Model: ptr("gemma3:1b")}},
		"letter deleted":        {append(letters("gemx"), backspace, enter), session.Choose{Model: ptr("gemma3:1b")}},
		"more thought":          {[]tea.KeyPressMsg{rightKey, rightKey, enter}, session.Choose{Think: ptr(prompt.ThinkHigh)}},
		"less thought":          {[]tea.KeyPressMsg{leftKey, leftKey, leftKey, leftKey, enter}, session.Choose{Think: ptr(prompt.ThinkAuto)}},
		"model and thought":     {[]tea.KeyPressMsg{downKey, rightKey, enter}, session.Choose{Model: ptr("hf.co/bartowski/Qwen2.5-Coder-14B-Instruct-GGUF:Q5_K_M"), Think: ptr(prompt.ThinkMedium)}},
		"a profile":             {[]tea.KeyPressMsg{tabKey, upKey, enter}, session.Choose{Profile: ptr("explorer")}},
		"no profile":            {[]tea.KeyPressMsg{tabKey, upKey, upKey, upKey, enter}, session.Choose{Profile: ptr("")}},
	} {
		t.Run(name, func(t *testing.T) {
			s := picking(t, 120, 36).press(c.keys...)
			s.sent(asks("models"), c.want)
			s.lacks("Profiles")
		})
	}
}

func TestRefusedChoiceSaysWhy(t *testing.T) {
	for name, c := range map[string]struct {
		keys []tea.KeyPressMsg
		want string
	}{
		"embedding model": {append(letters("nomic"), enter), "This model only makes embeddings"},
		"current model":   {[]tea.KeyPressMsg{enter}, "This is already the session's choice"},
		"current profile": {[]tea.KeyPressMsg{tabKey, enter}, "This is already the session's choice"},
		"no match":        {append(letters("zz"), enter), "No name contains zz"},
	} {
		t.Run(name, func(t *testing.T) {
			s := picking(t, 120, 36).press(c.keys...)
			s.sent(asks("models"))
			s.wants(c.want)
		})
	}
}

func TestEscapeClosesSearchThenModelList(t *testing.T) {
	s := picking(t, 120, 36).press(letters("gem")...)
	s.lacks("nomic")
	s.press(escape)
	s.wants("nomic")
	s.press(escape)
	s.lacks("nomic")
	s.press(letters("j")...)
	if s.m.Typed() != "j" {
		t.Errorf("the input holds %q, want j", s.m.Typed())
	}
}

func TestModelListShowsSizeAndAbilities(t *testing.T) {
	for _, size := range []struct{ w, h int }{{120, 36}, {80, 24}} {
		s := picking(t, size.w, size.h)
		for _, text := range []string{"✓ qwen3:8b", "8.2B", "Q4_K_M", "5.2 GB", "32k", "tools · thinks · loaded", "815 MB", "no chat"} {
			s.wants(text)
		}
	}
}

func TestEmptyModelListSuggestsPull(t *testing.T) {
	st := newStory().greeted().session(session.Models{})
	s := open(t, tui.Options{}, 120, 36).show(st).press(ctrlO)
	s.answered(st)
	s.wants("alt+m pulls qwen3:8b")
	s.press(enter)
	s.sent(asks("models"))
	s.press(altM, enter)
	s.sent(asks("models"), session.Pull{Model: "qwen3:8b"})
}

// altM pulls a model.
var altM = tea.KeyPressMsg{Code: 'm', Mod: tea.ModAlt}

func TestPullIsNamedAndFollowedInTheModelList(t *testing.T) {
	s := picking(t, 120, 36).press(altM)
	s.press(letters("tiny:1bx")...).press(backspace)
	s.wants("Pull tiny:1b")
	s.press(enter)
	s.sent(asks("models"), session.Pull{Model: "tiny:1b"})
	now := newStory().now
	at := session.PullProgress{Model: "tiny:1b", Step: "pulling a", Done: 1_300_000_000, Total: 5_200_000_000, Rate: 42_000_000}
	s.show((&story{now: now}).session(at))
	s.wants("25%")
	s.wants("1.3 GB of 5.2 GB")
	s.wants("42 MB/s")
	s.press(altM)
	s.wants("tiny:1b is being pulled")
	s.press(escape)
	s.wants("pulling tiny:1b 25%") // in the header
	s.press(ctrlO, tea.KeyPressMsg{Code: 'z', Mod: tea.ModAlt})
	s.sent(asks("models"), session.Pull{Model: "tiny:1b"}, asks("models"), session.CancelPull{})
	at.Ended, at.Cancelled = true, true
	s.show((&story{now: now}).session(at))
	s.wants("pull of tiny:1b canceled")
	s.lacks("pulling tiny:1b")
}

func TestFailedPullSaysWhy(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().greeted())
	s.show((&story{now: newStory().now}).session(
		session.PullProgress{Model: "tiny"}, session.PullProgress{Model: "tiny", Ended: true, Problem: "the registry has no model tiny: check its name"}))
	s.wants("tiny was not pulled")
	s.wants("the registry has no model tiny: check its name")
	s.lacks("pulling tiny")
}

func TestModelIsRemovedAfterAQuestion(t *testing.T) {
	remove := tea.KeyPressMsg{Code: tea.KeyDelete}
	s := picking(t, 120, 36).press(remove)
	s.wants("Remove qwen3:8b (5.2 GB)? y/n")
	s.press(letters("xn")...)
	s.lacks("Remove qwen3:8b (5.2 GB)?")
	s.sent(asks("models"))
	s.press(remove)
	s.press(letters("y")...)
	s.sent(asks("models"), session.Remove{Model: "qwen3:8b"})
	now := newStory().now
	s.show((&story{now: now}).session(session.Removed{Model: "qwen3:8b", Problem: "a run uses qwen3:8b"}))
	s.wants("a run uses qwen3:8b")
	s.show((&story{now: now}).session(session.Removed{Model: "qwen3:8b"}))
	s.wants("qwen3:8b is removed")
}

func TestClickChoosesModel(t *testing.T) {
	s := picking(t, 120, 36)
	s.m.Update(tea.MouseClickMsg{X: 40, Y: lineOf(s, "gemma3:1b"), Button: tea.MouseLeft})
	s.press(enter)
	s.sent(asks("models"), session.Choose{Model: ptr("gemma3:1b")})
}

func TestReplayChoosesNoModel(t *testing.T) {
	s := replayed(t, newStory().chatAnswered(), 120, 36).press(ctrlO)
	s.sent()
	s.wants("it uses no model")
}

func TestCurrentModelIsMarkedWithOrWithoutTag(t *testing.T) {
	for name, c := range map[string]struct {
		current, listed string
		want            bool
	}{
		"same name":        {"tiny:latest", "tiny:latest", true},
		"no tag":           {"tiny", "tiny:latest", true},
		"other case":       {"Tiny", "tiny:LATEST", true},
		"registry":         {"hf.co:443/x/tiny", "hf.co:443/x/tiny:latest", true},
		"other tag":        {"tiny", "tiny:1b", false},
		"no current model": {"", "tiny:latest", false},
	} {
		t.Run(name, func(t *testing.T) {
			st := newStory().greeted().session(session.Models{Model: c.current, Models: []prompt.ModelInfo{
				{Name: "big:7b", Chats: true}, {Name: c.listed, Chats: true},
			}})
			s := open(t, tui.Options{}, 120, 36).show(st).press(ctrlO)
			s.answered(st)
			line := s.lines()[lineOf(s, c.listed)]
			if got := strings.Contains(line, "▌✓ "+c.listed); got != c.want {
				t.Errorf("got marked and selected %v: %s", got, line)
			}
			if s.press(enter); c.want {
				s.wants("This is already the session's choice")
			}
		})
	}
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
			now := newStory().now
			s.show((&story{now: now}).session(status(func(s *session.Status) { s.Tools = 7 })))
			s.lacks("from the next run on") // the choice is not in effect yet
			chosen := s.lastChoice()
			s.show((&story{now: now}).session(c.status, session.Chosen{Choice: chosen}, session.Chosen{Choice: chosen}))
			if n := strings.Count(s.text(), c.want); n != 1 {
				t.Errorf("reported %d times:\n%s", n, s.text())
			}
			s.wants("explain what this project does") // the greeting stays until the first message
		})
	}
	s := picking(t, 200, 36).press(downKey, downKey, enter)
	now := newStory().now
	s.show((&story{now: now}).session(session.Chosen{Choice: s.lastChoice(), Problem: "the server is down"}, session.Chosen{Choice: s.lastChoice()}))
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

func TestModelListKeysFitNarrowScreen(t *testing.T) {
	s := picking(t, 80, 24)
	for _, text := range []string{"enter choose", "esc close", "tab profiles", "alt+m pull", "left/right think"} {
		s.wants(text)
	}
	picking(t, 80, 24).press(tabKey).wants("tab models")
	picking(t, 40, 12).wants("tab profiles")
}
