package dialog_test

import (
	"fmt"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"replan/agent/event"
	"replan/tui/dialog"
	"replan/tui/panetest"
)

func TestAnswersAndRulesAreDrawn(t *testing.T) {
	for _, size := range [][2]int{{200, 50}, {120, 36}, {80, 24}, {40, 12}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			k := panetest.Keys()
			d := dialog.NewPermissions(panetest.DarkLook(), k)
			d.Open(stateOf(begun(t, append([]event.Data{event.RunStarted{Goal: "patch", Limits: event.DefaultLimits()}}, panetest.Crowd("")...)...)))
			golden.RequireEqual(t, panetest.Drive(t, d, k, size[0], size[1]).Front()+"\n")
		})
	}
}
