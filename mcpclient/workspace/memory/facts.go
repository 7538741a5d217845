package memory

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"replan/internal/lazyregexp"
	"replan/mcpclient/workspace/tree"
)

// fact is one bullet of the memory.
type fact struct {
	text     string // on one line, without its bullet and its date
	added    string // YYYY-MM-DD; empty if unknown
	bullet   string // the prefix of the text
	from, to int    // its first line, and the line after its last
}

// factList is the memory file: Markdown in which every bullet is a fact.
// Everything else belongs to the user and stays unchanged.
type factList struct {
	lines []string // including line ends
	end   string   // line end of added lines
	facts []fact
}

var (
	bulletForm = lazyregexp.New(`^\x{FEFF}?[ \t]*[-*+][ \t]+`)
	addedForm  = lazyregexp.New(`^(.*\S) \(added (\d{4}-\d{2}-\d{2})\)$`)
)

// readFacts finds the facts in a text. A bullet continues over the indented
// lines below it, as editors wrap them.
func readFacts(text string) factList {
	l := factList{lines: slices.Collect(strings.Lines(text)), end: "\n"}
	if tree.AllCRLF(text) {
		l.end = "\r\n"
	}
	continued := false
	for i, line := range l.lines {
		switch bullet := bulletForm.FindString(line); {
		case bullet != "":
			words := oneLine(line[len(bullet):])
			continued = saysSomething(words)
			if continued {
				l.facts = append(l.facts, fact{text: words, bullet: bullet, from: i, to: i + 1})
			}
		case continued && strings.TrimLeft(line, " \t") != line && strings.TrimSpace(line) != "":
			last := &l.facts[len(l.facts)-1]
			last.text, last.to = last.text+" "+oneLine(line), i+1
		default:
			continued = false
		}
	}
	for i, f := range l.facts {
		if parts := addedForm.FindStringSubmatch(f.text); parts != nil {
			l.facts[i].text, l.facts[i].added = parts[1], parts[2]
		}
	}
	return l
}

// write returns the text with one fact in place of old, which are facts of the
// list in their order. With an empty text it only removes old. If old is
// empty, it appends the fact.
func (l factList) write(old []fact, text, day string) string {
	line := text + " (added " + day + ")" + l.end
	var b strings.Builder
	at := 0
	for i, f := range old {
		b.WriteString(strings.Join(l.lines[at:f.from], ""))
		if i == 0 && text != "" {
			b.WriteString(f.bullet + line)
		}
		at = f.to
	}
	b.WriteString(strings.Join(l.lines[at:], ""))
	if len(old) > 0 || text == "" {
		return b.String()
	}
	if n := len(l.lines); n > 0 {
		last := l.lines[n-1]
		if !strings.HasSuffix(last, "\n") {
			b.WriteString(l.end)
		}
		follows := len(l.facts) > 0 && l.facts[len(l.facts)-1].to == n
		if !follows && strings.TrimSpace(last) != "" {
			b.WriteString(l.end)
		}
	}
	b.WriteString("- " + line)
	return b.String()
}

// same returns the facts with the same text, ignoring case, white space and
// the full stop.
func (l factList) same(text string) []fact {
	var found []fact
	for _, f := range l.facts {
		if gist(f.text) == gist(text) {
			found = append(found, f)
		}
	}
	return found
}

// about returns the facts that share words with the query. Facts with the most
// and rarest words come first, and newer facts first among equals. A query
// without words returns all facts in their order.
func (l factList) about(query string) []fact {
	asked := words(query)
	slices.Sort(asked)
	asked = slices.Compact(asked)
	if len(asked) == 0 {
		return l.facts
	}
	type scored struct {
		fact
		score float64
	}
	all := make([]scored, len(l.facts))
	factWords := make([][]string, len(l.facts))
	for i, f := range l.facts {
		all[i].fact, factWords[i] = f, words(f.text)
	}
	for _, word := range asked {
		var holders []int
		for i := range all {
			if slices.ContainsFunc(factWords[i], func(w string) bool { return alike(w, word) }) {
				holders = append(holders, i)
			}
		}
		for _, i := range holders {
			all[i].score += 1 / float64(len(holders))
		}
	}
	all = slices.DeleteFunc(all, func(s scored) bool { return s.score == 0 })
	slices.SortFunc(all, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.from, a.from))
	})
	found := make([]fact, len(all))
	for i, s := range all {
		found[i] = s.fact
	}
	return found
}

// alike reports whether two words are equal, or are forms of one word in that
// one is a prefix of the other.
func alike(a, b string) bool {
	const stem = 3 // bytes; shorter words are prefixes of too many others
	if len(a) > len(b) {
		a, b = b, a
	}
	return a == b || len(a) >= stem && strings.HasPrefix(b, a)
}

// words returns the words of a text in lower case.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// gist returns a normalized text that is equal for texts that say the same.
func gist(text string) string {
	return strings.TrimRight(strings.ToLower(oneLine(text)), ".")
}

// oneLine replaces each run of white space by one blank.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// saysSomething reports whether a text contains a letter or a digit.
func saysSomething(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}
