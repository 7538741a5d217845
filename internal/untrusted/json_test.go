package untrusted_test

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"replan/internal/untrusted"
)

func TestJSONHasNoCharacterThatATerminalObeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
			"\u009b31m", "\x7f", "\u202e", "\u200b", "\U000E0041", "\x1b]52;c;eA==\x07", "👩\u200d🚀", `\`, `"`, "\ufeff", "\U000F0000",
		}))).Draw(t, "parts")
		text := ""
		for _, part := range parts {
			text += part
		}
		data, err := json.Marshal(map[string]string{text: text})
		if err != nil {
			t.Fatal(err)
		}
		safe := untrusted.JSON(data)
		for _, r := range string(safe) {
			if shown := untrusted.Visible(string(r)); shown != string(r) {
				t.Fatalf("%q has %U", safe, r)
			}
		}
		var before, after map[string]string
		if json.Unmarshal(data, &before) != nil || json.Unmarshal(safe, &after) != nil {
			t.Fatalf("%q is no JSON", safe)
		}
		for key, value := range before {
			if after[key] != value {
				t.Fatalf("%q means something else than %q", safe, data)
			}
		}
	})
}
