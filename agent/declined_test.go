package agent_test

import (
	"strings"
	"testing"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/internal/untrusted"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// changing is a plan whose second step asks at a gate.
const changing = `{"title":"T","steps":[
	{"index":"1","title":"Look","tool":"look","args":{"at":"a"}},
	{"index":"2","title":"Change","tool":"change","args":{"at":"b"},"depends_on":["1"]}]}`

func TestReasonForANoBecomesTheRequestForANewPlan(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		start  func(*event.RunStarted)
		plan   string
		asked  bool // a new plan
		want   event.Reason
		err    string // of the run
	}{
		"with a reason":              {reason: "only the tests", asked: true, want: event.ReasonGoalMet},
		"also if the plan aborts":    {reason: "only the tests", plan: with(changing, `"title":"T"`, `"title":"T","on_failure":"abort"`), asked: true, want: event.ReasonGoalMet},
		"without a reason":           {want: event.ReasonDenied, err: "step 2 (Change) was declined"},
		"without a model":            {reason: "only the tests", start: func(s *event.RunStarted) { s.Model = "" }, want: event.ReasonDenied, err: "step 2 (Change) was declined: only the tests"},
		"with replanning turned off": {reason: "only the tests", start: func(s *event.RunStarted) { s.Limits.NoReplan = true }, want: event.ReasonDenied, err: "declined: only the tests"},
		"with no replan left":        {reason: "only the tests", start: func(s *event.RunStarted) { s.Limits.MaxReplans = 0 }, want: event.ReasonDenied, err: "declined: only the tests"},
		"about an item of a list":    {reason: "only the tests", plan: with(changing, `"args":{"at":"b"}`, `"for_each":["x","y"],"args":{"at":"${item}"}`), asked: true, want: event.ReasonGoalMet},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.reply = script{prompt.PurposeReplan: {otherWay}}.reply
			if c.plan == "" {
				c.plan = changing
			}
			start := given(t, c.plan)
			if c.start != nil {
				c.start(&start)
			}
			w.resolve = func(g event.GateRequested) event.GateResolved {
				return event.GateResolved{Gate: g.Gate, Decision: event.Deny, Scope: event.ScopeOnce, By: "user", Reason: untrusted.Text(c.reason)}
			}
			mirror(w)
			result := w.play(start)
			if result.Reason != c.want || !strings.Contains(string(result.Error), c.err) {
				t.Fatalf("ended for %s: %s\n%s", result.Reason, result.Error, w.tail())
			}
			replans := all[event.ReplanStarted](w)
			if (len(replans) == 1) != c.asked {
				t.Fatalf("%d new plans were asked for", len(replans))
			}
			if c.asked && !strings.Contains(string(replans[0].Request), c.reason) {
				t.Errorf("the planner was told %+v", replans[0])
			}
		})
	}
}

func TestOnlyTheNoOfAUserDeclines(t *testing.T) {
	for by, want := range map[string]bool{
		"user": true, "anna": true, "program": true, "": true,
		policy.ByNobody: false, "--approve none": false, "replan serve, because this client cannot ask its user": false,
	} {
		w := newWorld(t)
		w.resolve = func(g event.GateRequested) event.GateResolved {
			return event.GateResolved{Gate: g.Gate, Decision: event.Deny, Scope: event.ScopeOnce, By: by}
		}
		start := given(t, changing)
		start.Model = ""
		result := w.play(start)
		_, declined := w.run.Step("2").Declined()
		if declined != want || strings.Contains(string(result.Error), "declined") != want {
			t.Errorf("by %q: declined %t, and the run says %q", by, declined, result.Error)
		}
	}
}

func TestModelHearsWhyItsCallWasDeclined(t *testing.T) {
	for _, reason := range []string{"", "the file is generated"} {
		w := newWorld(t)
		k := &replyingModel{turns: []turn{{calls: []reply.ToolUse{use("change", "a")}}, {text: "seen"}}}
		k.join(w)
		w.resolve = func(g event.GateRequested) event.GateResolved {
			return event.GateResolved{Gate: g.Gate, Decision: event.Deny, Scope: event.ScopeOnce, By: "user", Reason: untrusted.Text(reason)}
		}
		start := scouting(t, prompt.Profile{})
		start.Attended = true
		w.apply(start)
		if result := w.finish(); result.Reason != event.ReasonGoalMet {
			t.Fatalf("%q: ended for %s: %s", reason, result.Reason, result.Error)
		}
		told := ""
		for _, e := range all[event.ModelRequested](w) {
			for _, m := range e.Request.Messages {
				if m.Role == prompt.RoleTool {
					told = m.Content
				}
			}
		}
		if !strings.Contains(told, "does not allow this call") || reason != "" && !strings.Contains(told, "The user says: "+reason) || reason == "" && strings.Contains(told, "says") {
			t.Errorf("with the reason %q the model was told %q", reason, told)
		}
	}
}

func TestNewAttemptForgetsTheNo(t *testing.T) {
	w := newWorld(t)
	first := true
	w.resolve = func(g event.GateRequested) event.GateResolved {
		d := event.GateResolved{Gate: g.Gate, Decision: event.Allow, Scope: event.ScopeOnce, By: "user"}
		if first {
			d.Decision, d.Reason, first = event.Deny, "not yet", false
		}
		return d
	}
	start := given(t, changing)
	start.Model = ""
	w.play(start)
	if _, declined := w.run.Step("2").Declined(); !declined {
		t.Fatal("not declined")
	}
	if result := w.resume(event.RunResumed{Limits: event.DefaultLimits(), Rules: rules, Catalog: catalog}); result.Reason != event.ReasonGoalMet {
		t.Fatalf("ended for %s: %s", result.Reason, result.Error)
	}
	if _, declined := w.run.Step("2").Declined(); declined {
		t.Error("the step that ran is declined")
	}
}
