package jsonparts_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"replan/internal/jsonparts"
)

func TestPartsAreTheJSONOfTheValue(t *testing.T) {
	for name, v := range map[string]any{
		"nothing":  []any{nil, []any(nil), map[string]any(nil), []any{}, map[string]any{}, "", map[string]any{"": ""}},
		"scalars":  []any{true, false, json.Number("1.50"), 7, "<&>\u2028\x00\n\"\\", "\xff€\xe2\x82"},
		"names":    map[string]any{"b": 1, "a": 2, "€<\n": 3, "": 4, "\xff": 5},
		"a text":   strings.Repeat("xä€😀\xff\u2028", 40<<10),
		"a list":   slices.Repeat([]any{map[string]any{"a": "ä", "b": []any{nil}}}, 20<<10),
		"no list":  "short",
		"a struct": struct{ A []int }{[]int{1}},
	} {
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			t.Fatal(err)
		}
		var got parts
		n, err := jsonparts.Write(&got, v)
		if err != nil || got.String()+"\n" != want.String() || int(n) != got.Len() {
			t.Errorf("%s: wrote %d bytes, %v, which differ from the %d", name, n, err, want.Len()-1)
		}
		if got.cut || got.longest > 7*64<<10 {
			t.Errorf("%s: a part has %d bytes, or ends within a character: %t", name, got.longest, got.cut)
		}
	}
}

func TestErrorEndsTheJSON(t *testing.T) {
	var got parts
	if _, err := jsonparts.Write(&got, []any{1, math.NaN()}); err == nil || got.Len() > 0 {
		t.Errorf("a value without JSON gives %v and %q", err, got.String())
	}
	full := errors.New("full")
	if n, err := jsonparts.Write(refusing{full}, strings.Repeat("x", 1<<20)); n != 0 || !errors.Is(err, full) {
		t.Errorf("wrote %d bytes to a full disk: %v", n, err)
	}
}

// parts notes whether a part ends within a character, and the longest.
type parts struct {
	bytes.Buffer
	cut     bool
	longest int
}

func (p *parts) Write(part []byte) (int, error) {
	p.cut, p.longest = p.cut || !utf8.Valid(part), max(p.longest, len(part))
	return p.Buffer.Write(part)
}

type refusing struct{ err error }

func (r refusing) Write([]byte) (int, error) { return 0, r.err }
