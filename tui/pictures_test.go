package tui_test

import (
	"image"
	"strings"
	"testing"

	"replan/agent/session"
	"replan/themes"
	"replan/tui"
	"replan/tui/keymap"
)

func TestScreenAsksOnceForThePictureOfTheShownStep(t *testing.T) {
	kept := aa()
	st := pictured(kept).after(10)
	s := open(t, tui.Options{Theme: themes.Dark}, 120, 48).show(st)
	asked := func() (n int) {
		for _, sent := range s.session.commands() {
			if sent == asks("picture /state/aa.png") {
				n++
			}
		}
		return n
	}
	s.press(tabKey).press(letters("g")...)
	if n := asked(); n != 0 {
		t.Errorf("asked %d times before the step is shown", n)
	}
	s.press(letters("j")...).press(letters("k")...).press(letters("j")...)
	if n := asked(); n != 1 {
		t.Errorf("asked %d times for the picture of the shown step", n)
	}
	s.lacks("▀")
	s.m.Update(keymap.AnswerMsg[session.Picture]{Value: session.Picture{Of: kept, Width: 64, Height: 48, Pixels: opaque(8, 6)}})
	s.wants("image/png · 70 bytes · 64×48")
	if pane := s.pane("step"); strings.Count(pane, strings.Repeat("▀", 8)) != 3 {
		t.Errorf("the step pane shows\n%s", pane)
	}
}

// opaque is a black picture.
func opaque(width, height int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for i := range img.Pix {
		if i%4 == 3 {
			img.Pix[i] = 255
		}
	}
	return img
}
