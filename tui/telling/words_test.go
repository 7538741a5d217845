package telling_test

import (
	"strings"
	"testing"

	"replan/agent/rule"
	"replan/planning/plan"
	"replan/tui/telling"
)

func TestGateMarksWordBasedChange(t *testing.T) {
	tools := plan.Catalogue{{Name: "code.transform", Server: "workspace", Trusted: true}}
	for words, want := range map[bool]bool{true: true, false: false} {
		got := telling.TextSources([]rule.Provenance{{Arg: "diff", Step: "2", Tool: "code.transform", Exact: true, Words: words}}, tools)
		if len(got) != 1 || strings.Contains(got[0].Words, "by words, may miss or match too much") != want {
			t.Errorf("words %v: %+v", words, got)
		}
	}
}
