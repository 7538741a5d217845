package redact

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// form describes the appearance of one kind of secret. Redaction keeps its first
// group.
type form struct {
	name string
	form *regexp.Regexp
	mark string                    // each has one of these characters; "" if that is not so. It spares most short texts the search.
	is   func(found []string) bool // nil if every match is a secret
}

// edge matches the position before a key: anything but a word character. A line end
// may have its JSON escape.
const edge = `((?:^|[^A-Za-z0-9_]|\\[nrt]))`

// precise lists forms that only secrets have, which are therefore safe to redact in
// source text too.
var precise = []form{
	{name: "private key", mark: "-", form: regexp.MustCompile(`()(?:-----BEGIN [A-Z ]*PRIVATE KEY-----[A-Za-z0-9+/=\s\\:,.-]*?-----END [A-Z ]*PRIVATE KEY-----|` +
		`-----BEGIN [A-Z ]*PRIVATE KEY-----(?:\s|\\[nr])*[A-Za-z0-9+/=\s\\]{16,}|AGE-SECRET-KEY-1\w{16,})`)},
	{name: "API key", form: regexp.MustCompile(edge + `(?:` +
		`sk-[A-Za-z0-9_-]{16,}|[sr]k_(?:live|test)_[A-Za-z0-9]{10,}|` +
		`gh[opsur]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|` +
		`xox[a-z]-[\w-]{10,}|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{30,}|ya29\.[\w-]{20,}|` +
		`(?:npm|hf)_[A-Za-z0-9]{20,}|pypi-[\w-]{20,}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*|` +
		`[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}|SG\.[\w-]{16,}\.[\w-]{16,}|dop_v1_[a-f0-9]{32,}|shpat_[A-Fa-f0-9]{32}|sq0[a-z]{3}-[\w-]{22,})`)},
	{name: "API key", mark: ":", form: regexp.MustCompile(edge + `[0-9]{8,10}:[A-Za-z0-9_-]{33,36}\b`)}, // of Telegram
	// Before a slash, digits alone are a port.
	{name: "password", mark: ":", form: regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://[^\s/:@"'$%{}<>]*:)([^\s/@"'$%{}<>]+)(?:@)`)},
	{name: "credentials", mark: ":=", form: regexp.MustCompile(`(?i)(\bauthorization["']?\s*[:=]\s*["']?(?:basic|bearer|digest|token)\s+)[A-Za-z0-9+/=_.~-]{6,}`)},
	{name: "secret", mark: "=", is: value, form: regexp.MustCompile(
		`((?:PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|APIKEY|[A-Z0-9]_KEY|CREDENTIAL|_PASS|_PWD|_AUTH)S?[A-Z0-9_]*=["']?)([A-Za-z0-9+/=_.~@:!#*-]{6,})`)},
}

// wide lists forms of secrets that ordinary sentences may also have.
var wide = []form{
	{name: "secret", mark: "-", is: func(found []string) bool {
		return isSecretName(found[2]) && !isReference(found[3]) && !isCount(found[2], found[3])
	}, form: regexp.MustCompile(
		`((?:^|[\s"'])--?([A-Za-z][\w.-]*)(?:=|\s+|["'],\s*["'])["']?)([^\s"',\[-][^\s"',]{3,})`)},
	{name: "secret", mark: "?&", is: func(found []string) bool { return isSecretName(found[2]) && !isReference(found[3]) }, form: regexp.MustCompile(
		`([?&]([\w.~%-]+)=)([^&#\s"'<>\[][^&#\s"'<>]{3,})`)},
	{name: "AWS secret key", is: func(found []string) bool { return strings.ToLower(found[2]) != found[2] && looksRandom(found[2]) }, form: regexp.MustCompile(
		`((?:^|[^A-Za-z0-9+/=]))([A-Za-z0-9+/]{40})(?:$|\b)`)},
	{name: "secret", mark: ":=", form: regexp.MustCompile(`(?i)((?:\b|_|[a-z])(?:password|passwd|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|client[_-]?secret|credential)s?["']?\s*[:=]\s*)` +
		`(?:"[^"\n]{4,}"|'[^'\n]{4,}'|[^\s"'` + "`" + `,;(){}\[\]<>$]{6,})`)},
}

// value reports whether the word after a name looks like a value rather than
// another name.
func value(found []string) bool { return strings.ContainsAny(found[2], "0123456789") }

// Marker starts the replacement for a secret in a prompt.
const Marker = "[redacted " + "by replan: " // in two, so that this file can be changed by the program

// Text replaces anything that looks like a key, a password or another secret with a
// note on its kind. It prefers to remove harmless text over leaving a secret.
func Text(text string) string {
	for _, forms := range [][]form{precise, wide} {
		text = without(text, forms, func(name string) string { return "[" + name + " left out]" })
	}
	return text
}

// Prompt redacts only what must be a secret, so that source text otherwise stays
// unchanged. Each replacement starts with [Marker].
func Prompt(text string) string {
	return without(text, precise, func(name string) string { return Marker + name + "]" })
}

func without(text string, forms []form, mark func(name string) string) string {
	for _, f := range forms {
		if f.mark != "" && !strings.ContainsAny(text, f.mark) {
			continue
		}
		text = f.form.ReplaceAllStringFunc(text, func(match string) string {
			found := f.form.FindStringSubmatch(match)
			if f.is != nil && !f.is(found) {
				return match
			}
			tail := ""
			if f.name == "password" {
				tail = "@"
			}
			return found[1] + mark(f.name) + tail
		})
	}
	return text
}

// Marks counts the redactions in a prompt.
func Marks(text string) int { return strings.Count(text, Marker) }

// Value returns a JSON value with redact applied to its strings and the names of its
// members.
func Value(v any, redact func(string) string) any {
	switch v := v.(type) {
	case string:
		return redact(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = Value(v[i], redact)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			shown := redact(name)
			for _, taken := out[shown]; taken; _, taken = out[shown] {
				shown += "+" // of several secrets, each keeps its value
			}
			if text, ok := v[name].(string); ok {
				out[shown] = named(name, text, redact)
			} else {
				out[shown] = Value(v[name], redact)
			}
		}
		return out
	default:
		return v
	}
}

// named redacts the text of a member, whose name may say that it is a secret.
func named(name, text string, redact func(string) string) string {
	lead := name + `="`
	pair := redact(lead + text + `"`)
	if strings.Contains(text, "${") || strings.Contains(pair, text) { // a reference holds no secret
		return redact(text)
	}
	if whole, ok := strings.CutPrefix(pair, lead); ok {
		return strings.TrimSuffix(whole, `"`)
	}
	return strings.TrimPrefix(pair, name+"=")
}
