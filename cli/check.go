package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/rule"
	"replan/agent/store"
	"replan/cli/config"
	"replan/cli/exit"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/mcpclient"
	"replan/planning/plan"
	"replan/tui/plain"
	"replan/tui/plantext"
	"replan/tui/telling"
)

// namedPlan is a plan named on the command line.
type namedPlan struct {
	data   []byte // in plan file format
	stored bool   // given by the id of a stored plan
	call   bool   // of a single tool: its args are complete, and its name means one tool of all servers
}

// isFile reports whether a plan's name is a file, not an id: it looks like a
// path, or the file exists.
func isFile(name string) bool {
	if name == "-" || strings.ContainsRune(name, '/') || strings.ContainsRune(name, os.PathSeparator) || strings.HasSuffix(name, ".json") {
		return true
	}
	info, err := os.Stat(name)
	return err == nil && !info.IsDir()
}

// readPlan reads the named plan: a file, - for standard input, or the id of a
// stored plan.
func (o plans) readPlan(name string) (namedPlan, error) {
	if !isFile(name) {
		p, err := o.store.LoadPlan(name)
		if _, unknown := errors.AsType[*store.NotFoundError](err); unknown {
			err = fmt.Errorf("%w, and no file of that name", err)
		}
		if err != nil {
			return namedPlan{}, o.unopened(err)
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

// unwrap returns the plan nested in an object, as replan compose prints it.
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

// readFile returns the contents of a file, or of standard input for -, without
// comments and trailing commas.
func (o plans) readFile(name string) (data []byte, err error) {
	switch {
	case name != "-":
		data, err = readPlanFile(name)
	case o.chatContext != nil:
		return nil, exit.Usage("there is no standard input in the chat: name a file")
	default:
		data, err = readLimited(o.io.In)
	}
	if err != nil {
		return nil, exit.Usage("the plan cannot be read; name a file or - for standard input: %w", err)
	}
	data, _ = plan.Standard(data) // the check reports what is wrong
	return data, nil
}

// maxPlanFile is how many bytes a plan file may have. A device has no end.
const maxPlanFile = 64 << 20

func readPlanFile(name string) ([]byte, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file; pass what a program writes as -", name) // opening a pipe would wait for its writer
	}
	file, err := os.Open(name) //nolint:gosec // the user named it
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return readLimited(file)
}

func readLimited(from io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(from, maxPlanFile+1))
	if err == nil && len(data) > maxPlanFile {
		err = fmt.Errorf("it has more than %d MB", maxPlanFile>>20)
	}
	return data, err
}

// variables are the definitions of --var, in order.
type variables []string

// into adds the variables to a plan and overrides its own. It returns an invalid
// plan unchanged, since the check reports what is wrong with it.
func (v variables) into(data []byte) ([]byte, error) {
	defined := map[string]any{}
	for _, given := range v {
		name, text, ok := strings.Cut(given, "=")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, exit.Usage("--var takes NAME=VALUE, not %q", given)
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
	_, faults := plan.DecodePlan(data) // two fields of one name become one below
	if slices.ContainsFunc(faults, func(f plan.Fault) bool { return f.Code == plan.CodeDuplicateKey || f.Code == plan.CodeBadJSON }) {
		return data, nil // the check reports it with its position
	}
	read, err := plan.DecodeValue(data)
	object, ok := read.(map[string]any)
	if err != nil || !ok {
		return data, nil //nolint:nilerr // the check reports it with its position
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

// check checks a plan against the available tools.
func (o plans) check(ctx context.Context, w *services, named namedPlan, vars variables) (verdict, error) {
	data, err := vars.into(named.data)
	if err != nil {
		return verdict{}, err
	}
	var v verdict
	catalogue, awaited, err := o.toolsFor(ctx, w, data, named.call)
	if err != nil {
		return v, err
	}
	v.awaited, v.tools = awaited, catalogue
	if catalogue, err = o.store.RecallTools(o.Workspace, catalogue); err != nil {
		w.logger.Warn("what earlier runs have shown of tools cannot be read", "error", err)
	}
	rules := plan.Rules{
		Catalogue: catalogue,
		// A skipped or disabled server offers no tools, but that does not make
		// every name valid.
		CheckTools: len(w.tools.Status()) > 0,
		// A model fills in missing arguments when the step is ready. In a file,
		// empty args mean a call without arguments.
		PartialArgs: !named.call,
		Strict:      o.strict(),
		EmptyArgs:   !named.stored,
		Profiles:    o.Manner.Names(),
	}
	if o.Changed("max-plan-steps") {
		rules.MaxSteps = o.Limits.MaxPlanSteps
	}
	v.plan, v.faults, v.warnings = plan.CheckPlan(data, rules)
	if len(v.faults) > 0 {
		return v, nil
	}
	graph := plan.NewGraph(v.plan)
	v.batches, v.order = graph.Batches(), graph.Order()
	priors, err := o.store.MedianDurations()
	if err != nil {
		w.logger.Warn("the durations of tools cannot be read", "error", err)
	}
	v.criticalPath = graph.CriticalPath(func(s plan.Step) float64 {
		return agent.Weigh(s, catalogue, priors) * agent.Rounds(v.plan, s, catalogue, event.DefaultLimits())
	})
	gates, denied := o.foresee(v.plan, graph, catalogue)
	v.gates, v.warnings = gates, append(v.warnings, denied...)
	return v, nil
}

// strict reports whether args that need a conversion are refused.
func (o plans) strict() bool { return o.Strict || o.Manner.Prompting.Strict }

// toolsFor waits for the servers whose tools a plan names, for no others, and
// returns the tools available then and the servers that have not started in time. For a
// single call it waits for all that may have the tool: two servers may offer its name,
// and which of them is ready first must not decide.
func (o plans) toolsFor(ctx context.Context, w *services, data []byte, call bool) (plan.Catalogue, []string, error) {
	p, _ := plan.DecodePlan(data) // the check reports its errors
	names := p.Tools()
	if call && len(names) > 0 && !strings.Contains(names[0], ":") {
		own, _ := w.tools.ReadyFor(ctx, nil)
		if t, _ := own.Find(names[0]); !t.Trusted {
			names = []string{"*:" + names[0]}
		}
	}
	within, cancel := context.WithTimeout(ctx, toolsSoon)
	defer cancel()
	catalogue, awaited := w.tools.ReadyFor(within, names)
	if len(awaited) > 0 && ctx.Err() == nil {
		if o.chatContext == nil {
			_, _ = fmt.Fprintf(o.io.Err, "replan: waiting for the MCP %s %s to start\n", english.Agree(len(awaited), "server", "servers"), untrusted.Line(english.List(awaited, "and")))
		}
		within, cancel := context.WithTimeout(ctx, w.toolsWithin(awaited))
		defer cancel()
		catalogue, awaited = w.tools.ReadyFor(within, names)
	}
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	return catalogue, awaited, nil
}

// toolsWithin returns how long a command waits for these servers to start, nil for all.
func (w *services) toolsWithin(servers []string) time.Duration {
	return plan.ServerWait(plan.MaxServerWait, w.tools.Status(), servers)
}

// serverOf returns the server that a name of a tool or server means, "" if none does.
func (w *services) serverOf(name string, all plan.Catalogue) string {
	server, _, _ := strings.Cut(name, ":")
	if slices.ContainsFunc(w.tools.Status(), func(s plan.ServerStatus) bool { return s.Name == server }) {
		return server
	}
	t, _ := all.Find(name) // an unknown tool has no server
	return t.Server
}

// failureOf returns why a server failed, "" if it did not.
func (w *services) failureOf(server string) string {
	for _, s := range w.tools.Status() {
		if s.Name == server && s.State == plan.ServerFailed {
			return s.Error.Line()
		}
	}
	return ""
}

// printTroubles reports problems with a server on standard error, or with all servers
// for "". The awaited servers did not start in time.
func (o *options) printTroubles(w *services, server string, awaited []string) {
	for _, s := range w.tools.Status() {
		if server != "" && s.Name != server {
			continue
		}
		if s.Declined || slices.Contains(w.tools.LeftOut(), s.Name) {
			continue // the user knows, or a note has said it
		}
		if server == "" && s.Disabled != "" {
			continue // it is meant to be so
		}
		if what := cmp.Or(s.Error, s.Note); what != "" {
			_, _ = fmt.Fprintf(o.io.Err, "replan: the MCP server %q: %s\n", s.Name, what.Line())
		}
		if s.State == plan.ServerStarting && slices.Contains(awaited, s.Name) {
			_, _ = fmt.Fprintf(o.io.Err, "replan: the MCP server %q has not started in time\n", s.Name)
		}
	}
}

// printNotes prints notes to the user on standard error.
func (o *options) printNotes(notes []string) {
	for _, note := range notes {
		_, _ = fmt.Fprintf(o.io.Err, "replan: %s\n", untrusted.Line(note))
	}
}

// printExitNote prints what the user is to know once services are closed.
func (o *options) printExitNote(w *services) {
	if note := w.exitNote.Load(); note != nil {
		o.printNotes([]string{*note})
	}
}

// foresee returns the steps whose calls would ask, and a warning for each whose
// call a rule would deny, in execution order. A user who runs a plan asks for the
// tests in it.
func (o plans) foresee(p plan.Plan, graph *plan.Graph, catalogue plan.Catalogue) (gates []string, denied []plan.Fault) {
	rules := slices.Concat(o.Rules, policy.BuiltIn(policy.Trust{Workspace: o.Trusted, Tests: policy.PlansTests(&p)}))
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

// printVerdict prints the result of a check. An invalid plan returns a failure
// that was already reported.
func (o plans) printVerdict(v verdict) error {
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
			Items        []estimate   `json:"items,omitempty"`
			Gates        []string     `json:"gates"`
			Warnings     []plan.Fault `json:"warnings"`
		}{true, noNil(v.batches), noNil(v.order), noNil(v.criticalPath), estimates(v.plan), v.gates, noNil(v.warnings)})
	default:
		err = o.printed(func(p *plain.Printer) { v.write(p, o.ASCII) })
	}
	if err == nil && len(v.faults) > 0 {
		outcome := exit.ErrReported
		if o.Output == config.OutputText && o.chatContext == nil { // in the chat the list is the answer
			outcome = fmt.Errorf("the plan is not valid: fix the errors above, then check it again (%s)", english.Count(len(v.faults), "error"))
		}
		err = &exit.Error{Status: exit.BadUsage, Code: "invalid_plan", Err: outcome}
	}
	return err
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

// planCheck implements replan plan check.
func (o plans) planCheck(ctx context.Context, name string, vars variables) error {
	named, err := o.readPlan(name)
	if err != nil {
		return err
	}
	return o.withTools(ctx, func(w *services) error {
		v, err := o.check(ctx, w, named, vars)
		if err != nil {
			return err
		}
		o.printNotes(w.ignored(""))
		o.printTroubles(w, "", v.awaited)
		return o.printVerdict(v)
	})
}

// withTools calls a function with tools: those of the chat, or new ones that it
// starts and stops.
func (o plans) withTools(ctx context.Context, do func(*services) error) (err error) {
	if o.chatContext != nil {
		return do(o.chatContext.services)
	}
	w, err := o.wiring().prepare(ctx, opening{trust: mcpclient.TrustNone})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, exit.Wrap("end in order", w.close())) }()
	return do(w)
}
