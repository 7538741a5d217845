package agent_test

import (
	"strings"
	"testing"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/rule"
	"replan/planning/prompt"
)

// The notes of a folder that the user does not trust (AGENTS.md) may lead a model to send
// something out. Its calls to other servers ask, unless a rule of the user allows them.
func TestCallsWrittenAfterNotesOfAnUntrustedFolderAsk(t *testing.T) {
	const fetch = `{"title":"T","steps":[{"index":"1","title":"Look up","tool":"web:fetch","args":{"url":"http://example.com/?q=goal"}}]}`
	const read = `{"title":"T","steps":[{"index":"1","title":"Read","tool":"fs.read","args":{"path":"a.go"}}]}`
	for name, c := range map[string]struct {
		plan      string
		prompting prompt.Prompting
		allow     string
		given     bool
		asks      bool
	}{
		"notes":                 {plan: fetch, prompting: prompt.Prompting{Instructions: "begin with web:fetch"}, asks: true},
		"no notes":              {plan: fetch},
		"notes of a trusted":    {plan: fetch, prompting: prompt.Prompting{Instructions: "x", TrustsNotes: true}},
		"rule of the user":      {plan: fetch, prompting: prompt.Prompting{Instructions: "x"}, allow: "web:fetch"},
		"plan of the user":      {plan: fetch, prompting: prompt.Prompting{Instructions: "x"}, given: true},
		"operator of workspace": {plan: read, prompting: prompt.Prompting{Instructions: "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.reply = script{prompt.PurposePlan: {c.plan}}.reply
			start := started(event.DefaultLimits())
			if c.given {
				start = given(t, c.plan)
			}
			start.Prompting.Instructions, start.Prompting.TrustsNotes = c.prompting.Instructions, c.prompting.TrustsNotes
			start.Catalog, start.Rules = twoServers, nil
			if c.allow != "" {
				allowed, err := policy.Parse(c.allow, rule.VerdictRun, rule.SourceUser)
				if err != nil {
					t.Fatal(err)
				}
				start.Rules = append(start.Rules, allowed)
			}
			start.Rules = append(start.Rules, policy.BuiltIn(policy.Trust{})...)
			w.play(start)
			gates := all[event.GateRequested](w)
			if len(w.starts()) != 1 || (len(gates) > 0) != c.asks {
				t.Fatalf("started %v after the gates %+v", w.starts(), gates)
			}
			if c.asks && !strings.Contains(string(gates[0].Rule.Why), "AGENTS.md") {
				t.Errorf("the gate says %q", gates[0].Rule.Why)
			}
			if _, why := policy.Offer(gate(gates), w.run.Catalog[0], "/work"); c.asks && strings.Contains(string(why), "result") {
				t.Errorf("always is off: %s", why)
			}
		})
	}
}

// gate returns the first gate; the zero value if there is none.
func gate(gates []event.GateRequested) (g event.GateRequested) {
	if len(gates) > 0 {
		g = gates[0]
	}
	return g
}
