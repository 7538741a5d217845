package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrUnknownID says that no id fits the text.
var ErrUnknownID = errors.New("there is none with this id")

// ErrBadID says that a text cannot be an id.
var ErrBadID = errors.New("an id has 1 to 128 letters, digits, dots, dashes and underscores, and begins with a letter or a digit")

// AmbiguousIDError says that several ids fit the given text.
type AmbiguousIDError struct {
	Prefix     string   // as given
	Candidates []string // sorted, at least two
}

// shownCandidates is how many ids an AmbiguousIDError spells out.
const shownCandidates = 10

func (e *AmbiguousIDError) Error() string {
	shown := e.Candidates
	more := ""
	if len(shown) > shownCandidates {
		more = fmt.Sprintf(" or one of %d more", len(shown)-shownCandidates)
		shown = shown[:shownCandidates]
	}
	return fmt.Sprintf("%q may mean %s%s; give more of it", e.Prefix, strings.Join(shown, ", "), more)
}

// CheckID fails with ErrBadID unless id is at most 128 letters, digits, dots, dashes and
// underscores, and begins with a letter or a digit. No path can hide in such an id.
func CheckID(id string) error {
	if !idPattern.MatchString(id) {
		return fmt.Errorf("%.200q is no id: %w", id, ErrBadID)
	}
	return nil
}

// MatchPrefix returns the id meant by a prefix: the id equal to it, or the only
// one beginning with it. It fails with ErrUnknownID, as it does for an empty
// prefix, or an *AmbiguousIDError.
func MatchPrefix(ids []string, prefix string) (string, error) {
	return match(ids, prefix, strings.HasPrefix)
}

// MatchEnds is like MatchPrefix for ids that also go by their end, such as those
// of runs, whose beginning is the time.
func MatchEnds(ids []string, part string) (string, error) {
	return match(ids, part, func(id, part string) bool {
		return strings.HasPrefix(id, part) || strings.HasSuffix(id, part)
	})
}

// match returns the id equal to part, or the only one that part fits.
func match(ids []string, part string, fits func(id, part string) bool) (string, error) {
	if part == "" {
		return "", fmt.Errorf("no id was given: %w", ErrUnknownID)
	}
	var candidates []string
	for _, id := range ids {
		if id == part {
			return id, nil
		}
		if fits(id, part) {
			candidates = append(candidates, id)
		}
	}
	switch len(candidates) {
	case 0:
		return "", fmt.Errorf("%.200q: %w", part, ErrUnknownID)
	case 1:
		return candidates[0], nil
	}
	slices.Sort(candidates)
	return "", &AmbiguousIDError{Prefix: part, Candidates: candidates}
}

// Slug makes an id of a title: lower case letters and digits, joined by dashes.
func Slug(title string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(title) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= 48 {
			break
		}
	}
	if id := strings.Trim(b.String(), "-"); id != "" {
		return id
	}
	return "plan"
}
