package story_test

import (
	"fmt"
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
	"replan/tui/story"
)

// told returns what a story says of the last of the events of one run.
func told(t *testing.T, to story.Reader, data ...event.Data) []story.Entry {
	t.Helper()
	run, s := agent.NewRun(nil), story.New(to, story.NewOnce())
	s.Follow(run, false)
	var entries []story.Entry
	start := event.RunStarted{Goal: "do it", Model: "m", Workspace: "/w", Attended: true, Limits: event.DefaultLimits()}
	for i, d := range append([]event.Data{start}, data...) {
		var err error
		if entries, err = s.Apply(event.Event{Seq: uint64(i + 1), Time: time.Unix(int64(i), 0), Run: "r", Data: d}); err != nil {
			t.Fatalf("%s: %v", d.Kind(), err)
		}
	}
	return entries
}

// lines writes entries as text: level, depth and words, with what belongs to them.
func lines(entries []story.Entry, short bool) []string {
	levels := []string{"-", "begins", "started", "done", "failed", "trouble", "fatal", "skipped", "declined", "warn", "info", "asks", "decision", "doubt", "again", "would"}
	var out []string
	for _, e := range entries {
		words := e.Words
		if short {
			words = e.Short()
		}
		line := fmt.Sprintf("%s%s %s", strings.Repeat("  ", e.Depth), levels[e.Level], words)
		for _, part := range append(slices.Clone(e.Facts), e.Detail) {
			if part != "" {
				line += " | " + part
			}
		}
		out = append(out, line)
	}
	return out
}

func step(index string, after ...string) plan.Step {
	return plan.Step{Index: index, Title: untrusted.Text("Step " + index), Executor: plan.ExecutorTool, Tool: "look", DependsOn: after}
}

func planOf(steps ...plan.Step) event.PlanCreated {
	return event.PlanCreated{Revision: 1, Plan: plan.Plan{Title: "Plan", Steps: steps}}
}

func begins(index string) event.Data {
	return event.StepStarted{Index: index, Attempt: 1, Title: untrusted.Text("Step " + index), Executor: plan.ExecutorTool, Tool: "look"}
}

func fails(index, why string) event.Data {
	return event.StepFailed{Index: index, Attempt: 1, Error: untrusted.Text(why), Failure: event.FailureTool, MS: 1500}
}

func TestEventsAreToldToTheirReaders(t *testing.T) {
	planned := []event.Data{planOf(step("1"), step("2", "1"))}
	begun := append(planned[:1:1], begins("1"))
	failed := append(begun[:2:2], fails("1", "first\nsecond"))
	gate := event.GateRequested{Gate: "1.1.1", Step: "1", Title: "Step 1", Tool: "look", Rule: rule.Rule{Why: "it has effects"}}
	asked := append(planned[:1:1], gate)
	for name, c := range map[string]struct {
		data []event.Data
		want map[story.Reader]string // lines, joined by "; "
	}{
		"a step begins": {begun, map[story.Reader]string{story.Lines: "begins 1 Step 1 | [look]", story.Client: "- ", story.Caller: "- Step 1"}},
		"a step is done": {append(begun[:2:2], event.StepCompleted{Index: "1", Attempt: 1, Result: "text", MS: 1200}), map[story.Reader]string{
			story.Lines: "done 1 Step 1 | 1.2s | 1 line", story.Client: "- ", story.Caller: "done 1 line",
		}},
		"a step fails": {failed, map[story.Reader]string{
			story.Lines: "failed 1 Step 1 | 1.5s | first\nsecond", story.Record: "failed step 1 failed: first", story.Client: "- ", story.Caller: "failed step 1 failed: first",
		}},
		"a step is in doubt": {append(begun[:2:2], event.StepInDoubt{Index: "1", Attempt: 1, Reason: "lost"}), map[story.Reader]string{
			story.Lines: "doubt 1 Step 1  in doubt: lost", story.Live: "doubt step 1 is in doubt: lost", story.Replay: "doubt step 1 is in doubt: lost",
			story.Record: "doubt step 1 is in doubt: lost", story.Caller: "doubt step 1 is in doubt: lost",
		}},
		"a failed step is tried again": {append(failed[:3:3], event.FailureResolved{Step: "1", Decision: event.FailureRetry, By: "user"}), map[story.Reader]string{
			story.Lines: "  decision step 1: to be tried again, by you", story.Live: "failed step 1 failed: first; decision step 1 is tried again",
			story.Replay: "failed step 1 failed: first; decision step 1 is tried again", story.Record: "decision step 1 is tried again, by you",
		}},
		"a gate opens": {asked, map[story.Reader]string{
			story.Lines: "asks asked about look in step 1: it has effects", story.Replay: "asks asked about look in step 1: it has effects", story.Asked: "asks asked about look in step 1: it has effects",
		}},
		"a call that changes nothing asks nobody": {append(planned[:1:1], event.GateRequested{Gate: "1.1.1", Step: "1", Tool: "look", Nothing: true}), nil},
		"a gate is answered": {append(asked[:2:2], event.GateResolved{Gate: "1.1.1", Decision: event.Deny, By: "user"}), map[story.Reader]string{
			story.Lines: "  declined declined by you", story.Asked: "  declined declined by you",
			story.Live: "  declined declined look in step 1", story.Replay: "  declined declined look in step 1", story.Record: "  declined declined look in step 1",
		}},
		"a phase begins": {[]event.Data{event.PhaseStarted{Phase: 1, Label: "analysis"}}, map[story.Reader]string{
			story.Lines: "begins analysis", story.Client: "begins analysis",
		}},
		"a phase fails": {[]event.Data{event.PhaseFailed{Phase: 1, Label: "analysis", Reason: "no reply"}}, map[story.Reader]string{
			story.Lines: "trouble analysis failed: no reply", story.Record: "trouble planning failed: no reply", story.Live: "- ", story.Replay: "- ",
		}},
		"a new plan is refused": {append(failed[:3:3], event.ReplanStarted{Attempt: 1, Step: "1"}, event.ReplanRefused{Attempt: 1, Reason: "it is the same"}), map[story.Reader]string{
			story.Lines: "trouble replan 1 refused: it is the same", story.Live: "trouble The new plan was refused: it is the same",
			story.Replay: "trouble The new plan was refused: it is the same", story.Record: "trouble the new plan was refused: it is the same",
		}},
		"a budget is nearly used up": {[]event.Data{event.BudgetWarned{Guard: "tokens", Used: 8, Limit: 10}}, map[story.Reader]string{
			story.Lines: "warn tokens: 8 of 10 used", story.Live: "warn tokens: 8 of 10 used", story.Replay: "warn tokens: 8 of 10 used",
		}},
		"a guard ends the run": {[]event.Data{event.GuardBlocked{Guard: "steps", Reason: "12 steps"}}, map[story.Reader]string{
			story.Lines: "fatal 12 steps", story.Live: "fatal 12 steps", story.Replay: "fatal 12 steps", story.Record: "fatal stopped: 12 steps",
		}},
		"a remark": {append(planned[:1:1], event.RunSteered{Text: "hurry"}), map[story.Reader]string{
			story.Lines: "started you: hurry", story.Live: "started you said: hurry", story.Replay: "started you said: hurry", story.Record: "started you said: hurry",
		}},
		"a note": {[]event.Data{event.Note{Level: "warn", Text: "careful"}}, map[story.Reader]string{
			story.Lines: "warn careful", story.Live: "warn careful", story.Replay: "warn careful", story.Record: "warn careful", story.Caller: "warn careful",
		}},
		"acceptance holds": {append(planned[:1:1], event.CheckCompleted{Check: 1, Title: "green", State: plan.StateVerified}), map[story.Reader]string{
			story.Lines: "done verified: green", story.Live: "done verified: green", story.Replay: "done verified: green",
		}},
		"a refuted acceptance is the reason of what follows": {append(planned[:1:1], event.CheckCompleted{Check: 1, Title: "green", State: plan.StateRefuted}), map[story.Reader]string{
			story.Lines: "failed refuted: green",
		}},
		"a check of a step stands below it": {append(begun[:2:2], event.CheckCompleted{Index: "1", Attempt: 1, Check: 1, Title: "green", State: plan.StateVerified}), map[story.Reader]string{
			story.Lines: "  done verified: green",
		}},
		"a run resumes": {append(begun[:2:2], event.StepCompleted{Index: "1", Attempt: 1}, event.RunResumed{Model: "m"}), map[story.Reader]string{
			story.Lines: "started resumed: do it; - run r, model m, 0 tools, in /w;   - 1 of 2 steps done",
			story.Live:  "started resumed: 1 of 2 steps done", story.Replay: "started resumed: 1 of 2 steps done", story.Record: "- resumed",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, to := range []story.Reader{story.Lines, story.Live, story.Replay, story.Record, story.Client, story.Caller, story.Asked} {
				got := strings.Join(lines(told(t, to, c.data...), to&(story.Lines|story.Asked) != 0), "; ")
				if got != c.want[to] {
					t.Errorf("reader %b is told %q, want %q", to, got, c.want[to])
				}
			}
		})
	}
}

func TestProgressNamesWhatTheRunDoes(t *testing.T) {
	each := step("1")
	each.ForEach = &plan.ForEach{Items: []any{"a", "b"}, As: "item", Max: 50}
	item := func(index string) event.Data {
		return event.StepStarted{Index: index, Parent: "1", Attempt: 1, Title: "Step 1: a", Executor: plan.ExecutorTool, Tool: "look"}
	}
	expanded := []event.Data{planOf(each), event.StepExpanded{Index: "1", Attempt: 1, Title: "Step 1", Items: []any{"a", "b"}}}
	for want, data := range map[string][]event.Data{
		"planning: analysis":     {event.PhaseStarted{Phase: 1, Label: "analysis"}},
		"planned: Plan":          {planOf(step("1"))},
		"planned again: too old": {planOf(step("1")), begins("1"), fails("1", "too old"), event.PlanDiff{Revision: 2, Reason: "too old", Plan: plan.Plan{Title: "Plan", Steps: []plan.Step{step("2")}}}},
		"Step 1":                 {planOf(step("1")), begins("1")},
		"Step 1: 2 items":        expanded,
		"Step 1: 1 of 2 items":   append(expanded[:2:2], item("1.1"), event.StepCompleted{Index: "1.1", Attempt: 1}),
		"":                       append(expanded[:2:2], item("1.1")),
	} {
		got := ""
		for _, e := range told(t, story.Client, data...) {
			got += e.Brief
		}
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestWhyTheRunEndedIsToldOnce(t *testing.T) {
	ended := func(why untrusted.Text) event.Data {
		return event.RunCompleted{Result: event.Result{Status: event.StatusFailed, Reason: event.ReasonGaveUp, Error: why}}
	}
	for name, c := range map[string]struct {
		to     story.Reader
		before []event.Data
		error  untrusted.Text
		told   bool // before the outcome
	}{
		"nothing said it":                   {story.Lines, nil, "no way", false},
		"a guard said it":                   {story.Lines, []event.Data{event.GuardBlocked{Reason: "no way"}}, "no way", true},
		"a guard said it to the chat":       {story.Live, []event.Data{event.GuardBlocked{Reason: "no way"}}, "no way", true},
		"a stop says it to lines":           {story.Lines, []event.Data{event.RunPaused{Reason: "no way"}}, "no way", true},
		"a stop is not told to the chat":    {story.Live, []event.Data{event.RunPaused{Reason: "no way"}}, "no way", false},
		"the failed step said it":           {story.Lines, []event.Data{planOf(step("1")), begins("1"), fails("1", "no way")}, "gave up: no way", true},
		"the chat has not told the failure": {story.Live, []event.Data{planOf(step("1")), begins("1"), fails("1", "no way")}, "gave up: no way", false},
		"a phase said it":                   {story.Live, []event.Data{event.PhaseFailed{Phase: 1, Reason: "no way"}}, "no way", true},
	} {
		t.Run(name, func(t *testing.T) {
			entries := told(t, c.to, append(c.before, ended(c.error))...)
			last := entries[len(entries)-1]
			if last.Kind != story.Outcome || (last.Ending.Result.Error == "") != c.told {
				t.Errorf("the outcome has the error %q", last.Ending.Result.Error)
			}
		})
	}
}

func TestLineLogLeavesOutOfTheAnswerWhatItPrinted(t *testing.T) {
	const diff = "--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-a\n+b\n"
	gate := event.GateRequested{Gate: "1.1.1", Step: "1", Tool: "look", Diff: diff}
	for name, c := range map[string]struct {
		before []event.Data
		answer string
		want   string
	}{
		"a diff that a gate showed": {[]event.Data{planOf(step("1")), gate}, "Changed:\n\n```diff\n" + diff + "```\n", "Changed:\n\n"},
		"the failure of a step":     {[]event.Data{planOf(step("1")), begins("1"), fails("1", "no way")}, "`look` failed: no way.", ""},
		"what is new":               {nil, "Hello", "Hello"},
	} {
		t.Run(name, func(t *testing.T) {
			end := event.RunCompleted{Result: event.Result{Status: event.StatusCompleted, Reason: event.ReasonGoalMet, Answer: untrusted.Text(c.answer)}}
			for _, to := range []story.Reader{story.Lines, story.Live} {
				want := c.want
				if to == story.Live {
					want = c.answer
				}
				if e := told(t, to, append(c.before, end)...)[0]; e.Kind != story.Answer || string(e.Text) != want {
					t.Errorf("got %q, want %q", e.Text, want)
				}
			}
		})
	}
}

func TestToolsAreNamedOnceASession(t *testing.T) {
	once := story.NewOnce()
	asks := event.PhaseStarted{Phase: 1, Label: "analysis", Request: prompt.Request{Untyped: []string{"big"}}}
	cut := event.ModelRequested{Purpose: prompt.PurposeChat, Request: prompt.Request{Unoffered: &prompt.Unoffered{Tools: 3, Of: 9, Servers: []string{"s"}, Window: 8192}}}
	for i, want := range []int{2, 0} {
		s := story.New(story.Live, once)
		s.Follow(agent.NewRun(nil), false)
		n := 0
		for _, d := range []event.Data{asks, cut} {
			for _, e := range s.Tell(d, s.Before(d)) {
				if e.Level == story.Info {
					n++
				}
			}
		}
		if n != want {
			t.Errorf("run %d names %d, want %d", i+1, n, want)
		}
	}
}

func TestMomentsOfARunAreNamed(t *testing.T) {
	for _, c := range []struct {
		data event.Data
		want string
		ok   bool
	}{
		{event.PhaseStarted{Label: "analysis"}, "analysis", true},
		{event.PlanDiff{Revision: 2}, "revision 2", true},
		{fails("1", "no way"), "step 1 failed", true},
		{event.StepFailed{Index: "1", Outdated: "it has changed"}, "step 1 is held", true},
		{event.GateRequested{Step: "1", Nothing: true}, "step 1 would change nothing", true},
		{event.StepSkipped{Index: "1"}, "", true},
		{event.StepOutput{Index: "1"}, "", false},
	} {
		if got, ok := story.Moment(c.data); got != c.want || ok != c.ok {
			t.Errorf("%s: got %q, %v, want %q, %v", c.data.Kind(), got, ok, c.want, c.ok)
		}
	}
}
