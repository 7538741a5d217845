// Package child holds what every child process of this program has in common:
// an environment without secrets, no terminal, and a process group that ends as one.
package child

import (
	"maps"
	"slices"
	"strings"
)

// Environ returns environ, entries of the form NAME=value, without the
// variables whose names look like secrets, and with own set in it. What own
// names is passed on whatever it is called: somebody wrote it down for this
// child.
func Environ(environ []string, own map[string]string) []string {
	kept := make([]string, 0, len(environ)+len(own))
	for _, entry := range environ {
		name, _, ok := strings.Cut(entry, "=")
		if !ok || name == "" || secret(name) {
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

// secret reports whether a variable of this name usually holds something that
// a child has no business to know.
func secret(name string) bool {
	name = strings.ToUpper(name)
	for _, prefix := range []string{"AWS_", "AZURE_", "ARM_CLIENT_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	for _, part := range []string{"PASSWORD", "PASSWD", "PASSPHRASE", "SECRET", "CREDENTIAL", "APIKEY", "API_KEY"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	words := strings.Split(name, "_")
	switch words[len(words)-1] {
	case "TOKEN", "TOKENS", "KEY", "KEYS", "PASS", "DSN", "PAT":
		return true
	case "PWD": // MYSQL_PWD, but not PWD itself
		return len(words) > 1
	case "URL": // often with a user and a password in it
		return len(words) > 1 && (words[len(words)-2] == "DATABASE" || words[len(words)-2] == "DB")
	}
	return false
}
