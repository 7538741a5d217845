package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"replan/agent/policy"
	"replan/agent/session"
)

// Isolation says whether programs run in a box, and what they may do there.
type Isolation struct {
	On      bool
	Asked   bool // --isolate was given
	InPlace bool // runs work in the folder itself, not in a copy
	Network bool
	Write   []string // absolute paths of folders that they may change besides the workspace

	flags struct{ isolate, inPlace, noNetwork bool }
}

// isolationSection is the section [isolate] of the configuration.
type isolationSection struct {
	Enabled bool     `toml:"enabled"`
	InPlace bool     `toml:"in_place"`
	Network *bool    `toml:"network"`
	Write   []string `toml:"write"`
}

// register declares the flags of the box.
func (i *Isolation) register(f *pflag.FlagSet) {
	f.BoolVar(&i.flags.isolate, "isolate", false, "work in a copy of this folder, and let programs change nothing else; at the end you take the changes or drop them; needs Linux")
	f.BoolVar(&i.flags.inPlace, "in-place", false, "with --isolate, work in this folder itself instead of a copy")
	f.BoolVar(&i.flags.noNetwork, "no-network", false, "isolate programs, and let them use no network")
}

// read reads what programs may do in a workspace from the flags, else from the
// configuration.
func (i *Isolation) read(from sources, workspace string) error {
	c := from.file.Isolate
	i.On, i.InPlace, i.Network = c.Enabled, c.InPlace, c.Network == nil || *c.Network
	if i.Asked = from.given("isolate"); i.Asked {
		i.On = i.flags.isolate
	}
	if from.given("in-place") {
		i.InPlace = i.flags.inPlace
	}
	if from.given("no-network") {
		if i.flags.noNetwork && i.Asked && !i.flags.isolate {
			return errors.New("--no-network isolates programs: leave out --isolate=false")
		}
		i.Network = !i.flags.noNetwork
		i.On = i.On || i.flags.noNetwork
	}
	home, _ := os.UserHomeDir() // without one there is nothing to protect
	for _, folder := range c.Write {
		path := folder
		if below, ok := strings.CutPrefix(folder, "~/"); ok && home != "" {
			path = filepath.Join(home, below)
		}
		if !filepath.IsAbs(path) {
			return from.file.unusable(fmt.Errorf("isolate.write takes paths of folders from / or ~/ on, not %q", folder))
		}
		if policy.TooWide(path, home) {
			return from.file.unusable(fmt.Errorf("isolate.write: %s is your home folder, or contains it: name folders below it", folder))
		}
		i.Write = append(i.Write, path)
	}
	if i.On && policy.TooWide(workspace, home) {
		return fmt.Errorf("--isolate lets programs change this folder, and %s is your home folder, or contains it: work in a folder below it", workspace)
	}
	return nil
}

// turn switches the box on or off.
func (i *Isolation) turn(on bool) { i.On = on }

// copy has runs work in a copy.
func (i *Isolation) copy() { i.On, i.InPlace = true, false }

// report returns how programs are isolated.
func (i Isolation) report(from sources) []session.Setting {
	held := "no"
	if i.On {
		held = "in a copy"
		if i.InPlace {
			held = "in place"
		}
		if !i.Network {
			held += ", without network"
		}
	}
	isolated := session.Setting{Key: "isolate", Value: held, Source: from.of("isolate", from.file.Isolate.Enabled), About: "programs change only this folder; under [isolate]"}
	if from.given("no-network") {
		isolated.Source = from.of("no-network", false)
	}
	return []session.Setting{isolated}
}
