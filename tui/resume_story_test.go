package tui_test

import (
	"time"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/panetest"
)

const storyPlanRun = "r-20261121-114300-p7an"

// plan adds events of a run of a plan from a file.
func (s *story) plan(data ...event.Data) *story { return s.record(storyPlanRun, data...) }

// planned: a plan from a file has started.
func (s *story) planned() *story {
	p := panetest.NotesPlan()
	return s.greeted().after(100).session(event.ChatUser{Text: "/plan run release-notes"}).
		plan(event.RunStarted{Goal: untrusted.Text(string(p.Title)), Workspace: "/src/auth-service", Session: storySession, Model: "qwen3:8b", Limits: event.DefaultLimits(), Plan: &p, SkipSynthesis: true, Attended: true},
			event.PlanCreated{Plan: p, Revision: 1})
}

func (s *story) startStep(run, index string, args map[string]any) *story {
	for _, step := range panetest.NotesPlan().Steps {
		if step.Index == index {
			s.record(run, event.StepStarted{Index: index, Attempt: 1, Title: step.Title, Executor: step.Executor, Tool: step.Tool, Args: args})
		}
	}
	return s
}

// twoDone: two steps of the plan are done and the third runs.
func (s *story) twoDone() *story {
	s.planned().startStep(storyPlanRun, "1", panetest.NotesPlan().Steps[0].Args).
		after(200).plan(event.StepCompleted{Index: "1", Attempt: 1, MS: 200, Result: "- faster\n- smaller\n"})
	s.startStep(storyPlanRun, "2", map[string]any{"text": "- faster\n- smaller\n"}).
		after(100).plan(event.StepCompleted{Index: "2", Attempt: 1, MS: 100, Result: "2"})
	return s.startStep(storyPlanRun, "3", panetest.TicketArgs()).after(1500)
}

// failing: the third step failed and waits for the user to decide.
func (s *story) failing() *story {
	return s.twoDone().plan(event.StepFailed{Index: "3", Attempt: 1, Error: panetest.TicketError, Failure: event.FailureTool, MS: 1500})
}

// ended: the user aborted the run there.
func (s *story) ended() *story {
	result := event.Result{
		Status: event.StatusFailed, Reason: event.ReasonStepFailed, DurationMS: 1800, Usage: event.Usage{Steps: 3, ToolCalls: 3},
		Error: "step 3 (Open the ticket) failed: the server answered 422: unprocessable",
	}
	return s.failing().after(300).plan(event.FailureResolved{Step: "3", Decision: event.FailureAbort, By: "user"}, event.RunCompleted{Result: result}).
		session(event.ChatReply{Run: storyPlanRun, Status: result.Status, Reason: result.Reason, Text: untrusted.Text(string(result.Error))})
}

// done: all of the plan is done; no answer is written for it.
func (s *story) done() *story {
	s.twoDone().plan(event.StepCompleted{Index: "3", Attempt: 1, MS: 1500, Result: "#41"}).startStep(storyPlanRun, "4", panetest.NotesPlan().Steps[3].Args)
	s.after(100).plan(event.StepCompleted{Index: "4", Attempt: 1, MS: 100},
		event.RunCompleted{Result: event.Result{Status: event.StatusCompleted, Reason: event.ReasonGoalMet, DurationMS: 1900, Usage: event.Usage{Steps: 4, ToolCalls: 4}}})
	return s.session(event.ChatReply{Run: storyPlanRun, Status: event.StatusCompleted, Reason: event.ReasonGoalMet, Text: "Publish the release notes: 4 of 4 steps done."})
}

// restored tells of a process that was killed while the third step ran, and of the run
// that is restored the next day.
func (s *story) restored() *story {
	past := newStory().twoDone()
	var events []event.Event
	upto := uint64(0)
	for _, e := range past.events {
		if e.Run == storyPlanRun {
			events = append(events, e)
			upto = e.Seq
		}
	}
	s.now, s.seq = past.now.Add(20*time.Hour), 0
	s.greeted().session(session.Resuming{Run: storyPlanRun, Upto: upto})
	s.events = append(s.events, events...)
	s.seq = upto
	return s
}

// resumed: the run continues, with a step in doubt.
func (s *story) resumed() *story {
	return s.restored().after(400).plan(
		event.RunResumed{From: s.seq, Session: storySession, Model: "qwen3:8b", Limits: event.DefaultLimits(), Attended: true},
		event.StepInDoubt{Index: "3", Attempt: 1, Reason: "replan ended while it ran"})
}

// rerun: the user reruns the step in doubt.
func (s *story) rerun() *story {
	return s.resumed().after(900).plan(event.DoubtResolved{Step: "3", Decision: event.DoubtRerun, By: "user"},
		event.StepStarted{Index: "3", Attempt: 2, Title: "Open the ticket", Executor: plan.ExecutorTool, Tool: "tickets.open", Args: panetest.TicketArgs()}).after(700)
}

// dryRun: a dry run of the plan, without any call.
func (s *story) dryRun() *story {
	p := panetest.NotesPlan()
	s.greeted().plan(event.RunStarted{Goal: untrusted.Text(string(p.Title)), Workspace: "/src/auth-service", Model: "qwen3:8b", Plan: &p, SkipSynthesis: true, DryRun: true},
		event.PlanCreated{Plan: p, Revision: 1})
	notes := "<fs.read result>"
	asks := &rule.Rule{Tool: "*", Verdict: rule.VerdictAsk, Source: "built-in", Why: "its server does not say that it only reads"}
	for i, args := range []map[string]any{
		{"path": "NOTES.md"},
		{"text": notes},
		{"title": "Release 1.4", "labels": []any{"release", "docs"}, "body": "Notes:\n" + notes},
		{"channel": "releases"},
	} {
		d := event.StepCompleted{Index: panetest.NotesPlan().Steps[i].Index, Attempt: 1, DryRun: true, Args: args, Result: "<result>"}
		if i > 1 {
			d.Gate = asks
		}
		s.plan(d)
	}
	return s.plan(event.RunCompleted{Result: event.Result{Status: event.StatusCompleted, Reason: event.ReasonGoalMet, Usage: event.Usage{Steps: 4}}})
}

// listed: the runs were requested.
func (s *story) listed() *story { return s.greeted().session(panetest.Summaries(s.now)) }
