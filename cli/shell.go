package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"replan/cli/slash"
)

// shellCommand is the command of the shell that does what one of the chat does.
func shellCommand(c slash.Command) *cobra.Command {
	command := &cobra.Command{
		Use: strings.TrimSpace(c.Name + " " + c.Args), Short: c.Short, Long: c.Long, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if c.Do == nil {
				return cmd.Help()
			}
			return c.Do(cmd.Context(), slash.Call{Path: cmd.CommandPath(), Args: args, Flags: cmd.Flags()})
		},
	}
	if len(c.Examples) > 0 {
		command.Example = "  replan " + strings.Join(c.Examples, "\n  replan ")
	}
	if c.Check != nil {
		command.Args = positional(c.Check)
	}
	if c.Flags != nil {
		c.Flags(command.Flags())
	}
	for _, below := range c.Below {
		command.AddCommand(shellCommand(below))
	}
	return command
}

// positional has the shell check arguments as the chat does.
func positional(check func(path string, args []string) error) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error { return check(cmd.CommandPath(), args) }
}
