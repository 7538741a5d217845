package intent

import (
	"cmp"
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
	// The same said the other way round.
	insteadGoal = lazyregexp.New(`(?i)^(?:please\s+)?(?:(?:the\s+)?(\S+(?:\s+\S+){0,3}?)(?:\s+(in\s+\S.*?))?\s+(?:should|must|has\s+to|needs\s+to)\s+(?:now\s+)?be\s+([^\s,]+),?\s+(?:instead\s+of|not|rather\s+than)\s+([^\s,;]*[^\s,;.])` +
		`|(?:use|set)\s+(\S+)\s+instead\s+of\s+(\S+)\s+(?:as|for)\s+(?:the\s+)?(\S+(?:\s+\S+){0,3}?))` +
		`(?:[.,;]?\s+(?:(?:and|so|please)\s+)?(?:(?:update|change|adapt|adjust|correct|edit)\s+(?:(?:it|that|this)\s+)?(?:in\s+)?|in\s+)(\S.*))?$`)
	copyGoal = lazyregexp.New(`(?i)^(?:please\s+)?(?:copy|take)\s+(?:the\s+)?(\S+(?:\s+\S+){0,2}?)\s+(?:from|of|in)\s+(\S+)\s+(?:in)?to\s+(\S+)$`)
	sameGoal = lazyregexp.New(`(?i)^(?:please\s+)?make\s+(?:the\s+)?(\S+(?:\s+\S+){0,2}?)\s+in\s+(\S+)\s+(?:equal\s+to|the\s+same\s+as|match)\s+(?:the\s+one|that)\s+(?:in|of|from)\s+(\S+)$`)
	// A run of the tests may follow, and nothing else after it.
	valueTests = lazyregexp.New(`(?i),?\s*(?:and|then)\s+(?:then\s+)?(?:run|rerun|check|verify|make\s+sure|ensure)` +
		`(?:\s+(?:that|whether|if|all|the|unit|its|of))*\s+tests?(?:\s+(?:all|still|pass|passes|succeed|again|afterwards|too))*$`)
)

// computed are names of what code works out: a goal about its value says what is wrong.
var computed = strings.Fields("it this that there result results answer output test tests")

// justWord matches a word without a digit.
var justWord = lazyregexp.New(`^[A-Za-z_]+$`)

// placeWords may stand among the names of the files that have the value.
var placeWords = strings.Fields("in both all each every the file files of folder directory and also config configuration json yaml toml")

// ValueWanted reads a goal that only wants one value changed, and the tests run at most.
func ValueWanted(goal string) (v ValueChange, ok bool) {
	goal = strings.TrimRight(strings.TrimSpace(goal), ".! ")
	goal = goal[:len(goal)-len(valueTests.FindString(goal))]
	goal = strings.TrimRight(goal, ".! ")
	goal = rephrased(goal)
	m := valueGoal.FindStringSubmatch(goal)
	if m == nil {
		return ValueChange{}, false
	}
	v = ValueChange{Name: bare(m[1]), From: bare(m[3]), To: bare(m[6]), Of: bare(m[5])}
	if m[2] != "" {
		v.In = append(v.In, bare(m[2]))
	}
	where := split(m[7], maxWords)
	for i, t := range where {
		folder := i > 0 && where[i-1].is("folder", "directory") || i+1 < len(where) && where[i+1].is("folder", "directory")
		switch {
		case i == 0 && !t.is("in"):
			return ValueChange{}, false
		case isFile(t.text):
			v.In = append(v.In, t.text)
		case !folder && !strings.Contains(t.text, "/") && !t.is(placeWords...):
			return ValueChange{}, false
		}
	}
	if strings.HasSuffix(goal, "?") || strings.ContainsAny(v.Name, "()[]{}=<>,;:!?") || v.renames(goal, m[1]) {
		return ValueChange{}, false
	}
	if m[2] != "" && !isFile(v.In[0]) && !strings.Contains(v.In[0], "/") { // the number of beds
		return ValueChange{}, false
	}
	return v, v.Name != "" && !isFile(v.Name) && !slices.ContainsFunc(strings.Fields(strings.ToLower(v.Name)), func(w string) bool {
		return slices.Contains([]string{"and", "from", "to", "all", "every", "each", "function", "method", "class", "type", "file", "it", "this"}, w)
	})
}

// rephrased returns a goal that says which value takes the place of which, or where the new
// one stands, as an order to change it. Other goals are returned as they are.
func rephrased(goal string) string {
	if m := insteadGoal.FindStringSubmatch(goal); m != nil && strings.ContainsAny(m[4]+m[6], "0123456789") && // no verb: returned instead of logged
		!slices.Contains(computed, strings.ToLower(m[1])) {
		goal = "change " + m[1] + m[7] + " from " + m[4] + m[6] + " to " + m[3] + m[5]
		if m[2] != "" {
			goal += " " + m[2]
		}
		if m[8] != "" {
			goal += " in " + m[8]
		}
	}
	if m := copyGoal.FindStringSubmatch(goal); m != nil && isFile(bare(m[2])) && isFile(bare(m[3])) {
		goal = "set " + m[1] + " in " + m[3] + " to the one in " + m[2]
	} else if m := sameGoal.FindStringSubmatch(goal); m != nil {
		goal = "set " + m[1] + " in " + m[2] + " to the one in " + m[3]
	}
	return goal
}

// renames reports whether a goal may rather want the name changed: "Change title to heading".
func (v ValueChange) renames(goal, name string) bool {
	return strings.HasPrefix(strings.TrimPrefix(strings.ToLower(goal), "please "), "change "+strings.ToLower(name)+" ") && v.From == "" &&
		justWord.MatchString(v.Name) && justWord.MatchString(v.To) && !slices.ContainsFunc(switches, func(s []string) bool { return slices.Contains(s, v.To) })
}

// bare returns a word of a goal without quotes and the marks of a sentence.
func bare(word string) string { return strings.Trim(strings.TrimSpace(word), "`\"',;") }

// assignment matches a line that only gives a name one value, a word or a text in quotes. Its
// groups are the name, what stands between, the value with its quotes, and a sign after it.
// What has no sign between, such as the type of a field, is no value unless it begins with a
// digit.
var assignment = lazyregexp.New(`^\s*(?:(?:export|const|var|let|static|final|public|private|pub|val|#define|set)\s+)*["']?([A-Za-z_][\w.-]*)["']?` +
	`((?:\s*:\s*[A-Za-z_][\w.<>\[\]]*|\s+[A-Za-z_][\w.<>\[\]]*)?\s*=\s*|\s*:=\s*|\s*:\s*|\s+)` +
	`("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[-+]?[\w./~@$][^\s,;#'"(){}\[\]]*)[ \t]*([,;]?)(?:[ \t]+(?:#|//|--).*)?\s*$`)

// place is where a text has the value.
type place struct {
	line       string
	start, end int // of the value in the line, without quotes
	prose      bool
	sign       string // between the name and the value
	after      string // the comma or semicolon
}

// places returns the lines of a text that assign the name a value.
func (v ValueChange) places(text string) (found []place) {
	for line := range strings.SplitSeq(text, "\n") {
		if name, p, ok := assigned(line); ok && plainName(name) == plainName(v.Name) {
			found = append(found, p)
		}
	}
	return found
}

// similar returns the lines of a text that assign a value, the old one if it is known. They
// give it to what is called by the first or the last words of the name: port, for the default
// port. If the old value is known, a longer name may have it, too: defaultPort, for the port.
// If it is not, the other words must say nothing of their own, as in the default port.
func (v ValueChange) similar(text string) (found []place) {
	words, sure := strings.Fields(v.Name), true
	for line := range strings.SplitSeq(text, "\n") {
		name, p, ok := assigned(line)
		if !ok || v.From != "" && line[p.start:p.end] != v.From {
			continue
		}
		if v.From != "" && len(v.Name) > 2 && strings.Contains(nameWords(name), nameWords(v.Name)) {
			found = append(found, p)
			continue
		}
		for i := 1; i < len(words); i++ {
			switch plainName(name) {
			case plainName(strings.Join(words[i:], " ")):
				found, sure = append(found, p), sure && v.mayLack(words[:i])
			case plainName(strings.Join(words[:i], " ")):
				found, sure = append(found, p), sure && v.mayLack(words[i:])
			}
		}
	}
	if !sure {
		return nil
	}
	return found
}

// emptyWords say nothing of their own in the name of a value.
var emptyWords = strings.Fields("default current value setting option level limit")

// mayLack reports whether a name in a text may lack words of the name in the goal.
func (v ValueChange) mayLack(words []string) bool {
	return v.From != "" || !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(emptyWords, strings.ToLower(w)) })
}

// partsOfName matches the words of a name such as defaultPort or MAX_BEDS.
var partsOfName = lazyregexp.New(`[A-Z]*[a-z0-9]+|[A-Z]+`)

// nameWords returns the words of a name in lower case, with a blank before and after each.
func nameWords(name string) string {
	return " " + strings.ToLower(strings.Join(partsOfName.FindAllString(name, -1), " ")) + " "
}

// assigned returns the name that a line gives a value, and where the value is.
func assigned(line string) (name string, p place, ok bool) {
	m := assignment.FindStringSubmatchIndex(line)
	if m == nil {
		return "", place{}, false
	}
	p = place{line: line, start: m[6], end: m[7], sign: line[m[4]:m[5]], after: line[m[8]:m[9]]}
	quote := line[p.start]
	if strings.TrimSpace(p.sign) == "" && quote != '"' && quote != '\'' && !isNumber.MatchString(line[p.start:p.end]) {
		return "", place{}, false
	}
	if quote == '"' || quote == '\'' {
		p.start, p.end = p.start+1, p.end-1
	}
	return line[m[2]:m[3]], p, true
}

// quote returns the quote around the value, "" for none.
func (p place) quote() string {
	if q := p.line[p.start-1 : p.start]; !p.prose && (q == `"` || q == "'") {
		return q
	}
	return ""
}

// isNumber matches a number, a version and a number with a unit, and finds the unit.
var isNumber = lazyregexp.New(`^[-+]?v?\d[\d._]*([A-Za-z%]*)$`)

// switches are the values that a switch may have in one language.
var switches = [][]string{{"true", "false"}, {"True", "False"}, {"TRUE", "FALSE"}, {"yes", "no"}, {"on", "off"}}

// takes reports whether a new value fits where the old one stands. A number fits a number
// with the same unit, and a switch fits a switch. A word fits a word where no language
// would read it as a name.
func (p place) takes(value string) bool {
	old := p.line[p.start:p.end]
	if p.prose {
		return true
	}
	was, is := isNumber.FindStringSubmatch(old), isNumber.FindStringSubmatch(value)
	nothing := []string{"null", "None", "nil", "none", "undefined"}
	if quote := p.quote(); quote != "" {
		return !strings.ContainsAny(value, quote+`\`) && !strings.ContainsAny(old[:min(1, len(old))], "^~<>=*") &&
			(was == nil || is != nil) && !slices.Contains(nothing, value) &&
			!slices.ContainsFunc(switches[:3], func(s []string) bool { return slices.Contains(s, value) && !slices.Contains(s, old) })
	}
	for _, s := range switches {
		if slices.Contains(s, old) || slices.Contains(s, value) {
			return slices.Contains(s, old) && slices.Contains(s, value)
		}
	}
	switch {
	case was != nil || is != nil:
		return is != nil && (was != nil && was[1] == is[1] || slices.Contains(nothing, old))
	case slices.Contains(nothing, old) || slices.Contains(nothing, value):
		return false
	default: // such as a level in YAML or in .env, and no name of a variable
		return p.after == "" && (strings.TrimSpace(p.sign) == ":" || p.sign == "=")
	}
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
	if len(found) == 0 {
		found = v.similar(text)
	}
	if len(found) != 1 {
		return "", false
	}
	return found[0].line[found[0].start:found[0].end], true
}

// Patch returns the line of a text that has the old value, and the line with the new one.
// ok is false unless exactly one place can be meant, and the new value fits there. Where the
// goal names the old value, and the text gives the name none, it may stand in prose.
func (v ValueChange) Patch(text string) (old, new string, ok bool) {
	found := v.places(text)
	switch {
	case len(found) == 0:
		if found = v.similar(text); len(found) == 0 && v.From != "" {
			found = v.spoken(text)
		}
	case v.From != "":
		found = slices.DeleteFunc(found, func(p place) bool { return p.line[p.start:p.end] != v.From })
	}
	if len(found) != 1 || strings.Count(text, found[0].line) != 1 || v.To == "" || !found[0].takes(v.To) {
		return "", "", false
	}
	p := found[0]
	return p.line, p.line[:p.start] + v.To + p.line[p.end:], p.line[p.start:p.end] != v.To
}

// spoken returns the places where the old value stands in a text as a word of its own. A line
// that gives another name this value is none of them, nor a line of code without a word of
// the name.
func (v ValueChange) spoken(text string) (found []place) {
	for line := range strings.SplitSeq(text, "\n") {
		if _, _, ok := assigned(line); ok || strings.ContainsAny(line, "(){}=;<>") && !v.mentioned(line) {
			continue
		}
		for from := 0; ; {
			at := strings.Index(line[from:], v.From)
			if at < 0 {
				break
			}
			start, end := from+at, from+at+len(v.From)
			if from = end; !wordGoesOn.MatchString(line[end:]) && !wordBefore.MatchString(line[:start]) {
				found = append(found, place{line: line, start: start, end: end, prose: true})
			}
		}
	}
	return found
}

// mentioned reports whether a line has a word of the name.
func (v ValueChange) mentioned(line string) bool {
	return slices.ContainsFunc(strings.Fields(v.Name), func(w string) bool { return strings.Contains(plainName(line), plainName(w)) })
}

// A value is a part of a longer word or number if one of these stands before or after it.
var (
	wordBefore = lazyregexp.New(`[\w.-]$`)
	wordGoesOn = lazyregexp.New(`^(?:[\w-]|[.,:]\w)`)
)

// replacedWord matches a goal that wants a word of code replaced by another one.
var replacedWord = lazyregexp.New(`(?i)\b(?:(?:be\s+)?(?:called|named)\s+(\S+)\s+instead\s+of\s+(\S+)|(?:use|write)\s+(\S+)\s+instead\s+of\s+(\S+)|replace\s+(\S+)\s+(?:with|by)\s+(\S+)|rename\s+(?:the\s+)?(?:environment\s+)?(?:variable|flag|key)\s+(\S+)\s+to\s+(\S+))`)

// WordReplaced reads which word of code a goal wants replaced in the files that it names, and
// by which. An example is "It should be called HTTP_PORT instead of SHOP_PORT. Change it in
// main.go".
func WordReplaced(goal string) (from, to string, ok bool) {
	m := replacedWord.FindStringSubmatch(goal)
	if m == nil {
		return "", "", false
	}
	from, to = cmp.Or(m[2], m[4], m[5], m[7]), cmp.Or(m[1], m[3], m[6], m[8])
	from, to = strings.TrimRight(bare(from), "."), strings.TrimRight(bare(to), ".")
	for _, word := range []string{from, to} {
		if !identifier.MatchString(word) || !strings.Contains(strings.Trim(word, "_"), "_") && !likeCode(word) {
			return "", "", false
		}
	}
	tokens, ok := asked(goal)
	for _, t := range tokens { // nothing else is said
		name := strings.TrimRight(bare(t.text), ".")
		if t.text == "" || name != from && name != to && !t.is(aroundWord...) && !isFile(t.text) && !strings.HasSuffix(t.text, "/") {
			return "", "", false
		}
	}
	return from, to, ok && strings.Count(from, ".") == strings.Count(to, ".")
}

// aroundWord may stand around the words of code of which one replaces the other: whatever
// else a goal says is left to the model.
var aroundWord = strings.Fields("the environment variable env flag key constant option setting name should must has have needs to now be called named instead of with by please also " +
	"it that this change replace rename update adapt adjust correct use write in and both all three file files code config")

// ReplaceWord returns the lines of a text from the first to the last that has the word. It
// also returns the same with the other word in its place. ok is false if the text does not
// have it, or has the other one already.
func ReplaceWord(text, from, to string) (old, changed string, ok bool) {
	word := regexp.MustCompile(`\b` + regexp.QuoteMeta(from) + `\b`)
	lines := strings.Split(text, "\n")
	first, last := -1, -1
	for i, line := range lines {
		if word.MatchString(line) {
			last = i
			if first < 0 {
				first = i
			}
		}
	}
	if first < 0 || regexp.MustCompile(`\b`+regexp.QuoteMeta(to)+`\b`).MatchString(text) {
		return "", "", false
	}
	old = strings.Join(lines[first:last+1], "\n")
	return old, word.ReplaceAllLiteralString(old, to), strings.Count(text, old) == 1
}
