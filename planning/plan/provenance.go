package plan

import (
	"encoding/json"
	"slices"
)

// Provenance is the origin of untrusted text in a call, or of the text that the author
// of a plan had read.
type Provenance struct {
	Arg  string `json:"arg"`  // the argument's name; "" means all arguments
	Step string `json:"step"` // the step that produced the text
	Tool string `json:"tool,omitempty"`
	// Run is the run of that step if it is an earlier one. That is one of the same
	// conversation, or the one in which a plan was made.
	Run string `json:"run,omitempty"`
	// Mention is the mention in the user's message that the text comes from, if
	// no step.
	Mention string `json:"mention,omitempty"`
	// Notes means that it is the project's AGENTS.md, which Mention names. It counts for
	// calls that send text to another server because of a built-in rule.
	Notes bool `json:"notes,omitempty"`
	// Exact means that a reference carries the text of that result. Written means
	// that a model wrote the argument after reading it. Decides means that the text
	// decides whether, or how often, the call is made. Exactly one of them is set.
	Exact   bool `json:"exact,omitempty"`
	Written bool `json:"written,omitempty"`
	Decides bool `json:"decides,omitempty"`
	// Words means that the change was computed by matching words, which may miss
	// places or match too many.
	Words bool `json:"words,omitempty"`
}

// newestKept bounds what is kept of the texts that a model has read.
const newestKept = 8

// Newest returns the texts that stand for all that a model has read, oldest first. These
// are the newest, and one of every other tool, since its server may not have sent the
// rest.
func Newest(read []Provenance) []Provenance {
	var kept []Provenance
	tools := map[string]bool{}
	for _, p := range slices.Backward(read) {
		if slices.Contains(kept, p) || len(kept) >= newestKept && tools[p.Tool] {
			continue
		}
		kept, tools[p.Tool] = append(kept, p), true
	}
	slices.Reverse(kept)
	return kept
}

// provenance reads where the texts come from that the author of a plan had read.
func (d *planDecoder) provenance(object map[string]any) []Provenance {
	v, ok := take(object, "provenance")
	if !ok {
		return nil
	}
	var read []Provenance
	data, err := EncodeJSON(v)
	if err == nil {
		err = json.Unmarshal(data, &read)
	}
	if err != nil {
		d.badType("/provenance", "provenance", "a list of sources", v)
	}
	return read
}
