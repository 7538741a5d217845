package transcript

import (
	"regexp"
	"strings"
)

// forms are what secrets look like. The first group of each, where it has one,
// stays.
var forms = []struct {
	name string
	form *regexp.Regexp
}{
	{"private key", regexp.MustCompile(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)|AGE-SECRET-KEY-1\w+`)},
	{"API key", regexp.MustCompile(`\b(?:` +
		`sk-[A-Za-z0-9_-]{16,}|[sr]k_(?:live|test)_[A-Za-z0-9]{10,}|` +
		`gh[opsur]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|` +
		`xox[a-z]-[\w-]{10,}|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{30,}|ya29\.[\w-]{20,}|` +
		`(?:npm|hf)_[A-Za-z0-9]{20,}|pypi-[\w-]{20,}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)`)},
	{"password", regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://[^\s/:@]*:)[^\s/@]+@`)},
	{"credentials", regexp.MustCompile(`(?i)(\bauthorization["']?\s*[:=]\s*["']?(?:basic|bearer|digest|token)\s+)[^\s"']+`)},
	{"secret", regexp.MustCompile(`(?i)((?:\b|_)(?:password|passwd|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|client[_-]?secret|credential)s?["']?\s*[:=]\s*)` +
		`(?:"[^"\n]{4,}"|'[^'\n]{4,}'|[^\s"'` + "`" + `,;(){}\[\]<>$]{6,})`)},
}

// Redact takes out of a text what looks like a key, a password or another secret,
// and says what stood there. It takes out something harmless rather than leave a
// secret in.
func Redact(text string) string {
	for _, f := range forms {
		text = f.form.ReplaceAllStringFunc(text, func(found string) string {
			kept := ""
			if groups := f.form.FindStringSubmatch(found); len(groups) > 1 {
				kept = groups[1]
			}
			tail := ""
			if kept != "" && strings.HasSuffix(found, "@") && f.name == "password" {
				tail = "@"
			}
			return kept + "[" + f.name + " left out]" + tail
		})
	}
	return text
}
