package reply_test

import (
	"strings"
	"testing"

	"replan/planning/reply"
)

func TestAdjustmentsAreThePointsUnderTheirHeading(t *testing.T) {
	for _, c := range []struct{ name, review, want string }{
		{"list", "## Critic\n- a risk\n\n## Plan Adjustments\n- Run the tests\n  last.\n- **Read** first.\n\n## More\n- no", "Run the tests last.|**Read** first."},
		{"numbered, bold heading", "**Plan Adjustments:**\n1. One.\n2) 2 of two.\n", "One.|2 of two."},
		{"prose", "### PLAN ADJUSTMENTS\nNone are needed.\nReally.", "None are needed. Really."},
		{"thoughts", "<think>## Plan Adjustments\n- no</think>\n## Plan Adjustments\n* yes", "yes"},
		{"no heading", "- The plan is fine.", ""},
		{"nothing below", "## Plan Adjustments\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(reply.Adjustments(c.review), "|"); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
