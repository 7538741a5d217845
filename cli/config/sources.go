package config

import (
	"github.com/spf13/pflag"
)

// Names of the sources of a setting, as shown on the screen.
const (
	fromEnvironment   = "environment"
	fromConfiguration = "user file"
	fromDefault       = "default"
	fromProgram       = "this command" // such as the demo, which has its own values
)

// sources are where values come from: the flags of the command line, the environment and
// the user's configuration file.
type sources struct {
	flags  *pflag.FlagSet
	getenv func(string) string
	file   file
}

// given reports whether a flag was given.
func (s sources) given(flag string) bool { return s.flags != nil && s.flags.Changed(flag) }

// of returns the source of a value: the flag of that name, else the configuration if it
// sets the value.
func (s sources) of(flag string, configured bool) string {
	switch {
	case flag != "" && s.given(flag):
		return "flag --" + flag
	case configured:
		return fromConfiguration
	default:
		return fromDefault
	}
}
