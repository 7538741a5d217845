package planning

import (
	"cmp"
	"slices"
	"strings"

	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// finishedPlanner is a planner that needs no replies: its outcome is available at once.
type finishedPlanner struct{ outcome Outcome }

func (s finishedPlanner) Next() (prompt.Request, bool) { return prompt.Request{}, false }
func (s finishedPlanner) Absorb(reply.Reply)           {}
func (s finishedPlanner) Fail(string, reply.Reply)     {}
func (s finishedPlanner) Outcome() Outcome             { return s.outcome }
func (s finishedPlanner) Skipped() []SkippedPhase      { return nil }

// Given returns the planner of an existing plan. It makes no requests and is done
// at once. The caller must have checked the plan with [plan.Validate].
func Given(p plan.Plan) Planner {
	return finishedPlanner{Outcome{Kind: OutcomePlanned, Plan: spellOut(p)}}
}

// Unplanned returns the planner of a goal that is not planned; reason says why.
func Unplanned(reason string) Planner {
	return finishedPlanner{Outcome{Kind: OutcomeEmpty, Reason: reason}}
}

// Unanswerable returns the planner of a goal whose request no model takes; reason says
// why.
func Unanswerable(reason string) Planner {
	return finishedPlanner{Outcome{Kind: OutcomeSilent, Reason: reason}}
}

// spellOut fills in the defaults of a plan, as if it had been read from a file. So a plan
// written in Go need not set them.
func spellOut(p plan.Plan) plan.Plan {
	if p.Goal == "" {
		p.Goal = p.Title
	}
	if !slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return s.Executor == "" }) {
		return p
	}
	p.Steps = slices.Clone(p.Steps)
	for i, s := range p.Steps {
		p.Steps[i].Executor = plan.ExecutorOf(s)
	}
	return p
}

// Phases returns the planners that ask a model: [NewPipeline] and
// [NewReplanner].
func Phases() Planners { return phases{} }

type phases struct{}

func (phases) Plan(b prompt.Brief) Planner                       { return NewPipeline(b) }
func (phases) Replan(b prompt.Brief, s prompt.Situation) Planner { return NewReplanner(b, s) }

// PlanFunc is a function that proposes plans in place of a model, and the [Planners] of it.
// failure is nil for the first plan of a goal. Otherwise the steps of the plan replace the
// remaining ones, see [plan.Revised]. A plan without steps means that there is none, and its
// title says why. The function keeps no state between calls: equal arguments give equal plans.
type PlanFunc func(brief prompt.Brief, failure *prompt.Situation) plan.Plan

// Plan returns the planner of the goal, which is done at once. A plan that breaks a rule
// fails, since there is no repair.
func (f PlanFunc) Plan(b prompt.Brief) Planner {
	plan := spellOut(f(b, nil))
	if len(plan.Steps) == 0 {
		return Unplanned(cmp.Or(string(plan.Title), "the planner proposes no steps"))
	}
	if b.Goal != "" {
		plan.Goal = untrusted.Text(b.Goal)
	}
	if faults := checkProposal(b, plan, nil, b.MaxSteps, nil); len(faults) > 0 {
		return finishedPlanner{invalidProposal(faults)}
	}
	return finishedPlanner{Outcome{Kind: OutcomePlanned, Plan: plan}}
}

// Replan returns the planner of a replan, which is done at once.
func (f PlanFunc) Replan(b prompt.Brief, s prompt.Situation) Planner {
	r := newReplanner(b, s)
	if r.Outcome().Kind != OutcomePending {
		return finishedPlanner{r.Outcome()}
	}
	return proposed(r, f(b, &s))
}

// FixedPlans returns planners without a model. The first of plans is the plan; each
// further one answers the next replan with steps in place of the remaining ones. A
// replan after the last answer, or to an answer without steps, gives up.
func FixedPlans(plans ...plan.Plan) Planners {
	return PlanFunc(func(_ prompt.Brief, failure *prompt.Situation) plan.Plan {
		next := 0
		if failure != nil {
			next = max(failure.Attempt, 1) // a situation without a number is the first
		}
		if next < len(plans) {
			return plans[next]
		}
		return plan.Plan{Title: "no further plan was given"}
	})
}

// proposed returns a planner with a ready answer to a failure: the steps of p replace the
// remaining ones. The answer is judged like a model's. Without steps it gives up, with
// its title as the reason; a repetition of the failed steps is refused. An invalid
// answer fails, since there is no repair.
func proposed(r *replanner, p plan.Plan) Planner {
	plan := spellOut(p)
	reason := string(plan.Title)
	if reason == "" {
		reason = "the planner proposes no further steps"
	}
	outcome, faults := r.judge(reply.Proposal{Plan: plan, Reason: reason, Read: true})
	if len(faults) > 0 {
		outcome = invalidProposal(faults)
	}
	return finishedPlanner{outcome}
}

// invalidProposal returns the outcome of a proposed plan with faults. There is no
// model to repair them.
func invalidProposal(faults []plan.Fault) Outcome {
	return Outcome{
		Kind:   OutcomeFailed,
		Reason: "the proposed plan is not valid: " + strings.Join(prompt.Clauses(faults, 8), "; "),
		Faults: faults,
	}
}
