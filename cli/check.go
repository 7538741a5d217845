package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"replan/agent"
	"replan/agent/policy"
	"replan/agent/rule"
	"replan/cli/config"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/plain"
)

// namedPlan is a plan as it was named on the command line.
type namedPlan struct {
	data   []byte // in the form of a plan file
	stored bool   // among the plans, by its id
	strict bool   // args are not fitted to the types that tools ask for
}

// isFile reports whether what names a plan is a file rather than an id: it says
// so by its look, or it is there.
func isFile(name string) bool {
	if name == "-" || strings.ContainsRune(name, '/') || strings.ContainsRune(name, os.PathSeparator) || strings.HasSuffix(name, ".json") {
		return true
	}
	info, err := os.Stat(name)
	return err == nil && !info.IsDir()
}

// readPlan reads the plan that is named: a file, - for standard input, or the id
// of a stored plan.
func (o plans) readPlan(name string) (namedPlan, error) {
	if !isFile(name) {
		p, err := o.storedPlan(name)
		if err != nil {
			return namedPlan{}, err
		}
		data, err := plan.EncodeJSON(p)
		return namedPlan{data: data, stored: true}, err
	}
	data, err := o.readFile(name)
	named := namedPlan{data: data}
	if plan, wrapped := unwrap(data); wrapped {
		named.data = plan
	}
	return named, err
}

// unwrap returns the plan within an object that is none and has one as its plan,
// as replan compose prints it.
func unwrap(data []byte) (plan []byte, wrapped bool) {
	var object map[string]json.RawMessage
	if json.Unmarshal(data, &object) != nil {
		return nil, false
	}
	plan, wrapped = object["plan"]
	if _, isPlan := object["steps"]; isPlan || !wrapped || !bytes.HasPrefix(plan, []byte("{")) {
		return nil, false
	}
	return plan, true
}

// readFile returns what is in a file, or on standard input for -.
func (o plans) readFile(name string) (data []byte, err error) {
	switch {
	case name != "-":
		data, err = os.ReadFile(name) //nolint:gosec // the user named it
	case o.talk != nil:
		return nil, usage("there is no standard input in the chat: name a file")
	default:
		data, err = io.ReadAll(o.io.In)
	}
	if err != nil {
		return nil, usage("the plan cannot be read; name a file or - for standard input: %w", err)
	}
	return data, nil
}

// variables are those that --var defines, in the order in which they were given.
type variables []string

// into returns the plan with the variables defined, which override its own.
// What is no plan is returned as it is: the check says what is wrong with it.
func (v variables) into(data []byte) ([]byte, error) {
	defined := map[string]any{}
	for _, given := range v {
		name, text, ok := strings.Cut(given, "=")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, usage("--var takes NAME=VALUE, not %q", given)
		}
		value, err := plan.DecodeValue([]byte(text))
		if err != nil {
			value = text
		}
		defined[name] = value
	}
	if len(defined) == 0 {
		return data, nil
	}
	read, err := plan.DecodeValue(data)
	object, ok := read.(map[string]any)
	if err != nil || !ok {
		return data, nil //nolint:nilerr // it is told with its place when the plan is checked
	}
	switch own := object["variables"].(type) {
	case nil:
		object["variables"] = defined
	case map[string]any:
		maps.Copy(own, defined)
	default:
		return data, nil
	}
	return plan.EncodeJSON(object)
}

// verdict is what a check finds out about a plan.
type verdict struct {
	plan         plan.Plan
	faults       []plan.Fault
	batches      [][]string
	order        []string
	criticalPath []string
	gates        []string // the steps whose calls would ask
	warnings     []plan.Fault
}

// check holds a plan against the tools there are.
func (o plans) check(ctx context.Context, w *workshop, named namedPlan, vars variables) (verdict, error) {
	data, err := vars.into(named.data)
	if err != nil {
		return verdict{}, err
	}
	catalogue, err := o.toolsFor(ctx, w, data)
	if err != nil {
		return verdict{}, err
	}
	rules := plan.Rules{
		Catalogue: catalogue,
		// A server that was left out or switched off says nothing of its tools, but
		// is no reason to believe every name.
		CheckTools: len(w.tools.Status()) > 0,
		// What was left out a model fills in when the step is ready. A file whose
		// args are empty says that there are none.
		PartialArgs: true,
		Strict:      named.strict,
		EmptyArgs:   !named.stored,
		Profiles:    o.Manner.Names(),
	}
	if o.Changed("max-plan-steps") {
		rules.MaxSteps = o.Limits.MaxPlanSteps
	}
	var v verdict
	v.plan, v.faults, v.warnings = plan.CheckPlan(data, rules)
	if len(v.faults) > 0 {
		return v, nil
	}
	graph := plan.NewGraph(v.plan)
	v.batches, v.order = graph.Batches(), graph.Order()
	priors, err := o.store.MedianDurations()
	if err != nil {
		w.logger.Warn("how long tools took is not known", "error", err)
	}
	v.criticalPath = graph.CriticalPath(func(s plan.Step) float64 { return agent.Weigh(s, catalogue, priors) })
	gates, denied := o.foresee(v.plan, graph, catalogue)
	v.gates, v.warnings = gates, append(v.warnings, denied...)
	return v, nil
}

// toolsFor waits for the servers whose tools a plan names, for no others, and
// returns the tools there are then.
func (o plans) toolsFor(ctx context.Context, w *workshop, data []byte) (plan.Catalogue, error) {
	p, _ := plan.DecodePlan(data) // what is wrong with it is told when it is checked
	var names []string
	for _, step := range p.Steps {
		if step.Executor == plan.ExecutorTool && step.Tool != "" {
			names = append(names, step.Tool)
		}
	}
	within, cancel := context.WithTimeout(ctx, toolsSoon)
	defer cancel()
	catalogue, awaited := w.tools.ReadyFor(within, names)
	if len(awaited) > 0 && ctx.Err() == nil {
		if o.talk == nil {
			_, _ = fmt.Fprintf(o.io.Err, "replan: waiting for the MCP server %s to start\n", untrusted.Line(strings.Join(awaited, ", ")))
		}
		within, cancel := context.WithTimeout(ctx, toolsWithin)
		defer cancel()
		catalogue, awaited = w.tools.ReadyFor(within, names)
	}
	w.awaited = awaited
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return catalogue, nil
}

// tellTroubles says on standard error what is wrong with servers.
func (o plans) tellTroubles(w *workshop) {
	for _, s := range w.tools.Status() {
		if s.Error != "" {
			_, _ = fmt.Fprintf(o.io.Err, "replan: the MCP server %q: %s\n", s.Name, untrusted.Line(s.Error))
		}
		if s.State == plan.ServerStarting && slices.Contains(w.awaited, s.Name) {
			_, _ = fmt.Fprintf(o.io.Err, "replan: the MCP server %q has not started within %s\n", s.Name, toolsWithin)
		}
	}
}

// foresee returns the steps whose calls would ask, and a warning for each whose call
// a rule would deny, in execution order. The user who runs a plan asks for the tests
// that are in it.
func (o plans) foresee(p plan.Plan, graph *plan.Graph, catalogue plan.Catalogue) (gates []string, denied []plan.Fault) {
	rules := slices.Concat(o.Rules, policy.BuiltIn(policy.Trust{Workspace: o.Trusted, Tests: policy.PlansTests(&p)}))
	gates = []string{}
	for _, f := range policy.Foresee(rules, p, graph, catalogue) {
		switch {
		case f.Rule.Verdict == rule.VerdictBlock:
			denied = append(denied, plan.Fault{
				Code: plan.CodeDenied, Path: fmt.Sprintf("/steps/%d/tool", f.Position), Step: f.Step,
				Message: fmt.Sprintf("step %s will be denied, and its run ends there: %s", f.Step, plain.Rule(f.Rule)),
			})
		case f.Asks:
			gates = append(gates, f.Step)
		}
	}
	return gates, denied
}

// tellVerdict prints what a check found out. An invalid plan is a failure that
// has been told then.
func (o plans) tellVerdict(v verdict) error {
	var err error
	switch {
	case o.Output == config.OutputJSON && len(v.faults) > 0:
		err = o.printJSON(struct {
			Valid  bool         `json:"valid"`
			Errors []plan.Fault `json:"errors"`
		}{false, v.faults})
	case o.Output == config.OutputJSON:
		err = o.printJSON(struct {
			Valid        bool         `json:"valid"`
			Batches      [][]string   `json:"batches"`
			Order        []string     `json:"order"`
			CriticalPath []string     `json:"critical_path"`
			Gates        []string     `json:"gates"`
			Warnings     []plan.Fault `json:"warnings"`
		}{true, noNil(v.batches), noNil(v.order), noNil(v.criticalPath), v.gates, noNil(v.warnings)})
	default:
		err = o.print(v.text(o.ASCII))
	}
	if err == nil && len(v.faults) > 0 {
		said := errSaid
		if o.Output == config.OutputText && o.talk == nil { // in the chat the list is the answer
			said = fmt.Errorf("the plan cannot be run as it is: mend what is listed, then check it again (%s)", english.Count(len(v.faults), "fault"))
		}
		err = &failure{exit: exitUsage, code: "invalid_plan", err: said}
	}
	return err
}

// noNil returns an empty list in place of none.
func noNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// text is the verdict for people.
func (v verdict) text(ascii bool) string {
	good, bad, arrow := "✓", "✗", " → "
	if ascii {
		good, bad, arrow = "ok", "x", " -> "
	}
	var b strings.Builder
	say := sayTo(&b)
	if len(v.faults) > 0 {
		say("%s the plan is not valid: %s", bad, english.Count(len(v.faults), "fault"))
		for _, f := range v.faults {
			say("  %s at %s: %s", f.Code, config.First(f.Path, "the plan"), f.Message)
		}
		return b.String()
	}
	say("%s %s is valid: %s in %s", good, v.plan.Title, english.Count(len(v.order), "step"), english.Count(len(v.batches), "batch"))
	b.WriteString(plain.Plan(v.plan, ascii))
	if len(v.criticalPath) > 0 {
		say("critical path: %s", strings.Join(v.criticalPath, arrow))
	}
	if len(v.gates) > 0 {
		say("asks before: %s", strings.Join(v.gates, ", "))
	}
	for _, f := range v.warnings {
		say("warning: %s (%s)", f.Message, f.Code)
	}
	return b.String()
}

// planCheck is replan plan check.
func (o plans) planCheck(ctx context.Context, name string, vars variables, strict bool) error {
	named, err := o.readPlan(name)
	if err != nil {
		return err
	}
	named.strict = strict
	return o.withTools(ctx, func(w *workshop) error {
		v, err := o.check(ctx, w, named, vars)
		if err != nil {
			return err
		}
		o.tellTroubles(w)
		return o.tellVerdict(v)
	})
}

// withTools does something with the tools at hand: those of the chat, or else
// some that are started for it and stopped after.
func (o plans) withTools(ctx context.Context, do func(*workshop) error) (err error) {
	if o.talk != nil {
		return do(o.talk.workshop)
	}
	w, err := o.wiring().prepare(ctx, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, wrap("end in order", w.close())) }()
	return do(w)
}
