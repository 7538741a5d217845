package rule

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"replan/planning/plan"
)

// argMatch is the result of matching a condition against a call.
type argMatch uint8

const (
	noMatch  argMatch = iota
	mayMatch          // the value is not known yet
	fullMatch
)

// MatchesArgs reports whether all conditions of the rule match a call. A condition on a
// value that is not known yet does not match.
func (r Rule) MatchesArgs(args map[string]any) bool { return r.matchArgs(args) == fullMatch }

// matchArgs returns the weakest match among the conditions of the rule.
func (r Rule) matchArgs(args map[string]any) argMatch {
	if r.Verdict == VerdictRun && r.bindsCommand() && launches(args) {
		return noMatch
	}
	all := fullMatch
	for name, pattern := range r.Args {
		all = min(all, r.matchArg(name, lookUp(args, name), pattern))
	}
	return all
}

// matchArg matches a pattern against the values that a name may mean. If there are
// several, a rule that allows the call must match all of them.
func (r Rule) matchArg(name string, values []any, pattern string) argMatch {
	narrow := r.Verdict == VerdictRun
	out := noMatch
	if len(values) == 0 && pattern == "" {
		return fullMatch // the call omits it, as the rule requires
	}
	for i, v := range values {
		one := noMatch
		switch {
		case unknown(v):
			one = mayMatch
		case narrow && matchesNarrowly(name, v, pattern), !narrow && matchesWidely(written(v), pattern):
			one = fullMatch
		}
		switch {
		case i == 0:
			out = one
		case narrow:
			out = min(out, one)
		default:
			out = max(out, one)
		}
	}
	return out
}

// lookUp returns the values that a name may mean: the argument with that name
// and, for a name with dots, a part of another argument. Null is no value.
func lookUp(args map[string]any, name string) []any {
	var out []any
	switch v := args[name].(type) {
	case nil:
	case linkedPath:
		out = append(out, v.written, v.real)
	default:
		out = append(out, v)
	}
	head, rest, nested := strings.Cut(name, ".")
	if !nested {
		return out
	}
	switch v := args[head].(type) {
	case map[string]any:
		out = append(out, lookUp(v, rest)...)
	case []any:
		number, below, deeper := strings.Cut(rest, ".")
		i, err := strconv.Atoi(number)
		switch {
		case err != nil || i < 0 || i >= len(v) || v[i] == nil:
		case !deeper:
			out = append(out, v[i])
		default:
			if inner, ok := v[i].(map[string]any); ok {
				out = append(out, lookUp(inner, below)...)
			}
		}
	case plan.Placeholder:
		out = append(out, v)
	}
	return out
}

// unknown reports whether a value, or a part of it, is not known yet.
func unknown(v any) bool {
	switch v := v.(type) {
	case plan.Placeholder:
		return true
	case []any:
		if slices.ContainsFunc(v, unknown) {
			return true
		}
	case map[string]any:
		for _, item := range v {
			if unknown(item) {
				return true
			}
		}
	}
	return false
}

// written returns a value as text for matching.
func written(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	return plan.CanonicalJSON(v)
}

// upwards matches a parent step (..) in a path, or an escape that a server may
// decode to one, as in a URL.
var upwards = regexp.MustCompile(`(^|[^\w.-])\.\.($|[^\w.-])|%(2e|2f|5c)`)

// matchesNarrowly reports whether the value of an argument matches a pattern that allows
// a call. Its wildcards take no options, and of a shell command only plain words.
func matchesNarrowly(name string, value any, pattern string) bool {
	text := written(value)
	if literal, ok := plainText(pattern); ok && literal == text {
		return true
	}
	if upwards.MatchString(strings.ToLower(text)) || strings.ContainsRune(text+pattern, flagMark) {
		return false
	}
	if !isNumber(value) {
		text, pattern = markFlags(text), markFlags(pattern)
	}
	not := `\x00-\x1f\x7f`
	if name == "shell" {
		not += regexp.QuoteMeta(acted)
	}
	glob := globOf(pattern, `[^/"`+not+`]`, `[^`+not+`]`, "")
	return glob.MatchString(text) || text != "" && glob.MatchString(path.Clean(text))
}

// matchesWidely reports whether a text matches a pattern that asks about or denies a
// call. It tries every way to write the same file.
func matchesWidely(text, pattern string) bool {
	glob := globOf(pattern, `[^/]`, `.`, "is")
	slashed := strings.ReplaceAll(text, `\`, "/")
	ways := []string{text, slashed, path.Clean(slashed)}
	if rooted.MatchString(slashed) && len(slashed) <= longestPath {
		// The root of the path may be the workspace, or any folder in it.
		for at, rest := 0, ways[2]; at >= 0; at = strings.IndexByte(rest, '/') {
			rest = rest[at+1:]
			ways = append(ways, rest)
		}
	}
	return slices.ContainsFunc(ways, glob.MatchString)
}

// rooted matches an absolute path; longestPath bounds its length.
var rooted = regexp.MustCompile(`^(/|[A-Za-z]:/|file:)`)

const longestPath = 4096

// plainText returns the text that a pattern without wildcards matches.
func plainText(pattern string) (text string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '*' || c == '?':
			return "", false
		case c == '\\' && i+1 < len(pattern):
			i++
			b.WriteByte(pattern[i])
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), true
}

// Literal returns the pattern that matches only this text.
func Literal(text string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`).Replace(text)
}

// globOf translates a pattern to a regular expression. ? matches one, * any
// number of one, and ** any number of beyond.
func globOf(pattern, one, beyond, flags string) *regexp.Regexp {
	var b strings.Builder
	if flags != "" {
		b.WriteString("(?" + flags + ")")
	}
	b.WriteString("^")
	runes := []rune(pattern)
	at := func(i int) rune {
		if i < len(runes) {
			return runes[i]
		}
		return 0
	}
	for i := 0; i < len(runes); i++ {
		switch c := runes[i]; {
		case c == '*' && at(i+1) == '*' && at(i+2) == '/':
			b.WriteString("(?:" + beyond + "*/)?")
			i += 2
		case c == '*' && at(i+1) == '*':
			b.WriteString(beyond + "*")
			i++
		case c == '*':
			b.WriteString(one + "*")
		case c == '?':
			b.WriteString(one)
		case c == '\\' && i+1 < len(runes):
			i++
			b.WriteString(regexp.QuoteMeta(string(runes[i])))
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	return regexp.MustCompile(b.String() + "$")
}
