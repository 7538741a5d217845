package intent

import (
	"fmt"
	"slices"
	"strings"

	"replan/planning/plan"
)

// formMatch is a form with its slots filled from the words.
type formMatch struct {
	form   form
	target phrase
	params map[string]phrase
	kinds  []string // of symbols
	unread bool     // words of the task are not read, which a model may
	tasks  bool     // there is more to do
	open   []string // what the chain would ignore but must not ignore, a clause each
}

// phrase is a part of the words.
type phrase struct {
	tokens []token
	text   string
}

// read finds the form of one task, and fills its slots. A condition is left unread,
// except in questions and in work for a model, which read it.
func read(words string, tokens []token) (formMatch, bool) {
	if r, ok := shellCommand(words, tokens); ok {
		return r, true
	}
	tokens = direct(tokens)
	f, slots, ok := choose(tokens)
	r := formMatch{form: f, params: map[string]phrase{}}
	if at := condition(f.action, tokens); at > 0 && !f.worded() {
		if shorter, before, fits := choose(dropPhrases(tokens[:at], farewells, true)); fits && !shorter.worded() {
			r.form, slots, ok = shorter, before, true
			r.ignore(words, tokens[at:])
		}
	}
	for _, s := range slots {
		r.fill(words, s)
	}
	r.askDropped(words, slots)
	r.kinds = kindsIn(tokens)
	with, replaces := r.params["with"]
	switch texts := slices.Concat(r.target.tokens, with.tokens); {
	case !replaces:
	case len(r.target.tokens) > 1, len(with.tokens) > 1:
		r.open = append(r.open, "put a text of several words in quotes, and replace one text at a time")
	case slices.ContainsFunc(texts, func(t token) bool { return t.is(characters...) }):
		r.open = append(r.open, "the words may mean characters: quote the text you mean")
	}
	return r, ok
}

// kindsIn are the kinds of symbols that the words before a place name. A function may be a
// method, too.
func kindsIn(tokens []token) (kinds []string) {
	for _, t := range tokens {
		if t.is("in", "of") && len(kinds) > 0 {
			break
		}
		for _, kind := range kindWords[t.key] {
			if kinds = append(kinds, kind); kind == "function" {
				kinds = append(kinds, "method", "constructor")
			}
		}
	}
	return slices.Compact(kinds)
}

// condition is the position of the first condition of a task; 0 if there is none.
func condition(action string, tokens []token) int {
	binding := conditions
	if action == find {
		binding = limits
	}
	for i := 2; i < len(tokens); i++ {
		if tokens[i].is(binding...) {
			return i
		}
	}
	return 0
}

// ignore notes words that the form does not take. A model reads them in a question
// and in its own work; a refusal holds there, too.
func (r *formMatch) ignore(words string, tokens []token) {
	r.unread = true
	refuses := denies(tokens)
	for len(tokens) > 1 && tokens[0].is("but", "and") {
		tokens = tokens[1:]
	}
	if refuses || !r.form.worded() {
		r.open = append(r.open, fmt.Sprintf("no built-in tool can follow \"%s\": leave it out, or let a model plan", plan.OneLine(cut(words, tokens).text, 60)))
	}
}

// setRest notes the words after the task. A change runs the tests, so those may follow.
func (r *formMatch) setRest(words string, first, rest []token) {
	if len(rest) == 0 {
		return
	}
	t, ok := read(words, rest)
	category := r.form.category()
	switch {
	case ok && (category == modify || category == refactor) && t.form.action == test && len(t.target.tokens)+len(t.open)+len(t.params) == 0:
		r.params["tests"] = phrase{text: "true"}
	case begins(rest) && !denies(rest):
		r.tasks = true
		r.open = append(r.open, fmt.Sprintf("this is more than one task: give \"%s\" first, then \"%s\"",
			plan.OneLine(cut(words, first).text, 60), plan.OneLine(cut(words, rest).text, 60)))
	default:
		r.tasks = true
		r.ignore(words, rest)
	}
}

// fill takes the tokens of one slot.
func (r *formMatch) fill(words string, s filledSlot) {
	switch s.slot {
	case "_":
		r.ignore(words, s.tokens)
	case "message":
		message := s.tokens
		if message[0].quoted && len(message) > 1 { // it ends at its quote
			r.ignore(words, message[1:])
			message = message[:1]
		}
		r.params[s.slot] = cut(words, message)
	case "text":
		p := cut(words, s.tokens)
		if last := s.tokens[len(s.tokens)-1]; !last.quoted {
			p.text = words[s.tokens[0].start:last.end] + strings.TrimSuffix(last.after, ".")
		}
		r.params[s.slot] = p
	case "x":
		about := s.tokens
		if category := r.form.category(); category == vcs || category == validate { // a flag says how it is to be done
			about = nil
			for i, t := range s.tokens {
				if isFlag(t) {
					r.ignore(words, s.tokens[i:i+1])
				} else {
					about = append(about, t)
				}
			}
		}
		r.target = r.name(words, about)
		if file, line, ok := strings.Cut(r.target.text, ":"); ok && r.form.action == blame && isCount(line) { // a.go:12
			r.target.text, r.params["line"] = file, phrase{text: line}
		}
	case "in":
		r.params[s.slot] = cut(words, trim(s.tokens))
	default:
		r.params[s.slot] = r.name(words, s.tokens)
	}
}

// name trims the tokens of a slot. A place of one word at the end becomes the
// parameter in; whether there is such a place, the workspace says.
func (r *formMatch) name(words string, tokens []token) phrase {
	at := len(tokens) - 1
	for at > 0 && !tokens[at].is("in", "inside", "within", "under") {
		at--
	}
	if at > 0 {
		where := trim(tokens[at+1:])
		if _, given := r.params["in"]; !given && len(where) == 1 {
			r.params["in"], tokens = cut(words, where), tokens[:at]
		}
	}
	if member, ok := memberOf(trim(tokens)); ok {
		return member
	}
	return cut(words, trim(tokens))
}

// memberOf reads "field X of the struct Y" as Y.X. ok is false if the words are about
// anything else.
func memberOf(tokens []token) (member phrase, ok bool) {
	of := slices.IndexFunc(tokens, func(t token) bool { return t.is("of") })
	if of < 1 || of == len(tokens)-1 || !tokens[0].is(kinds...) && !tokens[0].is(holders...) {
		return phrase{}, false
	}
	inner, outer := trim(tokens[:of]), trim(tokens[of+1:])
	if len(inner) != 1 || len(outer) != 1 || !identifier.MatchString(cut("", inner).text) || !identifier.MatchString(outer[0].text) {
		return phrase{}, false
	}
	t := inner[0]
	t.text = outer[0].text + "." + cut("", inner).text
	return phrase{[]token{t}, t.text}, true
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

// named are the words that the form takes for names or texts. Of a search "the tests" name
// nothing, nor does a command.
func (r formMatch) named() []token {
	if r.form.action == find && len(r.target.tokens) == 1 && r.target.tokens[0].is("tests") {
		return nil
	}
	named := slices.Clone(r.target.tokens)
	for slot, p := range r.params {
		if slot != "command" {
			named = append(named, p.tokens...)
		}
	}
	return named
}

// score is the confidence of a reading, in hundredths; see Parse.
func (r formMatch) score() int {
	score := 90
	switch tokens := r.target.tokens; {
	case r.target.text == "":
		if chains[r.form.action].ask != "" && r.form.params["of"] == "" {
			score -= 25
		}
	case r.form.action == debug && reportedByTests(r.target.text): // the tests say what it is
	case r.form.params["exact"] != "":
	case len(tokens) == 1 && !looksLikeName(tokens[0]):
		score -= 5
	case len(tokens) > 4:
		score -= 25
	case len(tokens) > 1 && r.form.action == find:
		score -= 10 // which searches for all of them
	case len(tokens) > 1:
		score -= 15
	}
	if r.unread && r.form.worded() {
		score -= 10
	}
	if r.tasks || len(r.open) > 0 {
		score -= 25
	}
	return score
}

// unmet lists what the chain would ignore but must not ignore, a clause each.
func (r formMatch) unmet() []string { return r.open }

// intent is the intent of a reading.
func (r formMatch) intent(score int) Intent {
	in := Intent{
		Category: r.form.category(), Action: r.form.action, Target: r.target.text,
		Params: map[string]string{}, Confidence: float64(score) / 100,
	}
	for name, value := range r.form.params {
		in.Params[name] = value
	}
	if tokens := r.target.tokens; (r.form.action == find || r.form.action == explain) && len(tokens) == 1 && tokens[0].quoted && strings.ContainsAny(tokens[0].text, " \t") {
		in.Params["exact"] = "true"
	}
	if text := r.params["text"].tokens; len(text) == 1 && text[0].quoted {
		in.Params["exact"] = "true"
	}
	if r.form.action == symbols && len(r.kinds) > 0 {
		in.Params["kinds"] = strings.Join(r.kinds, " ")
	}
	for name, p := range r.params {
		if p.text != "" || name == "with" && len(p.tokens) == 1 { // a replacement may be empty
			in.Params[name] = p.text
		}
	}
	return in
}
