package plain_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"replan/agent"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/tui/plain"
)

// outside is text as somebody from outside would like to have it told.
const outside = "\x1b]0;x\a\x1b[31m words\n▸ forged\u202e"

// untold are the kinds that make no line, each with the reason.
var untold = map[agent.Kind]string{
	agent.KindPhaseDelta:         "passing: what a model says before it has said it all",
	agent.KindSynthesisDelta:     "passing: the answer is told whole",
	agent.KindStepProgress:       "passing: how far a call is; its end has a line",
	agent.KindStepOutput:         "passing: what a call writes; the end of it is told where the call fails",
	agent.KindStepProcess:        "for a resume after the program was killed, which says what came of it",
	agent.KindPlanDrafting:       "a step of a plan that is not whole; plan.created tells all of them",
	agent.KindRunSpawned:         "the run that begins with it has a line of its own",
	agent.KindSynthesisCompleted: "run.completed tells the answer",
	agent.KindTimerFired:         "what was waited for has a line of its own",
	agent.KindChatUser:           "the user has just typed it; the goal of the run is told",
	agent.KindChatReply:          "the run has told it; what led to no run is told by the command that asked",
	session.KindResuming:         "run.resumed has the line",
	session.KindStatus:           "passing, for the screen; notes of the project are named with the goal",
	session.KindQueue:            "passing, for the screen",
	session.KindUndo:             "passing, for the screen",
	session.KindReturned:         "passing, for the screen",
	session.KindHistory:          "passing, for the screen",
}

// moment is an event of a kind, and what happened before it.
type moment struct {
	before  []agent.Data
	is      agent.Data
	session bool // it is the session's own
	review  bool // the run holds its plan to be looked over
}

func moments() map[agent.Kind]moment {
	planned := []agent.Data{samplePlan(step("1"), step("2", "1"))}
	begun := append(planned[:1:1], agent.StepStarted{Index: "1", Attempt: 1, Title: outside, Executor: plan.ExecutorTool, Tool: "look"})
	failed := append(begun[:2:2], agent.StepFailed{Index: "1", Attempt: 1, Error: outside, Failure: agent.FailureTool})
	asked := append(planned[:1:1], agent.GateRequested{Gate: "1.1.1", Step: "1", Tool: "look"})
	args := map[string]any{outside: outside, "n": 3}
	rule := agent.Rule{Tool: outside, Verdict: agent.VerdictAsk, Source: agent.SourceConfiguration, Why: outside}
	return map[agent.Kind]moment{
		agent.KindRunStarted:       {is: agent.RunStarted{Goal: outside, Model: outside, Workspace: outside}},
		agent.KindRunResumed:       {before: planned, is: agent.RunResumed{Model: outside}},
		agent.KindRunPaused:        {is: agent.RunPaused{Reason: outside}},
		agent.KindJournalDamaged:   {before: planned, is: agent.JournalDamaged{Line: 3}},
		agent.KindRunSteered:       {is: agent.RunSteered{Text: outside}},
		agent.KindRunCompleted:     {before: planned, is: agent.RunCompleted{Result: agent.Result{Status: agent.StatusCancelled, Reason: agent.ReasonInterrupted}}},
		agent.KindPhaseStarted:     {is: agent.PhaseStarted{Phase: 1, Label: "analysis"}},
		agent.KindPhaseCompleted:   {before: []agent.Data{agent.PhaseStarted{Phase: 1, Label: "analysis"}}, is: agent.PhaseCompleted{Phase: 1, Label: "analysis"}},
		agent.KindPhaseSkipped:     {is: agent.PhaseSkipped{Phase: 2, Label: "review", Reason: outside}},
		agent.KindPhaseFailed:      {is: agent.PhaseFailed{Phase: 1, Label: "analysis", Reason: outside}},
		agent.KindRouteMatched:     {is: agent.RouteMatched{Chain: []string{outside}}},
		agent.KindPlanCreated:      {is: samplePlan(plan.Step{Index: "1", Title: outside, Tool: outside, Executor: plan.ExecutorTool})},
		agent.KindPlanEmpty:        {is: agent.PlanEmpty{Reason: outside}},
		agent.KindPlanReviewed:     {review: true, before: planned, is: agent.PlanReviewed{Revision: 1, Decision: agent.ReviewRun, By: outside}},
		agent.KindPlanDiff:         {before: failed, is: agent.PlanDiff{Revision: 2, Reason: outside, Removed: []string{"2"}, Added: []string{"3"}, Plan: plan.Plan{Title: outside, Steps: []plan.Step{step("1"), {Index: "3", Title: outside, Tool: outside}}}}},
		agent.KindStepStarted:      {before: planned, is: begun[1]},
		agent.KindStepCompleted:    {before: begun, is: agent.StepCompleted{Index: "1", Attempt: 1, Result: outside}},
		agent.KindStepFailed:       {before: begun, is: failed[2]},
		agent.KindStepRetry:        {before: failed, is: agent.StepRetry{Index: "1", Attempt: 1, Error: outside}},
		agent.KindStepSkipped:      {before: planned, is: agent.StepSkipped{Index: "2", Reason: outside}},
		agent.KindStepInDoubt:      {before: begun, is: agent.StepInDoubt{Index: "1", Attempt: 1, Reason: outside}},
		agent.KindDoubtResolved:    {before: append(begun[:2:2], agent.StepInDoubt{Index: "1", Attempt: 1}), is: agent.DoubtResolved{Step: "1", Decision: agent.DoubtRerun, By: outside}},
		agent.KindFailureResolved:  {before: failed, is: agent.FailureResolved{Step: "1", Decision: agent.FailureRetry, Args: args, By: outside}},
		agent.KindGateRequested:    {before: planned, is: agent.GateRequested{Gate: "1.1.1", Step: "1", Title: outside, Tool: outside, Rule: rule, Args: args, Diff: outside, Provenance: []agent.Provenance{{Arg: outside, Step: outside}}}},
		agent.KindGateResolved:     {before: asked, is: agent.GateResolved{Gate: "1.1.1", Decision: agent.Allow, Scope: agent.ScopeAlways, Rule: &rule, By: outside}},
		agent.KindGuardWarned:      {is: agent.GuardWarned{Guard: outside, Reason: outside}},
		agent.KindGuardBlocked:     {is: agent.GuardBlocked{Guard: outside, Reason: outside}},
		agent.KindBudgetWarned:     {is: agent.BudgetWarned{Guard: outside, Used: 8, Limit: 10}},
		agent.KindReplanStarted:    {before: failed, is: agent.ReplanStarted{Attempt: 1, Step: "1", Error: outside}},
		agent.KindReplanRefused:    {before: append(failed[:3:3], agent.ReplanStarted{Attempt: 1, Step: "1"}), is: agent.ReplanRefused{Attempt: 1, Reason: outside}},
		agent.KindModelRequested:   {before: planned, is: agent.ModelRequested{Purpose: prompt.PurposeStep, Step: "1"}},
		agent.KindModelReplied:     {before: append(planned[:1:1], agent.ModelRequested{Purpose: prompt.PurposeStep, Step: "1"}), is: agent.ModelReplied{Purpose: prompt.PurposeStep, Step: "1", Error: outside}},
		agent.KindSynthesisStarted: {is: agent.SynthesisStarted{}},
		agent.KindNote:             {is: agent.Note{Level: "warn", Text: outside}},
		agent.KindChatCompacted:    {session: true, is: agent.ChatCompacted{Turns: 2, Reason: outside}},
		agent.KindChatUndone:       {session: true, is: agent.ChatUndone{Undo: agent.Undo{Run: outside, Files: []agent.UndoneFile{{Path: outside}}}}},
	}
}

// kinds returns every kind that the sources of the events and of the session
// declare.
func kinds(t *testing.T) []agent.Kind {
	var out []agent.Kind
	for _, file := range []string{"../../agent/event.go", "../../agent/session/stream.go"} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\bKind +(?:agent.Kind )?= "([a-z._]+)"`).FindAllStringSubmatch(string(source), -1) {
			out = append(out, agent.Kind(m[1]))
		}
	}
	if len(out) < 50 {
		t.Fatalf("%d kinds are found", len(out))
	}
	return out
}

// toldOf is what a log writes for the last of the events alone.
func toldOf(t *testing.T, m moment, ascii bool) string {
	t.Helper()
	var out strings.Builder
	log := plain.New(&out, "s", ascii)
	data := append([]agent.Data{agent.RunStarted{Goal: "do it", Workspace: "/w", Attended: true, Review: m.review}}, m.before...)
	if _, starts := m.is.(agent.RunStarted); starts {
		data = nil
	}
	from := 0
	for i, d := range append(data, m.is) {
		run := "r"
		if i == len(data) {
			from = out.Len()
			if m.session {
				run = "s"
			}
		}
		if err := log.Event(agent.Event{Seq: uint64(i + 1), Time: time.Unix(int64(i), 0), Run: run, Data: d}); err != nil {
			t.Fatalf("%s: %v", d.Kind(), err)
		}
	}
	return out.String()[from:]
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

func TestEveryChangeOfStateIsOneLine(t *testing.T) {
	all := moments()
	for _, kind := range kinds(t) {
		m, tells := all[kind]
		if why := untold[kind]; tells == (why != "") {
			t.Errorf("%s must have either a line or a reason why it has none", kind)
		}
		if !tells {
			continue
		}
		t.Run(string(kind), func(t *testing.T) {
			for _, ascii := range []bool{false, true} {
				got := toldOf(t, m, ascii)
				lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
				if !strings.HasSuffix(got, "\n") || lines[0] == "" {
					t.Fatalf("told %q", got)
				}
				for _, line := range lines[1:] {
					if indent(line) <= indent(lines[0]) {
						t.Errorf("it makes a second line: %q", line)
					}
				}
				if strings.ContainsAny(got, "\x1b\a\r\u202e") || strings.Contains(got, "\n▸ forged") {
					t.Errorf("text from outside reaches the terminal: %q", got)
				}
				if ascii {
					for _, mark := range []string{"✓", "✗", "◆", "—", "↻", "○"} {
						if strings.Contains(got, mark) {
							t.Errorf("%q is not ASCII: %q", mark, got)
						}
					}
				}
			}
		})
	}
}
