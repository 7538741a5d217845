package oauth

import (
	"net/http"
	"strings"
)

// challenge is what a server says about the token that it wants (RFC 6750, RFC 9728).
type challenge struct {
	metadata string   // address of its protected resource metadata
	scopes   []string // that the request needs
	code     string   // such as insufficient_scope
}

// readChallenge reads the first bearer challenge of a response. It returns an empty
// one if there is none.
func readChallenge(h http.Header) challenge {
	for _, line := range h.Values("WWW-Authenticate") {
		for scheme, params := range challenges(line) {
			if strings.EqualFold(scheme, "bearer") {
				return challenge{params["resource_metadata"], strings.Fields(params["scope"]), params["error"]}
			}
		}
	}
	return challenge{}
}

// Wanted returns the scopes that a response names because the token lacks them. It
// reports false if the response is no such refusal.
func Wanted(r *http.Response) (scopes []string, ok bool) {
	if r.StatusCode != http.StatusForbidden {
		return nil, false
	}
	c := readChallenge(r.Header)
	return c.scopes, c.code == "insufficient_scope"
}

// challenges yields the schemes in a header line with their parameters, whose names
// are in lower case (RFC 9110, section 11.6.1).
func challenges(line string) func(yield func(scheme string, params map[string]string) bool) {
	return func(yield func(string, map[string]string) bool) {
		scheme, params := "", map[string]string{}
		for {
			line = strings.TrimLeft(line, " \t,")
			word := line[:len(line)-len(strings.TrimLeftFunc(line, isTokenRune))]
			if word == "" {
				break // the end, or something that is no challenge
			}
			line = line[len(word):]
			rest := strings.TrimLeft(line, " \t")
			if !strings.HasPrefix(rest, "=") {
				if scheme != "" && !yield(scheme, params) {
					return
				}
				scheme, params = word, map[string]string{}
				continue
			}
			var value string
			value, line = parameterValue(strings.TrimLeft(rest[1:], " \t"))
			params[strings.ToLower(word)] = value
		}
		if scheme != "" {
			yield(scheme, params)
		}
	}
}

// parameterValue reads a token or a quoted string and returns what follows it.
func parameterValue(s string) (value, rest string) {
	if !strings.HasPrefix(s, `"`) {
		rest = strings.TrimLeftFunc(s, func(r rune) bool { return r != ',' && r != ' ' && r != '\t' })
		return s[:len(s)-len(rest)], rest
	}
	var text strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return text.String(), s[i+1:]
		case s[i] == '\\' && i+1 < len(s):
			i++
		}
		text.WriteByte(s[i])
	}
	return "", "" // it does not end
}

func isTokenRune(r rune) bool {
	return r > ' ' && r < 0x7f && !strings.ContainsRune(`()<>@,;:\"/[]?={}`, r)
}
