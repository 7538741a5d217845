package intent

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"replan/internal/lazyregexp"
)

// The words that people type at a prompt of a shell. They are read as the shell's programs read
// them. A flag that is not known here leaves the words to the grammar, or is not followed.

var (
	searchers = strings.Fields("grep egrep fgrep rg ag ack")
	runners   = strings.Fields("npm pnpm yarn bun cargo pytest make just")
	goRuns    = strings.Fields("build run generate mod fmt install list tool work get doc")

	// unread flags change nothing that is shown here: a search goes through all folders, and
	// names the file and the line of each match.
	unread = lazyregexp.New(`^(?:-[rRnHsIaE]*|--(?:recursive|line-number|with-filename|extended-regexp|no-messages|oneline|color(?:=\w+)?|hidden|no-heading))$`)
	// shellSigns mean something to a shell, which runs none of these commands.
	shellSigns = "$*?<>;&|`{}()!"
	makeName   = lazyregexp.New(`^[A-Za-z0-9][\w./-]*$`)
	countFlag  = lazyregexp.New(`^-(?:n|-max-count=)?([0-9]+)$`)
)

// shellCommand reads a task as a command of a shell.
func shellCommand(words string, tokens []token) (r formMatch, ok bool) {
	if len(tokens) > 1 && tokens[0].is("run", "execute") && tokens[1].is(runners...) {
		tokens = tokens[1:]
	}
	args := tokens[1:]
	second := token{}
	if len(args) > 0 {
		second = args[0]
	}
	switch first := tokens[0]; {
	case first.is(searchers...):
		return searchCommand(words, first.key, args)
	case first.is("git") && second.is("grep"):
		return searchCommand(words, "grep", args[1:])
	case first.is("git") && second.is("log"):
		return logCommand(words, args[1:])
	case first.is("ls", "dir", "tree"):
		return listCommand(words, tokens)
	case first.is("cat", "less", "more", "bat"):
		return formMatch{form: form{action: readFile}, target: cut(words, args)}, len(args) == 1 && isFile(second.text)
	case runsProgram(first, args):
		return programCommand(words, tokens), true
	default:
		return formMatch{}, false
	}
}

// runsProgram reports whether words are a command of a program that builds or tests projects,
// and not a sentence that begins with its name.
func runsProgram(first token, args []token) bool {
	second := token{}
	if len(args) > 0 {
		second = args[0]
	}
	switch first.key {
	case "pytest":
		return true
	case "cargo", "npm", "pnpm", "yarn", "bun":
		return len(args) > 0 && !second.is(articles...) && !second.is(questions...) && !second.is(groups["is"]...)
	case "go":
		return second.is(goRuns...) || second.is("test", "vet") && slices.ContainsFunc(args, isFlag)
	case "python", "python3":
		return len(args) > 1 && second.is("-m") && args[1].is("pytest", "unittest", "build")
	case "make", "just":
		names := slices.DeleteFunc(slices.Clone(args), func(t token) bool { return isFlag(t) || strings.Contains(t.text, "=") })
		if len(names) == 0 {
			return first.key == "make"
		}
		name := names[0]
		return len(names) == 1 && makeName.MatchString(name.text) && !name.is(articles...) && !name.is(pronouns...) && !name.is("branch", "sure")
	default:
		return false
	}
}

// programCommand is a command that is run as it was typed.
func programCommand(words string, tokens []token) formMatch {
	r := formMatch{form: form{action: command}, params: map[string]phrase{"command": {tokens, words[tokens[0].start:tokens[len(tokens)-1].end]}}}
	if runsProjectTests(argvOf(tokens)) {
		r.form.params = map[string]string{"runs": "tests"}
	}
	for _, t := range tokens {
		if !t.quoted && strings.ContainsAny(t.text, shellSigns) {
			r.open = append(r.open, "no shell reads the command, so \""+t.text+"\" would mean itself: leave it out, or quote it")
		}
	}
	return r
}

// argvOf are the arguments of a command, without quotes.
func argvOf(tokens []token) []string {
	argv := make([]string, len(tokens))
	for i, t := range tokens {
		argv[i] = t.text
	}
	return argv
}

// runsProjectTests reports whether a command runs the tests of a project.
func runsProjectTests(argv []string) bool {
	switch {
	case len(argv) == 0:
		return false
	case argv[0] == "pytest":
		return true
	case slices.Contains([]string{"npm", "pnpm", "yarn", "bun"}, argv[0]):
		return scriptOf(argv) == "test"
	case argv[0] == "python" || argv[0] == "python3":
		return len(argv) > 2 && argv[2] != "build"
	default:
		return len(argv) > 1 && argv[1] == "test"
	}
}

// runsAllTests reports whether a command of a project runs all of its tests.
func runsAllTests(argv []string) bool {
	return runsProjectTests(argv) && (len(argv) == 1 || len(argv) == 2 && argv[0] != "pytest" && argv[0] != "make" && argv[0] != "just")
}

// grepFlags are what the flags of a search say.
type grepFlags struct {
	rest       []token // the pattern and the place
	given      bool
	expression bool // the pattern is a regular expression
	anyCase    bool
	whole      bool // the pattern is a whole word
	glob       string
	unknown    []string
}

// grepFlagsOf reads the arguments of grep and its kin. It knows the flags that choose lines.
func grepFlagsOf(program string, args []token) grepFlags {
	f := grepFlags{expression: program != "grep" && program != "fgrep"}
	for i := 0; i < len(args); i++ {
		t := args[i]
		if !isFlag(t) {
			f.rest = append(f.rest, t)
			continue
		}
		f.given = true
		last := i+1 == len(args)
		glob, globbed := strings.CutPrefix(t.text, "--include=")
		switch {
		case globbed:
			f.glob = strings.Trim(glob, `"'`)
		case !last && (t.text == "-e" || t.text == "--regexp"):
			i++
			f.rest = append([]token{args[i]}, f.rest...)
		case !last && (t.text == "-g" || t.text == "--glob"):
			i++
			f.glob = args[i].text
		case !f.letters(t.text) && !unread.MatchString(t.text):
			f.unknown = append(f.unknown, t.text)
		}
	}
	return f
}

// letters takes a flag that says how lines are matched. It reports whether it is one.
func (f *grepFlags) letters(flag string) bool {
	if short, ok := map[string]string{"--ignore-case": "i", "--word-regexp": "w", "--fixed-strings": "F"}[flag]; ok {
		flag = "-" + short
	}
	if strings.Trim(flag, "-rRnHsIaiwEPF") != "" || strings.HasPrefix(flag, "--") {
		return false
	}
	f.anyCase = f.anyCase || strings.Contains(flag, "i")
	f.whole = f.whole || strings.Contains(flag, "w")
	f.expression = (f.expression || strings.ContainsAny(flag, "EP")) && !strings.Contains(flag, "F")
	return true
}

// searchCommand reads a command of grep or its kin: a pattern, and where to look.
func searchCommand(words, program string, args []token) (r formMatch, ok bool) {
	f := grepFlagsOf(program, args)
	r = formMatch{form: form{action: find, params: map[string]string{"exact": "true", "case": "same"}}, params: map[string]phrase{}}
	if len(f.rest) == 0 || len(f.rest) > 2 || len(f.rest) == 2 && f.rest[0].is("for", "all") {
		return r, false
	}
	pattern := f.rest[0]
	basic := program == "grep" && !f.expression && strings.ContainsAny(pattern.text, `\*[]^$`)
	if program == "grep" && !f.given && !pattern.quoted && len(f.rest) < 2 && !basic && !strings.Contains(pattern.text, ".") {
		return r, false // a find in words
	}
	r.target = phrase{f.rest[:1], pattern.text}
	if len(f.rest) == 2 && f.rest[1].text != "." {
		r.params["in"] = cut(words, f.rest[1:])
	}
	if f.glob != "" {
		r.params["glob"] = phrase{text: f.glob}
	}
	for name, value := range map[string]bool{"expression": f.expression, "whole": f.whole} {
		if value {
			r.form.params[name] = "true"
		}
	}
	if f.anyCase {
		r.form.params["case"] = "any"
	}
	for _, flag := range f.unknown {
		r.open = append(r.open, "a search here has no flag "+flag+": leave it out")
	}
	if basic { // an expression unlike those of RE2
		r.open = append(r.open, "say how the pattern is meant: grep -E for an expression, grep -F for the text as it stands")
	}
	return r, true
}

// logCommand reads the arguments of git log: how many commits, since when, and of what.
func logCommand(words string, args []token) (r formMatch, ok bool) {
	r = formMatch{form: form{action: history}, params: map[string]phrase{}}
	for i := 0; i < len(args); i++ {
		t := args[i]
		m := countFlag.FindStringSubmatch(t.text)
		since, dated := strings.CutPrefix(t.text, "--since=")
		switch {
		case t.is("of", "for"):
			return r, false
		case m != nil:
			r.params["max"] = phrase{text: m[1]}
		case t.text == "-n" && i+1 < len(args) && isCount(args[i+1].text):
			i++
			r.params["max"] = phrase{text: args[i].text}
		case dated && since != "":
			r.params["since"] = phrase{text: strings.Trim(since, `"'`)}
		case t.text == "--oneline", t.text == "--":
		case isFlag(t):
			return r, false
		case r.target.text == "":
			r.target = cut(words, args[i:i+1])
		default:
			return r, false
		}
	}
	return r, true
}

// isCount reports whether a text is a number of things.
func isCount(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n > 0
}

// listCommand reads ls and tree: the folder, without flags that say how it is shown.
func listCommand(words string, tokens []token) (r formMatch, ok bool) {
	r = formMatch{form: form{action: find, params: map[string]string{"of": "files"}}, params: map[string]phrase{}}
	if tokens[0].is("tree") {
		r.form.params["deep"] = "true"
	}
	for i, t := range tokens[1:] {
		switch {
		case isFlag(t) && strings.Trim(t.text, "-lah1AtrS") == "" && !tokens[0].is("tree"):
		case isFlag(t) && t.text == "-R":
			r.form.params["deep"] = "true"
		case isFlag(t), len(r.params) > 0, t.is(articles...), t.is(pronouns...), t.is("is", "are", "was", "of", "for"):
			return r, false
		case t.text != ".":
			r.params["in"] = cut(words, tokens[i+1:i+2])
		}
	}
	return r, true
}

// shownCommand is a command as it is shown.
func shownCommand(argv []string) string {
	words := make([]string, len(argv))
	for i, arg := range argv {
		if words[i] = arg; arg == "" || strings.ContainsAny(arg, " \t\n\"'") {
			words[i] = strconv.Quote(arg)
		}
	}
	return path.Base(words[0]) + strings.TrimPrefix(strings.Join(words, " "), words[0])
}
