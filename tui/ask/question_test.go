package ask_test

import (
	"testing"

	"replan/agent/event"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/tui/panetest"
)

// failing is a run whose third step has failed.
func failing() []event.Data {
	begin := func(index, tool string, args map[string]any) event.Data {
		return event.StepStarted{Index: index, Attempt: 1, Executor: plan.ExecutorTool, Tool: tool, Args: args}
	}
	p := panetest.NotesPlan()
	return []event.Data{
		started(),
		event.PlanCreated{Plan: p, Revision: 1},
		begin("1", "fs.read", p.Steps[0].Args),
		event.StepCompleted{Index: "1", Attempt: 1, Result: "- faster\n- smaller\n"},
		begin("2", "code.count", nil),
		event.StepCompleted{Index: "2", Attempt: 1, Result: "2"},
		begin("3", "tickets.open", panetest.TicketArgs()),
		event.StepFailed{Index: "3", Attempt: 1, Error: panetest.TicketError, Failure: event.FailureTool, MS: 1500},
	}
}

func TestFailureAnswers(t *testing.T) {
	for key, want := range map[string]event.FailureDecision{
		"r": event.FailureRetry, "s": event.FailureSkip, "p": event.FailureReplan, "a": event.FailureAbort,
	} {
		t.Run(key, func(t *testing.T) {
			s := settled(t, 120, 36, failing()...)
			s.Type(key)
			s.Sent(session.ResolveFailure{Run: run, Step: "3", Decision: want})
			if s.dialog.Showing() {
				t.Error("the dialog is still open")
			}
		})
	}
}

func TestDoubtAnswers(t *testing.T) {
	for key, want := range map[string]event.DoubtDecision{"d": event.DoubtDone, "r": event.DoubtRerun, "a": event.DoubtAbort} {
		t.Run(key, func(t *testing.T) {
			past := failing()
			past[len(past)-1] = event.StepInDoubt{Index: "3", Attempt: 1, Reason: "replan ended while it ran"}
			s := settled(t, 120, 36, past...)
			s.Type(key)
			s.Sent(session.ResolveDoubt{Run: run, Step: "3", Decision: want})
		})
	}
}

func TestQuestionShowsWholeErrorAndCall(t *testing.T) {
	settled(t, 120, 60, failing()...).Wants(
		"Open the ticket", "tickets.open", "step 3", "the number of the new ticket", "the labels are: release, bug, feature",
		`labels ["release","docs"]`, "- smaller",
	)
}

func TestUnavailableReplanSaysWhy(t *testing.T) {
	past := failing()
	begins := started()
	begins.Model = ""
	past[0] = begins
	s := settled(t, 120, 36, past...)
	s.Wants("p replan (no model)")
	s.Type("p")
	s.Sent()
	s.Wants("No replan: no model.")
}

func TestGateAndQuestionQueue(t *testing.T) {
	p := panetest.NotesPlan()
	s := open(t, 120, 36).happens(started(), event.PlanCreated{Plan: p, Revision: 1},
		event.StepStarted{Index: "1", Attempt: 1, Executor: plan.ExecutorTool, Tool: "fs.read"},
		event.GateRequested{Gate: "4.1.1", Step: "4", Title: "Tell the team", Tool: "chat.post"})
	s.Wants("Gate")
	s.happens(event.StepFailed{Index: "1", Attempt: 1, Error: "no such file", Failure: event.FailureTool})
	s.Wants("Gate 1 of 2")
	s.Rest()
	s.Touch(panetest.Key("y"))
	s.Wants("Failed · step 1 · fs.read")
	s.Rest()
	s.Type("s")
	s.Sent(allow("4.1.1"), session.ResolveFailure{Run: run, Step: "1", Decision: event.FailureSkip})
}

func TestDeclinedStepIsNoFailure(t *testing.T) {
	past := append(abreast("1"), event.GateResolved{Gate: "1.1.1", Decision: event.Deny, Scope: event.ScopeOnce, By: "user"},
		event.StepFailed{Index: "1", Attempt: 1, Error: "denied at the gate", Failure: event.FailureDenied})
	s := settled(t, 120, 40, past...)
	s.Wants("⊘ Declined · step 1", "you said no at its gate")
	s.Lacks("failed", "enied")
}
