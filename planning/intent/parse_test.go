package intent_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"replan/planning/intent"
	"replan/planning/plan"
)

// asked is a phrase with its intent: "category action target", then parameters as
// name=value. A target with blanks is in brackets.
type asked struct{ words, want string }

func TestPhrasesHaveTheirIntent(t *testing.T) {
	for about, phrases := range map[string][]asked{
		"find": {
			{"find X", "navigate find X"},
			{"find AuthHandler", "navigate find AuthHandler"},
			{"find the latest version", "navigate find (latest version)"},
			{"find where user authentication happens", "navigate find (user authentication)"},
			{"where do we handle timeouts", "navigate find (handle timeouts)"},
			{"search for `go func`", "navigate find (go func)"},
			{"which files contain TODO", "navigate find TODO"},
			{"find TODO in internal/", "navigate find TODO in=internal/"},
			{"locate the function named parse", "navigate find parse"},
			{"find the log function", "navigate find log"},
			{"find foo, bar", "navigate find (foo, bar)"},
		},
		"references, definition, symbols": {
			{"where is parseConfig used?", "navigate references parseConfig"},
			{"who calls parseConfig", "navigate references parseConfig"},
			{"Could you please tell me where Foo is used", "navigate references Foo"},
			{"find all usages of Foo in ./agent", "navigate references Foo in=./agent"},
			{"show callers of foo()", "navigate references foo"},
			{"where is Config defined", "navigate definition Config"},
			{"go to the definition of the Config type", "navigate definition Config"},
			{"find where the Config struct is declared", "navigate definition Config"},
			{"list the symbols in main.go", "navigate symbols main.go"},
			{"what functions are in main.go?", "navigate symbols main.go"},
			{"outline main.go", "navigate symbols main.go"},
		},
		"explain": {
			{"what is AuthHandler", "explain explain AuthHandler"},
			{"what’s AuthHandler?", "explain explain AuthHandler"},
			{"explain X", "explain explain X"},
			{"explain how Run.Apply works", "explain explain Run.Apply"},
			{"what does Parse do?", "explain explain Parse"},
			{"how does the scheduler work", "explain explain scheduler"},
			{"tell me about the scheduler", "explain explain scheduler"},
			{"summarise planning/parse.go", "explain explain planning/parse.go"},
			{"explain git rebase", "explain explain (git rebase)"},
		},
		"edit, fix, extract": {
			{"edit main.go", "modify edit main.go"},
			{"edit main.go to use slog", "modify edit main.go to=(use slog)"},
			{"change the timeout in config.go to 30s", "modify edit timeout in=config.go to=30s"},
			{"replace foo with bar", "modify edit foo with=bar"},
			{"fix bug in X", "modify fix X"},
			{"Fix the bug in handler.go.", "modify fix handler.go"},
			{"fix the nil pointer bug in handler.go", "modify fix handler.go problem=(nil pointer)"},
			{"mend the failing test TestFoo", "modify fix TestFoo"},
			{"make the tests pass", "modify fix tests"},
			{"fix it", "modify fix ()"},
			{"extract X from Y", "modify extract X in=Y"},
			{"extract the method validate", "modify extract validate"},
		},
		"rename, refactor": {
			{"rename X to Y", "refactor rename X new_name=Y"},
			{"rename X -> Y", "refactor rename X new_name=Y"},
			{"RENAME authenticate INTO verify_user!", "refactor rename authenticate new_name=verify_user"},
			{"rename the authenticate function to verify_credentials", "refactor rename authenticate new_name=verify_credentials"},
			{"I'd like you to rename the `Foo` type to \"Bar\", thanks!", "refactor rename Foo new_name=Bar"},
			{"rename foo to bar in pkg/a.go", "refactor rename foo in=pkg/a.go new_name=bar"},
			{"rename foo to bar across the codebase", "refactor rename foo new_name=bar"},
			{"rename foo to bar without touching tests", "refactor rename foo new_name=bar"},
			{"rename log to audit and run the tests", "refactor rename log new_name=audit"},
			{"rename log to audit everywhere, the tests must still pass", "refactor rename log new_name=audit"},
			{"Rename log to audit. All tests should stay green.", "refactor rename log new_name=audit"},
			{"Can you rename the test function TestPutGet to TestStore and run the tests afterwards?", "refactor rename TestPutGet new_name=TestStore"},
			{"legacyName is a bad name. Rename that function to underscored everywhere, then run the tests.", "refactor rename legacyName new_name=underscored"},
			{"Rename log to audit in the whole project and run all tests afterwards", "refactor rename log new_name=audit"},
			{"rename a to One", "refactor rename a new_name=One"},
			{"refactor X", "refactor refactor X"},
			{"refactor the auth module", "refactor refactor auth"},
			{"clean up handler.go", "refactor refactor handler.go"},
			{"refactor Foo to use slog", "refactor refactor Foo to=(use slog)"},
		},
		"test, lint": {
			{"run the tests", "validate test ()"},
			{"please run all of the tests now", "validate test ()"},
			{"run the tests in ./agent", "validate test ./agent"},
			{"test ./pkg", "validate test ./pkg"},
			{"test ./...", "validate test ./..."},
			{"go test ./...", "validate test ./..."},
			{"run TestFoo", "validate test TestFoo"},
			{"do the tests pass?", "validate test ()"},
			{"make sure that the tests still pass", "validate test ()"},
			{"check the tests", "validate test ()"},
			{"verify that the tests still pass", "validate test ()"},
			{"validate the tests in ./agent", "validate test ./agent"},
			{"verify TestFoo", "validate test TestFoo"},
			{"check the slug package", "validate test slug"},
			{"check package ./agent", "validate test ./agent"},
			{"check slug", "validate test slug"},
			{"verify the build", "validate test ()"},
			{"check the build", "validate test ()"},
			{"validate the code", "validate test ()"},
			{"check the code", "validate lint ()"},
			{"lint", "validate lint ()"},
			{"run the linter on ./cli", "validate lint ./cli"},
			{"go vet ./...", "validate lint ./..."},
		},
		"debug": {
			{"debug the login flow", "debug debug (login flow)"},
			{"why does TestFoo fail", "debug debug TestFoo"},
			{"why does TestFoo fail on Windows?", "debug debug TestFoo"},
			{"why do the tests fail", "debug debug tests"},
			{"find out why login is broken", "debug debug login"},
			{"what's wrong with parse()?", "debug debug parse"},
			{"trace why TestFoo fails", "debug debug TestFoo"},
			{"trace the login", "debug debug login"},
			{"trace Authenticate", "debug debug Authenticate"},
		},
		"create, add tests": {
			{"create X", "create create X"},
			{"implement login", "create create login"},
			{"implement latest", "create create latest"},
			{"implement push notifications", "create create (push notifications)"},
			{"add caching to API", "create create caching in=API"},
			{"create a new file called foo.go", "create create foo.go"},
			{"add tests for X", "create add_tests X"},
			{"write tests for X", "create add_tests X"},
			{"write some unit tests for the Parse function", "create add_tests Parse"},
		},
		"version control": {
			{"git status", "vcs status ()"},
			{"what is the status?", "vcs status ()"},
			{"show me the diff", "vcs diff ()"},
			{"what changed", "vcs diff ()"},
			{"show the changes in main.go", "vcs diff main.go"},
			{"log", "vcs log ()"},
			{"show the last commits", "vcs log ()"},
			{"who changed main.go", "vcs log main.go"},
			{"commit", "vcs commit ()"},
			{"commit all my changes", "vcs commit ()"},
			{"commit main.go", "vcs commit main.go"},
			{"commit the changes with the message 'Fix: a, b'", "vcs commit () message=(Fix: a, b)"},
			{"commit with message: fix login", "vcs commit () message=(fix login)"},
			{"git commit -m fix", "vcs commit () message=fix"},
			{"push", "vcs push ()"},
			{"push my changes to origin", "vcs push origin"},
			{"create a branch called feature/x", "vcs branch feature/x create=true"},
			{"git checkout -b foo", "vcs branch foo create=true"},
			{"switch to branch main", "vcs branch main"},
			{"switch to the main branch", "vcs branch main"},
			{"list branches", "vcs branch ()"},
		},
	} {
		t.Run(about, func(t *testing.T) {
			for _, p := range phrases {
				in := intent.Parse(p.words)
				if got := spell(in); got != p.want {
					t.Errorf("%q: got %s, want %s", p.words, got, p.want)
				}
				if in.Confidence < 0.5 {
					t.Errorf("%q: got confidence %v", p.words, in.Confidence)
				}
			}
		})
	}
}

func TestNameToCheckIsNoConsentToRunTests(t *testing.T) {
	for words, want := range map[string]bool{"check slug": false, "test slug": true, "check the slug package": true, "verify TestFoo": true} {
		if got := intent.Parse(words).AsksForTests(); got != want {
			t.Errorf("%q: got %t, want %t", words, got, want)
		}
	}
}

// spell formats an intent like the table.
func spell(in intent.Intent) string {
	bracket := func(s string) string {
		if s == "" || strings.Contains(s, " ") {
			return "(" + s + ")"
		}
		return s
	}
	text := in.Category + " " + in.Action + " " + bracket(in.Target)
	for _, name := range []string{"in", "into", "message", "new_name", "problem", "to", "with", "create"} {
		if value, ok := in.Params[name]; ok {
			text += " " + name + "=" + bracket(value)
		}
	}
	return text
}

func TestUnrelatedWordsAreUnknown(t *testing.T) {
	for _, words := range []string{
		"", "   ", "please", "hello world", "latest", "testing", "catalog", "loginHandler", "debugger", "?!", `"`, `""`, ":",
		"don't commit", "do not run the tests", "never push", "should I rename foo to bar?",
		"don't rename foo to bar, rename baz to qux",
		"delete branch main", "push --force", "git reset --hard", "log in to the server", "switch the database to Postgres",
		"check README.md", "check it", "verify main.go", "check Parse",
		"make sure it is fast", "build a rate limiter", "run", "what", "why", "where",
		// Rare phrasings are left to the model.
		"cover Parse with tests", `commit this as "wip"`,
		"in a.go, rename Foo to Bar", "if the tests pass, commit", "run the tests with -race", "new branch called x", "npm",
		"what does Foo mean but only in tests", "X is broken and do the same for Y",
		strings.Repeat("find the cause and ", 100),
	} {
		in := intent.Parse(words)
		if in.Category != "unknown" || in.Action != "none" || in.Target != "" || len(in.Params) > 0 || in.Confidence >= 0.5 {
			t.Errorf("%q: got %s at %v", words, spell(in), in.Confidence)
		}
		if in.Params == nil {
			t.Errorf("%q: got nil parameters", words)
		}
	}
}

func TestConfidenceFollowsTheRules(t *testing.T) {
	for words, want := range map[string]float64{
		"":                                   0,
		"hello":                              0,
		"don't commit":                       0,
		"rename Foo to Bar":                  0.9,
		"rename authenticate to verify":      0.85,
		"rename Foo to Bar, run the tests":   0.9,
		"rename Foo to Bar, run TestBar":     0.65,
		"find Foo and run the tests":         0.65,
		"rename Foo to Bar because I say":    0.65,
		"rename it to Bar":                   0.65,
		"rename Foo to account service":      0.9, // the name is missing from the chain
		"find AuthHandler":                   0.9,
		"find `user login`":                  0.9,
		"find login":                         0.85,
		"find user login":                    0.8,
		"find the code that reads flags now": 0.8,
		"find":                               0.65,
		"run the tests":                      0.9,
		"why does TestFoo fail on Windows":   0.8,
		"commit and push":                    0.65,
	} {
		if got := intent.Parse(words).Confidence; got != want {
			t.Errorf("%q: got %v, want %v", words, got, want)
		}
	}
}

func TestOtherTasksLowerConfidence(t *testing.T) {
	alone := intent.Parse("rename Foo to Bar")
	for _, more := range []string{", then commit", " and run the tests in ./a", ". It is urgent", " but don't commit", "; push", " because it reads better"} {
		both := intent.Parse("rename Foo to Bar" + more)
		if both.Confidence >= alone.Confidence || both.Target != "Foo" || !maps.Equal(both.Params, alone.Params) {
			t.Errorf("with %q: %s at %v", more, spell(both), both.Confidence)
		}
	}
}

func TestIntentJSON(t *testing.T) {
	for words, want := range map[string]string{
		"":                   `{"category":"unknown","action":"none","target":"","params":{},"confidence":0}`,
		"rename `a<b>` to c": `{"category":"refactor","action":"rename","target":"a<b>","params":{"new_name":"c"},"confidence":0.9}`,
	} {
		got, err := plan.EncodeJSON(intent.Parse(words))
		if err != nil || string(got) != want || !json.Valid(got) {
			t.Errorf("%q: got %s (%v), want %s", words, got, err, want)
		}
	}
}

func TestPronounOfARenameIsTheNameThatASentenceCallsBad(t *testing.T) {
	t.Parallel()
	for goal, want := range map[string]string{
		"legacyName is a bad name. Rename it to freshName":                    "legacyName",
		"The function legacyName is too long. Rename it to short":             "legacyName",
		"legacyName should have a better name; please rename it to freshName": "legacyName",
		"legacyName has a parameter foo. Rename it to bar":                    "",
		"legacyName has a field called old_name; rename it to new_name":       "",
		"legacyName should call otherName. Rename it to thirdName":            "",
		"legacyName is called by f. Rename the function to g":                 "",
	} {
		if got := intent.Parse(goal); got.Target != want {
			t.Errorf("%s: %+v", goal, got)
		}
	}
}
