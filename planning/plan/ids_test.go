package plan_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"replan/planning/plan"
)

func TestMatchPrefix(t *testing.T) {
	cases := map[string]struct {
		ids        []string
		prefix     string
		want       string
		candidates []string
	}{
		"whole id":                            {[]string{"a1", "b1"}, "a1", "a1", nil},
		"prefix of one id":                    {[]string{"a1", "b1"}, "b", "b1", nil},
		"whole id that is a prefix of others": {[]string{"a12", "a1", "a13"}, "a1", "a1", nil},
		"prefix of several ids":               {[]string{"a2", "b1", "a1"}, "a", "", []string{"a1", "a2"}},
		"prefix of no id":                     {[]string{"a1"}, "c", "", nil},
		"suffix of an id":                     {[]string{"a1"}, "1", "", nil},
		"other case":                          {[]string{"A1"}, "a", "", nil},
		"empty prefix, one id":                {[]string{"a1"}, "", "", nil},
		"no ids":                              {nil, "a", "", nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := plan.MatchPrefix(c.ids, c.prefix)
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			var ambiguous *plan.AmbiguousIDError
			switch {
			case c.candidates != nil:
				if !errors.As(err, &ambiguous) || ambiguous.Prefix != c.prefix || !slices.Equal(ambiguous.Candidates, c.candidates) {
					t.Errorf("error %v, want candidates %v", err, c.candidates)
				}
			case c.want == "":
				if !errors.Is(err, plan.ErrUnknownID) {
					t.Errorf("error %v, want ErrUnknownID", err)
				}
			case err != nil:
				t.Error(err)
			}
		})
	}
}

func TestMatchEnds(t *testing.T) {
	ids := []string{"20260102-030405-a61ec9", "20260102-030406-b0c0a6", "20260103-030405-a61ef0"}
	for part, want := range map[string]string{
		"a61ec9": ids[0], "ec9": ids[0], "20260103": ids[2], ids[1]: ids[1], "": "", "zzz": "", "a61": "",
	} {
		got, err := plan.MatchEnds(ids, part)
		if got != want || want == "" && !errors.Is(err, plan.ErrUnknownID) {
			t.Errorf("%q: got %q, %v; want %q", part, got, err, want)
		}
	}
	var ambiguous *plan.AmbiguousIDError
	if _, err := plan.MatchEnds([]string{"a6-1", "b-a6", "c"}, "a6"); !errors.As(err, &ambiguous) || !slices.Equal(ambiguous.Candidates, []string{"a6-1", "b-a6"}) {
		t.Errorf("got error %v, want the id that begins with it and the one that ends with it", err)
	}
}

func TestAmbiguousPrefixNamesCandidates(t *testing.T) {
	ids := make([]string, 12)
	for i := range ids {
		ids[i] = fmt.Sprintf("r%02d", i)
	}
	_, two := plan.MatchPrefix(ids[:2], "r")
	if want := `"r" may mean r00, r01; give more of it`; two == nil || two.Error() != want {
		t.Errorf("error %v, want %s", two, want)
	}
	_, many := plan.MatchPrefix(ids, "r")
	if many == nil || !strings.Contains(many.Error(), "r09 or one of 2 more") {
		t.Errorf("error %v", many)
	}
}

func TestCheckID(t *testing.T) {
	for id, ok := range map[string]bool{
		"a": true, "9": true, "refactor-auth-001": true, "a..b": true, strings.Repeat("a", 128): true,
		"": false, ".": false, "..": false, "-a": false, "_a": false, "a/b": false, `a\b`: false, "a b": false,
		"a\n": false, "é": false, strings.Repeat("a", 129): false,
	} {
		if err := plan.CheckID(id); (err == nil) != ok || err != nil && !errors.Is(err, plan.ErrBadID) {
			t.Errorf("CheckID(%.20q): %v, want ok %v", id, err, ok)
		}
	}
}
