package oauth

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// FuzzChallenge checks that reading a header of a server ends, and that a challenge is
// found whatever another server put before it.
func FuzzChallenge(f *testing.F) {
	for _, line := range []string{
		`Bearer resource_metadata="https://x/y", scope="a b"`, `Basic realm="a\"b", Bearer error=insufficient_scope`, `Bearer`, `,,=`, `Negotiate abc==, Digest x="`, `Bearer scope="\`, "Bearer\tscope = a", `bearer scope=a,bearer scope=b`,
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		header := http.Header{"Www-Authenticate": {line}}
		c := readChallenge(header)
		for _, scope := range c.scopes {
			if scope == "" || strings.ContainsAny(scope, " \t") {
				t.Fatalf("%q has the scope %q", line, scope)
			}
		}
		n := 0
		for scheme := range challenges(line) {
			if n++; scheme == "" || n > len(line) {
				t.Fatalf("%q has %d schemes, the last %q", line, n, scheme)
			}
		}
		quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(line)
		got := readChallenge(http.Header{"Www-Authenticate": {fmt.Sprintf(`Basic realm="%s", Bearer scope="%s", error="e"`, quoted, quoted)}})
		if got.code != "e" || strings.Join(got.scopes, " ") != strings.Join(strings.Fields(line), " ") {
			t.Fatalf("%q was read as %+v", line, got)
		}
	})
}
