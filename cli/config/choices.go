package config

import (
	"maps"
	"sync"
)

// choices are the settings that the user has chosen on the screen since the start,
// by key. It is safe for concurrent use.
type choices struct {
	mu     sync.Mutex
	values map[string]*string // nil means the default
}

func (c *choices) add(key string, value *string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.values == nil {
		c.values = map[string]*string{}
	}
	c.values[key] = value
}

// all returns the settings that were chosen.
func (c *choices) all() map[string]*string {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.values)
}
