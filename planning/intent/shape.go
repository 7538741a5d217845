package intent

import (
	"path"
	"regexp"
	"strings"

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
	receiver = lazyregexp.New(`^\(\*?([\pL_$][\pL\pN_$]*)\)`)
	keyword  = lazyregexp.New(`^(?:func|function|type|class|def|struct|interface|method|var|const|fn|trait|enum)\s+`)
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

// isPath says whether a text looks like the path of a file or folder, or like a
// pattern of such.
func isPath(text string) bool {
	if strings.ContainsAny(text, " \t\n\"'`(){}<>|") || strings.Contains(text, "://") {
		return false
	}
	return strings.ContainsAny(text, "/*") || strings.HasPrefix(text, ".") || isFile(text)
}

// isFile says whether a path looks like that of a file rather than a folder.
func isFile(text string) bool {
	base := path.Base(text)
	return !strings.HasSuffix(text, "/") && (extension.MatchString(base) || bareFile.MatchString(base) || base[0] == '.' && strings.Trim(base, ".") != "")
}

// isPattern reports whether a path matches several.
func isPattern(text string) bool { return strings.ContainsAny(text, "*?[") }

// memberOf is how the member of a type is said: field A of P.
var memberOf = lazyregexp.New(`^(?i:field|method|func|function|property|member|attribute)\s+([\pL_$][\pL\pN_$]*)\s+(?i:of|on)\s+(?:(?i:the|type|struct|interface|class)\s+)*` +
	`([\pL_$][\pL\pN_$]*)(?:\s+(?i:type|struct|interface|class))?$`)

// symbolOf is a name as the code operators take it: Run.Apply for (*Run).Apply
// and for the method Apply of Run, without the keyword before it.
func symbolOf(target string) string {
	if m := memberOf.FindStringSubmatch(strings.TrimSpace(target)); m != nil {
		return m[2] + "." + m[1]
	}
	name := strings.TrimSuffix(strings.TrimSpace(keyword.ReplaceAllString(target, "")), "()")
	return receiver.ReplaceAllString(name, "$1")
}

// lastOf is the last part of a qualified name, and the text before it with its
// separator.
func lastOf(name string) (before, last string) {
	at := strings.LastIndexAny(name, ".#:")
	return name[:at+1], name[at+1:]
}

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
