package intent

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"replan/internal/english"
	"replan/internal/lazyregexp"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// Looks are the calls that look at what a goal names, before a model plans it: the first
// steps of its plan.
type Looks struct {
	Steps []plan.Step // read-only calls, independent of each other, numbered from 1

	// Whole means that the goal only asks, and asks about nothing else: the results
	// are enough for the answer, and no model has to plan.
	Whole bool
}

// MostLooks is how many calls look at what a goal names. What else it names is left out.
const MostLooks = 6

// The bounds of the looks.
const (
	mostInside  = 6         // files of a folder that are read one by one
	wholeFile   = 16 << 10  // bytes; a larger file is read around the name
	around      = 60        // lines
	mostTouched = 20        // commits of a file
	mostCommits = 200       // of all; vcs.log returns no more
	mostWords   = 40 * 1000 // bytes of a goal that are looked through for names
)

// Look returns the calls for what a goal names, among the tools of a catalog. It names
// what exists: a file, a folder, a declaration, a commit, and marks such as TODO.
func (f Facts) Look(goal string, c plan.Catalog) Looks {
	l := looker{facts: f, tokens: split(goal[:min(len(goal), mostWords)], 4*maxWords), asks: OnlyAsks(goal), catalog: c}
	l.look()
	l.comments(goal)
	l.filtered(goal)
	if l.whole = l.asks && len(l.steps) > 0 && len(l.steps) <= MostLooks && !l.open(); !l.whole && len(l.steps) > MostLooks {
		l.steps = l.steps[:MostLooks]
	}
	for i := range l.steps {
		l.steps[i].Index = strconv.Itoa(i + 1)
	}
	return Looks{Steps: l.steps, Whole: l.whole}
}

// looker collects the looks of one goal.
type looker struct {
	facts   Facts
	tokens  []token
	asks    bool
	catalog plan.Catalog
	steps   []plan.Step
	named   map[int]bool // positions of the tokens that the looks are about
	whole   bool
}

func (l *looker) look() {
	l.named = map[int]bool{}
	if l.listing() {
		return
	}
	l.commits()
	for i, t := range l.tokens {
		switch {
		case l.named[i]:
		case l.mark(i, t), l.file(i, t), l.folder(i, t), l.declared(i, t), l.name(i, t), l.quantity(i, t):
			l.named[i] = true
		}
	}
	l.tests()
	l.everywhere()
	l.related()
}

// add appends a call if its tool is on offer and nothing did the same before.
func (l *looker) add(title, tool string, args map[string]any) {
	found, err := l.catalog.Find(tool)
	if err != nil || !found.Trusted || !found.ReadOnly {
		return
	}
	step := plan.Step{Title: untrusted.Text(title), Executor: plan.ExecutorTool, Tool: tool, Args: args, DependsOn: []string{}}
	for _, s := range l.steps {
		if s.Tool == tool && plan.CanonicalJSON(s.Args) == plan.CanonicalJSON(args) {
			return
		}
	}
	l.steps = append(l.steps, step)
}

// near reports whether one of the words stands right before or after a token.
func (l *looker) near(i int, words ...string) bool {
	return i > 0 && l.tokens[i-1].is(words...) || i+1 < len(l.tokens) && l.tokens[i+1].is(words...)
}

// any reports whether the goal holds one of the words.
func (l *looker) any(words ...string) bool {
	return slices.ContainsFunc(l.tokens, func(t token) bool { return t.is(words...) })
}

var (
	todoMarks = strings.Fields("TODO TODOs FIXME FIXMEs HACK XXX")
	usage     = strings.Fields("use uses used using call calls called caller callers reference references referenced import imports imported")
	wellKnown = strings.Fields("readme changelog license licence makefile dockerfile contributing notes justfile")
	numbers   = strings.Fields("one two three four five six seven eight nine ten")
)

// listingWords are all that a goal says which asks for the files of a folder, beside the folder.
var listingWords = strings.Fields("which what list show give me us the all a are is there in of inside under below files file folder directory structure tree content contents names name please " +
	"how many number count and type types kind kinds extension extensions they have does do")

// listing lists a folder if the goal asks for its files, and for nothing else: "Which files are
// in the data folder?"
func (l *looker) listing() bool {
	folder, at := "", -1
	for i, t := range l.tokens {
		if t.is(listingWords...) && !t.quoted {
			continue
		}
		if folder != "" {
			return false
		}
		if folder, at = l.folderNamed(t.text), i; folder == "" {
			return false
		}
	}
	if folder == "" || !l.asks || !l.any("files", "structure", "tree", "content", "contents") {
		return false
	}
	l.add("List "+folder, "fs.list", map[string]any{"path": folder})
	for i := range l.tokens {
		l.named[i] = i == at || l.tokens[i].is(listingWords...)
	}
	return true
}

// mark looks for comments of the kinds that the goal names, all at once.
func (l *looker) mark(_ int, t token) bool {
	isMark := func(t token) bool {
		return !t.quoted && (slices.Contains(todoMarks, t.text) || l.asks && t.is("todos", "fixmes") && l.any("code", "comments", "source"))
	}
	if !isMark(t) {
		return false
	}
	var words []string
	for i, t := range l.tokens {
		if word := strings.ToUpper(strings.TrimSuffix(t.text, "s")); isMark(t) && !slices.Contains(words, word) {
			words = append(words, word)
		}
		l.named[i] = l.named[i] || i == 0 && t.is("find", "search")
	}
	args := map[string]any{"query": strings.Join(words, "|")}
	if len(words) > 1 {
		args["regex"] = true
	}
	l.add("Search for "+english.List(words, "and"), "fs.search", args)
	return true
}

// file reads a file of the workspace.
func (l *looker) file(_ int, t token) bool {
	at := l.fileNamed(t.text)
	if at == "" {
		return false
	}
	l.read(at, 0)
	return true
}

// read reads a file, or what is around a line of a large one.
func (l *looker) read(at string, line int) {
	args := map[string]any{"path": at}
	if slices.Contains(l.facts.Large, at) {
		args["limit"] = 2 * around
		if line > around/3 {
			args["offset"] = line - around/3
		}
	}
	l.add("Read "+at, "fs.read", args)
}

// fileNamed returns the only file that a word names, by its path or by its name with an
// extension; "" for none.
func (l *looker) fileNamed(word string) string {
	name := strings.ToLower(pathOf(strings.TrimSuffix(strings.TrimPrefix(word, "./"), "'s")))
	if name == "" || strings.HasSuffix(word, "/") {
		return ""
	}
	var found []string
	for _, file := range l.facts.Files {
		lower := strings.ToLower(file)
		stem := strings.TrimSuffix(lower, path.Ext(lower))
		switch {
		case lower == name:
			return file
		case strings.Contains(name, ".") && strings.HasSuffix(lower, "/"+name),
			slices.Contains(wellKnown, name) && stem == name:
			found = append(found, file)
		}
	}
	if len(found) != 1 {
		return ""
	}
	return found[0]
}

// folder looks into a folder: at its declarations, its few files, or its list.
func (l *looker) folder(i int, t token) bool {
	called := strings.Contains(t.text, "/") || l.near(i, holdersOfFiles...) || l.amongFolders(i) ||
		i > 1 && l.tokens[i-1].is("of", "in", "from", "under") && (l.tokens[i-2].is(declarations...) || l.tokens[i-2].is("files"))
	if !called || t.is(holdersOfFiles...) {
		return false
	}
	folder := l.folderNamed(t.text)
	if folder == "" {
		return false
	}
	if l.asks && l.any(importing...) {
		l.importers(folder)
		return true
	}
	l.inside(folder)
	return true
}

// holdersOfFiles are words for folders.
var holdersOfFiles = strings.Fields("folder directory dir package module folders directories dirs packages modules")

// amongFolders reports whether a word is one of several folders: "the packages order and store".
func (l *looker) amongFolders(i int) bool {
	for i--; i > 0 && (l.tokens[i].is("and", "or") || l.folderNamed(l.tokens[i].text) != ""); i-- {
		if l.tokens[i-1].is("folders", "directories", "dirs", "packages", "modules") {
			return true
		}
	}
	return false
}

// importing are the words of a question about who imports a package.
var importing = strings.Fields("import imports imported importing importers")

// importers searches for the lines that import the package of a folder, in Go, Python,
// JavaScript and Rust.
func (l *looker) importers(folder string) {
	name := regexp.QuoteMeta(path.Base(folder))
	l.add("Search for imports of "+path.Base(folder), "fs.search", map[string]any{
		"query": `^\s*(\w+ |import )?"([^"]*/)?` + name + `"$|^\s*(import|from|use)\s+([\w.:]*[.:])?` + name + `\b|(from|require\()\s*['"]([^'"]*/)?` + name + `['"/]`, "regex": true,
	})
	for i, t := range l.tokens {
		l.named[i] = l.named[i] || t.is(importing...)
	}
}

// folderNamed returns the only folder that a word names, by its path or its end; "" for none.
func (l *looker) folderNamed(word string) string {
	name := strings.Trim(strings.TrimSuffix(strings.TrimPrefix(strings.ToLower(word), "./"), "/."), "/") // "in config/." ends a sentence
	if name == "" {
		return ""
	}
	var found []string
	for _, folder := range l.facts.Folders {
		lower := strings.ToLower(folder)
		if lower == name {
			return folder
		}
		if strings.HasSuffix(lower, "/"+name) {
			found = append(found, folder)
		}
	}
	if len(found) != 1 {
		return ""
	}
	return found[0]
}

// declarations are words for what code declares.
var declarations = strings.Fields("function functions func method methods type types class classes struct structs constant constants " +
	"interface interfaces symbol symbols exported export exports declares declared api")

// extensions are words for kinds of files.
var extensions = map[string][]string{
	"json": {".json"}, "yaml": {".yaml", ".yml"}, "yml": {".yaml", ".yml"}, "toml": {".toml"}, "csv": {".csv"}, "xml": {".xml"}, "html": {".html"},
	"markdown": {".md"}, "go": {".go"}, "python": {".py"}, "typescript": {".ts", ".tsx"}, "javascript": {".js", ".jsx", ".mjs"}, "rust": {".rs"},
	"sql": {".sql"}, "css": {".css"}, "shell": {".sh"}, "text": {".txt"},
}

// inside looks into a folder.
func (l *looker) inside(folder string) {
	if l.any(declarations...) {
		l.add("List what "+folder+" declares", "code.symbols", map[string]any{"path": folder})
		return
	}
	var kinds []string
	for _, t := range l.tokens {
		kinds = append(kinds, extensions[t.key]...)
	}
	if !l.asks && l.any("names", "paths", "list") && l.any("files") && !l.any("that", "which", "with", "without", "whose", "where") {
		l.add("List "+folder, "fs.list", map[string]any{"path": folder})
		return
	}
	var files []string
	for _, file := range l.facts.Inside {
		if path.Dir(file) == folder && (len(kinds) == 0 || slices.Contains(kinds, path.Ext(file))) {
			files = append(files, file)
		}
	}
	if named := l.namedBy(files); len(named) > 0 && (!l.any("files") || !l.any(conditional...)) { // it asks which of them meet a condition
		files = named
	}
	if len(files) == 0 || len(files)+len(l.steps) > mostInside || len(l.facts.Inside) >= mostFacts || slices.ContainsFunc(files, func(f string) bool { return slices.Contains(l.facts.Large, f) }) {
		l.add("List "+folder, "fs.list", map[string]any{"path": folder})
		return
	}
	for _, file := range files {
		l.read(file, 0)
	}
}

// conditional are words for a condition that files meet or do not.
var conditional = strings.Fields("have has having contain contains containing mention mentions with without lack lacks lacking miss missing define defines declare declares use uses set sets")

// namedBy returns the files whose names hold a word or a year of the goal: "the sales of 2026".
func (l *looker) namedBy(files []string) (named []string) {
	for _, file := range files {
		base := strings.ToLower(path.Base(file))
		for _, t := range l.tokens {
			if len(t.key) >= 4 && extensions[t.key] == nil && !strings.Contains(t.key, "/") && !t.is(listingWords...) && slices.Contains(nameParts.Split(base, -1), t.key) {
				named = append(named, file)
				break
			}
		}
	}
	return named
}

// nameParts separates the words in the name of a file.
var nameParts = lazyregexp.New(`[^a-z0-9]+`)

// declared looks at a declaration. It looks at its uses where the goal asks for them, else
// at its file, and at the source that a named test tests.
func (l *looker) declared(_ int, t token) bool {
	name := symbolName(t.text)
	if name == "" {
		return false
	}
	var found []Declaration
	for _, d := range l.facts.Declared {
		if d.Name == name {
			found = append(found, d)
		}
	}
	switch {
	case len(found) == 0:
		return false
	case l.asks && l.any(usage...):
		l.add("Find uses of "+name, "code.references", map[string]any{"symbol": name})
		for i, t := range l.tokens {
			l.named[i] = l.named[i] || t.is(usage...)
		}
		return true
	case len(found) > 2:
		l.add("Find the declarations of "+name, "code.definition", map[string]any{"symbol": name})
		return true
	}
	for _, d := range found {
		l.read(d.Path, d.Line)
		if d.Tested != "" {
			l.read(d.Tested, 0)
		}
	}
	return true
}

// name searches for a name that nothing declares, such as a variable of the environment,
// and for quoted text.
func (l *looker) name(_ int, t token) bool {
	name := strings.TrimSuffix(t.text, "()")
	if len(name) < 3 || len(name) > 80 || !t.quoted && (!strings.Contains(name, "_") || !identifier.MatchString(name)) {
		return false
	}
	if t.quoted && !l.asks { // often the text to write
		return false
	}
	l.add("Search for "+name, "fs.search", map[string]any{"query": name})
	return true
}

// quantity searches for a number that a question is about: "Where does the number 350 occur?"
func (l *looker) quantity(i int, t token) bool {
	if !l.asks || i == 0 || !l.tokens[i-1].is("number", "value", "text", "string") || !isNumber.MatchString(t.text) {
		return false
	}
	l.add("Search for "+t.text, "fs.search", map[string]any{"query": `\b` + regexp.QuoteMeta(t.text) + `\b`, "regex": true})
	for j, t := range l.tokens {
		l.named[j] = l.named[j] || j == i-1 || t.is("occur", "occurs", "appear", "appears", "need", "used", "stand", "stands")
	}
	return true
}

// commits looks at commits that the goal names.
func (l *looker) commits() {
	for i, t := range l.tokens {
		if !t.is("commit", "commits") {
			continue
		}
		before := func(n int) token {
			if i-n >= 0 {
				return l.tokens[i-n]
			}
			return token{}
		}
		last := func(t token) bool { return t.is("last", "latest", "newest", "recent", "previous") }
		count := slices.Index(numbers, before(1).key) + 1
		if n, err := strconv.Atoi(before(1).key); err == nil {
			count = n
		}
		switch {
		case count > 0 && count <= 50 && last(before(2)):
			l.log(count)
			l.named[i-1], l.named[i-2] = true, true
		case t.is("commit") && last(before(1)):
			l.add("Show the last commit", "vcs.show", map[string]any{})
			l.named[i-1] = true
		case t.is("commit") && i+1 < len(l.tokens) && hash.MatchString(l.tokens[i+1].text):
			l.add("Show the commit "+l.tokens[i+1].text, "vcs.show", map[string]any{"ref": l.tokens[i+1].text})
			l.named[i+1] = true
		case t.is("commits") && last(before(1)):
			l.log(10)
			l.named[i-1] = true
		default:
			if !l.touched() && !l.authors() {
				continue
			}
		}
		l.named[i] = true
	}
	for i, t := range l.tokens {
		if t.is("uncommitted", "unstaged") {
			l.add("Show the changes that are not committed", "vcs.diff", map[string]any{})
			l.named[i] = true
		}
	}
}

// touched lists the commits that changed the file which a question about commits names. It
// reports whether the question names one.
func (l *looker) touched() bool {
	for i, t := range l.tokens {
		at := l.fileNamed(t.text)
		if at == "" || !l.asks {
			continue
		}
		l.add("List the commits that changed "+at, "vcs.log", map[string]any{"path": at, "max": mostTouched})
		l.named[i] = true
		for j, t := range l.tokens {
			l.named[j] = l.named[j] || t.is("add", "added", "changed", "touched", "introduced", "created", "wrote", "modified", "message")
		}
		return true
	}
	return false
}

// authors lists the commits where a question asks how many there are, or who made them, and
// where a goal is about all of them.
func (l *looker) authors() bool {
	if !l.any("all", "each", "every") && (!l.asks || !l.any("who", "many", "authors", "author", "count", "number")) {
		return false
	}
	l.add("List the commits", "vcs.log", map[string]any{"max": mostCommits})
	for i, t := range l.tokens {
		l.named[i] = l.named[i] || t.is("made", "make", "author", "authors", "wrote", "contributors", "repo")
	}
	return true
}

func (l *looker) log(count int) {
	l.add("List the last "+strconv.Itoa(count)+" commits", "vcs.log", map[string]any{"max": count})
}

var hash = lazyregexp.New(`^[0-9a-f]{7,40}$`)

// testLines matches the line that begins a test, in several languages.
const testLines = `func (Test|Fuzz|Benchmark)\w*\(|def test_\w+|^\s*(it|test)\(|#\[(tokio::)?test\]|@Test\b`

// tests looks for the tests of the project where the goal asks which there are.
func (l *looker) tests() {
	at := slices.IndexFunc(l.tokens, func(t token) bool { return t.is("tests", "test") })
	if at < 0 || !l.asks || len(l.steps) > 0 || !l.any("many", "list", "name", "which", "count", "number", "what") || l.any("run", "fail", "fails", "failing", "pass", "passes") {
		return
	}
	l.add("Find the test functions", "fs.search", map[string]any{"query": testLines, "regex": true})
	for i, t := range l.tokens {
		if t.is("test", "tests") {
			l.named[i] = true
		}
	}
}

// everywhere lists what the code declares if the goal wants a list of it and names no
// place but the whole. An example is "Create TYPES.md with one line for each struct type
// in the code".
func (l *looker) everywhere() {
	if len(l.steps) > 0 || !l.any("each", "every", "all", "which", "list", "many") || !l.any("code", "codebase", "project", "repository", "repo", "module", "package", "here", "there") {
		return
	}
	for i, t := range l.tokens {
		if len(kindWords[t.key]) > 0 && !t.quoted && (i == 0 || !l.tokens[i-1].is("add", "new", "a", "this")) && (l.asks || l.any("create", "write", "make", "generate", "list")) {
			l.add("List what the code declares", "code.symbols", map[string]any{"path": "."})
			for j, t := range l.tokens {
				l.named[j] = l.named[j] || j == i || extensions[t.key] != nil || t.is("codebase", "module", "one", "ones", "located", "lives")
			}
			return
		}
	}
}

// plainWords say nothing about which results a question needs.
var plainWords = strings.Fields("a an the this that these those it its them their there here is are was were be been do does did has have had can could i we me us my our you " +
	"of in on at to for from by with between and or both each every all any as so please " +
	"what which who where when how why many much list show name names named tell describe explain summarize summarise compare count number print give " +
	"file files key keys value values field fields line lines entry entries comment comments content contents setting settings option options default defaults " +
	"differ differs different difference differences compared comparing versus vs same change changes changed contain contains say says said mean means look like about " +
	"function functions func method methods type types class classes exported public declared declares defined defines constant constants struct structs " +
	"commit commits last latest project repository repo folder directory package module code set sets up exist exists json yaml toml csv " +
	"define declare place places spot spots together called they're")

// open reports whether the goal asks about something that the looks are not about.
func (l *looker) open() bool {
	for i, t := range l.tokens {
		if !l.named[i] && !t.is(plainWords...) && (t.quoted || !t.is(todoWords()...)) {
			return true
		}
	}
	return false
}

func todoWords() []string { return []string{"todo", "fixme"} }

// symbolName returns the name of a declaration that a word may be: the last part of
// Store.Len, without parentheses; "" if it cannot be one.
func symbolName(word string) string {
	word = strings.TrimSuffix(strings.TrimSuffix(word, "'s"), "()")
	name := word[strings.LastIndexAny(word, ".:#")+1:]
	if !identifier.MatchString(name) {
		return ""
	}
	return name
}

// likeCode reports whether a word looks like a name in code, and not like one of prose.
func likeCode(word string) bool {
	name := symbolName(word)
	if len(name) < 2 {
		return false
	}
	inner := strings.IndexFunc(name[1:], func(r rune) bool { return r >= 'A' && r <= 'Z' }) >= 0 && strings.ToUpper(name) != name
	return inner || strings.Contains(strings.Trim(name, "_"), "_") || strings.HasSuffix(word, "()") || name != word && !strings.Contains(word, "/")
}

// imperatives begin a clause that wants something changed or done.
var imperatives = strings.Fields("create write add fix repair change rename delete remove set update replace insert implement refactor move commit push " +
	"edit modify make convert generate bump install extract simplify rewrite clean tidy format upgrade downgrade increase decrease raise lower " +
	"append prepend document revert undo run rerun execute build deploy release publish merge rebase checkout switch sort split join enable disable turn put save correct copy")

// fillers may stand before the verb of a clause.
var fillers = strings.Fields("please also then just now first next finally and but or to can could would you we i want need let's lets go ahead")

// inquiries begin a clause that asks, besides the words of questions.
var inquiries = strings.Fields("list name count is are does did has summarize summarise compare print search look read outline")

// questioned reports whether the clause at the start of tokens ends with a question mark.
// It also does if the second word is who is asked about: "do we have", but not "do it".
func questioned(tokens []token) bool {
	if len(tokens) > 1 && tokens[1].is("we", "you", "they", "i", "any") {
		return true
	}
	for _, t := range tokens {
		if t.after != "" && t.after != "…" {
			return strings.Contains(t.after, "?")
		}
	}
	return false
}

// OnlyAsks reports whether a goal only asks for information: none of its clauses begins
// with a verb that changes or runs something.
func OnlyAsks(goal string) bool {
	tokens := split(goal, 4*maxWords)
	if len(tokens) == 0 || replaces(tokens) {
		return false
	}
	begins := true // a clause begins here
	asks := false
	for i, t := range tokens {
		switch {
		case begins && t.is(fillers...):
		case begins:
			if t.is(imperatives...) || isGiving(tokens, i) {
				return false
			}
			asks = asks || t.is("for", "in", "at", "on", "by", "to", "from", "with", "of", "since", "until") && i+1 < len(tokens) && tokens[i+1].is(questions...) || t.is(questions...) || t.is(asking...) || t.is(inquiries...) || t.is("give") && i+1 < len(tokens) && tokens[i+1].is("me", "us") || t.is("do", "have") && questioned(tokens[i:])
			begins = false
		}
		if t.after != "" && t.after != "…" || t.is("and", "then", "but") {
			begins = true
		}
	}
	return asks
}

// isGiving reports whether the verb at a position gives code something: "give each field a tag",
// and not "give me the list".
func isGiving(tokens []token, i int) bool {
	return tokens[i].is("give") && i+1 < len(tokens) && !tokens[i+1].is("me", "us", "a", "an", "details", "examples", "reasons", "one")
}

// replaces reports whether a goal says what to have instead of something, and does not ask
// about it. So does "Print the message to stderr instead of stdout".
func replaces(tokens []token) bool {
	first := slices.IndexFunc(tokens, func(t token) bool { return !t.is(fillers...) })
	return first >= 0 && !tokens[first].is(questions...) && !tokens[first].is("explain", "tell", "describe", "know", "understand", "figure") && slices.ContainsFunc(tokens, func(t token) bool { return t.is("instead") })
}

// WantsTests reports whether a goal asks for a run of the tests: "run the tests", "check
// that the tests pass".
func WantsTests(goal string) bool {
	tokens := split(goal, 4*maxWords)
	for i, t := range tokens {
		if !t.is("tests", "test") {
			continue
		}
		for _, before := range tokens[max(0, i-4):i] {
			if before.is("run", "rerun", "check", "verify", "ensure", "sure") {
				return true
			}
		}
		if i+1 < len(tokens) && tokens[i+1].is("pass", "passes") || wantsToPass(tokens[i:]) {
			return true
		}
	}
	return false
}

// Declaration is where a name of the goal is declared.
type Declaration struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"` // function, type, constant …; "" if unknown
	Path   string `json:"path"`
	Line   int    `json:"line"`             // from 1
	Tested string `json:"tested,omitempty"` // of a test: the source file that it tests
}

// Place names a declaration for a reader: "IsEmpty: function, order/order.go:28".
func (d Declaration) Place() string {
	return d.Name + ": " + cmp.Or(d.Kind, "declared") + ", " + d.Path + ":" + strconv.Itoa(d.Line)
}

// listedBy is the action whose answer shows the results of an operator.
var listedBy = map[string]string{
	"fs.search": find, "fs.list": find, "code.symbols": symbols, "code.references": references, "vcs.log": history, "vcs.status": status,
}

// AnsweredByLooks returns the intent whose answer by rule answers a goal that only asks.
// The goal asks for a list, and one of the steps that looked at what it names made it.
func AnsweredByLooks(goal string, steps []plan.Step) (Intent, bool) {
	if len(steps) != 1 || listedBy[steps[0].Tool] == "" || !OnlyAsks(goal) {
		return Intent{}, false
	}
	lists := false
	for _, t := range split(goal, 4*maxWords) {
		if t.is("why", "how", "explain", "describe", "compare", "summarize", "summarise") {
			lists = t.is("how") // "how many" is a count
			if !lists {
				return Intent{}, false
			}
		}
	}
	words := strings.ToLower(goal)
	if lists && !strings.Contains(words, "how many") {
		return Intent{}, false
	}
	in := Parse(goal)
	in.Action = listedBy[steps[0].Tool]
	if at, ok := steps[0].Args["path"].(string); ok && steps[0].Tool == "fs.list" && at != "." {
		in.Params["in"] = at
	}
	if form := ListFormOf(goal, ""); steps[0].Tool == "code.symbols" {
		in.Params["kinds"] = strings.Join(form.Kinds, " ")
		if form.Exported {
			in.Params["exported"] = "true"
		}
	}
	return in, true
}

// AnsweredByChanges returns the intent whose answer by rule reports the changes that a
// goal wants. ok is false if the goal also asks something.
func AnsweredByChanges(goal string) (in Intent, ok bool) {
	begins, changes := true, false
	for _, t := range split(goal, 4*maxWords) {
		switch {
		case begins && t.is(fillers...):
		case begins:
			named := changes && !strings.Contains(goal, "?") // "Create a.md with the names and what each is for"
			changes = changes || t.is(changing...)
			if t.is(questions...) && !named || t.is("explain", "describe", "tell", "find", "summarize", "list", "show", "figure", "investigate", "debug", "compare") {
				return Intent{}, false
			}
			begins = false
		case t.is("why"):
			return Intent{}, false
		}
		if t.after != "" && t.after != "…" || t.is("and", "then", "but") {
			begins, changes = true, changes && t.after == ""
		}
	}
	in = Parse(goal)
	in.Action = edit
	return in, !OnlyAsks(goal) && (WantsChange(goal) || !strings.HasSuffix(strings.TrimSpace(goal), "?"))
}

// changing verbs change files; of the imperatives, the others run something.
var changing = strings.Fields("create write add fix repair change rename delete remove set update replace insert implement refactor edit modify " +
	"extract simplify rewrite bump upgrade downgrade increase decrease raise lower append prepend document correct save sort enable disable turn improve extend")

// WantsChange reports whether a clause of the goal begins with a verb that changes files, or
// the goal says what to have instead of something.
func WantsChange(goal string) bool {
	tokens := split(goal, 4*maxWords)
	if replaces(tokens) {
		return true
	}
	begins := true
	for i, t := range tokens {
		switch {
		case begins && t.is(fillers...):
		case begins:
			if t.is(changing...) || isGiving(tokens, i) {
				return true
			}
			begins = false
		}
		if t.after != "" && t.after != "…" || t.is("and", "then", "but") {
			begins = true
		}
	}
	return false
}

// WantsAll reports whether a goal wants the same change in several files: in both, in all,
// in each of them.
func WantsAll(goal string) bool {
	return WantsChange(goal) && slices.ContainsFunc(split(goal, 4*maxWords), func(t token) bool { return t.is("both", "all", "each", "every", "everywhere") })
}

// ListFile returns the file that a goal wants a plain list in: "Create NOTES.md with a list
// of all functions of the package slug". ok is false if the goal wants anything else, or a
// list of only those that meet a condition.
func ListFile(goal string) (file string, ok bool) {
	tokens := split(goal, 4*maxWords)
	lists, verbs := false, 0
	for i, t := range tokens {
		switch {
		case t.is("that", "whose", "without", "no", "not", "where", "if", "except", "only", "which", "sorted", "by", "why", "how", "about", "explain", "summary", "describe"):
			return "", false
		case t.is("list", "lists", "listing", "names", "line", "lines", "subjects", "messages"):
			lists = true
		case t.is(imperatives...) && (i == 0 || tokens[i-1].after != "" || tokens[i-1].is("and", "then", "please")):
			if verbs++; !t.is("create", "write", "make", "generate", "save", "put") {
				return "", false
			}
		case file == "" && isFile(t.text) && !strings.ContainsAny(t.text, "*?"):
			file = t.text
		}
	}
	return file, lists && verbs == 1 && file != ""
}

// Deletes reports whether a goal wants a declaration deleted as a whole, and no parameter,
// call or comment of it. So do "Delete the unused function Login from auth.go", "Nothing
// calls Login. Remove it along with its comment".
func Deletes(goal, name string) bool {
	tokens := split(goal, 4*maxWords)
	at := slices.IndexFunc(tokens, func(t token) bool { return !t.is(fillers...) })
	named, only := false, true // the words so far say only that nothing needs the declaration
	for i, t := range tokens {
		if i == at || i > 0 && (tokens[i-1].after != "" || tokens[i-1].is("please", "then", "and", "so")) {
			if t.is("delete", "remove", "drop") {
				rest := tokens[i+1:]
				if named && len(rest) > 0 && rest[0].is("it") {
					return only && deletesAll(rest[0], rest[1:])
				}
				return !named && deletesNamed(rest, name)
			}
			if t.is(imperatives...) {
				return false
			}
		}
		isName := symbolName(t.text) == name && !strings.HasSuffix(t.text, "'s")
		named = named || isName
		only = only && (isName || t.is(unneeded...) || t.is(fillers...) || i > 1 && tokens[i-1].is("in") && symbolName(tokens[i-2].text) == name)
	}
	return false
}

// unneeded are words that say of a declaration that nothing needs it.
var unneeded = strings.Fields("the function func method class type struct interface constant variable nothing nobody none calls uses needs references is isn't are not no longer any more anymore " +
	"never dead unused unneeded obsolete deprecated code used called needed referenced anywhere by anything in")

// deletesNamed reports whether the words after the verb name a declaration as a whole.
func deletesNamed(tokens []token, name string) bool {
	for i, t := range tokens {
		if symbolName(t.text) == name && !strings.HasSuffix(t.text, "'s") {
			rest := tokens[i+1:]
			if len(rest) > 0 && (rest[0].is("function", "method", "class", "type", "constant") || rest[0].is("test") && strings.HasPrefix(strings.ToLower(name), "test")) {
				t, rest = rest[0], rest[1:]
			}
			return deletesAll(t, rest)
		}
		if t.after != "" || !t.is("the", "a", "an", "unused", "old", "dead", "obsolete", "deprecated", "legacy", "exported", "function", "func", "method", "class", "type", "struct", "interface", "constant", "variable", "test") {
			return false
		}
	}
	return false
}

// deletesAll reports whether the words after what is deleted leave it whole: none, its
// comment too, the file that it is in, or another task.
func deletesAll(t token, rest []token) bool {
	if len(rest) > 1 && rest[0].is("along", "together") {
		rest = rest[1:]
	}
	if len(rest) > 2 && rest[0].is("with", "and") && rest[1].is("its", "the") && rest[2].is("comment", "comments", "docstring", "doc", "documentation") {
		if t, rest = rest[2], rest[3:]; t.is("doc") && len(rest) > 0 {
			t, rest = rest[0], rest[1:]
		}
	}
	another := false // task follows
	for len(rest) > 0 && rest[0].is("and", "then", "please") {
		rest = rest[1:]
		if another = len(rest) > 0 && (rest[0].is(verbs...) || rest[0].is("then", "please", "ensure")); !another {
			return false
		}
	}
	if slices.ContainsFunc(rest, func(t token) bool {
		return t.is("replace", "add", "write", "create", "implement", "insert", "except", "but")
	}) {
		return false // the declaration is not all that changes
	}
	return t.after != "" || len(rest) == 0 || another ||
		len(rest) > 1 && rest[0].is("from", "in", "of") && (isFile(rest[1].text) || len(rest) > 2 && rest[1].is("the", "file") && isFile(rest[2].text))
}

// related reads the files that are about the words of a goal that names nothing.
func (l *looker) related() {
	if len(l.steps) > 0 {
		return
	}
	for _, at := range l.facts.Related {
		l.read(at, 0)
	}
}
