package cli

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"replan/cli/app"
	"replan/cli/args"
	"replan/cli/exit"
	"replan/cli/help"
)

// newManual returns the command that shows the manual page.
func newManual(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "man", Short: "Show the manual page of all commands",
		Long: "man shows the manual page of all commands and flags by man(1). Without a terminal, or with --plain, it prints the\n" +
			"page in the format of man(1).",
		Example: "  replan man\n  replan man > ~/.local/share/man/man1/replan.1",
		Args:    args.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			page := help.Manual(cmd.Root(), time.Now())
			reader, err := exec.LookPath("man")
			if !a.IO().Terminal || a.Form().Plain || err != nil {
				return a.Out().Print(page)
			}
			return read(cmd.Context(), a.IO(), reader, page)
		},
	}
}

// read shows a manual page by a program such as man(1).
func read(ctx context.Context, std app.IO, reader, page string) error {
	folder, err := os.MkdirTemp("", "replan-man-")
	if err != nil {
		return exit.Wrap("write the manual page; set TMPDIR to a writable folder", err)
	}
	defer os.RemoveAll(folder) //nolint:errcheck // a leftover in the folder for temporary files
	file := filepath.Join(folder, "replan.1")
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		return exit.Wrap("write the manual page", err)
	}
	run := exec.CommandContext(ctx, reader, file) //nolint:gosec // the manual reader of PATH
	run.Stdin, run.Stdout, run.Stderr = std.In, std.Out, std.Err
	return exit.Wrap("run man", run.Run())
}
