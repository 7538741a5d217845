package values

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"replan/agent/event"
)

// The gaps in a line save memory alone. They say nothing about what is taken out.
func TestGapsDoNotChangeWhatIsTakenOut(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 0))
		args := map[string]any{"a": someValue(r, 3), "b": someValue(r, 3)}
		for _, data := range []event.Data{
			event.StepStarted{Index: "1", Args: args},
			event.StepCompleted{Index: "1", Result: someValue(r, 4), Args: args},
		} {
			line, err := event.Event{Seq: 1, Run: "r", Data: data}.Line()
			if err != nil {
				t.Fatal(err)
			}
			var whole bytes.Buffer
			_, _ = line.WriteTo(&whole)
			text, taken := extracted(t, line)
			wantText, want := extracted(t, event.Line{JSON: whole.Bytes()})
			if text != wantText || !slices.Equal(taken, want) {
				t.Errorf("seed %d: of a %s event of %d bytes with %d gaps, %d values were taken and not %d", seed, data.Kind(), whole.Len(), len(line.Gaps), len(taken), len(want))
			}
		}
	}
}

// extracted returns the rest of a line and the hashes of the values taken out of it.
func extracted(t *testing.T, line event.Line) (text string, taken []string) {
	t.Helper()
	left, values, err := extract(line)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range values {
		taken = append(taken, v.SHA256)
	}
	return string(left), taken
}

// someValue returns a random value. Some are large, some have many small values in them.
func someValue(r *rand.Rand, depth int) any {
	kind := r.IntN(7)
	if depth == 0 {
		kind %= 4
	}
	switch kind {
	case 0:
		return []any{nil, true, json.Number("1.50"), "", []any{}, map[string]any{}}[r.IntN(6)]
	case 1, 2: // about as long as the limit with its escapes
		text := []string{"x", "€", "\u2028", "\n", "\xff", "<"}[r.IntN(6)]
		return strings.Repeat(text, []int{1, 100, Max / 6, Max / 2, Max + 1}[r.IntN(5)]/len(text))
	case 3:
		return slices.Repeat([]any{strings.Repeat("\n", r.IntN(30))}, r.IntN(20_000))
	case 4:
		object := map[string]any{}
		for range 1 + r.IntN(4) {
			object[[]string{"a", "b/~", "<\n", "\u2028"}[r.IntN(4)]] = someValue(r, depth-1)
		}
		return object
	default:
		list := make([]any, r.IntN(5))
		for i := range list {
			list[i] = someValue(r, depth-1)
		}
		return list
	}
}

func TestNoGapHidesAValueNestedTooDeep(t *testing.T) {
	for _, levels := range []int{maxDepth - 3, maxDepth - 2} {
		var deep any = slices.Repeat([]any{"some text"}, Max/8)
		for range levels - 1 {
			deep = []any{deep}
		}
		e := event.Event{Seq: 1, Run: "r", Data: event.StepCompleted{Index: "1", Result: map[string]any{"a": deep}}}
		whole, err := e.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := Extract(e); errors.Is(err, errTooDeep) == json.Valid(whole) {
			t.Errorf("%d levels give %v", levels, err)
		}
	}
}
