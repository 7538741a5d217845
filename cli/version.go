package cli

import (
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"replan/cli/app"
	"replan/tui/plain"
)

// Version is the version of the program, set by the build.
var Version = "0.1.0-dev"

// Stamp adds the commit of the build to the version of a development build, so that
// workers take no runs of other commits. The main function calls it first.
func Stamp() { Version = stamped(Version, commit()) }

// stamped returns a version with the commit of a development build, as semantic
// versions hold it. Whether files were changed is no part of it: a file beside the
// sources would be enough.
func stamped(version, commit string) string {
	const shown = 12 // digits, as in versions of Go
	revision, _, _ := strings.Cut(commit, "-")
	if !strings.HasSuffix(version, "-dev") || revision == "" {
		return version
	}
	return version + "+" + revision[:min(shown, len(revision))]
}

// commit returns the commit of the build, with "-dirty" if the sources were
// modified; "" if unknown.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return commitOf(info.Settings)
}

// commitOf returns the commit in the settings of a build.
func commitOf(settings []debug.BuildSetting) string {
	values := map[string]string{}
	for _, s := range settings {
		values[s.Key] = s.Value
	}
	revision := values["vcs.revision"]
	if revision != "" && values["vcs.modified"] == "true" {
		revision += "-dirty"
	}
	return revision
}

func newVersion(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version and the commit it was built from",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			at := commit()
			if a.Out().JSON() {
				return a.Out().PrintJSON(struct {
					Version string `json:"version"`
					Commit  string `json:"commit,omitempty"`
				}{Version, at})
			}
			if at != "" {
				at = ", commit " + at
			}
			return a.Out().Lines(func(p *plain.Printer) { p.Line("%s%s", p.Strong("replan "+Version), p.Faint("%s", at)) })
		},
	}
}
