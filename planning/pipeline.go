package planning

import (
	"cmp"
	"strings"
)

// NewPipeline returns the planner of three phases: an analysis, a review where
// the analysis asks for one, and the execution plan. A simple goal is planned in
// one call: the steps that come with such an analysis are the plan.
func NewPipeline(b Brief) Planner {
	p := &pipeline{brief: b}
	switch {
	case b.Prompting.SkipAnalysis && b.Prompting.SkipPlan:
		for phase := 1; phase <= 3; phase++ {
			p.skip(phase, "switched off")
		}
		p.outcome = Outcome{Kind: OutcomeDirect, Reason: "analysis and plan are both switched off, so the goal is answered without them"}
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

// enter goes on to a stage and makes its request.
func (p *pipeline) enter(stage Purpose) {
	p.stage = stage
	switch stage {
	case PurposeAnalysis:
		p.request = analysisRequest(p.brief)
	case PurposeReview:
		p.request = reviewRequest(p.brief, p.analysis)
	case PurposePlan:
		p.request = planRequest(p.brief, p.analysis, p.review)
	}
}

func (p *pipeline) Fail(reason string, reply Reply) {
	if p.outcome.Kind != OutcomePending {
		return
	}
	switch p.stage {
	case PurposeAnalysis:
		if p.brief.Prompting.SkipPlan {
			p.skip(2, "there is no analysis to review")
			p.skip(3, "switched off")
			p.outcome = Outcome{Kind: OutcomeFailed, Reason: "no analysis came from the model: " + reason + "; phase 3 is switched off, so there is nothing to go on with"}
			return
		}
		p.skip(2, "there is no analysis to review")
		p.enter(PurposePlan)
	case PurposeReview:
		p.review = ""
		p.enter(PurposePlan)
	default:
		p.repair(p.repairs.unanswered(p.stage, reason, reply))
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
		p.absorbReview(reply)
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
		p.outcome = Outcome{Kind: OutcomeDirect, Reason: "the goal can be answered directly"}
		return
	}
	if prompting.SkipPlan {
		p.skip(2, "there will be no plan to review")
		p.skip(3, "switched off")
		p.outcome = Outcome{Kind: OutcomeAnalysed, Text: p.analysis.markdown, Reason: "phase 3 is switched off, so the analysis is the end"}
		if p.analysis.markdown == "" {
			p.outcome = Outcome{Kind: OutcomeFailed, Reason: "the analysis is empty: " + p.analysis.flaw + "; phase 3 is switched off, so there is nothing to go on with"}
		}
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
	case p.analysis.flaw != "" && !p.analysis.direct:
		p.skip(1, unused(p.analysis.flaw))
		p.skip(2, "there is no analysis to review")
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

// absorbReview takes the review. One that says nothing is told of and ignored.
func (p *pipeline) absorbReview(reply Reply) {
	if flaw, ok := wordless(reply); ok {
		p.skip(2, unused(flaw.Message))
	} else {
		p.review = stripThinking(reply.Text)
	}
	p.enter(PurposePlan)
}

// unused says why a phase counts as left out though a reply came: what is wrong
// with it, without what a model is told to do about that, which comes last.
func unused(flaw string) string {
	if at := strings.LastIndex(flaw, "; "); at > strings.LastIndex(flaw, "”") {
		flaw = flaw[:at]
	}
	return "planned without it: " + flaw
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
	plan := finishPlan(p.brief, p.repairs.keepNotes(proposed.plan), p.analysis.task, p.analysis.goal)
	faults := checkProposal(p.brief, plan, proposed.faults, p.brief.MaxSteps)
	if len(faults) == 0 {
		p.outcome = Outcome{Kind: OutcomePlanned, Plan: plan, Warnings: append(proposed.warnings(), doubts(p.brief.Catalogue, plan, Plan{})...)}
		return
	}
	p.repair(p.repairs.faulty(reply, faults))
}

// repair asks for the plan again, with what was wrong with it, as often as may
// be. The end is a goal without a plan. Told apart are a model that never
// answered, and a plan that stayed too long, since what is left of a budget may
// be why.
func (p *pipeline) repair(faults []Fault) {
	request, ok := p.repairs.next(p.brief, repairContext{analysis: p.analysis, review: p.review})
	if ok {
		p.stage, p.request = PurposeRepair, request
		return
	}
	p.outcome = p.repairs.unrepaired(OutcomeEmpty)
	if p.repairs.silent() {
		p.outcome.Kind = OutcomeSilent
	}
	for _, f := range faults {
		if f.Code == CodeTooManySteps {
			p.outcome.Kind = OutcomeFailed
		}
	}
}

// emptyReason is why a planner proposed nothing, in its own words if it gave any.
func emptyReason(p proposal, otherwise string) string {
	if p.reason == "" && refuses(p.plan.Title) {
		p.reason = p.plan.Title
	}
	return cmp.Or(p.reason, otherwise)
}
