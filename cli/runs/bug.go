package runs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"replan/cli/app"
	"replan/cli/args"
	"replan/cli/bug"
	"replan/cli/doctor"
	"replan/cli/exit"
	"replan/cli/host"
	"replan/tui/plain"
)

// NewBug returns the command replan bug.
func NewBug(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:   "bug [RUN]",
		Short: "Pack a run for a report, without secrets",
		Long: "bug writes one file that only you can read: the journal of a run, the version, what doctor says and your\n" +
			"configuration, from which it takes known secrets. It sends nothing. Read the file before you pass it on: goals, file\n" +
			"contents and results of tools are in it. Without RUN, it packs the newest run of this folder.",
		Example: "  replan bug\n  replan bug a61ec9",
		Args:    args.Shell(args.AtMostOne("RUN")),
		RunE:    func(cmd *cobra.Command, args []string) error { return packRun(cmd.Context(), a, args) },
	}
}

// packRun packs a run for a report, for replan bug.
func packRun(ctx context.Context, a *app.App, args []string) error {
	id, err := host.RunsOn(a).ID(args)
	if err != nil {
		return err
	}
	events, err := a.Store().ReadRun(id)
	if err != nil {
		return a.Out().Unopened(err)
	}
	checks, err := doctor.ExamineMachine(ctx, a, nil)
	if err != nil {
		return err
	}
	configuration, err := os.ReadFile(a.Folders().Dirs.ConfigFile())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return exit.Wrap("read the configuration", err)
	}
	contents := bug.Report{
		Version: fmt.Sprintf("replan %s %s, %s, %s/%s", a.Version(), app.Commit(), runtime.Version(), runtime.GOOS, runtime.GOARCH),
		Doctor:  checks.Text(0, func(s doctor.State) string { return string(s) }),
		Config:  configuration, Secrets: a.Servers().Secrets(), Events: events,
	}.Contents()
	dir := filepath.Join(a.Store().Dirs.Data, "exports")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return exit.Wrap("make the folder of exports", err)
	}
	path := filepath.Join(dir, "bug-"+id+"-"+time.Now().Format("20060102-150405.000")+".zip")
	if err := bug.Pack(path, contents); err != nil {
		return exit.Wrap("pack the run", err)
	}
	if a.Out().JSON() {
		return a.Out().PrintJSON(struct {
			File     string        `json:"file"`
			Contents []bug.Content `json:"contents"`
		}{path, contents})
	}
	return a.Out().Lines(func(p *plain.Printer) {
		p.Line("%s", p.Strong(path))
		for _, c := range contents {
			p.Line("  %s: %s", c.Name, c.About)
		}
		p.Line("Known secrets are left out. Look through it before you pass it on; nothing was sent.")
	})
}
