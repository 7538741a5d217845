package agent_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// timedOut plays until a sub-agent exceeds its timeout with one of its calls
// running and one waiting.
func timedOut(t *testing.T, onFailure string) (*world, event.RunStarted) {
	t.Helper()
	w := newWorld(t)
	k := &replyingModel{turns: []turn{{calls: []reply.ToolUse{use("look", "a"), use("change", "b")}}, {text: "ok"}}}
	k.others = script{prompt.PurposeReplan: {`{"title":"x","steps":[]}`}}
	k.join(w)
	start := given(t, strings.Replace(agentPlan, `"title":"Find out"`, `"title":"Find out","on_failure":"`+onFailure+`"`, 1))
	start.Prompting.ModelTools, start.Prompting.Profiles = true, []prompt.Profile{{Name: "scout", Timeout: time.Minute}}
	start.Rules, start.Limits.MaxConcurrency = anything, 1
	w.apply(start)
	w.until(event.KindModelReplied)
	w.advance()
	w.now = w.now.Add(2 * time.Minute)
	return w, start
}

func TestResumeDropsInnerCallsOfFailedStep(t *testing.T) {
	w, start := timedOut(t, "abort")
	w.apply(event.TimerFired{ID: "agent/5/1"})
	w.finish()
	before := len(w.events)
	if r := w.resume(resumed(start)); r.Variables["found"] != "ok" {
		t.Errorf("%s: %v", r.Reason, r.Variables)
	}
	for _, index := range []string{"5.1", "5.2"} {
		if startedAgain(w.events[before:], index) {
			t.Errorf("%s started after its step ended", index)
		}
	}
}

func TestUnreadSteeringKeepsFailure(t *testing.T) {
	w, _ := timedOut(t, "replan")
	w.apply(event.RunSteered{Text: "mind the gap"})
	w.apply(event.TimerFired{ID: "agent/5/1"})
	w.finish()
	replans := all[event.ReplanStarted](w)
	if len(replans) != 1 || replans[0].Step != "5" || replans[0].Request != "mind the gap" || !strings.Contains(string(replans[0].Error), "longer") {
		t.Errorf("the planner got %+v", replans)
	}
}

func TestSubAgentCanceledDuringPlanning(t *testing.T) {
	w := newWorld(t)
	k := &replyingModel{turns: []turn{{text: "ok"}}}
	k.others = script{prompt.PurposeAnalysis: {`{"mode":"plan","complexity":"medium"}`}, prompt.PurposePlan: {`{"title":"x","steps":[]}`}}
	k.join(w)
	w.apply(scouting(t, prompt.Profile{Plans: true}))
	w.until(event.KindModelRequested)
	asked := all[event.ModelRequested](w)[0]
	w.pending = nil
	w.apply(event.ModelReplied{Purpose: asked.Purpose, Step: asked.Step, Attempt: asked.Attempt, Error: "canceled by the user", Failure: event.FailureInterrupted})
	if r := w.finish(); r.Reason != event.ReasonInterrupted {
		t.Errorf("%s: %s", r.Reason, r.Error)
	}
}

func TestResumedSubAgentPlansWithTheModelsOfTheResume(t *testing.T) {
	w := newWorld(t)
	k := &replyingModel{turns: []turn{{text: "ok"}}}
	k.others = script{prompt.PurposeAnalysis: {`{"mode":"plan","complexity":"medium"}`}, prompt.PurposePlan: {`{"title":"x","steps":[]}`}}
	k.join(w)
	start := scouting(t, prompt.Profile{Plans: true})
	start.Prompting.Models.Planner.Name = "gone"
	w.apply(start)
	w.until(event.KindModelRequested)
	again := resumed(start)
	again.Models = &prompt.Models{Planner: prompt.PlanModel{Name: "there"}}
	w.resume(again)
	asked := all[event.ModelRequested](w)
	if asked[0].Request.Model != "gone" || len(asked) < 3 || asked[1].Request.Model != "there" || asked[2].Request.Model != "there" {
		t.Errorf("got the requests %+v", asked)
	}
}

func TestDoubtInPlanOfChatEndsRunAndResumes(t *testing.T) {
	w := newWorld(t)
	start := delegating(w, 1)
	used := event.Usage{PromptTokens: 70}
	w.plan = func(c agent.CallPlan) event.Data {
		return event.StepFailed{Index: c.Index, Attempt: c.Attempt, Error: "in run r-7, step 2 may or may not have taken effect", Failure: event.FailureInDoubt, Run: "r-7", Usage: &used}
	}
	r := w.play(start)
	if r.Reason != event.ReasonInDoubt || r.Usage.PromptTokens < 70 {
		t.Fatalf("%s: %+v", r.Reason, r.Usage)
	}
	w.plan = func(c agent.CallPlan) event.Data {
		if c.Run != "r-7" || c.Used != used {
			t.Errorf("resumed run %q with usage %+v", c.Run, c.Used)
		}
		return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: "x", Run: c.Run, Usage: &used}
	}
	before := r.Usage.PromptTokens
	r = w.resume(resumed(start))
	if r.Status != event.StatusCompleted || r.Usage.PromptTokens >= before+70+200 {
		t.Errorf("%s: %+v", r.Reason, r.Usage)
	}
}

func TestExchangeEndsWithFailedStep(t *testing.T) {
	w := newWorld(t)
	w.apply(given(t, `{"title":"x","steps":[{"title":"Say","executor":"self"}]}`))
	w.advance()
	w.apply(event.StepFailed{Index: "1", Attempt: 1, Error: "no", Failure: event.FailureModel, MS: 5}) // without a reply, as in older journals
	if x := w.run.Exchanges[0]; !x.Done || x.Error != "no" {
		t.Errorf("%+v", x)
	}
}

func TestLimitsAfterUsage(t *testing.T) {
	left := event.Limits{MaxTokens: 100, MaxToolCalls: event.NothingLeft, MaxSteps: 4, MaxDurationMS: 1000, MaxReplans: event.NothingLeft}
	got := left.After(event.Usage{PromptTokens: 30, ToolCalls: 3, Steps: 2}, 500)
	want := event.Limits{MaxTokens: 130, MaxToolCalls: 3, MaxSteps: 6, MaxDurationMS: 1500, MaxReplans: event.NothingLeft}
	if got != want {
		t.Errorf("%+v", got)
	}
}

// The model has made the call once, however often it was interrupted.
func TestInterruptedCallIsNotRepeatedByTheModel(t *testing.T) {
	w, start, _ := richWorld(t)
	w.play(start)
	for before := range 4 {
		starts := 0
		at := slices.IndexFunc(w.events, func(e event.Event) bool {
			if d, ok := e.Data.(event.StepStarted); ok && d.Args["at"] == "agent" {
				starts++
			}
			return starts > before
		})
		if at < 0 {
			t.Fatalf("the call was made %d times, then %s", starts, w.run.Result.Error)
		}
		w.kill(at + 1)
		resume := resumed(start)
		resume.InDoubt = event.DoubtRerun
		w.resume(resume)
	}
}
