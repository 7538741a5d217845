package tree

import (
	"fmt"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"replan/internal/lazyregexp"
)

// Glob is a pattern of paths, in the dialect of doublestar. `*` and `?` stop at a
// slash, and `**/` is any folders. `[a-z]` and `{a,b}` are choices, and a
// backslash takes a sign as it is. A pattern without a slash is of names, in any
// folder.
type Glob struct {
	pattern string
	ofName  bool
}

// NewGlob reads a pattern.
func NewGlob(pattern string) (Glob, error) {
	p := strings.TrimPrefix(pattern, "./")
	g := Glob{pattern: strings.TrimPrefix(p, "/"), ofName: !strings.Contains(p, "/")}
	if !doublestar.ValidatePattern(g.pattern) || hasReversedRange(g.pattern) {
		return Glob{}, fmt.Errorf("the pattern %q cannot be read; close its brackets and braces, and write ranges like [a-z]", pattern)
	}
	return g, nil
}

// Match reports whether the pattern means a path.
func (g Glob) Match(at string) bool {
	if g.ofName {
		at = path.Base(at)
	}
	return doublestar.MatchUnvalidated(g.pattern, at)
}

var class = lazyregexp.New(`\\.|\[[^\]]+\]`)

// hasReversedRange reports whether a class holds a range like z-a, which matches
// nothing.
func hasReversedRange(pattern string) bool {
	for _, text := range class.FindAllString(pattern, -1) {
		for i := 1; text[0] == '[' && i+2 < len(text)-1; i++ {
			if text[i+1] == '-' && text[i] > text[i+2] {
				return true
			}
		}
	}
	return false
}
