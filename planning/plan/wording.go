package plan

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"replan/internal/english"
	"replan/internal/lazyregexp"
)

// Words of a title without particulars, in full: verbs for any object. A name, a
// file or a number makes a title particular.
var (
	vagueTitle = lazyregexp.New(`^(?:(?:please|then|now|just|and) )*(?:` +
		// These say nothing even by themselves.
		`(?:do|fix|handle|implement|finish|complete|perform|execute|process|address|resolve|improve|change|update|proceed|continue|go on|carry on|` +
		`carry out|take care of|deal with|work on|do work)(?: ` + vagueThing + `)*` +
		// This does without a thing in plans that build.
		`|make(?: ` + vagueThing + `)* (?:it|changes?|edits?|fixes|updates?|improvements?|adjustments?|work)` +
		`|everything|the rest|rest|work|the work)$`)
	// emptyOutcome is an expected outcome that any step could have.
	emptyOutcome = lazyregexp.New(`^(?:(?:it|this|that|the|step|task|everything|all|is|was|are|has|have|been|be|will|should|goes|` +
		`works?|worked|working|success|successful|successfully|succeeds?|succeeded|done|ok|okay|fine|well|good|` +
		`completes?|completed|finish|finished|as|expected|correct|correctly|properly) ?)+$`)
)

const vagueThing = `(?:and|with|to|the|all|any|some|other|of|this|that|these|those|it|them|everything|anything|rest|remaining|remainder|` +
	`necessary|needed|required|as|code|stuff|things?|work|tasks?|jobs?|steps?|goal|request|changes?|edits?|fix|fixes|updates?|improvements?|adjustments?|` +
	`fix|handle|implement|finish|complete|test)`

// longestPhrase is how many bytes a text may have that says nothing.
const longestPhrase = 80

// saysNothing holds the words of a text, in lower case and one blank apart,
// against a pattern. Most texts are long, or name a thing by a number: they need
// no pattern.
func saysNothing(pattern *lazyregexp.Regexp, text string) bool {
	if text == "" || len(text) > longestPhrase || strings.ContainsAny(text, "0123456789") {
		return false
	}
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	return pattern.MatchString(strings.Join(words, " "))
}

// longestArg and mostArgLines bound the text of a planned argument of a step with
// effects: longer text is most likely the step's own output.
const (
	longestArg   = 400 // characters
	mostArgLines = 3   // that are not blank
)

// checkWording warns of a step that says nothing particular.
func (c *checker) checkWording(path string, s Step) {
	if saysNothing(vagueTitle, string(s.Title)) {
		c.warn(CodeVagueStep, path+"/title", s.Index, "the title of step %s, %q, does not say what is done to which thing", s.Index, s.Title)
	}
	if saysNothing(emptyOutcome, string(s.ExpectedOutcome)) {
		c.warn(CodeVagueStep, path+"/expected_outcome", s.Index, "the expected outcome of step %s, %q, says nothing that can be seen in a result", s.Index, s.ExpectedOutcome)
	}
}

// checkContents warns about a planned step with effects if its args hold text better
// written later. That is when the step is ready, from the results it depends on.
func (c *checker) checkContents(path string, s Step) {
	if ExecutorOf(s) != ExecutorTool {
		return
	}
	if tool, err := c.rules.Catalog.Find(s.Tool); err != nil || tool.ReadOnly {
		return
	}
	place, size := contents(s.Args, nil)
	if size != "" {
		c.warn(CodeContentInArgs, JSONPointer(path+"/args", place...), s.Index,
			"step %s was planned with %s in the args of %s, which are better left out and written when it is ready", s.Index, size, s.Tool)
	}
}

// contents finds the first text in args too long for a plan, and describes its
// size; "" if there is none.
func contents(v any, path []string) (place []string, size string) {
	switch v := v.(type) {
	case string:
		for _, r := range References(v) {
			v = strings.Replace(v, r.Text, "", 1) // a reference is filled in, not planned
		}
		lines := strings.FieldsFunc(v, isLineBreak)
		lines = slices.DeleteFunc(lines, func(line string) bool { return strings.TrimSpace(line) == "" })
		switch n := utf8.RuneCountInString(v); {
		case len(lines) > mostArgLines:
			return path, english.Count(len(lines), "line") + " of text"
		case n > longestArg:
			return path, english.Count(n, "character") + " of text"
		}
	case []any:
		for i, item := range v {
			if place, size = contents(item, append(slices.Clone(path), strconv.Itoa(i))); size != "" {
				return place, size
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if place, size = contents(v[key], append(slices.Clone(path), key)); size != "" {
				return place, size
			}
		}
	}
	return nil, ""
}

// WordingWarnings are the new warnings of a model's plan, without those of the
// plan before it. Warnings about missing args and the like are not about wording,
// and left out too.
func WordingWarnings(c Catalog, p, before Plan) []Fault {
	reported := make(map[string]bool)
	for _, f := range wordingOf(c, before) {
		reported[f.Message] = true
	}
	return slices.DeleteFunc(wordingOf(c, p), func(f Fault) bool { return reported[f.Message] })
}

func wordingOf(known Catalog, p Plan) []Fault {
	c := checker{plan: p, rules: Rules{Catalog: known}}
	for i, s := range p.Steps {
		path := JSONPointer("/steps", strconv.Itoa(i))
		c.checkWording(path, s)
		c.checkContents(path, s)
	}
	return c.warnings
}
