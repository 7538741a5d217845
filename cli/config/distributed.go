package config

import (
	"errors"
	"math"

	"github.com/spf13/pflag"

	"replan/agent/session"
	"replan/internal/redact"
)

// Distributed says whether workers carry out runs, and how a run is submitted to them.
type Distributed struct {
	On         string // the address of the database; "" is this machine
	Detach     bool   // submit a run and do not follow it
	NoWait     bool   // fail if no worker offers what the run needs
	Priority   uint   // 1 is the highest; 0 is after all that have one
	Repository string // that the run works in a checkout of; "" is an empty folder
	Revision   string // of the repository; "" is its default branch
}

// distributedConfig is the section [distributed] of the configuration.
type distributedConfig struct {
	On string `toml:"on"`
}

// onVariable names the database in the environment, also that of the worker program.
const onVariable = "REPLAN_ON"

// registerDistributed declares the flags of runs on other machines.
func (o *Options) registerDistributed(f *pflag.FlagSet) {
	f.StringVar(&o.Distributed.On, "on", "", "use the workers of the database at `ADDRESS` (postgres://… or sqlite:FILE); default: REPLAN_ON; '' is this machine")
	f.BoolVar(&o.Distributed.Detach, "detach", false, "with --on, submit the run, print its id and leave")
	f.BoolVar(&o.Distributed.NoWait, "no-wait", false, "with --on, fail if no worker offers the servers and the model that the run needs")
	f.UintVar(&o.Distributed.Priority, "priority", 0, "with --on, start before runs of a higher `N`; 1 is the first, 0 the last")
	f.StringVar(&o.Distributed.Repository, "repository", "", "with --on, work in a checkout of the git repository at `URL`")
	f.StringVar(&o.Distributed.Revision, "revision", "", "with --repository, check out the revision `REV`; default: the default branch")
}

// ByWorkers reports whether the command is about the runs of the workers of --on, and not
// about those of this machine.
func (o *Options) ByWorkers() bool { return o.Distributed.On != "" }

// readDistributed reads the address of the database and checks the flags that need one.
func (o *Options) readDistributed(flags *pflag.FlagSet) error {
	d := &o.Distributed
	if !flags.Changed("on") {
		d.On = First(o.getenv(onVariable), o.file.Distributed.On)
	}
	if !o.ByWorkers() {
		for _, name := range []string{"detach", "no-wait", "priority", "repository", "revision"} {
			if flags.Changed(name) {
				return errors.New("--" + name + " is about runs of workers: add --on ADDRESS")
			}
		}
	}
	if d.Revision != "" && d.Repository == "" {
		return errors.New("--revision is one of a repository: add --repository URL")
	}
	if d.Priority > math.MaxInt32 {
		return errors.New("--priority is too large: 1 is the highest")
	}
	return nil
}

// distributedSettings returns the settings of [distributed], without a password.
func (o *Options) distributedSettings() []session.Setting {
	on := session.Setting{Key: "distributed.on", Value: redact.Text(o.Distributed.On), Source: fromDefault, About: "the database that workers take runs from"}
	switch {
	case o.Changed != nil && o.Changed("on"):
		on.Source = "flag --on"
	case o.getenv(onVariable) != "":
		on.Source = fromEnvironment
	case o.file.Distributed.On != "":
		on.Source = fromConfiguration
	}
	return []session.Setting{on}
}
