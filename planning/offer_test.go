package planning_test

import (
	"fmt"
	"strings"
	"testing"

	"replan/planning"
)

func TestToolsMakeWayInASmallWindow(t *testing.T) {
	brief := planning.Brief{Goal: "hello", Prompting: planning.Prompting{ModelTools: true, PlanTools: true}}
	for i := range 10 {
		brief.Catalogue = append(brief.Catalogue, planning.Tool{
			Name: fmt.Sprintf("tool%d", i), Server: "w", Description: strings.Repeat("what it does, ", 12),
			InputSchema: []byte(`{"type":"object","properties":{"description":{"type":"string","description":"` + strings.Repeat("words ", 60) + `"}}}`),
		})
	}
	const plans = 3
	for _, tc := range []struct {
		rule   string
		window int
		offers int
		terse  bool
		says   string
	}{
		{"with room for all they are offered as they are", 16384, 10 + plans, false, ""},
		{"with less they are told of in fewer words", 4500, 10 + plans, true, ""},
		{"with little only plans can be made", 2800, plans, true, "10 tools not offered"},
		{"with next to none nothing is offered", 2400, 0, true, "13 tools not offered"},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			brief.Prompting.ContextWindow = tc.window
			req := planning.ChatRequest(brief, false)
			if len(req.Tools) != tc.offers || !strings.Contains(req.Shortened, tc.says) || tc.says == "" && req.Shortened != "" {
				t.Fatalf("%d tools are offered, and it is said: %q; want %d and %q", len(req.Tools), req.Shortened, tc.offers, tc.says)
			}
			for _, tool := range req.Tools {
				if planning.IsPlanTool(tool) {
					continue
				}
				schema := string(tool.InputSchema)
				if strings.Contains(schema, "words") == tc.terse {
					t.Errorf("terse %t: the schema is %s", tc.terse, schema)
				}
				if !strings.Contains(schema, `"description":{`) {
					t.Errorf("the parameter's name went with the words: %s", schema)
				}
			}
			if strings.Contains(req.Shortened, "too long") {
				t.Error("it is too long all the same")
			}
		})
	}
}
