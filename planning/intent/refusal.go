package intent

import (
	"slices"
	"strings"
	"sync"

	"replan/internal/english"
	"replan/planning/plan"
)

// Refusal says that words are not understood, and which orders are near to them.
type Refusal struct {
	Text string   // a sentence, or two
	Near []string // orders that are understood, the nearest first

	Final bool // no model could do it either
}

// Refuse returns the refusal of words that have no chain, or one that is not certain.
func (f Facts) Refuse(words string) Refusal {
	first, _ := tasks(split(words, maxWords+1))
	if text := beyond(first); text != "" {
		return Refusal{Text: text, Final: true}
	}
	r := Refusal{Text: "I do not understand \"" + plan.OneLine(words, 80) + "\".", Near: f.near(words)}
	if in := Parse(words); IsModelWork(in.Action) {
		work := strings.ToLower(works[in.Action].title)
		if in.Action == create {
			work = "write"
		}
		r.Text = "Only a model can " + work + " code."
		if name := newFile(first); name != "" {
			r.Text = "Only a model can write that text. In quotes it goes into " + name + " as it stands; the order below leaves it out."
		}
	}
	if len(r.Near) > 0 {
		r.Text += " " + DidYouMean(r.Near)
	}
	return r
}

// newFile is the file that words create with more than a text as it stands; "" for all others.
func newFile(first []token) string {
	_, slots, _ := match(compile("create|make|add|write [new] file [called|named] <x:file> <_>"), first)
	for _, s := range slots {
		if s.slot == "x" {
			return plan.OneLine(trim(s.tokens)[0].text, 60)
		}
	}
	return ""
}

// DidYouMean asks which of the orders near to words was meant. Without orders, it is what
// stands before a list of them.
func DidYouMean(near []string) string {
	const question = "Did you mean:"
	if len(near) == 0 {
		return question
	}
	return question + " " + strings.Join(near, ", or ") + "?"
}

// Undoes reports whether a goal is nothing but the word undo: it wants the changes of the last
// run undone.
func Undoes(goal string) bool { return isOnly(goal, "undo") }

// Redoes reports whether a goal is nothing but the word redo: it wants the last undo taken back.
func Redoes(goal string) bool { return isOnly(goal, "redo") }

// isOnly reports whether a goal is nothing but a word, or that word and "it".
func isOnly(goal, word string) bool {
	first, rest := tasks(split(goal, maxWords))
	return len(rest) == 0 && len(first) > 0 && first[0].is(word) && (len(first) == 1 || len(first) == 2 && first[1].is("it", "that", "everything"))
}

// beyond answers orders that no chain carries out, and no model should; "" for all others.
func beyond(tokens []token) string {
	switch {
	case len(tokens) == 0:
		return ""
	case tokens[0].is("undo"):
		return "To undo what the last run changed, use the command undo: `replan undo`, or /undo on the screen."
	case tokens[0].is("help") && len(tokens) == 1:
		return "Type what you want done, in a few words. Without a model: find X, what is X, where is X used, list functions, show FILE, who wrote FILE, " +
			"rename X to Y, run the tests, build, commit. On the screen ? lists the keys and /help the commands; `replan --help` lists those of the shell."
	case tokens[0].is("redo"):
		return "To take an undo back, use the command redo: `replan redo`, or /redo on the screen."
	default:
		return ""
	}
}

// grammarWords are the words that forms spell out, and the programs whose commands are read.
var grammarWords = sync.OnceValue(func() []string {
	words := slices.Concat(searchers, runners, articles, strings.Fields("tree cat blame undo redo help"))
	for _, f := range forms() {
		for _, e := range f.elements {
			words = append(words, e.words...)
		}
	}
	words = slices.DeleteFunc(words, func(w string) bool { return len(w) < 3 })
	slices.Sort(words)
	return slices.Compact(words)
})

// mostNear is how many near orders are named, and mostMisspelled how many misspelled words
// one of them corrects.
const (
	mostNear       = 3
	mostMisspelled = 3
)

// near returns the orders that words become where misspelled words of the grammar are
// corrected, or that come closest to what the words are about.
func (f Facts) near(words string) []string {
	tokens := split(words, maxWords+1)
	if corrected := f.correction(words, tokens); corrected != "" {
		return []string{corrected}
	}
	first, _ := tasks(tokens)
	var near []string
	for _, o := range others {
		if _, slots, ok := match(compile(o.form), first); ok {
			order := o.instead
			for _, s := range slots {
				order = strings.ReplaceAll(order, "<"+s.slot+">", cut(words, trim(s.tokens)).text)
			}
			if f.understands(order) && !slices.Contains(near, order) {
				near = append(near, order)
			}
		}
	}
	if in := Parse(words); len(near) == 0 {
		if order := in.nearest(); f.understands(order) && order != words {
			near = append(near, order)
		}
	}
	return near[:min(len(near), mostNear)]
}

// others are forms that are not understood, and the orders nearest to them.
var others = []struct{ form, instead string }{
	{"move <x:one> to|into <_>", "find where <x> is defined"},
	{"move <x:one> to|into <_>", "where is <x> used"},
	{"where|which|what <x:one>", "find <x>"},
	{"definition|declaration <x:one>", "find where <x> is defined"},
	{"usages|uses|references|callers <x:one>", "where is <x> used"},
	{"who|what depends on <x:one>", "where is <x> used"},
	{"delete|remove <x:name>", "where is <x> used"},
	{"create|make|add|write [new] file [called|named] <x:file> <_>", "create a file <x>"},
	{"search <x:one>", "find <x>"},
	{"write|add docs|documentation <_>", "find README"},
}

// reading is a reading of words so far: their text, and where words in it are corrected.
type reading struct {
	text      string
	corrected []int // the position of each
}

// correction is the first reading of the words in which misspelled words of the grammar are
// corrected, and that is understood; "" if there is none. A name is none of these words, and
// stays as the user wrote it.
func (f Facts) correction(words string, tokens []token) string {
	readings := []reading{{}}
	at, fixed := 0, 0
	for _, t := range tokens {
		if t.quoted || len(t.key) < 3 || looksLikeName(t) || slices.Contains(grammarWords(), t.key) || t.is(plainWords...) {
			continue
		}
		candidates := spellings(t.key)
		if len(candidates) == 0 {
			continue
		}
		var longer []reading
		for _, r := range readings {
			text := r.text + words[at:t.start]
			for _, word := range candidates {
				longer = append(longer, reading{text + word, append(slices.Clone(r.corrected), len(text))})
			}
			longer = append(longer, reading{text + words[t.start:t.end], r.corrected})
		}
		readings, at = longer, t.end
		if fixed++; fixed > mostMisspelled {
			return ""
		}
	}
	for _, r := range readings {
		if r.text += words[at:]; len(r.corrected) > 0 && r.keepsNames() && f.understands(r.text) {
			return r.text
		}
	}
	return ""
}

// keepsNames reports whether no corrected word is, or is part of, what the reading takes for a
// name.
func (r reading) keepsNames() bool {
	first, _ := tasks(split(r.text, maxWords+1))
	if len(first) == 0 {
		return false
	}
	m, _ := read(r.text, first)
	return !slices.ContainsFunc(m.named(), func(t token) bool { return slices.Contains(r.corrected, t.start) })
}

// spellings are the words of the grammar that a misspelled one may be, the nearest first, and
// among those as near the ones with its last letter: it tells "tests" from "test".
func spellings(word string) (candidates []string) {
	known := slices.Clone(grammarWords())
	last := word[len(word)-1]
	ends := func(known string) bool { return known[len(known)-1] == last }
	known = slices.Concat(slices.DeleteFunc(slices.Clone(known), func(w string) bool { return !ends(w) }), slices.DeleteFunc(known, ends))
	for len(candidates) < mostNear {
		nearest := english.Nearest(word, known)
		if nearest == "" {
			break
		}
		candidates = append(candidates, nearest)
		known = slices.DeleteFunc(known, func(w string) bool { return w == nearest })
	}
	return candidates
}

// understands reports whether words are an order that needs no model, in some project.
func (f Facts) understands(words string) bool {
	if words == "" {
		return false
	}
	if Undoes(words) || Redoes(words) || isOnly(words, "help") {
		return true
	}
	c := Facts{}.RouteWords(words, Policy{})
	return (c.Bound() || c.Intent.Category == project && !c.Empty()) && c.Confident() && !c.NeedsModel()
}
