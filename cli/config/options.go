package config

import (
	"strings"

	"github.com/spf13/pflag"

	"replan/agent/policy"
	"replan/agent/store"
	"replan/cli/help"
	"replan/mcpclient/workspace/code/lsp"
)

// Options are the result of flags, environment and configuration, in parts: a command
// takes the part that it needs. [Options.Register] declares the flags, [Options.Complete]
// reads the rest.
type Options struct {
	folders    Folders
	model      Model
	planning   Planning
	execution  Execution
	limits     Limits
	gates      Gates
	isolation  Isolation
	tools      Tools
	workers    Workers
	appearance Appearance
	output     Output

	dataDir string // value of --data-dir
	from    sources
	saver   saver
}

// Folders returns where the command works and keeps its files.
func (o *Options) Folders() Folders { return o.folders }

// Model returns the model that answers.
func (o *Options) Model() Model { return o.model }

// Planning returns who plans, and how.
func (o *Options) Planning() Planning { return o.planning }

// Execution returns how plans are carried out.
func (o *Options) Execution() Execution { return o.execution }

// Limits returns the limits of runs and of the session.
func (o *Options) Limits() Limits { return o.limits }

// Gates returns which calls run without the user.
func (o *Options) Gates() Gates { return o.gates }

// Isolation returns what programs may do.
func (o *Options) Isolation() Isolation { return o.isolation }

// Tools returns which tools and servers are used.
func (o *Options) Tools() Tools { return o.tools }

// Workers returns which workers carry out runs.
func (o *Options) Workers() Workers { return o.workers }

// Appearance returns what the screen and printed text look like.
func (o *Options) Appearance() Appearance { return o.appearance }

// Output returns the form of the output.
func (o *Options) Output() Output { return o.output }

// Environment is the input of Complete besides the flags.
type Environment struct {
	Workspace string // absolute path of the working folder
	Getenv    func(string) string
	Terminal  bool // a user is present at a terminal
}

// Register declares the global flags, in the groups of --help.
func (o *Options) Register(f *pflag.FlagSet) {
	help.In(f, help.Goal, func(f *pflag.FlagSet) {
		o.planning.register(f)
		o.execution.register(f)
	})
	help.In(f, help.Gates, func(f *pflag.FlagSet) {
		o.gates.register(f)
		o.isolation.register(f)
	})
	help.In(f, help.Model, func(f *pflag.FlagSet) {
		o.model.register(f)
		o.planning.registerModel(f)
	})
	help.In(f, help.Tools, o.tools.register)
	help.In(f, help.Workers, func(f *pflag.FlagSet) {
		o.workers.register(f)
		help.Rare(f, "no-wait", "priority", "repository", "revision")
	})
	help.In(f, help.Limits, func(f *pflag.FlagSet) {
		o.limits.register(f)
		o.execution.registerFailure(f)
		f.VisitAll(func(limit *pflag.Flag) { help.Rare(f, limit.Name) })
	})
	help.In(f, help.Screen, func(f *pflag.FlagSet) {
		o.appearance.register(f)
		f.BoolVar(&o.output.Plain, "plain", false, "print plain lines instead of the full screen")
		help.Rare(f, "reduced-motion")
		help.Common(f, "plain")
	})
	help.In(f, help.Output, func(f *pflag.FlagSet) {
		o.output.register(f, "print `FORMAT` text or json; a run as json prints one event per line")
		f.StringVar(&o.dataDir, "data-dir", "", "keep all data in `FOLDER`; default: REPLAN_HOME, else the XDG folders")
		help.Rare(f, "data-dir")
		help.Common(f, "output")
	})
}

// RegisterStrict declares --strict, which commands of the chat have too.
func (o *Options) RegisterStrict(f *pflag.FlagSet) { o.planning.registerStrict(f) }

// RegisterChat declares the flags that every command of the chat has.
func (o *Options) RegisterChat(f *pflag.FlagSet) {
	o.output.register(f, "`FORM` of the output: text or json")
	o.execution.registerDryRun(f, "show what it would do; change nothing")
}

// Complete reads the environment and the configuration and validates all values.
// Flags override the environment, which overrides the configuration.
func (o *Options) Complete(flags *pflag.FlagSet, env Environment) error {
	o.folders.Workspace = env.Workspace
	o.from = sources{flags: flags, getenv: env.Getenv}
	var err error
	if o.folders.Dirs, err = store.FindDirs(First(o.dataDir, env.Getenv("REPLAN_HOME"))); err != nil {
		return err
	}
	o.saver = saver{path: o.folders.Dirs.ConfigFile(), chosen: &choices{}} // a file with a mistake can be corrected
	if o.from.file, err = readConfig(o.saver.path); err != nil {
		return err
	}
	for _, read := range []func() error{
		func() error { return o.model.read(o.from) },
		func() error { return o.appearance.read(o.from, env.Terminal) },
		o.output.check,
		func() error { return o.isolation.read(o.from, env.Workspace) },
		func() error { return o.workers.read(o.from) },
		func() error { return o.gates.readApprove(env.Workspace, o.isolation.On, o.workers.CarryOut()) },
		func() error { return o.gates.readRules(o.from, env.Workspace) },
		func() error { return o.planning.readPlanner(o.from) },
		func() error { o.tools.read(o.from); return nil },
		func() error { return o.planning.read(o.from, o.tools.BuiltIn()) },
		func() error { return o.limits.read(o.from) },
		func() error { return o.execution.read(o.from) },
	} {
		if err := read(); err != nil {
			return err
		}
	}
	return nil
}

// CheckOutput rejects an unknown output format, and falls back to text for the
// error.
func (o *Options) CheckOutput() error { return o.output.check() }

// PrintText has the command print text, whatever --output says.
func (o *Options) PrintText() { o.output.Format = OutputText }

// AskNobody closes the gates that a user would have to answer.
func (o *Options) AskNobody() { o.gates.approveUnasked() }

// ApproveAll opens all gates, as --approve all does.
func (o *Options) ApproveAll() { o.gates.approve(policy.ApproveAll) }

// SkipReview lets plans run without a review.
func (o *Options) SkipReview() { o.execution.review(false) }

// Isolate has runs work in a copy, also if the user did not ask for it: a resumed run
// continues where it worked.
func (o *Options) Isolate() { o.isolation.turn(true) }

// OpenCopy has the command work in the copy of the workspace, for the changes that wait
// there.
func (o *Options) OpenCopy() {
	o.isolation.copy()
	o.execution.callTools()
}

// WorkHere has the command work on this machine.
func (o *Options) WorkHere() { o.workers = Workers{Named: o.workers.Named} }

// Project is a project that replan has made for a session of its own.
type Project struct {
	Folder string
	Home   string // keeps the files of replan
	Model  string
	Host   string // of the model; "" is that of the settings
}

// workIn has the command work in a project that replan made, without the user's servers. The
// same is shown on every machine.
func (o *Options) workIn(p Project) {
	o.folders = Folders{Workspace: p.Folder, Dirs: store.Dirs{Config: p.Home, Data: p.Home, State: p.Home}}
	o.model.use(p.Model, p.Host)
	o.gates.trust()
	o.tools = Tools{Languages: lsp.Section{Enabled: new(bool)}}
}

// Demonstrate has the command play a demo in a project: its script supports no other
// settings of planning than flags.
func (o *Options) Demonstrate(p Project) {
	o.workIn(p)
	o.planning.scripted()
	o.saver.appearance = true
}

// Measure has the command try what a model can do in a project. Changes of files and tests
// are approved, and nothing else is.
func (o *Options) Measure(p Project) {
	o.workIn(p)
	o.planning.measured()
	o.limits.measured()
	o.gates.measured()
	o.execution.measured()
	o.isolation.turn(false)
}

// First returns the first non-empty text.
func First[T ~string](texts ...T) T {
	for _, t := range texts {
		if strings.TrimSpace(string(t)) != "" {
			return t
		}
	}
	return ""
}
