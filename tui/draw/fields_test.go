package draw_test

import (
	"encoding/json"
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/tui/draw"
	"replan/tui/panetest"
)

func TestBooleanFieldSaysWhatItTakes(t *testing.T) {
	f := draw.NewFields(panetest.DarkLook(), map[string]any{"all": true}, json.RawMessage(`{"properties":{"all":{"type":"boolean"}}}`))
	f.SetSize(60, 10)
	f.Update(tea.KeyPressMsg{Code: 'z', Text: "z"})
	if args := f.Args(); args != nil || f.Fault() != "all takes true or false" {
		t.Errorf("got %v, %q", args, f.Fault())
	}
}
