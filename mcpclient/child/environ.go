package child

import (
	"maps"
	"slices"
	"strings"

	"replan/internal/redact"
)

// Environ returns environ, a list of NAME=value entries, without variables
// whose names or values look like secrets, and with own added. It keeps every
// variable in own, whatever its name, because a user set it for this child.
func Environ(environ []string, own map[string]string) []string {
	kept := make([]string, 0, len(environ)+len(own))
	for _, entry := range environ {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || name == "" || redact.Variable(name, value) {
			continue
		}
		if _, replaced := own[name]; replaced {
			continue
		}
		kept = append(kept, entry)
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		kept = append(kept, name+"="+own[name])
	}
	return kept
}
