package mcpclient

import "sync"

// notes are what the user is to be told. They are safe for concurrent use.
type notes struct {
	mu   sync.Mutex
	list []note
}

// note tells the user something about a server, or about none.
type note struct{ server, text string }

func (n *notes) add(server, text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, note{server, text})
}

// take returns the notes about a server or about none, all if there is no name, and
// forgets all.
func (n *notes) take(server string) (texts []string) {
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
