package prompt

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"replan/planning/plan"
)

// optional returns tools with so many arguments that may be left out: the forms
// whose grammar is the longest beside their schema.
func optional(tools, args int) plan.Catalog {
	var all plan.Catalog
	for i := range tools {
		fields := make([]string, args)
		for j := range fields {
			fields[j] = fmt.Sprintf(`"opt_%d":{"type":%q}`, j, []string{"string", "integer", "boolean"}[j%3])
		}
		all = append(all, plan.Tool{Name: fmt.Sprintf("t%d", i), Server: "s", InputSchema: json.RawMessage(`{"type":"object","properties":{` + strings.Join(fields, ",") + `}}`)})
	}
	return all
}

// TestServersKeepTheWholeGrammarOfAFormat holds the estimate against what the
// converter of Ollama 0.17.4 made of the same schemas.
func TestServersKeepTheWholeGrammarOfAFormat(t *testing.T) {
	for _, tt := range []struct{ tools, args, measured int }{{4, 3, 10_764}, {20, 25, 167_161}, {40, 25, 311_007}, {60, 2, 114_861}} {
		b := Brief{Goal: "x", Catalog: optional(tt.tools, tt.args), MaxSteps: 15, Prompting: Prompting{}}
		tools := toolsFor(b, "", "", nil)
		for i, form := range tools.step.AnyOf { // as measured: without for_each and when
			tools.step.AnyOf[i].Properties = slices.DeleteFunc(form.Properties, func(p property) bool { return p.name == "for_each" || p.name == "when" })
		}
		format := planFormat(tools, 15, false, false)
		if kept := max(keptAtLeast, keptOfGrammar*len(format)); kept < tt.measured || kept > max(keptAtLeast, tt.measured*13/10) {
			t.Errorf("%d tools of %d args: of the grammar of %d bytes %d are kept", tt.tools, tt.args, tt.measured, kept)
		}
	}
}
