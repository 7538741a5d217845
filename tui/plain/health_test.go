package plain_test

import (
	"strings"
	"testing"

	"replan/agent/event"
	"replan/agent/session"
	"replan/planning/plan"
)

func TestAChangeOfHealthIsOneLine(t *testing.T) {
	status := func(state plan.ServerState, fault, problem string) session.Status {
		return session.Status{Workspace: "/w", Model: "qwen3:8b", Problem: problem, Servers: []plan.ServerStatus{{Name: "docs", State: state, Tools: 2, Error: fault}}}
	}
	starting, ready, failed, silent := status(plan.ServerStarting, "", ""), status(plan.ServerReady, "", ""), status(plan.ServerFailed, "it ended", ""), status(plan.ServerReady, "", "nothing answers there")
	note := event.Note{Level: "warn", Text: `the MCP server "docs": it ended`}
	for _, c := range []struct {
		name  string
		heard []event.Data
		want  string
	}{
		{"what starts and is ready is no news", []event.Data{starting, ready, ready}, ""},
		{"a server that fails is left to the note about it", []event.Data{starting, failed, note, failed}, "· the MCP server \"docs\": it ended\n"},
		{"a server is lost and comes back", []event.Data{starting, ready, failed, note, starting, ready}, "· the MCP server \"docs\": it ended\n✓ the server docs is ready: 2 tools\n"},
		{"the model falls silent and answers again", []event.Data{ready, silent, silent, ready}, "✗ the model does not answer: nothing answers there\n✓ qwen3:8b answers again\n"},
		{"a model that never answered is told by what asked it", []event.Data{session.Status{Problem: "no model"}, ready}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := told(t, false, strings.Fields(strings.Repeat("s ", len(c.heard))), c.heard...); got != c.want {
				t.Errorf("told\n%s", got)
			}
		})
	}
}
