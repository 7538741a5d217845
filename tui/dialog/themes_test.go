package dialog_test

import (
	"errors"
	"fmt"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/exp/golden"

	"replan/themes"
	"replan/tui/dialog"
	"replan/tui/panetest"
)

func TestThemesAreListed(t *testing.T) {
	for _, size := range []struct{ w, h int }{{120, 36}, {80, 24}, {40, 12}} {
		t.Run(fmt.Sprintf("%dx%d", size.w, size.h), func(t *testing.T) {
			golden.RequireEqual(t, tryingOn(t, size.w, size.h).Front()+"\n")
		})
	}
}

func TestBrokenThemeSaysWhyAndCannotBeChosen(t *testing.T) {
	s := tryingOn(t, 120, 36)
	s.Press(tea.KeyPressMsg{Code: 'G', Text: "G"})
	s.Wants("torn.toml cannot be used: line 3")
	s.Press(panetest.Key("enter"))
	s.Wants("Themes")
	s.Wants("This theme cannot be used")
}

// tryingOn opens the list of themes with one of the user's own and a broken one.
func tryingOn(t *testing.T, width, height int) *panetest.Driver {
	t.Helper()
	set := &themes.Set{}
	if err := set.Add("sea", []byte("about = \"mine\"\nbase = \"harbour\"\n")); err != nil {
		t.Fatal(err)
	}
	set.Miss("torn", errors.New("the theme /home/me/themes/torn.toml cannot be used: line 3: colours.text is \"red\""))
	k, look := panetest.Keys(), panetest.DarkLook()
	look.AnimationFrame = 1
	d := dialog.NewThemes(look, k, "/etc/replan/config.toml")
	d.Open(set, themes.Auto)
	return panetest.Drive(t, d, k, width, height)
}
