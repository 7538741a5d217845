package tui_test

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/agent/runner"
	"replan/planning"
	"replan/tui"
)

// picking opens the list of models, which has come.
func picking(t *testing.T, width, height int) *screen {
	t.Helper()
	st := newStory().choosing()
	s := open(t, tui.Options{}, width, height).show(st).press(ctrlO)
	s.wants("Asking the server for its models")
	s.m.Update(tui.Batch(st.events[len(st.events)-1:], st.now))
	return s
}

func ptr[T any](v T) *T { return &v }

func TestWhatIsChosenIsWhatDiffers(t *testing.T) {
	for name, c := range map[string]struct {
		keys []tea.KeyPressMsg
		want runner.Choose
	}{
		"another model":            {[]tea.KeyPressMsg{downKey, downKey, enter}, runner.Choose{Model: ptr("gemma3:1b")}},
		"a model found by letters": {append(letters("GEM"), enter), runner.Choose{Model: ptr("gemma3:1b")}},
		"a letter taken back":      {append(letters("gemx"), backspace, enter), runner.Choose{Model: ptr("gemma3:1b")}},
		"more thought":             {[]tea.KeyPressMsg{rightKey, rightKey, enter}, runner.Choose{Think: ptr(planning.ThinkHigh)}},
		"less thought":             {[]tea.KeyPressMsg{leftKey, leftKey, leftKey, leftKey, enter}, runner.Choose{Think: ptr(planning.ThinkAuto)}},
		"both":                     {[]tea.KeyPressMsg{downKey, rightKey, enter}, runner.Choose{Model: ptr("hf.co/bartowski/Qwen2.5-Coder-14B-Instruct-GGUF:Q5_K_M"), Think: ptr(planning.ThinkMedium)}},
		"a profile":                {[]tea.KeyPressMsg{tabKey, upKey, enter}, runner.Choose{Profile: ptr("explorer")}},
		"no profile":               {[]tea.KeyPressMsg{tabKey, upKey, upKey, upKey, enter}, runner.Choose{Profile: ptr("")}},
	} {
		t.Run(name, func(t *testing.T) {
			s := picking(t, 120, 36).press(c.keys...)
			s.sent(runner.Models{}, c.want)
			s.lacks("Profiles")
		})
	}
}

func TestWhatCannotBeChosenSaysWhy(t *testing.T) {
	for name, c := range map[string]struct {
		keys []tea.KeyPressMsg
		word string
	}{
		"a model that only embeds": {append(letters("nomic"), enter), "This model cannot answer"},
		"the one it works with":    {[]tea.KeyPressMsg{enter}, "The session works that way already"},
		"the profile it works by":  {[]tea.KeyPressMsg{tabKey, enter}, "The session works that way already"},
		"nothing is found":         {append(letters("zz"), enter), "No name contains zz"},
	} {
		t.Run(name, func(t *testing.T) {
			s := picking(t, 120, 36).press(c.keys...)
			s.sent(runner.Models{})
			s.wants(c.word)
		})
	}
}

func TestEscapeLeavesTheSearchThenTheList(t *testing.T) {
	s := picking(t, 120, 36).press(letters("gem")...)
	s.lacks("nomic")
	s.press(escape)
	s.wants("nomic")
	s.press(escape)
	s.lacks("nomic")
	s.press(letters("j")...)
	if s.m.Typed() != "j" {
		t.Errorf("typed %q: the list still has the keys", s.m.Typed())
	}
}

func TestTheListSaysWhatAModelIsAndCan(t *testing.T) {
	for _, size := range []struct{ w, h int }{{120, 36}, {80, 24}} {
		s := picking(t, size.w, size.h)
		for _, text := range []string{"✓ qwen3:8b", "8.2B", "Q4_K_M", "5.2 GB", "32k", "tools · thinks · loaded", "815 MB", "no chat"} {
			s.wants(text)
		}
	}
}

func TestAServerWithoutModelsSaysHowToGetOne(t *testing.T) {
	st := newStory().greeted().session(agent.SessionModels{})
	s := open(t, tui.Options{}, 120, 36).show(st).press(ctrlO)
	s.m.Update(tui.Batch(st.events[len(st.events)-1:], st.now))
	s.wants("ollama pull qwen3:8b")
	s.press(enter)
	s.sent(runner.Models{})
}

func TestTheMouseChoosesAModel(t *testing.T) {
	s := picking(t, 120, 36)
	s.m.Update(tea.MouseClickMsg{X: 40, Y: lineOf(s, "gemma3:1b"), Button: tea.MouseLeft})
	s.press(enter)
	s.sent(runner.Models{}, runner.Choose{Model: ptr("gemma3:1b")})
}

func TestAReplayChoosesNoModel(t *testing.T) {
	s := replayed(t, newStory().told(), 120, 36).press(ctrlO)
	s.sent()
	s.wants("no model is asked here")
}
