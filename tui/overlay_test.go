package tui_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"replan/themes"
	"replan/tui"
)

func TestDialogLiesOverTheDimmedPanes(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().Finished())
	faint := new(themes.Set).New(themes.Dark, true, themes.Mode{}).Styles.Faint.Render("│")
	s.press(altC).wants("Themes")
	s.wants("╭─ Chat")
	s.wants("│ › rename authenticate")
	content := s.m.View().Content
	if head, _, _ := strings.Cut(faint, "│"); !strings.Contains(content, head+"╭─ Chat") {
		t.Errorf("the panes are not dimmed:\n%s", content)
	}
	for i, line := range strings.Split(content, "\n") {
		if got := ansi.StringWidth(line); got != 120 {
			t.Errorf("line %d is %d cells wide", i, got)
		}
	}
}

func TestLowDialogOfWholeWidthLiesOverTheDimmedPanes(t *testing.T) {
	for name, key := range map[string]string{"revisions": "alt+v", "timeline": "t"} {
		s := open(t, tui.Options{}, 120, 50).show(newStory().Finished())
		if key == "t" {
			s.press(tabKey)
		}
		s.press(tui.KeyNamed(key)).wants("esc close")
		if !strings.Contains(s.text(), "╭─ Chat") {
			t.Errorf("%s has a blank screen around it:\n%s", name, s.text())
		}
	}
}

func TestDialogHasASmallScreenToItself(t *testing.T) {
	for _, size := range []struct{ w, h int }{{59, 36}, {120, 19}, {40, 12}} {
		s := open(t, tui.Options{}, size.w, size.h).show(newStory().Finished()).press(altC)
		s.wants("Themes")
		s.lacks("rename authenticate")
	}
}
