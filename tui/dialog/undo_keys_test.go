package dialog_test

import (
	"fmt"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/exp/golden"

	"replan/agent"
	"replan/agent/event"
	"replan/tui/dialog"
	"replan/tui/keymap"
	"replan/tui/panetest"
)

func TestUndoNeedsConfirmation(t *testing.T) {
	for name, keys := range map[string][]tea.KeyPressMsg{"esc": {panetest.Key("esc")}, "n": panetest.Letters("n")} {
		t.Run(name, func(t *testing.T) {
			s := undoing(t, panetest.Undo(), 120, 36).Press(keys...)
			if s.Draw() != nil {
				t.Error("the preview is still open")
			}
			s.Sent()
		})
	}
}

func TestRefusedUndoTakesNoConfirmation(t *testing.T) {
	for name, c := range map[string]struct {
		undo event.Undo
		want string
	}{
		"file changed since": {panetest.RefusedUndo(), "auth/jwt.go changed since: nothing was put back"},
		"already undone":     {event.Undo{Run: panetest.StoryRun, Already: true}, "It is already undone"},
		"nothing changed":    {event.Undo{Run: panetest.StoryRun}, "It changed no file"},
	} {
		t.Run(name, func(t *testing.T) {
			s := undoing(t, c.undo, 120, 36)
			s.Wants(c.want)
			s.Withholds("y restore")
			s.Type("y")
			s.Sent()
		})
	}
}

func TestTheUndoDialogIsDrawnWideAndNarrow(t *testing.T) {
	for name, u := range map[string]event.Undo{"shown": panetest.Undo(), "refused": panetest.RefusedUndo()} {
		for _, size := range []struct{ w, h int }{{120, 36}, {80, 24}, {40, 12}} {
			t.Run(fmt.Sprintf("%s/%dx%d", name, size.w, size.h), func(t *testing.T) {
				golden.RequireEqual(t, undoing(t, u, size.w, size.h).Front()+"\n")
			})
		}
	}
}

// undoing opens the preview of the undo of the newest run.
func undoing(t *testing.T, u event.Undo, width, height int) *panetest.Driver {
	t.Helper()
	k := panetest.Keys()
	d := dialog.NewUndo(panetest.DarkLook(), k)
	d.Open(agent.Summary{}, false)
	s := panetest.Drive(t, d, k, width, height)
	s.Wants("Looking up its changes")
	s.Type("y") // ignored before the preview
	s.Update(keymap.AnswerMsg[event.Undo]{Value: u})
	return s
}
