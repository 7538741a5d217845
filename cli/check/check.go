package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/rule"
	"replan/cli/app"
	"replan/cli/config"
	"replan/cli/exit"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/plain"
	"replan/tui/plantext"
	"replan/tui/wording"
)

// Verdict is the result of checking a plan.
type Verdict struct {
	Plan     plan.Plan
	Faults   []plan.Fault // none if it is valid
	Warnings []plan.Fault
	Awaited  []string // servers that did not start in time
	Tools    plan.Catalog

	batches      [][]string
	order        []string
	criticalPath []string
	gates        []string // steps whose calls would ask
}

// Checker checks plans against the tools of services.
type Checker struct {
	app  *app.App
	with *app.Services
}

// With returns a checker for the settings of an app and the tools of services.
func With(a *app.App, s *app.Services) Checker { return Checker{a, s} }

// Check checks a plan against the available tools.
func (o Checker) Check(ctx context.Context, named Plan, vars Variables) (Verdict, error) {
	data, err := vars.Into(named.Data)
	if err != nil {
		return Verdict{}, err
	}
	var v Verdict
	catalog, awaited, err := o.toolsFor(ctx, data, named.Call)
	if err != nil {
		return v, err
	}
	v.Awaited, v.Tools = awaited, catalog
	if catalog, err = o.app.Store().RecallTools(o.app.Folders().Workspace, catalog); err != nil {
		o.with.Logger().Warn("what earlier runs have shown of tools cannot be read", "error", err)
	}
	rules := plan.Rules{
		Catalog: catalog,
		// A skipped or disabled server offers no tools, but that does not make
		// every name valid.
		CheckTools: len(o.with.Tools().Status()) > 0,
		// A model fills in missing arguments when the step is ready. In a file,
		// empty args mean a call without arguments.
		PartialArgs: !named.Call,
		Strict:      o.app.Planning().Strict(),
		EmptyArgs:   !named.Stored,
		Profiles:    o.app.Planning().Prompting.ProfileNames(),
		MaxSteps:    o.app.Limits().PlanSteps(),
	}
	v.Plan, v.Faults, v.Warnings = plan.CheckPlan(data, rules)
	if len(v.Faults) > 0 {
		return v, nil
	}
	graph := plan.NewGraph(v.Plan)
	v.batches, v.order = graph.Batches(), graph.Order()
	priors, err := o.app.Store().MedianDurations()
	if err != nil {
		o.with.Logger().Warn("the durations of tools cannot be read", "error", err)
	}
	v.criticalPath = graph.CriticalPath(func(s plan.Step) float64 {
		return agent.Weigh(s, catalog, priors) * agent.Rounds(v.Plan, s, catalog, event.DefaultLimits())
	})
	gates, denied := o.foresee(v.Plan, graph, catalog)
	v.gates, v.Warnings = gates, append(v.Warnings, denied...)
	return v, nil
}

// toolsFor waits for the servers whose tools a plan names, for no others. It returns the
// tools available then and the servers that have not started in time. For a single call it
// waits for all that may have the tool. Two servers may offer its name, and which of them
// is ready first must not decide.
func (o Checker) toolsFor(ctx context.Context, data []byte, call bool) (plan.Catalog, []string, error) {
	p, _ := plan.DecodePlan(data) // the check reports its errors
	names := p.Tools()
	if call && len(names) > 0 && !strings.Contains(names[0], ":") {
		own, _ := o.with.Tools().ReadyFor(ctx, nil)
		if t, _ := own.Find(names[0]); !t.Trusted {
			names = []string{"*:" + names[0]}
		}
	}
	within, cancel := context.WithTimeout(ctx, toolsSoon)
	defer cancel()
	catalog, awaited := o.with.Tools().ReadyFor(within, names)
	if len(awaited) > 0 && ctx.Err() == nil {
		if o.app.Chat() == nil {
			o.app.Out().Note("waiting for the MCP %s %s to start", english.Agree(len(awaited), "server", "servers"), untrusted.Line(english.List(awaited, "and")))
		}
		within, cancel := context.WithTimeout(ctx, ToolsWithin(o.with.Tools(), awaited))
		defer cancel()
		catalog, awaited = o.with.Tools().ReadyFor(within, names)
	}
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	return catalog, awaited, nil
}

// foresee returns the steps whose calls would ask, and a warning for each whose
// call a rule would deny, in execution order. A user who runs a plan asks for the
// tests in it.
func (o Checker) foresee(p plan.Plan, graph *plan.Graph, catalog plan.Catalog) (gates []string, denied []plan.Fault) {
	of := o.app.Gates()
	rules := slices.Concat(of.Rules, policy.BuiltIn(policy.Trust{Workspace: of.Trusted, Tests: policy.PlansTests(&p)}))
	gates = []string{}
	for _, f := range policy.Foresee(rules, p, graph, catalog) {
		switch {
		case f.Rule.Verdict == rule.VerdictBlock:
			denied = append(denied, plan.Fault{
				Code: plan.CodeDenied, Path: fmt.Sprintf("/steps/%d/tool", f.Position), Step: f.Step,
				Message: fmt.Sprintf("step %s will be denied, and its run ends there: %s", f.Step, wording.RuleWords(f.Rule)),
			})
		case f.Asks:
			gates = append(gates, f.Step)
		}
	}
	return gates, denied
}

// Print prints the result of a check. An invalid plan returns a failure
// that was already reported.
func (v Verdict) Print(a *app.App) error {
	out := a.Out()
	var err error
	switch {
	case out.JSON() && len(v.Faults) > 0:
		err = out.PrintJSON(struct {
			Valid  bool         `json:"valid"`
			Errors []plan.Fault `json:"errors"`
		}{false, v.Faults})
	case out.JSON():
		err = out.PrintJSON(struct {
			Valid        bool         `json:"valid"`
			Batches      [][]string   `json:"batches"`
			Order        []string     `json:"order"`
			CriticalPath []string     `json:"critical_path"`
			Items        []estimate   `json:"items,omitempty"`
			Gates        []string     `json:"gates"`
			Warnings     []plan.Fault `json:"warnings"`
		}{true, app.NoNil(v.batches), app.NoNil(v.order), app.NoNil(v.criticalPath), estimates(v.Plan), v.gates, app.NoNil(v.Warnings)})
	default:
		err = out.Lines(func(p *plain.Printer) { v.write(p, a.Appearance().ASCII) })
	}
	if err == nil && len(v.Faults) > 0 {
		outcome := exit.ErrReported
		if !out.JSON() && a.Chat() == nil { // in the chat the list is the answer
			outcome = fmt.Errorf("the plan is not valid: fix the errors above, then check it again (%s)", english.Count(len(v.Faults), "error"))
		}
		err = &exit.Error{Status: exit.BadUsage, Code: "invalid_plan", Err: outcome}
	}
	return err
}

// write prints the verdict for people.
func (v Verdict) write(p *plain.Printer, ascii bool) {
	arrow := " → "
	if ascii {
		arrow = " -> "
	}
	code := func(f plan.Fault) plain.Ink { return plain.Ink{Text: f.Code, Style: p.Styles().Accent} }
	if len(v.Faults) > 0 {
		p.Line("%s the plan is not valid: %s", p.Signs.Failed, english.Count(len(v.Faults), "error"))
		for _, f := range v.Faults {
			p.Line("  %s at %s: %s", code(f), config.First(f.Path, "the plan"), f.Message)
		}
		return
	}
	p.Line("%s %s is valid: %s in %s", p.Signs.Done, v.Plan.Title, english.Count(len(v.order), "step"), english.Count(len(v.batches), "batch"))
	p.Plan("", plantext.Plan(v.Plan, ascii))
	for _, s := range v.Plan.Steps {
		if s.ForEach != nil {
			p.Fields(plain.Field{Name: "step " + s.Index, Value: "for each of " + wording.EachWords(s.ForEach) + ": " + wording.EstimateWords(v.Plan, s.ForEach)})
		}
	}
	p.Fields(plain.Field{Name: "critical path", Value: strings.Join(v.criticalPath, arrow)}, plain.Field{Name: "asks before", Value: strings.Join(v.gates, ", ")}, plain.Field{Name: "checks", Value: wording.ChecksCount(v.Plan)})
	for _, f := range v.Warnings {
		p.Line("%s %s (%s)", plain.Ink{Text: "warning:", Style: p.Styles().Warning}, f.Message, f.Code)
	}
}

// estimate is how many items a step will run for.
type estimate struct {
	Step  string `json:"step"`
	Items int    `json:"items"` // at most, if they are not known
	Known bool   `json:"known"`
	After string `json:"after,omitempty"` // the step whose result is the list
}

// estimates returns what is known of the items of a plan's steps.
func estimates(p plan.Plan) (out []estimate) {
	for _, s := range p.Steps {
		if s.ForEach != nil {
			e := estimate{Step: s.Index}
			e.Items, e.Known, e.After = s.ForEach.Estimate(p)
			out = append(out, e)
		}
	}
	return out
}

// Without filters out the faults with one code.
func Without(faults []plan.Fault, code string) []plan.Fault {
	var rest []plan.Fault
	for _, f := range faults {
		if f.Code != code {
			rest = append(rest, f)
		}
	}
	return rest
}
