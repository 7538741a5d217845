package intent

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"replan/internal/lazyregexp"
)

// token is one word, or a quoted text.
type token struct {
	text       string // as written, without quotes and the punctuation after it
	key        string // in lower case, for comparing; empty for quoted text
	start, end int    // its position, quotes included
	after      string // the punctuation that follows it
	quoted     bool
}

// is reports whether the token is one of the words; a quoted token never is.
func (t token) is(words ...string) bool { return !t.quoted && slices.Contains(words, t.key) }

// quotation matches a quoted text, and the punctuation that follows it. A quote
// closes only at the end of a word, so that an apostrophe does not.
var quotation = lazyregexp.New("(?s)^(?:\"(.*?)\"|'(.*?)'|`(.*?)`|“(.*?)”|‘(.*?)’|«(.*?)»)([" + punctuation + "]*)(?:\\s|$)")

// punctuation may follow a word without being part of it.
const punctuation = ",.;:!?…"

// maxQuoted is the longest quoted text in bytes. It bounds the search for the
// closing quote.
const maxQuoted = 1 << 12

// split cuts a text into at most limit tokens.
func split(text string, limit int) []token {
	var tokens []token
	for at := 0; at < len(text) && len(tokens) < limit; {
		if r, size := utf8.DecodeRuneInString(text[at:]); unicode.IsSpace(r) {
			at += size
			continue
		}
		t, next := word(text, at)
		if m := quotation.FindStringSubmatch(text[at:min(len(text), at+maxQuoted)]); m != nil {
			after := m[len(m)-1]
			next = at + len(strings.TrimRightFunc(m[0], unicode.IsSpace))
			t = token{text: strings.Join(m[1:len(m)-1], ""), start: at, end: next - len(after), after: after, quoted: true}
		}
		at = next
		switch {
		case t.quoted || strings.TrimSpace(t.text) != "":
			tokens = append(tokens, contraction(t)...)
		case len(tokens) > 0:
			tokens[len(tokens)-1].after += t.after
		}
	}
	return tokens
}

// word reads a token up to the next blank.
func word(text string, at int) (token, int) {
	next := len(text)
	if n := strings.IndexFunc(text[at:], unicode.IsSpace); n >= 0 {
		next = at + n
	}
	whole := text[at:next]
	bare := strings.TrimRight(whole, punctuation)
	dots := len(strings.TrimRight(whole, ".")) // ., .. and ./... are paths
	if dots == 0 || strings.HasSuffix(whole[:dots], "/") {
		bare = whole
	}
	key := strings.ToLower(strings.ReplaceAll(bare, "’", "'"))
	return token{text: bare, key: key, start: at, end: at + len(bare), after: whole[len(bare):]}, next
}

// contraction splits a contraction such as "where's".
func contraction(t token) []token {
	question, ok := strings.CutSuffix(t.key, "'s")
	n := len(question)
	if !ok || !slices.Contains(questions, question) || n >= len(t.text) {
		return []token{t}
	}
	return []token{
		{text: t.text[:n], key: question, start: t.start, end: t.start + n},
		{text: t.text[n:], key: "is", start: t.start + n, end: t.end, after: t.after},
	}
}

// tasks returns the first task without politeness, and the words after it.
func tasks(tokens []token) (first, rest []token) {
	tokens = dropPhrases(tokens, greetings, false)
	end, next := len(tokens), len(tokens)
	for i := 1; i < len(tokens) && end == len(tokens); i++ {
		stop := tokens[i-1].after
		if tokens[i-1].is("message") {
			stop = ""
		}
		at := i
		for at < len(tokens) && tokens[at].is(joins...) {
			at++
		}
		switch {
		case tokens[i].is(shells...):
			end, next = i, i+1
		case (stop != "" || at > i) && (begins(dropPhrases(tokens[at:], greetings, false)) || wantsToPass(tokens[at:])):
			end, next = i, at
		case strings.ContainsAny(stop, ".;!?…"):
			end, next = i, i
		}
	}
	polite := func(tokens []token) []token {
		return dropPhrases(dropPhrases(tokens, greetings, false), farewells, true)
	}
	return polite(tokens[:end]), polite(tokens[next:])
}

// wantsToPass reports whether tokens say that the tests have to pass: "the tests must still
// pass".
func wantsToPass(tokens []token) bool {
	for len(tokens) > 1 && (tokens[0].is(articles...) || tokens[0].is("all", "existing")) {
		tokens = tokens[1:]
	}
	return len(tokens) > 2 && tokens[0].is("tests", "test", "build", "code") && tokens[1].is("must", "should", "shall", "need", "have", "still")
}

// begins reports whether tokens start a task of their own, or deny one.
func begins(tokens []token) bool {
	return len(tokens) > 0 && (tokens[0].is(verbs...) || denies(tokens) ||
		len(tokens) > 1 && tokens[0].is("git") && tokens[1].is("commit", "push", "checkout", "switch"))
}

// denies reports whether tokens say not to do something.
func denies(tokens []token) bool {
	return tokens[0].is(groups["deny"]...) || len(tokens) > 1 && tokens[0].is("do") && tokens[1].is("not")
}

// dropPhrases removes phrases at the start or the end, again and again. The end
// keeps at least one token.
func dropPhrases(tokens []token, list [][]string, atEnd bool) []token {
	for i := 0; i < len(list); i++ {
		phrase, from := list[i], 0
		if atEnd {
			from = len(tokens) - len(phrase)
		}
		switch to := from + len(phrase); {
		case from < 0 || to > len(tokens) || atEnd && (from == 0 || tokens[from-1].is("is", "are", "message")):
		case !slices.EqualFunc(tokens[from:to], phrase, func(t token, w string) bool { return t.is(w) }):
		case atEnd:
			tokens, i = tokens[:from], -1
		default:
			tokens, i = tokens[to:], -1
		}
	}
	return tokens
}
