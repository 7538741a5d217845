package config

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"replan/agent/policy"
	"replan/agent/rule"
)

func TestAFolderIsItselfAndWhatLiesBelowByWhereLinksLead(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
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
		"itself":                        {at("mine"), at("mine"), true},
		"below":                         {at("mine", "sub"), at("mine"), true},
		"above":                         {at("mine"), at("mine", "sub"), false},
		"another":                       {at("other"), at("mine"), false},
		"one that begins alike":         {at("mine2"), at("mine"), false},
		"by a link to it":               {at("way", "sub"), at("mine"), true},
		"named by a link to it":         {at("mine"), at("way"), true},
		"by a link that leads out":      {at("mine", "out"), at("mine"), false},
		"one that is not there":         {at("gone", "x"), at("gone"), true},
		"one that is named by half":     {at("mine"), "mine", false},
		"a trailing slash":              {at("mine"), at("mine") + "/", true},
		"everything":                    {at("mine"), "/", true},
		"a name that begins with dots":  {at("..x"), root, true},
		"a folder that is no home of ~": {at("mine"), "~/no-such-folder", false},
	} {
		if got := Within(c.folder, c.above); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
		trust := file{Gates: policy.Section{Trusted: []string{"/no/such", c.above}}}
		if got := trust.trusts(c.folder); got != c.want {
			t.Errorf("%s is trusted: %v", name, got)
		}
	}
}

func TestARuleOfOneFolderOpensNothingInAnother(t *testing.T) {
	mine, other := t.TempDir(), t.TempDir()
	saved := policy.Block{Tool: "workspace:test.run", Action: "allow", Workspace: mine}
	for folder, want := range map[string]int{mine: 1, other: 0} {
		o := &Options{Workspace: folder, file: file{Policy: []policy.Block{saved}}}
		if err := o.readRules(); err != nil {
			t.Fatal(err)
		}
		if len(o.Rules) != want {
			t.Errorf("in %s hold %d rules: %+v", folder, len(o.Rules), o.Rules)
		}
		for _, r := range o.Rules {
			if r.Verdict != rule.VerdictRun {
				t.Errorf("%+v", r)
			}
		}
	}
}
