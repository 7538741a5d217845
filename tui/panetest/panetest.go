package panetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/themes"
	"replan/tui/draw"
)

// WideRun is a run of n steps in layers of ten, each step depending on two of
// the layer above.
func WideRun(n int) *agent.Run {
	run := &agent.Run{ID: "r", Revision: 1, StartedAt: time.Unix(0, 0)}
	for i := range n {
		step := plan.Step{Index: fmt.Sprint(i + 1), Title: untrusted.Text(fmt.Sprintf("Step number %d of a long plan", i+1)), Tool: "fs.read", Executor: plan.ExecutorTool}
		if i >= 10 {
			step.DependsOn = []string{fmt.Sprint(i - 9), fmt.Sprint(i - i%10 - 9 + (i+1)%10)}
		}
		state := &agent.StepState{Step: step, Status: agent.StepPending}
		switch {
		case i < n/3:
			state.Status, state.MS = agent.StepCompleted, 1200
		case i < n/3+4:
			state.Status = agent.StepRunning
		}
		run.Steps = append(run.Steps, state)
		run.Plan.Steps = append(run.Plan.Steps, step)
	}
	return run
}

// NoModel is the status of a session in which no model answers. The host has the
// installed models.
func NoModel(kind prompt.TroubleKind, model untrusted.Text, installed ...untrusted.Text) session.Status {
	const host = "http://127.0.0.1:11434"
	return session.Status{
		Workspace: "/src/auth-service", Planner: event.PlannerAuto, Tools: 6, Branch: "main", Host: host,
		Problem: "there is no model: a sentence", Trouble: prompt.ModelTrouble{Kind: kind, Host: host, Model: model, Models: installed},
		Servers: []plan.ServerStatus{{Name: "workspace", State: plan.ServerReady, Tools: 6}},
	}
}

// ToolServers asks about each tool server that the project names.
func ToolServers() []event.GateRequested {
	var all []event.GateRequested
	for i, server := range [][2]string{{"tickets", "npx -y @example/tickets-mcp --project auth"}, {"search", "https://search.example.com/mcp"}} {
		all = append(all, event.GateRequested{
			Gate: fmt.Sprintf("servers.%d", i+1), Title: untrusted.Text("Start the tool server " + server[0] + "?"), Args: map[string]any{server[0]: server[1]},
			Rule: rule.Rule{Tool: "*", Verdict: rule.VerdictAsk, Source: "built-in", Why: "this project's .mcp.json names it; the answer is remembered until its entry changes"},
		})
	}
	return all
}

// DarkLook is the look of a dark terminal.
func DarkLook() *draw.Look {
	return draw.NewLook(new(themes.Set).New(themes.Dark, true, themes.Mode{}))
}

// Stripped is drawn lines as text.
func Stripped(lines []string) string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = strings.TrimRight(ansi.Strip(line), " ")
	}
	return strings.TrimRight(strings.Join(out, "\n"), "\n")
}

// FanRun is a run of n steps: one, a fan-out that reads, one that writes behind
// each of it, and one that sums up; active of the readers run.
func FanRun(n, active int) *agent.Run {
	run := &agent.Run{ID: "r", Revision: 1, StartedAt: time.Unix(0, 0)}
	add := func(title, tool string, status agent.StepStatus, deps ...string) string {
		index := fmt.Sprint(len(run.Steps) + 1)
		step := plan.Step{Index: index, Title: untrusted.Text(title), Tool: tool, Executor: plan.ExecutorTool, DependsOn: deps}
		run.Steps = append(run.Steps, &agent.StepState{Step: step, Status: status, StartedAt: time.Unix(0, 0)})
		run.Plan.Steps = append(run.Plan.Steps, step)
		return index
	}
	first := add("List what is there", "fs.list", agent.StepCompleted)
	var reads, writes []string
	for i := range (n - 2) / 2 {
		status := agent.StepPending
		switch {
		case i < n/8:
			status = agent.StepCompleted
		case i < n/8+active:
			status = agent.StepRunning
		}
		reads = append(reads, add(fmt.Sprintf("Read file number %d", i), "fs.read", status, first))
	}
	for i, read := range reads {
		writes = append(writes, add(fmt.Sprintf("Write file number %d", i), "fs.write", agent.StepPending, read))
	}
	add("Sum up what was done", "fs.write", agent.StepPending, writes...)
	return run
}
