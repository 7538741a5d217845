package intent

// Tools names the tools of the nodes in order; for a model's work, the word for
// it.
func (c Chain) Tools() []string {
	names := make([]string, len(c.Nodes))
	for i, n := range c.Nodes {
		names[i] = n.Tool
	}
	return names
}

// IsModelWork reports whether a name among the tools of a chain is a word for a
// model's work.
func IsModelWork(name string) bool { return modelWork[name] }

// WantsWords reports whether results alone do not answer the question: a model, if
// there is one, explains them.
func (in Intent) WantsWords() bool { return in.Category == explain || in.Category == debug }

// AsksForTests reports whether the user's own words ask for tests to be run, or
// for why they fail, and say so clearly.
func (in Intent) AsksForTests() bool {
	return (in.Category == validate || in.Category == debug) && in.Confidence >= Confident
}
