package dialog_test

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/agent/session"
	"replan/planning/prompt"
	"replan/tui/dialog"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/panetest"
)

// openModels returns the list of two models, drawn once.
func openModels(t *testing.T) (*dialog.Models, []string) {
	t.Helper()
	d := dialog.NewModels(panetest.DarkLook(), panetest.Keys())
	d.Open(session.Status{})
	d.Update(keymap.AnswerMsg[session.Models]{Value: session.Models{
		Model: "first:1b", Models: []prompt.ModelInfo{{Name: "first:1b", Chats: true}, {Name: "second:2b", Chats: true}},
	}})
	return d, d.View(draw.Rect{W: 80, H: 20})
}

// lineOf returns the line that holds a text.
func lineOf(t *testing.T, lines []string, text string) int {
	t.Helper()
	for y := range lines {
		if strings.Contains(panetest.Stripped(lines[y:y+1]), text) {
			return y
		}
	}
	t.Fatalf("%q is not in the dialog:\n%s", text, panetest.Stripped(lines))
	return 0
}

func TestSecondClickOnRowActsAsEnterKey(t *testing.T) {
	d, lines := openModels(t)
	click := tea.MouseClickMsg{Y: lineOf(t, lines, "second:2b"), X: 10, Button: tea.MouseLeft}
	if w := d.Update(click); keymap.Has[keymap.Clicked](w) || !d.Shown() {
		t.Error("the first click acts")
	}
	if w := d.Update(click); !keymap.Has[keymap.Clicked](w) || len(panetest.Sent(w)) != 1 || d.Shown() {
		t.Errorf("the second click requests %+v", w)
	}
}

func TestKeyBetweenClicksMakesThemSingleClicks(t *testing.T) {
	d, lines := openModels(t)
	click := tea.MouseClickMsg{Y: lineOf(t, lines, "second:2b"), X: 10, Button: tea.MouseLeft}
	d.Update(click)
	d.Update(tea.KeyPressMsg{Code: tea.KeyF12})
	if w := d.Update(click); keymap.Has[keymap.Clicked](w) {
		t.Error("the click after a key acts")
	}
}

func TestTypedAndPastedTextNarrowsList(t *testing.T) {
	d, _ := openModels(t)
	d.Update(tea.KeyPressMsg{Code: 's', Text: "s"})
	d.Update(tea.PasteMsg{Content: "econd"})
	got := panetest.Stripped(d.View(draw.Rect{W: 80, H: 20}))
	if strings.Contains(got, "first:1b") || !strings.Contains(got, "second:2b") {
		t.Errorf("the search shows:\n%s", got)
	}
	d.Actions().Press("dialog.leave")
	if !d.Shown() || !strings.Contains(panetest.Stripped(d.View(draw.Rect{W: 80, H: 20})), "first:1b") {
		t.Error("leaving closes the list before it clears the search")
	}
	d.Actions().Press("dialog.leave")
	if d.Shown() {
		t.Error("leaving a list without a search does not close it")
	}
}

func TestClosedDialogsIgnoreAnswersAndMouse(t *testing.T) {
	d := dialog.NewThemes(panetest.DarkLook(), panetest.Keys(), "")
	for _, msg := range []tea.Msg{keymap.AnswerMsg[session.Models]{}, tea.MouseClickMsg{}, tea.MouseWheelMsg{Button: tea.MouseWheelDown}} {
		if w := d.Update(msg); keymap.First[keymap.ShowTheme](w) != "" || keymap.Has[keymap.Clicked](w) {
			t.Errorf("%T requests %+v", msg, w)
		}
	}
}
