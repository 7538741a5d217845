package intent_test

import (
	"testing"

	"replan/planning/intent"
)

func TestDeletesOnlyTheWholeDeclaration(t *testing.T) {
	t.Parallel()
	for goal, want := range map[string]bool{
		"Delete the unused function Login":                                                               true,
		"Remove Login() from auth/auth.go and run the tests":                                             true,
		"Please remove the Login function.":                                                              true,
		"Drop Login, nothing calls it":                                                                   true,
		"Nothing calls Login. Remove it along with its comment and check that the tests pass.":           true,
		"The function Login in auth is dead code, please delete it and check that the tests still pass.": true,
		"The function Login isn't used, remove it":                                                       true,
		"Remove Login with its doc comment from auth.go":                                                 true,
		"Login logs the password. Remove it from the log":                                                false,
		"Fix Login. Remove it from the exports":                                                          false,
		"Remove the unused parameter user of Login":                                                      false,
		"Remove the call of Login in auth/auth.go":                                                       false,
		"Remove Login and Logout":                                                                        false,
		"Delete Login and everything that calls it":                                                      false,
		"Delete Login, and its callers":                                                                  false,
		"Remove Login, replace it with Logout":                                                           false,
		"Remove Login test":                                                                              false,
		"Login prints the password. Remove it.":                                                          false,
		"Login has an unused parameter, remove it":                                                       false,
		"There is a comment above Login, please remove it.":                                              false,
		"The parameter x of Login is unused. Remove it.":                                                 false,
		"The check in Login is wrong. Remove it.":                                                        false,
		"Nothing calls Login any more except main, so remove it":                                         false,
		"Remove Login's comment":                                                                         false,
		"Remove the docstring of Login":                                                                  false,
		"Delete Login from the list of exports":                                                          false,
		"Remove the duplicated check from Login and run the tests":                                       false,
		"Fix Login": false,
		"Remove everything that Login does not need from auth/auth.go": false,
	} {
		if got := intent.Deletes(goal, "Login"); got != want {
			t.Errorf("%s: %t", goal, got)
		}
	}
}
