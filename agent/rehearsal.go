package agent

import (
	"strings"

	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// rehearsal tells which calls of a plan would ask. It owns a run in which nothing is called,
// where placeholders stand for values that are not known yet.
type rehearsal struct {
	run Run
}

// newRehearsal returns a rehearsal of the plan of a run, which stays as it is.
func newRehearsal(r *Run) *rehearsal {
	of := &rehearsal{Run{Toolbox: newToolbox(r.Catalog, r.gateRules()), Permissions: r.Permissions.clone(), Board: r.Board.rehearsed()}}
	of.run.Terms.rehearse(&r.Terms)
	for _, s := range of.run.Steps {
		of.run.Toolbox.learn(s.Step.Tool)
	}
	return of
}

// id returns the id of the run.
func (r *rehearsal) id() string { return r.run.ID }

// toolName returns the canonical name of a tool.
func (r *rehearsal) toolName(tool string) string {
	return r.run.Toolbox.facts(tool).Tool.QualifiedName()
}

// status returns the status of a step of the plan, "" for none.
func (r *rehearsal) status(index string) StepStatus {
	if s := r.run.Step(index); s != nil {
		return s.Status
	}
	return ""
}

// faults returns the faults of a changed plan.
func (r *rehearsal) faults(p plan.Plan) []plan.Fault {
	faults, _ := plan.Validate(p, plan.Rules{
		Catalog: r.run.Catalog, CheckTools: true, PartialArgs: r.run.Model != "", Profiles: r.run.Terms.prompting().ProfileNames(), Named: true,
	})
	return faults
}

// gate returns the question at which the call of a step would stop, as the review has changed
// it; nil if there is none.
func (r *rehearsal) gate(step plan.Step) *ReviewGate {
	caller, facts, state := &r.run.services().caller, r.run.Toolbox.facts(step.Tool), r.run.Step(step.Index)
	if step.Executor != plan.ExecutorTool || facts.Err != nil || state == nil {
		return nil
	}
	missing := caller.missingArgs(state, step, facts)
	args, err := plan.ResolveArgs(step.Args, r.run.Board.values())
	if err != nil {
		args = step.Args
	}
	args, _ = caller.coerce(facts, args)
	probe := state.probe(step, args, missing)
	gate := &ReviewGate{Tool: facts.Tool, Rule: caller.ruleFor(probe, facts), Args: args, Provenance: r.run.services().origins.provenance(probe)}
	references := plan.References(step.Args)
	switch {
	case gate.Rule.Verdict == rule.VerdictBlock:
		gate.Closed = "a rule denies it: " + gate.Rule.Why
	case gate.Rule.Verdict == rule.VerdictRun:
		return nil
	case len(missing) > 0:
		gate.Closed = untrusted.Text("it asks when it runs, because a model writes " + strings.Join(missing, " and ") + " then")
	case len(references) > 0:
		gate.Closed = untrusted.Text("it asks when it runs, because " + references[0].String() + " is inserted then")
	case step.ForEach != nil:
		gate.Closed = "it asks when it runs, for each of its items"
	default:
		if err := facts.Signature.Check(args); err != nil {
			gate.Closed = untrusted.Text("its args do not fit: " + err.Error())
		}
	}
	return gate
}
