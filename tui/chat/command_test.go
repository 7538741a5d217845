package chat

import (
	"fmt"
	"strings"
	"testing"

	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning/intent"
	"replan/planning/plan"
)

// command returns the events of a run that carries out a command of the user, up to its gate.
func command(line string) []event.Data {
	chain := intent.Facts{}.RouteWords("!"+line, intent.Policy{})
	tools := plan.Catalog{{Name: "proc.run", Server: "workspace", Trusted: true, Annotated: true, Destructive: true}}
	p := chain.Plan("!" + line)
	return []event.Data{
		event.RunStarted{Goal: untrusted.Text("!" + line), Catalog: tools, Routing: event.Routing{Planner: event.PlannerAuto}},
		event.RouteMatched{Intent: chain.Intent, Confidence: 1, Chain: chain.Tools()},
		event.PlanCreated{Plan: p, Revision: 1},
		event.StepStarted{Index: "1", Attempt: 1, Executor: plan.ExecutorTool, Tool: "proc.run", Args: p.Steps[0].Args},
	}
}

func ended(status event.Status, reason event.Reason, answer string) event.Data {
	return event.RunCompleted{Result: event.Result{Status: status, Reason: reason, Answer: untrusted.Text(answer)}}
}

func TestCardOfACommandShowsTheEndOfItsOutput(t *testing.T) {
	output := ""
	for i := range 30 {
		output += fmt.Sprintf("line %d\n", i+1)
	}
	c := narratedPane()
	_, got := narrate(t, c, false, append(command("ls | head"),
		event.StepCompleted{Index: "1", Attempt: 1, MS: 1200, Result: map[string]any{"exit": 0, "output": output}},
		ended(event.StatusCompleted, event.ReasonGoalMet, "`ls` ended:\n\n```text\nline 30\n```"))...)
	lines := strings.Split(got, "\n")
	if lines[0] != "! ls | head" || !strings.HasPrefix(lines[2], "✓ done") || !strings.Contains(lines[2], "1.2s") || strings.Contains(got, "exit") {
		t.Errorf("got\n%s", got)
	}
	if lines[3] != "│ 18 earlier lines" || lines[4] != "│ line 19" || lines[len(lines)-1] != "│ line 30" || strings.Count(got, "line 30") != 1 {
		t.Errorf("got\n%s", got)
	}
	if !c.foldNewest("") {
		t.Fatal("the card does not unfold")
	}
	all := ""
	for i := range c.Blocks {
		for _, line := range c.LinesOf(i) {
			all += line.Text + "\n"
		}
	}
	if !strings.Contains(all, "line 1\x1b") && !strings.Contains(all, "line 1\n") || strings.Contains(all, "earlier") {
		t.Errorf("unfolded:\n%s", all)
	}
}

func TestCardOfACommandSaysHowItFailed(t *testing.T) {
	for name, c := range map[string]struct {
		end  []event.Data
		want []string
		not  []string
	}{
		"an exit code": {
			[]event.Data{
				event.StepFailed{Index: "1", Attempt: 1, MS: 10, Failure: event.FailureTool, Error: "make bad ended with exit status 2\n\noh no"},
				ended(event.StatusFailed, event.ReasonStepFailed, "Run make bad failed"),
			}, []string{"✗ exit 2", "│ oh no"}, []string{"exit status", "failed", "resumes"},
		},
		"no such program": {
			[]event.Data{
				event.StepFailed{Index: "1", Attempt: 1, MS: 10, Failure: event.FailureTool, Error: "there is no program make"},
				ended(event.StatusFailed, event.ReasonStepFailed, ""),
			}, []string{"✗ failed", "│ there is no program make"}, []string{"exit", "resumes"},
		},
		"no output": {
			[]event.Data{
				event.StepCompleted{Index: "1", Attempt: 1, Result: map[string]any{"exit": 0, "output": ""}},
				ended(event.StatusCompleted, event.ReasonGoalMet, ""),
			}, []string{"✓ done", "│ no output"}, nil,
		},
		"stopped": {
			[]event.Data{
				event.StepFailed{Index: "1", Attempt: 1, Failure: event.FailureInterrupted, Error: "stopped by the user"}, stopped(),
			}, []string{"ctrl+r resumes the run"}, nil,
		},
	} {
		_, got := narrate(t, narratedPane(), false, append(command("make bad"), c.end...)...)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q is not in\n%s", name, want, got)
			}
		}
		for _, not := range c.not {
			if strings.Contains(got, not) {
				t.Errorf("%s: %q is in\n%s", name, not, got)
			}
		}
	}
}

func TestRefusedProgramNamesTheKeyThatSuspends(t *testing.T) {
	refused := event.ChatReply{Status: event.StatusFailed, Reason: event.ReasonInvalidGoal, Text: "vim needs a terminal of its own, and a command here has none: run it in your own shell"}
	for sent, hint := range map[untrusted.Text]bool{"!vim": true, "rename a to b c": false} {
		c := narratedPane()
		c.state.SuspendKey = "ctrl+z"
		c.Message(event.ChatUser{Text: sent}, true)
		c.Reply(refused)
		if got := strings.Contains(c.Blocks[len(c.Blocks)-1].text(), "ctrl+z suspends replan"); got != hint {
			t.Errorf("%s: hint %v", sent, got)
		}
	}
}
