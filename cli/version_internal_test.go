package cli

import (
	"runtime/debug"
	"testing"
)

func TestVersionNamesTheCommit(t *testing.T) {
	for name, c := range map[string]struct {
		settings []debug.BuildSetting
		want     string
	}{
		"built from a commit":        {[]debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: "1a2b"}, {Key: "vcs.modified", Value: "false"}}, "1a2b"},
		"built with changes":         {[]debug.BuildSetting{{Key: "vcs.revision", Value: "1a2b"}, {Key: "vcs.modified", Value: "true"}}, "1a2b-dirty"},
		"built without a repository": {[]debug.BuildSetting{{Key: "vcs.modified", Value: "true"}}, ""},
	} {
		if got := commitOf(c.settings); got != c.want {
			t.Errorf("%s: commit %q, want %q", name, got, c.want)
		}
	}
}
