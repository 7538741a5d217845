package dialog_test

import (
	"fmt"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"replan/agent/session"
	"replan/planning/prompt"
	"replan/tui/dialog"
	"replan/tui/keymap"
	"replan/tui/panetest"
)

// setting opens the settings in force. The session can change the model and its thinking.
func setting(t *testing.T, width, height int) (*panetest.Driver, *dialog.Settings) {
	t.Helper()
	k := panetest.Keys()
	d := dialog.NewSettings(panetest.DarkLook(), k, "/home/ann")
	d.Open(map[string]string{"model.name": "qwen3:8b", "model.think": "auto", "screen.theme": "dark"})
	s := panetest.Drive(t, d, k, width, height)
	s.Update(keymap.AnswerMsg[session.Settings]{Value: panetest.SettingsInForce()})
	return s, d
}

func TestSettingsAreDrawnWideAndNarrow(t *testing.T) {
	for _, size := range []struct{ w, h int }{{120, 36}, {40, 12}} {
		t.Run(fmt.Sprintf("%dx%d", size.w, size.h), func(t *testing.T) {
			s, _ := setting(t, size.w, size.h)
			golden.RequireEqual(t, s.Front()+"\n")
		})
	}
}

func TestChangedSettingIsSent(t *testing.T) {
	s, d := setting(t, 120, 36)
	s.Press(panetest.Named("down", "enter")...).Sent(session.Choose{Think: new(prompt.ThinkOff)})
	d.Changed(map[string]string{"model.name": "qwen3:8b", "model.think": "off", "screen.theme": "dark"})
	s.Wants("this session")
	s.Press(panetest.Named("down", "enter")...).Wants("limits.max_steps = 12")
	s.Type("0").Press(panetest.Key("enter")).Sent(session.Choose{Think: new(prompt.ThinkOff)}, session.SaveSetting{Key: "limits.max_steps", Value: new("120")})
	s.Press(panetest.Key("down")).Wants("true · false after a restart", "Takes effect after a restart.")
	s.Press(panetest.Key("down")).Wants("The user file says paper.")
	s.Press(panetest.Named("down", "enter")...).Wants("It cannot be changed here.")
	s.Press(panetest.Named("up", "enter")...).Lacks("Settings")
	if to := keymap.First[keymap.DoAction](s.Requests); to != "themes" {
		t.Errorf("the theme is changed by %q", to)
	}
}

func TestTypedSettingCanBeDiscarded(t *testing.T) {
	s, _ := setting(t, 120, 36)
	s.Press(panetest.Named("down", "down", "enter", "backspace")...).Type("5").Wants("limits.max_steps = 15")
	s.Press(panetest.Key("esc")).Wants("Settings")
	s.Lacks("limits.max_steps = 15")
	s.Sent()
}

// The names of sections are those of the configuration and of "replan config list".
func TestSettingsAreGroupedBySection(t *testing.T) {
	s, _ := setting(t, 120, 36)
	s.Wants("│ ▌model     name ", "│            think ", "│  limits    max_steps ", "│  policy               2 rules", "model.name · user file")
	s, _ = setting(t, 40, 12)
	s.Wants("│ ▌model.name ", "limits.max_steps")
}
