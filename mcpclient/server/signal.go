package server

import "sync"

// Signal tells those who wait for it that the state of a server has changed. The servers
// of a pool share one. It is safe for concurrent use.
type Signal struct {
	mu   sync.Mutex
	next chan struct{} // closed and replaced at each change

	watch   sync.RWMutex // held while the watcher is called
	watcher func()
}

// NewSignal returns a signal that nothing watches.
func NewSignal() *Signal { return &Signal{next: make(chan struct{})} }

// Changed returns a channel that is closed at the next change. Whoever waits for it reads
// the state after that.
func (s *Signal) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.next
}

// Wake wakes everyone who waits for a change. Any lock may be held.
func (s *Signal) Wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.next)
	s.next = make(chan struct{})
}

// Tell calls the watcher. No lock may be held.
func (s *Signal) Tell() {
	s.watch.RLock()
	defer s.watch.RUnlock()
	if s.watcher != nil {
		s.watcher()
	}
}

// Announce tells everyone that something has changed. No lock may be held.
func (s *Signal) Announce() {
	s.Wake()
	s.Tell()
}

// Watch registers the function that Tell calls; nil unregisters it. Once Watch returns,
// the earlier one is not called again.
func (s *Signal) Watch(changed func()) {
	s.watch.Lock()
	defer s.watch.Unlock()
	s.watcher = changed
}
