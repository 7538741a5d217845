package intent_test

import (
	"strings"
	"testing"

	"replan/planning/intent"
)

func routed(t *testing.T, words string) intent.Chain {
	t.Helper()
	c := nowhere.RouteWords(words, intent.Policy{})
	return c
}

func TestUnreadWordsMakeTheChainIncomplete(t *testing.T) {
	for words, want := range map[string]string{
		"rename P.A to Z but only in comments":                 `say "only in comments", which cannot be kept`,
		"rename T to Thing everywhere except in tests":         `say "except in tests"`,
		"rename T to Thing throughout planning":                `say "throughout planning"`,
		"rename Foo to Bar without the docs":                   `say "without the docs"`,
		"rename a to b and c to d":                             `say "c to d"`,
		"rename T to Thing. Only in tests":                     `say "Only in tests"`,
		"rename P to Q and commit":                             "also ask to commit, which is a task of its own",
		"rename P to Q && git commit":                          "also ask to git commit",
		"rename Foo to Bar, don't touch the tests":             `say "don't touch the tests"`,
		"run the tests and commit if they pass":                "also ask to commit if they pass",
		"if the tests pass, commit":                            `say "if the tests pass"`,
		"run the tests in planning except TestFoo":             `say "except TestFoo"`,
		"commit and push":                                      "also ask to push",
		`git commit -am "x" && git push`:                       "also ask to git push",
		`git commit -am "x"; git push`:                         "also ask to git push",
		`git commit -am "x" ; git push`:                        "also ask to git push",
		`git commit -am "x" | cat`:                             `say "cat"`,
		`git commit -m x; git push`:                            "also ask to git push",
		`commit with message "x" and push`:                     "also ask to push",
		`commit with message "x" only if green`:                `say "only if green"`,
		"git push origin --tags":                               `say "--tags"`,
		`replace "a" with "b" and "c" with "d"`:                `say ""c" with "d""`,
		`replace "a" and "b" with "c"`:                         "belongs in quotes, and only one text",
		"replace x with y only in comments":                    `say "only in comments"`,
		"in a.go, rename Foo to Bar":                           `say "in a.go"`,
		"commit: fix login":                                    "also ask to fix login",
		"rename field A of P to Z":                             "no name: field A of P",
		"rename Foo to Bar. It is urgent":                      `say "It is urgent"`,
		"replace foo with two words":                           "belongs in quotes",
		"replace all tabs with spaces":                         "may mean characters",
		"replace semi with commas":                             "may mean characters",
		"where is Foo used except in tests":                    `say "except in tests"`,
		"find Foo but not in tests":                            `say "not in tests"`,
		"test the login flow":                                  "neither a folder nor a test: login flow",
		"test Session.Close":                                   "neither a folder nor a test: Session.Close",
		"run the tests with -race":                             `say "-race"`,
		"lint except main.go":                                  `say "except main.go"`,
		"rename Foo to Bar because I say so":                   `say "because I say so"`,
		"rename Foo to Bar and update all callers":             "also ask to update all callers",
		"rename foo.go to bar.go in cli":                       "moved by its path",
		"find Foo and run the tests":                           "also ask to run the tests",
		"rename Foo to Bar and add tests for Bar":              "also ask to add tests for Bar",
		"rename Foo to Bar, then rename Baz to Qux":            "also ask to rename Baz to Qux",
		"please rename Foo to Bar, run the tests, then commit": "also ask to commit",
	} {
		c := routed(t, words)
		if c.Empty() || c.Bound() || c.Ready() || !strings.Contains(strings.Join(c.Missing, "; "), want) {
			t.Errorf("%q lacks %q, want %q (%s at %v)", words, c.Missing, want, spell(c.Intent), c.Intent.Confidence)
		}
	}
}

func TestHarmlessWordsKeepTheChainComplete(t *testing.T) {
	for words, ready := range map[string]bool{
		"rename Foo to Bar":                              true,
		"rename Foo to Bar, run the tests":               true,
		"rename Foo to Bar and make sure the tests pass": true,
		"rename Foo to Bar everywhere, please":           true,
		"rename `not` to `but`":                          true,
		"rename only to just":                            true,
		"find error not found":                           false,
		"why does TestFoo fail only on Windows":          true,
		`commit with message "fix if, but only when"`:    true,
		"commit with message fix it, but only when done": true,
		`commit this as "wip"`:                           true,
		"run the tests":                                  true,
		"git commit -am wip":                             true,
		`replace "only" with "except"`:                   true,
		`replace "a" with "b" in docs`:                   true,
	} {
		if c := routed(t, words); !c.Bound() || c.Ready() != ready {
			t.Errorf("%q lacks %q, ready %v (%s at %v)", words, c.Missing, c.Ready(), spell(c.Intent), c.Intent.Confidence)
		}
	}
}

func TestWordsSetTheArgumentsOfTheirChain(t *testing.T) {
	replace := func(args string) string { return `code.transform{"kind":"replace",` + args + `}` }
	for words, want := range map[string]string{
		`replace "foo" with "" in README.md`:      replace(`"path":"README.md","pattern":"foo","replacement":""`),
		`replace "foo" with ""`:                   replace(`"pattern":"foo","replacement":""`),
		`replace "_" with " "`:                    replace(`"pattern":"_","replacement":" "`),
		`replace " " with "_"`:                    replace(`"pattern":" ","replacement":"_"`),
		`replace "a" with "b" in the cli package`: replace(`"path":"cli","pattern":"a","replacement":"b"`),
		`replace "tabs" with "spaces"`:            replace(`"pattern":"tabs","replacement":"spaces"`),
		"run the tests in planning":               `test.run{"path":"planning/..."}`,
		"run the tests of package planning":       `test.run{"path":"planning/..."}`,
		"run the tests for the planning package":  `test.run{"path":"planning/..."}`,
		"run the tests in planning/":              `test.run{"path":"planning/..."}`,
		"run the tests in ./planning":             `test.run{"path":"planning/..."}`,
		"run only the tests in planning":          `test.run{"path":"planning/..."}`,
		"run the tests in go/ast":                 `test.run{"path":"go/ast/..."}`,
		"test planning":                           `test.run{"path":"planning/..."}`,
		"run TestFoo in planning":                 `test.run{"path":"planning/...","run":"TestFoo"}`,
		"test AuthHandler":                        `test.run{"run":"AuthHandler"}`,
		"test ./...":                              `test.run`,
		"run the tests":                           `test.run`,
		"list files":                              `fs.list`,
		"list the files in docs":                  `fs.list{"path":"docs"}`,
		"list files in docs/":                     `fs.list{"path":"docs"}`,
		"where is Foo used in planning":           `code.references{"allow_none":true,"path":"planning","symbol":"Foo"}`,
		`commit this as "wip"`:                    `vcs.diff{"of":"commit"}; code.summarize{"diff":"${changes.diff}"} ←0; vcs.commit{"message":"wip"}! ←1`,
		`git commit -am "x" && git push`:          `vcs.diff{"of":"commit"}; code.summarize{"diff":"${changes.diff}"} ←0; vcs.commit{"message":"x"}! ←1`,
	} {
		c := routed(t, words)
		if got := draw(c); !strings.HasPrefix(got, want) || len(c.Nodes) == 1 && got != want {
			t.Errorf("%q is\n     %s\nwant %s (%s)", words, got, want, spell(c.Intent))
		}
		if len(c.Missing) > 0 && !strings.Contains(words, "&&") {
			t.Errorf("%q lacks %q", words, c.Missing)
		}
	}
}
