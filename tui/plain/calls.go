package plain

import (
	"maps"
	"slices"
	"strings"

	"replan/internal/untrusted"
	"replan/tui/wording"
)

// arguments formats the arguments of a call on one line.
func (l *Log) arguments(args map[string]any) string {
	const maxRunes = 100 // runes
	parts := make([]string, 0, len(args))
	for _, name := range slices.Sorted(maps.Keys(args)) {
		parts = append(parts, name+": "+text(args[name]))
	}
	line := wording.Excerpt(untrusted.Text(strings.Join(parts, ", ")), maxRunes)
	if l.ascii {
		line = strings.ReplaceAll(line, "…", "...")
	}
	return line
}
