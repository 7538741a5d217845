package agent

import (
	"cmp"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/fit"
	"replan/planning/intent"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// Terms are what a run was started or resumed with.
type Terms struct {
	ID        string
	Goal      untrusted.Text
	Workspace string
	Model     string

	settings settings
}

// settings are those terms of a run that are not displayed.
type settings struct {
	session         string
	prompting       prompt.Prompting
	priors          map[string]int64
	surveyed        intent.Facts   // about what the goal names
	givenPlan       *plan.Plan     // plan that the run was started with
	fallback        plan.OnFailure // used if neither step nor plan sets one
	userOnFailure   plan.OnFailure // set by the user for plans of a goal; overrides the planner's choice for the plan
	attended        bool
	inDoubt         event.DoubtDecision
	planOnly        bool
	skipSynthesis   bool // do not write an answer at the end
	dryRun          bool
	requireVerified bool              // fail at the end unless all evidence is verified
	strict          bool              // do not fit args to the schemas of tools
	reviewPlans     bool              // every plan is reviewed before it runs
	outerRun        string            // the run whose model requested this one; "" if none did
	modelTools      bool              // the model can call tools
	readBefore      []rule.Provenance // what the models of the run had read when it began
}

// start sets the terms of a run that begins.
func (t *Terms) start(run string, d event.RunStarted) {
	t.ID, t.Goal, t.Workspace, t.Model = run, d.Goal, d.Workspace, d.Model
	t.settings = settings{
		session: d.Session, prompting: d.Prompting, priors: d.Priors, surveyed: d.Routing.Facts, givenPlan: d.Plan,
		attended: d.Attended, inDoubt: d.InDoubt, planOnly: d.PlanOnly, skipSynthesis: d.SkipSynthesis, dryRun: d.DryRun,
		requireVerified: d.RequireVerified, strict: d.Strict || d.Prompting.Strict, reviewPlans: d.Review,
		outerRun: d.Outer, modelTools: d.Prompting.ModelTools, readBefore: d.Read,
	}
	t.settings.prompting.ModelTools = t.settings.modelTools && !d.DryRun // a dry run calls nothing in chat either
	if d.Plan != nil {
		t.settings.fallback = cmp.Or(d.OnFailure, plan.OnFailureAbort)
		return
	}
	t.settings.userOnFailure, t.settings.fallback = d.OnFailure, cmp.Or(d.OnFailure, plan.OnFailureReplan)
}

// rehearse sets the terms of a run in which nothing is called.
func (t *Terms) rehearse(of *Terms) {
	t.ID, t.Model, t.settings.prompting, t.settings.dryRun = of.ID, of.Model, of.settings.prompting, true
}

// abortOnFailure lets a failed step end the run, unless step or plan say otherwise.
func (t *Terms) abortOnFailure() { t.settings.fallback = plan.OnFailureAbort }

// resume sets the terms of a run that continues.
func (t *Terms) resume(d event.RunResumed) {
	if d.Model != t.Model {
		t.settings.prompting.BytesPerToken, t.settings.prompting.ReadSpeed = 0, 0 // what holds for another model is not known yet
	}
	t.settings.prompting.ReadSpeed = cmp.Or(d.Speed, t.settings.prompting.ReadSpeed)
	t.settings.priors, t.Model, t.settings.modelTools = d.Priors, d.Model, d.Tools
	t.settings.prompting.ModelTools, t.settings.prompting.Small, t.settings.prompting.Vision, t.settings.prompting.Loops, t.settings.prompting.Measured = d.Tools, d.Small, d.Vision, d.Loops, d.Measured
	if d.Window > 0 {
		t.settings.prompting.ContextWindow = d.Window
	}
	if d.Models != nil {
		t.settings.prompting.Models = *d.Models
	}
	t.settings.attended, t.settings.inDoubt = d.Attended, d.InDoubt
	t.settings.session = cmp.Or(d.Session, t.settings.session)
	t.settings.requireVerified = t.settings.requireVerified || d.RequireVerified
}

// review holds all plans for review from now on.
func (t *Terms) review() { t.settings.reviewPlans = true }

// skipPhases plans without analysis and plan phases.
func (t *Terms) skipPhases() {
	t.settings.prompting.SkipAnalysis, t.settings.prompting.SkipPlan = true, true
}

// DryRun reports whether the run only reports what its steps would do.
func (t *Terms) DryRun() bool { return t.settings.dryRun }

// PlanOnly reports whether the run ends with its plan.
func (t *Terms) PlanOnly() bool { return t.settings.planOnly }

// ModelTools reports whether the model of the run can call tools.
func (t *Terms) ModelTools() bool { return t.settings.modelTools }

// ReviewsPlans reports whether the run holds its plans for review, this one or the
// next.
func (t *Terms) ReviewsPlans() bool { return t.settings.reviewPlans }

// holdsPlans reports whether the plans of this run wait for review.
func (t *Terms) holdsPlans() bool { return t.ReviewsPlans() && !t.PlanOnly() && !t.DryRun() }

// Models returns the models that plan in place of the run's.
func (t *Terms) Models() prompt.Models { return t.settings.prompting.Models }

// Measured returns the finding whose settings drive the model of the run, nil if its
// size alone decides.
func (t *Terms) Measured() *fit.Record { return t.settings.prompting.Measured }

// id returns the id of the run.
func (t *Terms) id() string { return t.ID }

// goal returns the goal of the run.
func (t *Terms) goal() untrusted.Text { return t.Goal }

// model returns the model of the run, "" if there is none.
func (t *Terms) model() string { return t.Model }

// attended reports whether a user is present.
func (t *Terms) attended() bool { return t.settings.attended }

// inDoubt returns what to do with steps in doubt if no user is present.
func (t *Terms) inDoubt() event.DoubtDecision { return t.settings.inDoubt }

// session returns the session of the run; "" for none.
func (t *Terms) session() string { return t.settings.session }

// outerRun returns the run whose model requested this one; "" for none.
func (t *Terms) outerRun() string { return t.settings.outerRun }

// prompting returns how models are prompted.
func (t *Terms) prompting() prompt.Prompting { return t.settings.prompting }

// surveyed returns the facts about what the goal names.
func (t *Terms) surveyed() intent.Facts { return t.settings.surveyed }

// isGiven reports whether the run was started with a plan.
func (t *Terms) isGiven() bool { return t.settings.givenPlan != nil }

// givenBy returns who made the plan with which the run was started, "" for a person.
func (t *Terms) givenBy() string {
	if t.settings.givenPlan == nil {
		return ""
	}
	return t.settings.givenPlan.PlannedBy
}

// givenRead returns what the author of that plan had read.
func (t *Terms) givenRead() []rule.Provenance {
	if t.settings.givenPlan == nil {
		return nil
	}
	return t.settings.givenPlan.Provenance
}

// fallback returns what follows from the failure of a step if neither the step nor the plan says
// so.
func (t *Terms) fallback() plan.OnFailure { return t.settings.fallback }

// userOnFailure returns what the user wants to follow from a failure, in place of what a planner
// says.
func (t *Terms) userOnFailure() plan.OnFailure { return t.settings.userOnFailure }

// skipSynthesis reports whether no answer is written at the end.
func (t *Terms) skipSynthesis() bool { return t.settings.skipSynthesis }

// requireVerified reports whether the run fails at its end unless all evidence is verified.
func (t *Terms) requireVerified() bool { return t.settings.requireVerified }

// strict reports whether args are not fitted to the schemas of tools.
func (t *Terms) strict() bool { return t.settings.strict }

// readBefore returns what the models of the run had read when it began.
func (t *Terms) readBefore() []rule.Provenance { return t.settings.readBefore }

// priors returns how long calls of each tool took in earlier runs, in ms.
func (t *Terms) priors() map[string]int64 { return t.settings.priors }

// modelTerms returns what is known of the models besides their replies.
func (t *Terms) modelTerms() modelTerms { return modelTerms{t.Model, t.settings.prompting} }
