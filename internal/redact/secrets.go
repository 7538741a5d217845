package redact

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Secrets are values that are known to be secret, wherever they stand: those of
// configurations and of the environment. nil and the zero value know none; it may be
// used by several goroutines.
type Secrets struct {
	mu    sync.RWMutex
	known map[string]bool
	parts *strings.Replacer
}

// shortest is the length of the shortest value that is replaced wherever it stands. A
// shorter one may be an ordinary word.
const shortest = 6

const leftOut = "[secret left out]"

// Add takes note of a secret, and of the forms in which addresses, JSON and headers hold it.
func (s *Secrets) Add(values ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, value := range slices.Clone(values) {
		if lines := strings.Split(value, "\n"); len(lines) > 1 { // they may be said one by one
			values = append(values, slices.DeleteFunc(lines, func(line string) bool { return len(line) < 16 || strings.HasPrefix(line, "-----") })...)
		}
	}
	for _, value := range values {
		value = strings.TrimSpace(value)
		if len(value) < shortest || isReference(value) {
			continue
		}
		if s.known == nil {
			s.known = map[string]bool{}
		}
		quoted, _ := json.Marshal(value) // a string always has JSON
		inJSON := string(quoted[1 : len(quoted)-1])
		asTyped := strings.NewReplacer(`\u0026`, "&", `\u003c`, "<", `\u003e`, ">").Replace(inJSON)
		for _, form := range []string{value, inJSON, asTyped, url.QueryEscape(value), url.PathEscape(value), base64.StdEncoding.EncodeToString([]byte(value))} {
			s.known[form] = true
		}
	}
	var pairs []string
	for value := range s.known {
		pairs = append(pairs, value)
	}
	// The longest comes first, since a shorter one may begin it.
	slices.SortFunc(pairs, func(a, b string) int { return len(b) - len(a) })
	replaced := make([]string, 0, 2*len(pairs))
	for _, value := range pairs {
		replaced = append(replaced, value, leftOut)
	}
	s.parts = strings.NewReplacer(replaced...)
}

// AddVariable takes note of the value of a variable, if it is a secret.
func (s *Secrets) AddVariable(name, value string) {
	if Variable(name, value) || looksRandom(value) {
		s.Add(value)
	}
	s.AddAddress(value)
}

// AddEnviron takes note of the secrets in an environment, NAME=VALUE each.
func (s *Secrets) AddEnviron(environ []string) {
	for _, entry := range environ {
		if name, value, _ := strings.Cut(entry, "="); Variable(name, value) {
			s.Add(value)
		}
	}
}

// AddHeader takes note of the value of a header, if it is a secret. Its scheme, such
// as Bearer, is none.
func (s *Secrets) AddHeader(name, value string) {
	scheme, rest, has := strings.Cut(strings.TrimSpace(value), " ")
	switch {
	case !isSecretName(name) && !looksRandom(value) && (!has || !looksRandom(rest)) && Text(value) == value:
	case has && !strings.ContainsAny(scheme, "=:;"):
		s.Add(value, rest)
		if decoded, err := base64.StdEncoding.DecodeString(rest); err == nil && strings.EqualFold(scheme, "basic") {
			_, password, _ := strings.Cut(string(decoded), ":")
			s.Add(password)
		}
	default:
		s.Add(value)
		for part := range strings.SplitSeq(value, ";") { // of cookies
			_, of, _ := strings.Cut(part, "=")
			s.Add(of)
		}
	}
}

// AddCommand takes note of the secrets in the words of a command.
func (s *Secrets) AddCommand(words []string) {
	eachSecret(words, func(_ int, before, value string) string {
		s.Add(value)
		return before + value
	})
}

// AddAddress takes note of the secrets in an address.
func (s *Secrets) AddAddress(address string) {
	inAddress(address, func(value string) string {
		s.Add(value)
		if plain, err := url.PathUnescape(value); err == nil {
			s.Add(plain)
		}
		return value
	})
}

// Text replaces the known secrets, and whatever else looks like one.
func (s *Secrets) Text(text string) string { return Text(s.Known(text)) }

// Known replaces the known secrets alone.
func (s *Secrets) Known(text string) string {
	if s == nil {
		return text
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.parts == nil {
		return text
	}
	return s.parts.Replace(text)
}

// Command returns the words of a command without secrets.
func (s *Secrets) Command(words []string) []string {
	out := eachSecret(words, func(_ int, before, _ string) string { return before + leftOut })
	for i := range out {
		out[i] = s.Text(out[i])
	}
	return out
}

// Address returns an address without secrets.
func (s *Secrets) Address(address string) string {
	return s.Text(inAddress(address, func(string) string { return leftOut }))
}

// Writer returns a writer that forwards to another one without secrets. It treats
// each write as one text.
func (s *Secrets) Writer(to io.Writer) io.Writer { return writer{to, s.Text} }

type writer struct {
	to   io.Writer
	text func(string) string
}

// Write implements io.Writer.
func (w writer) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.to, w.text(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// eachSecret returns words with each secret replaced. Secrets are the value of a flag or
// an assignment whose name says so, of a header, and what nothing else looks like. before
// is what stands before the secret in its word.
func eachSecret(words []string, replace func(i int, before, value string) string) []string {
	out := slices.Clone(words)
	flag := "" // the flag whose value comes next
	for i, word := range words {
		name, value, assigned := strings.Cut(word, "=")
		header, of, isHeader := strings.Cut(word, ":")
		switch last := flag; {
		case isSecretName(last) && !isCount(last, word) && !strings.HasPrefix(word, "-"):
			out[i] = replace(i, "", word)
		case (last == "-u" || last == "--user") && isHeader:
			out[i] = replace(i, header+":", of)
		case assigned && assignsSecret(name, value):
			out[i] = replace(i, name+"=", value)
		case isHeader && isSecretName(header) && strings.TrimSpace(of) != "" && !strings.Contains(header, "/"):
			before, secret := header+":", of
			scheme, rest, has := strings.Cut(strings.TrimSpace(of), " ")
			if has {
				before, secret = before+" "+scheme+" ", rest
			}
			out[i] = replace(i, before, secret)
		case looksRandom(value):
			out[i] = replace(i, name+"=", value)
		case looksRandom(word):
			out[i] = replace(i, "", word)
		default:
			out[i] = inAddress(word, func(value string) string { return replace(i, "", value) })
		}
		flag = ""
		if strings.HasPrefix(word, "-") && !assigned {
			flag = word
		}
		if isReference(words[i]) || assigned && isReference(value) {
			out[i] = words[i]
		}
	}
	return out
}

// Parts of addresses.
var (
	userinfo = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)([^\s/@"'<>?#]+)@`)
	query    = regexp.MustCompile(`([?&;#])([\w.~%\[\]-]+)=([^&;#\s"']+)`)
	segment  = regexp.MustCompile(`(/)([A-Za-z0-9_~.+=:-]{16,})`)
)

// inAddress returns an address with each secret replaced: passwords, values of
// parameters whose name says so, and parts that nothing else looks like.
func inAddress(address string, replace func(value string) string) string {
	if !strings.Contains(address, "://") {
		return address
	}
	address = userinfo.ReplaceAllStringFunc(address, func(match string) string {
		found := userinfo.FindStringSubmatch(match)
		user, password, has := strings.Cut(found[2], ":")
		switch {
		case isReference(password), isReference(found[2]):
			return match
		case has && user != "":
			return found[1] + user + ":" + replace(password) + "@"
		case has:
			return found[1] + ":" + replace(password) + "@"
		case len(user) < 16: // a name alone
			return match
		}
		return found[1] + replace(user) + "@"
	})
	address = query.ReplaceAllStringFunc(address, func(match string) string {
		found := query.FindStringSubmatch(match)
		if isReference(found[3]) || !isSecretName(found[2]) && !looksRandom(found[3]) {
			return match
		}
		return found[1] + found[2] + "=" + replace(found[3])
	})
	place, rest, asks := strings.Cut(address, "?")
	place = segment.ReplaceAllStringFunc(place, func(match string) string {
		if !looksRandom(match[1:]) && without(match[1:], precise, func(string) string { return "" }) == match[1:] {
			return match
		}
		return "/" + replace(match[1:])
	})
	if asks {
		return place + "?" + rest
	}
	return place
}

// isReference reports whether a value is only a variable, as in ${TOKEN}.
func isReference(value string) bool {
	return strings.HasPrefix(value, "$") && !strings.Contains(value, ":-") || strings.HasPrefix(value, "{env:") && strings.HasSuffix(value, "}")
}

// camel matches the bound of two words in a name.
var camel = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// secretEnds are what names of secrets end in, with or without a separator before.
var secretEnds = []string{
	"TOKEN", "TOKENS", "SECRET", "SECRETS", "PASSWORD", "PASSWD", "PASSPHRASE", "PASSWORT", "APIKEY", "ACCESSKEY", "SECRETKEY", "PRIVATEKEY", "AUTHKEY",
	"CREDENTIAL", "CREDENTIALS", "AUTHORIZATION", "COOKIE", "SIGNATURE", "BEARER",
}

// isSecretName reports whether a flag, parameter or header of this name has a secret
// for a value.
func isSecretName(name string) bool {
	name = strings.ToUpper(camel.ReplaceAllString(strings.TrimLeft(name, "-"), "${1}_$2"))
	words := strings.FieldsFunc(name, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') })
	if len(words) == 0 {
		return false
	}
	last := strings.TrimRight(words[len(words)-1], "0123456789")
	return slices.Contains(secretWords, last) || last == "SIG" || slices.ContainsFunc(secretEnds, func(end string) bool { return strings.HasSuffix(last, end) })
}

// isPlace reports whether the value of a name says where a secret is.
func isPlace(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc([]string{"FILE", "PATH", "DIR", "HOME"}, func(end string) bool { return strings.HasSuffix(name, end) })
}

// assignsSecret reports whether a word of a command, NAME=VALUE, has a secret for a value.
func assignsSecret(name, value string) bool {
	secret := isSecretName(name) || Variable(strings.TrimLeft(name, "-"), value)
	return secret && value != "" && !strings.Contains(name, "://") && !isPlace(name) && !isCount(name, value)
}

// isCount reports whether a value says how many tokens there may be, as in --max-tokens 100000.
func isCount(name, value string) bool {
	return strings.HasSuffix(strings.ToUpper(name), "TOKENS") && len(value) < 9 && strings.Trim(value, "0123456789") == ""
}

// looksRandom reports whether a word looks generated, not written by a person.
func looksRandom(word string) bool {
	if len(word) < 16 || strings.ContainsAny(word[:1], "/.~@$") || strings.Contains(word, "://") {
		return false
	}
	var upper, lower, digit, hex int
	for _, c := range word {
		switch {
		case c >= '0' && c <= '9':
			digit++
		case c >= 'A' && c <= 'Z':
			upper++
		case c >= 'a' && c <= 'z':
			lower++
		case !strings.ContainsRune("+/=_-", c):
			return false
		}
		if strings.ContainsRune("0123456789abcdef", c) {
			hex++
		}
	}
	return upper > 1 && lower > 1 && digit > 0 || len(word) >= 32 && hex == len(word) && digit > 4
}
