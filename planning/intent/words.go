package intent

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is one word, or a quoted text.
type token struct {
	text       string // as written, without quotes and the punctuation after it
	key        string // in lower case, for comparing; empty where it was quoted
	start, end int    // where it lies, quotes included
	after      string // the punctuation that follows it
	quoted     bool
}

// is reports whether the token is one of the words; a quoted token never is.
func (t token) is(words ...string) bool { return t.isOneOf(words) }

func (t token) isOneOf(words []string) bool { return !t.quoted && slices.Contains(words, t.key) }

// closers are the closing quotes by their opening quotes.
var closers = map[rune]string{'"': `"`, '\'': "'", '`': "`", '“': "”", '‘': "’", '«': "»"}

// punctuation may follow a word without being part of it.
const punctuation = ",.;:!?…"

// maxQuoted is the longest quoted text, in bytes. It keeps a long text of opening
// quotes from being searched to its end from each of them.
const maxQuoted = 1 << 14

// split cuts a text into at most limit tokens. A colon after a word becomes a
// token of its own, and so does the 's of a contraction.
func split(text string, limit int) []token {
	var tokens []token
	for at := 0; at < len(text) && len(tokens) < limit; {
		r, size := utf8.DecodeRuneInString(text[at:])
		if unicode.IsSpace(r) {
			at += size
			continue
		}
		t, next, ok := quotation(text, at, r, size)
		if !ok {
			t, next = word(text, at)
		}
		at = next
		if t.quoted || strings.TrimSpace(t.text) != "" {
			tokens = append(tokens, contraction(t)...)
		} else if strings.HasPrefix(t.after, ";") && len(tokens) > 0 {
			tokens[len(tokens)-1].after += t.after
		}
		if i := strings.IndexByte(t.after, ':'); i >= 0 && len(tokens) > 0 {
			tokens = append(tokens, token{text: ":", key: ":", start: t.end + i, end: t.end + i + 1})
		}
	}
	return tokens
}

// quotation reads a quoted token. A quote closes only at the end of a word, so
// that an apostrophe does not.
func quotation(text string, at int, open rune, size int) (token, int, bool) {
	closer := closers[open]
	if closer == "" {
		return token{}, 0, false
	}
	from := at + size
	text = text[:min(len(text), at+maxQuoted)]
	for i := from; ; {
		n := strings.Index(text[i:], closer)
		if n < 0 {
			return token{}, 0, false
		}
		to := i + n
		end := to + len(closer)
		rest := text[end:]
		trimmed := strings.TrimLeft(rest, punctuation)
		next, _ := utf8.DecodeRuneInString(trimmed)
		if trimmed == "" || unicode.IsSpace(next) {
			after := rest[:len(rest)-len(trimmed)]
			return token{text: text[from:to], start: at, end: end, after: after, quoted: true}, end + len(after), true
		}
		i = end
	}
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

// contraction takes a contraction such as "where's" apart.
func contraction(t token) []token {
	question, ok := strings.CutSuffix(t.key, "'s")
	if !ok || !slices.Contains(questions, question) {
		return []token{t}
	}
	cut := len(question)
	if cut >= len(t.text) || !strings.EqualFold(t.text[:cut], question) {
		return []token{t}
	}
	head := token{text: t.text[:cut], key: question, start: t.start, end: t.start + cut}
	return []token{head, {text: t.text[cut:], key: "is", start: t.start + cut, end: t.end, after: t.after}}
}

// task is a run of tokens that asks for one thing.
type task struct {
	tokens []token
	verb   bool // it begins with a verb
}

// tasks removes politeness, and splits the rest at the next task or sentence.
func tasks(tokens []token) []task {
	tokens = dropEnd(dropStart(tokens))
	var all []task
	for own := false; len(tokens) > 0; {
		cut, next := nextTask(tokens)
		head := dropEnd(dropStart(tokens[:cut]))
		if len(head) > 0 {
			all = append(all, task{arrows(head), own || begins(head)})
		}
		own = cut < len(tokens) && tokens[cut].isOneOf(shells) // a shell would run the rest as a command
		tokens = dropStart(tokens[next:])
	}
	return all
}

// nextTask says where the first task ends and the next begins.
func nextTask(tokens []token) (end, next int) {
	from, to := message(tokens)
	for i := 1; i < len(tokens); i++ {
		stop := tokens[i-1].after
		if tokens[i].isOneOf(shells) {
			return i, i + 1
		}
		if i >= from && i <= to {
			if strings.Contains(stop, ";") && isFlag(tokens[from]) {
				return i, i
			}
			continue
		}
		next := i
		for next < len(tokens) && tokens[next].isOneOf(joins) {
			next++
		}
		if next < len(tokens) && (stop != "" || next > i) && begins(dropStart(tokens[next:])) {
			return i, next
		}
		if i == 2 && tokens[0].is("in", "inside", "within") && looksLikeName(tokens[1]) && begins(tokens[2:]) {
			return i, i // "in main.go replace X": the place stands first
		}
		if strings.ContainsAny(stop, ".;!?…") {
			return i, i
		}
	}
	return len(tokens), len(tokens)
}

// message says where the message of a commit stands, from the word that marks it:
// it may say anything. One in quotes ends with them.
func message(tokens []token) (from, to int) {
	none := len(tokens)
	if !tokens[0].is("commit", "git") {
		return none, none
	}
	from = slices.IndexFunc(tokens, func(t token) bool { return t.is("message", "msg", "saying", "-m", "-am", "--message", ":") })
	if from < 0 {
		return none, none
	}
	to = from + 1
	for to < len(tokens) && tokens[to].is(":") {
		to++
	}
	if to < len(tokens) && tokens[to].quoted {
		return from, to
	}
	return from, none
}

// begins says whether tokens open a task of their own, or deny one.
func begins(tokens []token) bool {
	return len(tokens) > 0 && (tokens[0].isOneOf(verbs) || tokens[0].isOneOf(groups["deny"]) ||
		hasPrefix(tokens, []string{"do", "not"}) ||
		len(tokens) > 1 && tokens[0].is("git") && tokens[1].is("commit", "push", "checkout", "switch"))
}

// cost is the score lost to other tasks.
func (t task) cost(all []task, at int) int {
	cost := 0
	if at > 0 {
		cost += 20
	}
	others, rest := false, false
	for i, other := range all {
		switch {
		case i == at:
		case i == at-1 && len(other.tokens) == 1 && other.verb && needsObject(other.tokens[0]):
			// "find and fix X": the verbs share their object.
		case other.verb:
			others = true
		case i > at:
			rest = true
		}
	}
	if others {
		cost += 25
	}
	if rest {
		cost += 10
	}
	return cost
}

// needsObject says whether a verb alone is no task yet.
func needsObject(verb token) bool {
	f, _, ok := choose([]token{verb})
	return !ok || needsTarget(f.category, f.action)
}

// arrows cuts the "X->Y" of a rename into three.
func arrows(tokens []token) []token {
	if !tokens[0].is(rename) {
		return tokens
	}
	var cut []token
	for _, t := range tokens {
		for _, arrow := range []string{"->", "=>", "→"} {
			left, right, ok := strings.Cut(t.text, arrow)
			if !ok || t.quoted || left == "" || right == "" {
				continue
			}
			mid := t.start + len(left)
			cut = append(cut, token{text: left, key: strings.ToLower(left), start: t.start, end: mid},
				token{text: arrow, key: arrow, start: mid, end: mid + len(arrow)})
			t = token{text: right, key: strings.ToLower(right), start: mid + len(arrow), end: t.end, after: t.after}
			break
		}
		cut = append(cut, t)
	}
	return cut
}

// dropStart takes politeness off the front.
func dropStart(tokens []token) []token {
	for {
		n := 0
		for _, phrase := range greetings {
			if len(phrase) > n && hasPrefix(tokens, phrase) {
				n = len(phrase)
			}
		}
		if n == 0 {
			return tokens
		}
		tokens = tokens[n:]
	}
}

// dropEnd takes politeness off the end, and the places that mean everywhere.
func dropEnd(tokens []token) []token {
	for {
		n := 0
		for _, phrase := range farewells {
			rest := len(tokens) - len(phrase)
			if len(phrase) > n && rest > 0 && hasPrefix(tokens[rest:], phrase) && !tokens[rest-1].is("is", "are", "message") {
				n = len(phrase)
			}
		}
		if n == 0 {
			return tokens
		}
		tokens = tokens[:len(tokens)-n]
	}
}

func hasPrefix(tokens []token, phrase []string) bool {
	if len(tokens) < len(phrase) {
		return false
	}
	for i, w := range phrase {
		if !tokens[i].is(w) {
			return false
		}
	}
	return true
}
