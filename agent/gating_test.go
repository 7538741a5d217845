package agent_test

import (
	"encoding/json"
	"flag"
	"maps"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/rule"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// TestEffectsNeedGateOrRule plays random plans, chats and sub-agents over random
// catalogs and rules. The user allows, denies and edits, and the program ends and
// resumes. A tool that is not marked read-only is called only in three cases. Its
// gate showed exactly these arguments, and they were allowed. Or a rule that matches
// the call allows it. Or exactly this call was approved in the review of its plan.
func TestEffectsNeedGateOrRule(t *testing.T) {
	passed := map[string]int{}
	play := func(t *rapid.T) {
		w, start := randomWorld(t, executors)
		start.Catalog = randomCatalog(t)
		start.Rules = randomRules(t)
		if rapid.IntRange(0, 3).Draw(t, "chat") == 0 {
			chats(t, w, &start)
		}
		x := &watcher{t: t, w: w, passed: passed}
		x.begin(start.Rules)
		w.resolve = x.resolve
		w.apply(start)
		w.playOrStop(t)
		if rapid.Bool().Draw(t, "killed") {
			w.check = func(event.Event) {}
			w.kill(rapid.IntRange(1, len(w.events)).Draw(t, "kept"))
			if r := w.run.Result; r != nil && r.Status == event.StatusCompleted {
				return
			}
			again := resumed(start)
			again.Catalog, again.Rules = randomCatalog(t), randomRules(t)
			x.begin(again.Rules)
			w.begun, w.pending = map[string]bool{}, nil
			w.apply(again)
			w.playOrStop(t)
		}
	}
	// With -short a round has few plays and may meet no rule at all; then it
	// plays another round.
	for range 20 {
		if rapid.Check(t, play); passed["gate"] > 0 && passed["rule"] > 0 {
			break
		}
		nextSeed(t)
	}
	t.Logf("calls with effects: %v", passed)
	for _, way := range []string{"gate", "rule"} { // the others are rare
		if passed[way] == 0 {
			t.Errorf("no call with effects passed by a %s", way)
		}
	}
}

// nextSeed moves to the next seed if one is fixed, so that the next round does
// not repeat this one. The test's cleanup restores the fixed seed.
func nextSeed(t *testing.T) {
	const name = "rapid.seed"
	fixed := flag.Lookup(name).Value.String()
	seed, err := strconv.ParseUint(fixed, 10, 64)
	if err != nil || seed == 0 {
		return
	}
	t.Cleanup(func() { _ = flag.Set(name, fixed) })
	if err := flag.Set(name, strconv.FormatUint(seed+1, 10)); err != nil {
		t.Fatal(err)
	}
}

// randomCatalog draws tools with random annotations.
func randomCatalog(t *rapid.T) plan.Catalog {
	out := plan.Catalog{}
	for _, name := range []string{"look", "change", "fill"} {
		tool := plan.Tool{Name: name, Server: rapid.SampledFrom([]string{"w", "workspace"}).Draw(t, "server"), InputSchema: json.RawMessage(`{"type":"object","properties":{"at":{}}}`)}
		if name == "fill" {
			tool.InputSchema = json.RawMessage(`{"type":"object","properties":{"at":{"type":"string"}},"required":["at"]}`)
		}
		tool.ReadOnly, tool.Destructive = rapid.Bool().Draw(t, "reads"), rapid.Bool().Draw(t, "destroys")
		tool.Annotated, tool.Trusted = rapid.Bool().Draw(t, "annotated"), rapid.Bool().Draw(t, "trusted")
		out = append(out, tool)
	}
	return out
}

// randomRules draws rules of the user before the built-in ones.
func randomRules(t *rapid.T) []rule.Rule {
	var out []rule.Rule
	for range rapid.IntRange(0, 3).Draw(t, "rules") {
		rule := rule.Rule{
			Tool:    rapid.SampledFrom([]string{"*", "change", "look", "fill", "w:*", "workspace:*", "workspace:change", "c*"}).Draw(t, "rule"),
			Verdict: rapid.SampledFrom([]rule.Verdict{rule.VerdictRun, rule.VerdictAsk, rule.VerdictAsk, rule.VerdictBlock}).Draw(t, "verdict"),
			Source:  rapid.SampledFrom([]string{rule.SourceFlag, rule.SourceConfiguration}).Draw(t, "source"),
		}
		if rapid.Bool().Draw(t, "conditions") {
			rule.Args = map[string]string{"at": rapid.SampledFrom([]string{"*", "1", "[12]", "a", "x", "edited", "**"}).Draw(t, "at")}
		}
		out = append(out, rule)
	}
	return append(out, policy.BuiltIn(policy.Trust{Workspace: rapid.Bool().Draw(t, "trusts"), Tests: rapid.Bool().Draw(t, "tests")})...)
}

// chats makes the model call tools in the chat instead of planning.
func chats(t *rapid.T, w *world, start *event.RunStarted) {
	start.Plan, start.Model, start.SkipSynthesis, start.Prompting.ModelTools = nil, "m", false, true
	start.Prompting.SkipPlan = true
	calls := w.calls
	w.calls = func(r prompt.Request) []reply.ToolUse {
		if r.Purpose != prompt.PurposeChat {
			return calls(r)
		}
		r.Purpose = prompt.PurposeAgent
		return calls(r)
	}
}

// watcher checks that each call is allowed.
type watcher struct {
	resumed bool // the catalog may have changed since a gate opened
	t       *rapid.T
	w       *world
	rules   []rule.Rule
	open    map[string]event.GateRequested
	allowed map[string]event.GateRequested // step → call allowed at its latest gate
	shown   map[string]event.Approval      // step → call approved in the review of its plan
	edited  map[string]bool                // steps whose call the user edited
	drafted map[string]int                 // step → attempt that started before its plan was whole
	granted []rule.Rule                    // for longer than once
	passed  map[string]int                 // calls by what allowed them, over all runs
}

// begin resets the watcher to the stored events.
func (x *watcher) begin(rules []rule.Rule) {
	x.open, x.allowed, x.edited, x.granted = map[string]event.GateRequested{}, map[string]event.GateRequested{}, map[string]bool{}, nil
	x.shown, x.drafted = map[string]event.Approval{}, map[string]int{}
	for _, e := range x.w.events {
		x.see(e.Data)
	}
	x.rules = rules
	x.w.check = func(e event.Event) { x.see(e.Data) }
	x.w.watch = func(_ []event.Data, pending []agent.Effect) {
		for _, e := range pending {
			if c, ok := e.(agent.CallTool); ok && !c.Tool.ReadOnly {
				x.holds(c)
			}
		}
	}
}

// resolve answers a gate in a random way.
func (x *watcher) resolve(g event.GateRequested) event.GateResolved {
	d := event.GateResolved{Gate: g.Gate, Decision: x.w.gate(g), Scope: x.w.scope, By: "test"}
	switch rapid.IntRange(0, 5).Draw(x.t, "answer") {
	case 0:
		d.Decision, d.Args = event.Edit, map[string]any{"at": rapid.SampledFrom([]string{"edited", "a", "1"}).Draw(x.t, "to")}
	case 1, 2:
		if d.Decision == event.Allow {
			d.Scope = event.ScopeRun
		}
	case 3:
		if at, ok := g.Args["at"].(string); ok && d.Decision == event.Allow {
			d.Scope, d.Rule = event.ScopeAlways, &rule.Rule{Tool: g.QualifiedTool(), Args: map[string]string{"at": rule.Literal(at)}, Verdict: rule.VerdictRun}
		}
	}
	return d
}

func (x *watcher) see(d event.Data) {
	switch d := d.(type) {
	case event.PlanDiff:
		clear(x.allowed)
		clear(x.shown)
		clear(x.edited)
	case event.PlanReviewed:
		for _, a := range d.Approved {
			x.shown[a.Step] = a
		}
	case event.StepInDoubt:
		delete(x.shown, d.Index)
	case event.StepStarted:
		if d.Draft {
			x.drafted[d.Index] = d.Attempt
		}
	case event.StepFailed:
		if x.drafted[d.Index] == d.Attempt {
			return // a draft uses up no answer, and may end after one to the step that replaced it
		}
		delete(x.allowed, d.Index)
		delete(x.shown, d.Index)
	case event.GateRequested:
		x.open[d.Gate] = d
		delete(x.allowed, d.Step)
	case event.RunResumed:
		x.resumed = true
	case event.FailureResolved:
		if d.Args != nil {
			delete(x.edited, d.Step) // the user rewrote the call, and the user's grants apply to it
		}
	case event.GateResolved:
		g := x.open[d.Gate]
		delete(x.open, d.Gate)
		delete(x.allowed, g.Step)
		switch d.Decision {
		case event.Edit:
			x.edited[g.Step] = true
		case event.Allow:
			x.allowed[g.Step] = g
			switch d.Scope {
			case event.ScopeRun:
				x.granted = append(x.granted, rule.Rule{Tool: g.QualifiedTool()})
			case event.ScopeAlways:
				x.granted = append(x.granted, rule.Rule{Tool: g.QualifiedTool(), Args: d.Rule.Args})
			}
		}
	}
}

// holds fails the test unless something allows the call.
func (x *watcher) holds(c agent.CallTool) {
	g, yes := x.allowed[c.Index]
	if yes && x.resumed && g.QualifiedTool() != c.Tool.QualifiedName() {
		yes = false // since the resume the name means another tool, which needs a rule
	}
	if yes {
		if !plan.EqualValues(g.Args, c.Args) || g.QualifiedTool() != c.Tool.QualifiedName() || !maps.Equal(g.Hashes, c.Hashes) {
			x.t.Fatalf("step %s was allowed %s %v but calls %s %v:\n%s", c.Index, g.QualifiedTool(), g.Args, c.Tool.QualifiedName(), c.Args, eventLines(x.w.events))
		}
		if x.passed["gate"]++; x.edited[c.Index] {
			x.passed["edited"]++
		}
		return
	}
	if x.edited[c.Index] {
		x.t.Fatalf("step %s ran after an edit without a new gate:\n%s", c.Index, eventLines(x.w.events))
	}
	decides := rule.Decide(x.rules, c.Tool, c.Args)
	switch {
	case decides.Verdict == rule.VerdictAsk && x.shown[c.Index].Tool == c.Tool.QualifiedName() && plan.EqualValues(x.shown[c.Index].Args, c.Args):
		x.passed["review"]++
		return
	case decides.Verdict == rule.VerdictRun:
		x.passed["rule"]++
		return
	case decides.Verdict == rule.VerdictAsk && slices.ContainsFunc(x.granted, func(r rule.Rule) bool {
		r.Verdict, r.Source = rule.VerdictRun, rule.SourceUser
		return rule.Decide([]rule.Rule{r}, c.Tool, c.Args).Verdict == rule.VerdictRun
	}):
		x.passed["grant"]++
		return
	}
	x.t.Fatalf("step %s calls %s %v without a gate; the rules say %s (%+v):\n%s",
		c.Index, c.Tool.QualifiedName(), c.Args, decides.Verdict, decides, eventLines(x.w.events))
}

func TestGatesOpenByTheLongestRemainingPath(t *testing.T) {
	w := newWorld(t)
	start := given(t, `{"title":"Four equal steps","steps":[
		{"index":"1","title":"A","tool":"change","args":{"at":"a"}},
		{"index":"2","title":"B","tool":"change","args":{"at":"b"}},
		{"index":"3","title":"C","tool":"change","args":{"at":"c"}},
		{"index":"4","title":"D","tool":"change","args":{"at":"d"}},
		{"index":"5","title":"After C","tool":"change","args":{"at":"e"},"depends_on":["3"]}]}`)
	start.Limits.MaxConcurrency = 2
	w.choose = func(n int) int { // gates are answered at once, before anything returns
		if open := len(w.run.Gates); open > 0 {
			return len(w.pending)
		}
		return 0
	}
	w.play(start)
	if starts := w.starts(); starts[0] != "3" && starts[1] != "3" {
		t.Errorf("the steps start in the order %v, and the third has the longest path", starts)
	}
}
