package draw_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"replan/themes"
	"replan/tui/draw"
)

func TestPopupIsFramedAndKeepsRoomForDescriptions(t *testing.T) {
	l := draw.NewStyles(new(themes.Set).New(themes.Dark, true, themes.Mode{}))
	rows := []draw.PopupRow{
		{Text: "/plan", Detail: "Create, save, check and run plans"},
		{Text: "/think", Usage: "auto|off|on|low|medium|high", Detail: "Set how hard the model thinks"},
	}
	var list draw.List
	lines := list.Popup(l, "commands", "", rows, 60, 20)
	text := ansi.Strip(strings.Join(lines, "\n"))
	for _, want := range []string{"Create, save, check and", "Set how hard the model", "/think auto|off"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
	if last := ansi.Strip(lines[len(lines)-1]); len(lines) != 4 || !strings.HasPrefix(last, "╰") {
		t.Errorf("the list has no lower edge:\n%s", text)
	}
	if lines = list.Popup(l, "commands", "", rows, 60, 2); len(lines) != 2 {
		t.Errorf("in 2 lines: got %d", len(lines))
	}
}
