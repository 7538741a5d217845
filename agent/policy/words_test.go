package policy_test

import (
	"testing"

	"replan/agent/policy"
)

func TestAsksForTests(t *testing.T) {
	for _, words := range []string{
		"TestMake is red: find out why, fix it and run the tests",
		"run the tests",
		"Run all of the tests.",
		"fix the failing test",
		"rename authenticate to verify_user, run the tests",
		"mend it and TEST it",
		"please rerun the test suite",
		"run go test ./... and tell me what fails",
		"run the parser tests twice",
		"run `make test`",
		"make the tests pass",
		"make sure that all tests still pass",
		"get the tests green",
		"why do the tests fail?",
		"why don't the tests pass",
		"find out why the test is red",
		"find out why the tests fail",
		"the tests do not pass; find the cause",
		"there is a failing test, mend it",
		"repair the broken tests in the parser",
		"check whether the tests pass",
		"check the tests",
		"change the code until it passes the tests",
		"don't touch the API, run the tests",
		"Do not delete the tests. Run the tests.",
		"mend the failing test",
		"list the failing tests",
	} {
		if !policy.AsksForTests(words) {
			t.Errorf("%q should ask", words)
		}
	}
	for _, words := range []string{
		"",
		"do not run the tests",
		"don't run the tests",
		"don’t run the tests",
		"never run the test suite",
		"mend it without running tests",
		"fix the failing test but do not run the tests",
		"Fix the failing test. Do not run anything.",
		"do not, under any circumstances, run the tests",
		"don't read, edit, or run the tests",
		"the tests must not be run",
		"there is no need to run the tests",
		"format the code instead of running the tests",
		"skip the tests",
		"avoid running the tests",
		"delete docs/spec.md",
		"write the specs",
		"read test.txt",
		"run test.sh",
		"rename the test helper",
		"fix the test data",
		"fix the typo in the tests folder",
		"fix the comment above tests/main.go",
		"fix the spelling in the tests",
		"run the formatter and delete the tests",
		"delete the failing tests",
		"write a test that fails",
		"how many tests are there",
		"why is the latest release slow",
		"contest",
		"the tests pass already: delete the notes",
		"rename Cart to Basket",
		"run the server with the test database",
	} {
		if policy.AsksForTests(words) {
			t.Errorf("%q should not ask", words)
		}
	}
}
