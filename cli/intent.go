package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"replan/planning/intent"
)

func newIntent(o *options) *cobra.Command {
	command := &cobra.Command{
		Use:   "intent WORDS",
		Short: "Say as JSON what words ask for, without a model",
		Long: "intent reads an order or a question and prints one line of JSON: its category, action, target and\n" +
			"parameters, and a confidence from 0 to 1. Below 0.5 the category is unknown. Nothing is run.",
		Example: "  replan intent rename authenticate to verify_user\n  replan intent \"why does TestLogin fail?\"",
		RunE: func(_ *cobra.Command, args []string) error {
			words := strings.Join(args, " ")
			if strings.TrimSpace(words) == "" {
				return usage("say in words what is wanted: replan intent WORDS")
			}
			return o.printLine(intent.Parse(words))
		},
	}
	return dashing(command)
}
