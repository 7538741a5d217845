package intent

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"replan/internal/lazyregexp"
	"replan/internal/testfile"
	"replan/planning/plan"
)

// Facts describe the workspace around the names in a goal, so that the chain fits
// it. The zero value knows nothing.
type Facts struct {
	Known    bool              `json:"known,omitempty"` // the workspace was looked through for the names
	Files    []string          `json:"files,omitempty"` // candidates for a name, and their test files
	Folders  []string          `json:"folders,omitempty"`
	Tests    []string          `json:"tests,omitempty"`    // names of tests that hold the name of the goal
	Declared map[string]string `json:"declared,omitempty"` // name → the file that declares it
	// Of the repository, where the goal is a commit or a push.
	Clean      bool `json:"clean,omitempty"`       // no file differs from the last commit
	NoUpstream bool `json:"no_upstream,omitempty"` // the branch follows none
	NoRemote   bool `json:"no_remote,omitempty"`   // there is none to push to
}

// Survey gathers the facts that a goal needs. Whoever looks through the workspace
// tells it of every file and folder.
type Survey struct {
	in      Intent
	names   map[string]bool // in lower case
	symbol  string
	matcher *regexp.Regexp
	facts   Facts
}

// mostFacts bounds each list of facts.
const mostFacts = 200

// NewSurvey begins a survey for a goal.
func NewSurvey(goal string) *Survey {
	in, _ := understand(goal)
	return SurveyFor(in, goal)
}

// SurveyFor begins a survey for an intent that is read already; goal may be empty.
func SurveyFor(in Intent, goal string) *Survey {
	s := &Survey{in: in, names: map[string]bool{}, facts: Facts{Known: true}}
	texts := []string{goal, in.Target}
	for _, value := range in.Params {
		texts = append(texts, value)
	}
	for _, text := range texts {
		for _, t := range split(text, 4*maxWords) {
			if name := strings.ToLower(pathOf(t.text)); name != "" {
				s.names[name] = true
			}
		}
	}
	_, s.symbol = lastOf(symbolOf(in.Target))
	if wanted := in.Action == addTests || in.Action == debug; !wanted || !identifier.MatchString(s.symbol) {
		s.symbol = ""
		return s
	}
	s.matcher = regexp.MustCompile(s.Lines())
	return s
}

// Repository reports whether facts of the repository are wanted.
func (s *Survey) Repository() bool { return s.in.Action == commit || s.in.Action == push }

// Lines is a regular expression for the lines to pass to Line, "" if none are
// needed.
func (s *Survey) Lines() string {
	if s.symbol == "" {
		return ""
	}
	return `(?i)\b(?:func|fn|def|function|type|class|struct|interface|trait|enum|const|let|var|val)\s+(?:\([^)]*\)\s*)?(\w*` + regexp.QuoteMeta(s.symbol) + `\w*)`
}

// See takes a file or a folder of the workspace.
func (s *Survey) See(at string, folder bool) {
	lower := strings.ToLower(at)
	stem := strings.TrimSuffix(path.Base(lower), path.Ext(lower))
	tested, isTest := testfile.Tested(at)
	for name := range s.names {
		fits := lower == name || strings.HasSuffix(lower, "/"+name)
		switch {
		case folder && fits:
			s.facts.Folders = bounded(s.facts.Folders, at)
		case !folder && (fits || stem == name || isTest && (strings.EqualFold(tested, name) || testfile.Tests(at, name))):
			s.facts.Files = bounded(s.facts.Files, at)
		default:
			continue
		}
		return
	}
}

// Line takes a line of a file that fits Lines.
func (s *Survey) Line(at, text string) {
	m := s.matcher.FindStringSubmatch(text)
	switch {
	case m == nil:
	case hasTestName(m[1]) || strings.HasPrefix(m[1], "test_"):
		if !slices.Contains(s.facts.Tests, m[1]) {
			s.facts.Tests = bounded(s.facts.Tests, m[1])
		}
	case m[1] == s.symbol && !testfile.Is(at) && s.facts.Declared[s.symbol] == "":
		s.facts.Declared = map[string]string{s.symbol: at}
	}
}

// Keep adds a file related to a known one.
func (s *Survey) Keep(at string) {
	if !slices.Contains(s.facts.Files, at) {
		s.facts.Files = bounded(s.facts.Files, at)
	}
}

// DeclaredIn is the file with the declaration of the goal's name, "" if unknown.
func (s *Survey) DeclaredIn() string { return s.facts.Declared[s.symbol] }

// Facts are those that were gathered.
func (s *Survey) Facts() Facts { return s.facts }

// bounded adds to a list that is not full.
func bounded(list []string, one string) []string {
	if len(list) == mostFacts {
		return list
	}
	return append(list, one)
}

// Route maps an intent to the chain that carries it out in this workspace, under a
// policy. It fails if the policy is not well formed, and with a *DeniedError if
// the policy denies a tool of the chain. An unknown intent has an empty chain.
func (f Facts) Route(in Intent, p Policy) (Chain, error) {
	if in.Params == nil {
		in.Params = map[string]string{}
	}
	d := draft{in: in, policy: p, facts: f}
	d.resolve()
	if chain, ok := chains[[2]string{in.Category, in.Action}]; ok {
		chain.build(&d)
	}
	c := Chain{Intent: d.in, Nodes: d.nodes, Missing: d.missing}
	c.checkArgs()
	return p.Apply(c)
}

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

// resolve maps the names of an intent to existing files and folders.
func (d *draft) resolve() {
	if !d.facts.Known {
		return
	}
	params := maps.Clone(d.in.Params)
	d.in.Params = params
	d.resolvePlace()
	if d.in.Action == find && d.shape() == someWords && params["exact"] == "" {
		if words := significant(d.in.Target); len(words) == 1 && strings.Contains(strings.ToLower(d.in.Target), "file") {
			if file := d.facts.file(words[0]); file != "" {
				d.in.Target = path.Base(file)
			}
		}
	}
	if d.in.Category == vcs && d.in.Action != history || d.in.Action == find || d.in.Action == create {
		return // a branch may share its name with a file; a search looks for the words as written; a new file does not exist yet
	}
	d.in.Target = d.resolvedPath(d.in.Target)
	for _, name := range []string{"in", "from"} {
		if params[name] != "" {
			params[name] = d.resolvedPath(params[name])
		}
	}
}

// resolvePlace tells "Make in slug", where slug is a folder, from words that are
// searched for as they stand.
func (d *draft) resolvePlace() {
	if d.in.Category != navigate && d.in.Category != explain {
		return
	}
	if place := d.in.Params["in"]; place != "" {
		at, known := d.facts.place(place)
		switch {
		case known:
			d.in.Params["in"] = at
		case d.in.Action == find && d.in.Target != "" && !isPath(place):
			d.in.Target += " in " + place
			delete(d.in.Params, "in")
		}
		return
	}
	if i := strings.LastIndex(d.in.Target, " in "); i >= 0 && d.in.Params["exact"] == "" {
		if at, known := d.facts.place(d.in.Target[i+len(" in "):]); known {
			d.in.Target, d.in.Params["in"] = strings.TrimSpace(d.in.Target[:i]), at
		}
	}
}

// place is the path of the folder or file that a word means.
func (f Facts) place(word string) (at string, known bool) {
	word = pathOf(strings.TrimPrefix(word, "the "))
	if word == "" || strings.ContainsAny(word, " \t\n") {
		return "", false
	}
	for _, list := range [][]string{f.Folders, f.Files} {
		if at := nearest(list, word); at != "" {
			return at, true
		}
	}
	return "", false
}

// highest is the one path that fits at the highest level of the tree; "" if there
// are several at it.
func highest(paths []string, fits func(at string) bool) string {
	var best []string
	for _, at := range paths {
		switch {
		case !fits(at):
		case len(best) == 0 || strings.Count(at, "/") < strings.Count(best[0], "/"):
			best = []string{at}
		case strings.Count(at, "/") == strings.Count(best[0], "/"):
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

// file is the file whose name, with or without its extension, is a word.
func (f Facts) file(word string) string {
	return highest(f.Files, func(at string) bool {
		base := path.Base(at)
		return strings.EqualFold(base, word) || strings.EqualFold(strings.TrimSuffix(base, path.Ext(base)), word)
	})
}

// tests is the test file of a source file, one in its folder first; "" if there is
// none.
func (f Facts) tests(source string) string {
	for _, at := range f.Files {
		if testfile.Tests(at, source) && path.Dir(at) == path.Dir(source) {
			return at
		}
	}
	return highest(f.Files, func(at string) bool { return testfile.Tests(at, source) })
}

// resolvedPath is the path of the file meant by a name, if the name itself is no path.
func (d *draft) resolvedPath(text string) string {
	name := pathOf(text)
	if !isPath(text) || isPattern(text) || name == "" || slices.Contains(d.facts.Files, name) || slices.Contains(d.facts.Folders, strings.TrimSuffix(name, "/")) {
		return text
	}
	var all []string
	for _, at := range slices.Concat(d.facts.Files, d.facts.Folders) {
		if strings.HasSuffix(at, "/"+name) {
			all = append(all, at)
		}
	}
	switch len(all) {
	case 0:
		return text
	case 1:
		return all[0]
	default:
		d.addMissing("there are several of that name: %s", plan.OneLine(strings.Join(all, ", "), 120))
		return text
	}
}

// tested returns the tests that a name means: their names, or their folder.
func (f Facts) tested(name string) (run, folder string) {
	_, name = lastOf(symbolOf(name))
	for _, t := range f.Tests {
		if strings.EqualFold(t, "Test"+name) || strings.EqualFold(t, "test_"+name) || strings.EqualFold(t, name) {
			return t, ""
		}
	}
	const most = 8
	switch at, file := nearest(f.Folders, name), f.file(name); {
	case at != "":
		return "", at
	case len(f.Tests) > most:
		return name, ""
	case len(f.Tests) > 0:
		return strings.Join(f.Tests, "|"), ""
	case file != "" && f.tests(file) != "":
		return "", path.Dir(file)
	default:
		return "", ""
	}
}

// stopWords are words without meaning for a search.
var stopWords = strings.Fields("a an the of to in on at by for with from and or is are was were be been being do does did gets get got where what which who how " +
	"that this these those it its we i you they my our your their all any some every code place places file files thing things happens happen happening")

// severalWords reports whether a text is words and nothing else, of which any
// order will do: no code.
func severalWords(text string) bool {
	words := strings.Fields(text)
	return len(words) > 1 && !slices.ContainsFunc(words, func(w string) bool { return !plainWord.MatchString(w) })
}

var plainWord = lazyregexp.New(`^[\pL\pN_'’-]*[\pL\pN][\pL\pN_'’-]*[,.?!]?$`)

// significant are the words of a text that a search looks for; all of them where
// none says anything.
func significant(text string) []string {
	var words, all []string
	for _, t := range split(text, maxWords) {
		for _, word := range strings.Fields(t.text) {
			all = append(all, word)
			if !slices.Contains(stopWords, strings.ToLower(word)) {
				words = append(words, word)
			}
		}
	}
	if len(words) == 0 {
		return all
	}
	return words
}

// Nearest is a clear order close to unclear words that needs no model; "" if there
// is none.
func (f Facts) Nearest(words string) string {
	in, _ := understand(words)
	about := significant(in.Target)
	if in.Target == "" {
		about = slices.DeleteFunc(significant(words), func(w string) bool {
			return slices.Contains(verbs, strings.ToLower(w)) || slices.Contains(asking, strings.ToLower(w))
		})
	}
	what := strings.Join(about[:min(len(about), 3)], " ")
	if what == "" {
		return ""
	}
	var tries []string
	switch {
	case in.Action == explain && len(about) == 1:
		tries = append(tries, "what is "+what)
	case in.Action == references && len(about) == 1:
		tries = append(tries, "where is "+what+" used")
	case in.Category == validate:
		tries = append(tries, "test "+what, "run the tests")
	}
	for _, try := range append(tries, "find "+what) {
		if c, err := f.RouteWords(try, Policy{}); err == nil && c.Bound() && c.Confident() && !c.NeedsModel() {
			return try
		}
	}
	return ""
}

// Unclear explains why words are not acted on without a model: their likely
// meaning, and the nearest clear order.
func (f Facts) Unclear(words string, in Intent) string {
	text := "it is not clear what these words ask for"
	if in.Category != unknown {
		text = fmt.Sprintf("it is not clear enough that these words ask to %s (%.0f %% sure)", strings.ReplaceAll(in.Action, "_", " "), in.Confidence*100)
	}
	if near := f.Nearest(words); near != "" {
		return text + `; the nearest that can be done is: ` + near
	}
	return text
}
