package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/rule"
	"replan/agent/store"
	"replan/cli/help"
	"replan/internal/english"
	"replan/mcpclient/builtin"
	"replan/mcpclient/workspace/code/lsp"
	"replan/mcpclient/workspace/tree"
	"replan/planning/intent"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/themes"
	"replan/tui"
	"replan/tui/keymap"
	"replan/tui/notify"

	"github.com/spf13/pflag"
)

// Output formats.
const (
	OutputText = "text"
	OutputJSON = "json"
)

// Options are the result of flags, environment and configuration.
// [Options.Register] declares the flags, [Options.Complete] reads the rest.
type Options struct {
	Model, Host      string
	MCPConfig        string // a file name
	NoWorkspaceTools bool
	Servers          []string // named by --server; none means all
	DataDir          string
	Dirs             store.Dirs
	Changed          func(flag string) bool // reports whether a flag was given
	OnFailure        plan.OnFailure         // for goals
	DryRun           bool
	Review           bool // hold plans for review before they run
	ForcePlan        bool
	RequireVerified  bool // a run with less than verified evidence fails
	Strict           bool // value of --strict; the configuration is in Manner
	Routing          event.Routing
	Think            string             // value of --think
	Level            *prompt.ThinkLevel // level of --think; nil if not given
	Manner           Manner
	ApproveText      string // value of --approve
	Approve          policy.Approve
	Output           string // OutputText or OutputJSON
	Plain            bool
	NoColor, ASCII   bool
	ReducedMotion    bool
	ChatWidth        int // percent of the screen's width; 0 is the usual
	PlanHeight       int // percent of the height above the step; 0 is the usual
	ShowThinking     bool
	ContextWindow    int
	KeepAlive        time.Duration // negative is forever, 0 is the server's default
	Trusted          bool          // the user trusts the workspace
	Hidden           []string      // patterns of files that no operator reads
	Limits           event.Limits
	SessionLimits    event.SessionLimits
	Rules            []rule.Rule
	ThemeName        themes.Name
	OwnConfig        string // the user's own configuration file, even in a demo
	Notify           notify.Mode
	Keys             keymap.Keys
	Workspace        string
	LSP              lsp.Section
	Isolate          Isolate
	Distributed      Distributed

	given            givenLimits
	isolation        givenIsolation
	onFailureText    string
	noReplan         bool
	plannerText      string
	plannerModel     string
	profile          string
	planTools, eager bool
	allow, deny      []string
	theme            string
	themes           *themes.Set // nil until read, see ThemeSet
	file             file
	chosen           *choices // on the screen since the start
	getenv           func(string) string
}

// Environment is the input of Complete besides the flags.
type Environment struct {
	Workspace string // absolute path of the working folder
	Getenv    func(string) string
	Terminal  bool // a user is present at a terminal
}

// Register declares the global flags, in the groups of --help.
func (o *Options) Register(f *pflag.FlagSet) {
	help.In(f, help.Goal, func(f *pflag.FlagSet) {
		f.StringVar(&o.plannerText, "planner", "", "let `PLANNER` plan: auto (rules for clear orders, else a model), phases (a model), router (rules only) or none")
		f.StringVar(&o.profile, "profile", "", "use the profile `NAME` of the configuration: its prompts, model and tools")
		f.BoolVar(&o.ForcePlan, "force-plan", false, "always make a plan, never answer directly")
		f.BoolVar(&o.Review, "review", false, "review every plan before it runs; edit, move or remove steps, approve gates together, or refuse it")
		f.BoolVar(&o.DryRun, "dry-run", false, "show what the steps of a plan would do; call no tool")
		f.BoolVar(&o.eager, "eager", true, "start steps that only read while the plan is still being written")
		f.BoolVar(&o.planTools, "plan-tools", true, "let the model make and run plans when it answers in the chat")
		f.BoolVar(&o.RequireVerified, "require-verified", false, "fail a run unless checks show that all of its work holds")
		o.RegisterStrict(f)
		help.Rare(f, "eager", "plan-tools", "strict", "require-verified")
		help.Common(f, "review", "dry-run")
	})
	help.In(f, help.Gates, func(f *pflag.FlagSet) {
		f.StringVar(&o.ApproveText, "approve", "", "approve `GATES` without asking: none, safe, contained or all; safe is files here and tests, contained what --isolate holds too")
		f.StringArrayVar(&o.allow, "allow", nil, "allow calls that fit `RULE` without a gate: TOOL [ARG=PATTERN], such as 'fs.write path=docs/**'; repeat for more")
		f.StringArrayVar(&o.deny, "deny", nil, "deny calls that fit `RULE`, written as for --allow; repeat for more")
		o.registerIsolation(f)
		help.Common(f, "approve")
	})
	help.In(f, help.Model, func(f *pflag.FlagSet) {
		f.StringVar(&o.Model, "model", "", "use the model `NAME`; default: the first installed one that can call tools")
		f.StringVar(&o.plannerModel, "planner-model", "", "plan with the model `NAME`; default: the one that answers")
		f.StringVar(&o.Host, "host", "", "find Ollama at `URL`; default: OLLAMA_HOST, else 127.0.0.1:11434")
		f.StringVar(&o.Think, "think", "", "let the model think before it answers, at `LEVEL` auto, off, on, low, medium or high")
		help.Rare(f, "planner-model")
		help.Common(f, "model")
	})
	help.In(f, help.Tools, func(f *pflag.FlagSet) {
		f.StringVar(&o.MCPConfig, "mcp-config", "", "start the MCP servers in `FILE` without asking")
		f.StringArrayVar(&o.Servers, "server", nil, "use only the MCP server `NAME`; repeat for more")
		f.BoolVar(&o.NoWorkspaceTools, "no-workspace-tools", false, "leave out the built-in tools for this folder")
	})
	help.In(f, help.Workers, func(f *pflag.FlagSet) {
		o.registerDistributed(f)
		help.Rare(f, "no-wait", "priority", "repository", "revision")
	})
	help.In(f, help.Limits, func(f *pflag.FlagSet) {
		o.registerLimits(f)
		f.VisitAll(func(limit *pflag.Flag) { help.Rare(f, limit.Name) })
	})
	help.In(f, help.Screen, func(f *pflag.FlagSet) {
		o.registerLooks(f)
		f.BoolVar(&o.Plain, "plain", false, "print plain lines instead of the full screen")
		help.Rare(f, "reduced-motion")
		help.Common(f, "plain")
	})
	help.In(f, help.Output, func(f *pflag.FlagSet) {
		f.StringVar(&o.Output, "output", OutputText, "print `FORMAT` text or json; a run as json prints one event per line")
		f.StringVar(&o.DataDir, "data-dir", "", "keep all data in `FOLDER`; default: REPLAN_HOME, else the XDG folders")
		help.Rare(f, "data-dir")
		help.Common(f, "output")
	})
}

// RegisterStrict declares --strict, which commands of the chat have too.
func (o *Options) RegisterStrict(f *pflag.FlagSet) {
	f.BoolVar(&o.Strict, "strict", o.Strict, "refuse args that a tool accepts only once they are converted, such as \"7\" for 7")
}

// Complete reads the environment and the configuration and validates all values.
// Flags override the environment, which overrides the configuration.
func (o *Options) Complete(flags *pflag.FlagSet, env Environment) error {
	o.Workspace, o.getenv, o.chosen = env.Workspace, env.Getenv, &choices{}
	var err error
	if o.Dirs, err = store.FindDirs(First(o.DataDir, o.getenv("REPLAN_HOME"))); err != nil {
		return err
	}
	if o.file, err = readConfig(o.Dirs.ConfigFile()); err != nil {
		return fmt.Errorf("%w", err)
	}
	o.Host = First(o.Host, o.getenv("OLLAMA_HOST"), o.file.Model.Host)
	o.Model = First(o.Model, o.file.Model.Name)
	if n := o.file.Model.ContextWindow; n < 0 {
		return o.Misconfigured(tooLittle("model.context_window", strconv.Itoa(n)))
	}
	o.ContextWindow, o.KeepAlive = o.file.Model.ContextWindow, o.file.Model.KeepAlive.Duration
	if err := o.readLooks(flags, env.Terminal); err != nil {
		return err
	}
	if o.Keys, err = o.file.screenKeys(); err != nil {
		return o.Misconfigured(err)
	}
	if err := o.CheckOutput(); err != nil {
		return err
	}
	if err := o.readIsolation(flags); err != nil {
		return err
	}
	if err := o.readDistributed(flags); err != nil {
		return err
	}
	if o.ApproveText != "" {
		if o.Approve, err = policy.ParseApprove(o.ApproveText); err != nil {
			return fmt.Errorf("%w", err)
		}
		remote := o.ByWorkers()
		if o.Approve == policy.ApproveContained && !o.Isolate.On && !remote {
			return errors.New("--approve contained lets programs pass that --isolate contains: add --isolate")
		}
		home, _ := os.UserHomeDir() // without one there is nothing to protect
		if !remote && (o.Approve == policy.ApproveSafe || o.Approve == policy.ApproveContained) && policy.TooWide(o.Workspace, home) {
			return fmt.Errorf("--approve %s changes files of this folder without asking, and %s is your home folder, or contains it: work in a folder below it, or answer the gates yourself", o.Approve, o.Workspace)
		}
	}
	if err := o.readRules(); err != nil {
		return err
	}
	if err := o.readPlanner(); err != nil {
		return err
	}
	o.LSP = o.file.LSP
	o.Trusted = o.file.trusts(o.Workspace)
	o.Changed = flags.Changed
	if err := o.readManner(); err != nil {
		return err
	}
	return o.readLimits(flags)
}

// CheckOutput rejects an unknown output format, and falls back to text for the
// error.
func (o *Options) CheckOutput() error {
	if o.Output == OutputText || o.Output == OutputJSON {
		return nil
	}
	given := o.Output
	o.Output = OutputText
	return fmt.Errorf("--output takes text or json, not %q", given)
}

// readPlanner reads who plans from the flag, else from the configuration.
func (o *Options) readPlanner() error {
	name := First(o.plannerText, o.file.Routing.Planner, string(event.PlannerAuto))
	kind, ok := event.ParsePlannerKind(name)
	switch {
	case ok:
		o.Routing = event.Routing{Planner: kind, Policy: intent.Policy{PreferTools: o.file.Routing.PreferTools, RequireTests: o.file.Routing.RequireTests}}
		return nil
	case o.plannerText != "":
		return fmt.Errorf("--planner takes %s, not %q", english.List(event.PlannerKinds(), "or"), name)
	default:
		return o.Misconfigured(fmt.Errorf("routing.planner takes %s, not %q", english.List(event.PlannerKinds(), "or"), name))
	}
}

// readRules reads the gate rules of the flags and the configuration.
func (o *Options) readRules() error {
	var faults []error
	add := func(flag string, texts []string, verdict rule.Verdict) {
		for _, text := range texts {
			rule, err := policy.Parse(text, verdict, rule.SourceFlag)
			if err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", flag, err))
				continue
			}
			o.Rules = append(o.Rules, rule)
		}
	}
	add("--deny", o.deny, rule.VerdictBlock)
	add("--allow", o.allow, rule.VerdictRun)
	if len(faults) > 0 {
		return fmt.Errorf("%w", errors.Join(faults...))
	}
	configured, err := policy.Rules(o.file.Policy, o.file.Gates, o.here)
	if err != nil {
		return o.Misconfigured(err)
	}
	o.Rules = append(o.Rules, configured...)
	o.Hidden = o.file.Gates.Hidden
	for _, pattern := range o.Hidden {
		if _, err := tree.NewGlob(pattern); err != nil {
			return o.Misconfigured(fmt.Errorf("gates.hidden: %w", err))
		}
	}
	return nil
}

// CheckToolNames rejects a flag's rule for a built-in tool that does not exist, and
// warns of one in the configuration. With MCP servers, whose tools are not known yet,
// a bare name may be one of theirs: it is a warning.
func (o *Options) CheckToolNames(servers bool) (warnings []string, err error) {
	for _, r := range o.Rules {
		server, name, qualified := strings.Cut(r.Tool, ":")
		if !qualified {
			server, name = "", r.Tool
		}
		if strings.ContainsAny(r.Tool, `*?[\`) || qualified && server != builtin.ServerName || plan.IsOperator(name) {
			continue
		}
		fault := fmt.Sprintf("there is no built-in tool %q%s", name, english.DidYouMean(name, plan.OperatorNames()))
		where := "a rule in " + filepath.Base(o.Dirs.ConfigFile())
		if r.Source == rule.SourceFlag {
			where = map[rule.Verdict]string{rule.VerdictBlock: "--deny", rule.VerdictRun: "--allow"}[r.Verdict]
			if qualified || !servers {
				return nil, fmt.Errorf("%s: %s", where, fault)
			}
		}
		warnings = append(warnings, where+": "+fault)
	}
	return warnings, nil
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

// Wants reports whether --server admits the named server.
func (o *Options) Wants(name string) bool {
	return len(o.Servers) == 0 || slices.Contains(o.Servers, name)
}

// HostConfigured reports whether the host comes from the configuration file.
func (o *Options) HostConfigured() bool { return o.Host == o.file.Model.Host }

// Misconfigured marks an error as one about a value in the configuration.
func (o *Options) Misconfigured(err error) error {
	return fmt.Errorf("the configuration %s cannot be used: %w", o.Dirs.ConfigFile(), err)
}

// here reports whether the workspace is the given configured folder or lies below
// it.
func (o *Options) here(folder string) bool { return Within(o.Workspace, folder) }

// RemovedKeys warns of keys in the configuration that only earlier versions knew.
func (o *Options) RemovedKeys() []string { return o.file.removedKeys() }

// KeyName returns the first key that the user has configured for an action of the screen,
// or its default key.
func (o *Options) KeyName(action string) string {
	if names := o.Keys[action]; len(names) > 0 {
		return names[0]
	}
	return tui.Keys().Name(action)
}
