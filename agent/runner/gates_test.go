package runner_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/rule"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/planning/plan"
)

// saving makes a session save rules to saved, or fail with err.
func saving(saved *[]event.Always, err error) func(*stage) {
	return func(s *stage) {
		s.config = func(c *runner.Config) {
			c.Rules = []rule.Rule{
				{Tool: "x", Verdict: rule.VerdictRun, Source: rule.SourceFlag},
				{Tool: "y", Verdict: rule.VerdictBlock, Source: rule.SourceConfiguration},
				{Tool: "z", Verdict: rule.VerdictAsk, Source: rule.SourceConfiguration},
			}
			c.Remember = func(a event.Always) error {
				if err == nil {
					*saved = append(*saved, a)
				}
				return err
			}
		}
	}
}

// patching returns a plan with two changes of the same file, one after the other.
func patching() session.Execute {
	step := func(index string, after ...string) plan.Step {
		return plan.Step{Index: index, Title: "Change", Executor: plan.ExecutorTool, Tool: "change", Args: map[string]any{"path": "a"}, DependsOn: after}
	}
	return session.Execute{Plan: plan.Plan{Title: "Patch", Steps: []plan.Step{step("1"), step("2", "1")}}}
}

// answer answers the gate that was just read.
func (s *stage) answer(g event.GateRequested, d event.Decision, scope event.Scope) {
	s.Send(session.Resolve{Run: s.seen[len(s.seen)-1].Run, Gate: g.Gate, Decision: d, Scope: scope})
}

func TestAlwaysSavesShownRule(t *testing.T) {
	var saved []event.Always
	s := open(t, policy.ApproveAsk, saving(&saved, nil))
	s.Send(patching())
	gate := until[event.GateRequested](t, s)
	if gate.Always == nil || gate.Always.Rule.String() != "w:change path=a" {
		t.Fatalf("the gate offers %+v (%s)", gate.Always, gate.NoAlways)
	}
	s.answer(gate, event.Allow, event.ScopeAlways)
	resolved := until[event.GateResolved](t, s)
	if resolved.Scope != event.ScopeAlways || resolved.Rule == nil || !resolved.Rule.Equal(gate.Always.Rule) {
		t.Errorf("resolved %+v", resolved)
	}
	if result := until[event.RunCompleted](t, s); result.Reason != event.ReasonGoalMet {
		t.Errorf("%s: %s", result.Reason, result.Error)
	}
	if len(saved) != 1 || saved[0].Text != gate.Always.Text {
		t.Errorf("saved %+v", saved)
	}
	until[event.ChatReply](t, s)
	s.Send(patching())
	rules := until[event.RunStarted](t, s).Rules
	var tools []string
	for _, r := range rules[:4] {
		tools = append(tools, r.Tool)
	}
	if got := strings.Join(tools, " "); got != "x w:change y z" {
		t.Errorf("the next run has the rules %s", got)
	}
	if result := until[event.RunCompleted](t, s); result.Reason != event.ReasonGoalMet {
		t.Errorf("the next run: %s: %s", result.Reason, result.Error)
	}
	gates := 0
	for _, e := range s.seen {
		if e.Data.Kind() == event.KindGateRequested {
			gates++
		}
	}
	if gates != 1 {
		t.Errorf("got %d gates, want 1", gates)
	}
}

func TestUnsavedRuleAllowsCallOnce(t *testing.T) {
	s := open(t, policy.ApproveAsk, saving(nil, errors.New("the disk is full")))
	s.Send(patching())
	gate := until[event.GateRequested](t, s)
	s.answer(gate, event.Allow, event.ScopeAlways)
	if note := until[event.Note](t, s); note.Level != "error" || !strings.Contains(string(note.Text), "the disk is full") {
		t.Errorf("got the note %+v", note)
	}
	if d := until[event.GateResolved](t, s); d.Scope != event.ScopeOnce || d.Rule != nil {
		t.Errorf("resolved %+v", d)
	}
	if second := until[event.GateRequested](t, s); second.Step != "2" {
		t.Errorf("got the gate %+v", second)
	}
}

func TestAlwaysIsRefusedWithoutShownRule(t *testing.T) {
	s := open(t, policy.ApproveAsk, nil) // without a store for rules
	s.Send(patching())
	gate := until[event.GateRequested](t, s)
	if gate.Always != nil || gate.NoAlways == "" {
		t.Fatalf("the gate offers %+v (%s)", gate.Always, gate.NoAlways)
	}
	run := s.seen[len(s.seen)-1].Run
	s.answer(gate, event.Allow, event.ScopeAlways)
	if note := until[event.Note](t, s); !strings.Contains(string(note.Text), "no rules are kept here") {
		t.Errorf("got the note %+v", note)
	}
	if slices.Contains(s.tools.called(), "change") {
		t.Error("the call was made")
	}
	s.Send(session.Resolve{Run: run, Gate: gate.Gate, Decision: event.Deny})
	until[event.RunCompleted](t, s)
}

func TestEditedCallIsValidatedAndPreviewed(t *testing.T) {
	s := open(t, policy.ApproveAsk, func(s *stage) {
		s.tools.offered = plan.Catalog{{
			Name: "change", Server: "w", Annotated: true, Previews: true,
			InputSchema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`),
		}}
	})
	s.Send(patching())
	gate := until[event.GateRequested](t, s)
	run := s.seen[len(s.seen)-1].Run
	s.Send(session.Edit{Run: run, Gate: gate.Gate, Args: map[string]any{"path": 7}})
	if note := until[event.Note](t, s); !strings.Contains(string(note.Text), "the call stays as it was") || !strings.Contains(string(note.Text), "path") {
		t.Errorf("got the note %+v", note)
	}
	s.Send(session.Edit{Run: run, Gate: gate.Gate, Args: map[string]any{"path": "b"}})
	if d := until[event.GateResolved](t, s); d.Decision != event.Edit || d.Args["path"] != "b" {
		t.Errorf("resolved %+v", d)
	}
	again := until[event.GateRequested](t, s)
	if again.Gate == gate.Gate || again.Args["path"] != "b" || again.Diff == "" || again.Hashes["f"] == "" {
		t.Errorf("got the gate %+v", again)
	}
	s.answer(again, event.Deny, event.ScopeOnce)
	if result := until[event.RunCompleted](t, s); result.Reason != event.ReasonDenied {
		t.Errorf("%s: %s", result.Reason, result.Error)
	}
}

func TestGrantForRunAnswersWaitingGates(t *testing.T) {
	step := func(index string, gate bool, to any) plan.Step {
		return plan.Step{Index: index, Title: "Change", Executor: plan.ExecutorTool, Tool: "change", Args: map[string]any{"path": to}, Gate: gate}
	}
	s := open(t, policy.ApproveAsk, nil)
	plan := plan.Plan{Title: "Patch", Steps: []plan.Step{
		step("1", false, "a"), step("2", false, "b"), step("3", true, "c"),
		{Index: "4", Title: "Look", Executor: plan.ExecutorTool, Tool: "look", Args: map[string]any{"q": "x"}, ResultVariable: "seen"},
		step("5", false, "${seen}"),
	}}
	s.Send(session.Execute{Plan: plan})
	gates := map[string]event.GateRequested{}
	for len(gates) < 4 {
		g := until[event.GateRequested](t, s)
		gates[g.Step] = g
	}
	s.answer(gates["1"], event.Allow, event.ScopeRun)
	if d := until[event.GateResolved](t, s); d.Gate != gates["1"].Gate || d.By != "user" {
		t.Errorf("resolved %+v", d)
	}
	if d := until[event.GateResolved](t, s); d.Gate != gates["2"].Gate || d.Decision != event.Allow || d.Scope != event.ScopeOnce || d.By != "your answer for this run" {
		t.Errorf("resolved %+v", d)
	}
	// Gates set by the plan and arguments with text from results stay open.
	s.answer(gates["3"], event.Allow, event.ScopeOnce)
	if d := until[event.GateResolved](t, s); d.Gate != gates["3"].Gate {
		t.Errorf("resolved %+v", d)
	}
	s.answer(gates["5"], event.Allow, event.ScopeOnce)
	if d := until[event.GateResolved](t, s); d.Gate != gates["5"].Gate {
		t.Errorf("resolved %+v", d)
	}
	if result := until[event.RunCompleted](t, s); result.Reason != event.ReasonGoalMet {
		t.Errorf("%s: %s", result.Reason, result.Error)
	}
}

func TestAllowedGateAcceptsTheChangedTool(t *testing.T) {
	for _, decision := range []event.Decision{event.Allow, event.Deny} {
		s := open(t, policy.ApproveAsk, func(s *stage) {
			s.tools.offered = plan.Catalog{{Name: "look", Server: "w", ReadOnly: true, Annotated: true, Pin: "new", Changed: "-a\n+b\n"}}
		})
		s.Send(session.Execute{Plan: plan.Plan{ID: "p", Title: "T", Steps: []plan.Step{{Index: "1", Title: "Look", Tool: "look", Executor: plan.ExecutorTool, Args: map[string]any{}}}}})
		gate := until[event.GateRequested](t, s)
		if gate.Changed != "-a\n+b\n" {
			t.Errorf("the gate shows %q", gate.Changed)
		}
		s.answer(gate, decision, event.ScopeOnce)
		until[event.RunCompleted](t, s)
		s.shut()
		allowed := decision == event.Allow
		if (len(s.tools.calls) == 1) != allowed || slices.Contains(s.tools.accepts, "w:look new") != allowed {
			t.Errorf("%s: called %v, accepted %v", decision, s.tools.calls, s.tools.accepts)
		}
	}
}

func TestGrantForRunAnswersWaitingGatesOfTheOtherItems(t *testing.T) {
	s := open(t, policy.ApproveAsk, nil)
	s.Send(session.Execute{Plan: plan.Plan{Title: "Patch", Steps: []plan.Step{
		{Index: "1", Title: "Look", Executor: plan.ExecutorTool, Tool: "look", Args: map[string]any{"q": "x"}, ResultVariable: "seen"},
		{
			Index: "2", Title: "Change", Executor: plan.ExecutorTool, Tool: "change", Args: map[string]any{"path": "${item}"},
			ForEach: &plan.ForEach{Items: []any{"${seen}", "${seen}"}, As: "item", Max: 50},
		},
	}}})
	first, second := until[event.GateRequested](t, s), until[event.GateRequested](t, s)
	if len(first.Provenance) != 1 || len(second.Provenance) != 1 {
		t.Fatalf("the gates show the text %+v and %+v", first.Provenance, second.Provenance)
	}
	s.answer(first, event.Allow, event.ScopeRun)
	until[event.GateResolved](t, s)
	if d := until[event.GateResolved](t, s); d.Gate != second.Gate || d.Decision != event.Allow || d.By != "your answer for this run" {
		t.Errorf("resolved %+v", d)
	}
	if result := until[event.RunCompleted](t, s); result.Reason != event.ReasonGoalMet {
		t.Errorf("%s: %s", result.Reason, result.Error)
	}
}

func TestGrantForRunLeavesEditedCallsOpen(t *testing.T) {
	s := open(t, policy.ApproveAsk, nil)
	step := func(index, to string) plan.Step {
		return plan.Step{Index: index, Title: "Change", Executor: plan.ExecutorTool, Tool: "change", Args: map[string]any{"path": to}}
	}
	s.Send(session.Execute{Plan: plan.Plan{Title: "Patch", Steps: []plan.Step{step("1", "a"), step("2", "b")}}})
	first, second := until[event.GateRequested](t, s), until[event.GateRequested](t, s)
	s.Send(session.Edit{Run: s.seen[len(s.seen)-1].Run, Gate: second.Gate, Args: map[string]any{"path": "c"}})
	edited := until[event.GateRequested](t, s)
	s.answer(first, event.Allow, event.ScopeRun)
	until[event.GateResolved](t, s)
	s.answer(edited, event.Deny, event.ScopeOnce)
	if d := until[event.GateResolved](t, s); d.Gate != edited.Gate || d.Decision != event.Deny {
		t.Errorf("resolved %+v", d)
	}
}
