package cli

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"replan/cli/app"
	"replan/cli/args"
	"replan/tui/plain"
)

// Version is the version of the program, set by the build.
var Version = "0.1.0-dev"

// Stamp adds the commit of the build to the version of a development build, so that
// workers take no runs of other commits. The main function calls it first.
func Stamp() { Version = app.Stamped(Version, app.Commit()) }

func newVersion(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version and the commit it was built from",
		Args:  args.None,
		RunE: func(*cobra.Command, []string) error {
			at := app.Commit()
			if a.Out().JSON() {
				return a.Out().PrintJSON(struct {
					Version string `json:"version"`
					Commit  string `json:"commit,omitempty"`
				}{Version, at})
			}
			name, rest, _ := strings.Cut(versionLine(), ",")
			return a.Out().Lines(func(p *plain.Printer) { p.Line("%s%s", p.Strong(name), p.Faint(",%s", rest)) })
		},
	}
}

// versionLine names the version and the commit it was built from.
func versionLine() string {
	return "replan " + Version + ", commit " + cmp.Or(app.Commit(), "unknown")
}
