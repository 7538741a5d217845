package workcopy

import (
	"encoding/json"
	"testing"
)

// The state of a copy lies on disk as JSON.
func TestNamesOfRefsSurviveTheState(t *testing.T) {
	t.Parallel()
	for _, refs := range []refList{"", "ref: refs/heads/main HEAD\n", "0123 refs/heads/caf\xe9\n0123 refs/heads/caf\xe8\n", `0123 refs/heads/caf\xe9` + "\n"} {
		text, err := json.Marshal(state{Refs: refs})
		if err != nil {
			t.Fatal(err)
		}
		var back state
		if err := json.Unmarshal(text, &back); err != nil || back.Refs != refs {
			t.Errorf("%q came back as %q, %v", refs, back.Refs, err)
		}
	}
}
