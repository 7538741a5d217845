package intent_test

import (
	"testing"

	"replan/planning/intent"
)

func TestDeletesOnlyTheWholeDeclaration(t *testing.T) {
	t.Parallel()
	for goal, want := range map[string]bool{
		"Delete the unused function Login":                         true,
		"Remove Login() from auth/auth.go and run the tests":       true,
		"Please remove the Login function.":                        true,
		"Drop Login, nothing calls it":                             true,
		"Remove the unused parameter user of Login":                false,
		"Remove the call of Login in auth/auth.go":                 false,
		"Remove Login's comment":                                   false,
		"Remove the docstring of Login":                            false,
		"Delete Login from the list of exports":                    false,
		"Remove the duplicated check from Login and run the tests": false,
		"Fix Login": false,
		"Remove everything that Login does not need from auth/auth.go": false,
	} {
		if got := intent.Deletes(goal, "Login"); got != want {
			t.Errorf("%s: %t", goal, got)
		}
	}
}
