package intent

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"replan/internal/lazyregexp"
)

// The words that people type at a prompt of a shell. They are read as the shell's programs
// read them: a flag that is not known here leaves the words to the grammar, or is not followed.

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
	if len(tokens) > 1 && tokens[0].is("run", "execute") && (tokens[1].is(runners...) && !tokens[1].is("make", "just") || len(tokens) > 2 && tokens[1].is("make", "just")) {
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
	case first.is("pwd"):
		return programCommand(words, tokens), len(args) == 0
	case first.is("pytest"), first.is("cargo") && len(args) > 0 && !second.is(articles...) && !second.is(questions...),
		first.is("npm", "pnpm", "yarn", "bun") && len(args) > 0 && !second.is("is", "are", "was"),
		first.is("go") && second.is(goRuns...),
		first.is("go") && second.is("test", "vet") && slices.ContainsFunc(args[1:], isFlag),
		first.is("python", "python3") && second.is("-m") && len(args) > 1 && args[1].is("pytest", "unittest", "build"):
		return programCommand(words, tokens), true
	case first.is("make", "just"):
		names := slices.DeleteFunc(slices.Clone(args), func(t token) bool { return isFlag(t) || strings.Contains(t.text, "=") })
		plain := len(names) == 0 || len(names) == 1 && makeName.MatchString(names[0].text) && !names[0].is(articles...) && !names[0].is(pronouns...) && !names[0].is("branch", "sure")
		return programCommand(words, tokens), plain && (first.is("make") || len(names) == 1)
	default:
		return formMatch{}, false
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

// searchCommand reads the arguments of grep and its kin: a pattern, and where to look. Of the
// flags it knows those that choose lines.
func searchCommand(words, program string, args []token) (r formMatch, ok bool) {
	r = formMatch{form: form{action: find, params: map[string]string{"exact": "true", "case": "same"}}, params: map[string]phrase{}}
	var rest []token
	flagged, expression := false, program != "grep" && program != "fgrep"
	for i := 0; i < len(args); i++ {
		t := args[i]
		switch {
		case !isFlag(t):
			rest = append(rest, t)
			continue
		case (t.text == "-e" || t.text == "--regexp") && i+1 < len(args):
			rest = append([]token{args[i+1]}, rest...)
			i++
		case (t.text == "-g" || t.text == "--glob") && i+1 < len(args):
			r.params["glob"] = phrase{text: args[i+1].text}
			i++
		case strings.HasPrefix(t.text, "--include="):
			r.params["glob"] = phrase{text: strings.Trim(strings.TrimPrefix(t.text, "--include="), `"'`)}
		case t.text == "-F" || t.text == "--fixed-strings":
			expression = false
		case strings.Trim(t.text, "-rRnHsIaiwEP") == "" || unread.MatchString(t.text) || t.text == "--ignore-case" || t.text == "--word-regexp":
			letters := strings.TrimPrefix(t.text, "-")
			if strings.ContainsAny(letters, "EP") && letters[0] != '-' {
				expression = true
			}
			if t.text == "--ignore-case" || letters[0] != '-' && strings.Contains(letters, "i") {
				r.form.params["case"] = "any"
			}
			if t.text == "--word-regexp" || letters[0] != '-' && strings.Contains(letters, "w") {
				r.form.params["whole"] = "true"
			}
		default:
			r.open = append(r.open, "a search here has no flag "+t.text+": leave it out")
		}
		flagged = true
	}
	quoted := len(rest) > 0 && rest[0].quoted
	switch {
	case len(rest) == 0 || len(rest) > 2, len(rest) == 2 && rest[0].is("for", "all"):
		return r, false
	case program == "grep" && !flagged && !quoted && len(rest) < 2 && !strings.ContainsAny(rest[0].text, `\.*[]^$`):
		return r, false // a find in words
	}
	r.target = phrase{rest[:1], rest[0].text}
	if len(rest) == 2 && rest[1].text != "." {
		r.params["in"] = cut(words, rest[1:])
	}
	if expression {
		r.form.params["expression"] = "true"
	} else if program == "grep" && strings.ContainsAny(r.target.text, `\*[]^$`) { // a basic expression, unlike those of RE2
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
	said := make([]string, len(argv))
	for i, arg := range argv {
		if said[i] = arg; arg == "" || strings.ContainsAny(arg, " \t\n\"'") {
			said[i] = strconv.Quote(arg)
		}
	}
	return path.Base(said[0]) + strings.TrimPrefix(strings.Join(said, " "), said[0])
}
