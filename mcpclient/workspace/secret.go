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
	// Up to a slash digits alone are a port, and what follows is a path.
	{"an address with a password in it", regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@]*:(?:[^\s/@]+|[^\s/@]*[^\s/@\d][^\s/@]*/[^\s@]*)@`)},
	{"an authorization header", regexp.MustCompile(`(?i)\bauthorization["']?\s*[:=]\s*["']?(?:basic|bearer|digest|token)\s+\S|\bbearer\s+[\w.~+/-]*\d[\w.~+/=-]*`)},
}

// The parts of a secret that is told in words: "the token for the wiki is …".
const (
	longNames = `(?:passwor[dt]|kennwort|passwd|passphrase|passcode|mots? de passe|secret|credential|` +
		`(?:api|access|private|secret|license)[ _-]?key|(?:seed|recovery)[ _-]phrase)s?`
	whereFor = `(?:\s+(?:for|of|to|on|at|in|from|that|which|für|von|zu|zum|zur|im|am|der|des)\s(?:[^\s:=]*[^\s:=.!?;]\s+){0,5}?[^\s:=]*[^\s:=.!?;])?`
	quotes   = `["'` + "`" + `]*`
)

// saidForms are the ways to tell a secret in words, up to the word that is it.
// That word is for dealtWith to look at.
var saidForms = []*regexp.Regexp{
	said(longNames+quotes+whereFor, `[:=]|\b(?:is|was|are|ist|sind|lautet|lauten)\b`),
	said(`(?:token|\bpin|\bpwd|_pwd|\bpw)`+quotes+whereFor, `[:=]|\b(?:is|was|ist|lautet)\b`),
	said(`(?:tokens|\bpins)`+quotes, `[:=]|\bis\b`), // of such many speak in general
	said(`\b(?:my|our)\s+(?:\w+\s+)?(?:tokens|pins)`+quotes, `\bare\b`),
	said(`(?:\b|_)pass`+quotes, `[:=]`), // tests pass, too
}

// said is what a secret is called, and a sign that what follows is it.
func said(name, sign string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)` + name + `\s*(?:(?:` + sign + `)\s*)+` + quotes)
}

// besideForm is a secret that stands beside its name: "my wifi password …". It
// has a digit in it, or else every "password manager" were one.
var besideForm = regexp.MustCompile(`(?i)(?:` + longNames + `|token|\b(?:pin|pwd|pw))["'` + "`" + `(,>→–-]*\s+["'` + "`" + `(>→–-]*\s*([^\s"'` + "`" + `)]*\d[^\s"'` + "`" + `)]*)`)

// dealtWith is what goes on to say where a secret is kept, or how it is dealt
// with, rather than what it is.
var dealtWith = regexp.MustCompile(`(?i)^(?:(?:not|never|in|im|from)\b|` +
	`(?:kept|stored|saved|managed|rotated|hashed|encrypted|required|needed|optional)\s*(?:[.,;!)]|$)|` +
	`(?:\pL+ly\s+)?(?:\pL+(?:ed|en)|kept|held|set|put|read|made|optional)\s+` +
	`(?:and|as|at|by|each|every|for|from|if|in|into|on|per|through|to|under|until|via|when|with|\pL+ly)\b)`)

// randomWord is a word as long and as mixed as only machines make them.
var randomWord = regexp.MustCompile(`[A-Za-z0-9+_=-]{32,}`)

// cardNumber is as long as the numbers of payment cards, in one piece or in
// their groups, and begins as they do.
var cardNumber = regexp.MustCompile(`\b(?:[2-6]\d{13,18}|[2-6]\d{3}(?:[ -]\d{4}){3}|3\d{3}[ -]\d{6}[ -]\d{4,5})\b`)

// secretIn says what kind of secret a text seems to hold; empty where it seems
// to hold none. It takes a harmless text for a secret rather than a secret for
// harmless: what is kept here is sent to models for a long time.
func secretIn(text string) string {
	for _, s := range secretForms {
		if s.form.MatchString(text) {
			return s.name
		}
	}
	switch {
	case tellsSecret(text):
		return "a password or a key"
	case slices.ContainsFunc(randomWord.FindAllString(text, -1), mixed):
		return "a key"
	case slices.ContainsFunc(cardNumber.FindAllString(text, -1), checksOut):
		return "a card number"
	case hasSeedPhrase(text):
		return "a seed phrase"
	}
	return ""
}

// tellsSecret reports whether a text says in words what a secret is.
func tellsSecret(text string) bool {
	for _, form := range saidForms {
		for _, at := range form.FindAllStringIndex(text, -1) {
			if rest := text[at[1]:]; rest != "" && !dealtWith.MatchString(rest) {
				return true
			}
		}
	}
	for _, found := range besideForm.FindAllStringSubmatch(text, -1) {
		if len(found[1]) >= 4 { // less counts something
			return true
		}
	}
	return false
}

// commitDigits is how long the ids of commits are, which are no secrets.
const commitDigits = 40

// mixed reports whether a word has digits among letters of both cases, or is a
// hexadecimal number that is no commit.
func mixed(word string) bool {
	const digits, hex = "0123456789", "0123456789abcdef"
	if !strings.ContainsAny(word, digits) || strings.Trim(word, digits) == "" {
		return false
	}
	lower, upper := strings.ToLower(word), strings.ToUpper(word)
	if strings.Trim(lower, hex) == "" {
		return len(word) != commitDigits
	}
	return lower != word && upper != word
}

// checksOut reports whether the digits of a number add up as those of cards do:
// by Luhn's rule.
func checksOut(number string) bool {
	sum, double := 0, false
	for i := len(number) - 1; i >= 0; i-- {
		d := int(number[i] - '0')
		if d < 0 || d > 9 { // what parts the groups
			continue
		}
		if double {
			d = d/5 + d*2%10
		}
		sum, double = sum+d, !double
	}
	return sum%10 == 0
}

// The words of a seed phrase are from a list of their own (BIP 39), twelve of
// them at least. No list is needed to tell them from a sentence: that has a
// short word, a long one, a comma or one of smallWords long before its twelfth.
const seedWords = 12

var (
	seedWord   = regexp.MustCompile(`^["'(]?[A-Za-z]{3,8}["').]*$`)
	smallWords = strings.Fields("the and for are was not but has had with from your our its their than them his her uses und ist mit der die das ein auf von den")
)

// hasSeedPhrase reports whether a text holds as many words in a row as open a
// wallet.
func hasSeedPhrase(text string) bool {
	run := 0
	for word := range strings.FieldsSeq(text) {
		if !seedWord.MatchString(word) || slices.Contains(smallWords, strings.ToLower(word)) {
			run = 0
			continue
		}
		if run++; run == seedWords {
			return true
		}
	}
	return false
}
