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
	reason bool      // a reason follows, which is ignored
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
	r.checkReplacement()
	return r, ok
}

// fill takes the tokens of one slot.
func (r *reading) fill(words string, s filled) {
	switch s.slot {
	case "_":
		r.leave(s.tokens)
	case "message":
		message := s.tokens
		if message[0].quoted && len(message) > 1 { // it ends at its quote
			r.unread = append(r.unread, message[1:])
			message = message[:1]
		}
		r.params[s.slot] = cut(words, message)
	case "in":
		place, _ := trim(s.tokens)
		r.params[s.slot] = cut(words, place)
	case "x":
		about := s.tokens
		if r.form.category == vcs || r.form.category == validate {
			about = nil
			for i, t := range s.tokens {
				switch {
				case !isFlag(t):
					about = append(about, t)
				case slices.Contains([]string{commit, push, branch, test}, r.form.action): // how it is to be done
					r.unread = append(r.unread, s.tokens[i:i+1])
				}
			}
		}
		r.target = r.name(words, about)
	default:
		r.params[s.slot] = r.name(words, s.tokens)
	}
}

// leave keeps the words that the form does not take. A reason is ignored, unless it
// holds a condition.
func (r *reading) leave(tokens []token) {
	if tokens[0].is("because") && !conditional(tokens) {
		r.reason = true
	} else {
		r.unread = append(r.unread, tokens)
	}
}

// conditional reports whether tokens hold a condition.
func conditional(tokens []token) bool {
	return slices.ContainsFunc(tokens, func(t token) bool { return t.is(conditions...) })
}

// name trims the tokens of a slot. A reason at the end is ignored, and a place
// there becomes the parameter in.
func (r *reading) name(words string, tokens []token) phrase {
	if at := slices.IndexFunc(tokens, func(t token) bool { return t.is("because") }); at > 0 {
		r.leave(tokens[at:])
		tokens = tokens[:at]
	}
	for i := len(tokens) - 1; i > 0; i-- {
		if !tokens[i].is(within...) {
			continue
		}
		where, kind := trim(tokens[i+1:])
		kind = kind && slices.ContainsFunc(tokens[i+1:], func(t token) bool { return t.is(places...) })
		searched := r.form.action == find && i == 1 && looksLikeName(tokens[0])
		_, given := r.params["in"]
		if !given && len(where) == 1 && (kind || looksLikeName(where[0]) || searched && isFolder(where[0].text)) {
			r.params["in"], tokens = cut(words, where), tokens[:i]
		}
		break
	}
	trimmed, _ := trim(tokens)
	return cut(words, trimmed)
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

// checkReplacement checks that a text and its replacement can be taken literally.
func (r *reading) checkReplacement() {
	with, replaces := r.params["with"]
	if !replaces {
		return
	}
	if len(with.tokens) > 1 {
		r.vague = append(r.vague, "the replacement has several words, and belongs in quotes")
	}
	if len(r.target.tokens) > 1 && slices.ContainsFunc(r.target.tokens, func(t token) bool { return t.quoted }) {
		r.vague = append(r.vague, "the text to replace is partly in quotes, and only one text is replaced at a time")
	}
	for _, p := range []phrase{r.target, with} {
		if len(p.tokens) > 0 && p.tokens[len(p.tokens)-1].is(characters...) {
			r.vague = append(r.vague, fmt.Sprintf("%s may mean the characters or the word: quote the text you mean", plan.OneLine(p.text, 60)))
		}
	}
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
	switch name := r.params["new_name"]; {
	case r.form.action != rename:
	case name.text == "":
		score -= 25
	case len(name.tokens) > 1:
		score -= 10
	}
	for _, key := range []string{"new_name", "from", "into", "to", "with", "message"} {
		if len(r.params[key].tokens) == 1 || key == "message" && r.params[key].text != "" {
			score += 5
			break
		}
	}
	switch {
	case len(r.unread)+len(r.vague) > 0 && !r.worded():
		score -= 25
	case len(r.unread) > 0 || r.reason:
		score -= 10
	}
	return score
}

// cost is the confidence that a reading loses to the other tasks.
func (r reading) cost(words string, all []task, at int) int {
	cost := 0
	for i, other := range all {
		switch {
		case i == at || i > at && r.changes() && other.runsTests(words):
		case other.verb:
			cost = 25
		case i > at:
			cost = max(cost, 10)
		}
	}
	if at > 0 {
		cost += 20
	}
	return cost
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

// runsTests reports whether a task is to run all tests and nothing else.
func (t task) runsTests(words string) bool {
	r, ok := read(words, t.tokens)
	return ok && r.form.category == validate && r.form.action == test && len(r.target.tokens) == 0 && len(r.unread) == 0 && len(r.params) == 0
}

// open lists the words that a chain would ignore but must not ignore, a clause
// each. at is the position of the reading's own task.
func (r reading) open(words string, all []task, at int) []string {
	clauses := slices.Clone(r.vague)
	for i, t := range all {
		switch {
		case i == at:
			clauses = append(clauses, r.ignored(words)...)
		case r.covers(words, t, i > at):
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

// covers reports whether a chain does the work of another task, too: all report
// their results, a change runs the tests, and a rename updates the references.
func (r reading) covers(words string, t task, after bool) bool {
	return t.tokens[0].is("tell") || after && r.changes() && t.runsTests(words) ||
		after && r.form.action == rename && t.tokens[0].is("update", "fix", "change") && t.tokens[len(t.tokens)-1].is(groups["refs"]...)
}

// ignored lists the words of the task itself that would be ignored.
func (r reading) ignored(words string) []string {
	if r.worded() {
		return nil
	}
	var clauses []string
	for _, run := range r.unread {
		clauses = append(clauses, alsoSays(words, run))
	}
	runs := [][]token{r.target.tokens}
	for name, p := range r.params {
		if name != "message" && name != "problem" {
			runs = append(runs, p.tokens)
		}
	}
	for _, run := range runs {
		restricted := len(run) > 1 && conditional(run)
		if r.form.action == find { // the text to search for may contain any other word
			restricted = restricted && slices.ContainsFunc(run[1:], func(t token) bool { return t.is(limits...) })
		}
		if restricted {
			clauses = append(clauses, alsoSays(words, run))
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
