package runner_test

import (
	"context"
	"strings"
	"testing"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// shelled offers the operator that runs programs, and a user who asks a planner.
func shelled(planner event.PlannerKind) func(*stage) {
	return func(s *stage) {
		s.tools.offered = plan.Catalog{{Name: "proc.run", Server: "workspace", Annotated: true, Trusted: true, Destructive: true}}
		s.tools.call = func(_ context.Context, c plan.ToolCall) (any, error) {
			return map[string]any{"exit": 0, "output": "a.go\nb.go\n", "command": "ls"}, nil
		}
		also(func(cfg *runner.Config) { cfg.Routing.Planner = planner })(s)
	}
}

func TestCommandNeedsNoModelWhoeverPlans(t *testing.T) {
	for _, planner := range []event.PlannerKind{event.PlannerAuto, event.PlannerPhases, event.PlannerRouter, event.PlannerNone} {
		for name, model := range map[string]func(*stage){"with a model": func(*stage) {}, "without one": noModel} {
			s := open(t, policy.ApproveAll, both(shelled(planner), model))
			s.Send(session.Submit{Text: "!ls *.go"})
			gate := until[event.GateRequested](t, s)
			if gate.Tool != "proc.run" || gate.Args["shell"] != "ls *.go" {
				t.Errorf("%s, %s: the gate is %+v", planner, name, gate)
			}
			if reply := until[event.ChatReply](t, s); reply.Status != event.StatusCompleted || len(s.model.seen) > 0 {
				t.Errorf("%s, %s: got %+v after %d requests", planner, name, reply, len(s.model.seen))
			}
		}
	}
}

func TestCommandIsDeniedLikeAnyProgram(t *testing.T) {
	s := open(t, policy.ApproveNone, shelled(event.PlannerAuto))
	s.Send(session.Submit{Text: "!ls"})
	if reply := until[event.ChatReply](t, s); reply.Reason != event.ReasonDenied || len(s.tools.called()) > 0 {
		t.Errorf("%+v, called %v", reply, s.tools.called())
	}
}

func TestOutputOfACommandIsContextOfTheNextGoal(t *testing.T) {
	s := open(t, policy.ApproveAll, shelled(event.PlannerPhases))
	s.Send(session.Submit{Text: "!ls"})
	until[event.ChatReply](t, s)
	s.Send(session.Submit{Text: "explain the first of them"})
	said := until[event.RunStarted](t, s).Prompting.Conversation
	if len(said) != 2 || said[0].Content != "!ls" || said[1].Role != prompt.RoleAssistant || !strings.Contains(said[1].Content, "a.go\nb.go") {
		t.Errorf("the next goal follows %+v", said)
	}
}

func TestCommandThatWantsATerminalIsRefusedAlsoWithAModel(t *testing.T) {
	for name, model := range map[string]func(*stage){"with a model": func(*stage) {}, "without one": noModel} {
		s := open(t, policy.ApproveAll, both(shelled(event.PlannerAuto), model))
		s.Send(session.Submit{Text: "!vim a.go"})
		if reply := until[event.ChatReply](t, s); reply.Reason != event.ReasonInvalidGoal || !reply.Text.Contains("your own shell") || len(s.model.seen) > 0 {
			t.Errorf("%s: %+v", name, reply)
		}
	}
}

// A command is no remark to a run: it waits for its end, as a goal does. An @ in it names no file.
func TestCommandDuringARunIsQueued(t *testing.T) {
	hold := make(chan struct{})
	s := open(t, policy.ApproveAll, func(s *stage) {
		shelled(event.PlannerPhases)(s)
		also(func(c *runner.Config) { c.InputHelp = &scriptedHelp{} })(s)
		s.model.hold = map[prompt.Purpose]chan struct{}{prompt.PurposeAnalysis: hold}
		s.model.replies[prompt.PurposeAnalysis] = `{"mode":"direct","complexity":"low","answer":"fine"}`
	})
	s.Send(session.Submit{Text: "say something"})
	until[event.RunStarted](t, s)
	s.Send(session.Steer{Text: "!cat @a.go"})
	q := until[session.Queue](t, s)
	for len(q.Waiting) == 0 {
		q = until[session.Queue](t, s)
	}
	if q.Waiting[0] != "!cat @a.go" {
		t.Errorf("queued: %q", q.Waiting)
	}
	close(hold)
	until[event.ChatReply](t, s)
	if user := until[event.ChatUser](t, s); user.Text != "!cat @a.go" || len(user.Mentions) > 0 {
		t.Errorf("then came %+v", user)
	}
	if gate := until[event.GateRequested](t, s); gate.Args["argv"] == nil {
		t.Errorf("the gate is %+v", gate)
	}
}
