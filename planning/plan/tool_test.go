package plan_test

import (
	"errors"
	"fmt"
	"testing"

	"replan/planning/plan"
)

func TestFindTool(t *testing.T) {
	own := plan.Tool{Name: "fs.read", Server: "workspace", Trusted: true}
	catalog := plan.Catalog{
		{Name: "fs.read", Server: "other"},
		own,
		{Name: "search", Server: "web"},
		{Name: "search", Server: "code"},
		{Name: "fetch", Server: "web"},
	}
	for title, c := range map[string]struct {
		tools plan.Catalog
		name  string
		want  string
	}{
		"bare operator name":                    {catalog, "fs.read", "workspace:fs.read"},
		"qualified name":                        {catalog, "other:fs.read", "other:fs.read"},
		"bare name of one server":               {catalog, "fetch", "web:fetch"},
		"bare name of two servers":              {catalog, "search", ""},
		"operator name of another server alone": {catalog[:1], "fs.read", "other:fs.read"},
		"untrusted server named workspace": {plan.Catalog{
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
	for _, name := range catalog.Names() {
		if _, err := catalog.Find(name); err != nil {
			t.Errorf("the listed name %q finds no tool: %v", name, err)
		}
	}
}

func TestUnknownToolIsNamedWithTheNearestNames(t *testing.T) {
	var many plan.Catalog
	for i := range 30 {
		many = append(many, plan.Tool{Server: "letters", Name: fmt.Sprintf("letter_%02d", i)})
	}
	many = append(many, plan.Tool{Server: "github", Name: "list_issues"}, plan.Tool{Server: "github", Name: "getIssue"}, plan.Tool{Server: "jira", Name: "get-board"})
	for name, c := range map[string]struct {
		tools plan.Catalog
		want  string
	}{
		"list_isues":     {many, `there is no tool "list_isues"; did you mean list_issues?`},
		"show_the_board": {many, `there is no tool "show_the_board"; the nearest name is get-board`},
		"get_an_issue":   {many, `there is no tool "get_an_issue"; the nearest names are getIssue, get-board`},
		"board_letter":   {many, `there is no tool "board_letter"; the nearest names are get-board, letter_00, letter_01, letter_02, letter_03, letter_04, letter_05, letter_06`},
		"fly":            {many[:2], `there is no tool "fly"; there are letter_00, letter_01`},
		"swim":           {many, `there is no tool "swim"; there are get-board, getIssue, letter_00, letter_01, letter_02, letter_03, letter_04, letter_05, letter_06, letter_07, letter_08, letter_09, letter_10, letter_11, letter_12, letter_13, letter_14, letter_15, letter_16, letter_17 and 13 more`},
		"sink":           {nil, `there is no tool "sink", and no server offers any`},
	} {
		if _, err := c.tools.Find(name); err == nil || err.Error() != c.want {
			t.Errorf("got %v\nwant %s", err, c.want)
		}
	}
}
