package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrUnknownID says that no id equals or begins with the text.
var ErrUnknownID = errors.New("there is none with this id")

// ErrBadID says that a text cannot be an id.
var ErrBadID = errors.New("an id has 1 to 128 letters, digits, dots, dashes and underscores, and begins with a letter or a digit")

// AmbiguousIDError says that several ids begin with the given text.
type AmbiguousIDError struct {
	Prefix     string
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

// CheckID fails with ErrBadID where id does not match IDPattern.
func CheckID(id string) error {
	if !IDPattern.MatchString(id) {
		return fmt.Errorf("%.200q is no id: %w", id, ErrBadID)
	}
	return nil
}

// MatchPrefix returns the id meant by a prefix: the id equal to it, or the only
// one beginning with it. It fails with ErrUnknownID, as it does for an empty
// prefix, or an *AmbiguousIDError.
func MatchPrefix(ids []string, prefix string) (string, error) {
	if prefix == "" {
		return "", fmt.Errorf("no id was given: %w", ErrUnknownID)
	}
	var candidates []string
	for _, id := range ids {
		if id == prefix {
			return id, nil
		}
		if strings.HasPrefix(id, prefix) {
			candidates = append(candidates, id)
		}
	}
	switch len(candidates) {
	case 0:
		return "", fmt.Errorf("%.200q: %w", prefix, ErrUnknownID)
	case 1:
		return candidates[0], nil
	}
	slices.Sort(candidates)
	return "", &AmbiguousIDError{Prefix: prefix, Candidates: candidates}
}
