package tree

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// Glob matches slash-separated paths relative to the workspace. `*` and `?`
// stop at a slash, `**` does not; a pattern without a slash means the last
// part of a path, in whatever folder.
type Glob struct {
	re   *regexp.Regexp
	base bool // the pattern is of a name, not of a path
}

// NewGlob reads a pattern.
func NewGlob(pattern string) (Glob, error) {
	p := strings.TrimPrefix(pattern, "./")
	base := !strings.Contains(p, "/")
	p = strings.TrimPrefix(p, "/")
	re, err := regexp.Compile("^" + globExpr(p) + "$")
	if err != nil {
		return Glob{}, fmt.Errorf("the pattern %q cannot be read: %w", pattern, err)
	}
	return Glob{re: re, base: base}, nil
}

// Match reports whether the pattern means a path.
func (g Glob) Match(at string) bool {
	if g.base {
		at = path.Base(at)
	}
	return g.re.MatchString(at)
}

// globExpr writes a pattern as a regular expression.
func globExpr(p string) string {
	var b strings.Builder
	depth := 0
	for i := 0; i < len(p); i++ {
		rest := p[i:]
		switch {
		case strings.HasPrefix(rest, "**/"):
			b.WriteString("(?:.*/)?")
			i += 2
		case strings.HasPrefix(rest, "**"):
			b.WriteString(".*")
			i++
		case rest[0] == '*':
			b.WriteString("[^/]*")
		case rest[0] == '?':
			b.WriteString("[^/]")
		case rest[0] == '[':
			end := classEnd(rest)
			if end < 0 {
				b.WriteString(`\[`)
				break
			}
			class := rest[1:end]
			if class[0] == '!' {
				class = "^" + class[1:]
			}
			b.WriteString("[" + strings.ReplaceAll(class, `[`, `\[`) + "]")
			i += end
		case rest[0] == '{' && strings.Contains(rest, "}"):
			b.WriteString("(?:")
			depth++
		case rest[0] == '}' && depth > 0:
			b.WriteString(")")
			depth--
		case rest[0] == ',' && depth > 0:
			b.WriteString("|")
		case rest[0] == '\\' && len(rest) > 1:
			b.WriteString(regexp.QuoteMeta(rest[1:2]))
			i++
		default:
			b.WriteString(regexp.QuoteMeta(rest[:1]))
		}
	}
	return b.String()
}

// classEnd is where the character class that rest opens with ends, or -1.
func classEnd(rest string) int {
	from := 1
	if len(rest) > 1 && (rest[1] == '!' || rest[1] == '^') {
		from++
	}
	if len(rest) <= from+1 {
		return -1
	}
	end := strings.IndexByte(rest[from+1:], ']')
	if end < 0 {
		return -1
	}
	return from + 1 + end
}
