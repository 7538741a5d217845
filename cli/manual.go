package cli

import (
	mcobra "github.com/muesli/mango-cobra"
	"github.com/muesli/roff"
	"github.com/spf13/cobra"

	"replan/cli/app"
	"replan/cli/args"
	"replan/cli/exit"
)

// newManual returns the command that prints the manual page.
func newManual(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "man", Short: "Print the manual page of all commands",
		Long:    "man prints a manual page of all commands and flags in the format of man(1).",
		Example: "  replan man > replan.1 && man ./replan.1\n  replan man > ~/.local/share/man/man1/replan.1",
		Args:    args.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			page, err := mcobra.NewManPage(1, cmd.Root())
			if err != nil {
				return exit.Wrap("write the manual page", err)
			}
			return a.Out().Print(page.Build(roff.NewDocument()))
		},
	}
}
