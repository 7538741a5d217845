package panetest

import (
	"time"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// StoryPlanRun is the run of a plan from a file.
const StoryPlanRun = "r-20261121-114300-p7an"

// Plan adds events of a run of a plan from a file.
func (s *Story) Plan(data ...event.Data) *Story { return s.Record(StoryPlanRun, data...) }

// Planned tells that a plan from a file has started.
func (s *Story) Planned() *Story {
	p := NotesPlan()
	return s.Greeted().After(100).Session(event.ChatUser{Text: "/plan run release-notes"}).
		Plan(event.RunStarted{Goal: untrusted.Text(string(p.Title)), Workspace: "/src/auth-service", Session: StorySession, Model: "qwen3:8b", Limits: event.DefaultLimits(), Plan: &p, SkipSynthesis: true, Attended: true},
			event.PlanCreated{Plan: p, Revision: 1})
}

// StartStep starts a step of that plan.
func (s *Story) StartStep(run, index string, args map[string]any) *Story {
	for _, step := range NotesPlan().Steps {
		if step.Index == index {
			s.Record(run, event.StepStarted{Index: index, Attempt: 1, Title: step.Title, Executor: step.Executor, Tool: step.Tool, Args: args})
		}
	}
	return s
}

// TwoDone tells that two steps of the plan are done and the third runs.
func (s *Story) TwoDone() *Story {
	s.Planned().StartStep(StoryPlanRun, "1", NotesPlan().Steps[0].Args).
		After(200).Plan(event.StepCompleted{Index: "1", Attempt: 1, MS: 200, Result: "- faster\n- smaller\n"})
	s.StartStep(StoryPlanRun, "2", map[string]any{"text": "- faster\n- smaller\n"}).
		After(100).Plan(event.StepCompleted{Index: "2", Attempt: 1, MS: 100, Result: "2"})
	return s.StartStep(StoryPlanRun, "3", TicketArgs()).After(1500)
}

// Failing tells that the third step failed and waits for the user to decide.
func (s *Story) Failing() *Story {
	return s.TwoDone().Plan(event.StepFailed{Index: "3", Attempt: 1, Error: TicketError, Failure: event.FailureTool, MS: 1500})
}

// Ended tells that the user aborted the run there.
func (s *Story) Ended() *Story {
	result := event.Result{
		Status: event.StatusFailed, Reason: event.ReasonStepFailed, DurationMS: 1800, Usage: event.Usage{Steps: 3, ToolCalls: 3},
		Error: "step 3 (Open the ticket) failed: the server answered 422: unprocessable",
	}
	return s.Failing().After(300).Plan(event.FailureResolved{Step: "3", Decision: event.FailureAbort, By: "user"}, event.RunCompleted{Result: result}).
		Session(event.ChatReply{Run: StoryPlanRun, Status: result.Status, Reason: result.Reason, Text: result.Error})
}

// Done tells that all of the plan is done; no answer is written for it.
func (s *Story) Done() *Story {
	s.TwoDone().Plan(event.StepCompleted{Index: "3", Attempt: 1, MS: 1500, Result: "#41"}).StartStep(StoryPlanRun, "4", NotesPlan().Steps[3].Args)
	s.After(100).Plan(event.StepCompleted{Index: "4", Attempt: 1, MS: 100},
		event.RunCompleted{Result: event.Result{Status: event.StatusCompleted, Reason: event.ReasonGoalMet, DurationMS: 1900, Usage: event.Usage{Steps: 4, ToolCalls: 4}}})
	return s.Session(event.ChatReply{Run: StoryPlanRun, Status: event.StatusCompleted, Reason: event.ReasonGoalMet, Text: "Publish the release notes: 4 of 4 steps done."})
}

// Restored tells of a process that was killed while the third step ran, and of the run
// that is restored the next day.
func (s *Story) Restored() *Story {
	past := NewStory().TwoDone()
	var events []event.Event
	upto := uint64(0)
	for _, e := range past.Events {
		if e.Run == StoryPlanRun {
			events = append(events, e)
			upto = e.Seq
		}
	}
	s.Now, s.Seq = past.Now.Add(20*time.Hour), 0
	s.Greeted().Session(session.Resuming{Run: StoryPlanRun, Upto: upto})
	s.Events = append(s.Events, events...)
	s.Seq = upto
	return s
}

// Resumed tells that the run continues, with a step in doubt.
func (s *Story) Resumed() *Story {
	return s.Restored().After(400).Plan(
		event.RunResumed{From: s.Seq, Session: StorySession, Model: "qwen3:8b", Limits: event.DefaultLimits(), Attended: true},
		event.StepInDoubt{Index: "3", Attempt: 1, Reason: "replan ended while it ran"})
}

// Rerun tells that the user reruns the step in doubt.
func (s *Story) Rerun() *Story {
	return s.Resumed().After(900).Plan(event.DoubtResolved{Step: "3", Decision: event.DoubtRerun, By: "user"},
		event.StepStarted{Index: "3", Attempt: 2, Title: "Open the ticket", Executor: plan.ExecutorTool, Tool: "tickets.open", Args: TicketArgs()}).After(700)
}

// DryRun tells of a dry run of the plan, without any call.
func (s *Story) DryRun() *Story {
	p := NotesPlan()
	s.Greeted().Plan(event.RunStarted{Goal: untrusted.Text(string(p.Title)), Workspace: "/src/auth-service", Model: "qwen3:8b", Plan: &p, SkipSynthesis: true, DryRun: true},
		event.PlanCreated{Plan: p, Revision: 1})
	notes := "<fs.read result>"
	asks := &rule.Rule{Tool: "*", Verdict: rule.VerdictAsk, Source: "built-in", Why: "its server does not say that it only reads"}
	for i, args := range []map[string]any{
		{"path": "NOTES.md"},
		{"text": notes},
		{"title": "Release 1.4", "labels": []any{"release", "docs"}, "body": "Notes:\n" + notes},
		{"channel": "releases"},
	} {
		d := event.StepCompleted{Index: NotesPlan().Steps[i].Index, Attempt: 1, DryRun: true, Args: args, Result: "<result>"}
		if i > 1 {
			d.Gate = asks
		}
		s.Plan(d)
	}
	return s.Plan(event.RunCompleted{Result: event.Result{Status: event.StatusCompleted, Reason: event.ReasonGoalMet, Usage: event.Usage{Steps: 4}}})
}

// Listed tells that the runs were requested.
func (s *Story) Listed() *Story { return s.Greeted().Session(Summaries(s.Now)) }
