package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"replan/agent/event"
	"replan/planning/plan"
)

// limitsConfig is the section [limits] of the configuration. Missing numbers come
// from the preset.
type limitsConfig struct {
	Preset            string    `toml:"preset"` // default or strict
	MaxSteps          *int      `toml:"max_steps"`
	MaxPlanSteps      *int      `toml:"max_plan_steps"`
	MaxReplans        *int      `toml:"max_replans"`
	Replan            *bool     `toml:"replan"`
	OnFailure         string    `toml:"on_failure"` // for goals
	MaxToolCalls      *int      `toml:"max_tool_calls"`
	MaxDiscoveryCalls *int      `toml:"max_discovery_calls"`
	MaxExecutionCalls *int      `toml:"max_execution_calls"`
	MaxCallsPerTool   *int      `toml:"max_calls_per_tool"`
	MaxRepeats        *int      `toml:"max_repeats"`
	MaxTokens         *int      `toml:"max_tokens"`
	MaxConcurrency    *int      `toml:"max_concurrency"`
	ModelSlots        *int      `toml:"model_slots"`
	MaxDuration       *duration `toml:"max_duration"`
	StepTimeout       *duration `toml:"step_timeout"`
}

// sessionLimitsConfig is the section [session_limits] of the configuration:
// limits for all runs of a session and the chat together.
type sessionLimitsConfig struct {
	MaxTokens    int      `toml:"max_tokens"`
	MaxToolCalls int      `toml:"max_tool_calls"`
	MaxDuration  duration `toml:"max_duration"`
}

// maxSteps is the limit that grows with the plan unless it is set.
const maxSteps = "max-steps"

// limit is a limit of a run: its flag, and accessors for its number in the
// configuration and in event.Limits. Times are in milliseconds.
type limit struct {
	name, help string
	time       bool
	configured func(*limitsConfig) (n int64, given bool)
	get        func(*event.Limits) int64
	set        func(*event.Limits, int64)
}

// count returns a limit on a count.
func count(name, help string, in func(*limitsConfig) *int, of func(*event.Limits) *int) limit {
	return limit{
		name: name, help: help,
		configured: func(c *limitsConfig) (int64, bool) {
			if n := in(c); n != nil {
				return int64(*n), true
			}
			return 0, false
		},
		get: func(l *event.Limits) int64 { return int64(*of(l)) },
		set: func(l *event.Limits, n int64) { *of(l) = int(n) },
	}
}

// span returns a limit on a time.
func span(name, help string, in func(*limitsConfig) *duration, of func(*event.Limits) *int64) limit {
	return limit{
		name: name, help: help, time: true,
		configured: func(c *limitsConfig) (int64, bool) {
			if d := in(c); d != nil {
				return milliseconds(d.Duration), true
			}
			return 0, false
		},
		get: func(l *event.Limits) int64 { return *of(l) },
		set: func(l *event.Limits, n int64) { *of(l) = n },
	}
}

// milliseconds converts a time. A negative time stays negative.
func milliseconds(d time.Duration) int64 {
	if d < 0 {
		return min(d.Milliseconds(), -1)
	}
	return d.Milliseconds()
}

// text formats a value of the limit for the user.
func (l limit) text(n int64) string {
	if l.time {
		return (time.Duration(n) * time.Millisecond).String()
	}
	return strconv.FormatInt(n, 10)
}

// runLimits returns the limits of a run, in the order of the settings.
func runLimits() []limit {
	return []limit{
		count(maxSteps, "most step executions of a run, 0 for no limit; the default grows with the plan",
			func(c *limitsConfig) *int { return c.MaxSteps }, func(l *event.Limits) *int { return &l.MaxSteps }),
		count("max-plan-steps", "most steps that a planner may propose at once, 0 for no limit",
			func(c *limitsConfig) *int { return c.MaxPlanSteps }, func(l *event.Limits) *int { return &l.MaxPlanSteps }),
		count("max-replans", "most replans of a run, 0 for none: the first failure that asks for one ends the run",
			func(c *limitsConfig) *int { return c.MaxReplans }, func(l *event.Limits) *int { return &l.MaxReplans }),
		count("max-tool-calls", "most tool calls of a run, 0 for no limit",
			func(c *limitsConfig) *int { return c.MaxToolCalls }, func(l *event.Limits) *int { return &l.MaxToolCalls }),
		count("max-discovery-calls", "most calls of read-only tools, 0 for no limit",
			func(c *limitsConfig) *int { return c.MaxDiscoveryCalls }, func(l *event.Limits) *int { return &l.MaxDiscoveryCalls }),
		count("max-execution-calls", "most calls of tools that are not read-only, 0 for no limit",
			func(c *limitsConfig) *int { return c.MaxExecutionCalls }, func(l *event.Limits) *int { return &l.MaxExecutionCalls }),
		count("max-calls-per-tool", "most calls of any one tool, 0 for no limit",
			func(c *limitsConfig) *int { return c.MaxCallsPerTool }, func(l *event.Limits) *int { return &l.MaxCallsPerTool }),
		count("max-repeats", "most identical calls or failures in successive revisions or model calls, 0 for no limit",
			func(c *limitsConfig) *int { return c.MaxRepeats }, func(l *event.Limits) *int { return &l.MaxRepeats }),
		count("max-tokens", "most tokens of a run, prompts and replies together, 0 for no limit",
			func(c *limitsConfig) *int { return c.MaxTokens }, func(l *event.Limits) *int { return &l.MaxTokens }),
		count("max-concurrency", "tool calls at once",
			func(c *limitsConfig) *int { return c.MaxConcurrency }, func(l *event.Limits) *int { return &l.MaxConcurrency }),
		count("model-slots", "model calls at once, as many as the server has parallel slots",
			func(c *limitsConfig) *int { return c.ModelSlots }, func(l *event.Limits) *int { return &l.ModelSlots }),
		span("max-duration", "longest duration of a run, such as 30m, 0 for no limit",
			func(c *limitsConfig) *duration { return c.MaxDuration }, func(l *event.Limits) *int64 { return &l.MaxDurationMS }),
		span("step-timeout", "time limit of a step without its own, such as 90s, 0 for no limit",
			func(c *limitsConfig) *duration { return c.StepTimeout }, func(l *event.Limits) *int64 { return &l.StepTimeoutMS }),
	}
}

// givenLimits holds the limits set by flags, by name.
type givenLimits struct {
	preset  string
	numbers map[string]func() int64
}

// registerLimits declares a flag for each limit.
func (o *Options) registerLimits(f *pflag.FlagSet) {
	defaults := event.DefaultLimits()
	o.given = givenLimits{numbers: map[string]func() int64{}}
	f.StringVar(&o.given.preset, "limits", "", "use the limits of `PRESET` default or strict")
	f.StringVar(&o.onFailureText, "on-failure", "", "after a failed step without its own setting, `DO` abort, skip or replan (the default)")
	f.BoolVar(&o.noReplan, "no-replan", false, "make no new plan after a failure: a step that asks for one ends the run")
	for _, l := range runLimits() {
		if l.time {
			d := f.Duration(l.name, time.Duration(l.get(&defaults))*time.Millisecond, l.help)
			o.given.numbers[l.name] = func() int64 { return milliseconds(*d) }
			continue
		}
		n := f.Int(l.name, int(l.get(&defaults)), l.help)
		o.given.numbers[l.name] = func() int64 { return int64(*n) }
	}
}

// readLimits computes the limits of the run and the session: the preset,
// overridden by the configuration, overridden by flags.
func (o *Options) readLimits(flags *pflag.FlagSet) error {
	if _, err := event.Preset(o.given.preset); err != nil {
		return fmt.Errorf("%w", err)
	}
	if err := o.configureLimits(); err != nil {
		return o.Misconfigured(err)
	}
	if err := o.checkGivenLimits(flags); err != nil {
		return err
	}
	if err := o.readOnFailure(); err != nil {
		return err
	}
	o.Limits = o.raise(o.Limits)
	return nil
}

// readOnFailure reads the failure mode from the flags, else from the
// configuration.
func (o *Options) readOnFailure() error {
	c, err := o.file.Limits, error(nil)
	if o.OnFailure, err = ParseOnFailure(o.onFailureText); err != nil {
		return fmt.Errorf("--on-failure %w", err)
	}
	if o.OnFailure == plan.OnFailureDefault {
		if o.OnFailure, err = ParseOnFailure(c.OnFailure); err != nil {
			return o.Misconfigured(fmt.Errorf("limits.on_failure %w", err))
		}
	}
	if c.Replan != nil {
		o.Limits.NoReplan = !*c.Replan
	}
	if o.noReplan {
		o.Limits.NoReplan = true
	}
	return nil
}

// ParseOnFailure parses what happens after a failed step; "" is unset.
func ParseOnFailure(text string) (plan.OnFailure, error) {
	switch f := plan.OnFailure(text); f {
	case plan.OnFailureDefault, plan.OnFailureAbort, plan.OnFailureSkip, plan.OnFailureReplan:
		return f, nil
	default:
		return "", fmt.Errorf("takes abort, skip or replan, not %q", text)
	}
}

// configureLimits validates the configured limits.
func (o *Options) configureLimits() error {
	var err error
	if o.Limits, err = event.Preset(First(o.given.preset, o.file.Limits.Preset)); err != nil {
		return fmt.Errorf("limits.preset: %w", err)
	}
	for _, l := range runLimits() {
		n, given := l.configured(&o.file.Limits)
		if !given {
			continue
		}
		if n < 0 {
			return belowZero(keyOf(l.name), l.text(n))
		}
		l.set(&o.Limits, n)
		if l.name == maxSteps {
			o.Limits.GrowSteps = false
		}
	}
	return o.configureSessionLimits()
}

// checkGivenLimits rejects flag values that are no valid limits.
func (o *Options) checkGivenLimits(flags *pflag.FlagSet) error {
	for _, l := range runLimits() {
		if n := o.given.numbers[l.name](); flags.Changed(l.name) && n < 0 {
			return belowZero(l.name, l.text(n))
		}
	}
	return nil
}

// keyOf returns the configuration key for the flag of a limit.
func keyOf(flag string) string { return "limits." + strings.ReplaceAll(flag, "-", "_") }

func belowZero(which, what string) error {
	return fmt.Errorf("a limit cannot be below 0: %s is %s; 0 is no limit", which, what)
}

// Raised returns the limits of a resumed run: those of its journal, or those of
// the flags where they are higher.
func (o *Options) Raised(limits event.Limits) event.Limits {
	if o.Changed("limits") {
		return limits.RaisedTo(o.Limits)
	}
	return limits.RaisedTo(o.raise(limits))
}

// raise returns limits overridden by the flags.
func (o *Options) raise(limits event.Limits) event.Limits {
	for _, l := range runLimits() {
		if o.Changed(l.name) {
			l.set(&limits, o.given.numbers[l.name]())
			if l.name == maxSteps {
				limits.GrowSteps = false
			}
		}
	}
	return limits
}

func (o *Options) configureSessionLimits() error {
	c := o.file.SessionLimits
	switch {
	case c.MaxTokens < 0:
		return belowZero("session_limits.max_tokens", fmt.Sprint(c.MaxTokens))
	case c.MaxToolCalls < 0:
		return belowZero("session_limits.max_tool_calls", fmt.Sprint(c.MaxToolCalls))
	case c.MaxDuration.Duration < 0:
		return belowZero("session_limits.max_duration", c.MaxDuration.String())
	}
	o.SessionLimits = event.SessionLimits{
		MaxTokens: c.MaxTokens, MaxToolCalls: c.MaxToolCalls, MaxDurationMS: c.MaxDuration.Milliseconds(),
	}
	return nil
}
