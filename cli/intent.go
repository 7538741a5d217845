package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"replan/planning"
	"replan/planning/intent"
)

func newIntent(o *options) *cobra.Command {
	command := &cobra.Command{
		Use:   "intent WORDS",
		Short: "Say as JSON what words ask for, without a model",
		Long: "intent reads an order or a question and prints one line of JSON: its category, action, target and\n" +
			"parameters, and a confidence from 0 to 1. Below 0.5 the category is unknown. Nothing is run.",
		Example: "  replan intent rename authenticate to verify_user\n  replan intent \"why does TestLogin fail?\"",
		Args:    cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			words := strings.Join(args, " ")
			if strings.TrimSpace(words) == "" {
				return usage("say in words what is wanted: replan intent WORDS")
			}
			line, err := planning.EncodeJSON(intent.Parse(words))
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(o.io.Out, "%s\n", line)
			return wrap(writing, err)
		},
	}
	command.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return usage("%w; words that begin with a dash go in quotes with the others, or after --", err)
	})
	return command
}
