package cli

import (
	"fmt"
	"runtime/debug"

	"replan/cli/config"

	"github.com/spf13/cobra"
)

// Version is the version of the program, set by the build.
var Version = "0.1.0-dev"

// commit returns the commit that the program was built from, with "-dirty" where
// the sources were changed since; "" where the build does not say.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return commitOf(info.Settings)
}

// commitOf is commit for the settings of a build.
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

func newVersion(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version and the commit it was built from",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			at := commit()
			if o.Output == config.OutputJSON {
				return o.printJSON(struct {
					Version string `json:"version"`
					Commit  string `json:"commit,omitempty"`
				}{Version, at})
			}
			if at != "" {
				at = ", commit " + at
			}
			return o.print(fmt.Sprintf("replan %s%s\n", Version, at))
		},
	}
}
