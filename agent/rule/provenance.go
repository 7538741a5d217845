package rule

// Provenance is the origin of text in a gated call.
type Provenance struct {
	Arg  string `json:"arg"`  // the argument's name; "" means all arguments
	Step string `json:"step"` // the step that produced the text
	Tool string `json:"tool,omitempty"`
	// Mention is the mention in the user's message that the text comes from, if
	// no step.
	Mention string `json:"mention,omitempty"`
	// Exact means that a reference carries the text of that result. Written means
	// that a model wrote the argument after reading it. Exactly one of them is
	// set.
	Exact   bool `json:"exact,omitempty"`
	Written bool `json:"written,omitempty"`
	// Words means that the change was computed by matching words, which may miss
	// places or match too many.
	Words bool `json:"words,omitempty"`
}
