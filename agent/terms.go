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

	settings
}

// settings are those terms of a run that are not displayed. Only methods of Terms
// change them.
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
	t.prompting.ModelTools = t.modelTools && !d.DryRun // a dry run calls nothing in chat either
	if d.Plan != nil {
		t.fallback = cmp.Or(d.OnFailure, plan.OnFailureAbort)
		return
	}
	t.userOnFailure, t.fallback = d.OnFailure, cmp.Or(d.OnFailure, plan.OnFailureReplan)
}

// rehearse sets the terms of a run in which nothing is called.
func (t *Terms) rehearse(of *Terms) {
	t.ID, t.Model, t.prompting, t.dryRun = of.ID, of.Model, of.prompting, true
}

// abortOnFailure lets a failed step end the run, unless step or plan say otherwise.
func (t *Terms) abortOnFailure() { t.fallback = plan.OnFailureAbort }

// resume sets the terms of a run that continues.
func (t *Terms) resume(d event.RunResumed) {
	if d.Model != t.Model {
		t.prompting.BytesPerToken, t.prompting.ReadSpeed = 0, 0 // what holds for another model is not known yet
	}
	t.prompting.ReadSpeed = cmp.Or(d.Speed, t.prompting.ReadSpeed)
	t.priors, t.Model, t.modelTools = d.Priors, d.Model, d.Tools
	t.prompting.ModelTools, t.prompting.Small, t.prompting.Vision, t.prompting.Loops, t.prompting.Measured = d.Tools, d.Small, d.Vision, d.Loops, d.Measured
	if d.Window > 0 {
		t.prompting.ContextWindow = d.Window
	}
	if d.Models != nil {
		t.prompting.Models = *d.Models
	}
	t.attended, t.inDoubt = d.Attended, d.InDoubt
	t.session = cmp.Or(d.Session, t.session)
	t.requireVerified = t.requireVerified || d.RequireVerified
}

// review holds all plans for review from now on.
func (t *Terms) review() { t.reviewPlans = true }

// skipPhases plans without analysis and plan phases.
func (t *Terms) skipPhases() { t.prompting.SkipAnalysis, t.prompting.SkipPlan = true, true }

// DryRun reports whether the run only reports what its steps would do.
func (t *Terms) DryRun() bool { return t.dryRun }

// PlanOnly reports whether the run ends with its plan.
func (t *Terms) PlanOnly() bool { return t.planOnly }

// ModelTools reports whether the model of the run can call tools.
func (t *Terms) ModelTools() bool { return t.modelTools }

// ReviewsPlans reports whether the run holds its plans for review, this one or the
// next.
func (t *Terms) ReviewsPlans() bool { return t.reviewPlans }

// Models returns the models that plan in place of the run's.
func (t *Terms) Models() prompt.Models { return t.prompting.Models }

// Measured returns the finding whose settings drive the model of the run, nil if its
// size alone decides.
func (t *Terms) Measured() *fit.Record { return t.prompting.Measured }

// id, goal and model return the terms of those names.
func (t *Terms) id() string           { return t.ID }
func (t *Terms) goal() untrusted.Text { return t.Goal }
func (t *Terms) model() string        { return t.Model }

// agreed returns the terms that are not displayed, to read them.
func (t *Terms) agreed() *settings { return &t.settings }

// modelTerms returns what is known of the models besides their replies.
func (t *Terms) modelTerms() modelTerms { return modelTerms{t.Model, t.prompting} }
