package reply

// ToolUse is a call requested by a model: it is not made yet, and its name and
// arguments are untrusted.
type ToolUse struct {
	ID   string         `json:"id,omitempty"`
	Name string         `json:"name"`
	Args map[string]any `json:"args"` // JSON values, numbers as json.Number; never references
}

// Reply is the whole reply of a model.
type Reply struct {
	Text             string    `json:"text"`
	Thinking         string    `json:"thinking,omitempty"`
	Calls            []ToolUse `json:"tool_calls,omitempty"` // in the order in which the model asked
	Written          string    `json:"written,omitempty"`    // the whole text, if calls or an answer were read from it; Text is the rest
	Broken           bool      `json:"broken,omitempty"`     // with Written: a call that cannot be made
	CutOff           bool      `json:"cut_off,omitempty"`    // stopped by MaxTokens, in mid-sentence
	PromptTokens     int       `json:"prompt_tokens"`        // of the whole prompt, whether the server remembered it or not
	CompletionTokens int       `json:"completion_tokens"`
	ContextWindow    int       `json:"context_window,omitempty"` // tokens the model was given room for (num_ctx)
	PromptMS         int64     `json:"prompt_ms,omitempty"`      // for which the server read the prompt: little where it remembered most of it
	CachedTokens     int       `json:"cached_tokens,omitempty"`  // of PromptTokens, that the server may have remembered; an estimate, at most
	WriteMS          int64     `json:"write_ms,omitempty"`       // for which the model wrote CompletionTokens
	Note             string    `json:"note,omitempty"`           // how it was obtained, a sentence
	MS               int64     `json:"ms"`                       // wall clock, milliseconds
}
