package tui_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/agent/session"
	"replan/themes"
	"replan/tui"
	"replan/tui/panetest"
)

// An old journal may hold names that plans may not have any more.
var (
	oneIndex    = regexp.MustCompile(`("(?:index|step|parent)":"\d+(?:\.\d+)*)"`)
	manyIndices = regexp.MustCompile(`"(?:depends_on|removed|added|revised|remaining|steps)":\["[^\]]*\]`)
	inList      = regexp.MustCompile(`("\d+)"`)
	toolName    = regexp.MustCompile(`("tool":"[a-z.]+)"`)
)

// aged returns events as an old journal may hold them, with control and bidi
// characters in the names of steps and tools.
func aged(t *testing.T, events []event.Event) []event.Event {
	t.Helper()
	out := make([]event.Event, len(events))
	for i, e := range events {
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		text := oneIndex.ReplaceAllString(string(line), `$1\u001b[2J\u202e"`)
		text = manyIndices.ReplaceAllStringFunc(text, func(list string) string { return inList.ReplaceAllString(list, `$1\u001b[2J\u202e"`) })
		text = toolName.ReplaceAllString(text, `$1\u202e"`)
		if err := json.Unmarshal([]byte(text), &out[i]); err != nil {
			t.Fatalf("an old journal does not load: %v\n%s", err, text)
		}
	}
	return out
}

// drawnClean fails if the screen holds characters of an old name.
func drawnClean(t *testing.T, s *screen, where string) {
	t.Helper()
	for n, line := range strings.Split(s.m.View().Content, "\n") {
		if strings.Contains(line, "\x1b[2J") || strings.Contains(line, "\u202e") {
			t.Errorf("%s: line %d is %q", where, n+1, line)
		}
	}
}

func TestOldJournalsAreDrawnClean(t *testing.T) {
	if testing.Short() {
		t.Skip("has no goroutine that the race detector could watch")
	}
	events := aged(t, recorded())
	for _, size := range []struct{ w, h int }{{160, 48}, {60, 20}} {
		for key := '!'; key <= '~'; key++ { // opens whatever a replay can open
			s := open(t, tui.Options{Theme: themes.Dark, Replay: true, Recorded: session.ReplayEvents(panetest.StoryRun, events), Speed: 1}, size.w, size.h)
			s.quietly(space, endKey).quietly(letters(string(key))...)
			drawnClean(t, s, string(key))
			drawnClean(t, s.quietly(enter), string(key)+" and enter")
		}
		s := open(t, tui.Options{Theme: themes.Dark, Replay: true, Recorded: session.ReplayEvents(panetest.StoryRun, events), Speed: 1}, size.w, size.h)
		s.quietly(space, endKey)
		drawnClean(t, s, "the end")
		for _, key := range []tea.KeyPressMsg{leftKey, leftKey, leftKey, leftKey, leftKey, leftKey, leftKey, leftKey} {
			s.quietly(key)
			drawnClean(t, s, "before the end")
		}
		s.quietly(endKey)
		if !strings.Contains(s.text(), "6^[[2J<") {
			t.Errorf("%dx%d: the names are not on the screen:\n%s", size.w, size.h, s.text())
		}
	}
}
