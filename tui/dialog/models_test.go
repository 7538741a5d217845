package dialog_test

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/prompt"
	"replan/tui/dialog"
	"replan/tui/keymap"
	"replan/tui/panetest"
)

func TestChoiceSendsOnlyDifferences(t *testing.T) {
	for name, c := range map[string]struct {
		keys []tea.KeyPressMsg
		want session.Choose
	}{
		"other model":           {[]tea.KeyPressMsg{panetest.Key("down"), panetest.Key("down"), panetest.Key("enter")}, session.Choose{Model: ptr("gemma3:1b")}},
		"model found by search": {append(panetest.Letters("GEM"), panetest.Key("enter")), session.Choose{Model: ptr("gemma3:1b")}},
		"letter deleted":        {append(panetest.Letters("gemx"), panetest.Key("backspace"), panetest.Key("enter")), session.Choose{Model: ptr("gemma3:1b")}},
		"more thought":          {[]tea.KeyPressMsg{panetest.Key("right"), panetest.Key("right"), panetest.Key("enter")}, session.Choose{Think: ptr(prompt.ThinkHigh)}},
		"less thought":          {[]tea.KeyPressMsg{panetest.Key("left"), panetest.Key("left"), panetest.Key("left"), panetest.Key("left"), panetest.Key("enter")}, session.Choose{Think: ptr(prompt.ThinkAuto)}},
		"model and thought":     {[]tea.KeyPressMsg{panetest.Key("down"), panetest.Key("right"), panetest.Key("enter")}, session.Choose{Model: ptr("hf.co/bartowski/Qwen2.5-Coder-14B-Instruct-GGUF:Q5_K_M"), Think: ptr(prompt.ThinkMedium)}},
		"a profile":             {[]tea.KeyPressMsg{panetest.Key("tab"), panetest.Key("up"), panetest.Key("enter")}, session.Choose{Profile: ptr("explorer")}},
		"no profile":            {[]tea.KeyPressMsg{panetest.Key("tab"), panetest.Key("up"), panetest.Key("up"), panetest.Key("up"), panetest.Key("enter")}, session.Choose{Profile: ptr("")}},
	} {
		t.Run(name, func(t *testing.T) {
			s := picking(t, 120, 36).Press(c.keys...)
			s.Sent(c.want)
			s.Lacks("Profiles")
		})
	}
}

func TestRefusedChoiceSaysWhy(t *testing.T) {
	for name, c := range map[string]struct {
		keys []tea.KeyPressMsg
		want string
	}{
		"embedding model": {append(panetest.Letters("nomic"), panetest.Key("enter")), "This model only makes embeddings"},
		"current model":   {[]tea.KeyPressMsg{panetest.Key("enter")}, "This is already the session's choice"},
		"current profile": {[]tea.KeyPressMsg{panetest.Key("tab"), panetest.Key("enter")}, "This is already the session's choice"},
		"no match":        {append(panetest.Letters("zz"), panetest.Key("enter")), "No name contains zz"},
	} {
		t.Run(name, func(t *testing.T) {
			s := picking(t, 120, 36).Press(c.keys...)
			s.Sent()
			s.Wants(c.want)
		})
	}
}

func TestModelListShowsSizeAndAbilities(t *testing.T) {
	for _, size := range []struct{ w, h int }{{120, 36}, {80, 24}} {
		s := picking(t, size.w, size.h)
		for _, text := range []string{"✓ qwen3:8b", "8.2B", "Q4_K_M", "5.2 GB", "32k", "tools · thinks · loaded", "815 MB", "no chat"} {
			s.Wants(text)
		}
	}
}

func TestClickChoosesModel(t *testing.T) {
	s := picking(t, 120, 36)
	s.ClickOn("gemma3:1b")
	s.Press(panetest.Key("enter"))
	s.Sent(session.Choose{Model: ptr("gemma3:1b")})
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
			s := modelsOf(t, 120, 36, session.Models{Model: c.current, Models: []prompt.ModelInfo{
				{Name: "big:7b", Chats: true}, {Name: c.listed, Chats: true},
			}})
			line := s.Lines()[s.Line(c.listed)]
			if got := strings.Contains(line, "▌✓ "+c.listed); got != c.want {
				t.Errorf("got marked and selected %v: %s", got, line)
			}
			if s.Press(panetest.Key("enter")); c.want {
				s.Wants("This is already the session's choice")
			}
		})
	}
}

func TestModelListKeysFitNarrowScreen(t *testing.T) {
	s := picking(t, 80, 24)
	for _, text := range []string{"enter choose", "esc close", "tab profiles", "alt+m pull", "left/right think"} {
		s.Offers(text)
	}
	picking(t, 80, 24).Press(panetest.Key("tab")).Offers("tab models")
	picking(t, 40, 12).Offers("tab profiles")
}

func ptr[T any](v T) *T { return &v }

// picking opens the list of models.
func picking(t *testing.T, width, height int) *panetest.Driver {
	t.Helper()
	return modelsOf(t, width, height, panetest.Models())
}

// modelsOf opens the list of these models.
func modelsOf(t *testing.T, width, height int, models session.Models) *panetest.Driver {
	t.Helper()
	k := panetest.Keys()
	d := dialog.NewModels(panetest.DarkLook(), k)
	d.Open(session.Status{Model: untrusted.Text(models.Model), Think: models.Think})
	s := panetest.Drive(t, d, k, width, height)
	s.Wants("Asking the server for its models")
	s.Update(keymap.AnswerMsg[session.Models]{Value: models})
	return s
}

func TestEscapeClosesSearchThenModelList(t *testing.T) {
	s := picking(t, 120, 36).Type("gem")
	s.Lacks("nomic")
	s.Press(panetest.Key("esc")).Wants("nomic")
	s.Press(panetest.Key("esc")).Lacks("nomic")
}

func TestEmptyModelListSuggestsPull(t *testing.T) {
	s := modelsOf(t, 120, 36, session.Models{})
	s.Wants("alt+m pulls qwen3:8b")
	s.Press(panetest.Key("enter")).Sent()
	s.Press(panetest.Named("alt+m", "enter")...).Sent(session.Pull{Model: "qwen3:8b"})
}

func TestPullIsNamedAndFollowedInTheModelList(t *testing.T) {
	s := picking(t, 120, 36).Press(panetest.Key("alt+m")).Type("tiny:1bx").Press(panetest.Key("backspace"))
	s.Wants("Pull tiny:1b")
	s.Press(panetest.Key("enter")).Sent(session.Pull{Model: "tiny:1b"})
	d := s.Part.(*dialog.Models)
	d.Pulled(session.PullProgress{Model: "tiny:1b", Step: "pulling a", Done: 1_300_000_000, Total: 5_200_000_000, Rate: 42_000_000})
	s.Wants("25%", "1.3 GB of 5.2 GB", "42 MB/s")
	s.Press(panetest.Key("alt+m")).Wants("tiny:1b is being pulled")
	s.Press(panetest.Key("alt+z")).Sent(session.Pull{Model: "tiny:1b"}, session.CancelPull{})
}

func TestModelIsRemovedAfterAQuestion(t *testing.T) {
	s := picking(t, 120, 36).Press(panetest.Key("delete"))
	s.Wants("Remove qwen3:8b (5.2 GB)? y/n")
	s.Type("xn").Lacks("Remove qwen3:8b (5.2 GB)?")
	s.Sent()
	s.Press(panetest.Key("delete")).Type("y").Sent(session.Remove{Model: "qwen3:8b"})
	s.Part.(*dialog.Models).Removed(session.Removed{Model: "qwen3:8b", Problem: "a run uses qwen3:8b"})
	s.Wants("a run uses qwen3:8b")
}
