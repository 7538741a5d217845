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
	"replan/tui/keymap"
)

// WideRun is a run of n steps in layers of ten, each step depending on two of
// the layer above.
func WideRun(n int) *agent.Run {
	var steps []*agent.StepState
	for i := range n {
		step := plan.Step{Index: fmt.Sprint(i + 1), Title: untrusted.Text(fmt.Sprintf("Step number %d of a long plan", i+1)), Tool: "fs.read", Executor: plan.ExecutorTool}
		if i >= 10 {
			step.DependsOn = []string{fmt.Sprint(i - 9), fmt.Sprint(i - i%10 - 9 + (i+1)%10)}
		}
		switch {
		case i < n/3:
			steps = append(steps, &agent.StepState{Step: step, Status: agent.StepCompleted, MS: 1200})
		case i < n/3+4:
			steps = append(steps, &agent.StepState{Step: step, Status: agent.StepRunning})
		default:
			steps = append(steps, &agent.StepState{Step: step, Status: agent.StepPending})
		}
	}
	return runOf(steps)
}

// runOf is a run whose plan has some steps.
func runOf(steps []*agent.StepState) *agent.Run {
	var p plan.Plan
	for _, s := range steps {
		p.Steps = append(p.Steps, s.Step)
	}
	return &agent.Run{Terms: agent.Terms{ID: "r"}, Board: agent.Board{Revision: 1, Plan: p, Steps: steps}, Clock: agent.Clock{StartedAt: time.Unix(0, 0)}}
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
func DarkLook() *draw.Styles {
	return draw.NewStyles(new(themes.Set).New(themes.Dark, true, themes.Mode{}))
}

// ASCIILook is the look of a terminal without colors and without Unicode.
func ASCIILook() *draw.Styles {
	return draw.NewStyles(new(themes.Set).New(themes.Dark, true, themes.Mode{ASCII: true, NoColor: true}))
}

// Stripped is drawn lines as text.
func Stripped(lines []string) string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = strings.TrimRight(ansi.Strip(line), " ")
	}
	return strings.TrimRight(strings.Join(out, "\n"), "\n")
}

// FanRun is a run of n steps: one, a fan-out that reads, one that writes behind each of
// it, and one that sums up. active of the readers run.
func FanRun(n, active int) *agent.Run {
	var steps []*agent.StepState
	add := func(title, tool string, status agent.StepStatus, deps ...string) string {
		index := fmt.Sprint(len(steps) + 1)
		step := plan.Step{Index: index, Title: untrusted.Text(title), Tool: tool, Executor: plan.ExecutorTool, DependsOn: deps}
		steps = append(steps, &agent.StepState{Step: step, Status: status, StartedAt: time.Unix(0, 0)})
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
	return runOf(steps)
}

// EachRun is a run whose second step runs for n items: done of them are done, and every
// tenth of those failed; four run.
func EachRun(n, done int) *agent.Run {
	run := agent.NewRun(nil)
	seq := uint64(0)
	at := time.Unix(100, 0)
	apply := func(data event.Data) {
		seq++
		at = at.Add(100 * time.Millisecond)
		if err := run.Apply(event.Event{Seq: seq, Time: at, Run: "r", Data: data}); err != nil {
			panic(err)
		}
	}
	var items []any
	for i := range n {
		items = append(items, fmt.Sprintf("internal/part%d/file.go", i+1))
	}
	steps := []plan.Step{
		{Index: "1", Title: "Find the files", Tool: "fs.search", Executor: plan.ExecutorTool, ResultVariable: "found"},
		{
			Index: "2", Title: "Change each file", Tool: "fs.write", Executor: plan.ExecutorTool, DependsOn: []string{"1"}, ResultVariable: "changed", OnFailure: plan.OnFailureSkip,
			ForEach: &plan.ForEach{Items: "${found.files}", As: "file", Max: plan.MostItems}, Args: map[string]any{"path": "${file}"},
		},
		{Index: "3", Title: "Run the tests", Tool: "test.run", Executor: plan.ExecutorTool, DependsOn: []string{"2"}},
	}
	p := plan.Plan{ID: "each", Title: "Change each file", Goal: "change each file", OnFailure: plan.OnFailureAbort, Steps: steps}
	apply(event.RunStarted{Goal: "change each file", Plan: &p})
	apply(event.PlanCreated{Plan: p})
	apply(event.StepStarted{Index: "1", Attempt: 1, Title: "Find the files", Executor: plan.ExecutorTool, Tool: "fs.search"})
	apply(event.StepCompleted{Index: "1", Attempt: 1, Result: map[string]any{"files": items}, MS: 40})
	apply(event.StepExpanded{Index: "2", Attempt: 1, Title: "Change each file", Items: items})
	for i := range min(done+4, n) {
		index := fmt.Sprintf("2.%d", i+1)
		apply(event.StepStarted{Index: index, Parent: "2", Attempt: 1, Title: untrusted.Text("Change each file: " + fmt.Sprint(items[i])), Executor: plan.ExecutorTool, Tool: "fs.write", Args: map[string]any{"path": items[i]}})
		switch {
		case i >= done:
		case i%10 == 9:
			apply(event.StepFailed{Index: index, Attempt: 1, Error: "the disk is full", Failure: event.FailureTool, MS: 30})
		default:
			apply(event.StepCompleted{Index: index, Attempt: 1, Result: "written", MS: 20})
		}
	}
	return run
}

// Sent returns the commands that a pane sends to the session.
func Sent(rs keymap.Requests) []session.Command { return keymap.Of[session.Command](rs) }

// Footer returns the message that a pane shows in the footer, "" for none.
func Footer(rs keymap.Requests) string { return string(keymap.First[keymap.Footer](rs)) }
