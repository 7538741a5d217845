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
	for name, c := range map[string]struct {
		tools plan.Catalogue
		says  string
		want  string
	}{
		"a bare operator name means the workspace's":            {catalogue, "fs.read", "workspace:fs.read"},
		"a qualified name means that server's":                  {catalogue, "other:fs.read", "other:fs.read"},
		"a bare name that one server offers means that one":     {catalogue, "fetch", "web:fetch"},
		"a bare name that two servers offer means none":         {catalogue, "search", ""},
		"an operator that the workspace lacks may be another's": {catalogue[:1], "fs.read", "other:fs.read"},
		"the workspace's tools are no operators by their server": {plan.Catalogue{
			{Name: "fs.read", Server: "workspace"}, {Name: "fs.read", Server: "other"},
		}, "fs.read", ""},
	} {
		t.Run(name, func(t *testing.T) {
			tool, err := c.tools.Find(c.says)
			var ambiguous *plan.AmbiguousToolError
			if c.want == "" {
				if !errors.As(err, &ambiguous) {
					t.Fatalf("%s means %s, %v", c.says, tool.QualifiedName(), err)
				}
				return
			}
			if err != nil || tool.QualifiedName() != c.want {
				t.Errorf("%s means %s, %v; want %s", c.says, tool.QualifiedName(), err, c.want)
			}
		})
	}
	for _, name := range catalogue.Names() {
		if _, err := catalogue.Find(name); err != nil {
			t.Errorf("the listed name %q means no tool: %v", name, err)
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
			t.Errorf("%s may be called: %t", tool.QualifiedName(), !want)
		}
	}
}
