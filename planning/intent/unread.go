package intent

import (
	"fmt"
	"slices"

	"replan/planning/plan"
)

// RouteWords maps words to the chain that carries them out in this workspace. If
// the words hold a condition or a second task, the chain lacks it: the chain
// shows the work, and cannot be run.
func (f Facts) RouteWords(words string, p Policy) (Chain, error) {
	in, open := understand(words)
	c, err := f.Route(in, p)
	if err == nil && !c.Empty() {
		c.Missing = append(c.Missing, open...)
	}
	return c, err
}

// open lists the words a reading ignores but may not ignore, a clause each. at is
// the position of its own task.
func (r reading) open(words string, said []task, at int) []string {
	clauses := slices.Clone(r.vague)
	for i, t := range said {
		switch {
		case i == at:
			clauses = append(clauses, r.conditions(words)...)
		case i == at-1 && (r.placed || len(t.tokens) == 1 && t.verb && needsObject(t.tokens[0])):
			// "in a.go, rename X to Y", "find and fix X": both were read.
		case t.denies():
			clauses = append(clauses, alsoSays(words, t.tokens))
		case t.verb && !r.covers(words, t, i > at):
			text := plan.OneLine(cut(words, t.tokens).text, 60)
			clauses = append(clauses, fmt.Sprintf("the words also ask to %s, which is a task of its own: ask for one thing at a time", text))
		case !t.verb && !r.worded() && conditional(t.tokens):
			clauses = append(clauses, alsoSays(words, t.tokens))
		}
	}
	slices.Sort(clauses)
	return slices.Compact(clauses)
}

// covers reports whether a chain does the work of another task, too.
func (r reading) covers(words string, t task, after bool) bool {
	first, last := t.tokens[0], t.tokens[len(t.tokens)-1]
	changes := r.form.category == modify || r.form.category == refactor
	switch {
	case first.is("tell"): // every chain reports its results
		return true
	case !after:
		return false
	case changes && t.runsTests(words):
		return true
	default:
		return r.form.action == rename && first.is("update", "fix", "change", "adjust") && (last.isOneOf(groups["refs"]) || last.is("imports"))
	}
}

// denies reports whether a task says not to do something.
func (t task) denies() bool {
	return t.tokens[0].isOneOf(groups["deny"]) || hasPrefix(t.tokens, []string{"do", "not"})
}

// worded reports whether a condition in an intent belongs to its subject: a
// question, or work for a model, which reads it.
func (r reading) worded() bool {
	_, replaces := r.params["with"]
	return r.form.category == explain || r.form.category == debug || modelWork[r.form.action] && !replaces
}

// conditions lists limits of the task itself that were not read.
func (r reading) conditions(words string) []string {
	if r.worded() {
		return nil
	}
	var clauses []string
	for _, run := range r.unread {
		if r.form.category == navigate && !conditional(run) {
			continue // of a look only the limits count
		}
		clauses = append(clauses, alsoSays(words, run))
	}
	runs := [][]token{r.target.tokens}
	for name, p := range r.params {
		if name != "message" && name != "problem" {
			runs = append(runs, p.tokens)
		}
	}
	for _, run := range runs {
		is := conditional
		if r.form.action == find {
			is = limiting // the words searched for may include any other
		}
		if len(run) > 1 && is(run) {
			clauses = append(clauses, alsoSays(words, run))
		}
	}
	return clauses
}

// conditional reports whether tokens set a condition.
func conditional(tokens []token) bool {
	return slices.ContainsFunc(tokens, func(t token) bool { return t.isOneOf(conditions) })
}

// limiting reports whether tokens after the first limit it.
func limiting(tokens []token) bool {
	return slices.ContainsFunc(tokens[1:], func(t token) bool {
		return t.is("without", "except", "excluding", "unless", "only", "but", "outside")
	})
}

// alsoSays is the clause for words that cannot be kept, from where they begin to
// set a condition.
func alsoSays(words string, tokens []token) string {
	if at := slices.IndexFunc(tokens, func(t token) bool { return t.isOneOf(conditions) }); at > 0 {
		tokens = tokens[at:]
	}
	for len(tokens) > 1 && tokens[0].is("but", "and") {
		tokens = tokens[1:]
	}
	return fmt.Sprintf("the words also say \"%s\", which cannot be kept here", plan.OneLine(words[tokens[0].start:tokens[len(tokens)-1].end], 60))
}

// reason reports whether a token begins a reason, which changes nothing about the
// order before it.
func reason(t token) bool {
	return t.is("because", "since", "as", "so", "for", "using", "with", "to", "which", "that", "it", "its", "it's", "this", "i", "we", "they", "everywhere", "throughout", "across")
}

// leave keeps unread tokens. A reason is dropped, unless it sets a condition or
// names a place.
func (r *reading) leave(tokens []token) {
	if len(tokens) == 0 {
		return
	}
	place := tokens[0].is("everywhere", "throughout", "across") && len(tokens) > 1
	because := tokens[0].is("because", "since")
	if because || reason(tokens[0]) && !place && !conditional(tokens) {
		return
	}
	r.unread = append(r.unread, tokens)
}

// characters reports whether a word may mean characters instead of itself.
func characters(t token) bool {
	return t.is("tab", "tabs", "space", "spaces", "blank", "blanks", "newline", "newlines", "linebreaks", "whitespace", "quotes", "commas", "semicolons",
		"colons", "dots", "periods", "dashes", "hyphens", "underscores", "brackets", "braces", "parentheses", "digits", "numbers", "nothing")
}

// replacement reads the replacement of a text. A quoted one ends at its quote, and
// a place may follow; any other is one word.
func (r *reading) replacement(words string, tokens []token) phrase {
	if !tokens[0].quoted || len(tokens) == 1 {
		p := r.place(words, tokens)
		if len(p.tokens) > 1 {
			r.vague = append(r.vague, "the replacement has several words, and belongs in quotes")
		}
		return p
	}
	rest := tokens[1:]
	if where, _ := trim(rest[1:]); rest[0].is("in", "inside", "within", "under") && len(where) == 1 {
		if _, ok := r.params["in"]; !ok {
			r.params["in"] = cut(words, where)
			return cut(words, tokens[:1])
		}
	}
	r.leftover, r.limited = true, r.limited || conditional(rest)
	r.unread = append(r.unread, rest)
	return cut(words, tokens[:1])
}

// literal checks that target and replacement can be taken literally.
func (r *reading) literal() {
	with, replaces := r.params["with"]
	if !replaces || r.form.action != edit {
		return
	}
	about := r.target.tokens
	if len(about) > 1 && slices.ContainsFunc(about, func(t token) bool { return t.quoted }) {
		r.vague = append(r.vague, "the text to replace is partly in quotes, and only one text is replaced at a time")
	}
	for _, p := range []phrase{r.target, with} {
		if len(p.tokens) > 0 && characters(p.tokens[len(p.tokens)-1]) {
			r.limited = true
			r.vague = append(r.vague, fmt.Sprintf("%s may mean the characters or the word: quote the text you mean", plan.OneLine(p.text, 60)))
		}
	}
}

// before takes the place that stands before the task: "in a.go, rename X to Y".
func (r *reading) before(words string, t task) {
	if _, ok := r.params["in"]; ok || len(t.tokens) < 2 || !t.tokens[0].is("in", "inside", "within", "under") {
		return
	}
	if where, _ := trim(t.tokens[1:]); len(where) == 1 && looksLikeName(where[0]) {
		r.params["in"], r.placed = cut(words, where), true
	}
}
