package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/rule"
	"replan/agent/store"
	"replan/planning/intent"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/themes"
	"replan/tui"
	"replan/tui/keymap"
)

// The forms in which a headless run is told.
const (
	outputText = "text"
	outputJSON = "json"
)

// options is what the command line, the environment and the configuration come
// to.
type options struct {
	io IO

	model, host      string
	mcpConfig        string
	noWorkspaceTools bool
	servers          []string
	dataDir          string
	given            givenLimits
	changed          func(flag string) bool // whether a flag was given
	onFailureText    string
	onFailure        plan.OnFailure // of goals
	noReplan         bool
	dryRun           bool
	review           bool // plans are held to be looked over before they run
	goOn             bool // --continue
	inDoubt          string
	talk             *talk // the chat in which the command was typed; nil on the command line
	forcePlan        bool
	plannerText      string
	routing          event.Routing
	profile, think   string
	level            *prompt.ThinkLevel // that --think names; nil where it is not given
	planTools, eager bool
	manner           manner
	allow, deny      []string
	approveText      string
	output           string
	theme            string
	plain            bool
	noColor, ascii   bool
	contextWindow    int
	keepAlive        time.Duration // below 0 is for ever, 0 is the server's own
	trusted          bool
	limits           event.Limits
	sessionLimits    event.SessionLimits
	rules            []rule.Rule
	approve          policy.Approve
	reducedMotion    bool
	themeName        themes.Name
	themes           *themes.Set // nil before they are read, see themeSet
	ownConfig        string      // the user's own configuration file, in a demo too
	notify           tui.Notify
	keys             keymap.Keys
	store            *store.Store
	workspace        string
	config           config
}

// register declares the flags that hold everywhere.
func (o *options) register(f *pflag.FlagSet) {
	f.StringVar(&o.model, "model", "", "the model to use; else the first installed one that can use tools")
	f.StringVar(&o.host, "host", "", "where Ollama answers; else OLLAMA_HOST, else 127.0.0.1:11434")
	f.StringVar(&o.plannerText, "planner", "", "who plans a goal: auto (clear words that need no model, else a model), phases (a model), router (the words alone) or none")
	f.StringVar(&o.profile, "profile", "", "the profile of the configuration to work by: its prompts, model and tools")
	f.StringVar(&o.think, "think", "", "how hard the model thinks before it answers: auto, off, on, low, medium or high")
	f.StringVar(&o.mcpConfig, "mcp-config", "", "file with MCP servers to start, which counts as a yes")
	f.StringArrayVar(&o.servers, "server", nil, "use only this MCP server; repeat for more")
	f.BoolVar(&o.noWorkspaceTools, "no-workspace-tools", false, "leave out the built-in tools for this folder")
	f.StringVar(&o.dataDir, "data-dir", "", "one folder for all that replan keeps; else REPLAN_HOME, else the XDG folders")
	o.registerLimits(f)
	f.BoolVar(&o.dryRun, "dry-run", false, "resolve the steps of a plan and tell what they would do; call no tool")
	f.BoolVar(&o.review, "review", false, "hold every plan until you have looked it over: edit, move or take out steps, approve gates together, or refuse it")
	f.BoolVar(&o.forcePlan, "force-plan", false, "always make a plan, never answer directly")
	f.BoolVar(&o.eager, "eager", true, "start steps that only read while the plan is still being written")
	f.BoolVar(&o.planTools, "plan-tools", true, "let the model make and run plans when it answers in the chat")
	f.StringArrayVar(&o.allow, "allow", nil, "let calls pass without a gate: TOOL [ARG=PATTERN], as in 'fs.write path=docs/**'; repeat for more")
	f.StringArrayVar(&o.deny, "deny", nil, "never make such calls, written as for --allow; repeat for more")
	f.StringVar(&o.approveText, "approve", "", "answer gates without asking: none, safe (this folder's files and tests) or all")
	f.StringVar(&o.output, "output", outputText, "how what comes of a command is told: text or json; a run as json is one event a line")
	o.registerLooks(f)
	f.BoolVar(&o.plain, "plain", false, "a plain line log in place of the full screen")
}

// complete reads the environment and the configuration and checks what was
// given. Flags come before the environment, and that before the configuration.
func (o *options) complete(flags *pflag.FlagSet) error {
	var err error
	if o.workspace, err = o.io.Getwd(); err != nil {
		return usage("the current folder cannot be read: %w", err)
	}
	dirs, err := store.FindDirs(first(o.dataDir, o.io.Getenv("REPLAN_HOME")))
	if err != nil {
		return usage("%w", err)
	}
	o.store = store.New(dirs)
	if o.config, err = readConfig(o.store.Dirs.ConfigFile()); err != nil {
		return usage("%w", err)
	}
	o.host = first(o.host, o.io.Getenv("OLLAMA_HOST"), o.config.Model.Host)
	o.model = first(o.model, o.config.Model.Name)
	if n := o.config.Model.ContextWindow; n < 0 {
		return o.misconfigured(tooLittle("model.context_window", strconv.Itoa(n)))
	}
	o.contextWindow, o.keepAlive = o.config.Model.ContextWindow, o.config.Model.KeepAlive.Duration
	if err := o.readLooks(flags); err != nil {
		return err
	}
	if o.keys, err = o.config.screenKeys(); err != nil {
		return o.misconfigured(err)
	}
	if err := o.checkOutput(); err != nil {
		return err
	}
	if o.approveText != "" {
		if o.approve, err = policy.ParseApprove(o.approveText); err != nil {
			return usage("%w", err)
		}
		home, _ := os.UserHomeDir() // without one there is nothing to protect
		if o.approve == policy.ApproveSafe && policy.TooWide(o.workspace, home) {
			return usage("--approve safe lets files of this folder be changed unasked, and %s holds your home folder: work in a folder below it, or answer the gates yourself", o.workspace)
		}
	}
	if err := o.readRules(); err != nil {
		return err
	}
	if err := o.readPlanner(); err != nil {
		return err
	}
	o.trusted = o.config.trusts(o.workspace)
	o.changed = flags.Changed
	if err := o.readManner(); err != nil {
		return err
	}
	return o.readLimits(flags)
}

// checkOutput refuses a form of output that there is not, and falls back to
// text to say so.
func (o *options) checkOutput() error {
	if o.output == outputText || o.output == outputJSON {
		return nil
	}
	given := o.output
	o.output = outputText
	return usage("--output takes text or json, not %q", given)
}

// readPlanner takes who plans from the flag, else from the configuration.
func (o *options) readPlanner() error {
	name := first(o.plannerText, o.config.Routing.Planner, string(event.PlannerAuto))
	kind, ok := event.ParsePlannerKind(name)
	switch {
	case ok:
		o.routing = event.Routing{Planner: kind, Policy: intent.Policy{PreferTools: o.config.Routing.PreferTools, RequireTests: o.config.Routing.RequireTests}}
		return nil
	case o.plannerText != "":
		return usage("--planner takes %s, not %q", listed(event.PlannerKinds()), name)
	default:
		return o.misconfigured(fmt.Errorf("routing.planner takes %s, not %q", listed(event.PlannerKinds()), name))
	}
}

// readRules takes the gate rules of the flags and the configuration: of the
// flags, denials before permissions.
func (o *options) readRules() error {
	var faults []error
	add := func(flag string, texts []string, verdict rule.Verdict) {
		for _, text := range texts {
			rule, err := policy.Parse(text, verdict, rule.SourceFlag)
			if err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", flag, err))
				continue
			}
			o.rules = append(o.rules, rule)
		}
	}
	add("--deny", o.deny, rule.VerdictBlock)
	add("--allow", o.allow, rule.VerdictRun)
	if len(faults) > 0 {
		return usage("%w", errors.Join(faults...))
	}
	configured, err := policy.Rules(o.config.Policy, o.config.Gates, o.here)
	if err != nil {
		return o.misconfigured(err)
	}
	o.rules = append(o.rules, configured...)
	return nil
}

// screen reports whether the full screen can be opened.
func (o *options) screen() bool {
	return o.io.Terminal && !o.plain && o.output == outputText && o.io.Getenv("TERM") != "dumb"
}

// asks reports whether somebody sits there to be asked, line by line.
func (o *options) asks() bool { return o.io.Terminal && o.output == outputText }

// first returns the first text that is not empty.
func first(texts ...string) string {
	for _, t := range texts {
		if strings.TrimSpace(t) != "" {
			return t
		}
	}
	return ""
}

// writing is what is being done when something is told.
const writing = "write to standard output"

// wrap says what was being done when err came up.
func wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	var path *fs.PathError
	switch {
	case errors.Is(err, syscall.EPIPE):
		err = errors.New("nobody reads it any more")
	case errors.As(err, &path) && doing == writing:
		err = path.Err // the name of a device says nothing
	}
	return &failure{exit: 1, code: "failed", err: fmt.Errorf("%s: %w", doing, err)}
}
