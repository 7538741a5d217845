package values_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"replan/agent/event"
	"replan/agent/store/values"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// completed is an event with two results that are equal and large.
func completed() event.Event {
	text := strings.Repeat("x", values.Max)
	return event.Event{Seq: 1, Time: time.Unix(1, 0).UTC(), Run: "r", Data: event.StepCompleted{Index: "1", Result: []any{text, "small", text}}}
}

// takeOut returns the line of an event, and its values by their hash.
func takeOut(t *testing.T, e event.Event) (line []byte, kept map[string]string) {
	t.Helper()
	line, taken, err := values.Extract(e)
	if err != nil {
		t.Fatal(err)
	}
	kept = map[string]string{}
	for _, v := range taken {
		var text strings.Builder
		if _, err := v.JSON.WriteTo(&text); err != nil {
			t.Fatal(err)
		}
		kept[v.SHA256] = text.String()
	}
	return line, kept
}

func TestValuesComeBackAsTheyWere(t *testing.T) {
	text := strings.Repeat("x", values.Max)
	args := map[string]any{"a": text, "b": []any{text, json.Number("1.50")}}
	p := plan.Plan{Title: "t", Variables: args, Steps: []plan.Step{{Index: "1", Title: "s", Tool: "t", Args: args}}}
	other := p
	other.Title = untrusted.Text(text) // holds nothing but a text
	for name, c := range map[string]struct {
		data event.Data
		refs int
	}{
		"two equal results":          {completed().Data, 2},
		"many small values":          {event.StepExpanded{Index: "1", Items: slices.Repeat([]any{"small"}, values.Max/4)}, 1},
		"arguments":                  {event.StepStarted{Index: "1", Args: args}, 2},
		"arguments at a gate":        {event.GateRequested{Gate: "g", Args: args}, 2},
		"plan":                       {event.PlanCreated{Plan: p, Revision: 1}, 4},
		"started run":                {event.RunStarted{Goal: "g", Plan: &p}, 4},
		"ended run":                  {event.RunCompleted{Result: event.Result{Plan: &p, Variables: args, History: []plan.HistoryItem{{Args: args, Result: text}}}}, 9},
		"long text":                  {event.Note{Text: untrusted.Text(text)}, 1},
		"plan with a long title too": {event.PlanDiff{Plan: other, Revision: 2}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			e := event.Event{Seq: 1, Time: time.Unix(1, 0).UTC(), Run: "r", Data: c.data}
			line, kept := takeOut(t, e)
			if refs, _ := values.References(line); len(line) > 3000 || len(kept) != 1 || len(refs) != c.refs {
				t.Fatalf("a line of %d bytes refers to %d values at %v", len(line), len(kept), refs)
			}
			text, err := e.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			var want event.Event
			if err := want.UnmarshalJSON(text); err != nil {
				t.Fatal(err)
			}
			var known values.Known
			for range 2 {
				whole, err := known.PutBack(line, func(sum string, _ int) ([]byte, string, error) {
					text := kept[sum]
					delete(kept, sum) // it is fetched once
					return []byte(text), sum, nil
				})
				if err != nil {
					t.Fatal(err)
				}
				got, err := whole.Event()
				if err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("the event changed: %v", err)
				}
			}
		})
	}
}

func TestOtherValueIsRefusedByName(t *testing.T) {
	line, _ := takeOut(t, completed())
	var known values.Known
	_, err := known.PutBack(line, func(string, int) ([]byte, string, error) { return []byte(`"y"`), "the value here", nil })
	if err == nil || err.Error() != "the value here is not what was written" {
		t.Errorf("another value gives %v", err)
	}
	gone := errors.New("gone")
	if _, err := known.PutBack(line, func(string, int) ([]byte, string, error) { return nil, "", gone }); !errors.Is(err, gone) {
		t.Errorf("a value that cannot be read gives %v", err)
	}
}
