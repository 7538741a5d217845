package intent

import (
	"regexp"
	"slices"
	"strings"

	"replan/internal/lazyregexp"
)

// ValueChange is a new value of something that has a name: a key of a configuration, a
// constant, a number in a text.
type ValueChange struct {
	Name string // its words: "timeout", "default port", "MAX_BEDS"
	From string // the value that it has now; "" if the goal does not say
	To   string // the new one; "" if another file has it
	In   []string
	Of   string // the file that has the new value; "" if To is it
}

// The forms of a goal that changes a value. A name has at most four words.
var (
	valueGoal = lazyregexp.New(`(?i)^(?:please\s+)?(?:change|set|update|bump|raise|lower|increase|decrease|reduce|switch)\s+(?:the\s+)?(?:value\s+of\s+)?(?:the\s+)?` +
		`(\S+(?:\s+\S+){0,3}?)(?:\s+(?:in|of)\s+(\S+))?(?:\s+from\s+(\S+))?\s+to\s+(?:be\s+)?(?:(the\s+one|that|the\s+(?:value|version|number|name))\s+(?:in|of|from)\s+(\S+)|(\S+))` +
		`((?:\s+(?:in|and)\s+.+)?)$`)
	// What may follow: where the value is, and a run of the tests.
	valueTests = lazyregexp.New(`(?i),?\s*(?:and|then)\s+(?:then\s+)?(?:run|rerun|check|verify|make\s+sure|ensure)\b.*\btests?\b.*$`)
	valuePlace = lazyregexp.New(`(?i)^\s*in\s+(?:both\s+|all\s+|each\s+|every\s+|the\s+|files?\s+|of\s+|in\s+|folder\s+|directory\s+|and\s+|also\s+|config\s+|configuration\s+|json\s+|,\s*|` + "`?[\\w./-]+`?,?\\s*" + `)*$`)
)

// ValueWanted reads a goal that only wants one value changed, and the tests run at most.
func ValueWanted(goal string) (v ValueChange, ok bool) {
	goal = strings.TrimRight(strings.TrimSpace(goal), ".! ")
	goal = goal[:len(goal)-len(valueTests.FindString(goal))]
	m := valueGoal.FindStringSubmatch(strings.TrimRight(goal, ".! "))
	if m == nil {
		return ValueChange{}, false
	}
	v = ValueChange{Name: bare(m[1]), From: bare(m[3]), To: bare(m[6]), Of: bare(m[5])}
	if m[2] != "" {
		v.In = append(v.In, bare(m[2]))
	}
	if rest := m[7]; rest != "" && !valuePlace.MatchString(rest) {
		return ValueChange{}, false
	}
	for _, t := range split(m[7], maxWords) {
		if isFile(t.text) {
			v.In = append(v.In, t.text)
		}
	}
	return v, v.Name != "" && !slices.ContainsFunc(strings.Fields(strings.ToLower(v.Name)), func(w string) bool {
		return slices.Contains([]string{"and", "from", "to", "all", "every", "each", "function", "method", "class", "type", "file", "it", "this"}, w)
	})
}

// bare returns a word of a goal without quotes and the marks of a sentence.
func bare(word string) string { return strings.Trim(strings.TrimSpace(word), "`\"',;") }

// assignment matches a line that gives a name a value: the name, what stands between, and
// the value with its quotes.
var assignment = lazyregexp.New(`^(\s*(?:(?:export|const|var|let|static|final|public|private|pub|val|#define|set)\s+)*["']?([A-Za-z_][\w.-]*)["']?(?:\s*:?\s*[A-Za-z_][\w.<>\[\]]*)?\s*(?:=|:=|:|\s)\s*)("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s,;#'"]+)`)

// place is where a text has the value.
type place struct {
	line       string
	start, end int // of the value in the line, without quotes
}

// places returns the lines of a text that assign the name a value.
func (v ValueChange) places(text string) (found []place) {
	for line := range strings.SplitSeq(text, "\n") {
		m := assignment.FindStringSubmatchIndex(line)
		if m == nil || plainName(line[m[4]:m[5]]) != plainName(v.Name) {
			continue
		}
		p := place{line, m[6], m[7]}
		if quote := line[p.start]; quote == '"' || quote == '\'' {
			p.start, p.end = p.start+1, p.end-1
		}
		found = append(found, p)
	}
	return found
}

// plainName is a name as people say it: without case and signs.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' || r == '.' {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

// Value returns the value that a text gives the name, if exactly one line does.
func (v ValueChange) Value(text string) (string, bool) {
	found := v.places(text)
	if len(found) != 1 {
		return "", false
	}
	return found[0].line[found[0].start:found[0].end], true
}

// Patch returns the line of a text that has the old value, and the line with the new one.
// ok is false unless exactly one place can be meant. Where the goal names the old value, it
// may stand in prose.
func (v ValueChange) Patch(text string) (old, new string, ok bool) {
	found := v.places(text)
	if v.From != "" {
		found = slices.DeleteFunc(found, func(p place) bool { return p.line[p.start:p.end] != v.From })
		if len(found) == 0 {
			found = spoken(text, v.From)
		}
	}
	if len(found) != 1 || strings.Count(text, found[0].line) != 1 || v.To == "" {
		return "", "", false
	}
	p := found[0]
	return p.line, p.line[:p.start] + v.To + p.line[p.end:], p.line[p.start:p.end] != v.To
}

// spoken returns the places where a value stands in a text as a word of its own.
func spoken(text, value string) (found []place) {
	word := regexp.MustCompile(`(?:^|[^\w.-])(` + regexp.QuoteMeta(value) + `)(?:$|[^\w-])`)
	for line := range strings.SplitSeq(text, "\n") {
		for _, m := range word.FindAllStringSubmatchIndex(line, -1) {
			found = append(found, place{line, m[2], m[3]})
		}
	}
	return found
}
