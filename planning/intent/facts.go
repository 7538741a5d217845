package intent

import (
	"cmp"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"replan/internal/testfile"
)

// Facts describe the workspace around the names in a goal, so that the chain fits
// it. The zero value knows nothing.
type Facts struct {
	Known   bool     `json:"known,omitempty"` // the workspace was looked through for the names
	Files   []string `json:"files,omitempty"` // candidates for a name, and their test files
	Folders []string `json:"folders,omitempty"`
	Tests   []string `json:"tests,omitempty"` // names of tests that hold the name of the goal
	// Of the repository, where the goal is a commit or a push.
	Clean      bool `json:"clean,omitempty"`       // no file differs from the last commit
	NoUpstream bool `json:"no_upstream,omitempty"` // the branch follows none
	NoRemote   bool `json:"no_remote,omitempty"`   // there is none to push to

	// What the goal names, for the looks.
	Declared []Declaration `json:"declared,omitempty"` // of its names that look like code
	Inside   []string      `json:"inside,omitempty"`   // files of the folders that it names
	Large    []string      `json:"large,omitempty"`    // of Files and Inside, those too large to be read whole
	Related  []string      `json:"related,omitempty"`  // files with most of the words of a goal

	Folder string `json:"folder,omitempty"` // the absolute path of the workspace, where the goal asks for it

	LeftOut []LeftOut `json:"left_out,omitempty"` // tests that a run of all tests leaves out, where the goal asks for all
	Tested  string    `json:"tested,omitempty"`   // the language of those that it runs

	Project Project `json:"project,omitzero"` // where the goal builds it, runs one of its commands or asks about it

	Sketch Sketch `json:"-"` // of the workspace
}

// Survey gathers the facts that a goal needs. Whoever looks through the workspace
// tells it of every file and folder.
type Survey struct {
	in       Intent
	goal     string
	names    map[string]bool // in lower case
	lengths  uint64          // of the names, a bit each; the last one for all that are longer
	matcher  *regexp.Regexp  // for the tests that hold the name of the goal
	declared *regexp.Regexp  // for the declarations of the names that look like code
	tests    string          // what the names of those tests hold, in lower case
	wanted   []string        // those names, as [DeclaredNames] has them
	files    []string        // of the workspace, in the order of the walk
	facts    Facts
}

// mostFacts bounds each list of facts.
const mostFacts = 200

// NewSurvey begins a survey for a goal.
func NewSurvey(goal string) *Survey {
	return SurveyFor(Parse(goal), goal)
}

// SurveyFor begins a survey for an intent that is read already; goal may be empty.
func SurveyFor(in Intent, goal string) *Survey {
	s := &Survey{in: in, goal: goal, names: map[string]bool{}, facts: Facts{Known: true}}
	for _, text := range append(slices.Collect(maps.Values(in.Params)), goal, in.Target) {
		for _, t := range split(text, 4*maxWords) {
			if name := strings.ToLower(pathOf(t.text)); name != "" {
				s.names[name] = true
				s.lengths |= 1 << min(len(name), 63)
			}
		}
	}
	for _, r := range runsOf(goal) { // a name with blanks, which nobody quotes
		for name := strings.ToLower(r.path); name != "."; name = path.Dir(name) {
			s.names[name] = true
			s.lengths |= 1 << min(len(name), 63)
		}
	}
	if words := significant(in.Target); in.Action == test && len(words) > 1 { // "the bool flag": tests whose names say so
		for i, word := range words {
			words[i] = regexp.QuoteMeta(word)
		}
		s.matcher = regexp.MustCompile(`(?i)\b(?:func|fn|def|function)\s+(test\w*(?:` + strings.Join(words, "|") + `)\w*)`)
	}
	if _, name := lastOf(symbolOf(in.Target)); in.Action == debug && identifier.MatchString(name) {
		s.matcher = regexp.MustCompile(`(?i)\b(?:func|fn|def|function)\s+(test\w*` + regexp.QuoteMeta(name) + `\w*)`)
		s.tests = declaredName(name)
	}
	if names := codeNames(goal); len(names) > 0 {
		s.declared = regexp.MustCompile(`\b(` + strings.Join(slices.Sorted(maps.Keys(declarationKinds)), "|") + `)\s+(?:\([^)]*\)\s*|mut\s+)?(` + strings.Join(names, "|") + `)\b`)
		for _, name := range names {
			if name = declaredName(name); name != "" {
				name = "\n" + name + "\n"
			}
			s.wanted = append(s.wanted, name)
		}
	}
	return s
}

// Repository reports whether facts of the repository are wanted.
func (s *Survey) Repository() bool { return s.in.Action == commit || s.in.Action == push }

// Folder reports whether the path of the workspace is wanted.
func (s *Survey) Folder() bool { return s.in.Action == folder }

// Lines is a regular expression for the lines to pass to Line, "" if none are
// needed.
func (s *Survey) Lines() string {
	var wanted []string
	for _, m := range []*regexp.Regexp{s.matcher, s.declared} {
		if m != nil {
			wanted = append(wanted, m.String())
		}
	}
	return strings.Join(wanted, "|")
}

// codeNames returns the names in a goal that look like code. They are quoted, begin with a
// capital letter, or stand beside a kind of declaration.
func codeNames(goal string) []string {
	const most = 20
	var names []string
	tokens := split(goal[:min(len(goal), mostWords)], 4*maxWords)
	for i, t := range tokens {
		beside := i > 0 && tokens[i-1].is(kinds...) || i+1 < len(tokens) && tokens[i+1].is(kinds...)
		name := symbolName(t.text)
		code := likeCode(t.text) || t.quoted && len(name) > 1 || !t.is(plainWords...) && (beside || capitalized(t))
		if name == "" || t.is(kinds...) || !code || slices.Contains(names, name) {
			continue
		}
		if names = append(names, name); len(names) == most {
			break
		}
	}
	return names
}

// capitalized reports whether a word may be an exported name: it has a capital letter, and
// begins no sentence by what it means. Only a name that something declares counts.
func capitalized(t token) bool {
	return len(t.text) > 2 && t.text[0] >= 'A' && t.text[0] <= 'Z' && strings.ToUpper(t.text) != t.text &&
		!t.is(imperatives...) && !t.is(fillers...) && !t.is(questions...) && !t.is(asking...) && !t.is(inquiries...) && !t.is(articles...) && !t.is(pronouns...) && !t.is(conditions...)
}

// See takes a file or a folder of the workspace.
func (s *Survey) See(at string, folder bool) {
	if !folder {
		s.files = append(s.files, at)
	}
	lower := strings.ToLower(at)
	named := s.named(lower)
	for i := 0; i < len(lower) && !named; i++ {
		named = lower[i] == '/' && s.named(lower[i+1:])
	}
	switch base := path.Base(lower); {
	case folder && named:
		add(&s.facts.Folders, at)
	case !folder && (named || s.named(strings.TrimSuffix(base, path.Ext(base))) || s.testsNamed(at)):
		add(&s.facts.Files, at)
	}
}

// named reports whether a text in lower case is a name of the goal. Most texts have another
// length, which is seen sooner than another hash.
func (s *Survey) named(text string) bool {
	return s.lengths&(1<<min(len(text), 63)) != 0 && s.names[text]
}

// testsNamed reports whether a file is the test file of one that is named.
func (s *Survey) testsNamed(at string) bool {
	if !testfile.Is(at) {
		return false
	}
	for name := range s.names {
		if testfile.Tests(at, name) {
			return true
		}
	}
	return false
}

// Line takes a line of a file that fits Lines.
func (s *Survey) Line(at string, line int, text string) {
	if s.matcher != nil {
		if m := s.matcher.FindStringSubmatch(text); m != nil && (hasTestName(m[1]) || strings.HasPrefix(m[1], "test_")) {
			add(&s.facts.Tests, m[1])
		}
	}
	if s.declared == nil || len(s.facts.Declared) >= mostFacts {
		return
	}
	if m := s.declared.FindStringSubmatch(text); m != nil {
		s.facts.Declared = append(s.facts.Declared, Declaration{Name: m[2], Kind: declarationKinds[m[1]], Path: at, Line: line})
	}
}

var declarationKinds = map[string]string{
	"func": "function", "fn": "function", "def": "function", "fun": "function", "function": "function", "class": "class", "type": "type",
	"struct": "type", "interface": "interface", "enum": "enum", "trait": "trait", "const": "constant", "var": "variable", "let": "variable", "val": "variable",
}

// Facts are those that were gathered. size returns the bytes of a file; nil where that is
// unknown.
func (s *Survey) Facts(size func(at string) int64) Facts {
	facts := s.facts
	if s.in.Action == test && s.in.Target == "" && s.in.Params["in"] == "" {
		facts.LeftOut, facts.Tested = leftOut(s.files)
	}
	relevant := slices.Clone(facts.Files)
	for i, d := range facts.Declared {
		facts.Declared[i].Tested = s.tested(d.Path)
		relevant = append(relevant, d.Path, facts.Declared[i].Tested)
	}
	for _, at := range s.files {
		if len(facts.Folders) > 0 && slices.Contains(facts.Folders, path.Dir(at)) {
			add(&facts.Inside, at)
		}
	}
	for _, at := range append(relevant, facts.Inside...) {
		if at != "" && size != nil && size(at) > wholeFile {
			add(&facts.Large, at)
		}
	}
	return facts
}

// tested returns the only source file that a test file tests, "" if there is none.
func (s *Survey) tested(test string) string {
	if !testfile.Is(test) {
		return ""
	}
	found := ""
	for _, at := range s.files {
		if testfile.Tests(test, at) {
			if found != "" {
				return ""
			}
			found = at
		}
	}
	return found
}

// add puts a fact into a list that is not full.
func add(list *[]string, one string) {
	if len(*list) < mostFacts && !slices.Contains(*list, one) {
		*list = append(*list, one)
	}
}

// Route maps an intent to the chain that carries it out in this workspace, under a
// policy. An unknown intent has an empty chain.
func (f Facts) Route(in Intent, p Policy) Chain {
	in.Params = maps.Clone(in.Params)
	if in.Params == nil {
		in.Params = map[string]string{}
	}
	b := builder{in: in, policy: p, facts: f}
	return p.Apply(b.chain())
}

// RouteWords maps words to the chain that carries them out in this workspace. If
// the words hold a condition or a second task, the chain lacks it: the chain
// shows the work, and cannot be run.
func (f Facts) RouteWords(words string, p Policy) Chain {
	in, open := understand(f.quotePaths(words))
	c := f.Route(in, p)
	if !c.Empty() {
		c.Missing = append(c.Missing, open...)
	}
	return c
}

// place is the path of the folder or file that a word means; "" if there is none.
func (f Facts) place(word string) string {
	word = pathOf(strings.TrimPrefix(word, "the "))
	if word == "" {
		return ""
	}
	return cmp.Or(nearest(f.Folders, word), nearest(f.Files, word))
}

// highest is the one path that fits at the highest level of the tree; "" if there
// are several at it.
func highest(paths []string, fits func(at string) bool) string {
	var best []string
	for _, at := range paths {
		level := func(at string) int { return strings.Count(at, "/") }
		switch {
		case !fits(at):
		case len(best) == 0 || level(at) < level(best[0]):
			best = []string{at}
		case level(at) == level(best[0]):
			best = append(best, at)
		}
	}
	if len(best) == 1 {
		return best[0]
	}
	return ""
}

// nearest is the path in a list equal to a name, or the highest that ends in it.
func nearest(paths []string, name string) string {
	if slices.Contains(paths, name) {
		return name
	}
	return highest(paths, func(at string) bool { return strings.HasSuffix(at, "/"+name) })
}

// tests is the test file of a source file, one in its folder first; "" if there is
// none.
func (f Facts) tests(source string) string {
	tests := func(at string) bool { return testfile.Tests(at, source) }
	beside := func(at string) bool { return tests(at) && path.Dir(at) == path.Dir(source) }
	if at := slices.IndexFunc(f.Files, beside); at >= 0 {
		return f.Files[at]
	}
	return highest(f.Files, tests)
}

// stopWords are words without meaning for a search.
var stopWords = strings.Fields("a an the of to in on at by for with from and or is are was were be been being do does did gets get got where what which who how " +
	"that this these those it its we i you they my our your their all any some every code place places file files thing things happens happen happening")

// significant are the words of a text that a search looks for; all of them where
// none says anything.
func significant(text string) []string {
	all := strings.Fields(text)
	for i, word := range all {
		all[i] = strings.Trim(word, punctuation+"\"'`")
	}
	all = slices.DeleteFunc(all, func(word string) bool { return word == "" })
	words := slices.DeleteFunc(slices.Clone(all), func(word string) bool { return slices.Contains(stopWords, strings.ToLower(word)) })
	if len(words) == 0 {
		return all
	}
	return words
}

// nearest is the order that comes closest to what the words are about; "" if there is none.
// It is about one word: a search for several finds only lines with all.
func (in Intent) nearest() string {
	switch about := significant(in.Target); {
	case reportedByTests(in.Target):
		return "run the tests"
	case len(about) == 1 && in.Action == explain:
		return "what is " + about[0]
	case len(about) > 0:
		return "find " + about[0]
	default:
		return ""
	}
}
