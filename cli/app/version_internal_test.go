package app

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

func TestOnlyDevelopmentBuildsHaveTheirCommitInTheVersion(t *testing.T) {
	for _, c := range []struct{ version, commit, want string }{
		{"0.1.0-dev", "1a2b3c4d5e6f7a8b", "0.1.0-dev+1a2b3c4d5e6f"},
		{"0.1.0-dev", "1a2b3c4d5e6f7a8b-dirty", "0.1.0-dev+1a2b3c4d5e6f"},
		{"0.1.0-dev", "", "0.1.0-dev"},
		{"0.1.0", "1a2b3c4d5e6f7a8b", "0.1.0"},
	} {
		if got := Stamped(c.version, c.commit); got != c.want {
			t.Errorf("the version %s of the commit %q is %s, not %s", c.version, c.commit, got, c.want)
		}
	}
}
