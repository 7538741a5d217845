package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// isolated returns what the flags and a section of the configuration say.
func isolated(t *testing.T, section isolationSection, workspace string, args ...string) (Isolation, error) {
	t.Helper()
	i := Isolation{}
	f := pflag.NewFlagSet("replan", pflag.ContinueOnError)
	i.register(f)
	if err := f.Parse(args); err != nil {
		t.Fatal(err)
	}
	err := i.read(sources{flags: f, file: file{Isolate: section}}, workspace)
	return i, err
}

func TestFlagsOverrideIsolationOfConfiguration(t *testing.T) {
	off := false
	for name, c := range map[string]struct {
		section     isolationSection
		args        []string
		on, network bool
	}{
		"nothing":                     {on: false, network: true},
		"flag":                        {args: []string{"--isolate"}, on: true, network: true},
		"no network isolates":         {args: []string{"--no-network"}, on: true},
		"section":                     {section: isolationSection{Enabled: true}, on: true, network: true},
		"section without network":     {section: isolationSection{Enabled: true, Network: &off}, on: true},
		"flag with network of file":   {section: isolationSection{Network: &off}, args: []string{"--isolate"}, on: true},
		"flag switches off":           {section: isolationSection{Enabled: true}, args: []string{"--isolate=false"}, network: true},
		"flag gives the network back": {section: isolationSection{Enabled: true, Network: &off}, args: []string{"--no-network=false"}, on: true, network: true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := isolated(t, c.section, t.TempDir(), c.args...)
			if err != nil || got.On != c.on || got.Network != c.network {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func TestIsolationProtectsHomeFolder(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	if _, err := isolated(t, isolationSection{}, home, "--isolate"); err == nil || !strings.Contains(err.Error(), "home folder") {
		t.Error(err)
	}
	for _, folder := range []string{"~/", "/", "cache", home} {
		if _, err := isolated(t, isolationSection{Write: []string{folder}}, t.TempDir()); err == nil {
			t.Errorf("%s was taken", folder)
		}
	}
	got, err := isolated(t, isolationSection{Write: []string{"~/go/pkg/mod"}}, t.TempDir())
	if err != nil || len(got.Write) != 1 || !strings.HasPrefix(got.Write[0], home) || slices.Contains(got.Write, "~") {
		t.Error(got, err)
	}
}
