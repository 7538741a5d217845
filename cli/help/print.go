package help

import (
	"io"

	"github.com/spf13/cobra"

	"replan/cli/exit"
	"replan/cli/tty"
)

// widestHelp is the width of help in a wide terminal.
const widestHelp = 100

// Print prints the help of a command.
func Print(out io.Writer, cmd *cobra.Command, all bool) error {
	width := min(tty.Width(out), widestHelp)
	return exit.Wrap(exit.Writing, Write(tty.Styled(out), cmd, width, all))
}
