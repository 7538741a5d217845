package serve

import (
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"replan/agent/event"
)

func TestFormOfAGateTakesTheReasonOfANo(t *testing.T) {
	g := gate{GateRequested: event.GateRequested{Gate: "1.1.1", Tool: "fs.write"}}
	for name, c := range map[string]struct {
		form map[string]any
		want string
	}{
		"with a reason":         {map[string]any{"decision": deny, "reason": "use the tests"}, "use the tests"},
		"without one":           {map[string]any{"decision": deny}, ""},
		"a reason that is none": {map[string]any{"decision": deny, "reason": 7}, ""},
		"a yes has none":        {map[string]any{"decision": allowOnce, "reason": "go on"}, ""},
	} {
		got := g.answered(&mcp.ElicitationResult{ElicitationResponse: mcp.ElicitationResponse{Action: mcp.ElicitationResponseActionAccept, Content: c.form}})
		if got.reason != c.want {
			t.Errorf("%s: %q", name, got.reason)
		}
	}
	properties, _ := g.question().RequestedSchema.(map[string]any)["properties"].(map[string]any)
	if properties["reason"] == nil {
		t.Error("the form asks for no reason")
	}
}
