package intent

import (
	"slices"
	"strings"
)

// form is one way to say an intent, written as words:
//
//	find|locate      one of these words; articles before it are passed over
//	$bug             one of a group of words
//	[…]              may be missing
//	<x>              the target, one word or more
//	<new_name>       a parameter
//	<x:path>         one word of a kind
//	<_>              words that are left over
type form struct {
	category, action string
	weak             bool // its words have other meanings too
	elements         []element
	params           map[string]string // implied by the form itself
}

type element struct {
	words    []string // the words, one of which stands here
	slot     string   // else the name of the slot
	only     string   // the kind of word it takes
	optional bool
}

// compile reads the text of a form.
func compile(text string) []element {
	var elements []element
	for _, part := range strings.Fields(text) {
		var e element
		if inner, ok := strings.CutPrefix(part, "["); ok {
			part, e.optional = strings.TrimSuffix(inner, "]"), true
		}
		if inner, ok := strings.CutPrefix(part, "<"); ok {
			e.slot, e.only, _ = strings.Cut(strings.TrimSuffix(inner, ">"), ":")
		} else {
			for _, w := range strings.Split(part, "|") {
				if group, ok := strings.CutPrefix(w, "$"); ok {
					e.words = append(e.words, groups[group]...)
				} else {
					e.words = append(e.words, w)
				}
			}
		}
		elements = append(elements, e)
	}
	return elements
}

// taken is the content of one slot.
type taken struct {
	slot   string
	tokens []token
}

// match fits all tokens to the elements. Slots take as few tokens as they can.
// There are at most maxWords tokens and three slots, which bounds the search.
func match(elements []element, tokens []token) (spelled int, slots []taken, ok bool) {
	if len(elements) == 0 {
		return 0, nil, len(tokens) == 0
	}
	e, rest := elements[0], elements[1:]
	if e.slot != "" {
		n := 1
		if len(rest) == 0 && e.only == "" {
			n = max(1, len(tokens)) // nothing else can take the last of them
		}
		for ; n <= len(tokens); n++ {
			if !fits(e.only, tokens[:n]) {
				continue
			}
			if spelled, slots, ok = match(rest, tokens[n:]); ok {
				return spelled, append(slots, taken{e.slot, tokens[:n]}), true
			}
		}
	} else if at := skip(e.words, tokens); at >= 0 {
		if spelled, slots, ok = match(rest, tokens[at+1:]); ok {
			return spelled + at + 1, slots, true
		}
	}
	if e.optional {
		return match(rest, tokens)
	}
	return 0, nil, false
}

// skip finds one of the words at the front, behind articles; else it is below 0.
func skip(words []string, tokens []token) int {
	for i, t := range tokens {
		if t.isOneOf(words) {
			return i
		}
		if !t.isOneOf(articles) && !t.is(":") {
			break
		}
	}
	return -1
}

// fits says whether tokens are of the kind that a slot takes.
func fits(only string, tokens []token) bool {
	if only == "" {
		return true
	}
	trimmed, _ := trim(tokens)
	if only == "plain" {
		return !slices.ContainsFunc(trimmed, looksLikeName)
	}
	if len(trimmed) != 1 {
		return false
	}
	t := trimmed[0]
	switch only {
	case "path":
		return t.quoted || strings.ContainsAny(t.text, "/.") || t.text == strings.ToUpper(t.text)
	case "file":
		return isPath(t.text) && isFile(t.text)
	case "remote":
		return t.is("origin", "upstream", "remote", "github", "gitlab", "main", "master")
	case "test":
		return strings.Contains(t.text, "_test") || strings.HasPrefix(t.text, "test_") || hasTestName(t.text)
	case "name":
		return looksLikeName(t)
	case "staging":
		return t.is("staged", "unstaged", "cached", "--staged", "--cached")
	case "number":
		return strings.Trim(t.text, "0123456789") == "" && len(t.text) <= 4
	case "quoted":
		return t.quoted
	case "sentence":
		return t.quoted && strings.Contains(t.text, " ")
	default: // "one"
		return true
	}
}

// hasTestName says whether a name is that of a test in Go.
func hasTestName(name string) bool {
	for _, kind := range []string{"Test", "Benchmark", "Fuzz", "Example"} {
		if rest, ok := strings.CutPrefix(name, kind); ok && rest != "" && rest == strings.TrimLeft(rest, lowercase) {
			return true
		}
	}
	return false
}

const lowercase = "abcdefghijklmnopqrstuvwxyz"

// choose finds the form that spells out most of the tokens. Of equals it takes the
// plainer one, then the first. Forms that begin with a slot are the last resort.
func choose(tokens []token) (form, []taken, bool) {
	var chosen form
	var slots []taken
	best := 0
	for _, f := range forms() {
		loose := f.elements[0].slot != ""
		if loose && (best > 0 || begins(tokens) || tokens[0].isOneOf(questions)) {
			continue
		}
		spelled, got, ok := match(f.elements, tokens)
		if !ok {
			continue
		}
		rank := 2 * spelled
		if !f.weak {
			rank++
		}
		if rank > best {
			chosen, slots, best = f, got, rank
		}
	}
	return chosen, slots, best > 0
}

// direct turns "tell me where X is" into "where X is".
func direct(tokens []token) []token {
	for i, t := range tokens {
		if t.isOneOf(questions) {
			return tokens[i:]
		}
		if !t.isOneOf(asking) && !t.isOneOf(articles) {
			break
		}
	}
	return tokens
}
