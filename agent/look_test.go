package agent_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/intent"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// readFile is the operator that looks use most.
var readFile = plan.Tool{
	Name: "fs.read", Server: "workspace", ReadOnly: true, Annotated: true, Trusted: true,
	InputSchema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"offset":{"type":"integer"},"limit":{"type":"integer"}},"required":["path"]}`),
}

const (
	asksAboutBoth = "What is the difference between a.go and b.go?"
	changesBoth   = "Rewrite a.go like b.go"

	// changeAfter is the plan of what is still to do after two looks.
	changeAfter = `{"title":"Rewrite a.go","steps":[{"index":"3","title":"Change a.go","tool":"change","args":{"at":"a.go"}}]}`
)

// looking returns a run whose goal names files of the workspace, and its start.
func looking(t *testing.T, goal untrusted.Text) (*world, event.RunStarted) {
	w := newWorld(t)
	w.reply = script{prompt.PurposePlan: {changeAfter}, prompt.PurposeSynthesis: {"done"}}.reply
	mirror(w)
	start := started(event.DefaultLimits())
	start.InDoubt = event.DoubtRerun
	start.Goal, start.Catalog = goal, append(slices.Clone(catalog), readFile)
	start.Routing.Facts = intent.Facts{Known: true, Files: []string{"a.go", "b.go"}}
	return w, start
}

// requests returns the requests for a purpose.
func (w *world) requests(purpose prompt.Purpose) []prompt.Request {
	var sent []prompt.Request
	for _, e := range w.events {
		if r := requestOf(e.Data); r != nil && r.Purpose == purpose {
			sent = append(sent, *r)
		}
	}
	return sent
}

func TestLooksComeBeforeTheRequestOfThePlan(t *testing.T) {
	t.Parallel()
	w, start := looking(t, changesBoth)
	if got := w.play(start); got.Reason != event.ReasonGoalMet {
		t.Fatalf("%s: %s", got.Reason, got.Error)
	}
	kinds := w.kinds()
	if asked := slices.Index(kinds, event.KindPhaseStarted); asked < slices.Index(kinds, event.KindStepCompleted) {
		t.Error("the model was asked before the looks had ended")
	}
	asks := w.requests(prompt.PurposePlan)
	if len(asks) != 1 {
		t.Fatalf("%d requests for a plan", len(asks))
	}
	text := asks[0].Messages[len(asks[0].Messages)-1].Content
	for _, want := range []string{"Data: step 1, Read a.go", "result of 1", "Data: step 2, Read b.go", "result of 2"} {
		if !strings.Contains(text, want) {
			t.Errorf("the request lacks %q:\n%s", want, text)
		}
	}
	if got := strings.Join(w.starts(), " "); got != "1 2 3" {
		t.Errorf("started %s, want each look once, and then the change", got)
	}
	if p := w.run.Plan; len(p.Steps) != 3 || p.Steps[0].Tool != "fs.read" || fmt.Sprint(p.Steps[2].DependsOn) != "[1 2]" {
		t.Errorf("got the plan %+v", p.Steps)
	}
}

func TestGoalThatAsksOnlyAboutWhatItNamesIsPlannedByItsLooks(t *testing.T) {
	t.Parallel()
	w, start := looking(t, asksAboutBoth)
	got := w.play(start)
	if got.Reason != event.ReasonGoalMet || got.Answer != "done" {
		t.Fatalf("%s: %s, answer %q", got.Reason, got.Error, got.Answer)
	}
	if n := len(w.requests(prompt.PurposePlan)); n > 0 || len(w.requests(prompt.PurposeSynthesis)) != 1 {
		t.Errorf("%d requests for a plan, want one request, for the answer", n)
	}
	if got := strings.Join(w.starts(), " "); got != "1 2" || len(w.run.Plan.Steps) != 2 {
		t.Errorf("started %s of the plan %+v", got, w.run.Plan.Steps)
	}
}

func TestNothingIsLookedAtWhereNothingMayStartEarly(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*event.RunStarted){
		"dry run":                        func(s *event.RunStarted) { s.DryRun = true },
		"review":                         func(s *event.RunStarted) { s.Review = true },
		"patient":                        func(s *event.RunStarted) { s.Prompting.Patient = true },
		"no room for other steps":        func(s *event.RunStarted) { s.Limits.MaxPlanSteps = 2 },
		"another server's tool":          func(s *event.RunStarted) { s.Catalog[len(s.Catalog)-1].Trusted = false },
		"no model":                       func(s *event.RunStarted) { s.Model = "" },
		"files that the workspace lacks": func(s *event.RunStarted) { s.Routing.Facts.Files = nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, start := looking(t, changesBoth)
			w.reply = script{prompt.PurposePlan: {strings.Replace(changeAfter, `"3"`, `"1"`, 1)}, prompt.PurposeSynthesis: {"done"}}.reply
			change(&start)
			if got := w.play(start); got.Reason != event.ReasonGoalMet && start.Model != "" {
				t.Errorf("%s: %s", got.Reason, got.Error)
			}
			for _, d := range all[event.StepStarted](w) {
				if d.Tool == "fs.read" {
					t.Errorf("step %s looked at a file", d.Index)
				}
			}
		})
	}
}

// TestPlanOnlyRunsLookAndDoNothingElse holds that a plan that is only made is made from what
// the goal names. The run reads that, and carries out no step of the plan.
func TestPlanOnlyRunsLookAndDoNothingElse(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		plan   string // what the model writes
		change func(*event.RunStarted)
		starts string
	}{
		"a plan that changes something": {changeAfter, func(*event.RunStarted) {}, "1 2"},
		"a plan that only reads":        {strings.Replace(changeAfter, `"change"`, `"look"`, 1), func(*event.RunStarted) {}, "1 2"},
		"a rule that asks":              {changeAfter, func(s *event.RunStarted) { s.Rules = []rule.Rule{{Tool: "*", Verdict: rule.VerdictAsk, Why: "all"}} }, ""},
		"a rule that blocks":            {changeAfter, func(s *event.RunStarted) { s.Rules = []rule.Rule{{Tool: "*", Verdict: rule.VerdictBlock, Why: "no"}} }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, start := looking(t, changesBoth)
			written := tt.plan
			if tt.starts == "" {
				written = strings.Replace(written, `"3"`, `"1"`, 1)
			}
			w.reply = script{prompt.PurposePlan: {written}}.reply
			start.PlanOnly = true
			tt.change(&start)
			if got := w.play(start); got.Reason != event.ReasonGoalMet && name != "a rule that blocks" {
				t.Errorf("%s: %s", got.Reason, got.Error)
			}
			if got := strings.Join(w.starts(), " "); got != tt.starts {
				t.Errorf("started %q, want %q", got, tt.starts)
			}
			if gates := all[event.GateRequested](w); len(gates) > 0 {
				t.Errorf("%d gates are requested", len(gates))
			}
		})
	}
}

func TestLookThatFailsIsLeftToTheModel(t *testing.T) {
	t.Parallel()
	w, start := looking(t, asksAboutBoth)
	w.reply = script{prompt.PurposePlan: {`{"title":"Read it","steps":[{"index":"2","title":"Look","tool":"look","args":{"at":"a"}}]}`}, prompt.PurposeSynthesis: {"done"}}.reply
	w.tool = failing("1", 9, event.FailureTool)
	if got := w.play(start); got.Reason != event.ReasonGoalMet {
		t.Fatalf("%s: %s", got.Reason, got.Error)
	}
	asks := w.requests(prompt.PurposePlan)
	if len(asks) != 1 {
		t.Fatalf("%d requests for a plan, want one, since a look failed", len(asks))
	}
	text := asks[0].Messages[len(asks[0].Messages)-1].Content
	if strings.Contains(text, "Read a.go") || !strings.Contains(text, "Data: step 2, Read b.go") {
		t.Errorf("the request shows other results than that of step 2:\n%s", text)
	}
	var plan []string
	for _, s := range w.run.Plan.Steps {
		plan = append(plan, s.Index+" "+s.Tool)
	}
	if got := strings.Join(plan, ", "); got != "2 fs.read, 4 look" {
		t.Errorf("the plan is %s", got)
	}
}

func TestLooksKeepToTheRules(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]rule.Rule{
		"denied":    {Tool: "fs.read", Args: map[string]string{"path": "a.go"}, Verdict: rule.VerdictBlock, Why: "it is secret"},
		"at a gate": {Tool: "fs.read", Args: map[string]string{"path": "a.go"}, Verdict: rule.VerdictAsk, Why: "it is secret"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, start := looking(t, changesBoth)
			start.Rules = append([]rule.Rule{first}, rules...)
			if got := w.play(start); got.Reason != event.ReasonGoalMet {
				t.Fatalf("%s: %s", got.Reason, got.Error)
			}
			for _, d := range all[event.StepStarted](w) {
				if d.Args["path"] == "a.go" {
					t.Errorf("step %s read the file without an approval", d.Index)
				}
			}
			for _, g := range all[event.GateRequested](w) {
				if g.Tool == "fs.read" {
					t.Errorf("a gate asks about a look: %+v", g)
				}
			}
			if text := w.requests(prompt.PurposePlan)[0].Messages; !strings.Contains(text[len(text)-1].Content, "Read b.go") {
				t.Error("the other file was not read")
			}
		})
	}
}

func TestLooksKeepToTheBudgets(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*event.Limits){
		"calls":     func(l *event.Limits) { l.MaxToolCalls = 1 },
		"discovery": func(l *event.Limits) { l.MaxDiscoveryCalls = 1 },
		"no calls":  func(l *event.Limits) { l.MaxToolCalls, l.MaxDiscoveryCalls = 1, 1 },
		"one slot":  func(l *event.Limits) { l.MaxConcurrency = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, start := looking(t, changesBoth)
			change(&start.Limits)
			w.watch = func(_ []event.Data, pending []agent.Effect) {
				calls := 0
				for _, e := range pending {
					if _, ok := e.(agent.CallTool); ok {
						calls++
					}
				}
				if calls > start.Limits.MaxConcurrency {
					t.Errorf("%d calls at once", calls)
				}
			}
			w.play(start)
			if most := start.Limits.MaxToolCalls; most > 0 && w.run.Usage.ToolCalls > most {
				t.Errorf("%d calls, want at most %d", w.run.Usage.ToolCalls, most)
			}
			if len(w.requests(prompt.PurposePlan)) != 1 {
				t.Error("the model was not asked for a plan")
			}
		})
	}
}

func TestUnwantedEffectWaitsAtAGate(t *testing.T) {
	t.Parallel()
	w, start := looking(t, "Why does a.go import so much?")
	start.Rules = []rule.Rule{{Tool: "*", Verdict: rule.VerdictRun}} // no other rule asks
	w.reply = script{prompt.PurposePlan: {strings.Replace(changeAfter, `"3"`, `"2"`, 1)}, prompt.PurposeRepair: {strings.Replace(changeAfter, `"3"`, `"2"`, 1)}, prompt.PurposeSynthesis: {"done"}}.reply
	var asked []string
	w.gate = func(g event.GateRequested) event.Decision {
		asked = append(asked, g.Tool)
		return event.Deny
	}
	w.play(start)
	if strings.Join(asked, " ") != "change" {
		t.Errorf("gates asked about %v, want the change", asked)
	}
	for _, d := range all[event.StepStarted](w) {
		if d.Tool == "change" {
			t.Error("the change was made although the goal only asks")
		}
	}
	repairs := w.requests(prompt.PurposeRepair)
	if len(repairs) != 1 || !strings.Contains(repairs[0].Messages[len(repairs[0].Messages)-1].Content, "the goal only asks") {
		t.Errorf("%d repairs, want one that says what is wrong", len(repairs))
	}
}

func TestRunIsResumedAmongItsLooks(t *testing.T) {
	t.Parallel()
	for _, goal := range []untrusted.Text{changesBoth, asksAboutBoth} {
		whole, start := looking(t, goal)
		want := whole.play(start)
		for n := 1; n < len(whole.events); n++ {
			w, _ := looking(t, goal)
			w.check = func(event.Event) {}
			w.events = slices.Clone(whole.events)
			w.kill(n)
			mirrorOn(w)
			last := w.events[n-1].Data
			got := w.resume(resumed(start))
			if got.Reason != want.Reason || got.Answer != want.Answer {
				t.Fatalf("%s: killed after event %d (%s): %s (%s) with the answer %q", goal, n, last.Kind(), got.Reason, got.Error, got.Answer)
			}
			if lost := requestOf(last); lost != nil {
				sameRequest(t, *lost, w.events[n:])
			}
			for _, e := range w.events[:n] {
				if done, ok := e.Data.(event.StepCompleted); ok && startedAgain(w.events[n:], done.Index) {
					t.Errorf("%s: killed after event %d (%s): step %s, which was done, started again", goal, n, last.Kind(), done.Index)
				}
			}
		}
	}
}

func TestResumedLooksEndWhereFewStepsAreLeft(t *testing.T) {
	t.Parallel()
	whole, start := looking(t, changesBoth)
	start.Limits.MaxSteps, start.Limits.GrowSteps, start.Limits.MaxConcurrency = 3, false, 1
	whole.play(start)
	for n := 1; n < len(whole.events); n++ {
		w, _ := looking(t, changesBoth)
		w.check = func(event.Event) {}
		w.events = slices.Clone(whole.events)
		w.kill(n)
		w.resume(resumed(start)) // it fails the test if the run is stuck
	}
}

func TestAnswersOfSmallModelsQuoteWhatWasAsked(t *testing.T) {
	t.Parallel()
	const code = "def water(seconds):\n    if seconds > 90:\n        raise ValueError(\"flooded\")\n"
	for name, tt := range map[string]struct {
		small  bool
		answer string
		want   string
	}{
		"of a small model":          {true, "It is flooded.", "It is flooded.\n\nFrom `a.go`, line 1:\n\n```\n" + strings.TrimSuffix(code, "\n") + "\n```"},
		"not of a large one":        {false, "It is flooded.", "It is flooded."},
		"not what it quotes itself": {true, strings.TrimSuffix(code, "\n"), strings.TrimSuffix(code, "\n")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, start := looking(t, "What does a.go do if water runs for more than 90 seconds?")
			start.Prompting.Small = tt.small
			w.reply = script{prompt.PurposeSynthesis: {tt.answer}, prompt.PurposePlan: {`{"title":"Nothing more","steps":[]}`}}.reply
			w.tool = func(c agent.CallTool) event.Data {
				return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: code}
			}
			if got := w.play(start); string(got.Answer) != tt.want {
				t.Errorf("%s: got the answer %q, want %q", got.Reason, got.Answer, tt.want)
			}
		})
	}
}
