package tui_test

import (
	"errors"
	"image/color"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"replan/agent/session"
	"replan/themes"
	"replan/tui"
)

var altC = tea.KeyPressMsg{Code: 'c', Mod: tea.ModAlt}

// tryingOn opens the list of themes with one of the user's own and a broken one,
// on a dark terminal that can set its background.
func tryingOn(t *testing.T, width, height int) *screen {
	t.Helper()
	set := &themes.Set{}
	if err := set.Add("sea", []byte("about = \"mine\"\nbase = \"harbour\"\n")); err != nil {
		t.Fatal(err)
	}
	set.Miss("torn", errors.New("the theme /home/me/themes/torn.toml cannot be used: line 3: colours.text is \"red\""))
	s := open(t, tui.Options{Themes: set, Config: "/etc/replan/config.toml"}, width, height).show(newStory().Finished())
	s.m.Update(tea.BackgroundColorMsg{Color: color.Black})
	return s.press(altC)
}

// ground returns the background that the screen requests from the terminal.
func (s *screen) ground() color.Color { return s.m.View().BackgroundColor }

func TestThemeIsPreviewedWhileChoosing(t *testing.T) {
	harbour := new(themes.Set).New(themes.Harbor, true, themes.Mode{Known: true})
	s := tryingOn(t, 120, 36)
	for range 8 {
		s.press(downKey)
	}
	s.wants("enter saves it in /etc/replan/config.toml")
	if s.ground() != harbour.Background || !strings.Contains(s.m.View().Content, harbour.Styles.Brand.Render("replan")) {
		t.Error("harbour is not previewed")
	}

	s.press(escape)
	s.lacks("Themes")
	if s.ground() != nil || strings.Contains(s.m.View().Content, harbour.Styles.Brand.Render("replan")) {
		t.Error("esc does not restore the theme")
	}

	s.press(altC)
	for range 8 {
		s.press(downKey)
	}
	s.press(enter)
	s.sent(session.SaveSetting{Key: "screen.theme", Value: new("harbour")})
	s.show(newStory().Session(session.SettingSaved{Key: "screen.theme", Value: "harbour", File: "/etc/replan/config.toml"}))
	s.wants("Theme harbour saved in /etc/replan/config.toml")
	if s.ground() != harbour.Background {
		t.Error("enter does not keep the theme")
	}
	s.press(altC, upKey, escape)
	if s.ground() != harbour.Background {
		t.Error("esc discards the theme that was kept")
	}
}

func TestAutoThemeFollowsTerminalBackground(t *testing.T) {
	dark, light := new(themes.Set).New(themes.Dark, true, themes.Mode{}), new(themes.Set).New(themes.Light, true, themes.Mode{})
	s := open(t, tui.Options{}, 120, 36)
	wears := func(theme themes.Theme) bool {
		return strings.Contains(s.m.View().Content, theme.Styles.Brand.Render("replan"))
	}
	if !wears(dark) {
		t.Error("the default is not dark")
	}
	s.m.Update(tea.BackgroundColorMsg{Color: color.White})
	if !wears(light) || s.ground() != nil {
		t.Error("the theme does not follow a light terminal")
	}
}

func TestColorsFitTerminalProfile(t *testing.T) {
	for _, c := range []struct {
		profile colorprofile.Profile
		want    themes.Mode
	}{
		{colorprofile.TrueColor, themes.Mode{}},
		{colorprofile.ANSI256, themes.Mode{Depth: themes.Colors256}},
		{colorprofile.ANSI, themes.Mode{Depth: themes.Colors16}},
		{colorprofile.ASCII, themes.Mode{NoColor: true}},
	} {
		t.Run(c.profile.String(), func(t *testing.T) {
			s := open(t, tui.Options{Theme: themes.Dark}, 120, 36).show(newStory().Finished())
			s.m.Update(tea.ColorProfileMsg{Profile: c.profile})
			content := s.m.View().Content
			if want := new(themes.Set).New(themes.Dark, true, c.want).Styles.Brand.Render("replan"); !strings.Contains(content, want) {
				t.Errorf("%q is not on the screen", want)
			}
			if c.profile <= colorprofile.ANSI && strings.Contains(content, "38;2;") {
				t.Error("the screen has colors beyond those of the terminal")
			}
		})
	}
}

func TestReducedMotionRedrawsOncePerSecond(t *testing.T) {
	for _, calm := range []bool{true, false} {
		s := open(t, tui.Options{ReducedMotion: calm}, 120, 36)
		st := newStory().Branching()
		s.show(st)
		before := s.text()
		s.m.Update(tui.Beat(st.Now)) // the next frame, at the same time
		if moves := s.text() != before; moves == calm {
			t.Errorf("reduced motion %v: the screen changes while no time passes: %v", calm, moves)
		}
		if got := s.m.Frame(); (got >= time.Second) != calm {
			t.Errorf("reduced motion %v: a frame lasts %v", calm, got)
		}
	}
}

func TestEveryThemeKeepsFrameWidth(t *testing.T) {
	if testing.Short() {
		t.Skip("has no goroutine that the race detector could watch")
	}
	all, names := everyState()
	for _, name := range (*themes.Set)(nil).Names() {
		for _, state := range names {
			s := open(t, tui.Options{Theme: name}, 80, 24).show(all[state]())
			for i, line := range strings.Split(s.m.View().Content, "\n") {
				if got := ansi.StringWidth(line); got != 80 {
					t.Errorf("%s, %s: line %d is %d cells wide", name, state, i, got)
				}
			}
		}
	}
}
