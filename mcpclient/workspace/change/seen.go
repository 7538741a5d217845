package change

import (
	"fmt"
	"sync"
)

// maxSeen is the number of files whose hashes are remembered.
const maxSeen = 4096

// seen remembers the hash of each file as a call last read or changed it. A file
// that another program has changed since is not changed. The oldest entries are
// forgotten first.
type seen struct {
	mu     sync.Mutex
	hashes map[string]string
	order  []string // as they were first seen; those that are forgotten, too
}

// note remembers a file that was read.
func (s *seen) note(at, hash string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hashes == nil {
		s.hashes = map[string]string{}
	}
	if _, known := s.hashes[at]; !known {
		s.order = append(s.order, at)
		if len(s.order) > maxSeen {
			delete(s.hashes, s.order[0])
			s.order = s.order[1:]
		}
	}
	s.hashes[at] = hash
}

// has reports whether the hash is the last one noted for a file.
func (s *seen) has(at, hash string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, known := s.hashes[at]
	return known && last == hash
}

// changed updates the hashes of files that had been read.
func (s *seen) changed(changes []Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range changes {
		if _, known := s.hashes[c.Path]; known {
			s.hashes[c.Path] = c.After.Hash()
		}
	}
}

// check fails for files that have changed since they were read.
func (s *seen) check(changes []Change, unless map[string]bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range changes {
		if hash, known := s.hashes[c.Path]; known && !unless[c.Path] && hash != c.Before.Hash() {
			return StaleError(c.Path)
		}
	}
	return nil
}

// StaleError says that a file has changed since it was read.
func StaleError(at string) error {
	return fmt.Errorf("%s changed since it was read; read it again", at)
}
