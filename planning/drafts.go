package planning

import (
	"slices"

	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/rank"
	"replan/planning/reply"
)

// draftReply is one reply to the request for the execution plan, when several are
// asked for.
type draftReply struct {
	rank.Draft
	reply    reply.Reply
	proposed reply.Proposal
	plan     plan.Plan
	failed   string // why no complete reply came
}

// draftTemperatures are those of the drafts after the first, which has the model's
// own: a careful one, then bolder ones in turn with careful ones.
var draftTemperatures = [prompt.MaxDrafts - 1]float64{0.2, 1, 0.5, 1.2}

// askDraft makes the request of this stage one for the next draft, if several are
// asked for. They follow each other, and only their options differ, so that the
// model's server reads the prompt once.
//
// A plan that came with the analysis is the only draft: phase 3 would be a new
// prompt, and short plans leave little to choose from.
func (p *pipeline) askDraft() {
	most := min(p.brief.Prompting.Drafts, prompt.MaxDrafts)
	if most <= 1 {
		return
	}
	d := prompt.Draft{Number: len(p.drafts) + 1, Of: most}
	if d.Number > 1 {
		d.Temperature = draftTemperatures[d.Number-2]
	}
	p.request.Draft = &d
}

// absorbDraft reads and checks one draft.
func (p *pipeline) absorbDraft(r reply.Reply) {
	d := draftReply{reply: r, proposed: p.read(r)}
	if d.proposed.Read && len(d.proposed.Plan.Steps) == 0 && len(d.proposed.Faults) == 0 {
		d.Missing = untrusted.Text(emptyReason(d.proposed, "the model proposed no steps"))
		p.keepDraft(d)
		return
	}
	d.plan = finishPlan(p.brief, d.proposed.Plan, p.analysis.Task, p.analysis.Goal)
	var dropped []plan.Fault
	d.plan, d.Faults, dropped = dropChecks(d.plan, checkProposal(p.brief, d.plan, d.proposed.Faults, p.brief.MaxSteps, nil))
	d.Warnings = slices.Concat(d.proposed.Warnings(), dropped, plan.WordingWarnings(p.brief.Catalogue, d.plan, plan.Plan{}))
	d.Steps = len(d.plan.Steps)
	d.Changes = slices.ContainsFunc(d.plan.Steps, p.mayChange)
	if len(d.Faults) == 0 && p.brief.Assess != nil {
		denied, gates, path := p.brief.Assess(d.plan)
		d.Denied, d.Gates, d.PathMS = denied, gates, path.Milliseconds()
	}
	p.keepDraft(d)
}

// mayChange reports whether a step may change something.
func (p *pipeline) mayChange(s plan.Step) bool {
	tool, err := p.brief.Catalogue.Find(s.Tool)
	return s.Executor == plan.ExecutorAgent || s.Executor == plan.ExecutorTool && err == nil && !tool.Repeatable()
}

// keepDraft asks for the next draft, or takes the best one after the last.
func (p *pipeline) keepDraft(d draftReply) {
	d.Number = p.request.Draft.Number
	if d.Steps == 0 && d.Missing == "" {
		d.Missing = "no step of it can be read"
	}
	p.drafts = append(p.drafts, d)
	if d.Number < p.request.Draft.Of {
		p.askDraft()
		return
	}
	p.takeDraft()
}

// takeDraft continues with the best draft as if it were the only one. Its faults are
// repaired, which they can be in no other draft.
func (p *pipeline) takeDraft() {
	ranked, plans := make([]rank.Draft, len(p.drafts)), make([]plan.Plan, len(p.drafts))
	for i, d := range p.drafts {
		ranked[i], plans[i] = d.Draft, d.plan
	}
	rank.MarkRepeats(ranked, plans)
	best := rank.Best(ranked)
	for i := range ranked {
		ranked[i].Taken = i == best
		if d := &ranked[i]; d.Steps > 0 && !d.Taken && d.Repeats == 0 {
			d.Plan = &plans[i]
		}
	}
	if best < 0 {
		p.withoutDraft()
		return
	}
	p.ranked = ranked
	p.judge(p.drafts[best].proposed, p.drafts[best].reply)
}

// withoutDraft ends planning if the model finds nothing to plan. If no draft came at
// all, it asks for a repair.
func (p *pipeline) withoutDraft() {
	var faults []plan.Fault
	for _, d := range p.drafts {
		switch {
		case d.failed != "":
			faults = p.repairs.unanswered(prompt.PurposePlan, d.failed, d.reply)
		case len(d.Faults) == 0:
			p.outcome = Outcome{Kind: OutcomeEmpty, Reason: string(d.Missing)}
			return
		default:
			faults = p.repairs.faulty(d.reply, d.Faults)
		}
	}
	p.repair(faults)
}
