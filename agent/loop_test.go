package agent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// use returns one call that a model requests.
func use(tool, at string) reply.ToolUse {
	return reply.ToolUse{Name: tool, Args: map[string]any{"at": at}}
}

// replyingModel is a model that answers the turns of a loop in order.
type replyingModel struct {
	turns    []turn
	requests []prompt.Request // requests of the loop
	others   script
}

// turn is one reply: text, calls, or an error.
type turn struct {
	text  string
	calls []reply.ToolUse
	fails string
}

// join makes the talker the model of a world.
func (k *replyingModel) join(w *world) {
	var now turn
	w.reply = func(r prompt.Request) (string, error) {
		now = turn{}
		if r.Purpose != prompt.PurposeAgent && r.Purpose != prompt.PurposeChat {
			return k.others.reply(r)
		}
		k.requests = append(k.requests, r)
		if len(k.turns) == 0 {
			w.t.Fatalf("unexpected request: %s", r.Messages[len(r.Messages)-1].Content)
		}
		now, k.turns = k.turns[0], k.turns[1:]
		if now.fails != "" {
			return "", fmt.Errorf("%s", now.fails)
		}
		return now.text, nil
	}
	w.calls = func(prompt.Request) []reply.ToolUse { return now.calls }
	w.choose = w.inTime
}

// inTime chooses the next effect so that no timeout of a sub-agent fires.
func (w *world) inTime(int) int {
	for i, e := range w.pending {
		if wake, ok := e.(agent.Wake); !ok || !strings.HasPrefix(wake.ID, "agent/") {
			return i
		}
	}
	return len(w.pending)
}

const agentPlan = `{"title":"Find out","steps":[{"index":"5","title":"Look around","executor":"agent","profile":"scout","result_variable":"found"}]}`

// scouting returns the start of a run with one agent step.
func scouting(t *testing.T, profile prompt.Profile) event.RunStarted {
	t.Helper()
	start := given(t, agentPlan)
	profile.Name = "scout"
	start.Prompting.ModelTools, start.Prompting.Profiles = true, []prompt.Profile{profile}
	return start
}

func TestAgentStepLoop(t *testing.T) {
	for _, tc := range []struct {
		name     string
		profile  prompt.Profile
		turns    []turn
		attended bool
		deny     bool
		status   event.Status
		reason   event.Reason
		starts   string // in order
		result   string // of the step
		failure  event.FailureKind
	}{
		{
			name: "answer without a call", turns: []turn{{text: "nothing to look at"}},
			status: event.StatusCompleted, reason: event.ReasonGoalMet, starts: "5", result: "nothing to look at",
		},
		{
			name: "calls run as steps and return results", turns: []turn{{text: "let me see", calls: []reply.ToolUse{use("look", "a")}}, {calls: []reply.ToolUse{use("look", "b"), use("look", "c")}}, {text: "seen"}},
			status: event.StatusCompleted, reason: event.ReasonGoalMet, starts: "5 5.1 5.2 5.3", result: "seen",
		},
		{
			name: "effect waits at a gate", turns: []turn{{calls: []reply.ToolUse{use("change", "a")}}, {text: "changed"}},
			status: event.StatusCompleted, reason: event.ReasonGoalMet, starts: "5 5.1", result: "changed",
		},
		{
			name: "denial ends an unattended run", turns: []turn{{calls: []reply.ToolUse{use("change", "a")}}},
			deny: true, status: event.StatusFailed, reason: event.ReasonDenied, starts: "5",
		},
		{
			name: "denial goes to the model in an attended run", turns: []turn{{calls: []reply.ToolUse{use("change", "a")}}, {text: "then not"}},
			deny: true, attended: true, status: event.StatusCompleted, reason: event.ReasonGoalMet, starts: "5", result: "then not",
		},
		{
			name: "unknown tool goes to the model", turns: []turn{{calls: []reply.ToolUse{use("nowhere", "a")}}, {text: "so be it"}},
			status: event.StatusCompleted, reason: event.ReasonGoalMet, starts: "5", result: "so be it",
		},
		{
			name: "tool outside the profile is unknown", profile: prompt.Profile{Tools: []string{"fill"}}, turns: []turn{{calls: []reply.ToolUse{use("look", "a")}}, {text: "so be it"}},
			status: event.StatusCompleted, reason: event.ReasonGoalMet, starts: "5", result: "so be it",
		},
		{
			name: "invalid args go to the model", turns: []turn{{calls: []reply.ToolUse{{Name: "fill"}}}, {calls: []reply.ToolUse{use("fill", "x")}}, {text: "filled"}},
			status: event.StatusCompleted, reason: event.ReasonGoalMet, starts: "5 5.2", result: "filled",
		},
		{
			name: "reference in a call stays text", turns: []turn{{calls: []reply.ToolUse{use("look", "${nothing}")}}, {text: "seen"}},
			status: event.StatusCompleted, reason: event.ReasonGoalMet, starts: "5 5.1", result: "seen",
		},
		{
			name: "last turn makes no calls", profile: prompt.Profile{MaxTurns: 2}, turns: []turn{{calls: []reply.ToolUse{use("look", "a")}}, {text: "this much", calls: []reply.ToolUse{use("look", "b")}}},
			status: event.StatusCompleted, reason: event.ReasonGoalMet, starts: "5 5.1", result: "this much",
		},
		{
			name: "no answer in the last turn", profile: prompt.Profile{MaxTurns: 2}, turns: []turn{{calls: []reply.ToolUse{use("look", "a")}}, {calls: []reply.ToolUse{use("look", "b")}}},
			status: event.StatusFailed, reason: event.ReasonStepFailed, starts: "5 5.1", failure: event.FailureModel,
		},
		{
			name: "spent tokens make the next turn the last", profile: prompt.Profile{MaxTokens: 50}, turns: []turn{{calls: []reply.ToolUse{use("look", "a")}}, {text: "this much"}},
			status: event.StatusCompleted, reason: event.ReasonGoalMet, starts: "5 5.1", result: "this much",
		},
		{
			name: "empty reply is requested again", turns: []turn{{}, {text: " \n"}, {text: "there"}},
			status: event.StatusCompleted, reason: event.ReasonGoalMet, starts: "5", result: "there",
		},
		{
			name: "empty replies fail the step", turns: []turn{{}, {}, {}},
			status: event.StatusFailed, reason: event.ReasonStepFailed, starts: "5", failure: event.FailureModel,
		},
		{
			name: "failed request is repeated", turns: []turn{{fails: "lost"}, {text: "there"}},
			status: event.StatusCompleted, reason: event.ReasonGoalMet, starts: "5", result: "there",
		},
		{
			name: "failing requests fail the step", turns: []turn{{fails: "lost"}, {fails: "lost"}, {fails: "lost for good"}},
			status: event.StatusFailed, reason: event.ReasonStepFailed, starts: "5", failure: event.FailureModel,
		},
		{
			name: "same call is blocked after three times", turns: []turn{{calls: []reply.ToolUse{use("look", "a")}}, {calls: []reply.ToolUse{use("look", "a")}}, {calls: []reply.ToolUse{use("look", "a")}}, {calls: []reply.ToolUse{use("look", "a")}}},
			status: event.StatusFailed, reason: event.ReasonGuard, starts: "5 5.1 5.2 5.3",
		},
		{
			name: "same failure three times", turns: []turn{{calls: []reply.ToolUse{use("nowhere", "a")}}, {calls: []reply.ToolUse{use("nowhere", "b")}}, {calls: []reply.ToolUse{use("nowhere", "c")}}},
			status: event.StatusFailed, reason: event.ReasonGuard, starts: "5",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t)
			k := &replyingModel{turns: tc.turns}
			k.join(w)
			w.failed = func(agent.Question) event.FailureResolved {
				return event.FailureResolved{Decision: event.FailureAbort}
			}
			if tc.deny {
				w.gate = func(event.GateRequested) event.Decision { return event.Deny }
			}
			mirror(w)
			start := scouting(t, tc.profile)
			start.Attended = tc.attended

			result := w.play(start)

			if result.Status != tc.status || result.Reason != tc.reason {
				t.Fatalf("ended %s (%s): %s; want %s (%s)\n%s", result.Status, result.Reason, result.Error, tc.status, tc.reason, w.tail())
			}
			if got := strings.Join(w.starts(), " "); got != tc.starts {
				t.Errorf("started %s, want %s", got, tc.starts)
			}
			if got, _ := result.Variables["found"].(string); got != tc.result {
				t.Errorf("got the result %q, want %q", got, tc.result)
			}
			if s := w.run.Step("5"); s.Failure != tc.failure {
				t.Errorf("the step failed as %q, want %q", s.Failure, tc.failure)
			}
			if len(k.turns) > 0 {
				t.Errorf("%d turns were not requested", len(k.turns))
			}
		})
	}
}

func TestInnerCallsAreJournaledAndCounted(t *testing.T) {
	w := newWorld(t)
	k := &replyingModel{turns: []turn{{calls: []reply.ToolUse{use("look", "a"), use("change", "b")}}, {text: "seen"}}}
	k.join(w)
	result := w.play(scouting(t, prompt.Profile{}))
	for _, d := range all[event.StepStarted](w) {
		want := ""
		if d.Index != "5" {
			want = "5"
		}
		if d.Parent != want {
			t.Errorf("step %s has the parent %q, want %q", d.Index, d.Parent, want)
		}
	}
	if u := result.Usage; u.Steps != 3 || u.ToolCalls != 2 || u.DiscoveryCalls != 1 || u.ModelCalls != 2 {
		t.Errorf("used %+v, want 3 steps, 2 calls, one of them read-only, 2 replies", u)
	}
	var items []string
	for _, h := range result.History {
		items = append(items, h.Index+" of "+h.Parent)
	}
	if got := strings.Join(items, ", "); got != "5.1 of 5, 5.2 of 5, 5 of " {
		t.Errorf("the history is %s", got)
	}
	gate := all[event.GateRequested](w)[0]
	if gate.Step != "5.2" || gate.Args["at"] != "b" {
		t.Errorf("the gate is %+v, want the whole call 5.2", gate)
	}
	last := k.requests[1].Messages
	roles := ""
	for _, m := range last[len(last)-4:] {
		roles += string(m.Role) + " "
	}
	if roles != "assistant tool tool user " || !strings.HasPrefix(last[len(last)-1].Content, "Go on.") {
		t.Errorf("the second turn ends with %s: %q", roles, last[len(last)-1].Content)
	}
	if s := w.run.Step("5.2"); s == nil || s.Parent != "5" || s.Status != agent.StepCompleted {
		t.Errorf("step 5.2 is %+v, want a completed step", s)
	}
}

func TestGateNamesResultsReadBeforeCall(t *testing.T) {
	w := newWorld(t)
	(&replyingModel{turns: []turn{{calls: []reply.ToolUse{use("look", "a")}}, {calls: []reply.ToolUse{use("change", "b")}}, {text: "done"}}}).join(w)
	w.play(scouting(t, prompt.Profile{}))
	want := []rule.Provenance{{Step: "5.1", Tool: "look", Written: true}}
	if got := all[event.GateRequested](w)[0].Provenance; !slices.Equal(got, want) {
		t.Errorf("got the provenance %+v, want %+v", got, want)
	}
}

func TestGateOfAgentStepHoldsForEachCall(t *testing.T) {
	w := newWorld(t)
	(&replyingModel{turns: []turn{{calls: []reply.ToolUse{use("look", "a")}}, {text: "done"}}}).join(w)
	start := scouting(t, prompt.Profile{})
	start.Plan.Steps[0].Gate = true
	w.play(start)
	if n := len(all[event.GateRequested](w)); n != 1 {
		t.Errorf("%d gates opened, want one for the only call", n)
	}
}

func TestAgentStepTimeout(t *testing.T) {
	for _, tc := range []struct {
		name string
		held event.Kind // the last event before the timeout
		gate bool
	}{
		{"during a request", event.KindModelRequested, false},
		{"during a tool call", event.KindGateResolved, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t)
			(&replyingModel{turns: []turn{{calls: []reply.ToolUse{use("change", "a")}}, {text: "late"}}}).join(w)
			start := scouting(t, prompt.Profile{Timeout: time.Minute})
			start.InDoubt = event.DoubtAbort
			w.apply(start)
			w.until(tc.held)
			w.advance()
			fired := slices.IndexFunc(w.pending, func(e agent.Effect) bool {
				wake, ok := e.(agent.Wake)
				return ok && strings.HasPrefix(wake.ID, "agent/5/")
			})
			if fired < 0 {
				t.Fatalf("no timer is set among %d effects", len(w.pending))
			}
			w.now = w.pending[fired].(agent.Wake).At
			w.apply(event.TimerFired{ID: w.pending[fired].(agent.Wake).ID})
			w.pending = slices.Delete(w.pending, fired, fired+1)
			w.tool = func(c agent.CallTool) event.Data {
				return event.StepInDoubt{Index: c.Index, Attempt: c.Attempt, Reason: "cut off"}
			}
			result := w.finish()
			if s := w.run.Step("5"); s.Failure != event.FailureTimeout {
				t.Errorf("step 5 failed as %q: %s", s.Failure, s.Error)
			}
			want := event.ReasonStepFailed
			if tc.gate {
				want = event.ReasonInDoubt
			}
			if result.Reason != want {
				t.Errorf("ended for %s, want %s: %s", result.Reason, want, result.Error)
			}
		})
	}
}

func TestTimeAtGateDoesNotCount(t *testing.T) {
	w := newWorld(t)
	(&replyingModel{turns: []turn{{calls: []reply.ToolUse{use("change", "a")}}, {text: "done"}}}).join(w)
	start := scouting(t, prompt.Profile{Timeout: time.Minute})
	w.apply(start)
	w.until(event.KindGateRequested)
	w.now = w.now.Add(time.Hour)
	w.apply(event.TimerFired{ID: "agent/5/1"})
	if result := w.finish(); result.Reason != event.ReasonGoalMet {
		t.Errorf("ended for %s: %s", result.Reason, result.Error)
	}
}

// A run with a loop is cut after every event and resumed. No call with a stored
// end runs again, and the loop continues from its last reply.
func TestLoopResumesFromLastReply(t *testing.T) {
	for _, chat := range []bool{false, true} {
		turns := []turn{{calls: []reply.ToolUse{use("look", "a"), use("look", "b")}}, {text: "hm", calls: []reply.ToolUse{use("change", "c")}}, {text: "there"}}
		begin := func() (*world, event.RunStarted) {
			w := newWorld(t)
			replied := 0
			w.reply = func(r prompt.Request) (string, error) {
				if r.Purpose == prompt.PurposeAnalysis {
					return `{"mode":"direct","task":"t","goal":"g","complexity":"simple","reflect":false}`, nil
				}
				replied = 0
				for _, m := range r.Messages {
					if m.Role == prompt.RoleAssistant {
						replied++
					}
				}
				return turns[replied].text, nil
			}
			w.calls = func(r prompt.Request) []reply.ToolUse {
				if r.Purpose == prompt.PurposeAnalysis {
					return nil
				}
				return turns[replied].calls
			}
			w.doubt = func(agent.Question) event.DoubtDecision { return event.DoubtRerun }
			w.choose = w.inTime
			start := scouting(t, prompt.Profile{})
			if chat {
				start = started(event.DefaultLimits())
				start.Prompting = prompt.Prompting{ModelTools: true}
			}
			start.Attended = true
			return w, start
		}
		whole, start := begin()
		want := whole.play(start)
		if want.Status != event.StatusCompleted {
			t.Fatalf("the whole run: %+v", want)
		}
		for n := 1; n < len(whole.events)-1; n++ {
			w, start := begin()
			w.play(start)
			w.kill(n)
			finished := map[string]bool{}
			for _, d := range all[event.StepCompleted](w) {
				finished[d.Index] = true
			}
			replies := len(all[event.ModelReplied](w))
			result := w.resume(resumed(start))
			if result.Status != want.Status || result.Answer != want.Answer || fmt.Sprint(result.Variables) != fmt.Sprint(want.Variables) {
				t.Fatalf("cut after %d: %s %q, want %s %q\n%s", n, result.Status, result.Answer, want.Status, want.Answer, w.tail())
			}
			for _, e := range w.events[n:] {
				if d, ok := e.Data.(event.StepStarted); ok && finished[d.Index] {
					t.Fatalf("cut after %d: completed step %s ran again", n, d.Index)
				}
			}
			if got, most := len(all[event.ModelReplied](w))-replies, len(all[event.ModelReplied](whole))-replies; got > most {
				t.Fatalf("cut after %d: %d more replies, want at most %d", n, got, most)
			}
		}
	}
}

func TestAgentPlansItsStep(t *testing.T) {
	w := newWorld(t)
	k := &replyingModel{turns: []turn{{text: "done as planned"}}, others: script{
		prompt.PurposeAnalysis: {`{"mode":"plan","task":"t","goal":"g","complexity":"medium","reflect":true}`},
		prompt.PurposePlan:     {`{"title":"Own","steps":[{"index":"1","title":"Look at it closely","executor":"tool","tool":"look","args":{"at":"x"},"depends_on":[],"expected_outcome":"seen"}]}`},
	}}
	k.join(w)
	result := w.play(scouting(t, prompt.Profile{Plans: true}))
	if result.Variables["found"] != "done as planned" {
		t.Fatalf("ended %s: %s", result.Reason, result.Error)
	}
	var asked []string
	for _, d := range all[event.ModelRequested](w) {
		asked = append(asked, string(d.Purpose)+" "+d.Step)
	}
	if got := strings.Join(asked, ", "); got != "analysis 5, plan 5, agent 5" {
		t.Errorf("got the requests %s, want no review", got)
	}
	if all[event.PhaseStarted](w) != nil || all[event.PlanDrafting](w) != nil {
		t.Error("the run has phases for the sub-agent's plan")
	}
	if !slices.ContainsFunc(k.requests[0].Messages, func(m prompt.Message) bool { return strings.Contains(m.Content, "Look at it closely") }) {
		t.Error("the sub-agent does not see its plan")
	}
}

func TestRunningSubAgentFinishesBeforeReplan(t *testing.T) {
	w := newWorld(t)
	k := &replyingModel{turns: []turn{{calls: []reply.ToolUse{use("look", "a")}}, {text: "seen"}}, others: script{
		prompt.PurposeReplan: {`{"title":"Again","steps":[{"index":"7","title":"Other","tool":"look","args":{"at":"other"},"depends_on":[],"expected_outcome":"x"}]}`},
	}}
	k.join(w)
	w.tool = func(c agent.CallTool) event.Data {
		if c.Index == "6" {
			return event.StepFailed{Index: "6", Attempt: c.Attempt, Error: "broke", Failure: event.FailureTool}
		}
		return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: "ok"}
	}
	// The failing call returns before all others.
	w.choose = func(int) int {
		broken := slices.IndexFunc(w.pending, func(e agent.Effect) bool { c, ok := e.(agent.CallTool); return ok && c.Index == "6" })
		if broken < 0 {
			return w.inTime(0)
		}
		return broken
	}
	start := scouting(t, prompt.Profile{})
	p, _ := plan.DecodePlan([]byte(`{"title":"Two","on_failure":"replan","steps":[
		{"index":"5","title":"Look around","executor":"agent","profile":"scout","result_variable":"found"},
		{"index":"6","title":"Break","tool":"look","args":{"at":"b"}}]}`))
	start.Plan = &p
	result := w.play(start)
	if result.Reason != event.ReasonGoalMet || result.Variables["found"] != "seen" {
		t.Fatalf("ended %s: %s\n%s", result.Reason, result.Error, w.tail())
	}
	if got := strings.Join(w.starts(), " "); got != "5 6 5.1 7" && got != "6 5 5.1 7" {
		t.Errorf("started %s", got)
	}
}

func TestAgentStepNeedsProfileAndToolModel(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*event.RunStarted)
		want   string
	}{
		{"unknown profile", func(s *event.RunStarted) { s.Prompting.Profiles = nil }, `no profile "scout"`},
		{"no model", func(s *event.RunStarted) { s.Model = "" }, "no model"},
		{"model without tools", func(s *event.RunStarted) { s.Prompting.ModelTools = false }, "cannot call tools"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t)
			start := scouting(t, prompt.Profile{})
			tc.change(&start)
			if result := w.play(start); result.Status != event.StatusFailed || !strings.Contains(string(result.Error), tc.want) {
				t.Errorf("ended %s: %s, want %q", result.Status, result.Error, tc.want)
			}
		})
	}
	t.Run("profile with its own model", func(t *testing.T) {
		w := newWorld(t)
		k := &replyingModel{turns: []turn{{text: "done"}}}
		k.join(w)
		start := scouting(t, prompt.Profile{Model: "other"})
		start.Prompting.ModelTools = false
		if result := w.play(start); result.Status != event.StatusCompleted || k.requests[0].Model != "other" {
			t.Errorf("ended %s: %s", result.Status, result.Error)
		}
	})
}
