package intent

import (
	"slices"
	"strings"
	"unicode"
)

// reading is a form with its slots filled from the words.
type reading struct {
	form     form
	target   phrase
	params   map[string]phrase
	leftover bool
	limited  bool // left-over words set a condition
	unmarked bool // the new name follows without a "to"
	placed   bool // its place was said before it
	unread   [][]token
	vague    []string // words with more than one meaning, a clause each
}

// phrase is a part of the words.
type phrase struct {
	tokens []token
	text   string
}

// read finds the form of one task, and its target.
func read(words string, tokens []token) (reading, bool) {
	tokens = direct(tokens)
	f, slots, ok := choose(tokens)
	if !ok {
		return reading{}, false
	}
	r := reading{form: f, params: map[string]phrase{}}
	for _, s := range slots {
		r.take(words, s)
	}
	if f.action == rename && len(r.target.tokens) == 1 && r.target.tokens[0].isOneOf(groups["arrow"]) {
		r.target = phrase{}
	}
	if _, ok := r.params["new_name"]; !ok && f.action == rename && len(r.target.tokens) == 2 {
		from, to := r.target.tokens[:1], r.target.tokens[1:]
		r.target = cut(words, from)
		if !to[0].isOneOf(groups["arrow"]) {
			r.params["new_name"], r.unmarked = cut(words, to), true
		}
	}
	r.literal()
	return r, true
}

// take reads the content of one slot.
func (r *reading) take(words string, s taken) {
	switch s.slot {
	case "_":
		r.leftover = true
		r.unread = append(r.unread, s.tokens)
	case "message":
		message := s.tokens
		for len(message) > 1 && message[0].is(":") {
			message = message[1:]
		}
		if message[0].quoted && len(message) > 1 { // it ends at its quote
			r.leftover, r.unread = true, append(r.unread, message[1:])
			message = message[:1]
		}
		r.params[s.slot] = cut(words, message)
	case "with":
		r.params[s.slot] = r.replacement(words, s.tokens)
	case "in":
		place, _ := trim(s.tokens)
		r.params[s.slot] = cut(words, place)
	case "x":
		about := s.tokens
		if r.form.category == vcs || r.form.category == validate {
			about = slices.DeleteFunc(slices.Clone(about), isFlag) // of a command line
			r.leftover = r.leftover || len(about) < len(s.tokens)
			r.flags(s.tokens)
		}
		r.target = r.place(words, about)
	case "new_name", "into":
		name := untilJoin(s.tokens)
		r.leftover = r.leftover || len(name) < len(s.tokens) && !s.tokens[len(name)].is("in", "inside", "within", "under")
		r.limited = r.limited || slices.ContainsFunc(s.tokens[len(name):], func(t token) bool { return t.isOneOf(conditions) })
		if len(name) == len(s.tokens) || r.leftover {
			r.leave(s.tokens[len(name):])
			r.params[s.slot] = r.place(words, name)
		} else {
			r.params[s.slot] = r.place(words, s.tokens)
		}
	default:
		r.params[s.slot] = r.place(words, s.tokens)
	}
}

// flags leaves the options of a command that changes something: they say how.
func (r *reading) flags(tokens []token) {
	for i, t := range tokens {
		if isFlag(t) && slices.Contains([]string{commit, push, branch}, r.form.action) {
			r.unread = append(r.unread, tokens[i:i+1])
		}
	}
}

// place trims a slot, and takes reasons and the place out of it.
func (r *reading) place(words string, tokens []token) phrase {
	for i, t := range tokens {
		if i > 0 && (t.is("because") || t.is("its", "it's") && looksLikeName(tokens[i-1]) || i+1 < len(tokens) && (t.is("so") && tokens[i+1].is("that") || t.is("in") && tokens[i+1].is("order"))) {
			tokens, r.leftover = tokens[:i], true
			break
		}
	}
	for i := len(tokens) - 1; i > 0; i-- {
		if !tokens[i].is("in", "inside", "within", "under") {
			continue
		}
		where, kind := trim(tokens[i+1:])
		kind = kind && slices.ContainsFunc(tokens[i+1:], func(t token) bool { return t.isOneOf(places) })
		searched := r.form.action == find && i == 1 && looksLikeName(tokens[0]) && isFolder(tokens[len(tokens)-1].text)
		if len(where) == 1 && (kind || searched || looksLikeName(where[0])) {
			if _, ok := r.params["in"]; !ok {
				r.params["in"] = cut(words, where)
				tokens = tokens[:i]
			}
		}
		break
	}
	trimmed, _ := trim(tokens)
	return cut(words, trimmed)
}

// untilJoin cuts off the words after a name: "to Y without touching Z".
func untilJoin(tokens []token) []token {
	for i, t := range tokens {
		if i == 0 {
			continue
		}
		if strings.Contains(tokens[i-1].after, ",") || t.is("because", "without", "so", "since", "in", "inside", "within", "under", "for", "across", "using", "when",
			"if", "as", "and", "but", "with", "to", "throughout", "everywhere", "where", "which", "that",
			"only", "unless", "except", "excluding", "not") {
			return tokens[:i]
		}
	}
	return tokens
}

// cut takes tokens out of the words. One that is quoted alone loses its quotes,
// and a name the brackets of a call.
func cut(words string, tokens []token) phrase {
	switch len(tokens) {
	case 0:
		return phrase{}
	case 1:
		text := tokens[0].text
		if name, ok := strings.CutSuffix(text, "()"); ok && name != "" && !tokens[0].quoted {
			text = name
		}
		return phrase{tokens, text}
	default:
		return phrase{tokens, words[tokens[0].start:tokens[len(tokens)-1].end]}
	}
}

// trim removes articles from a name, and the word for its kind. Nothing is left of
// a pronoun.
func trim(tokens []token) (trimmed []token, kind bool) {
	pointing := false
	for len(tokens) > 1 && (tokens[0].isOneOf(articles) || tokens[0].isOneOf(people) || tokens[0].is(":")) {
		pointing = pointing || tokens[0].is("this", "that", "these", "those")
		tokens = tokens[1:]
	}
	for len(tokens) > 1 && tokens[len(tokens)-1].isOneOf(fillers) {
		tokens = tokens[:len(tokens)-1]
	}
	if name := ofKind(tokens); name != nil {
		return name, true
	}
	if len(tokens) == 1 && (tokens[0].isOneOf(pronouns) || tokens[0].is(":") || pointing && isKind(tokens[0])) {
		return nil, false
	}
	return tokens, false
}

// ofKind finds the one name in "the file X", "the X function", "a type called X"
// and "the failing test X"; else it is nil.
func ofKind(tokens []token) []token {
	n := len(tokens)
	if n < 2 {
		return nil
	}
	first, before, last := tokens[0], tokens[n-2], tokens[n-1]
	switch {
	case n > 2 && before.is("called", "named"):
		return tokens[n-1:]
	case n > 2 && isKind(before) && looksLikeName(last) && !slices.ContainsFunc(tokens, isPreposition):
		return tokens[n-1:]
	case n > 2:
		return nil
	case first.isOneOf(kinds), (first.isOneOf(looseKinds) || first.isOneOf(holders)) && looksLikeName(last):
		return tokens[1:]
	case last.isOneOf(kinds), last.isOneOf(looseKinds), last.isOneOf(holders) && looksLikeName(first):
		return tokens[:1]
	default:
		return nil
	}
}

// isKind says whether a token names a kind of thing.
func isKind(t token) bool { return t.isOneOf(kinds) || t.isOneOf(looseKinds) || t.isOneOf(holders) }

func isPreposition(t token) bool {
	return t.is("of", "for", "to", "in", "with", "from", "by", "on", "and", "or", "at", "into", "as", "that", "which")
}

// isFlag says whether a token is an option of a command.
func isFlag(t token) bool { return !t.quoted && len(t.text) > 1 && t.text[0] == '-' }

// looksLikeName says whether a token can hardly be an ordinary word: it is
// quoted, or has a capital letter, a digit, or a sign inside.
func looksLikeName(t token) bool {
	if t.quoted {
		return true
	}
	return strings.ContainsFunc(t.text, func(r rune) bool {
		return unicode.IsUpper(r) || unicode.IsDigit(r) || strings.ContainsRune("_./\\:#*()-@$", r)
	})
}

// score is the confidence of a reading by itself, in hundredths; see Parse.
func (r reading) score() int {
	if r.form.category == unknown {
		return 20
	}
	score := 60
	if r.form.weak {
		score = 45
	}
	score += r.targetScore() + r.paramScore()
	switch {
	case r.limited:
		score -= 25
	case r.leftover:
		score -= 10
	}
	return score
}

// paramScore is the parameters' part of the score. The place and the problem add
// nothing.
func (r reading) paramScore() int {
	name := r.params["new_name"]
	switch {
	case r.form.action == rename && name.text == "":
		return -25
	case len(r.params["with"].tokens) > 1:
		return -25
	case r.form.action == rename && (r.unmarked || len(name.tokens) > 1):
		return -10
	case r.params["message"].text != "":
		return 5
	}
	for _, key := range []string{"new_name", "from", "into", "to", "with"} {
		if len(r.params[key].tokens) == 1 {
			return 5
		}
	}
	return 0
}

// targetScore is the target's part of the score.
func (r reading) targetScore() int {
	tokens := r.target.tokens
	several := len(tokens) > 1
	competing := 0
	if several && slices.ContainsFunc(tokens, func(t token) bool { return t.isOneOf(verbs) }) {
		competing = 5
	}
	switch {
	case memberOf.MatchString(r.target.text):
		return 30
	case r.target.text == "" && needsTarget(r.form.category, r.form.action) && r.form.params["of"] == "":
		return -10
	case r.target.text == "":
		return 30
	case !several && looksLikeName(tokens[0]):
		return 30
	case !several:
		return 25
	case len(tokens) <= 4 && r.form.action == find:
		return 20 - competing // which searches for all of them
	case len(tokens) <= 4:
		return 15 - competing
	default:
		return 5 - competing
	}
}

// intent is the intent of a reading.
func (r reading) intent(score int) Intent {
	in := Intent{
		Category: r.form.category, Action: r.form.action, Target: r.target.text,
		Params: map[string]string{}, Confidence: float64(score) / 100,
	}
	for name, value := range r.form.params {
		in.Params[name] = value
	}
	if tokens := r.target.tokens; (r.form.action == find || r.form.action == explain) && len(tokens) == 1 && tokens[0].quoted && strings.ContainsAny(tokens[0].text, " \t") {
		in.Params["exact"] = "true"
	}
	for name, p := range r.params {
		if p.text != "" || name == "with" && len(p.tokens) == 1 { // nothing may be put in its place
			in.Params[name] = p.text
		}
	}
	return in
}

// without returns the tasks, leaving out runs of the tests after a change: they
// are part of it. at is the position of the reading's own task in both lists.
func (r reading) without(words string, said []task, at int) (left []task, place int) {
	if r.form.category != modify && r.form.category != refactor {
		return said, at
	}
	for i, t := range said {
		if i <= at || !t.runsTests(words) {
			left = append(left, t)
		}
	}
	return left, at
}

// runsTests reports whether a task of the words is to run all tests and nothing else.
func (t task) runsTests(words string) bool {
	r, ok := read(words, t.tokens)
	return ok && r.form.category == validate && r.form.action == test && len(r.target.tokens) == 0 && !r.leftover && len(r.params) == 0
}
