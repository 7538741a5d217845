package agent_test

import (
	"slices"
	"strings"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/rule"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// reading returns the start of a run with these steps after one that reads a file into s.
func reading(t *testing.T, steps string, allow ...string) event.RunStarted {
	t.Helper()
	start := after(t, "fs.read", "fs.read", `{}`, allow...)
	start.Plan = given(t, `{"title":"T","steps":[{"index":"1","title":"Read","tool":"fs.read","args":{},"result_variable":"s"},`+steps+`]}`).Plan
	return start
}

func TestTextThatDecidesWhetherACallIsMadeAsks(t *testing.T) {
	const search = `"tool":"web:fetch","args":{"url":"http://x"}`
	for name, c := range map[string]struct {
		steps string
		allow []string
		asked string // steps whose gates open
	}{
		"condition":                              {`{"index":"2","title":"A",` + search + `,"when":"s[0:1] == 'a'"}`, nil, "2"},
		"condition on nothing read":              {`{"index":"2","title":"A",` + search + `,"depends_on":["1"]}`, nil, ""},
		"condition, reading of the workspace":    {`{"index":"2","title":"A","tool":"fs.read","args":{"path":"x"},"when":"s[0:1] == 'a'"}`, nil, ""},
		"condition, trusted closed server":       {`{"index":"2","title":"A","tool":"home:find","args":{"q":"x"},"when":"s[0:1] == 'a'"}`, nil, ""},
		"condition, effect":                      {`{"index":"2","title":"A","tool":"proc.run","args":{"argv":["ls"]},"when":"s[0:1] == 'a'"}`, []string{"proc.run"}, "2"},
		"condition, effect that undo reverts":    {`{"index":"2","title":"A","tool":"fs.write","args":{"path":"o"},"when":"s[0:1] == 'a'"}`, []string{"fs.write"}, ""},
		"condition, rule with untrusted=yes":     {`{"index":"2","title":"A",` + search + `,"when":"s[0:1] == 'a'"}`, []string{"web:fetch untrusted=yes"}, ""},
		"condition, rule with a pattern":         {`{"index":"2","title":"A",` + search + `,"when":"s[0:1] == 'a'"}`, []string{"web:fetch url=http://x"}, "2"},
		"condition on its own server":            {`{"index":"2","title":"L","tool":"web:list","args":{},"result_variable":"l"},{"index":"3","title":"A",` + search + `,"when":"l[0:1] == 'a'"}`, nil, ""},
		"condition of items":                     {`{"index":"2","title":"A","tool":"web:fetch","for_each":["a","b","c","d"],"when":"s[0:1] < item","args":{"url":"http://${item}"}}`, nil, "2.2"},
		"condition of a step with items":         {`{"index":"2","title":"A","tool":"web:fetch","for_each":["a","b","c","d"],"when":"s[0:1] == 'a'","args":{"url":"http://${item}"}}`, nil, "2.1"},
		"length of a list":                       {`{"index":"2","title":"A","tool":"web:fetch","for_each":"${s.list}","args":{"url":"http://${index}"}}`, nil, "2.1"},
		"what it waits for":                      {`{"index":"2","title":"A",` + search + `,"until":{"expect":"s[0:1] == 'a'","every":"1s","for":"2s"}}`, nil, "2"},
		"what it waits for is its own result":    {`{"index":"2","title":"A",` + search + `,"until":{"expect":"result != ''","every":"1s","for":"2s"}}`, nil, ""},
		"check of a step that may be skipped":    {`{"index":"2","title":"C","tool":"fs.read","args":{},"check":[{"expect":"s[0:1] == 'a'"}],"on_failure":"skip"},{"index":"3","title":"A",` + search + `,"depends_on":["2"]}`, nil, "3"},
		"step before it that may be skipped":     {`{"index":"2","title":"C","tool":"fs.read","args":{"path":"${s}"},"on_failure":"skip"},{"index":"3","title":"B","tool":"fs.read","args":{},"depends_on":["2"]},{"index":"4","title":"A",` + search + `,"depends_on":["3"]}`, nil, "4"},
		"step before it whose failure ends all":  {`{"index":"2","title":"C","tool":"fs.read","args":{"path":"${s}"}},{"index":"3","title":"A",` + search + `,"depends_on":["2"]}`, nil, ""},
		"items whose text is carried ask singly": {`{"index":"2","title":"A","tool":"web:fetch","for_each":"${s.list}","args":{"url":"${item}"}}`, nil, "2.1 2.2 2.3"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			mirror(w)
			w.tool = func(call agent.CallTool) event.Data {
				result := any("abc")
				if call.Index == "1" && strings.Contains(c.steps, "s.list") {
					result = map[string]any{"list": []any{"x", "y", "z"}}
				}
				return event.StepCompleted{Index: call.Index, Attempt: call.Attempt, Result: result}
			}
			if result := w.play(reading(t, c.steps, c.allow...)); result.Reason != event.ReasonGoalMet {
				t.Fatalf("ended %s: %s", result.Reason, result.Error)
			}
			var asked []string
			for _, g := range gates(w) {
				asked = append(asked, g.Step)
			}
			if got := strings.Join(asked, " "); got != c.asked {
				t.Errorf("asked about %q, want %q", got, c.asked)
			}
		})
	}
}

func TestAnswerAboutChosenItemsHoldsForAll(t *testing.T) {
	for name, c := range map[string]struct {
		decision event.Decision
		called   string
	}{
		"allowed": {event.Allow, "1 2.2 2.3 2.4"},
		"denied":  {event.Deny, "1"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			mirror(w)
			w.tool = func(call agent.CallTool) event.Data {
				return event.StepCompleted{Index: call.Index, Attempt: call.Attempt, Result: "abc"}
			}
			w.gate = func(event.GateRequested) event.Decision { return c.decision }
			w.play(reading(t, `{"index":"2","title":"A","tool":"web:fetch","for_each":["a","b","c","d"],"at_once":3,"when":"s[0:1] < item","args":{"url":"http://${item}"}}`))
			asked := gates(w)
			if len(asked) != 1 || asked[0].Items != 4 || !strings.Contains(string(asked[0].Rule.Why), "holds for all of them") {
				t.Fatalf("got the gates %+v", asked)
			}
			called := w.starts()
			slices.Sort(called)
			if got := strings.Join(called, " "); got != c.called {
				t.Errorf("started %q, want %q", got, c.called)
			}
		})
	}
}

func TestChecksSendNoTextOfTheirStep(t *testing.T) {
	for name, step := range map[string]string{
		"result":               `{"index":"2","title":"A","tool":"fs.read","args":{},"check":[{"tool":"web:fetch","args":{"url":"http://x/${result}"},"expect":"true"}]}`,
		"own variable":         `{"index":"2","title":"A","tool":"fs.read","args":{},"result_variable":"own","check":[{"tool":"web:fetch","args":{"url":"http://x/${own}"},"expect":"true"}]}`,
		"item":                 `{"index":"2","title":"A","tool":"fs.read","args":{},"for_each":"${s.list}","check":[{"tool":"web:fetch","args":{"url":"http://x/${item}"},"expect":"true"}]}`,
		"what its items count": `{"index":"2","title":"A","tool":"fs.read","args":{},"for_each":"${s.list}","check":[{"tool":"web:fetch","args":{"url":"http://x"},"expect":"true"}]}`,
		"condition":            `{"index":"2","title":"A","tool":"fs.read","args":{},"when":"len(s.list) == 1","check":[{"tool":"web:fetch","args":{"url":"http://x"},"expect":"true"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.tool = func(call agent.CallTool) event.Data {
				return event.StepCompleted{Index: call.Index, Attempt: call.Attempt, Result: map[string]any{"list": []any{"secret"}}}
			}
			w.play(reading(t, step))
			checked := all[event.CheckCompleted](w)
			if len(checked) != 1 || checked[0].State != plan.StateUnchecked || !strings.Contains(string(checked[0].Reason), "would need a gate") {
				t.Errorf("got the checks %+v", checked)
			}
		})
	}
}

// TestWhatWasReadBeforeARunAsks: the conversation, the author of a given plan, the looks
// of the planner, and the author of the step of a sub-agent.
func TestWhatWasReadBeforeARunAsks(t *testing.T) {
	read := []rule.Provenance{{Run: "r-1", Step: "chat.1", Tool: "fs.read", Written: true}}
	const sends = `{"title":"T","steps":[{"index":"1","title":"Send","tool":"web:fetch","args":{"url":"http://x"}}]}`
	base := func() event.RunStarted {
		start := started(event.DefaultLimits())
		start.Catalog, start.Rules = twoServers, policy.BuiltIn(policy.Trust{})
		return start
	}
	byModel := func(change func(*event.RunStarted)) func(*testing.T) event.RunStarted {
		return func(*testing.T) event.RunStarted { start := base(); change(&start); return start }
	}
	byPerson := func(change func(*event.RunStarted)) func(*testing.T) event.RunStarted {
		return func(t *testing.T) event.RunStarted {
			start := base()
			start.Plan = given(t, sends).Plan
			change(&start)
			return start
		}
	}
	for name, c := range map[string]struct {
		start func(*testing.T) event.RunStarted
		asks  bool
	}{
		"nothing":      {byModel(func(*event.RunStarted) {}), false},
		"conversation": {byModel(func(s *event.RunStarted) { s.Read = read }), true},
		"conversation with the same server": {byModel(func(s *event.RunStarted) {
			s.Read = []rule.Provenance{{Run: "r-1", Step: "1", Tool: "web:list", Written: true}}
		}), false},
		"conversation of an older replan":        {byModel(func(s *event.RunStarted) { s.Read = []rule.Provenance{{Run: "r-1", Written: true}} }), true},
		"mention":                                {byModel(func(s *event.RunStarted) { s.Prompting.Mentions = []prompt.Mention{{Name: "s.txt", Text: "x"}} }), true},
		"plan of a person":                       {byPerson(func(*event.RunStarted) {}), false},
		"plan of a person in that conversation":  {byPerson(func(s *event.RunStarted) { s.Read = read }), false},
		"plan whose author had read a result":    {byPerson(func(s *event.RunStarted) { s.Plan.Provenance = read }), true},
		"file behind many results of the server": {byModel(func(s *event.RunStarted) { s.Read = behind(read) }), true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			mirror(w)
			w.reply = script{prompt.PurposePlan: {sends}}.reply
			if result := w.play(c.start(t)); result.Reason != event.ReasonGoalMet {
				t.Fatalf("ended %s: %s", result.Reason, result.Error)
			}
			if asked := gates(w); (len(asked) > 0) != c.asks || c.asks && !asked[0].Provenance[0].Written {
				t.Errorf("got the gates %+v", asked)
			}
		})
	}
}

// behind returns a text behind many results of another server, as they are kept.
func behind(read []rule.Provenance) []rule.Provenance {
	for range 20 {
		read = append(read, rule.Provenance{Run: "r-1", Step: strings.Repeat("1", len(read)), Tool: "web:list", Written: true})
	}
	return plan.Newest(read)
}

// TestManyCallsDoNotHideWhatWasReadBefore: the text of a file stays known behind the
// results of the server that it could be sent to.
func TestManyCallsDoNotHideWhatWasReadBefore(t *testing.T) {
	if kept := behind([]rule.Provenance{{Run: "r-1", Step: "chat.1", Tool: "fs.read", Written: true}}); len(kept) > 9 || kept[0].Tool != "fs.read" {
		t.Errorf("kept %+v", kept)
	}
}

func TestWhatThePlannerLookedAtAsksWhereNothingUndoesTheCall(t *testing.T) {
	for name, c := range map[string]struct {
		step string
		asks bool
	}{
		"other server":       {`"tool":"web:fetch","args":{"url":"http://x"}`, true},
		"command":            {`"tool":"proc.run","args":{"argv":["make"]}`, true},
		"change of a file":   {`"tool":"fs.write","args":{"path":"o","text":"x"}`, false},
		"call without words": {`"tool":"web:fetch","args":{}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			w, start := looking(t, changesBoth)
			w.reply = script{prompt.PurposePlan: {`{"title":"T","steps":[{"index":"3","title":"Do it",` + c.step + `}]}`}, prompt.PurposeSynthesis: {"done"}}.reply
			start.Catalog, start.Rules = append(slices.Clone(twoServers[1:]), readFile), nil
			for _, name := range []string{"proc.run", "fs.write"} {
				start.Rules = append(start.Rules, rule.Rule{Tool: name, Verdict: rule.VerdictRun, Source: rule.SourceFlag})
			}
			start.Rules = append(start.Rules, policy.BuiltIn(policy.Trust{})...)
			w.play(start)
			if asked := gates(w); (len(asked) > 0) != c.asks || !slices.Contains(w.starts(), "1") {
				t.Errorf("got the gates %+v after the steps %v", asked, w.starts())
			}
		})
	}
}
