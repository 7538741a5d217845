package config

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"replan/agent/policy"
	"replan/agent/rule"
)

func TestWithinFollowsLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("symbolic links need privileges on Windows")
	}
	root := t.TempDir()
	at := func(parts ...string) string { return filepath.Join(append([]string{root}, parts...)...) }
	for _, path := range []string{at("mine", "sub"), at("other"), at("mine2")} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{at("way"): at("mine"), at("mine", "out"): at("other")} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		folder, above string
		want          bool
	}{
		"same folder":                {at("mine"), at("mine"), true},
		"subfolder":                  {at("mine", "sub"), at("mine"), true},
		"parent folder":              {at("mine"), at("mine", "sub"), false},
		"other folder":               {at("other"), at("mine"), false},
		"same prefix in the name":    {at("mine2"), at("mine"), false},
		"path through a link":        {at("way", "sub"), at("mine"), true},
		"parent named by a link":     {at("mine"), at("way"), true},
		"link that leads out":        {at("mine", "out"), at("mine"), false},
		"missing folder":             {at("gone", "x"), at("gone"), true},
		"relative parent":            {at("mine"), "mine", false},
		"trailing slash":             {at("mine"), at("mine") + "/", true},
		"root of the file system":    {at("mine"), "/", true},
		"name that begins with dots": {at("..x"), root, true},
		"missing folder below ~":     {at("mine"), "~/no-such-folder", false},
	} {
		if got := Within(c.folder, c.above); got != c.want {
			t.Errorf("%s: within is %v, want %v", name, got, c.want)
		}
		trust := file{Gates: policy.Section{Trusted: []string{"/no/such", c.above}}}
		if got := trust.trusts(c.folder); got != c.want {
			t.Errorf("%s: trusted is %v, want %v", name, got, c.want)
		}
	}
}

func TestRuleAppliesOnlyInItsFolder(t *testing.T) {
	mine, other := t.TempDir(), t.TempDir()
	saved := policy.Block{Tool: "workspace:test.run", Action: "allow", Workspace: mine}
	for folder, want := range map[string]int{mine: 1, other: 0} {
		g := Gates{}
		if err := g.readRules(sources{file: file{Policy: []policy.Block{saved}}}, folder); err != nil {
			t.Fatal(err)
		}
		if len(g.Rules) != want {
			t.Errorf("got %d rules in %s, want %d: %+v", len(g.Rules), folder, want, g.Rules)
		}
		for _, r := range g.Rules {
			if r.Verdict != rule.VerdictRun {
				t.Errorf("%+v", r)
			}
		}
	}
}
