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
		"clean commit":        {[]debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: "1a2b"}, {Key: "vcs.modified", Value: "false"}}, "1a2b"},
		"uncommitted changes": {[]debug.BuildSetting{{Key: "vcs.revision", Value: "1a2b"}, {Key: "vcs.modified", Value: "true"}}, "1a2b-dirty"},
		"no repository":       {[]debug.BuildSetting{{Key: "vcs.modified", Value: "true"}}, ""},
	} {
		if got := commitOf(c.settings); got != c.want {
			t.Errorf("%s: got commit %q, want %q", name, got, c.want)
		}
	}
}
