package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"replan/agent/event"
	"replan/agent/session"
)

// limitsSection is the section [limits] of the configuration. Missing numbers come
// from the preset.
type limitsSection struct {
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

// sessionLimitsSection is the section [session_limits] of the configuration:
// limits for all runs of a session and the chat together.
type sessionLimitsSection struct {
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
	configured func(*limitsSection) (n int64, given bool)
	get        func(*event.Limits) int64
	set        func(*event.Limits, int64)
}

// count returns a limit on a count.
func count(name, help string, in func(*limitsSection) *int, of func(*event.Limits) *int) limit {
	return limit{
		name: name, help: help,
		configured: func(c *limitsSection) (int64, bool) {
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
func span(name, help string, in func(*limitsSection) *duration, of func(*event.Limits) *int64) limit {
	return limit{
		name: name, help: help, time: true,
		configured: func(c *limitsSection) (int64, bool) {
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
			func(c *limitsSection) *int { return c.MaxSteps }, func(l *event.Limits) *int { return &l.MaxSteps }),
		count("max-plan-steps", "most steps that a planner may propose at once, 0 for no limit",
			func(c *limitsSection) *int { return c.MaxPlanSteps }, func(l *event.Limits) *int { return &l.MaxPlanSteps }),
		count("max-replans", "most replans of a run, 0 for none: the first failure that asks for one ends the run",
			func(c *limitsSection) *int { return c.MaxReplans }, func(l *event.Limits) *int { return &l.MaxReplans }),
		count("max-tool-calls", "most tool calls of a run, 0 for no limit",
			func(c *limitsSection) *int { return c.MaxToolCalls }, func(l *event.Limits) *int { return &l.MaxToolCalls }),
		count("max-discovery-calls", "most calls of read-only tools, 0 for no limit",
			func(c *limitsSection) *int { return c.MaxDiscoveryCalls }, func(l *event.Limits) *int { return &l.MaxDiscoveryCalls }),
		count("max-execution-calls", "most calls of tools that are not read-only, 0 for no limit",
			func(c *limitsSection) *int { return c.MaxExecutionCalls }, func(l *event.Limits) *int { return &l.MaxExecutionCalls }),
		count("max-calls-per-tool", "most calls of any one tool, 0 for no limit",
			func(c *limitsSection) *int { return c.MaxCallsPerTool }, func(l *event.Limits) *int { return &l.MaxCallsPerTool }),
		count("max-repeats", "most identical calls or failures in successive revisions or model calls, 0 for no limit",
			func(c *limitsSection) *int { return c.MaxRepeats }, func(l *event.Limits) *int { return &l.MaxRepeats }),
		count("max-tokens", "most tokens of a run, prompts and replies together, 0 for no limit",
			func(c *limitsSection) *int { return c.MaxTokens }, func(l *event.Limits) *int { return &l.MaxTokens }),
		count("max-concurrency", "tool calls at once",
			func(c *limitsSection) *int { return c.MaxConcurrency }, func(l *event.Limits) *int { return &l.MaxConcurrency }),
		count("model-slots", "model calls at once, as many as the server has parallel slots",
			func(c *limitsSection) *int { return c.ModelSlots }, func(l *event.Limits) *int { return &l.ModelSlots }),
		span("max-duration", "longest duration of a run, such as 30m, 0 for no limit",
			func(c *limitsSection) *duration { return c.MaxDuration }, func(l *event.Limits) *int64 { return &l.MaxDurationMS }),
		span("step-timeout", "time limit of a step without its own, such as 90s, 0 for no limit",
			func(c *limitsSection) *duration { return c.StepTimeout }, func(l *event.Limits) *int64 { return &l.StepTimeoutMS }),
	}
}

// Limits are the limits of runs and of the session.
type Limits struct {
	Run     event.Limits
	Session event.SessionLimits

	flags  limitFlags
	preset bool // --limits was given
}

// limitFlags holds the limits of flags.
type limitFlags struct {
	preset   string
	numbers  map[string]func() int64 // by name
	noReplan bool
	given    func(flag string) bool
}

// register declares a flag for each limit.
func (l *Limits) register(f *pflag.FlagSet) {
	defaults := event.DefaultLimits()
	l.flags.numbers = map[string]func() int64{}
	f.StringVar(&l.flags.preset, "limits", "", "use the limits of `PRESET` default or strict")
	f.BoolVar(&l.flags.noReplan, "no-replan", false, "make no new plan after a failure: a step that asks for one ends the run")
	for _, of := range runLimits() {
		if of.time {
			d := f.Duration(of.name, time.Duration(of.get(&defaults))*time.Millisecond, of.help)
			l.flags.numbers[of.name] = func() int64 { return milliseconds(*d) }
			continue
		}
		n := f.Int(of.name, int(of.get(&defaults)), of.help)
		l.flags.numbers[of.name] = func() int64 { return int64(*n) }
	}
}

// read computes the limits: the preset, overridden by the configuration, overridden by
// flags.
func (l *Limits) read(from sources) error {
	l.flags.given, l.preset = from.given, from.given("limits")
	if _, err := event.Preset(l.flags.preset); err != nil {
		return fmt.Errorf("%w", err)
	}
	if err := l.configure(from.file); err != nil {
		return from.file.unusable(err)
	}
	for _, of := range runLimits() {
		if n := l.flags.numbers[of.name](); from.given(of.name) && n < 0 {
			return belowZero(of.name, of.text(n))
		}
	}
	if replan := from.file.Limits.Replan; replan != nil {
		l.Run.NoReplan = !*replan
	}
	if l.flags.noReplan {
		l.Run.NoReplan = true
	}
	l.Run = l.raise(l.Run)
	return nil
}

// configure validates and takes the configured limits.
func (l *Limits) configure(c file) (err error) {
	if l.Run, err = event.Preset(First(l.flags.preset, c.Limits.Preset)); err != nil {
		return fmt.Errorf("limits.preset: %w", err)
	}
	for _, of := range runLimits() {
		n, given := of.configured(&c.Limits)
		if !given {
			continue
		}
		if n < 0 {
			return belowZero(keyOf(of.name), of.text(n))
		}
		of.set(&l.Run, n)
		if of.name == maxSteps {
			l.Run.GrowSteps = false
		}
	}
	s := c.SessionLimits
	switch {
	case s.MaxTokens < 0:
		return belowZero("session_limits.max_tokens", fmt.Sprint(s.MaxTokens))
	case s.MaxToolCalls < 0:
		return belowZero("session_limits.max_tool_calls", fmt.Sprint(s.MaxToolCalls))
	case s.MaxDuration.Duration < 0:
		return belowZero("session_limits.max_duration", s.MaxDuration.String())
	}
	l.Session = event.SessionLimits{
		MaxTokens: s.MaxTokens, MaxToolCalls: s.MaxToolCalls, MaxDurationMS: s.MaxDuration.Milliseconds(),
	}
	return nil
}

// measured limits a run as replan fit does, with one replan and ten minutes.
func (l *Limits) measured() {
	l.Run, l.Session = event.DefaultLimits(), event.SessionLimits{}
	l.Run.MaxReplans, l.Run.MaxDurationMS = 1, (10 * time.Minute).Milliseconds()
}

// keyOf returns the configuration key for the flag of a limit.
func keyOf(flag string) string { return "limits." + strings.ReplaceAll(flag, "-", "_") }

func belowZero(which, what string) error {
	return fmt.Errorf("a limit cannot be below 0: %s is %s; 0 is no limit", which, what)
}

// Raised returns the limits of a resumed run: those of its journal, or those of
// the flags where they are higher.
func (l Limits) Raised(limits event.Limits) event.Limits {
	if l.preset {
		return limits.RaisedTo(l.Run)
	}
	return limits.RaisedTo(l.raise(limits))
}

// PlanSteps returns the most steps that --max-plan-steps lets a plan have, 0 without the
// flag.
func (l Limits) PlanSteps() int {
	if !l.flags.given("max-plan-steps") {
		return 0
	}
	return l.Run.MaxPlanSteps
}

// raise returns limits overridden by the flags.
func (l Limits) raise(limits event.Limits) event.Limits {
	for _, of := range runLimits() {
		if l.flags.given(of.name) {
			of.set(&limits, l.flags.numbers[of.name]())
			if of.name == maxSteps {
				limits.GrowSteps = false
			}
		}
	}
	return limits
}

// report returns the settings of [limits].
func (l Limits) report(from sources) []session.Setting {
	var out []session.Setting
	for _, of := range runLimits() {
		n := of.get(&l.Run)
		value, literal := of.text(n), of.text(n)
		if of.time {
			literal = strconv.Quote(literal)
		}
		if n == 0 {
			value = "no limit"
		}
		if of.name == maxSteps && l.Run.GrowSteps {
			value += ", grows with the plan"
		}
		_, configured := of.configured(&from.file.Limits)
		source := from.of(of.name, configured)
		if source == fromDefault {
			source = from.of("limits", from.file.Limits.Preset != "")
		}
		out = append(out, session.Setting{Key: keyOf(of.name), Value: value, Source: source, Literal: literal, About: of.help})
	}
	return out
}
