package mcpclient

import (
	"sync"

	"replan/mcpclient/server"
)

// notes are what the user is to be told. They are safe for concurrent use.
type notes struct {
	signal *server.Signal // tells that there is one

	mu   sync.Mutex
	list []note
}

// note tells the user something about a server, or about none.
type note struct{ server, text string }

// Note tells the user something, by way of [Pool.Notes].
func (n *notes) Note(text string) { n.note("", text) }

// note tells the user something about a server.
func (n *notes) note(server, text string) {
	n.add(server, text)
	n.signal.Tell()
}

// add adds a note that the caller announces.
func (n *notes) add(server, text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, note{server, text})
}

// Notes returns the notes since the last call.
func (n *notes) Notes() []string { return n.NotesOn("") }

// NotesOn returns the notes since the last call that are about a server, or about none.
// Without a name it returns all. It forgets all.
func (n *notes) NotesOn(server string) (texts []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, one := range n.list {
		if server == "" || one.server == "" || one.server == server {
			texts = append(texts, one.text)
		}
	}
	n.list = nil
	return texts
}
