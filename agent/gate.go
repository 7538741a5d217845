package agent

import (
	"fmt"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// RemovalRule returns the rule for a call that would remove most of a file. No
// grant lifts it, and no rule that names only a tool.
func RemovalRule(tool, removes string) rule.Rule {
	return rule.Rule{Tool: tool, Verdict: rule.VerdictAsk, Source: rule.SourceBuiltIn, Why: untrusted.Text("it " + removes)}
}

// holdBack makes a call wait for its gate after its tool refused to run without
// one, or without another one. Nothing was done, so no budget counts it.
func (r *Run) holdBack(s *StepState) {
	s.takeBack()
	r.facts(s.Step.Tool).uncalled()
	if !s.isItem() {
		r.Meter.takeBackStep()
	}
	r.Meter.takeBackCall()
	if s.byModel() {
		r.Meter.takeBackInner()
		s.uncountCall()
	}
	r.scheduler().enqueue(s)
}

// Edited reports whether the user has edited the call of an open gate, and has yet to see
// what it would do now.
func Edited(r *Run, g *Gate) bool {
	s := r.Step(g.Step)
	return s != nil && s.author.edited()
}

// gatedByPlan returns the rule for a step whose plan asks for a gate.
func gatedByPlan(tool string) rule.Rule {
	return rule.Rule{Tool: tool, Verdict: rule.VerdictAsk, Source: rule.SourcePlan, Why: "the plan asks for a gate here"}
}

// EditCheck returns a function that checks replacement arguments for an open
// gate. The function returns an error if they do not fit, else nil. It is safe to
// call from any goroutine, whatever becomes of the run.
func (r *Run) EditCheck(gate string) func(args map[string]any) error {
	for _, g := range r.Gates {
		s := r.Step(g.Step)
		if g.Gate != gate || s == nil {
			continue
		}
		signature := r.facts(s.Step.Tool).Signature
		return func(args map[string]any) error {
			if err := signature.Check(args); err != nil {
				return fmt.Errorf("the args of %s do not fit: %w", g.Tool, err)
			}
			return nil
		}
	}
	return func(map[string]any) error { return fmt.Errorf("no gate %s is open", gate) }
}

func (r *Run) applyGateResolved(d event.GateResolved) {
	for _, g := range r.Gates {
		if g.Gate != d.Gate {
			continue
		}
		if d.Call != "" && d.Call != g.Call {
			return // it answers another call, which had a gate of this name
		}
		r.Permissions.closeGate(d.Gate)
		s := r.Step(g.Step)
		if s == nil {
			return
		}
		s.leaveGate()
		r.recorder().answeredGate(s, d)
		if d.Decision == event.Edit {
			r.edit(s, g.Args, d.Args)
			return
		}
		s.gate.deny()
		if d.Decision == event.Allow {
			s.gate.allow()
		}
		r.scheduler().enqueue(s)
		if d.Decision == event.Allow {
			accepted := r.Permissions.acceptChange(g)
			if granted := r.Permissions.grant(g, r.facts(g.QualifiedTool()).Tool, d); accepted || granted {
				r.scheduler().enqueueAll()
			}
		}
		if g.Items > 0 {
			r.answerItems(s, d.Decision)
		}
		return
	}
}

// askAgain reopens the gates, open or passed, of calls that are no longer the ones that
// the user saw. A resume may bring other tools, or the same ones with other effects.
func (r *Run) askAgain() {
	r.roster().every(func(s *StepState) {
		if s.Status != StepWaiting && (s.Status != StepPending || !s.gate.allowed()) || r.caller().bound(s) {
			return
		}
		r.Permissions.closeGate(s.Gate)
		s.leaveGate()
		s.reask()
	})
}

// edit replaces the arguments that a gate showed with those of the user. The gate
// opens again for the new call.
func (r *Run) edit(s *StepState, before, args map[string]any) {
	if args == nil {
		args = map[string]any{}
	}
	var left []rule.Provenance
	for _, p := range r.origins().provenance(s) {
		stays := p.Arg != "" && plan.EqualValues(before[p.Arg], args[p.Arg])
		for name, value := range args {
			stays = stays || p.Arg == "" && plan.EqualValues(before[name], value)
		}
		if stays {
			left = append(left, p)
		}
	}
	s.editCall(args, left)
	r.scheduler().enqueue(s)
}
