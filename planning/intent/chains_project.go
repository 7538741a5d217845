package intent

import (
	"regexp"
	"slices"
	"strings"

	"replan/internal/english"
)

// The chains that build and format the project, run its commands, and look at what it is
// made of.

// programTimeout is how long a program of the project may take.
const programTimeout = "15m"

// program runs a program of the project, which asks first.
func (b *builder) program(title string, argv []string) {
	args := make([]any, len(argv))
	for i, arg := range argv {
		args[i] = literally(arg)
	}
	b.call("proc.run", title, map[string]any{"argv": args, "timeout": programTimeout}, "")
}

// reread is the intent without the word just, where there is no justfile: "just test".
func (b *builder) reread() Intent {
	rest, just := strings.CutPrefix(b.in.Params["command"], "just ")
	if !just || b.facts.Project.has(justManifests) != "" {
		return b.in
	}
	if in := Parse(rest); in.Confidence >= Confident {
		return in
	}
	return b.in
}

// command runs a command as it was typed, if the project has what it runs.
func (b *builder) command() {
	if line, typed := b.in.TypedCommand(); typed {
		b.typedCommand(line)
		return
	}
	argv := argvOf(split(b.in.Params["command"], maxWords))
	if len(argv) == 0 {
		b.addMissing("run what? Name the command: cargo build")
		argv = []string{"true"}
	}
	if lack := b.facts.Project.lacks(argv); lack != "" {
		b.addMissing("%s", lack)
	}
	if runsAllTests(argv) && b.facts.Project.kinds() == 1 {
		b.call(runTests, "Run the tests", nil, "tests")
		return
	}
	b.program("Run "+inTitle(shownCommand(argv)), argv)
}

// buildProject runs the project's own build; asked how, it reads where that stands.
func (b *builder) buildProject() {
	argv, from := b.facts.Project.builds()
	b.byProject(argv, from, "how it is built", "build")
}

// formatCode formats the code by what the project has for it.
func (b *builder) formatCode() {
	if s := b.shape(); s != nothing && s != aPath {
		b.addMissing("format what? %q is no file: format the code, or name a file", b.about())
	}
	argv, from := b.facts.Project.formats(pathOf(b.in.Target))
	b.byProject(argv, from, "how its code is formatted", "format")
}

// byProject runs a command that the project has for a task, or shows it.
func (b *builder) byProject(argv []string, from, what, task string) {
	if argv == nil {
		if b.facts.Known {
			b.addMissing("nothing in this project says %s: %s", what, b.facts.Project.there())
		} else {
			b.addMissing("the command that %ss a project is known only in its folder", task)
		}
		argv = []string{task}
	}
	if b.in.Params["how"] != "" && from != "" {
		b.in.Params["command"] = shownCommand(argv)
		b.in.Target = from
		b.call("fs.read", "Read "+from, map[string]any{"path": from}, "")
		return
	}
	b.program("Run "+inTitle(shownCommand(argv)), argv)
}

// dependencies reads what the manifests of the project need.
func (b *builder) dependencies() {
	found := false
	for _, at := range b.facts.Project.Manifests {
		if listsDependencies(at) {
			b.call("fs.read", "Read "+at, map[string]any{"path": at}, "")
			found = true
		}
	}
	if !found {
		b.addMissing("no file at the root of this project lists dependencies: %s", b.facts.Project.there())
		b.call("fs.list", "List the files", nil, "")
	}
}

// folder looks at the workspace itself.
func (b *builder) folder() {
	if b.facts.Folder != "" {
		b.in.Params["workspace"] = b.facts.Folder
	}
	b.call("fs.stat", "Look at the folder", map[string]any{"path": "."}, "")
}

// mostLanguages is how many languages the lines of code are counted in.
const mostLanguages = 8

// lines counts the lines of each language that are not blank.
func (b *builder) lines() {
	place, extensions := b.within(), b.facts.Project.Code
	if len(extensions) == 0 {
		extensions = []string{""}
	}
	for _, ext := range extensions[:min(len(extensions), mostLanguages)] {
		args := map[string]any{"query": `\S`, "regex": true, "max": number(1), "path": place}
		if isFile(place) {
			b.call("fs.search", "Count the lines", args, "")
			return
		}
		if ext != "" {
			args["glob"] = "*" + ext
		}
		b.call("fs.search", "Count the lines of *"+ext, args, "")
	}
}

// testsPattern matches the lines that begin a test.
const testsPattern = `^\s*(?:func (?:Test|Benchmark|Fuzz|Example)[^a-z(]*\w*\(|(?:async )?def test_\w*|(?:async )?fn test_\w*|(?:test|it)(?:\.\w+)*\(\s*['"` + "`" + `]|@Test\b)`

// raisedPattern matches a line that raises an error of a name.
func raisedPattern(name string) string {
	return `\b(?:raise|throw|panic!?|return|bail!|Err)\b.*\b` + regexp.QuoteMeta(name) + `\b`
}

// marksIn are the marks of comments that a target names and nothing else, such as TODO and
// FIXME; nil if it names anything else.
func marksIn(target string) (marks []string) {
	for word := range strings.FieldsSeq(target) {
		upper := strings.ToUpper(strings.Trim(word, ","))
		switch singular := strings.TrimSuffix(upper, "S"); singular {
		case "TODO", "FIXME", "HACK", "XXX":
			marks = append(marks, singular)
		case "AND", "OR", "&", "COMMENT", "MARK", "NOTE":
		default:
			return nil
		}
	}
	return marks
}

// markList names marks in a sentence.
func markList(marks []string) string {
	quoted := make([]string, len(marks))
	for i, mark := range marks {
		quoted[i] = code(mark)
	}
	return english.List(quoted, "or")
}

// judging words say what a thing is like, which a search for words cannot tell.
var judging = strings.Fields("unused dead duplicate duplicated similar slow large largest long longest big biggest complex complicated missing untested uncovered undocumented " +
	"insecure vulnerable unsafe bad ugly wrong bugs leaks smells errors problems issues vulnerabilities bottlenecks")

// judged is what a search would have to judge; "" if it only has to look for words.
func judged(target string) string {
	words := strings.Fields(strings.ToLower(target))
	for _, word := range words {
		for _, j := range judging {
			if word == j {
				return j
			}
		}
	}
	return ""
}

// kindsOfText are things that code is full of, and that seldom say so themselves.
var kindsOfText = strings.Fields("messages strings texts literals queries calls endpoints routes handlers")

// severalThings reports whether words name all things of a kind: error messages.
func severalThings(target string) bool {
	words := strings.Fields(target)
	return len(words) == 2 && slices.Contains(kindsOfText, words[1])
}
