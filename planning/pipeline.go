package planning

import "fmt"

// NewPipeline returns the planner of three phases: an analysis, a review where
// the analysis asks for one, and the execution plan. A simple goal is planned in
// one call: the steps that come with such an analysis are the plan.
func NewPipeline(b Brief) Planner {
	p := &pipeline{brief: b}
	switch {
	case b.Prompting.SkipAnalysis && b.Prompting.SkipPlan:
		p.fail("analysis and plan are both switched off, so there is nothing left to plan with; switch one of them on")
	case b.Prompting.SkipAnalysis:
		p.skip(1, "switched off")
		p.skip(2, "there is no analysis to review")
		p.enter(PurposePlan)
	default:
		p.enter(PurposeAnalysis)
	}
	return p
}

// pipeline is the state of planning between two calls of the model.
type pipeline struct {
	brief    Brief
	stage    Purpose // what Next asks for
	request  Request // the request of this stage
	analysis analysis
	review   string
	skipped  []SkippedPhase
	repairs  repairs
	outcome  Outcome
}

func (p *pipeline) Next() (Request, bool) {
	if p.outcome.Kind != OutcomePending {
		return Request{}, false
	}
	return p.request, true
}

func (p *pipeline) Outcome() Outcome { return p.outcome }

func (p *pipeline) Skipped() []SkippedPhase { return append([]SkippedPhase(nil), p.skipped...) }

func (p *pipeline) skip(phase int, reason string) {
	p.skipped = append(p.skipped, SkippedPhase{Phase: phase, Reason: reason})
}

func (p *pipeline) fail(reason string) { p.outcome = Outcome{Kind: OutcomeFailed, Reason: reason} }

// enter goes on to a stage and makes its request.
func (p *pipeline) enter(stage Purpose) {
	p.stage = stage
	switch stage {
	case PurposeAnalysis:
		p.request = analysisRequest(p.brief)
	case PurposeReview:
		p.request = reviewRequest(p.brief, p.analysis.markdown)
	case PurposePlan:
		p.request = planRequest(p.brief, p.analysis.markdown, p.review)
	}
}

func (p *pipeline) Fail(reason string) {
	switch {
	case p.outcome.Kind != OutcomePending:
	case p.stage == PurposeReview:
		p.review = ""
		p.enter(PurposePlan)
	default:
		p.fail(fmt.Sprintf("no %s came from the model: %s", stageName(p.stage), reason))
	}
}

func stageName(p Purpose) string {
	switch p {
	case PurposePlan:
		return "execution plan"
	case PurposeRepair:
		return "repaired plan"
	case PurposeReplan:
		return "new plan"
	default:
		return string(p)
	}
}

func (p *pipeline) Absorb(reply Reply) {
	if p.outcome.Kind != OutcomePending {
		return
	}
	switch p.stage {
	case PurposeAnalysis:
		p.absorbAnalysis(reply)
	case PurposeReview:
		p.review = stripThinking(reply.Text)
		p.enter(PurposePlan)
	default:
		p.absorbPlan(reply)
	}
}

// absorbAnalysis decides what follows phase 1.
func (p *pipeline) absorbAnalysis(reply Reply) {
	p.analysis = readAnalysis(reply)
	prompting := p.brief.Prompting
	if p.analysis.direct && !prompting.ForcePlan {
		p.skip(2, "the goal can be answered directly")
		p.skip(3, "the goal can be answered directly")
		p.outcome = Outcome{Kind: OutcomeDirect}
		return
	}
	if prompting.SkipPlan {
		p.skip(2, "there will be no plan to review")
		p.skip(3, "switched off")
		p.outcome = Outcome{Kind: OutcomeAnalysed, Text: p.analysis.markdown}
		return
	}
	if p.analysis.simple {
		if steps := readProposal(reply, false); steps.read && len(steps.plan.Steps) > 0 && !cutShort(steps) {
			p.skip(2, "the goal is simple")
			p.skip(3, "the plan came with the analysis")
			p.judge(steps, reply)
			return
		}
	}
	switch {
	case prompting.SkipReview:
		p.skip(2, "switched off")
	case !p.analysis.reflect:
		p.skip(2, "the analysis did not ask for it")
	default:
		p.enter(PurposeReview)
		return
	}
	p.enter(PurposePlan)
}

// cutShort reports whether the steps of a reply are not all there.
func cutShort(p proposal) bool {
	for _, f := range p.faults {
		if f.Code == CodeBadJSON {
			return true
		}
	}
	return false
}

// absorbPlan takes the plan of phase 3 or a repaired one.
func (p *pipeline) absorbPlan(reply Reply) {
	proposed := readProposal(reply, false)
	if proposed.read && len(proposed.plan.Steps) == 0 && len(proposed.faults) == 0 {
		p.outcome = Outcome{Kind: OutcomeEmpty, Reason: emptyReason(proposed, "the model proposed no steps")}
		return
	}
	p.judge(proposed, reply)
}

// judge takes a plan that is valid and has one that is not repaired.
func (p *pipeline) judge(proposed proposal, reply Reply) {
	plan := finishPlan(p.brief, proposed.plan, p.analysis.task)
	faults := checkProposal(p.brief, plan, proposed.faults, p.brief.MaxSteps)
	if len(faults) == 0 {
		p.outcome = Outcome{Kind: OutcomePlanned, Plan: plan}
		return
	}
	request, ok := p.repairs.next(p.brief, reply, faults, nil)
	if !ok {
		p.outcome = unrepaired(p.repairs.made, faults)
		return
	}
	p.stage, p.request = PurposeRepair, request
}

// emptyReason is why a planner proposed nothing, in its own words if it gave any.
func emptyReason(p proposal, otherwise string) string {
	if p.reason != "" {
		return p.reason
	}
	return otherwise
}
