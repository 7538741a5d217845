package plain_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/agent/session"
	"replan/planning/pace"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/tui/plain"
)

// outside is hostile text from outside.
const outside = "\x1b]0;x\a\x1b[31m words\n▸ forged\u202e"

// silentKinds lists the kinds that print no line, each with the reason.
var silentKinds = map[event.Kind]string{
	event.KindPhaseDelta:         "passing: part of a text of a model",
	event.KindReplanDelta:        "passing: part of a text of a model",
	event.KindSynthesisDelta:     "passing: the answer is printed whole",
	event.KindStepOutput:         "passing: output of a call; its end is printed if the call fails",
	event.KindStepProcess:        "for a resume after the program was killed; the resume prints the result",
	event.KindPlanDrafting:       "a step of an incomplete plan; plan.created prints all steps",
	event.KindRunSpawned:         "the run that begins with it has a line of its own",
	event.KindSynthesisCompleted: "run.completed prints the answer",
	event.KindTimerFired:         "the event after the timer has a line of its own",
	event.KindChatUser:           "the user has just typed it; the goal of the run is printed",
	event.KindChatReply:          "the run has printed it; a command that started no run prints its own reply",
	session.KindResuming:         "run.resumed has the line",
	session.KindStatus:           "passing, for the screen; notes of the project are named with the goal",
	session.KindLogin:            "passing, for the screen; replan mcp login prints its own lines",
	session.KindQueue:            "passing, for the screen",
	session.KindUndo:             "passing, for the screen",
	session.KindChanges:          "for the screen; the command line shows and asks by itself",
	session.KindSettled:          "for the screen; the reply in the chat says it too",
	session.KindReturned:         "passing, for the screen",
	session.KindHistory:          "passing, for the screen",
	session.KindChosen:           "for the screen; why nothing was chosen is a note too",
	session.KindPull:             "for the screen, where models are pulled",
	session.KindSide:             "passing, for the screen; chat.side prints the whole answer",
	session.KindRemoved:          "for the screen, where models are removed",
	session.KindModelServer:      "for the screen, where the server is started",
	session.KindSettingSaved:     "for the screen, where the choice was made",
}

// moment is an event and the events before it.
type moment struct {
	before  []event.Data
	data    event.Data
	session bool // an event of the session itself
	review  bool // the run holds its plan for review
}

func moments() map[event.Kind]moment {
	planned := []event.Data{samplePlan(step("1"), step("2", "1"))}
	begun := append(planned[:1:1], event.StepStarted{Index: "1", Attempt: 1, Title: outside, Executor: plan.ExecutorTool, Tool: "look"})
	failed := append(begun[:2:2], event.StepFailed{Index: "1", Attempt: 1, Error: outside, Failure: event.FailureTool})
	asked := append(planned[:1:1], event.GateRequested{Gate: "1.1.1", Step: "1", Tool: "look"})
	each := step("1")
	each.Title, each.ForEach = outside, &plan.ForEach{Items: []any{outside, outside}, As: "item", Max: 50}
	args := map[string]any{outside: outside, "n": 3}
	r := rule.Rule{Tool: outside, Verdict: rule.VerdictAsk, Source: rule.SourceConfiguration, Why: outside}
	return map[event.Kind]moment{
		event.KindRunStarted:           {data: event.RunStarted{Goal: outside, Model: outside, Workspace: outside}},
		event.KindRunResumed:           {before: planned, data: event.RunResumed{Model: outside}},
		event.KindRunPaused:            {data: event.RunPaused{Reason: outside}},
		event.KindJournalDamaged:       {before: planned, data: event.JournalDamaged{Line: 3}},
		event.KindRunSteered:           {data: event.RunSteered{Text: outside, By: outside}},
		event.KindRunCompleted:         {before: planned, data: event.RunCompleted{Result: event.Result{Status: event.StatusCanceled, Reason: event.ReasonInterrupted}}},
		event.KindRunUndone:            {before: planned, data: event.RunUndone{Files: []event.UndoneFile{{Path: outside, Action: outside}}}},
		event.KindPhaseStarted:         {data: event.PhaseStarted{Phase: 1, Label: "analysis"}},
		event.KindPhaseCompleted:       {before: []event.Data{event.PhaseStarted{Phase: 1, Label: "analysis"}}, data: event.PhaseCompleted{Phase: 1, Label: "analysis"}},
		event.KindPhaseSkipped:         {data: event.PhaseSkipped{Phase: 2, Label: "review", Reason: outside}},
		event.KindPhaseFailed:          {data: event.PhaseFailed{Phase: 1, Label: "analysis", Reason: outside}},
		event.KindRouteMatched:         {data: event.RouteMatched{Chain: []string{outside}}},
		event.KindPlanCreated:          {data: samplePlan(plan.Step{Index: "1", Title: outside, Tool: outside, Executor: plan.ExecutorTool})},
		event.KindPlanEmpty:            {data: event.PlanEmpty{Reason: outside}},
		event.KindPlanChosen:           {review: true, before: planned, data: event.PlanChosen{Plan: plan.Plan{Title: outside, Steps: []plan.Step{step("1")}}, By: outside}},
		event.KindPlanReviewed:         {review: true, before: planned, data: event.PlanReviewed{Revision: 1, Decision: event.ReviewRun, By: outside}},
		event.KindPlanDiff:             {before: failed, data: event.PlanDiff{Revision: 2, Reason: outside, Removed: []string{"2"}, Added: []string{"3"}, Plan: plan.Plan{Title: outside, Steps: []plan.Step{step("1"), {Index: "3", Title: outside, Tool: outside}}}}},
		event.KindStepExpanded:         {before: []event.Data{samplePlan(each)}, data: event.StepExpanded{Index: "1", Attempt: 1, Title: outside, Items: []any{outside, outside}}},
		event.KindStepStarted:          {before: planned, data: begun[1]},
		event.KindStepCompleted:        {before: begun, data: event.StepCompleted{Index: "1", Attempt: 1, Result: outside}},
		event.KindStepFailed:           {before: begun, data: failed[2]},
		event.KindCheckCompleted:       {before: begun, data: event.CheckCompleted{Index: "1", Attempt: 1, Check: 1, Title: outside, State: plan.StateRefuted, Reason: outside}},
		event.KindStepRetry:            {before: failed, data: event.StepRetry{Index: "1", Attempt: 1, Error: outside}},
		event.KindStepSkipped:          {before: planned, data: event.StepSkipped{Index: "2", Reason: outside}},
		event.KindStepInDoubt:          {before: begun, data: event.StepInDoubt{Index: "1", Attempt: 1, Reason: outside}},
		event.KindDoubtResolved:        {before: append(begun[:2:2], event.StepInDoubt{Index: "1", Attempt: 1}), data: event.DoubtResolved{Step: "1", Decision: event.DoubtRerun, By: outside}},
		event.KindFailureResolved:      {before: failed, data: event.FailureResolved{Step: "1", Decision: event.FailureRetry, Args: args, By: outside}},
		event.KindGateRequested:        {before: planned, data: event.GateRequested{Gate: "1.1.1", Step: "1", Title: outside, Tool: outside, Rule: r, Args: args, Diff: outside, Provenance: []rule.Provenance{{Arg: outside, Step: outside}}}},
		event.KindGateResolved:         {before: asked, data: event.GateResolved{Gate: "1.1.1", Decision: event.Allow, Scope: event.ScopeAlways, Rule: &r, By: outside}},
		event.KindElicitationRequested: {before: begun, data: event.ElicitationRequested{ID: "q", Step: "1", Attempt: 1, Elicitation: plan.Elicitation{Server: outside, Message: outside, URL: "https://" + outside}}},
		event.KindElicitationResolved:  {before: begun, data: event.ElicitationResolved{ID: "q", Step: "1", Attempt: 1, Action: plan.ElicitationAction(outside), By: outside}},
		event.KindStepProgress:         {before: begun, data: event.StepProgress{Index: "1", Done: 1, Total: 2, Message: outside}},
		event.KindGuardWarned:          {data: event.GuardWarned{Guard: outside, Reason: outside}},
		event.KindGuardBlocked:         {data: event.GuardBlocked{Guard: outside, Reason: outside}},
		event.KindBudgetWarned:         {data: event.BudgetWarned{Guard: outside, Used: 8, Limit: 10}},
		event.KindReplanStarted:        {before: failed, data: event.ReplanStarted{Attempt: 1, Step: "1", Error: outside}},
		event.KindReplanRefused:        {before: append(failed[:3:3], event.ReplanStarted{Attempt: 1, Step: "1"}), data: event.ReplanRefused{Attempt: 1, Reason: outside}},
		event.KindModelRequested:       {before: planned, data: event.ModelRequested{Purpose: prompt.PurposeStep, Step: "1"}},
		event.KindModelReading:         {before: append(planned[:1:1], event.ModelRequested{Purpose: prompt.PurposeStep, Step: "1", Request: prompt.Request{Model: outside}}), data: event.ModelReading{Purpose: prompt.PurposeStep, Step: "1", Forecast: pace.Forecast{Tokens: 1900}}},
		event.KindModelReplied:         {before: append(planned[:1:1], event.ModelRequested{Purpose: prompt.PurposeStep, Step: "1"}), data: event.ModelReplied{Purpose: prompt.PurposeStep, Step: "1", Error: outside}},
		event.KindSynthesisStarted:     {data: event.SynthesisStarted{}},
		event.KindNote:                 {data: event.Note{Level: "warn", Text: outside}},
		event.KindChatCompacted:        {session: true, data: event.ChatCompacted{Turns: 2, Reason: outside}},
		event.KindChatSide: {session: true, data: event.ChatSide{
			Question: outside, Text: outside, Status: event.StatusFailed, Error: outside, Calls: []event.SideCall{{Tool: outside, Error: outside}},
		}},
		event.KindChatUndone: {session: true, data: event.ChatUndone{Undo: event.Undo{Run: outside, Files: []event.UndoneFile{{Path: outside}}}}},
	}
}

// kinds returns every kind that the sources of the events and of the session
// declare.
func kinds(t *testing.T) []event.Kind {
	var out []event.Kind
	for _, file := range []string{"../../agent/event/event.go", "../../agent/session/stream.go"} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\bKind +(?:event.Kind )?= "([a-z._]+)"`).FindAllStringSubmatch(string(source), -1) {
			out = append(out, event.Kind(m[1]))
		}
	}
	if len(out) < 50 {
		t.Fatalf("found only %d kinds", len(out))
	}
	return out
}

// lastOutput returns what a log prints for the last event alone.
func lastOutput(t *testing.T, m moment, ascii bool) string {
	t.Helper()
	var out strings.Builder
	log := plain.New(&out, "s", plain.Options{ASCII: ascii})
	data := append([]event.Data{event.RunStarted{Goal: "do it", Workspace: "/w", Attended: true, Review: m.review}}, m.before...)
	if _, starts := m.data.(event.RunStarted); starts {
		data = nil
	}
	from := 0
	for i, d := range append(data, m.data) {
		run := "r"
		if i == len(data) {
			from = out.Len()
			if m.session {
				run = "s"
			}
		}
		if err := log.Event(event.Event{Seq: uint64(i + 1), Time: time.Unix(int64(i), 0), Run: run, Data: d}); err != nil {
			t.Fatalf("%s: %v", d.Kind(), err)
		}
	}
	return out.String()[from:]
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

func TestEveryStateChangePrintsOneLine(t *testing.T) {
	all := moments()
	for _, kind := range kinds(t) {
		m, prints := all[kind]
		if why := silentKinds[kind]; prints == (why != "") {
			t.Errorf("%s must either print a line or have a reason for none", kind)
		}
		if !prints {
			continue
		}
		t.Run(string(kind), func(t *testing.T) {
			for _, ascii := range []bool{false, true} {
				got := lastOutput(t, m, ascii)
				lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
				if !strings.HasSuffix(got, "\n") || lines[0] == "" {
					t.Fatalf("got %q", got)
				}
				for _, line := range lines[1:] {
					if indent(line) <= indent(lines[0]) {
						t.Errorf("it prints a second line: %q", line)
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
