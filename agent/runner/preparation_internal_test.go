package runner

import (
	"errors"
	"testing"
)

func TestJoinedErrorsAreSentences(t *testing.T) {
	for want, texts := range map[string][]string{
		"no path. no model":             {"no path", "no model"},
		"Did you mean: x? no model":     {"Did you mean: x?", "no model"},
		"I do not know. no model. Pull": {"I do not know.", "no model", "Pull"},
	} {
		var errs []error
		for _, text := range texts {
			errs = append(errs, errors.New(text))
		}
		got := sentences(errs...)
		if got.Error() != want || !errors.Is(got, errs[0]) || !errors.Is(got, errs[len(errs)-1]) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
