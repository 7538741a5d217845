package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"replan/agent/policy"
)

// Isolate says whether programs run in a box, and what they may do there.
type Isolate struct {
	On      bool
	InPlace bool // runs work in the folder itself, not in a copy
	Network bool
	Write   []string // absolute paths of folders that they may change besides the workspace
}

// isolateConfig is the section [isolate] of the configuration.
type isolateConfig struct {
	Enabled bool     `toml:"enabled"`
	InPlace bool     `toml:"in_place"`
	Network *bool    `toml:"network"`
	Write   []string `toml:"write"`
}

// givenIsolation holds the flags.
type givenIsolation struct{ isolate, inPlace, noNetwork bool }

// registerIsolation declares the flags of the box.
func (o *Options) registerIsolation(f *pflag.FlagSet) {
	f.BoolVar(&o.isolation.isolate, "isolate", false, "work in a copy of this folder, and let programs change nothing else; at the end you take the changes or drop them; needs Linux")
	f.BoolVar(&o.isolation.inPlace, "in-place", false, "with --isolate, work in this folder itself instead of a copy")
	f.BoolVar(&o.isolation.noNetwork, "no-network", false, "isolate programs, and let them use no network")
}

// readIsolation reads what programs may do from the flags, else from the
// configuration.
func (o *Options) readIsolation(flags *pflag.FlagSet) error {
	c := o.file.Isolate
	o.Isolate = Isolate{On: c.Enabled, InPlace: c.InPlace, Network: c.Network == nil || *c.Network}
	if flags.Changed("isolate") {
		o.Isolate.On = o.isolation.isolate
	}
	if flags.Changed("in-place") {
		o.Isolate.InPlace = o.isolation.inPlace
	}
	if flags.Changed("no-network") {
		if o.isolation.noNetwork && flags.Changed("isolate") && !o.isolation.isolate {
			return errors.New("--no-network isolates programs: leave out --isolate=false")
		}
		o.Isolate.Network = !o.isolation.noNetwork
		o.Isolate.On = o.Isolate.On || o.isolation.noNetwork
	}
	home, _ := os.UserHomeDir() // without one there is nothing to protect
	for _, folder := range c.Write {
		path := folder
		if below, ok := strings.CutPrefix(folder, "~/"); ok && home != "" {
			path = filepath.Join(home, below)
		}
		if !filepath.IsAbs(path) {
			return o.Misconfigured(fmt.Errorf("isolate.write takes paths of folders from / or ~/ on, not %q", folder))
		}
		if policy.TooWide(path, home) {
			return o.Misconfigured(fmt.Errorf("isolate.write: %s is your home folder, or contains it: name folders below it", folder))
		}
		o.Isolate.Write = append(o.Isolate.Write, path)
	}
	if o.Isolate.On && policy.TooWide(o.Workspace, home) {
		return fmt.Errorf("--isolate lets programs change this folder, and %s is your home folder, or contains it: work in a folder below it", o.Workspace)
	}
	return nil
}
