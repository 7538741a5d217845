package intent

import (
	"slices"
	"strings"

	"replan/internal/lazyregexp"
)

// form is one way to express an intent.
type form struct {
	action   string
	elements []element
	params   map[string]string // implied by the form
}

// category is that of the form's action.
func (f form) category() string { return chains[f.action].category }

// worded reports whether conditions belong to the subject of a form: a question, or
// work for a model, which reads them.
func (f form) worded() bool {
	replaces := slices.ContainsFunc(f.elements, func(e element) bool { return e.slot == "with" })
	return f.action == explain || f.action == debug || IsModelWork(f.action) && !replaces && f.params["remove"] == "" && f.params["of"] == ""
}

// element is one part of a form.
type element struct {
	words    []string // the words, one of which stands here
	slot     string   // or the name of the slot
	kind     string   // the kind of words that the slot takes
	optional bool
}

// compile reads the text of a form:
//
//	find|locate      one of these words; articles before it are skipped
//	$bug             one of a group of words
//	[…]              optional
//	<x>              the target, one word or more
//	<new_name>       a parameter
//	<x:path>         words of one kind
//	<_>              words that are left over
func compile(text string) []element {
	var elements []element
	for _, part := range strings.Fields(text) {
		var e element
		if inner, ok := strings.CutPrefix(part, "["); ok {
			part, e.optional = strings.TrimSuffix(inner, "]"), true
		}
		if inner, ok := strings.CutPrefix(part, "<"); ok {
			e.slot, e.kind, _ = strings.Cut(strings.TrimSuffix(inner, ">"), ":")
		} else {
			for w := range strings.SplitSeq(part, "|") {
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

// filledSlot is a slot with its tokens.
type filledSlot struct {
	slot   string
	tokens []token
}

// match fits all tokens to the elements. Slots take as few tokens as they can.
// There are at most maxWords tokens and three slots, which bounds the search.
func match(elements []element, tokens []token) (spelled int, slots []filledSlot, ok bool) {
	if len(elements) == 0 {
		return 0, nil, len(tokens) == 0
	}
	e, rest := elements[0], elements[1:]
	if e.slot != "" {
		for n := 1; n <= len(tokens); n++ {
			if !fits(e.kind, tokens[:n]) {
				continue
			}
			if spelled, slots, ok = match(rest, tokens[n:]); ok {
				return spelled, append(slots, filledSlot{e.slot, tokens[:n]}), true
			}
		}
	} else if at := slices.IndexFunc(tokens, func(t token) bool { return t.is(e.words...) || !t.is(articles...) }); at >= 0 && tokens[at].is(e.words...) {
		if spelled, slots, ok = match(rest, tokens[at+1:]); ok {
			return spelled + at + 1, slots, true
		}
	}
	if e.optional {
		return match(rest, tokens)
	}
	return 0, nil, false
}

// fits reports whether tokens are of the kind that a slot takes.
func fits(kind string, tokens []token) bool {
	trimmed := trim(tokens)
	if fit, ok := phraseKinds[kind]; ok {
		return fit(tokens)
	}
	if kind == "" || len(trimmed) != 1 {
		return kind == ""
	}
	switch t := trimmed[0]; kind {
	case "path":
		return t.quoted || strings.ContainsAny(t.text, "/.") || t.text == strings.ToUpper(t.text)
	case "file":
		return (isPath(t.text) || t.quoted && strings.Contains(t.text, " ")) && isFile(t.text)
	case "commit":
		return !t.quoted && isCommit(t.text)
	case "folder":
		return !t.quoted && isFolder(t.text) && !t.is(plainWords...)
	case "name":
		return identifier.MatchString(symbolOf(t.text)) && mayBeName(t)
	case "count":
		return !t.quoted && isCount(t.text)
	case "place":
		return isPlace(t.text)
	case "remote":
		return t.is(remotes...)
	case "test":
		return strings.Contains(t.text, "_test") || strings.HasPrefix(t.text, "test_") || hasTestName(t.text)
	default: // "one"
		return true
	}
}

// phraseKinds are the kinds of words that may be several, or that no word may stand beside.
var phraseKinds = map[string]func([]token) bool{"day": isDay, "marks": areMarks, "dir": areFolderPath, "text": areText}

// mostText is of how many words a text without quotes is.
const mostText = 4

// areText reports whether tokens are a text as it stands: in quotes, or a few words that do
// not describe a text, as "a list of the functions" does.
func areText(tokens []token) bool {
	if tokens[0].quoted {
		return len(tokens) == 1
	}
	return len(tokens) <= mostText && !slices.ContainsFunc(tokens, func(t token) bool {
		return t.quoted || t.is(plainWords...) || t.is(articles...) || t.is(kinds...) || t.is(holders...) || t.is(joins...) || t.is(verbs...) ||
			t.is(groups["sort"]...) || t.is(groups["symbols"]...) || t.is(writings...)
	})
}

// areMarks reports whether tokens name marks of comments and nothing else.
func areMarks(tokens []token) bool {
	tokens = trim(tokens)
	return len(tokens) > 0 && marksIn(strings.Join(argvOf(tokens), " ")) != nil
}

// areFolderPath reports whether tokens are the path of a folder in another, without a word for
// its kind: a branch has a slash, too.
func areFolderPath(tokens []token) bool {
	if len(tokens) != 1 {
		return false
	}
	t := tokens[0]
	return !t.quoted && strings.Contains(t.text, "/") && isPath(t.text) && !isFile(t.text) && !isPattern(t.text)
}

// mayBeName reports whether a word may name something in code: it says nothing by itself.
func mayBeName(t token) bool {
	return looksLikeName(t) || !t.is(plainWords...) && !t.is(pronouns...) && !t.is(kinds...) && !t.is(holders...)
}

// isPlace reports whether a text is a file and a line: a.go:12.
func isPlace(text string) bool {
	file, line, _ := strings.Cut(text, ":")
	return isPath(file) && isFile(file) && isCount(line)
}

// dayPattern matches a date, or words for one.
var dayPattern = lazyregexp.New(`(?i)^(?:(?:last\s+)?(?:mon|tues|wednes|thurs|fri|satur|sun)day|yesterday|today|(?:last|this)\s+(?:week|month|year)|\d{1,3}\s+(?:hour|day|week|month|year)s?\s+ago|\d{4}-\d\d-\d\d)$`)

// isDay reports whether tokens name a day.
func isDay(tokens []token) bool {
	return len(tokens) <= 3 && dayPattern.MatchString(strings.Join(argvOf(tokens), " "))
}

// choose finds the form that spells out most of the tokens; of equals, the first.
// Forms that begin with a slot are the last resort.
func choose(tokens []token) (chosen form, slots []filledSlot, ok bool) {
	best := 0
	for _, f := range forms() {
		if f.elements[0].slot != "" && (best > 0 || begins(tokens) || tokens[0].is(questions...)) {
			continue
		}
		spelled, got, ok := match(f.elements, tokens)
		if ok && spelled > best {
			chosen, slots, best = f, got, spelled
		}
	}
	return chosen, slots, best > 0
}

// direct turns "tell me where X is" into "where X is".
func direct(tokens []token) []token {
	for i, t := range tokens {
		if t.is(questions...) {
			return tokens[i:]
		}
		if !t.is(asking...) && !t.is(articles...) {
			break
		}
	}
	return tokens
}

// trim removes articles from a name, and the word for its kind: "the file X" and
// "the X function" are X. A pronoun becomes empty.
func trim(tokens []token) []token {
	pointing := false
	for len(tokens) > 1 && tokens[0].is(articles...) {
		pointing = pointing || tokens[0].is("this", "that", "these", "those")
		tokens = tokens[1:]
	}
	isKind := func(kind, name token) bool { return kind.is(kinds...) || kind.is(holders...) && looksLikeName(name) }
	switch n := len(tokens); {
	case n == 0, n == 1 && (tokens[0].is(pronouns...) || pointing && (tokens[0].is(kinds...) || tokens[0].is(holders...))):
		return nil
	case n > 2 && tokens[n-2].is("called", "named"), n == 2 && isKind(tokens[0], tokens[1]):
		return tokens[n-1:]
	case n == 2 && isKind(tokens[1], tokens[0]):
		return tokens[:1]
	case n == 3 && tokens[0].is("test") && isKind(tokens[1], tokens[2]): // the test function TestMake
		return tokens[2:]
	default:
		return tokens
	}
}
