package memory

import (
	"slices"
	"strings"

	"replan/internal/lazyregexp"
)

// secretForms lists the formats of keys and passwords with their names for the
// user.
var secretForms = []struct {
	name string
	form *lazyregexp.Regexp
}{
	{"a private key", lazyregexp.New(`-----BEGIN [A-Z ]*PRIVATE KEY|AGE-SECRET-KEY-1`)},
	{"an API key", lazyregexp.New(`\b(?:` +
		`sk-[A-Za-z0-9_-]{16,}|[sr]k_(?:live|test)_[A-Za-z0-9]{10,}|` +
		`gh[opsur]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|` +
		`xox[a-z]-[\w-]{10,}|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{30,}|ya29\.[\w-]{20,}|` +
		`(?:npm|hf)_[A-Za-z0-9]{20,}|pypi-[\w-]{20,}|eyJ[\w-]{8,}\.[\w-]{8,}\.)`)},
	// Digits alone before a slash are a port, and a path follows.
	{"an address with a password in it", lazyregexp.New(`[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@]*:(?:[^\s/@]+|[^\s/@]*[^\s/@\d][^\s/@]*/[^\s@]*)@`)},
	{"an authorization header", lazyregexp.New(`(?i)\bauthorization["']?\s*[:=]\s*["']?(?:basic|bearer|digest|token)\s+\S`)},
	{"a PIN", statement(`\bpins?`+quotes+whereFor, `(?:[:=(>→–-]|is|was|are|ist|lautet)?`, `\d{4,8}(?:\.?(?:[^\w.]|$))`)},
}

// The parts of a sentence that states a secret: "the token for the wiki is …".
// Clear names refer only to secrets; the others have many meanings.
const (
	clearNames = `(?:passwor[dt]|kennwort|passwd|passphrase|passcode|mots? de passe|(?:seed|recovery)[ _-]phrase|(?:\b|_)pwd?\b)s?`
	otherNames = `(?:secret|credential|(?:api|access|private|secret|license)[ _-]?key)s?`
	whereFor   = `(?:\s+(?:for|of|to|on|at|in|from|that|which|für|von|zu|zum|zur|im|am|der|des)\s(?:[^\s:=]*[^\s:=.!?;]\s+){0,5}?[^\s:=]*[^\s:=.!?;])?`
	quotes     = `["'` + "`" + `]*`
	anySign    = `(?:[:=]|\b(?:is|was|are|ist|sind|lautet|lauten)\b)`
	beside     = `["'` + "`" + `(,>→–-]*\s+["'` + "`" + `(>→–-]*\s*([^\s"'` + "`" + `)]*\d[^\s"'` + "`" + `)]*)`
)

// statementForms match sentences that state a secret, up to the secret itself. After a
// clear name, any word is a secret unless dealtWith matches it. After other names,
// the word must also look like a value.
var statementForms = []struct {
	form  *lazyregexp.Regexp
	clear bool
}{
	{statement(clearNames+quotes+whereFor, anySign, ""), true},
	{statement(otherNames+quotes+whereFor, anySign, ""), false},
	{statement(`token`+quotes+whereFor, `(?:[:=]|\b(?:is|was|ist|lautet)\b)`, ""), false},
	{statement(`tokens`+quotes, `(?:[:=]|\bis\b)`, ""), false}, // many general statements are about tokens
	{statement(`\b(?:my|our)\s+(?:\w+\s+)?tokens`+quotes, `\bare\b`, ""), false},
	{statement(`(?:\b|_)pass`+quotes, `[:=]`, ""), false}, // tests pass, too
}

// statement returns a regular expression for the name of a secret, a sign that the
// secret follows, and the form of its value.
func statement(name, sign, value string) *lazyregexp.Regexp {
	return lazyregexp.New(`(?i)` + name + `\s*(?:` + sign + `\s*)+(?:(?:now|always|still|currently|jetzt)\s+)?` + quotes + value)
}

// besideForms match secrets next to their names: "my wifi password …". A
// secret must contain a digit, or else "password manager" would match.
var besideForms = []struct {
	form  *lazyregexp.Regexp
	least int                // characters; shorter words are counts or names
	not   *lazyregexp.Regexp // what the word must not match
}{
	{lazyregexp.New(`(?i)` + clearNames + beside), 4, version},
	{lazyregexp.New(`(?i)(?:` + otherNames + `|token)` + beside), leastValue, noValue},
	{lazyregexp.New(`(?i)\bbearer` + beside), 12, noValue},
}

// dealtWith matches text about where a secret is kept or how it is handled,
// rather than the secret itself.
var dealtWith = lazyregexp.New(`(?i)^(?:` +
	`(?:not|never|none|in|on|at|to|from|by|with|see|ask|use|the same|im|bei|beim|von|zu|nicht|siehe)[.,;!]*(?:\s|$)|` +
	`\d+ (?:of|out|von|characters|letters|digits|words|zeichen)\b|` +
	`(?:kept|stored|saved|managed|rotated|hashed|encrypted|required|needed|optional)\s*(?:[.,;!)]|$)|` +
	`(?:\pL+ly\s+)?(?:\pL+(?:ed|en)|kept|held|set|put|read|made|optional|valid)\s+` +
	`(?:and|as|at|by|each|every|for|from|if|in|into|on|per|through|to|under|until|via|when|with|\pL+ly)\b)`)

// These tell a value from an ordinary word.
const leastValue = 6

var (
	valueSign = lazyregexp.New(`\d|[a-z][A-Z]|[!#$%&*+/=?@^~|:]`)
	// noValue matches a version, a pinned package, a count, a name of plain words,
	// or a place to look.
	noValue = lazyregexp.New(`^(?:v?\d+(?:\.\d+)+|[\w.-]+[=<>~]=v?\d[\w.]*|\d{1,7}|[a-z]+(?:-[a-z]+)+(?:-\d{1,3})?|` +
		`(?:--|[~.<]).*|/[a-z]+/.*|\$\{?[A-Z_]+\}?)$`)
	version = lazyregexp.New(`^v?\d+(?:\.\d+)+$`)
	// loneWord matches a single word: "the secret is swordfish". A quality does
	// not count.
	loneWord = lazyregexp.New(`^([A-Za-z]?[a-z]{2,})(?:["'` + "`" + `]|[.,;!)]+(?:\s|$)|\s+(?:and|or|und)\b|\s*$)`)
	quality  = lazyregexp.New(`(?i)^(?:yes|valid|invalid|missing|empty|wrong|secret|private|public|temporary|short|long|stale|new|old|safe|secure|unique|\w+(?:ed|able))$`)
)

// randomWord matches a word so long and mixed that only a machine makes it.
var randomWord = lazyregexp.New(`[A-Za-z0-9+_=-]{32,}`)

// checksum matches names of long hexadecimal numbers that are not keys.
var checksum = lazyregexp.New(`(?i)\b(?:sha-?\d+|md5|checksums?|digest|prüfsumme)`)

// The numbers of payment cards, by length and prefix. Many unbroken numbers
// look like that, so they count only with the name of a card or an expiry
// date.
var (
	cardGroups = lazyregexp.New(`\b(?:[2-6]\d{3}(?:[ -]\d{4}){3}|3\d{3}[ -]\d{6}[ -]\d{4,5})\b`)
	cardPiece  = lazyregexp.New(`\b[2-6]\d{13,18}\b`)
	cardSign   = lazyregexp.New(`(?i)card|karte|\b(?:visa|amex|american express|maestro|cv[cv])\b|\b\d{14,19}\s+(?:0[1-9]|1[0-2])/?\d\d\b`)
)

// secretIn returns the kind of secret that a text seems to contain, or "" if
// none. It prefers false positives to missed secrets, because models receive
// the memory for a long time.
func secretIn(text string) string {
	for _, s := range secretForms {
		if s.form.MatchString(text) {
			return s.name
		}
	}
	switch {
	case statesSecret(text):
		return "a password or a key"
	case hasRandomWord(text):
		return "a key"
	case slices.ContainsFunc(cardGroups.FindAllString(text, -1), checksOut),
		cardSign.MatchString(text) && slices.ContainsFunc(cardPiece.FindAllString(text, -1), checksOut):
		return "a card number"
	case hasSeedPhrase(text):
		return "a seed phrase"
	}
	return ""
}

// statesSecret reports whether a sentence in the text states a secret.
func statesSecret(text string) bool {
	for _, s := range statementForms {
		for _, at := range s.form.FindAllStringIndex(text, -1) {
			rest := text[at[1]:]
			if rest != "" && !dealtWith.MatchString(rest) && (s.clear || opensWithValue(rest)) {
				return true
			}
		}
	}
	for _, s := range besideForms {
		for _, found := range s.form.FindAllStringSubmatch(text, -1) {
			word := strings.TrimRight(found[1], ".,;:!?")
			if len(word) >= s.least && !s.not.MatchString(word) {
				return true
			}
		}
	}
	return false
}

// opensWithValue reports whether a text begins with a word that looks like a
// value, or consists of a single word.
func opensWithValue(text string) bool {
	word, _, _ := strings.Cut(text, " ")
	word = strings.TrimRight(word, ".,;:!?)\"'`")
	if len(word) >= leastValue && valueSign.MatchString(word) && !noValue.MatchString(word) {
		return true
	}
	lone := loneWord.FindStringSubmatch(text)
	return lone != nil && !quality.MatchString(lone[1])
}

// commitDigits is the length of commit hashes, which are not secrets.
const commitDigits = 40

const (
	digits    = "0123456789"
	hexDigits = digits + "abcdef"
)

// hasRandomWord reports whether a text contains a long word with digits and letters of
// both cases. It also does for a hexadecimal number that is neither a commit nor a
// checksum.
func hasRandomWord(text string) bool {
	for _, word := range randomWord.FindAllString(text, -1) {
		if !strings.ContainsAny(word, digits) || strings.Trim(word, digits) == "" {
			continue
		}
		lower, upper := strings.ToLower(word), strings.ToUpper(word)
		isHex := strings.Trim(lower, hexDigits) == ""
		if isHex && len(word) != commitDigits && !checksum.MatchString(text) || !isHex && lower != word && upper != word {
			return true
		}
	}
	return false
}

// checksOut reports whether the digits of a number pass the check of payment
// cards, Luhn's rule.
func checksOut(number string) bool {
	sum, double := 0, false
	for i := len(number) - 1; i >= 0; i-- {
		d := int(number[i] - '0')
		if d < 0 || d > 9 { // a separator between groups
			continue
		}
		if double {
			d = d/5 + d*2%10
		}
		sum, double = sum+d, !double
	}
	return sum%10 == 0
}

// The words of a seed phrase come from a fixed list (BIP 39). There are at
// least twelve, all in lower case but perhaps the first. The list is not
// needed to tell them from a sentence. Before its twelfth word, a sentence has
// a short or long word, a comma, or one of smallWords, which are not on the
// list.
const seedWords = 12

var (
	seedWord   = lazyregexp.New(`^["'(]?(?:([A-Z])[a-z]{2,7}|[a-z]{3,8})["').]*$`)
	smallWords = strings.Fields("the and for are was were been not but has had does would could should which while than those these " +
		"with without using written from your our its their them his her uses und ist mit der die das ein auf von den")
)

// hasSeedPhrase reports whether a text contains enough such words in a row to
// open a wallet.
func hasSeedPhrase(text string) bool {
	run := 0
	for word := range strings.FieldsSeq(text) {
		form := seedWord.FindStringSubmatch(word)
		if form == nil || slices.Contains(smallWords, strings.ToLower(word)) {
			run = 0
			continue
		}
		if form[1] != "" { // only the first word may have a capital
			run = 0
		}
		if run++; run == seedWords {
			return true
		}
	}
	return false
}
