package values_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"replan/agent/event"
	"replan/agent/store/values"
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
	line, kept := takeOut(t, completed())
	if refs, _ := values.References(line); len(line) > 1000 || len(kept) != 1 || !reflect.DeepEqual(refs, []string{"/result/0", "/result/2"}) {
		t.Fatalf("a line of %d bytes refers to %d values at %v", len(line), len(kept), refs)
	}
	whole, err := values.PutBack(line, func(sum string) ([]byte, string, error) { return []byte(kept[sum]), sum, nil })
	if err != nil {
		t.Fatal(err)
	}
	var got event.Event
	if err := got.UnmarshalJSON(whole); err != nil || !reflect.DeepEqual(got, completed()) {
		t.Errorf("the event changed: %v", err)
	}
}

func TestOtherValueIsRefusedByName(t *testing.T) {
	line, _ := takeOut(t, completed())
	_, err := values.PutBack(line, func(string) ([]byte, string, error) { return []byte(`"y"`), "the value here", nil })
	if err == nil || err.Error() != "the value here is not what was written" {
		t.Errorf("another value gives %v", err)
	}
	gone := errors.New("gone")
	if _, err := values.PutBack(line, func(string) ([]byte, string, error) { return nil, "", gone }); !errors.Is(err, gone) {
		t.Errorf("a value that cannot be read gives %v", err)
	}
}
