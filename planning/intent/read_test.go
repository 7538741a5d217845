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
		"rename P.A to Z but only in comments":                 `can follow "only in comments"`,
		"rename T to Thing everywhere except in tests":         `can follow "except in tests"`,
		"rename T to Thing throughout planning":                `can follow "throughout planning"`,
		"rename Foo to Bar without the docs":                   `can follow "without the docs"`,
		"rename a to b and c to d":                             `can follow "c to d"`,
		"rename T to Thing. Only in tests":                     `can follow "Only in tests"`,
		"rename P to Q and commit":                             `then "commit`,
		"rename P to Q && git commit":                          `then "git commit`,
		"rename Foo to Bar, don't touch the tests":             `can follow "don't touch the tests"`,
		"run the tests and commit if they pass":                `then "commit if they pass`,
		"run the tests in planning except TestFoo":             `can follow "except TestFoo"`,
		"commit and push":                                      `then "push`,
		`git commit -am "x" && git push`:                       `then "git push`,
		`git commit -am "x"; git push`:                         `then "git push`,
		`git commit -am "x" ; git push`:                        `then "git push`,
		`git commit -am "x" | cat`:                             `can follow "cat"`,
		`git commit -m x; git push`:                            `then "git push`,
		`commit with message "x" and push`:                     `then "push`,
		`commit with message "x" only if green`:                `can follow "only if green"`,
		"git push origin --tags":                               `can follow "--tags"`,
		`replace "a" with "b" and "c" with "d"`:                `can follow ""c" with "d""`,
		`replace "a" and "b" with "c"`:                         "in quotes, and replace one text at a time",
		"replace x with y only in comments":                    `can follow "only in comments"`,
		"commit: fix login":                                    `then "fix login`,
		"rename field A of the old P to Z":                     `"field A of the old P" is not the name`,
		"rename Foo to Bar. It is urgent":                      `can follow "It is urgent"`,
		"replace foo with two words":                           "in quotes",
		"replace all tabs with spaces":                         "may mean characters",
		"replace semi with commas":                             "may mean characters",
		"where is Foo used except in tests":                    `can follow "except in tests"`,
		"find Foo but not in tests":                            `can follow "not in tests"`,
		"test the login flow":                                  `"login flow" is neither`,
		"test Session.Close":                                   `"Session.Close" is neither`,
		"npm run build > out.txt":                              `so ">" would mean itself`,
		"git log --stat":                                       `can follow "--stat"`,
		"grep -v foo":                                          "has no flag -v",
		"lint except main.go":                                  `"except main.go" is neither`,
		"rename Foo to Bar because I say so":                   `can follow "because I say so"`,
		"rename Foo to Bar and update all callers":             `then "update all callers`,
		"rename foo.go to bar.go in cli":                       `leave out "in cli"`,
		"find Foo and run the tests":                           `then "run the tests`,
		"rename Foo to Bar and add tests for Bar":              `then "add tests for Bar`,
		"rename Foo to Bar, then rename Baz to Qux":            `then "rename Baz to Qux`,
		"please rename Foo to Bar, run the tests, then commit": `give "rename Foo to Bar" first, then "run the tests, then commit"`,
		"rename Foo to Bar first, then commit":                 `give "rename Foo to Bar" first, then "commit"`,
		"commit with message fix login and add tests":          `then "add tests"`,
		"commit with message fix it, but only when done":       `can follow "only when done"`,
		"rename Run.Apply to Run.Fold for Qux":                 "Run.Fold for Qux is not a valid name",
		"lint a/b in go":                                       `leave out "in go"`,
		"test agent in go":                                     `leave out "in go"`,
		"where is Foo used for Bar":                            `can follow "for Bar"`,
		"fix a.go, don't touch the tests":                      `can follow "don't touch the tests"`,
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
