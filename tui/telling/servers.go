package telling

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// ServerWords describes the server that a yes would start, from the fields that
// decide it: its command line as a shell would take it, or its URL, and below it
// one line for each other field.
func ServerWords(server any) string {
	fields, ok := server.(map[string]any)
	if !ok {
		text, _ := ValueText(server)
		return text
	}
	var lines []string
	field := func(name string) string { text, _ := fields[name].(string); return text }
	if words := texts(fields["command"]); len(words) > 0 {
		lines = append(lines, shellWords(words...))
	}
	if url := field("url"); url != "" {
		lines = append(lines, shellWords(url))
	}
	if dir := field("dir"); dir != "" {
		lines = append(lines, "in the folder "+shellWords(dir))
	}
	if helper := field("headers_helper"); helper != "" {
		lines = append(lines, "runs "+shellWords(helper)+" in a shell for its headers")
	}
	if names := texts(fields["inherit"]); len(names) > 0 {
		lines = append(lines, "gets of your environment "+shellWords(names...))
	}
	for _, name := range []string{"env", "headers"} {
		table, _ := fields[name].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(table)) {
			value, _ := table[key].(string)
			lines = append(lines, strings.TrimSuffix(name, "s")+" "+shellWords(key)+"="+shellWords(value))
		}
	}
	return strings.Join(lines, "\n")
}

// ServerAddress says where a server is: its command line as a shell would take it, or
// its URL.
func ServerAddress(s plan.ServerStatus) string {
	if s.URL != "" {
		return s.URL
	}
	return shellWords(s.Command...)
}

// shellWord quotes a word as for a shell. One with control characters is quoted as
// in Go, so that it stays on its line.
func shellWord(word string) string {
	switch {
	case strings.ContainsFunc(word, unicode.IsControl):
		return strconv.Quote(word)
	case plainWord.MatchString(word):
		return word
	default:
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
}

// LoginAddress says where to log in to a server.
func LoginAddress(p session.LoginProgress) string {
	return "log in to " + untrusted.Line(p.Server) + " in the browser; if none opens, or on another machine, open this address, which is sent to the clipboard: " +
		p.Address.Visible() + " (if that browser cannot reach replan at the end, use replan mcp login " + untrusted.Line(p.Server) + ")"
}
