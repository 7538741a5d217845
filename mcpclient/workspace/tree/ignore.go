package tree

import (
	"os"
	"path/filepath"
	"strings"
)

// maxIgnoreFile is the size in bytes of the largest ignore file that is read.
const maxIgnoreFile = 1 << 20

// ignoreRules are the lines of one .gitignore. The last match decides.
type ignoreRules []ignoreRule

type ignoreRule struct {
	prefix   string // of the text, before what pattern matches; git reads the two apart
	pattern  string
	kind     ruleKind
	anywhere bool // the pattern is of a name, in whatever folder
	negated  bool
	dirOnly  bool
}

// ruleKind says how a pattern is matched: most need no wildcards.
type ruleKind int

const (
	ruleWild   ruleKind = iota
	rulePlain           // the pattern is the text itself
	ruleSuffix          // one star, then the text
)

// parseIgnore reads the text of a .gitignore as git does. With fold it matches names in
// lower case, of whatever case the patterns are.
func parseIgnore(text string, fold bool) ignoreRules {
	var rules ignoreRules
	for line := range strings.Lines(strings.TrimPrefix(text, "\uFEFF")) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if strings.HasPrefix(line, "#") {
			continue
		}
		var r ignoreRule
		line, r.negated = strings.CutPrefix(trimBlanks(line), "!")
		line, r.dirOnly = strings.CutSuffix(line, "/")
		r.anywhere = !strings.Contains(line, "/")
		if line = strings.TrimPrefix(line, "/"); line == "" {
			continue
		}
		switch {
		case !strings.ContainsAny(line, wildcards):
			r.kind, r.pattern = rulePlain, folded(line, fold)
		case r.anywhere && line[0] == '*' && !strings.ContainsAny(line[1:], wildcards):
			r.kind, r.pattern = ruleSuffix, folded(line[1:], fold)
		case r.anywhere:
			r.pattern = line
		default:
			wild := strings.IndexAny(line, wildcards)
			r.prefix, r.pattern = folded(line[:wild], fold), line[wild:]
		}
		rules = append(rules, r)
	}
	return rules
}

// folded returns a text in lower case if fold is set. Like git, it knows ASCII alone.
func folded(text string, fold bool) string {
	if !fold {
		return text
	}
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
}

const wildcards = `*?[\`

// trimBlanks removes trailing blanks, except those after a backslash.
func trimBlanks(line string) string {
	end := -1 // where the blanks begin
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			if end < 0 {
				end = i
			}
			continue
		case '\\':
			if i++; i == len(line) {
				return line
			}
		}
		end = -1
	}
	if end < 0 {
		return line
	}
	return line[:end]
}

// decide reports whether a rule matches a name, which is relative to the folder of
// the rules, and whether that rule ignores it. fold is that of [parseIgnore].
func (rules ignoreRules) decide(name string, dir, fold bool) (decided, out bool) {
	name = folded(name, fold)
	base := name[strings.LastIndexByte(name, '/')+1:]
	for i := len(rules) - 1; i >= 0; i-- {
		r := &rules[i]
		if r.dirOnly && !dir {
			continue
		}
		subject := name
		if r.anywhere {
			subject = base
		}
		var is bool
		switch r.kind {
		case rulePlain:
			is = subject == r.pattern
		case ruleSuffix:
			is = strings.HasSuffix(subject, r.pattern)
		default:
			rest, begins := strings.CutPrefix(subject, r.prefix)
			is = begins && wildMatch(r.pattern, rest, fold)
		}
		if is {
			return true, !r.negated
		}
	}
	return false, false
}

// ignores are the rules of a folder, then those of its parents, then those of the
// repository. Nil ignores nothing.
type ignores struct {
	rules ignoreRules
	above string   // prefix of the workspace's paths, for rules from outside of it
	below int      // bytes of a path of the workspace up to the folder of the rules
	outer *ignores // rules for paths that these rules do not match
	fold  bool     // they match upper and lower case alike, as all outer ones do
}

// ignored reports whether the rules ignore a path. Callers never ask about the
// contents of an ignored folder.
func (g *ignores) ignored(at string, dir bool) bool {
	for ; g != nil; g = g.outer {
		if decided, out := g.rules.decide(g.above+at[g.below:], dir, g.fold); decided {
			return out
		}
	}
	return false
}

// with adds the rules of a folder of the workspace.
func (g *ignores) with(folder, text string) *ignores {
	fold := g != nil && g.fold
	rules := parseIgnore(text, fold)
	if len(rules) == 0 {
		return g
	}
	below := 0
	if folder != "." {
		below = len(folder) + 1
	}
	return &ignores{rules: rules, below: below, outer: g, fold: fold}
}

// from returns the same rules for paths relative to the folder above.
func (g *ignores) from(above string) *ignores {
	if g == nil {
		return nil
	}
	return &ignores{rules: g.rules, above: above[g.below:], outer: g.outer.from(above), fold: g.fold}
}

// topOfRepository returns the top folder of the repository around dir, and its git
// folder. Both are empty if there is none.
func topOfRepository(dir string) (top, git string) {
	for {
		at := filepath.Join(dir, ".git")
		if info, err := os.Stat(at); err == nil {
			if info.IsDir() {
				return dir, at
			}
			return dir, linkedGit(dir, at)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", ""
		}
		dir = parent
	}
}

// linkedGit follows the .git file of a worktree or a submodule.
func linkedGit(dir, file string) string {
	target, ok := strings.CutPrefix(strings.TrimSpace(readIgnore(file)), "gitdir: ")
	if !ok {
		return file
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(dir, target)
	}
	common := strings.TrimSpace(readIgnore(filepath.Join(target, "commondir")))
	switch {
	case common == "":
		return target
	case filepath.IsAbs(common):
		return common
	default:
		return filepath.Join(target, common)
	}
}

// readIgnore reads a small file outside the workspace. It returns an empty text if
// it cannot.
func readIgnore(file string) string {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxIgnoreFile {
		return ""
	}
	data, err := os.ReadFile(file) //nolint:gosec // of the repository that the user works in
	if err != nil {
		return ""
	}
	return string(data)
}
