package agent_test

import (
	"fmt"
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

// foldEvents folds events one second apart and returns the run.
func foldEvents(t *testing.T, data ...event.Data) *agent.Run {
	t.Helper()
	run := &agent.Run{}
	for i, d := range data {
		e := event.Event{Seq: uint64(i + 1), Time: time.Unix(int64(i), 0).UTC(), Run: "r", Data: d}
		if err := run.Apply(e); err != nil {
			t.Fatalf("event %d: %v", i, err)
		}
	}
	return run
}

// attemptLine formats an attempt as one line, with times in seconds.
func attemptLine(a agent.Attempt) string {
	at := func(t time.Time) string {
		if t.IsZero() {
			return "-"
		}
		return fmt.Sprint(t.Unix())
	}
	words := fmt.Sprintf("%s/%d %s %s..%s..%s", a.Step, a.Number, a.Status, at(a.ReadyAt), at(a.StartedAt), at(a.EndedAt))
	if a.Failure != "" {
		words += " " + string(a.Failure)
	}
	for _, q := range a.Asked {
		words += fmt.Sprintf(" [%s %s..%s %s %s]", q.About, at(q.At), at(q.AnsweredAt), q.Decision, q.By)
	}
	return words
}

func TestAttemptsRecordTimesAndDecisions(t *testing.T) {
	step := func(index, tool string, deps ...string) plan.Step {
		return plan.Step{Index: index, Title: "Step", Executor: plan.ExecutorTool, Tool: tool, Args: map[string]any{}, DependsOn: deps}
	}
	reads := step("1", "look")
	reads.Retries = 1
	p := plan.Plan{Title: "P", Steps: []plan.Step{reads, step("2", "change", "1")}}
	begin := []event.Data{
		event.RunStarted{Plan: &p, Attended: true, Limits: event.DefaultLimits(), Catalog: catalog, Rules: []rule.Rule{
			{Tool: "look", Verdict: rule.VerdictRun}, {Tool: "change", Verdict: rule.VerdictAsk},
		}},
		event.PlanCreated{Plan: p, Revision: 1},
	}
	start := func(index string, n int) event.Data {
		return event.StepStarted{Index: index, Attempt: n, Tool: "look", Executor: plan.ExecutorTool}
	}
	done := func(index string, n int) event.Data { return event.StepCompleted{Index: index, Attempt: n} }
	failed := func(index string, n int) event.Data {
		return event.StepFailed{Index: index, Attempt: n, Error: "no", Failure: event.FailureTool}
	}
	asked := func(n int) event.Data { return event.GateRequested{Gate: fmt.Sprintf("2.1.%d", n), Step: "2"} }
	resolved := func(n int, d event.Decision) event.Data {
		return event.GateResolved{Gate: fmt.Sprintf("2.1.%d", n), Decision: d, Scope: event.ScopeOnce, By: "user"}
	}
	replaced := plan.Plan{Title: "P", Steps: []plan.Step{reads, step("3", "look", "1")}}
	for name, c := range map[string]struct {
		events []event.Data
		want   []string
	}{
		"ready with the plan or after its dependency": {
			[]event.Data{start("1", 1), done("1", 1), asked(1)},
			[]string{"1/1 completed 1..2..3", "2/1 waiting 3..-..- [gate 4..-  ]"},
		},
		"retry": {
			[]event.Data{start("1", 1), failed("1", 1), event.StepRetry{Index: "1", Attempt: 1, At: time.Unix(4, 0)}, event.TimerFired{ID: "retry/1/2"}, start("1", 2), done("1", 2)},
			[]string{"1/1 failed 1..2..3 tool", "1/2 completed 5..6..7"},
		},
		"gate allowed": {
			[]event.Data{start("1", 1), done("1", 1), asked(1), resolved(1, event.Allow), start("2", 1), done("2", 1)},
			[]string{"1/1 completed 1..2..3", "2/1 completed 3..6..7 [gate 4..5 allow user]"},
		},
		"gate denied": {
			[]event.Data{start("1", 1), done("1", 1), asked(1), resolved(1, event.Deny), event.StepFailed{Index: "2", Attempt: 1, Error: "denied", Failure: event.FailureDenied}},
			[]string{"1/1 completed 1..2..3", "2/1 failed 3..-..6 denied [gate 4..5 deny user]"},
		},
		"decision after a failure": {
			[]event.Data{start("1", 1), failed("1", 1), event.FailureResolved{Step: "1", Decision: event.FailureRetry, By: "user"}, start("1", 2)},
			[]string{"1/1 failed 1..2..3 tool [failure 3..4 retry user]", "1/2 running 4..5..-"},
		},
		"open gate of a replaced plan": {
			[]event.Data{start("1", 1), done("1", 1), asked(1), event.PlanDiff{Revision: 2, Removed: []string{"2"}, Added: []string{"3"}, Plan: replaced}, start("3", 1)},
			[]string{"1/1 completed 1..2..3", "2/1 skipped 3..-..5 [gate 4..-  ]", "3/1 running 5..6..-"},
		},
		"running step at a resume": {
			[]event.Data{start("1", 1), event.Note{Text: "last"}, event.RunResumed{Limits: event.DefaultLimits(), Catalog: catalog}, start("1", 2), done("1", 2)},
			[]string{"1/1 in_doubt 1..2..3 interrupted", "1/2 completed 4..5..6"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			run := foldEvents(t, append(append([]event.Data{}, begin...), c.events...)...)
			var got []string
			for _, a := range run.Attempts {
				got = append(got, attemptLine(a))
			}
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

func TestRevisionRecordsPreviousPlanAndTimes(t *testing.T) {
	first := plan.Plan{Title: "P", Steps: []plan.Step{{Index: "1", Title: "Look", Tool: "look", Executor: plan.ExecutorTool}}}
	second := plan.Plan{Title: "P", Steps: []plan.Step{{Index: "2", Title: "Other", Tool: "look", Executor: plan.ExecutorTool}}}
	run := foldEvents(t,
		event.RunStarted{Plan: &first, Limits: event.DefaultLimits(), Catalog: catalog, OnFailure: plan.OnFailureReplan, Model: "m"},
		event.PlanCreated{Plan: first, Revision: 1},
		event.StepStarted{Index: "1", Attempt: 1, Tool: "look", Executor: plan.ExecutorTool},
		event.StepFailed{Index: "1", Attempt: 1, Error: "no", Failure: event.FailureTool},
		event.ReplanStarted{Attempt: 1, Step: "1", Error: "no", Request: "another way", Remaining: []string{"1"}},
		event.PlanDiff{Revision: 2, Reason: "no", Removed: []string{"1"}, Added: []string{"2"}, Plan: second},
		event.StepStarted{Index: "2", Attempt: 1, Tool: "look", Executor: plan.ExecutorTool},
	)
	r := run.Revisions[0]
	if r.Step != "1" || r.UserRequest != "another way" || r.AskedAt.Unix() != 4 || r.At.Unix() != 5 || run.PlannedAt.Unix() != 1 {
		t.Errorf("got %+v", r)
	}
	if len(r.PreviousSteps) != 1 || r.PreviousSteps[0].Step.Index != "1" || r.PreviousSteps[0].Status != agent.StepFailed {
		t.Errorf("the previous plan is %+v", r.PreviousSteps)
	}
}

func TestSourcesOfArguments(t *testing.T) {
	p := plan.Plan{Title: "P", Variables: map[string]any{"dir": "src"}, Steps: []plan.Step{
		{Index: "1", Title: "Look", Tool: "look", Executor: plan.ExecutorTool, Args: map[string]any{}, ResultVariable: "found"},
		{Index: "2", Title: "Use", Tool: "look", Executor: plan.ExecutorTool, Args: map[string]any{"at": "${dir}/${found.0}", "as": "it is"}},
		{Index: "3", Title: "Fill", Tool: "fill", Executor: plan.ExecutorTool, DependsOn: []string{"1"}},
	}}
	run := foldEvents(t,
		event.RunStarted{Plan: &p, Model: "m", Attended: true, Limits: event.DefaultLimits(), Catalog: catalog, Rules: []rule.Rule{{Tool: "*", Verdict: rule.VerdictRun}}},
		event.PlanCreated{Plan: p, Revision: 1},
		event.StepStarted{Index: "1", Attempt: 1, Tool: "look", Executor: plan.ExecutorTool},
		event.StepCompleted{Index: "1", Attempt: 1, Result: []any{"a.go"}},
		event.ModelRequested{Purpose: prompt.PurposeStep, Step: "3"},
		event.ModelReplied{Purpose: prompt.PurposeStep, Step: "3", Reply: reply.Reply{Text: `{"at":"here"}`}},
	)
	for step, want := range map[string]string{
		"2": "as by plan, at by plan ${dir}=variable dir ${found.0}=step 1 look",
		"3": "at by model read step 1 look",
	} {
		var got []string
		for _, s := range run.Sources(run.Step(step)) {
			words := s.Arg + " by " + string(s.By)
			for _, o := range s.From {
				switch {
				case o.Read:
					words += " read step " + o.Step + " " + o.Tool
				case o.Variable != "":
					words += " " + o.Reference + "=variable " + o.Variable
				default:
					words += " " + o.Reference + "=step " + o.Step + " " + o.Tool
				}
			}
			got = append(got, words)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("step %s: got %q, want %q", step, strings.Join(got, ", "), want)
		}
	}
}
