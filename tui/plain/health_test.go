package plain_test

import (
	"strings"
	"testing"

	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

func TestLostServerNamesStepsThatLoseTheirTool(t *testing.T) {
	status := func(state plan.ServerState) session.Status {
		return session.Status{Workspace: "/w", Model: "m", Servers: []plan.ServerStatus{{Name: "s", State: state, Error: "it ended"}}}
	}
	step := func(index, tool string, needs ...string) plan.Step {
		return plan.Step{Index: index, Title: "Look", Executor: plan.ExecutorTool, Tool: tool, DependsOn: needs}
	}
	create := samplePlan(step("1", "look"), step("2", "s:look", "1"), step("3", "look", "2"), step("4", "other", "1"))
	const lost = "· without the server s, steps 2 and 3 lose their tool\n"
	for name, test := range map[string]struct {
		states []plan.ServerState
		want   int // times
	}{
		"failed":             {[]plan.ServerState{plan.ServerReady, plan.ServerFailed, plan.ServerFailed}, 1},
		"disabled":           {[]plan.ServerState{plan.ServerReady, plan.ServerStopped}, 1},
		"restarts":           {[]plan.ServerState{plan.ServerReady, plan.ServerStarting}, 0},
		"failed at last":     {[]plan.ServerState{plan.ServerReady, plan.ServerStarting, plan.ServerFailed}, 1},
		"failed from before": {[]plan.ServerState{plan.ServerFailed, plan.ServerFailed}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			runs := []string{"r", "r", "r"}
			events := []event.Data{started("do it"), create, call("1", "", nil)}
			for _, state := range test.states {
				runs, events = append(runs, "s"), append(events, status(state))
			}
			if got := output(t, false, runs, events...); strings.Count(got, lost) != test.want {
				t.Errorf("got\n%s", got)
			}
		})
	}
}

func TestHealthChangePrintsOneLine(t *testing.T) {
	status := func(state plan.ServerState, fault, problem string) session.Status {
		return session.Status{Workspace: "/w", Model: "qwen3:8b", Problem: untrusted.Text(problem), Servers: []plan.ServerStatus{{Name: "docs", State: state, Tools: 2, Error: untrusted.Text(fault)}}}
	}
	starting, ready, failed, silent := status(plan.ServerStarting, "", ""), status(plan.ServerReady, "", ""), status(plan.ServerFailed, "it ended", ""), status(plan.ServerReady, "", "nothing answers there")
	note := event.Note{Level: "warn", Text: `the MCP server "docs": it ended`}
	for _, c := range []struct {
		name   string
		events []event.Data
		want   string
	}{
		{"starting servers print nothing", []event.Data{starting, ready, ready}, ""},
		{"failed server is reported by its note", []event.Data{starting, failed, note, failed}, "· the MCP server \"docs\": it ended\n"},
		{"lost server recovers", []event.Data{starting, ready, failed, note, starting, ready}, "· the MCP server \"docs\": it ended\n✓ the server docs is ready: 2 tools\n"},
		{"model stops and answers again", []event.Data{ready, silent, silent, ready}, "✗ the model does not answer: nothing answers there\n✓ qwen3:8b answers again\n"},
		{"missing model is reported elsewhere", []event.Data{session.Status{Problem: "no model"}, ready}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := output(t, false, strings.Fields(strings.Repeat("s ", len(c.events))), c.events...); got != c.want {
				t.Errorf("got\n%s", got)
			}
		})
	}
}
