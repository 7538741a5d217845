package child

import (
	"maps"
	"slices"
	"strings"

	"replan/internal/redact"
)

// Environ returns environ, entries of the form NAME=value, without the
// variables whose names or values look like secrets, and with own set in it. What own
// names is passed on whatever it is called: somebody wrote it down for this
// child.
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
