package prompt_test

import (
	"testing"

	"replan/planning/plan"
	"replan/planning/prompt"
)

func TestOperatorNamesInProfilesMeanTheWorkspace(t *testing.T) {
	profile := prompt.Profile{Tools: []string{"fs.read", "search"}}
	for tool, want := range map[*plan.Tool]bool{
		{Name: "fs.read", Server: "workspace", Trusted: true}: true,
		{Name: "fs.read", Server: "other"}:                    false,
		{Name: "search", Server: "other"}:                     true,
	} {
		if profile.May(*tool) != want {
			t.Errorf("May(%s) = %t", tool.QualifiedName(), !want)
		}
	}
}
