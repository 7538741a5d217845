package wording_test

import (
	"slices"
	"strconv"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/tui/wording"
)

func TestServerIsUsedByStepsToCome(t *testing.T) {
	step := func(index, tool string, status agent.StepStatus) *agent.StepState {
		return &agent.StepState{Step: plan.Step{Index: index, Tool: tool}, Status: status}
	}
	run := &agent.Run{
		Toolbox: agent.Toolbox{Catalog: plan.Catalog{{Name: "look", Server: "docs"}, {Name: "write", Server: "docs"}, {Name: "look", Server: "web"}}},
		Board: agent.Board{
			Steps: []*agent.StepState{
				step("1", "docs:look", agent.StepCompleted), step("2", "docs:look", agent.StepRunning), step("3", "write", agent.StepPending),
				step("4", "web:look", agent.StepPending), step("5", "docs:look", agent.StepWaiting), step("6", "", agent.StepPending),
				step("7", "look", agent.StepPending), step("8", "docs:look", agent.StepSkipped),
			},
		},
	}
	if got := wording.StepsUsing(run, "docs", nil); !slices.Equal(got, []string{"3", "5"}) {
		t.Errorf("got %v", got)
	}
	if got := wording.StepsUsing(nil, "docs", nil); got != nil {
		t.Errorf("without a run: %v", got)
	}
	run.Result = &event.Result{}
	if got := wording.StepsUsing(run, "docs", nil); got != nil {
		t.Errorf("of a run that is over: %v", got)
	}
}

func TestSubAgentUsesServersOfItsProfile(t *testing.T) {
	run := agent.NewRun(nil)
	start := event.RunStarted{Catalog: plan.Catalog{{Name: "look", Server: "docs"}, {Name: "write", Server: "docs"}, {Name: "look", Server: "web"}}}
	start.Prompting.Profiles = []prompt.Profile{{Name: "reader", Tools: []string{"docs:*"}}, {Name: "scout", Tools: []string{"look"}}, {Name: "any"}, {Name: "none", Tools: []string{"gone.*"}}}
	if err := run.Apply(event.Event{Run: "r", Seq: 1, Data: start}); err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"reader", "scout", "any", "none", "unknown"} {
		run.Steps = append(run.Steps, &agent.StepState{Step: plan.Step{Index: strconv.Itoa(i + 1), Executor: plan.ExecutorAgent, Profile: name}, Status: agent.StepPending})
	}
	for _, c := range []struct {
		server     string
		lost, want []string
	}{
		{"docs", nil, []string{"1"}},
		{"docs", []string{"docs", "web"}, []string{"1", "2"}},
		{"web", []string{"web"}, nil},
		{"web", []string{"docs"}, []string{"2"}},
	} {
		if got := wording.StepsUsing(run, c.server, c.lost); !slices.Equal(got, c.want) {
			t.Errorf("%s with %v lost: got %v, want %v", c.server, c.lost, got, c.want)
		}
	}
}

func TestLostToolsAreToldInASentence(t *testing.T) {
	for want, steps := range map[string][]string{
		"step 2 loses its tool":                             {"2"},
		"steps 2 and 4 lose their tool":                     {"2", "4"},
		"steps 1, 2, 3, 4, 5, 6 and 2 more lose their tool": {"1", "2", "3", "4", "5", "6", "7", "8"},
	} {
		if got := wording.LostTools(steps); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestCallsOfServerAreTold(t *testing.T) {
	for want, s := range map[string]plan.ServerStatus{
		"":                             {},
		"1 call, last 7ms, median 7ms": {Calls: 1, LastMS: 7, MedianMS: 7},
		"9 calls, 2 failed, last 1.2s, median 80ms": {Calls: 9, Failures: 2, LastMS: 1200, MedianMS: 80},
	} {
		if got := wording.ServerCalls(s); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAddressOfAServerQuotesItsArguments(t *testing.T) {
	for want, s := range map[string]plan.ServerStatus{
		"serve --name 'x y' ''":   {Command: []string{"serve", "--name", "x y", ""}},
		"https://example.com/mcp": {URL: "https://example.com/mcp"},
		"":                        {},
	} {
		if got := wording.ServerAddress(s); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestServerIsShownAsCommandLine(t *testing.T) {
	for want, p := range map[string]plan.PendingServer{
		"npx-nope -y x":     {Command: []string{"npx-nope", "-y", "x"}},
		"serve 'two words'": {Command: []string{"serve", "two words"}},
		"serve \"a\\nb\"":   {Command: []string{"serve", "a\nb"}},
		"serve\nin the folder sub\nenv A=1\nenv B='$HOME'": {
			Command: []string{"serve"}, Dir: "sub", Env: map[string]string{"B": "$HOME", "A": "1"},
		},
		"https://example.com/mcp\nruns 'cat key' in a shell for its headers": {URL: "https://example.com/mcp", HeadersHelper: "cat key"},
		"https://example.com/mcp\nover the older SSE transport":              {URL: "https://example.com/mcp", SSE: true},
		"serve\ndoes not learn the folder of the workspace":                  {Command: []string{"serve"}, NoRoots: true},
		"serve\ngets of your environment TOKEN 'AWS_*'":                      {Command: []string{"serve"}, Inherit: []string{"TOKEN", "AWS_*"}},
		"https://example.com/mcp\nheader X=y":                                {URL: "https://example.com/mcp", Headers: map[string]string{"X": "y"}},
		"https://example.com/mcp\noauth clientId=a\noauth scopes='b c'":      {URL: "https://example.com/mcp", OAuth: map[string]string{"scopes": "b c", "clientId": "a"}},
	} {
		if got := wording.ServerWords(p.Whole()); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
