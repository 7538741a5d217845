package plan_test

import (
	"errors"
	"testing"

	"replan/planning/plan"
	"replan/planning/prompt"
)

func TestFindTool(t *testing.T) {
	own := plan.Tool{Name: "fs.read", Server: "workspace", Trusted: true}
	catalogue := plan.Catalogue{
		{Name: "fs.read", Server: "other"},
		own,
		{Name: "search", Server: "web"},
		{Name: "search", Server: "code"},
		{Name: "fetch", Server: "web"},
	}
	for title, c := range map[string]struct {
		tools plan.Catalogue
		name  string
		want  string
	}{
		"bare operator name":                    {catalogue, "fs.read", "workspace:fs.read"},
		"qualified name":                        {catalogue, "other:fs.read", "other:fs.read"},
		"bare name of one server":               {catalogue, "fetch", "web:fetch"},
		"bare name of two servers":              {catalogue, "search", ""},
		"operator name of another server alone": {catalogue[:1], "fs.read", "other:fs.read"},
		"untrusted server named workspace": {plan.Catalogue{
			{Name: "fs.read", Server: "workspace"}, {Name: "fs.read", Server: "other"},
		}, "fs.read", ""},
	} {
		t.Run(title, func(t *testing.T) {
			tool, err := c.tools.Find(c.name)
			var ambiguous *plan.AmbiguousToolError
			if c.want == "" {
				if !errors.As(err, &ambiguous) {
					t.Fatalf("Find(%s) = %s, %v, want an ambiguous name", c.name, tool.QualifiedName(), err)
				}
				return
			}
			if err != nil || tool.QualifiedName() != c.want {
				t.Errorf("Find(%s) = %s, %v; want %s", c.name, tool.QualifiedName(), err, c.want)
			}
		})
	}
	for _, name := range catalogue.Names() {
		if _, err := catalogue.Find(name); err != nil {
			t.Errorf("the listed name %q finds no tool: %v", name, err)
		}
	}
}

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
