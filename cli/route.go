package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"replan/planning/intent"
	"replan/planning/plan"
)

// maxRouteFile is the maximum size of an intent or chain file in bytes.
const maxRouteFile = 4 << 20

func newRoute(o *options) *cobra.Command {
	var policyText, from string
	command := &cobra.Command{
		Use:   "route WORDS",
		Short: "Print as JSON the operators that would do a task, without a model",
		Long: "route reads an order and prints the chain of operators that does it: one line of JSON with\n" +
			"the intent, the nodes in order, and the positions of those that ask first. Nothing runs.",
		Example: "  replan route rename authenticate to verify_user\n  replan route \"add caching to api.go\" --policy '{\"require_tests\":true}'\n  replan intent find X | replan route --intent -",
		RunE: func(cmd *cobra.Command, args []string) error {
			chain, err := o.router().routeOf(cmd.Context(), strings.Join(args, " "), from, policyText)
			if err != nil {
				return err
			}
			return o.router().printLine(chain)
		},
	}
	command.Flags().StringVar(&policyText, "policy", "", "route by the policy `JSON`: prefer_tools, require_tests")
	command.Flags().StringVar(&from, "intent", "", "read the intent from `FILE` instead of words; - is standard input")
	return dashing(command)
}

func newCompose(o *options) *cobra.Command {
	var policyText, from string
	command := &cobra.Command{
		Use:   "compose WORDS",
		Short: "Print as JSON the plan for a task, without a model",
		Long: "compose compiles the chain of operators for an order to a graph: one line of JSON with its nodes\n" +
			"and edges, a topological order, the groups that may run at once, a rough complexity, and the same as a\n" +
			"plan for replan plan run. Nothing runs.",
		Example: "  replan compose \"why does TestLogin fail\"\n  replan route \"run the tests\" | replan compose --plan -",
		RunE: func(cmd *cobra.Command, args []string) error {
			words := strings.Join(args, " ")
			chain, err := o.router().composed(cmd.Context(), words, from, policyText)
			if err != nil {
				return err
			}
			out, err := intent.Compose(chain, strings.TrimSpace(words))
			if err != nil {
				return usage("%w", err)
			}
			return o.router().printLine(out)
		},
	}
	command.Flags().StringVar(&policyText, "policy", "", "route by the policy `JSON`: prefer_tools, require_tests")
	command.Flags().StringVar(&from, "plan", "", "read the chain printed by replan route from `FILE` instead of words; - is standard input")
	return dashing(command)
}

// dashing makes a command explain how to pass words that begin with a dash.
func dashing(command *cobra.Command) *cobra.Command {
	command.Args = cobra.ArbitraryArgs
	command.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return usage("%w; quote words that begin with a dash together with the others, or put them after --", err)
	})
	return command
}

// printLine writes a value as one line of JSON without HTML escaping.
func (o router) printLine(v any) error {
	line, err := plan.EncodeJSON(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.io.Out, "%s\n", line)
	return wrap(writing, err)
}

// routeOf returns the chain for words, or for the intent in a file.
func (o router) routeOf(ctx context.Context, words, from, policyText string) (intent.Chain, error) {
	policy, err := o.routePolicy(policyText)
	if err != nil {
		return intent.Chain{}, err
	}
	words = strings.TrimSpace(words)
	var chain intent.Chain
	switch {
	case from != "" && words != "":
		return intent.Chain{}, usage("give either words or --intent, not both")
	case from != "":
		data, err := o.readRouteFile(from)
		if err != nil {
			return intent.Chain{}, err
		}
		in, err := intent.DecodeIntent(data)
		if err != nil {
			return intent.Chain{}, usage("%w", err)
		}
		chain = o.facts(ctx, intent.SurveyFor(in, "")).Route(in, policy)
	case words == "":
		return intent.Chain{}, usage("name the task: replan route WORDS")
	default:
		chain = o.facts(ctx, intent.NewSurvey(words)).RouteWords(words, policy)
	}
	chain.Goal = words
	return chain, nil
}

// composed returns the chain for words, or the one in a file.
func (o router) composed(ctx context.Context, words, from, policyText string) (intent.Chain, error) {
	switch {
	case from != "" && strings.TrimSpace(words) != "":
		return intent.Chain{}, usage("give either words or --plan, not both")
	case from == "" && strings.TrimSpace(words) == "":
		return intent.Chain{}, usage("name the task: replan compose WORDS")
	case from == "":
		return o.routeOf(ctx, words, "", policyText)
	}
	policy, err := o.routePolicy(policyText)
	if err != nil {
		return intent.Chain{}, err
	}
	data, err := o.readRouteFile(from)
	if err != nil {
		return intent.Chain{}, err
	}
	chain, err := intent.DecodeChain(data)
	if err != nil {
		return chain, usage("%w", err)
	}
	return policy.Apply(chain), nil
}

// routePolicy parses --policy; without it the configuration applies.
func (o router) routePolicy(text string) (intent.Policy, error) {
	if text == "" {
		return o.Routing.Policy, nil
	}
	policy, err := intent.DecodePolicy([]byte(text))
	if err != nil {
		return policy, usage("--policy: %w", err)
	}
	return policy, nil
}

// readRouteFile reads the output of an earlier command.
func (o router) readRouteFile(name string) ([]byte, error) {
	in := o.io.In
	if name != "-" {
		file, err := os.Open(name) //nolint:gosec // the user names it
		if err != nil {
			return nil, usage("reading %s: %w", name, errors.Unwrap(err))
		}
		defer file.Close() //nolint:errcheck // only read
		in = file
	}
	data, err := io.ReadAll(io.LimitReader(in, maxRouteFile+1))
	switch {
	case err != nil:
		return nil, usage("reading %s: %w", name, err)
	case len(data) > maxRouteFile:
		return nil, usage("%s is larger than %d bytes, too large for a chain", name, maxRouteFile)
	}
	return data, nil
}

func newIntent(o *options) *cobra.Command {
	command := &cobra.Command{
		Use:   "intent WORDS",
		Short: "Print as JSON the intent of an order, without a model",
		Long: "intent reads an order or a question and prints one line of JSON: its category, action, target and\n" +
			"parameters, and a confidence from 0 to 1. Below 0.5 the category is unknown. Nothing runs.",
		Example: "  replan intent rename authenticate to verify_user\n  replan intent \"why does TestLogin fail?\"",
		RunE: func(_ *cobra.Command, args []string) error {
			words := strings.Join(args, " ")
			if strings.TrimSpace(words) == "" {
				return usage("name the task: replan intent WORDS")
			}
			return o.router().printLine(intent.Parse(words))
		},
	}
	return dashing(command)
}
