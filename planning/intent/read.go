package intent

import (
	"fmt"
	"slices"
	"strings"

	"replan/planning/plan"
)

// reading is a form with its slots filled from the words.
type reading struct {
	form   form
	target phrase
	params map[string]phrase
	unread [][]token // words of the task that the form does not take
	vague  []string  // words with more than one meaning, a clause each
}

// phrase is a part of the words.
type phrase struct {
	tokens []token
	text   string
}

// read finds the form of one task, and fills its slots.
func read(words string, tokens []token) (reading, bool) {
	f, slots, ok := choose(direct(tokens))
	r := reading{form: f, params: map[string]phrase{}}
	for _, s := range slots {
		r.fill(words, s)
	}
	with, replaces := r.params["with"]
	switch texts := slices.Concat(r.target.tokens, with.tokens); {
	case !replaces:
	case len(r.target.tokens) > 1, len(with.tokens) > 1:
		r.vague = append(r.vague, "a text of several words belongs in quotes, and only one text is replaced at a time")
	case slices.ContainsFunc(texts, func(t token) bool { return t.is(characters...) }):
		r.vague = append(r.vague, "the words may mean characters: quote the text you mean")
	}
	return r, ok
}

// fill takes the tokens of one slot.
func (r *reading) fill(words string, s filled) {
	switch s.slot {
	case "_":
		r.unread = append(r.unread, s.tokens)
	case "message":
		message := s.tokens
		if message[0].quoted && len(message) > 1 { // it ends at its quote
			r.unread = append(r.unread, message[1:])
			message = message[:1]
		}
		r.params[s.slot] = cut(words, message)
	case "in":
		r.params[s.slot] = cut(words, trim(s.tokens))
	case "x":
		about := s.tokens
		if r.form.category == vcs || r.form.category == validate { // a flag says how it is to be done
			about = nil
			for i, t := range s.tokens {
				if isFlag(t) {
					r.unread = append(r.unread, s.tokens[i:i+1])
				} else {
					about = append(about, t)
				}
			}
		}
		r.target = r.name(words, about)
	default:
		r.params[s.slot] = r.name(words, s.tokens)
	}
}

// name trims the tokens of a slot. A place of one word at the end becomes the
// parameter in.
func (r *reading) name(words string, tokens []token) phrase {
	at := len(tokens) - 1
	for at > 0 && !tokens[at].is("in", "inside", "within", "under") {
		at--
	}
	if at > 0 {
		where := trim(tokens[at+1:])
		_, given := r.params["in"]
		isPlace := func() bool {
			named := tokens[len(tokens)-1].is("package", "folder", "directory", "file", "module")
			return named || looksLikeName(where[0]) || r.form.action == find && looksLikeName(tokens[0])
		}
		if !given && len(where) == 1 && isPlace() {
			r.params["in"], tokens = cut(words, where), tokens[:at]
		}
	}
	return cut(words, trim(tokens))
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

// score is the confidence of a reading by itself, in hundredths; see Parse.
func (r reading) score() int {
	if r.form.category == unknown {
		return 20
	}
	score := 60
	switch tokens := r.target.tokens; {
	case r.target.text == "" && needsTarget(r.form.category, r.form.action) && r.form.params["of"] == "":
		score -= 10
	case r.target.text == "", len(tokens) == 1 && looksLikeName(tokens[0]):
		score += 30
	case len(tokens) == 1:
		score += 25
	case len(tokens) > 4:
		score += 5
	case r.form.action == find:
		score += 20 // which searches for all of them
	default:
		score += 15
	}
	if r.form.action == rename && r.params["new_name"].text == "" {
		score -= 25
	}
	if slices.ContainsFunc([]string{"new_name", "from", "to", "with", "message"}, func(name string) bool { return r.params[name].text != "" }) {
		score += 5
	}
	switch {
	case len(r.unread)+len(r.vague) > 0 && !r.worded():
		score -= 25
	case len(r.unread) > 0:
		score -= 10
	}
	return score
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
		if p.text != "" || name == "with" && len(p.tokens) == 1 { // a replacement may be empty
			in.Params[name] = p.text
		}
	}
	return in
}

// changes reports whether the order changes files, and tests belong to it.
func (r reading) changes() bool { return r.form.category == modify || r.form.category == refactor }

// worded reports whether conditions belong to the subject of an intent: a
// question, or work for a model, which reads them.
func (r reading) worded() bool {
	_, replaces := r.params["with"]
	return r.form.category == explain || r.form.category == debug || modelWork[r.form.action] && !replaces
}

// covers reports whether a chain does the work of a later task, too: a change runs
// the tests.
func (r reading) covers(words string, later task) bool {
	t, ok := read(words, later.tokens)
	return ok && r.changes() && t.form.action == test && len(t.target.tokens)+len(t.unread)+len(t.params) == 0
}

// open lists the words that a chain would ignore but must not ignore, a clause
// each. at is the position of the reading's own task.
func (r reading) open(words string, all []task, at int) []string {
	clauses := slices.Clone(r.vague)
	for i, t := range all {
		switch {
		case i == at && !r.worded():
			clauses = append(clauses, r.ignored(words)...)
		case i == at, i > at && r.covers(words, t):
		case t.verb && !denies(t.tokens):
			text := plan.OneLine(cut(words, t.tokens).text, 60)
			clauses = append(clauses, fmt.Sprintf("the words also ask to %s, which is a task of its own: ask for one thing at a time", text))
		case t.verb || !r.worded():
			clauses = append(clauses, alsoSays(words, t.tokens))
		}
	}
	slices.Sort(clauses)
	return slices.Compact(clauses)
}

// ignored lists the words of the task itself that would be ignored: those that
// the form does not take, and conditions within a name.
func (r reading) ignored(words string) []string {
	var clauses []string
	for _, run := range r.unread {
		clauses = append(clauses, alsoSays(words, run))
	}
	binding, skipped := conditions, 0
	if r.form.action == find { // the text to search for may contain any other word
		binding, skipped = limits, 1
	}
	names := []phrase{r.target}
	for name, p := range r.params {
		if name != "message" {
			names = append(names, p)
		}
	}
	for _, p := range names {
		if len(p.tokens) > 1 && slices.ContainsFunc(p.tokens[skipped:], func(t token) bool { return t.is(binding...) }) {
			clauses = append(clauses, alsoSays(words, p.tokens))
		}
	}
	return clauses
}

// alsoSays is the clause for words that cannot be kept, from the condition in them.
func alsoSays(words string, tokens []token) string {
	if at := slices.IndexFunc(tokens, func(t token) bool { return t.is(conditions...) }); at > 0 {
		tokens = tokens[at:]
	}
	for len(tokens) > 1 && tokens[0].is("but", "and") {
		tokens = tokens[1:]
	}
	return fmt.Sprintf("the words also say \"%s\", which cannot be kept here", plan.OneLine(words[tokens[0].start:tokens[len(tokens)-1].end], 60))
}
