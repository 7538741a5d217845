package tui_test

import (
	"testing"

	"replan/tui"
)

// A ctrl+c that was meant for a run which ended a moment before does not quit.
func TestCtrlCQuitsAtTheSecondPressAfterARun(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().Finished())
	if _, cmd := s.m.Update(ctrl('c')); quits(cmd) {
		t.Fatal("the first ctrl+c quits")
	}
	s.wants("ctrl+c again quits.")
	if _, cmd := s.m.Update(ctrl('c')); !quits(cmd) {
		t.Error("the second ctrl+c does not quit")
	}
}

func TestAnotherKeyTakesTheFirstCtrlCBack(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().Finished()).press(ctrl('c'))
	s.press(letters("a")...).lacks("again quits")
	s.press(ctrl('c')) // clears the input
	if _, cmd := s.m.Update(ctrl('c')); quits(cmd) {
		t.Error("ctrl+c quits although a key came after the first one")
	}
}

func TestCtrlCQuitsAtOnceWhereNothingIsLost(t *testing.T) {
	for name, s := range map[string]*screen{
		"before the first run":  open(t, tui.Options{}, 120, 36),
		"on a screen too small": open(t, tui.Options{}, 20, 5).show(newStory().Finished()),
		"in a run of workers":   openOfWorkers(t).show(newStory().Finished()),
	} {
		t.Run(name, func(t *testing.T) {
			if _, cmd := s.m.Update(ctrl('c')); !quits(cmd) {
				t.Error("ctrl+c does not quit")
			}
		})
	}
}

func TestCtrlDQuitsWithoutASecondPress(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().Finished())
	if _, cmd := s.m.Update(ctrl('d')); !quits(cmd) {
		t.Error("ctrl+d does not quit")
	}
}
