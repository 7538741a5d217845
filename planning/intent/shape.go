package intent

import (
	"path"
	"regexp"
	"strings"
	"unicode"

	"replan/internal/lazyregexp"
)

// shape is the look of a target; a chain begins differently for each.
type shape int

const (
	nothing   shape = iota // the words name nothing
	aPath                  // a file, a folder or a pattern of names
	aTest                  // the name of a test
	aName                  // an identifier, which may be qualified
	someWords              // anything else
)

var (
	identifier = lazyregexp.New(`^[\pL_$][\pL\pN_$]*(?:(?:\.|::|#)[\pL_$][\pL\pN_$]*)*$`)
	extension  = lazyregexp.New(`\.(?:bash|bat|c|cc|cfg|clj|conf|cpp|cs|css|csv|dart|env|ex|exs|go|gradle|graphql|h|hpp|html|ini|ipynb|java|js|json|jsonl|jsx|` +
		`kt|lock|log|lua|md|mjs|mk|mod|php|pl|proto|ps1|py|rb|rs|rst|sass|scala|scss|sh|sql|sum|svelte|svg|swift|tf|toml|ts|tsx|txt|vue|work|xml|yaml|yml|zig|zsh)$`)
	bareFile = lazyregexp.New(`^(?:README|LICENSE|LICENCE|CHANGELOG|CONTRIBUTING|NOTICE|AUTHORS|Makefile|Dockerfile|Jenkinsfile|Procfile|Gemfile|Rakefile|justfile|Justfile|Vagrantfile)$`)
	// commitName matches what can hardly name anything but a commit.
	commitName = lazyregexp.New(`^(?:(?:HEAD|[0-9a-f]*[0-9][0-9a-f]*)(?:[~^][0-9]*)*)$`)
	receiver   = lazyregexp.New(`^\(\*?([\pL_$][\pL\pN_$]*)\)`)
	goTest     = lazyregexp.New(`^(?:Test|Benchmark|Fuzz|Example)[^a-z]`)
)

// shapeOf returns the shape of a target.
func shapeOf(target string) shape {
	name, _, _ := strings.Cut(target, "/")
	switch {
	case strings.TrimSpace(target) == "":
		return nothing
	case hasTestName(name) && identifier.MatchString(name), strings.HasPrefix(target, "test_") && identifier.MatchString(target) && !isFile(target):
		return aTest
	case isPath(target):
		return aPath
	case identifier.MatchString(symbolOf(target)):
		return aName
	default:
		return someWords
	}
}

// isPath reports whether a text looks like the path of a file or folder, or like a
// pattern of such.
func isPath(text string) bool {
	if strings.ContainsAny(text, " \t\n\"'`(){}<>|") || strings.Contains(text, "://") {
		return false
	}
	return strings.ContainsAny(text, "/*") || strings.HasPrefix(text, ".") || isFile(text)
}

// isFile reports whether a path looks like that of a file rather than a folder.
func isFile(text string) bool {
	base := path.Base(text)
	return !strings.HasSuffix(text, "/") && (extension.MatchString(base) || bareFile.MatchString(base) || base[0] == '.' && strings.Trim(base, ".") != "")
}

// isPattern reports whether a path matches several.
func isPattern(text string) bool { return strings.ContainsAny(text, "*?[") }

// symbolOf is a name as the code operators take it: Run.Apply for (*Run).Apply.
func symbolOf(target string) string {
	name := strings.TrimSuffix(strings.TrimSpace(target), "()")
	return receiver.ReplaceAllString(name, "$1")
}

// lastOf is the last part of a qualified name, and the text before it with its
// separator.
func lastOf(name string) (before, last string) {
	at := strings.LastIndexAny(name, ".#:")
	return name[:at+1], name[at+1:]
}

// isCommit reports whether a text names a commit, such as HEAD~1 or a hash.
func isCommit(text string) bool {
	const shortest = 7 // characters of a hash that people copy
	return commitName.MatchString(text) && (strings.HasPrefix(text, "HEAD") || len(text) >= shortest)
}

// isFlag reports whether a token is an option of a command.
func isFlag(t token) bool { return !t.quoted && len(t.text) > 1 && t.text[0] == '-' }

// looksLikeName reports whether a token can hardly be an ordinary word: it is
// quoted, or has a capital letter, a digit, or a sign inside.
func looksLikeName(t token) bool {
	return t.quoted || strings.ContainsFunc(t.text, func(r rune) bool {
		return unicode.IsUpper(r) || unicode.IsDigit(r) || strings.ContainsRune("_./\\:#*()-@$", r)
	})
}

// isFolder reports whether a word may be the name of a folder: it is plain.
func isFolder(word string) bool {
	return identifier.MatchString(word) && !looksLikeName(token{text: word})
}

// hasTestName reports whether a name is that of a test in Go.
func hasTestName(name string) bool { return goTest.MatchString(name) }

// pathOf is a path as the operators take it: without ./ before it, and without
// the /... that Go writes behind it. The workspace itself is empty.
func pathOf(text string) string {
	text = strings.TrimSuffix(strings.TrimSuffix(text, "..."), "/")
	if text == "" {
		return ""
	}
	if text = path.Clean(text); text == "." {
		return ""
	}
	return text
}

// folderOf is the folder whose tests speak for a path.
func folderOf(text string) string {
	if isFile(text) || isPattern(text) {
		text = path.Dir(text)
	}
	return pathOf(text)
}

// wholeWord is a regular expression for a name that stands by itself. A
// qualified name is also found where a method is declared: func (r *Run) Apply.
func wholeWord(name string) string {
	if before, last := lastOf(name); before != "" {
		_, owner := lastOf(strings.TrimRight(before, ".#:"))
		return `\b` + regexp.QuoteMeta(owner) + `(\[[^\]]*\])?\)?[.:#\s]{1,2}` + regexp.QuoteMeta(last) + `\b`
	}
	return `\b` + regexp.QuoteMeta(name) + `\b`
}

// literally protects a text that goes into the args of a step from being read as
// a reference.
func literally(text string) string { return strings.ReplaceAll(text, "${", "$${") }
