package config

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"replan/agent/event"
	"replan/planning/plan"
)

// limitsConfig is the section [limits] of the configuration. A number that is
// not given is the preset's.
type limitsConfig struct {
	Preset            string    `toml:"preset"` // default or strict
	MaxSteps          *int      `toml:"max_steps"`
	MaxPlanSteps      *int      `toml:"max_plan_steps"`
	MaxReplans        *int      `toml:"max_replans"`
	Replan            *bool     `toml:"replan"`
	OnFailure         string    `toml:"on_failure"` // of goals
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
// what all runs of a session and the chat may use together.
type sessionLimitsConfig struct {
	MaxTokens    int      `toml:"max_tokens"`
	MaxToolCalls int      `toml:"max_tool_calls"`
	MaxDuration  duration `toml:"max_duration"`
}

// limitFlag is a limit that counts: its flag, and where its number stands in
// the configuration and among the limits of a run.
type limitFlag struct {
	name, help string
	configured func(*limitsConfig) *int
	to         func(*event.Limits) *int
}

// limitFlags are the limits that count, in the order in which help names them.
func limitFlags() []limitFlag {
	return []limitFlag{
		{
			"max-steps", "most step executions of a run, 0 for no limit; grows with the plan unless given",
			func(c *limitsConfig) *int { return c.MaxSteps }, func(l *event.Limits) *int { return &l.MaxSteps },
		},
		{
			"max-plan-steps", "most steps that a planner may propose at once, 0 for no limit",
			func(c *limitsConfig) *int { return c.MaxPlanSteps }, func(l *event.Limits) *int { return &l.MaxPlanSteps },
		},
		{
			"max-replans", "most replans of a run, 0 for no limit",
			func(c *limitsConfig) *int { return c.MaxReplans }, func(l *event.Limits) *int { return &l.MaxReplans },
		},
		{
			"max-tool-calls", "most tool calls of a run, 0 for no limit",
			func(c *limitsConfig) *int { return c.MaxToolCalls }, func(l *event.Limits) *int { return &l.MaxToolCalls },
		},
		{
			"max-discovery-calls", "most calls of read-only tools, 0 for no limit",
			func(c *limitsConfig) *int { return c.MaxDiscoveryCalls }, func(l *event.Limits) *int { return &l.MaxDiscoveryCalls },
		},
		{
			"max-execution-calls", "most calls of tools that are not read-only, 0 for no limit",
			func(c *limitsConfig) *int { return c.MaxExecutionCalls }, func(l *event.Limits) *int { return &l.MaxExecutionCalls },
		},
		{
			"max-calls-per-tool", "most calls of any one tool, 0 for no limit",
			func(c *limitsConfig) *int { return c.MaxCallsPerTool }, func(l *event.Limits) *int { return &l.MaxCallsPerTool },
		},
		{
			"max-repeats", "how often the same call or the same failure may come, in successive revisions or in the calls of a model, 0 for no limit",
			func(c *limitsConfig) *int { return c.MaxRepeats }, func(l *event.Limits) *int { return &l.MaxRepeats },
		},
		{
			"max-tokens", "most tokens of a run, prompts and replies together, 0 for no limit",
			func(c *limitsConfig) *int { return c.MaxTokens }, func(l *event.Limits) *int { return &l.MaxTokens },
		},
		{
			"max-concurrency", "tool calls at once",
			func(c *limitsConfig) *int { return c.MaxConcurrency }, func(l *event.Limits) *int { return &l.MaxConcurrency },
		},
		{
			"model-slots", "model calls at once, as many as the server has parallel slots",
			func(c *limitsConfig) *int { return c.ModelSlots }, func(l *event.Limits) *int { return &l.ModelSlots },
		},
	}
}

// limitTime is a limit that is a time.
type limitTime struct {
	name, help string
	configured func(*limitsConfig) *duration
	to         func(*event.Limits) *int64
}

func limitTimes() []limitTime {
	return []limitTime{
		{
			"max-duration", "how long a run may go on, such as 30m, 0 for no limit",
			func(c *limitsConfig) *duration { return c.MaxDuration }, func(l *event.Limits) *int64 { return &l.MaxDurationMS },
		},
		{
			"step-timeout", "how long a step may take that names no time of its own, such as 90s, 0 for no limit",
			func(c *limitsConfig) *duration { return c.StepTimeout }, func(l *event.Limits) *int64 { return &l.StepTimeoutMS },
		},
	}
}

// givenLimits are the limits that the flags give.
type givenLimits struct {
	preset  string
	numbers map[string]*int
	times   map[string]*time.Duration
}

// registerLimits declares a flag for each limit.
func (o *Options) registerLimits(f *pflag.FlagSet) {
	defaults := event.DefaultLimits()
	o.given = givenLimits{numbers: map[string]*int{}, times: map[string]*time.Duration{}}
	f.StringVar(&o.given.preset, "limits", "", "the limits to start from: default or strict")
	for _, l := range limitFlags() {
		o.given.numbers[l.name] = f.Int(l.name, *l.to(&defaults), l.help)
	}
	f.StringVar(&o.onFailureText, "on-failure", "", "what a failed step of a goal's plan does that says nothing of its own: abort, skip or replan (default replan)")
	f.BoolVar(&o.noReplan, "no-replan", false, "never make a new plan after a failure: a step that asks for one ends the run")
	for _, l := range limitTimes() {
		o.given.times[l.name] = f.Duration(l.name, time.Duration(*l.to(&defaults))*time.Millisecond, l.help)
	}
}

// readLimits puts the limits of a run and of the session together: the preset,
// the configuration's numbers over it, the flags over those.
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

// readOnFailure takes what follows a failure from the flags, else from the
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

// ParseOnFailure reads what follows a failed step; "" is not said.
func ParseOnFailure(text string) (plan.OnFailure, error) {
	switch f := plan.OnFailure(text); f {
	case plan.OnFailureDefault, plan.OnFailureAbort, plan.OnFailureSkip, plan.OnFailureReplan:
		return f, nil
	default:
		return "", fmt.Errorf("takes abort, skip or replan, not %q", text)
	}
}

// configureLimits checks what the configuration says of limits.
func (o *Options) configureLimits() error {
	var err error
	if o.Limits, err = event.Preset(First(o.given.preset, o.file.Limits.Preset)); err != nil {
		return fmt.Errorf("limits.preset: %w", err)
	}
	for _, l := range limitFlags() {
		if n := l.configured(&o.file.Limits); n != nil {
			if *n < 0 {
				return belowZero(keyOf(l.name), fmt.Sprint(*n))
			}
			*l.to(&o.Limits) = *n
			if l.name == "max-steps" {
				o.Limits.GrowSteps = false
			}
		}
	}
	for _, l := range limitTimes() {
		if d := l.configured(&o.file.Limits); d != nil {
			if d.Duration < 0 {
				return belowZero(keyOf(l.name), d.String())
			}
			*l.to(&o.Limits) = d.Milliseconds()
		}
	}
	return o.configureSessionLimits()
}

// checkGivenLimits refuses flags that cannot be limits.
func (o *Options) checkGivenLimits(flags *pflag.FlagSet) error {
	for _, l := range limitFlags() {
		if n := *o.given.numbers[l.name]; flags.Changed(l.name) && n < 0 {
			return belowZero(l.name, fmt.Sprint(n))
		}
	}
	for _, l := range limitTimes() {
		if d := *o.given.times[l.name]; flags.Changed(l.name) && d < 0 {
			return belowZero(l.name, d.String())
		}
	}
	return nil
}

// keyOf is the key of the configuration that stands for a flag of a limit.
func keyOf(flag string) string { return "limits." + strings.ReplaceAll(flag, "-", "_") }

func belowZero(which, what string) error {
	return fmt.Errorf("a limit cannot be below 0: %s is %s; 0 is no limit", which, what)
}

// Raised returns the limits of a run that is resumed: those of its journal, or
// what the flags give where that is more.
func (o *Options) Raised(limits event.Limits) event.Limits {
	if o.Changed("limits") {
		return limits.RaisedTo(o.Limits)
	}
	return limits.RaisedTo(o.raise(limits))
}

// raise returns limits with those in their place that the flags give.
func (o *Options) raise(limits event.Limits) event.Limits {
	for _, l := range limitFlags() {
		if o.Changed(l.name) {
			*l.to(&limits) = *o.given.numbers[l.name]
			if l.name == "max-steps" {
				limits.GrowSteps = false
			}
		}
	}
	for _, l := range limitTimes() {
		if o.Changed(l.name) {
			*l.to(&limits) = o.given.times[l.name].Milliseconds()
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
