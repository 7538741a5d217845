package config

import (
	"fmt"

	"replan/tui"
	"replan/tui/keymap"
)

// screenKeys reads the section [keys] of the configuration: for each action a
// key, a list of keys, or an empty list for none.
func (c *file) screenKeys() (keymap.Keys, error) {
	keys := keymap.Keys{}
	for action, value := range c.Keys {
		switch v := value.(type) {
		case string:
			keys[action] = []string{v}
		case []any:
			names := make([]string, 0, len(v))
			for _, name := range v {
				text, ok := name.(string)
				if !ok {
					return nil, fmt.Errorf("keys.%q takes a key or a list of keys in quotes", action)
				}
				names = append(names, text)
			}
			keys[action] = names
		default:
			return nil, fmt.Errorf("keys.%q takes a key or a list of keys in quotes", action)
		}
	}
	if err := tui.CheckKeys(keys); err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	return keys, nil
}
