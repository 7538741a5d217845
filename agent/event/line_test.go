package event_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"replan/agent/event"
	"replan/planning/plan"
)

// large returns a text that is encoded apart from its line. The pattern lies across the
// ends of its parts.
func large(pattern string) string { return strings.Repeat(pattern, 300<<10/len(pattern)) }

// many returns a list of items that is encoded apart from its line.
func many(item any) []any {
	text, _ := json.Marshal(item)
	return slices.Repeat([]any{item}, 300<<10/len(text))
}

func TestLineIsTheJSONOfItsEvent(t *testing.T) {
	args := map[string]any{"b": []any{large("ä€😀"), json.Number("1.50"), nil}, "a": large("<&>\u2028\x00\n\"\\"), "c": "short"}
	broken := large("€\xe2\x82x\xff\x80\x80\x80\x80\x80")
	made := plan.Plan{ID: "p", Title: "t", Variables: map[string]any{"v": large("v")}, Steps: []plan.Step{{Index: "1", Title: "s", Args: map[string]any{"a": large("y")}}}}
	for name, data := range map[string]event.Data{
		"run started":       event.RunStarted{Goal: "g", Plan: &made},
		"plan created":      event.PlanCreated{Plan: made, Revision: 1},
		"plan diff":         event.PlanDiff{Plan: made, Revision: 2},
		"step expanded":     event.StepExpanded{Index: "1", Items: []any{large("x"), "y"}},
		"step started":      event.StepStarted{Index: "1", Args: args},
		"step completed":    event.StepCompleted{Index: "1", Result: broken, Args: map[string]any{"a": large("x")}},
		"gate requested":    event.GateRequested{Gate: "g", Args: map[string]any{"a": large("x")}},
		"many texts":        event.StepCompleted{Index: "1", Result: map[string]any{"a": many("<ä€😀\u2028\n\""), "b": nil}},
		"many other values": event.StepCompleted{Index: "1", Result: many([]any{json.Number("1.50"), nil, true, []any{}, map[string]any{}, []any(nil)})},
		"many objects":      event.StepCompleted{Index: "1", Result: many(map[string]any{"b": "x", "a<\xff\"": []any{"y"}})},
		"large among many":  event.StepCompleted{Index: "1", Result: append(many("x"), large("y"), many("z"))},
		"many in arguments": event.StepStarted{Index: "1", Args: map[string]any{"a": many("x"), "b": []any{many("y"), "z"}}},
		"text of escapes":   event.StepCompleted{Index: "1", Result: []any{strings.Repeat("\x00", 100<<10)}},
		"run completed": event.RunCompleted{Result: event.Result{
			Plan: &made, Variables: map[string]any{"r": large("z")}, History: []plan.HistoryItem{{Args: args, Result: []any{broken}}, {Result: "short"}},
		}},
		"nothing large": event.StepCompleted{Index: "1", Result: map[string]any{"a": []any{}}},
		"another event": event.Note{Text: "note"},
	} {
		t.Run(name, func(t *testing.T) {
			at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
			line, err := event.Event{Seq: 7, Time: at, Run: "r", Data: data}.Line()
			if err != nil {
				t.Fatal(err)
			}
			var got wholeCharacters
			n, err := line.WriteTo(&got)
			if err != nil || n != int64(got.Len()) {
				t.Fatalf("wrote %d of %d bytes: %v", n, got.Len(), err)
			}
			want := encoded(t, map[string]any{"data": data})
			head := `{"v":1,"seq":7,"time":"2026-01-02T03:04:05.000000006Z","run":"r","kind":"` + string(data.Kind()) + `",`
			if got.String() != head+want[1:] {
				t.Errorf("the line of %d bytes differs from the JSON", got.Len())
			}
			if got.cut {
				t.Error("a write ended within a character")
			}
			if most := 7 * 64 << 10; len(line.JSON) > most || got.longest > most {
				t.Errorf("the line has %d bytes without its large values, and was written in up to %d bytes", len(line.JSON), got.longest)
			}
		})
	}
}

// encoded returns v as compact JSON.
func encoded(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// wholeCharacters notes whether a write ends within a character, and the longest.
type wholeCharacters struct {
	bytes.Buffer
	cut     bool
	longest int
}

func (w *wholeCharacters) Write(p []byte) (int, error) {
	w.cut, w.longest = w.cut || !utf8.Valid(p), max(w.longest, len(p))
	return w.Buffer.Write(p)
}
