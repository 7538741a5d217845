package prompt

// OpeningRequest holds the messages that the requests of a session begin with: the system
// prompt and the conversation. It asks nothing. A server that remembers prompts reads them
// before the user has typed a goal. The brief needs no goal.
func OpeningRequest(b Brief) Request {
	p := b.Prompting
	return Request{
		Messages:  append([]Message{{Role: RoleSystem, Content: systemPrompt(b, p.Instructions)}}, p.Conversation...),
		MaxTokens: 1, // a server has no way to read and write nothing
	}
}
