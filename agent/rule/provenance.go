package rule

// Provenance says where text in a gated call came from.
type Provenance struct {
	Arg  string `json:"arg"`  // the argument's name; "" is all of them
	Step string `json:"step"` // the step whose result it carries
	Tool string `json:"tool,omitempty"`
	// Mention is what the user's message mentions, in place of a step.
	Mention string `json:"mention,omitempty"`
	// Exact says that a reference carries the text of that result, Written that a
	// model wrote the argument after it had read it. It is one of them.
	Exact   bool `json:"exact,omitempty"`
	Written bool `json:"written,omitempty"`
	// Words says that the change it carries was worked out by words, which may miss
	// places or match too many.
	Words bool `json:"words,omitempty"`
}
