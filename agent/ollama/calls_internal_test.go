package ollama

import (
	"encoding/json"
	"testing"

	"replan/planning/plan"
)

// FuzzCalls checks that a call that a model asks for always has arguments, and that
// they are those of the line.
func FuzzCalls(f *testing.F) {
	for _, line := range []string{
		`{"message":{"tool_calls":[{"id":"a","function":{"name":"x","arguments":{"n":1.50,"m":1e400}}}]}}`, `{"message":{"tool_calls":[{"function":{"name":"","arguments":"{}"}},{}]}}`, `{"message":{"tool_calls":[{"function":{"arguments":null}}]}}`, `{"message":7}`, `[]`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		calls, err := readCalls(line)
		if err != nil {
			return
		}
		for _, call := range calls {
			written, err := json.Marshal(map[string]any{"message": map[string]any{"tool_calls": []any{map[string]any{"id": call.ID, "function": map[string]any{"name": call.Name, "arguments": call.Args}}}}})
			if err != nil || call.Args == nil {
				t.Fatalf("%s: %+v, %v", line, call, err)
			}
			again, err := readCalls(written)
			if err != nil || len(again) != 1 || again[0].Name != call.Name || !plan.EqualValues(again[0].Args, call.Args) {
				t.Fatalf("%s: %+v was read back as %+v, %v", line, call, again, err)
			}
		}
	})
}
