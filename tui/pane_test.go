package tui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/themes"
	"replan/tui/chat"
	"replan/tui/panetest"
)

// TestKeyDoesNotRedrawOldMessages counts how often blocks are drawn.
func TestKeyDoesNotRedrawOldMessages(t *testing.T) {
	m := New(silent{}, Options{Theme: themes.Dark})
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 36})
	drawn := 0
	for i := range 500 {
		m.chat.Add(&chat.Block{Draw: func(int) []string { drawn++; return []string{fmt.Sprint(i)} }})
	}
	m.View()
	if drawn == 0 || drawn > 40 {
		t.Fatalf("one screen draws %d of 500 blocks", drawn)
	}
	drawn = 0
	for range 10 {
		m.Update(tea.KeyPressMsg{Code: 'x', Text: "x"})
		m.View()
	}
	if drawn != 0 {
		t.Errorf("10 keys redraw %d blocks", drawn)
	}
}

func TestInputKeepsPastedText(t *testing.T) {
	m := New(silent{}, Options{Theme: themes.Dark})
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	text := strings.Repeat("a line of pasted text\n", 200)
	m.Update(tea.PasteMsg{Content: text})
	if got := m.input.Text(); got != "[pasted 200 lines]" {
		t.Errorf("%d bytes are shown as %q", len(text), got)
	}
	m.input.Actions()["chat.open_paste"].Do()
	if got := m.input.Text(); got != text {
		t.Errorf("opening the paste shows %d bytes, want %d", len(got), len(text))
	}
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	if m.panes.Layout().Input.H > 8 || m.panes.Layout().Chat.H < 5 {
		t.Errorf("the input takes %d lines and leaves %d to the chat", m.panes.Layout().Input.H, m.panes.Layout().Chat.H)
	}
}

func BenchmarkKeyInALongChat(b *testing.B) {
	m := New(silent{}, Options{Theme: themes.Dark})
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 36})
	for i := range 20_000 {
		m.chat.Add(m.chat.Note("info", fmt.Sprintf("note number %d", i)))
	}
	m.chat.Narrate(panetest.WideRun(100), false).Start(event.RunStarted{})
	m.View()
	down := tea.KeyPressMsg{Code: 'x', Text: "x"}
	back := tea.KeyPressMsg{Code: tea.KeyBackspace}
	for b.Loop() {
		m.Update(down)
		m.View()
		m.Update(back)
		m.View()
	}
}
