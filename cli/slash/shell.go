package slash

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"replan/cli/args"
	"replan/cli/help"
)

// Shell returns the shell's version of a chat command.
func Shell(c Command, out io.Writer) *cobra.Command {
	command := &cobra.Command{
		Use: strings.TrimSpace(c.Name + " " + c.Args), Short: c.Short, Long: c.Long, Args: args.None,
		RunE: func(cmd *cobra.Command, args []string) error {
			if c.Do == nil {
				return help.Print(out, cmd, false)
			}
			return c.Do(cmd.Context(), Call{Path: cmd.CommandPath(), Args: args, Flags: cmd.Flags()})
		},
	}
	if c.Do == nil {
		help.Menu(command)
	}
	if len(c.Examples) > 0 {
		command.Example = "  replan " + strings.Join(c.Examples, "\n  replan ")
	}
	if c.Check != nil {
		command.Args = args.Shell(c.Check)
	}
	if c.Flags != nil {
		c.Flags(command.Flags())
	}
	for _, below := range c.Below {
		command.AddCommand(Shell(below, out))
	}
	return command
}
