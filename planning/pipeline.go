package planning

import (
	"cmp"
	"slices"
	"strings"

	"replan/planning/intent"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// NewPipeline returns the planner of three phases: an analysis, a review if the
// analysis asks for one, and the execution plan. A simple goal is planned in one
// call: the analysis then includes the steps of the plan.
func NewPipeline(b prompt.Brief) Planner {
	p := &pipeline{brief: b}
	if p.looking = len(b.Looks) > 0 && !b.Prompting.SkipPlan; !p.looking {
		p.begin()
	}
	return p
}

// Looks returns the steps whose results are missing.
func (p *pipeline) Looks() []plan.Step {
	if !p.looking {
		return nil
	}
	return p.brief.Looks
}

// Looked takes the results of the first steps. If the goal asks about nothing else, they
// are the whole plan.
func (p *pipeline) Looked(items []plan.HistoryItem) {
	if !p.looking {
		return
	}
	p.looking = false
	p.brief.Looked = slices.SortedFunc(slices.Values(items), func(a, b plan.HistoryItem) int { return plan.CompareIndices(a.Index, b.Index) })
	if p.brief.LooksSuffice && len(items) == len(p.brief.Looks) {
		for phase := 1; phase <= 3; phase++ {
			p.skip(phase, "the goal asks only about what it names")
		}
		p.outcome = Outcome{Kind: OutcomePlanned, Plan: ruledPlan(p.brief, nil)}
		return
	}
	if steps, reason := ruled(p.brief); reason != "" {
		for phase := 1; phase <= 3; phase++ {
			p.skip(phase, reason)
		}
		p.outcome = Outcome{Kind: OutcomePlanned, Plan: ruledPlan(p.brief, steps)}
		return
	}
	p.begin()
}

// begin enters the first phase. A small model makes the plan at once: an analysis would
// cost it as much time as the plan, and makes the plan worse.
func (p *pipeline) begin() {
	b := p.brief
	small := b.For(prompt.PurposePlan).Prompting.Small
	switch {
	case b.Prompting.SkipAnalysis && b.Prompting.SkipPlan:
		for phase := 1; phase <= 3; phase++ {
			p.skip(phase, "switched off")
		}
		p.outcome = Outcome{Kind: OutcomeDirect, Reason: "analysis and plan are both switched off, so the goal is answered without them"}
	case b.Prompting.SkipAnalysis:
		p.skip(1, "switched off")
		p.skip(2, "there is no analysis to review")
		p.enter(prompt.PurposePlan)
	case small && intent.OnlyAsks(b.Goal) && p.fall(""):
		for phase := 1; phase <= 3; phase++ {
			p.skip(phase, "the goal asks about what was looked at")
		}
	case small && prompt.NeedsNoTools(b) && !b.Prompting.SkipPlan:
		for phase := 1; phase <= 3; phase++ {
			p.skip(phase, "the goal needs no look at the project")
		}
		p.outcome = Outcome{Kind: OutcomeDirect, Reason: "the goal needs no look at the project"}
	case small && !b.Prompting.SkipPlan:
		p.skip(1, "the model plans at once, in short form")
		p.skip(2, "there is no analysis to review")
		p.enter(prompt.PurposePlan)
	default:
		p.enter(prompt.PurposeAnalysis)
	}
}

// pipeline is the state of planning between two calls of the model.
type pipeline struct {
	brief    prompt.Brief
	looking  bool           // the looks are not done yet
	gated    bool           // an effect that the goal does not ask for was asked about once
	stage    prompt.Purpose // the purpose of the next request
	request  prompt.Request // the request of this stage
	analysis reply.Analysis
	review   string
	asked    bool     // which tools the plan may need
	chosen   []string // the tools that the model asked for
	skipped  []SkippedPhase
	repairs  repairs
	outcome  Outcome
}

func (p *pipeline) Next() (prompt.Request, bool) {
	if p.outcome.Kind != OutcomePending {
		return prompt.Request{}, false
	}
	return p.request, true
}

func (p *pipeline) Outcome() Outcome { return p.outcome }

func (p *pipeline) Skipped() []SkippedPhase { return append([]SkippedPhase(nil), p.skipped...) }

func (p *pipeline) skip(phase int, reason string) {
	p.skipped = append(p.skipped, SkippedPhase{Phase: phase, Reason: reason})
}

// enter moves to a stage and creates its request. If there are too many tools to
// name them all, the model first chooses the tools that the plan may need.
func (p *pipeline) enter(stage prompt.Purpose) {
	if stage == prompt.PurposePlan && !p.asked {
		p.asked = true
		if request, ok := prompt.SelectionRequest(p.brief, p.analysis); ok {
			p.stage, p.request = prompt.PurposeTools, request
			return
		}
	}
	p.stage = stage
	switch stage {
	case prompt.PurposeAnalysis:
		p.request = prompt.AnalysisRequest(p.brief)
	case prompt.PurposeReview:
		p.request = prompt.ReviewRequest(p.brief, p.analysis)
	case prompt.PurposePlan:
		p.request = prompt.PlanRequest(p.brief, p.analysis, p.review, p.chosen...)
	}
}

func (p *pipeline) Fail(reason string, reply reply.Reply) {
	if p.outcome.Kind != OutcomePending {
		return
	}
	switch p.stage {
	case prompt.PurposeAnalysis:
		if p.brief.Prompting.SkipPlan {
			p.skip(2, "there is no analysis to review")
			p.skip(3, "switched off")
			p.outcome = Outcome{Kind: OutcomeFailed, Reason: "the model returned no analysis: " + reason + "; phase 3 is switched off, so there is nothing to go on with"}
			return
		}
		p.skip(2, "there is no analysis to review")
		p.enter(prompt.PurposePlan)
	case prompt.PurposeReview:
		p.review = ""
		p.enter(prompt.PurposePlan)
	case prompt.PurposeTools:
		p.enter(prompt.PurposePlan)
	default:
		p.repair(p.repairs.unanswered(p.stage, reason, reply))
	}
}

func stageName(p prompt.Purpose) string {
	switch p {
	case prompt.PurposePlan:
		return "execution plan"
	case prompt.PurposeRepair:
		return "repaired plan"
	case prompt.PurposeReplan:
		return "new plan"
	default:
		return string(p)
	}
}

func (p *pipeline) Absorb(reply reply.Reply) {
	if p.outcome.Kind != OutcomePending {
		return
	}
	switch p.stage {
	case prompt.PurposeAnalysis:
		p.absorbAnalysis(reply)
	case prompt.PurposeReview:
		p.absorbReview(reply)
	case prompt.PurposeTools:
		p.chosen = prompt.Chosen(p.brief.Catalog, reply)
		p.enter(prompt.PurposePlan)
	default:
		p.absorbPlan(reply)
	}
}

// absorbAnalysis decides how planning continues after phase 1.
func (p *pipeline) absorbAnalysis(r reply.Reply) {
	p.analysis = reply.ReadAnalysis(r)
	prompting := p.brief.Prompting
	if p.analysis.Direct && !prompting.ForcePlan {
		p.skip(2, "the goal can be answered directly")
		p.skip(3, "the goal can be answered directly")
		p.outcome = Outcome{Kind: OutcomeDirect, Reason: "the goal can be answered directly"}
		return
	}
	if prompting.SkipPlan {
		p.skip(2, "there will be no plan to review")
		p.skip(3, "switched off")
		p.outcome = Outcome{Kind: OutcomeAnalyzed, Text: p.analysis.Markdown, Reason: "phase 3 is switched off, so the analysis is the end"}
		if p.analysis.Markdown == "" {
			p.outcome = Outcome{Kind: OutcomeFailed, Reason: "the analysis is empty: " + p.analysis.Flaw + "; phase 3 is switched off, so there is nothing to go on with"}
		}
		return
	}
	if p.analysis.Simple {
		if steps := p.read(r); steps.Read && len(steps.Plan.Steps) > 0 && !cutShort(steps) {
			p.skip(2, "the goal is simple")
			p.skip(3, "the plan came with the analysis")
			p.judge(steps, r)
			return
		}
	}
	switch {
	case p.analysis.Flaw != "" && !p.analysis.Direct:
		p.skip(1, unused(p.analysis.Flaw))
		p.skip(2, "there is no analysis to review")
	case prompting.SkipReview:
		p.skip(2, "switched off")
	case !p.analysis.Reflect:
		p.skip(2, "the analysis did not ask for it")
	default:
		p.enter(prompt.PurposeReview)
		return
	}
	p.enter(prompt.PurposePlan)
}

// absorbReview takes the review. An empty one is reported and ignored.
func (p *pipeline) absorbReview(r reply.Reply) {
	if flaw, ok := reply.Wordless(r); ok {
		p.skip(2, unused(flaw.Message))
	} else {
		p.review = reply.StripThinking(r.Text)
	}
	p.enter(prompt.PurposePlan)
}

// unused returns why a phase counts as skipped despite a reply: the fault,
// without the advice to the model at its end.
func unused(flaw string) string {
	if at := strings.LastIndex(flaw, "; "); at > strings.LastIndex(flaw, "”") {
		flaw = flaw[:at]
	}
	return "planned without it: " + flaw
}

// cutShort reports whether steps of a reply are missing.
func cutShort(p reply.Proposal) bool {
	for _, f := range p.Faults {
		if f.Code == plan.CodeBadJSON {
			return true
		}
	}
	return false
}

// absorbPlan handles the plan of phase 3, or a repaired one.
func (p *pipeline) absorbPlan(r reply.Reply) {
	proposed := p.read(r)
	if proposed.Read && len(proposed.Plan.Steps) == 0 && len(proposed.Faults) == 0 && !p.looksAnswer() {
		p.outcome = Outcome{Kind: OutcomeEmpty, Reason: emptyReason(proposed, "the model proposed no steps")}
		return
	}
	p.judge(proposed, r)
}

// read reads a plan. After the looks its steps begin with a later number.
func (p *pipeline) read(r reply.Reply) reply.Proposal {
	if len(p.brief.Looked) > 0 {
		return reply.ReadRest(r)
	}
	return reply.ReadProposal(r, false)
}

// looksAnswer reports whether a plan without further steps makes sense: the goal only
// asks, and something was looked at.
func (p *pipeline) looksAnswer() bool {
	return len(p.brief.Looked) > 0 && intent.OnlyAsks(p.brief.Goal)
}

// judge accepts a valid plan and requests the repair of an invalid one. An effect that the
// goal does not ask for is a fault once, and then waits at a gate.
func (p *pipeline) judge(proposed reply.Proposal, reply reply.Reply) {
	current := finishPlan(p.brief, p.repairs.keepNotes(proposed.Plan), p.analysis.Task, p.analysis.Goal)
	current, faults, dropped := dropChecks(current, checkProposal(p.brief, current, proposed.Faults, p.brief.MaxSteps, nil))
	copied := prompt.Copied(p.brief, current)
	if len(copied) > 0 && p.fall("the model's plan is that of an example") {
		return
	}
	faults = slices.Concat(faults, copied, idle(p.brief, current))
	if effects := unwanted(p.brief, current); len(effects) > 0 && p.gated {
		for i, s := range current.Steps {
			if at := slices.IndexFunc(effects, func(f plan.Fault) bool { return f.Step == s.Index }); at >= 0 {
				current.Steps[i].Gate = true
				dropped = append(dropped, effects[at])
			}
		}
	} else if len(effects) > 0 {
		p.gated = true
		faults = append(faults, effects...)
	}
	if len(faults) == 0 {
		warnings := slices.Concat(proposed.Warnings(), dropped, plan.WordingWarnings(p.brief.Catalog, current, plan.Plan{}))
		p.outcome = Outcome{Kind: OutcomePlanned, Plan: current, Warnings: warnings}
		return
	}
	p.repair(p.repairs.faulty(reply, faults))
}

// repair asks for the plan again, with its faults, within the limit. Beyond it the
// goal has no plan. The outcome distinguishes a model that never answered from a
// plan that stayed too long, since a small budget may be the reason.
func (p *pipeline) repair(faults []plan.Fault) {
	request, ok := p.repairs.next(p.brief, prompt.RepairContext{Analysis: p.analysis, Review: p.review, Chosen: p.chosen})
	if ok {
		p.stage, p.request = prompt.PurposeRepair, request
		return
	}
	if !p.repairs.silent() && p.fall("the model's plan cannot be used") {
		return
	}
	p.outcome = p.repairs.unrepaired(OutcomeEmpty)
	if p.repairs.silent() {
		p.outcome.Kind = OutcomeSilent
	}
	for _, f := range faults {
		if f.Code == plan.CodeTooManySteps {
			p.outcome.Kind = OutcomeFailed
		}
	}
}

// fall plans by rule in place of a small model, whose repairs seldom help. It needs looks
// that leave one sensible plan. For a goal that only asks, that is the looks alone. For a
// goal that wants a change, it is the change of the only file that can be meant. reason
// says in a warning why the model's plan is not taken; "" if the model was not asked.
func (p *pipeline) fall(reason string) bool {
	b := p.brief
	if len(b.Looked) == 0 || !b.For(prompt.PurposePlan).Prompting.Small || !intent.OnlyAsks(b.Goal) && !intent.WantsChange(b.Goal) {
		return false
	}
	current := finishPlan(b, plan.Plan{}, "", "")
	if len(checkProposal(b, current, nil, b.MaxSteps, nil)) > 0 || len(idle(b, current)) > 0 {
		return false
	}
	p.outcome = Outcome{Kind: OutcomePlanned, Plan: current}
	if reason != "" {
		p.outcome.Warnings = []plan.Fault{{Code: plan.CodePlannedByRule, Path: "/steps", Message: reason + ", so rules have planned from what the goal names"}}
	}
	return true
}

// emptyReason returns why a planner proposed nothing, in its own words if it gave
// any.
func emptyReason(p reply.Proposal, otherwise string) string {
	if p.Reason == "" && reply.Refuses(string(p.Plan.Title)) {
		return string(p.Plan.Title)
	}
	return cmp.Or(p.Reason, otherwise)
}
