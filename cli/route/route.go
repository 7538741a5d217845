package route

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"replan/agent/event"
	"replan/cli/app"
	"replan/cli/args"
	"replan/cli/exit"
	"replan/cli/plans"
	"replan/cli/tty"
	"replan/internal/english"
	"replan/mcpclient/workspace"
	"replan/planning/intent"
	"replan/tui/plain"
	"replan/tui/plantext"
)

// maxRouteFile is the maximum size of an intent or chain file in bytes.
const maxRouteFile = 4 << 20

// routeOptions are the options of replan route.
type routeOptions struct {
	router
	intent string // a file with the intent
}

// NewRoute returns the command replan route.
func NewRoute(a *app.App) *cobra.Command {
	o := routeOptions{router: router{app: a}}
	command := &cobra.Command{
		Use:   "route WORDS",
		Short: "Print the operators that would do a task, without a model",
		Long: "route reads an order and prints the chain of operators that does it: its steps on a terminal. Piped, or\n" +
			"with --output json, it is one line of JSON with the intent, the nodes in order, and the positions of those\n" +
			"that ask first. Nothing runs.",
		Example: "  replan route rename authenticate to verify_user\n  replan route \"add caching to api.go\" --policy '{\"require_tests\":true}'\n  replan intent find X | replan route --intent -",
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), strings.Join(args, " ")) },
	}
	o.registerPolicy(command)
	command.Flags().StringVar(&o.intent, "intent", "", "read the intent from `FILE` instead of words; - is standard input")
	return dashing(command)
}

// run prints the chain.
func (o routeOptions) run(ctx context.Context, words string) error {
	chain, err := o.chain(ctx, words, o.intent)
	if err != nil {
		return err
	}
	err = o.show(chain, func(p *plain.Printer) { writeRoute(p, chain, o.app.Appearance().ASCII) })
	return cmp.Or(err, unclear(chain))
}

// composeOptions are the options of replan compose.
type composeOptions struct {
	router
	plan string // a file with the chain
}

// NewCompose returns the command replan compose.
func NewCompose(a *app.App) *cobra.Command {
	o := composeOptions{router: router{app: a}}
	command := &cobra.Command{
		Use:   "compose WORDS",
		Short: "Print the plan for a task, without a model",
		Long: "compose compiles the chain of operators for an order to a plan, and prints it on a terminal. Piped, or\n" +
			"with --output json, it is one line of JSON with the nodes and edges of the graph, a topological order, the\n" +
			"groups that may run at once, a rough complexity, and the plan for replan plan run. Nothing runs.",
		Example: "  replan compose \"why does TestLogin fail\"\n  replan route \"run the tests\" | replan compose --plan -",
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), strings.Join(args, " ")) },
	}
	o.registerPolicy(command)
	command.Flags().StringVar(&o.plan, "plan", "", "read the chain printed by replan route from `FILE` instead of words; - is standard input")
	return dashing(command)
}

// run prints the plan.
func (o composeOptions) run(ctx context.Context, words string) error {
	chain, err := o.chain(ctx, words)
	if err != nil {
		return err
	}
	out, err := intent.Compose(chain, strings.TrimSpace(words))
	if err != nil {
		return exit.Usage("%w", err)
	}
	err = o.show(out, func(p *plain.Printer) {
		if !chain.Empty() {
			plans.Write(p, out.Plan, o.app.Appearance().ASCII)
		}
		writeOpen(p, chain)
	})
	return cmp.Or(err, unclear(chain))
}

// chain returns the chain for words, or the one in a file.
func (o composeOptions) chain(ctx context.Context, words string) (intent.Chain, error) {
	switch {
	case o.plan != "" && strings.TrimSpace(words) != "":
		return intent.Chain{}, exit.Usage("give either words or --plan, not both")
	case o.plan == "" && strings.TrimSpace(words) == "":
		return intent.Chain{}, exit.Usage("name the task: replan compose WORDS")
	case o.plan == "":
		return o.router.chain(ctx, words, "")
	}
	policy, err := o.policy()
	if err != nil {
		return intent.Chain{}, err
	}
	data, err := o.read(o.plan)
	if err != nil {
		return intent.Chain{}, err
	}
	chain, err := intent.DecodeChain(data)
	if err != nil {
		return chain, exit.Usage("%w", err)
	}
	return policy.Apply(chain), nil
}

// router finds the chains of operators for tasks, without a model.
type router struct {
	app        *app.App
	policyText string // value of --policy
}

// chain returns the chain for words, or for the intent in a file.
func (o router) chain(ctx context.Context, words, from string) (intent.Chain, error) {
	policy, err := o.policy()
	if err != nil {
		return intent.Chain{}, err
	}
	words = strings.TrimSpace(words)
	var chain intent.Chain
	switch {
	case from != "" && words != "":
		return intent.Chain{}, exit.Usage("give either words or --intent, not both")
	case from != "":
		data, err := o.read(from)
		if err != nil {
			return intent.Chain{}, err
		}
		in, err := intent.DecodeIntent(data)
		if err != nil {
			return intent.Chain{}, exit.Usage("%w", err)
		}
		chain = o.facts(ctx, intent.SurveyFor(in, "")).Route(in, policy)
	case words == "":
		return intent.Chain{}, exit.Usage("name the task: replan route WORDS")
	default:
		chain = o.facts(ctx, intent.NewSurvey(words)).RouteWords(words, policy)
	}
	chain.Goal = words
	return chain, nil
}

// facts searches the workspace, of which nothing is changed.
func (o router) facts(ctx context.Context, survey *intent.Survey) intent.Facts {
	own, err := workspace.New(workspace.Config{Dir: o.app.Folders().Workspace, Private: o.app.Folders().Dirs.All(), Hidden: o.app.Gates().Hidden})
	if err != nil {
		return intent.Facts{}
	}
	defer own.Close() //nolint:errcheck // it was only read
	facts, err := own.Facts(ctx, survey)
	if err != nil {
		return intent.Facts{}
	}
	return facts
}

// registerPolicy declares --policy.
func (o *router) registerPolicy(command *cobra.Command) {
	command.Flags().StringVar(&o.policyText, "policy", "", "route by the policy `JSON`: prefer_tools, require_tests")
}

// policy parses --policy; without it the configuration applies.
func (o router) policy() (intent.Policy, error) {
	if o.policyText == "" {
		return o.app.Planning().Routing.Policy, nil
	}
	policy, err := intent.DecodePolicy([]byte(o.policyText))
	if err != nil {
		return policy, exit.Usage("--policy: %w", err)
	}
	return policy, nil
}

// read reads the output of an earlier command.
func (o router) read(name string) ([]byte, error) {
	in := o.app.IO().In
	if name != "-" {
		file, err := os.Open(name) //nolint:gosec // the user names it
		if err != nil {
			return nil, exit.Usage("reading %s: %w", name, errors.Unwrap(err))
		}
		defer file.Close() //nolint:errcheck // only read
		in = file
	}
	data, err := io.ReadAll(io.LimitReader(in, maxRouteFile+1))
	switch {
	case err != nil:
		return nil, exit.Usage("reading %s: %w", name, err)
	case len(data) > maxRouteFile:
		return nil, exit.Usage("%s is larger than %d bytes, too large for a chain", name, maxRouteFile)
	}
	return data, nil
}

// show writes a value as text on a terminal, else as one line of JSON without HTML
// escaping, which the next command reads.
func (o router) show(v any, text func(*plain.Printer)) error {
	out := o.app.Out()
	if !out.JSON() && tty.Is(o.app.IO().Out) {
		return out.Lines(text)
	}
	return out.PrintJSON(v)
}

// NewIntent returns the command replan intent.
func NewIntent(a *app.App) *cobra.Command {
	o := router{app: a}
	command := &cobra.Command{
		Use:   "intent WORDS",
		Short: "Print the intent of an order, without a model",
		Long: "intent reads an order or a question and prints its category, action, target and parameters, and a\n" +
			"confidence from 0 to 1. Below 0.5 the category is unknown. A terminal also gets the steps; piped, or with\n" +
			"--output json, it is one line of JSON. Nothing runs.",
		Example: "  replan intent rename authenticate to verify_user\n  replan intent \"why does TestLogin fail?\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			words := strings.Join(args, " ")
			if strings.TrimSpace(words) == "" {
				return exit.Usage("name the task: replan intent WORDS")
			}
			in := intent.Parse(words)
			return o.show(in, func(p *plain.Printer) {
				chain := o.facts(cmd.Context(), intent.NewSurvey(words)).RouteWords(words, a.Planning().Routing.Policy)
				writeIntent(p, in, chain, a.Appearance().ASCII)
			})
		},
	}
	return dashing(command)
}

// dashing makes a command explain how to pass words that begin with a dash.
func dashing(command *cobra.Command) *cobra.Command {
	command.Args = cobra.ArbitraryArgs
	command.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return exit.Usage("%w", args.WrongFlag(cmd.Flags(), err, "quote words that begin with a dash together with the others, or put them after --"))
	})
	return command
}

// unclear returns the exit of a goal that only a model can plan, if the chain has no
// operators; its output says so.
func unclear(chain intent.Chain) error {
	if !chain.Empty() {
		return nil
	}
	return &exit.Error{Status: event.ReasonNoModel.ExitCode(), Code: string(event.ReasonNoModel), Err: exit.ErrReported}
}

// writeIntent prints an intent, and the chain for it.
func writeIntent(p *plain.Printer, in intent.Intent, chain intent.Chain, ascii bool) {
	sure := "sure enough to act on"
	if in.Confidence < intent.Confident {
		sure = fmt.Sprintf("below %.2g a model plans", intent.Confident)
	}
	p.Line("%s  %s", p.Strong(in.Action), p.Faint("(%s)", in.Category))
	fields := []plain.Field{{Name: "target", Value: in.Target}}
	for _, name := range slices.Sorted(maps.Keys(in.Params)) {
		fields = append(fields, plain.Field{Name: strings.ReplaceAll(name, "_", " "), Value: in.Params[name]})
	}
	p.Fields(append(fields, plain.Field{Name: "certainty", Value: fmt.Sprintf("%.2f, %s", in.Confidence, sure)})...)
	p.Line("")
	writeRoute(p, chain, ascii)
}

// writeRoute prints the steps of a chain.
func writeRoute(p *plain.Printer, chain intent.Chain, ascii bool) {
	if !chain.Empty() {
		p.Plan("", plantext.Plan(chain.Plan(""), ascii))
	}
	writeOpen(p, chain)
}

// writeOpen prints what a chain needs before it can run.
func writeOpen(p *plain.Printer, chain intent.Chain) {
	var asks []string
	for _, at := range chain.PolicyGates() {
		asks = append(asks, strconv.Itoa(at+1))
	}
	if chain.Empty() {
		p.Line("%s no chain of operators fits these words: a model plans them", p.Signs.Note)
	} else if len(asks)+len(chain.Missing) > 0 || chain.NeedsModel() {
		p.Line("")
	}
	if chain.NeedsModel() {
		p.Line("%s some of these steps need a model", p.Signs.Note)
	}
	if len(asks) > 0 {
		p.Line("%s %s first: %s", p.Signs.Gate, english.Agree(len(asks), "this step asks", "these steps ask"), english.List(asks, "and"))
	}
	for _, open := range chain.Missing {
		p.Line("%s open: %s", p.Signs.Gate, open)
	}
}
