package config

import (
	"errors"
	"math"

	"github.com/spf13/pflag"

	"replan/agent/session"
	"replan/internal/redact"
)

// Workers says whether workers carry out runs, and how a run is submitted to them.
type Workers struct {
	On         string // the address of the database; "" is this machine
	Named      bool   // --on was given
	Detach     bool   // submit a run and do not follow it
	NoWait     bool   // fail if no worker offers what the run needs
	Priority   uint   // 1 is the highest; 0 is after all that have one
	Repository string // that the run works in a checkout of; "" is an empty folder
	Revision   string // of the repository; "" is its default branch
}

// workersSection is the section [distributed] of the configuration.
type workersSection struct {
	On string `toml:"on"`
}

// onVariable names the database in the environment, also that of the worker program.
const onVariable = "REPLAN_ON"

// register declares the flags of runs on other machines.
func (w *Workers) register(f *pflag.FlagSet) {
	f.StringVar(&w.On, "on", "", "use the workers of the database at `ADDRESS` (postgres://… or sqlite:FILE); default: REPLAN_ON; '' is this machine")
	f.BoolVar(&w.Detach, "detach", false, "with --on, submit the run, print its id and leave")
	f.BoolVar(&w.NoWait, "no-wait", false, "with --on, fail if no worker offers the servers and the model that the run needs")
	f.UintVar(&w.Priority, "priority", 0, "with --on, start before runs of a higher `N`; 1 is the first, 0 the last")
	f.StringVar(&w.Repository, "repository", "", "with --on, work in a checkout of the git repository at `URL`")
	f.StringVar(&w.Revision, "revision", "", "with --repository, check out the revision `REV`; default: the default branch")
}

// CarryOut reports whether the command is about the runs of workers, and not about those
// of this machine.
func (w Workers) CarryOut() bool { return w.On != "" }

// read reads the address of the database and checks the flags that need one.
func (w *Workers) read(from sources) error {
	if w.Named = from.given("on"); !w.Named {
		w.On = First(from.getenv(onVariable), from.file.Distributed.On)
	}
	if !w.CarryOut() {
		for _, name := range []string{"detach", "no-wait", "priority", "repository", "revision"} {
			if from.given(name) {
				return errors.New("--" + name + " is about runs of workers: add --on ADDRESS")
			}
		}
	}
	if w.Revision != "" && w.Repository == "" {
		return errors.New("--revision is one of a repository: add --repository URL")
	}
	if w.Priority > math.MaxInt32 {
		return errors.New("--priority is too large: 1 is the highest")
	}
	return nil
}

// report returns the settings of [distributed], without a password.
func (w Workers) report(from sources) []session.Setting {
	on := session.Setting{Key: "distributed.on", Value: redact.Text(w.On), Source: fromDefault, About: "the database that workers take runs from"}
	switch {
	case w.Named:
		on.Source = from.of("on", true)
	case from.getenv(onVariable) != "":
		on.Source = fromEnvironment
	case from.file.Distributed.On != "":
		on.Source = fromConfiguration
	}
	return []session.Setting{on}
}
