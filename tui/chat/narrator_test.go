package chat

import (
	"slices"
	"strings"
	"testing"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/tui/draw"
	"replan/tui/panetest"
	"replan/tui/story"
)

// narrate applies events to a run and returns the run and the text of the chat
// after its narrator has run.
func narrate(t *testing.T, c *Pane, nested bool, data ...event.Data) (*agent.Run, string) {
	t.Helper()
	run := agent.NewRun(nil)
	var n *Narrator
	for i, d := range data {
		var before story.Before
		if n != nil {
			before = n.Before(d)
		}
		e := event.Event{Seq: uint64(i + 1), Time: time.Unix(int64(i), 0), Run: "run", Data: d}
		if err := run.Apply(e); err != nil {
			t.Fatal(err)
		}
		if started, ok := d.(event.RunStarted); ok {
			n = c.Narrate(run, nested)
			n.Start(started)
			continue
		}
		n.Narrate(d, before)
	}
	var lines []string
	for i := range c.Blocks {
		lines = append(lines, draw.Texts(c.LinesOf(i))...)
	}
	return run, panetest.Stripped(lines)
}

func narratedPane() *Pane {
	c := idlePane(60, 20)
	c.SetState(State{Size: draw.Rect{W: 60, H: 20}, ResumeKey: "ctrl+r"})
	return c
}

func stopped() event.Data {
	return event.RunCompleted{Result: event.Result{Status: event.StatusCanceled, Reason: event.ReasonInterrupted}}
}

func TestOnlyTopLevelRunShowsResumeHint(t *testing.T) {
	const hint = "ctrl+r resumes the run."
	if _, got := narrate(t, narratedPane(), false, event.RunStarted{Goal: "a goal"}, stopped()); !strings.Contains(got, hint) {
		t.Errorf("got\n%s", got)
	}
	if _, got := narrate(t, narratedPane(), true, event.RunStarted{Goal: "a goal"}, stopped()); strings.Contains(got, hint) {
		t.Errorf("a nested run shows\n%s", got)
	}
}

func TestStoppedRunSaysWhatResumeDoes(t *testing.T) {
	step := func(index string) plan.Step {
		return plan.Step{Index: index, Title: "Look", Executor: plan.ExecutorTool, Tool: "a:b", OnFailure: plan.OnFailureSkip}
	}
	given := &plan.Plan{Title: "a plan", Steps: []plan.Step{step("1"), step("2")}}
	started := func(index string) event.Data {
		return event.StepStarted{Index: index, Attempt: 1, Executor: plan.ExecutorTool, Tool: "a:b"}
	}
	completed := func(index string) []event.Data {
		return []event.Data{started(index), event.StepCompleted{Index: index, Attempt: 1}}
	}
	failed := func(index string) []event.Data {
		return []event.Data{started(index), event.StepFailed{Index: index, Attempt: 1, Error: "no room left", Failure: event.FailureTool}}
	}
	for name, c := range map[string]struct {
		steps [][]event.Data
		want  string
	}{
		"nothing finished": {nil, "ctrl+r resumes the run."},
		"step finished":    {[][]event.Data{completed("1")}, "Finished steps are kept; ctrl+r resumes the run."},
		"step failed":      {[][]event.Data{failed("1")}, "ctrl+r resumes the run and tries step 1 again."},
		"last step failed": {[][]event.Data{completed("1"), failed("2")}, "Finished steps are kept; ctrl+r resumes the run and tries step 2 again."},
		"step skipped":     {[][]event.Data{failed("1"), {event.FailureResolved{Step: "1", Decision: event.FailureSkip, By: "user"}}}, "ctrl+r resumes the run."},
		"all steps failed": {[][]event.Data{failed("1"), failed("2")}, "ctrl+r resumes the run and tries the failed steps again."},
	} {
		data := []event.Data{event.RunStarted{Goal: "a goal", Plan: given}, event.PlanCreated{Plan: *given, Revision: 1}}
		data = append(data, slices.Concat(c.steps...)...)
		_, got := narrate(t, narratedPane(), false, append(data, stopped())...)
		got = strings.Join(strings.Fields(got), " ")
		if !strings.HasSuffix(got, c.want) || strings.Contains(got, "kept") != strings.Contains(c.want, "kept") {
			t.Errorf("%s: got\n%s", name, got)
		}
	}
}

func TestFailedPlanningNamesNextMoves(t *testing.T) {
	const advice = "Try again, or choose a larger model."
	noPlan := event.RunCompleted{Result: event.Result{Status: event.StatusFailed, Reason: event.ReasonNoPlan}}
	asked := event.ModelRequested{Purpose: prompt.PurposeAnalysis}
	for name, c := range map[string]struct {
		replayed bool
		data     []event.Data
		want     bool
	}{
		"a model was asked": {false, []event.Data{asked, noPlan}, true},
		"no model":          {false, []event.Data{noPlan}, false},
		"replay":            {true, []event.Data{asked, noPlan}, false},
		"stopped":           {false, []event.Data{asked, stopped()}, false},
	} {
		pane := narratedPane()
		pane.state.Advice, pane.state.Replayed = advice, c.replayed
		if _, got := narrate(t, pane, false, append([]event.Data{event.RunStarted{Goal: "a goal"}}, c.data...)...); strings.Contains(got, advice) != c.want {
			t.Errorf("%s: got\n%s", name, got)
		}
	}
}

func TestNestedRunIsIndented(t *testing.T) {
	c := narratedPane()
	c.Add(c.Note("info", "before"))
	_, got := narrate(t, c, true, event.RunStarted{Goal: "a goal"}, stopped())
	if last := got[strings.LastIndex(got, "\n")+1:]; !strings.HasPrefix(last, c.Styles.Glyphs.Guide) || strings.HasPrefix(got, c.Styles.Glyphs.Guide) {
		t.Errorf("got\n%s", got)
	}
}

func TestFirstRunOfEmptyChatStatesGoal(t *testing.T) {
	given := &plan.Plan{Title: "a plan"}
	if _, got := narrate(t, narratedPane(), false, event.RunStarted{Goal: "a goal"}); !strings.Contains(got, "a goal") {
		t.Errorf("got\n%s", got)
	}
	c := narratedPane()
	c.Narrate(agent.NewRun(nil), false).Start(event.RunStarted{Goal: "a goal", Plan: given})
	if len(c.Blocks) != 0 {
		t.Error("a run with a given plan states its goal")
	}
}

func TestRunOutcomeIsShownOnce(t *testing.T) {
	c := narratedPane()
	_, before := narrate(t, c, false, event.RunStarted{Goal: "a goal"}, stopped())
	n := len(c.Blocks)
	c.Reply(event.ChatReply{Run: "run", Status: event.StatusCanceled, Text: "stopped"})
	if len(c.Blocks) != n {
		t.Errorf("the reply repeats the outcome of\n%s", before)
	}
	c.Reply(event.ChatReply{Run: "run", Status: event.StatusCanceled, Text: "later"})
	if len(c.Blocks) != n+1 {
		t.Error("a later reply about the run is lost")
	}
}

func TestReplyToPlanOnlyRunIsShown(t *testing.T) {
	c := narratedPane()
	narrate(t, c, false, event.RunStarted{Goal: "a goal", PlanOnly: true}, event.RunCompleted{Result: event.Result{Status: event.StatusCompleted}})
	n := len(c.Blocks)
	c.Reply(event.ChatReply{Run: "run", Status: event.StatusCompleted, Text: "stored as a.plan"})
	if len(c.Blocks) != n+1 {
		t.Error("the chat does not say where the plan is stored")
	}
}

func TestAbandonedRunSaysWhy(t *testing.T) {
	c := narratedPane()
	narrate(t, c, false, event.RunStarted{Goal: "a goal"})
	n := len(c.Blocks)
	c.Reply(event.ChatReply{Run: "run", Status: event.StatusFailed, Text: "the journal cannot be written"})
	if len(c.Blocks) != n+1 || len(c.live) != 0 {
		t.Errorf("got %d new blocks and %d live runs", len(c.Blocks)-n, len(c.live))
	}
}

func TestChatShowsFailureOnce(t *testing.T) {
	failed := func(attempt int) []event.Data {
		return []event.Data{
			event.StepStarted{Index: "1", Attempt: attempt, Executor: plan.ExecutorTool, Tool: "a:b"},
			event.StepFailed{Index: "1", Attempt: attempt, Error: "no room left", Failure: event.FailureTool},
		}
	}
	given := &plan.Plan{Title: "a plan", Steps: []plan.Step{{Index: "1", Title: "Write", Executor: plan.ExecutorTool, Tool: "a:b", OnFailure: plan.OnFailureAbort}}}
	data := append([]event.Data{event.RunStarted{Goal: "a goal", Plan: given, Attended: true}, event.PlanCreated{Plan: *given, Revision: 1}}, failed(1)...)
	for attempt := 2; attempt <= 3; attempt++ {
		data = append(append(data, event.FailureResolved{Step: "1", Decision: event.FailureRetry}), failed(attempt)...)
	}
	data = append(data, event.FailureResolved{Step: "1", Decision: event.FailureAbort}, event.RunCompleted{Result: event.Result{
		Status: event.StatusFailed, Reason: event.ReasonStepFailed, Error: "step 1 (Write) failed: no room left",
	}})
	_, got := narrate(t, narratedPane(), false, data...)
	if n := strings.Count(got, "no room left"); n != 2 || !strings.Contains(got, "✗ failed: no room left") {
		t.Errorf("said %d times, of the first attempt and of the run, in\n%s", n, got)
	}
	if !strings.Contains(got, "failed again, for the same reason") {
		t.Errorf("got\n%s", got)
	}
}

func TestOutcomeDoesNotRepeatTheAnswer(t *testing.T) {
	given := &plan.Plan{Title: "a plan", Steps: []plan.Step{{Index: "1", Title: "Test", Executor: plan.ExecutorTool, Tool: "test.run", OnFailure: plan.OnFailureAbort}}}
	for _, answer := range []untrusted.Text{"`test.run` failed: no tests here.", "The first step failed.", ""} {
		_, got := narrate(t, narratedPane(), false,
			event.RunStarted{Goal: "a goal", Plan: given}, event.PlanCreated{Plan: *given, Revision: 1},
			event.StepStarted{Index: "1", Attempt: 1, Executor: plan.ExecutorTool, Tool: "test.run"},
			event.StepFailed{Index: "1", Attempt: 1, Error: "no tests here", Failure: event.FailureTool},
			event.RunCompleted{Result: event.Result{
				Status: event.StatusFailed, Reason: event.ReasonStepFailed, Error: "step 1 (Test) failed: no tests here", Answer: answer,
			}})
		if n := strings.Count(got, "no tests here"); n != 1 || !strings.Contains(got, "✗ failed") {
			t.Errorf("after the answer %q the cause is said %d times in\n%s", answer, n, got)
		}
	}
}

func TestChatNamesTheCommandOfTheChatThatUndoes(t *testing.T) {
	c := narratedPane()
	c.Reply(event.ChatReply{Status: event.StatusFailed, Reason: event.ReasonNoModel, Text: "no model. " + agent.WithoutModel, Asks: true})
	got := strings.Join(strings.Fields(panetest.Stripped(draw.Texts(c.LinesOf(0)))), " ")
	if !strings.HasSuffix(got, "commit; /undo restores the files that a run changed") {
		t.Errorf("the chat says %q", got)
	}
}

func TestMissingModelIsReportedOnce(t *testing.T) {
	const problem = "Ollama does not answer: start it"
	drawn := func(c *Pane) string {
		var lines []string
		for i := range c.Blocks {
			lines = append(lines, draw.Texts(c.LinesOf(i))...)
		}
		return panetest.Stripped(lines)
	}
	for _, refusal := range []untrusted.Text{problem + "; without a model this can be asked: find X", "rename what? " + problem} {
		refused := narratedPane()
		refused.SetState(State{Size: draw.Rect{W: 60, H: 20}, Problem: problem})
		refused.Message(event.ChatUser{Text: "what is being"}, true)
		refused.Reply(event.ChatReply{Status: event.StatusFailed, Text: refusal})
		refused.Introduce(false)
		if got := drawn(refused); strings.Count(got, "Ollama does not answer") != 1 {
			t.Errorf("a refused goal shows\n%s", got)
		}
	}

	worked := narratedPane()
	narrate(t, worked, false, event.RunStarted{Goal: "run the tests"}, event.RouteMatched{Confidence: 1}, event.RunCompleted{Result: event.Result{Status: event.StatusCompleted}})
	worked.SetState(State{Size: draw.Rect{W: 60, H: 20}, Problem: problem}) // known only now
	worked.Introduce(false)
	if got := drawn(worked); strings.Contains(got, problem) {
		t.Errorf("after a run without a model the chat shows\n%s", got)
	}

	continued := narratedPane()
	continued.Message(event.ChatUser{Text: "run the tests"}, false)
	continued.Reply(event.ChatReply{Run: "earlier", Status: event.StatusFailed, Reason: event.ReasonDenied, Text: "Denied", Usage: &event.Usage{Steps: 1}})
	continued.SetState(State{Size: draw.Rect{W: 60, H: 20}, Problem: problem})
	continued.Introduce(false)
	if got := drawn(continued); strings.Contains(got, problem) {
		t.Errorf("after an earlier run without a model the chat shows\n%s", got)
	}
}

func TestResumedRunNamesItsGoalUnlessTheLastMessageDoes(t *testing.T) {
	for _, sent := range []event.ChatUser{{Text: "a goal"}, {Text: "another"}} {
		c := narratedPane()
		c.Message(sent, false)
		run, _ := narrate(t, idlePane(60, 20), false, event.RunStarted{Goal: "a goal"}) // in an earlier session
		c.Narrate(run, false).Narrate(event.RunResumed{}, story.Before{})
		var lines []string
		for i := range c.Blocks {
			lines = append(lines, draw.Texts(c.LinesOf(i))...)
		}
		if got := panetest.Stripped(lines); strings.Count(got, "a goal") != 1 {
			t.Errorf("after %q the chat shows\n%s", sent.Text, got)
		}
	}
}

func TestToolsWithoutTypedArgumentsAreNamedOnceASession(t *testing.T) {
	asks := func(tools ...string) event.Data {
		return event.PhaseStarted{Phase: 1, Label: "analysis", Request: prompt.Request{Purpose: prompt.PurposeAnalysis, Untyped: tools}}
	}
	pane := narratedPane()
	for i, tt := range []struct {
		asked event.Data
		says  int // how often, since the pane was opened
		want  string
	}{
		{asks(), 0, ""},
		{asks("big"), 1, "A plan may give any arguments to big: the schema is too large for the format of plans, or cannot be read."},
		{asks("big"), 1, ""},
		{asks("big", "odd", "wide"), 2, "A plan may give any arguments to odd and wide: the schemas are too large"},
	} {
		_, got := narrate(t, pane, false, event.RunStarted{Goal: "a goal"}, tt.asked, stopped())
		got = strings.Join(strings.Fields(got), " ")
		if n := strings.Count(got, "any arguments"); n != tt.says || !strings.Contains(got, tt.want) {
			t.Errorf("after request %d it is said %d times, want %d and %q:\n%s", i+1, n, tt.says, tt.want, got)
		}
	}
}

func TestToolsWithoutRoomAreNamedOnceASession(t *testing.T) {
	asks := func(window, left, of int) event.Data {
		return event.ModelRequested{Purpose: prompt.PurposeChat, Request: prompt.Request{
			Purpose: prompt.PurposeChat, Unoffered: &prompt.Unoffered{Tools: left, Of: of, Servers: []string{"github", "jira"}, Window: window},
		}}
	}
	pane := narratedPane()
	for i, tt := range []struct {
		asked event.Data
		says  int // how often, since the pane was opened
		want  string
	}{
		{event.ModelRequested{Purpose: prompt.PurposeChat}, 0, ""},
		{asks(16384, 45, 80), 1, "45 tools of github and jira are not offered in this window of 16k tokens: ask for one by name, or the model finds it with tools.find."},
		{asks(16384, 45, 80), 1, ""},
		{asks(16384, 47, 80), 1, ""},
		{asks(32768, 20, 80), 2, "20 tools of github and jira are not offered in this window of 32k tokens"},
		{asks(32768, 25, 85), 3, "25 tools"},
		{asks(512, 85, 85), 4, "give the model a larger one."},
	} {
		_, got := narrate(t, pane, false, event.RunStarted{Goal: "a goal"}, tt.asked, stopped())
		got = strings.Join(strings.Fields(got), " ")
		if n := strings.Count(got, "not offered"); n != tt.says || !strings.Contains(got, tt.want) {
			t.Errorf("after request %d it is said %d times, want %d and %q:\n%s", i+1, n, tt.says, tt.want, got)
		}
	}
}

func TestEqualAnswersToGatesOfItemsAreOneLine(t *testing.T) {
	p := plan.Plan{Title: "T", Steps: []plan.Step{{
		Index: "1", Title: "Write", Executor: plan.ExecutorTool, Tool: "fs.write", Args: map[string]any{"path": "${item}"},
		ForEach: &plan.ForEach{Items: []any{"a", "b", "c", "d"}, As: "item", Max: 4},
	}}}
	ask := rule.Rule{Tool: "*", Verdict: rule.VerdictAsk, Why: "it makes changes"}
	data := []event.Data{
		event.RunStarted{Goal: "g", Plan: &p, Rules: []rule.Rule{ask}, Catalog: plan.Catalog{{Name: "fs.write", Server: "workspace", Trusted: true}}, Limits: event.DefaultLimits()},
		event.PlanCreated{Plan: p, Revision: 1},
		event.StepExpanded{Index: "1", Attempt: 1, Title: "Write", Items: []any{"a", "b", "c", "d"}},
	}
	for _, item := range []string{"1.1", "1.2", "1.3", "1.4"} {
		data = append(data, event.GateRequested{Gate: item + ".1.1", Step: item, Title: "Write", Tool: "fs.write", Server: "workspace", Rule: ask})
	}
	for i, item := range []string{"1.1", "1.2", "1.3", "1.4"} {
		decision := event.Allow
		if i == 3 {
			decision = event.Deny
		}
		data = append(data, event.GateResolved{Gate: item + ".1.1", Decision: decision, Scope: event.ScopeOnce, By: "user"})
	}
	if _, got := narrate(t, narratedPane(), false, data...); !strings.HasSuffix(got, "allowed 3 calls of fs.write in step 1\n⊘ declined fs.write in step 1.4") {
		t.Errorf("the chat says\n%s", got)
	}
}
