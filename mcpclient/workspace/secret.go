package workspace

import (
	"regexp"
	"slices"
	"strings"
)

// secretForms are what keys and passwords look like, with their names for the
// user.
var secretForms = []struct {
	name string
	form *regexp.Regexp
}{
	{"a private key", regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY|AGE-SECRET-KEY-1`)},
	{"an API key", regexp.MustCompile(`\b(?:` +
		`sk-[A-Za-z0-9_-]{16,}|[sr]k_(?:live|test)_[A-Za-z0-9]{10,}|` +
		`gh[opsur]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|` +
		`xox[a-z]-[\w-]{10,}|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{30,}|ya29\.[\w-]{20,}|` +
		`(?:npm|hf)_[A-Za-z0-9]{20,}|pypi-[\w-]{20,}|eyJ[\w-]{8,}\.[\w-]{8,}\.)`)},
	{"an address with a password in it", regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@]*:[^\s/@]+@`)},
}

// saidForm is a secret that is told in words: "my password is …", "API_KEY=…".
// What it leaves to saysWhere is the word that follows.
var saidForm = regexp.MustCompile(`(?i)(?:passwor[dt]|passwd|passphrase|passcode|\bpin|secret|token|(?:api|access|private|secret|license)[ _-]?key|credential)s?` +
	`["'` + "`" + `]*\s*(?:[:=]|\bis\b|\bare\b)+\s*["'` + "`" + `]*([^\s"'` + "`" + `]+)`)

// randomWord is a word as long and as mixed as only machines make them.
var randomWord = regexp.MustCompile(`[A-Za-z0-9+_=-]{32,}`)

// secretIn says what kind of secret a text seems to hold; empty where it seems
// to hold none. It takes a harmless text for a secret rather than a secret for
// harmless: what is kept here is sent to models for a long time.
func secretIn(text string) string {
	for _, s := range secretForms {
		if s.form.MatchString(text) {
			return s.name
		}
	}
	for _, found := range saidForm.FindAllStringSubmatch(text, -1) {
		if !saysWhere(found[1]) {
			return "a password or a key"
		}
	}
	if slices.ContainsFunc(randomWord.FindAllString(text, -1), mixed) {
		return "a key"
	}
	return ""
}

// saysWhere reports whether a word goes on to say where a secret is kept, or how
// it is dealt with, rather than what it is.
func saysWhere(word string) bool {
	switch strings.ToLower(strings.TrimRight(word, ".,;")) {
	case "in", "kept", "stored", "saved", "from", "never", "not", "managed", "rotated", "required", "needed", "optional":
		return true
	}
	return false
}

// mixed reports whether a word has digits among letters of both cases, or of
// hexadecimal numbers alone.
func mixed(word string) bool {
	const digits, hex = "0123456789", "0123456789abcdef"
	if !strings.ContainsAny(word, digits) || strings.Trim(word, digits) == "" {
		return false
	}
	lower, upper := strings.ToLower(word), strings.ToUpper(word)
	return lower != word && upper != word || strings.Trim(lower, hex) == ""
}
