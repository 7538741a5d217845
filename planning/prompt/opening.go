package prompt

// OpeningRequest holds what the requests of a session begin with: the system prompt, the
// conversation and the sketch of the workspace. It asks nothing. A server that remembers
// prompts reads it before the user has typed a goal. The brief needs no goal.
func OpeningRequest(b Brief) Request {
	p := b.Prompting
	messages := append([]Message{{Role: RoleSystem, Content: systemPrompt(b, p.Instructions)}}, p.Conversation...)
	if sketch := ground(b); sketch != "" {
		messages = append(messages, Message{Role: RoleUser, Content: sketch})
	}
	return Request{Messages: messages, MaxTokens: 1} // a server has no way to read and write nothing
}
