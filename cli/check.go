package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/rule"
	"replan/cli/app"
	"replan/cli/config"
	"replan/cli/exit"
	"replan/cli/slash"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/mcpclient"
	"replan/planning/plan"
	"replan/tui/plain"
	"replan/tui/plantext"
	"replan/tui/telling"
)

// planCheck checks a plan, for replan plan check.
type planCheck struct {
	app  *app.App
	vars variables
}

func newPlanCheck(a *app.App) slash.Command {
	o := planCheck{app: a}
	return slash.Command{
		Name: "check", Args: "FILE", Short: "Check a plan: every error, and how it would run",
		Long: "check reports every error of a plan at once, each with its place in the file, including references to\n" +
			"fields that the tool's output schema does not have. For a valid plan it prints\n" +
			"the batches that can run at the same time, the critical path by the durations of earlier runs,\n" +
			"and the steps that would wait at a gate. A step whose call a rule denies is a warning. Nothing\n" +
			"is called. FILE may be - for standard input, or the id of a saved plan.",
		Examples: []string{"plan check deploy.json", "plan check deploy.json --var env=staging --output json"},
		Flags: func(f *pflag.FlagSet) {
			registerVars(f, (*[]string)(&o.vars))
			a.Settings().RegisterStrict(f)
		},
		Check: one("FILE"),
		Do: func(ctx context.Context, c slash.Call) error {
			return o.run(ctx, c.Args[0])
		},
	}
}

// run checks a plan, with the tools of the chat, or new ones that it starts and stops.
func (o planCheck) run(ctx context.Context, name string) (err error) {
	named, err := planFiles{o.app}.read(name)
	if err != nil {
		return err
	}
	var w *app.Services
	if c := o.app.Chat(); c != nil {
		w = c.Services()
	} else {
		if w, err = o.app.Prepare(ctx, app.Opening{Trust: mcpclient.TrustNone}); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, exit.Wrap("end in order", w.Close())) }()
	}
	v, err := (checker{o.app, w}).check(ctx, named, o.vars)
	if err != nil {
		return err
	}
	o.app.Out().Notes(w.Ignored(""))
	printTroubles(o.app.Out(), w.Tools(), "", v.awaited)
	return v.print(o.app)
}

// verdict is the result of checking a plan.
type verdict struct {
	plan         plan.Plan
	faults       []plan.Fault
	batches      [][]string
	order        []string
	criticalPath []string
	gates        []string // steps whose calls would ask
	warnings     []plan.Fault
	awaited      []string // servers that did not start in time
	tools        plan.Catalogue
}

// checker checks plans against the tools of services.
type checker struct {
	app  *app.App
	with *app.Services
}

// check checks a plan against the available tools.
func (o checker) check(ctx context.Context, named namedPlan, vars variables) (verdict, error) {
	set := o.app.Settings()
	data, err := vars.into(named.data)
	if err != nil {
		return verdict{}, err
	}
	var v verdict
	catalogue, awaited, err := o.toolsFor(ctx, data, named.call)
	if err != nil {
		return v, err
	}
	v.awaited, v.tools = awaited, catalogue
	if catalogue, err = o.app.Store().RecallTools(set.Workspace, catalogue); err != nil {
		o.with.Logger().Warn("what earlier runs have shown of tools cannot be read", "error", err)
	}
	rules := plan.Rules{
		Catalogue: catalogue,
		// A skipped or disabled server offers no tools, but that does not make
		// every name valid.
		CheckTools: len(o.with.Tools().Status()) > 0,
		// A model fills in missing arguments when the step is ready. In a file,
		// empty args mean a call without arguments.
		PartialArgs: !named.call,
		Strict:      strict(set),
		EmptyArgs:   !named.stored,
		Profiles:    set.Manner.Names(),
	}
	if set.Changed("max-plan-steps") {
		rules.MaxSteps = set.Limits.MaxPlanSteps
	}
	v.plan, v.faults, v.warnings = plan.CheckPlan(data, rules)
	if len(v.faults) > 0 {
		return v, nil
	}
	graph := plan.NewGraph(v.plan)
	v.batches, v.order = graph.Batches(), graph.Order()
	priors, err := o.app.Store().MedianDurations()
	if err != nil {
		o.with.Logger().Warn("the durations of tools cannot be read", "error", err)
	}
	v.criticalPath = graph.CriticalPath(func(s plan.Step) float64 {
		return agent.Weigh(s, catalogue, priors) * agent.Rounds(v.plan, s, catalogue, event.DefaultLimits())
	})
	gates, denied := o.foresee(v.plan, graph, catalogue)
	v.gates, v.warnings = gates, append(v.warnings, denied...)
	return v, nil
}

// strict reports whether args that need a conversion are refused.
func strict(set *config.Options) bool { return set.Strict || set.Manner.Prompting.Strict }

// toolsFor waits for the servers whose tools a plan names, for no others, and
// returns the tools available then and the servers that have not started in time. For a
// single call it waits for all that may have the tool: two servers may offer its name,
// and which of them is ready first must not decide.
func (o checker) toolsFor(ctx context.Context, data []byte, call bool) (plan.Catalogue, []string, error) {
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
	catalogue, awaited := o.with.Tools().ReadyFor(within, names)
	if len(awaited) > 0 && ctx.Err() == nil {
		if o.app.Chat() == nil {
			o.app.Out().Note("waiting for the MCP %s %s to start", english.Agree(len(awaited), "server", "servers"), untrusted.Line(english.List(awaited, "and")))
		}
		within, cancel := context.WithTimeout(ctx, toolsWithin(o.with.Tools(), awaited))
		defer cancel()
		catalogue, awaited = o.with.Tools().ReadyFor(within, names)
	}
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	return catalogue, awaited, nil
}

// foresee returns the steps whose calls would ask, and a warning for each whose
// call a rule would deny, in execution order. A user who runs a plan asks for the
// tests in it.
func (o checker) foresee(p plan.Plan, graph *plan.Graph, catalogue plan.Catalogue) (gates []string, denied []plan.Fault) {
	rules := slices.Concat(o.app.Settings().Rules, policy.BuiltIn(policy.Trust{Workspace: o.app.Settings().Trusted, Tests: policy.PlansTests(&p)}))
	gates = []string{}
	for _, f := range policy.Foresee(rules, p, graph, catalogue) {
		switch {
		case f.Rule.Verdict == rule.VerdictBlock:
			denied = append(denied, plan.Fault{
				Code: plan.CodeDenied, Path: fmt.Sprintf("/steps/%d/tool", f.Position), Step: f.Step,
				Message: fmt.Sprintf("step %s will be denied, and its run ends there: %s", f.Step, telling.RuleWords(f.Rule)),
			})
		case f.Asks:
			gates = append(gates, f.Step)
		}
	}
	return gates, denied
}

// print prints the result of a check. An invalid plan returns a failure
// that was already reported.
func (v verdict) print(a *app.App) error {
	out := a.Out()
	var err error
	switch {
	case out.JSON() && len(v.faults) > 0:
		err = out.PrintJSON(struct {
			Valid  bool         `json:"valid"`
			Errors []plan.Fault `json:"errors"`
		}{false, v.faults})
	case out.JSON():
		err = out.PrintJSON(struct {
			Valid        bool         `json:"valid"`
			Batches      [][]string   `json:"batches"`
			Order        []string     `json:"order"`
			CriticalPath []string     `json:"critical_path"`
			Items        []estimate   `json:"items,omitempty"`
			Gates        []string     `json:"gates"`
			Warnings     []plan.Fault `json:"warnings"`
		}{true, noNil(v.batches), noNil(v.order), noNil(v.criticalPath), estimates(v.plan), v.gates, noNil(v.warnings)})
	default:
		err = out.Lines(func(p *plain.Printer) { v.write(p, a.Settings().ASCII) })
	}
	if err == nil && len(v.faults) > 0 {
		outcome := exit.ErrReported
		if !out.JSON() && a.Chat() == nil { // in the chat the list is the answer
			outcome = fmt.Errorf("the plan is not valid: fix the errors above, then check it again (%s)", english.Count(len(v.faults), "error"))
		}
		err = &exit.Error{Status: exit.BadUsage, Code: "invalid_plan", Err: outcome}
	}
	return err
}

// write prints the verdict for people.
func (v verdict) write(p *plain.Printer, ascii bool) {
	arrow := " → "
	if ascii {
		arrow = " -> "
	}
	code := func(f plan.Fault) plain.Ink { return plain.Ink{Text: f.Code, Style: p.Styles().Accent} }
	if len(v.faults) > 0 {
		p.Line("%s the plan is not valid: %s", p.Signs.Failed, english.Count(len(v.faults), "error"))
		for _, f := range v.faults {
			p.Line("  %s at %s: %s", code(f), config.First(f.Path, "the plan"), f.Message)
		}
		return
	}
	p.Line("%s %s is valid: %s in %s", p.Signs.Done, v.plan.Title, english.Count(len(v.order), "step"), english.Count(len(v.batches), "batch"))
	p.Plan("", plantext.Plan(v.plan, ascii))
	for _, s := range v.plan.Steps {
		if s.ForEach != nil {
			p.Fields(plain.Field{Name: "step " + s.Index, Value: "for each of " + telling.EachWords(s.ForEach) + ": " + telling.EstimateWords(v.plan, s.ForEach)})
		}
	}
	p.Fields(plain.Field{Name: "critical path", Value: strings.Join(v.criticalPath, arrow)}, plain.Field{Name: "asks before", Value: strings.Join(v.gates, ", ")}, plain.Field{Name: "checks", Value: telling.ChecksCount(v.plan)})
	for _, f := range v.warnings {
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

// noNil returns an empty list for nil.
func noNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
