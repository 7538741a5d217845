package tui_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"replan/agent/event"
	"replan/tui"
)

// awkward are pieces of text that terminals and programs measure differently, or
// that break lines, or hide or reverse adjacent text.
var awkward = []string{
	"a", "word ", "two words ", "-", "/", "世界", "カタカナ", "한국어", "ｗｉｄｅ", "ｱｲｳ", "👩‍👩‍👧", "👨🏽‍💻", "👍🏿", "🇩🇪", "🇫", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "1️⃣", "✔️", "❤️‍🔥", "🙂",
	"e\u0301", "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤", "か\u3099", "\u0301", "क्षि", "नमस्ते ", "กำลัง", "বাংলা", "မြန်မာ", "العربية", "עברית", "\t", "\u200b", "\u200d", "\u2060", "\ufeff", "\u202e", "\u2066",
	"\u00ad", "\u2028", "\x1b[31m", "\x1b]8;;x\x07", "\x00", "\x7f", "\r", "\n", "\u3000", "①", "±", "│", "\U000E0041", "\xff",
}

// textFields lists the fields of events that hold text from outside.
var textFields = map[string]bool{
	"title": true, "goal": true, "text": true, "error": true, "reply": true, "reason_text": true, "why": true, "answer": true, "message": true,
	"expected_outcome": true, "model": true, "workspace": true, "description": true, "detail": true, "result": true, "preview": true, "name": true,
}

// withAwkwardText puts awkward text into the fields of an event.
func withAwkwardText(t fataler, e event.Event, text func() string) event.Event {
	line, err := json.Marshal(e)
	if err != nil {
		t.Fatalf("%v", err)
	}
	var fields map[string]any
	if err := json.Unmarshal(line, &fields); err != nil {
		t.Fatalf("%v", err)
	}
	var walk func(v any, all bool) any
	walk = func(v any, all bool) any {
		switch v := v.(type) {
		case map[string]any:
			for key, inner := range v {
				if _, isText := inner.(string); isText && (all || textFields[key]) {
					v[key] = text()
				} else {
					v[key] = walk(inner, all || key == "args")
				}
			}
		case []any:
			for i := range v {
				if _, isText := v[i].(string); !isText || all {
					v[i] = walk(v[i], all)
				}
			}
		case string:
			if all {
				return text()
			}
		}
		return v
	}
	fields["data"] = walk(fields["data"], false)
	line, err = json.Marshal(fields)
	if err != nil {
		t.Fatalf("%v", err)
	}
	var out event.Event
	if err := json.Unmarshal(line, &out); err != nil {
		return e // the field does not take any text
	}
	return out
}

type fataler interface{ Fatalf(string, ...any) }

// TestAwkwardTextKeepsFrameSize puts awkward text into every field that holds text
// from outside: each line of each frame is as wide as the screen, by both methods
// of counting cells.
func TestAwkwardTextKeepsFrameSize(t *testing.T) {
	all, names := everyState()
	sizes := []struct{ w, h int }{{120, 36}, {100, 30}, {80, 24}, {40, 12}, {200, 50}, {61, 17}}
	rapid.Check(t, func(r *rapid.T) {
		name := rapid.SampledFrom(names).Draw(r, "state")
		size := rapid.SampledFrom(sizes).Draw(r, "size")
		method := rapid.SampledFrom([]ansi.Method{ansi.WcWidth, ansi.GraphemeWidth}).Draw(r, "method")
		text := func() string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(awkward), 1, 30).Draw(r, "text"), "")
		}
		st := all[name]()
		for i, e := range st.Events {
			st.Events[i] = withAwkwardText(r, e, text)
		}
		m := tui.New(newFakeSession(), tui.Options{ASCII: rapid.Bool().Draw(r, "ASCII"), Intro: text(), Suggestions: []string{text()}})
		m.Update(tea.WindowSizeMsg{Width: size.w, Height: size.h})
		if method == ansi.GraphemeWidth {
			m.Update(tea.ModeReportMsg{Mode: ansi.ModeUnicodeCore, Value: ansi.ModeReset})
		}
		m.Update(tui.Batch(st.Events, st.Now))
		for _, a := range st.Answers {
			m.Update(a)
		}
		m.Update(tui.Beat(st.Now))
		look := func(what string) {
			lines := strings.Split(m.View().Content, "\n")
			if len(lines) != size.h {
				r.Fatalf("%s: %d lines in %d", what, len(lines), size.h)
			}
			for i, line := range lines {
				if got := method.StringWidth(line); got != size.w {
					r.Fatalf("%s: line %d is %d cells wide, not %d: %q", what, i, got, size.w, ansi.Strip(line))
				}
			}
		}
		look(name)
		m.Update(m.Rested())
		m.Update(escape)
		for i := range 8 {
			key := rapid.SampledFrom([]string{"tab", "down", "up", "enter", "1", "2", "3", "4", "5", "s", "space", "paste", "G", "g", "ctrl+x", "alt+v", "t", "v", "f1", "esc", "ctrl+k", "pgup", "pgdown"}).Draw(r, "key")
			if key == "paste" {
				m.Update(tea.PasteMsg{Content: text()})
			} else {
				m.Update(tui.KeyNamed(key))
			}
			look(fmt.Sprintf("%s, key %d, %s", name, i, key))
		}
	})
}

func TestChatTakesTheWholeWidthUntilThereIsAPlan(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36)
	s.lacks("─ Plan")
	s.press(tabKey).wants("The plan appears here.")
	s.press(escape).lacks("─ Plan")
	s.show(newStory().Branching()).wants("Plan · ")
}

func TestZoomCyclesThroughBothChatAndPlan(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().Branching())
	for _, shown := range []struct{ chat, plan bool }{{true, false}, {false, true}, {true, true}} {
		s.press(tea.KeyPressMsg{Code: tea.KeyF6})
		if text := s.text(); strings.Contains(text, " Chat ") != shown.chat || strings.Contains(text, "Plan · ") != shown.plan {
			t.Errorf("want chat %v and plan %v:\n%s", shown.chat, shown.plan, text)
		}
	}
}
