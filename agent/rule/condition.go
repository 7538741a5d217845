package rule

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"replan/planning/plan"
)

// fit says whether a condition holds for a call.
type fit uint8

const (
	fitsNot     fit = iota
	fitsPerhaps     // the value is not known yet
	fits
)

// Fits reports whether all conditions of the rule hold for a call. A condition
// on a value that is not known yet does not hold.
func (r Rule) Fits(args map[string]any) bool { return r.fit(args) == fits }

// fit is the weakest fit among the conditions of the rule.
func (r Rule) fit(args map[string]any) fit {
	all := fits
	for name, pattern := range r.Args {
		all = min(all, r.fitsArg(lookUp(args, name), pattern))
	}
	return all
}

// fitsArg holds the values that a name may mean against a pattern. Where there
// are several, what lets the call pass must fit all of them.
func (r Rule) fitsArg(values []any, pattern string) fit {
	narrow := r.Verdict == VerdictRun
	out := fitsNot
	if len(values) == 0 && pattern == "" {
		return fits // the call leaves it out, as the rule wants it
	}
	for i, v := range values {
		one := fitsNot
		switch {
		case unknown(v):
			one = fitsPerhaps
		case narrow && fitsNarrowly(written(v), pattern), !narrow && fitsWidely(written(v), pattern):
			one = fits
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

// lookUp returns the values that a name may mean: the argument with that name,
// and with dots in it a part of another. Null is no value.
func lookUp(args map[string]any, name string) []any {
	var out []any
	if v, ok := args[name]; ok && v != nil {
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
		for _, item := range v {
			if unknown(item) {
				return true
			}
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

// written is a value as a pattern sees it.
func written(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	return plan.CanonicalJSON(v)
}

// upwards finds a step upwards in a path, or the beginning of one that a server
// may make of what is written as in a URL.
var upwards = regexp.MustCompile(`(^|[^\w.-])\.\.($|[^\w.-])|%(2e|2f|5c)`)

// fitsNarrowly reports whether a text fits a pattern that lets a call pass.
func fitsNarrowly(text, pattern string) bool {
	if literal, ok := plainText(pattern); ok && literal == text {
		return true
	}
	if upwards.MatchString(strings.ToLower(text)) {
		return false
	}
	glob := globOf(pattern, `[^/"\x00-\x1f\x7f]`, `[^\x00-\x1f\x7f]`, "")
	return glob.MatchString(text) || text != "" && glob.MatchString(path.Clean(text))
}

// fitsWidely reports whether a text fits a pattern that asks about a call or
// denies it, in any of the ways in which the same file can be written.
func fitsWidely(text, pattern string) bool {
	glob := globOf(pattern, `[^/]`, `.`, "is")
	slashed := strings.ReplaceAll(text, `\`, "/")
	ways := []string{text, slashed, path.Clean(slashed)}
	if rooted.MatchString(slashed) && len(slashed) <= longestPath {
		// Whose root may be the workspace, or any folder in it.
		for at, rest := 0, ways[2]; at >= 0; at = strings.IndexByte(rest, '/') {
			rest = rest[at+1:]
			ways = append(ways, rest)
		}
	}
	return slices.ContainsFunc(ways, glob.MatchString)
}

// rooted finds an absolute path, longestPath is how long one can be.
var rooted = regexp.MustCompile(`^(/|[A-Za-z]:/|file:)`)

const longestPath = 4096

// plainText is what a pattern without wildcards stands for.
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

// Literal is the pattern that fits this text alone.
func Literal(text string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`).Replace(text)
}

// globOf writes a pattern as a regular expression: one is what ? may stand for,
// and * any number of times, and beyond is the same for **.
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
