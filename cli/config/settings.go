package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/agent/session"
	"replan/internal/english"
	"replan/planning/prompt"
	"replan/tui"
	"replan/tui/notify"
)

// Sources of a setting, as shown on the screen.
const (
	fromEnvironment   = "environment"
	fromConfiguration = "user file"
	fromDefault       = "default"
	fromProgram       = "this command" // such as the demo, which has its own values
)

// Report returns the settings in force and their sources.
func (o *Options) Report() session.Settings {
	settings := session.Settings{File: First(o.OwnConfig, o.Dirs.ConfigFile())}
	if _, err := os.Stat(settings.File); errors.Is(err, fs.ErrNotExist) {
		settings.Missing = true
	}
	for _, part := range [][]session.Setting{o.modelSettings(), o.planSettings(), o.limitSettings(), o.screenSettings(), o.gateSettings(), o.distributedSettings()} {
		settings.Settings = append(settings.Settings, part...)
	}
	saved := savedValues(settings.File)
	for i := range settings.Settings {
		s := &settings.Settings[i]
		if value, ok := saved[s.Key]; ok && o.fileOf(s.Key) != "" {
			s.Saved = &value
		}
	}
	return settings
}

// sourceOf returns the source of a value: the flag of that name, else the
// configuration if it sets the value.
func (o *Options) sourceOf(flag string, configured bool) string {
	switch {
	case flag != "" && o.Changed != nil && o.Changed(flag):
		return "flag --" + flag
	case configured:
		return fromConfiguration
	default:
		return fromDefault
	}
}

// quoted returns a text setting.
func quoted(key, value, source, about string) session.Setting {
	if value == "" {
		return session.Setting{Key: key, Source: source, About: about}
	}
	return session.Setting{Key: key, Value: value, Source: source, Literal: strconv.Quote(value), About: about}
}

// unquoted returns a setting that TOML writes without quotes.
func unquoted(key string, value any, source, about string) session.Setting {
	return session.Setting{Key: key, Value: fmt.Sprint(value), Source: source, Literal: fmt.Sprint(value), About: about}
}

// among adds the possible values of a setting.
func among(s session.Setting, choices ...string) session.Setting {
	s.Choices = choices
	return s
}

// modelSettings returns the settings of [model].
func (o *Options) modelSettings() []session.Setting {
	c := o.file.Model
	name := quoted("model.name", o.Model, o.sourceOf("model", c.Name != "" && o.Model == c.Name), "the model that answers")
	if name.Source == fromDefault && o.Model != "" {
		name.Source = fromProgram
	}
	host := quoted("model.host", First(o.Host, "127.0.0.1:11434"), fromDefault, "address of Ollama")
	switch o.Host {
	case "":
	case o.getenv("OLLAMA_HOST"):
		host.Source = fromEnvironment
	case c.Host:
		host.Source = fromConfiguration
	default:
		host.Source = fromProgram
	}
	if o.Changed != nil && o.Changed("host") {
		host.Source = "flag --host"
	}
	window := unquoted("model.context_window", o.ContextWindow, o.sourceOf("", c.ContextWindow > 0), "tokens of context; 0 starts with at most 16384 and may grow")
	if o.ContextWindow == 0 {
		window.Value, window.About = "at most 16384, grows if needed", "tokens of context"
	}
	alive := quoted("model.keep_alive", "", o.sourceOf("", c.KeepAlive.Duration != 0), "how long the model stays loaded")
	alive.Value, alive.Literal = "the server's own", ""
	if o.KeepAlive != 0 {
		alive.Value, alive.Literal = o.KeepAlive.String(), strconv.Quote(o.KeepAlive.String())
	}
	think := First(string(o.Manner.Prompting.Think), "auto")
	return []session.Setting{
		name, host, window, alive,
		among(quoted("model.think", think, o.sourceOf("think", c.Think != ""), "how hard the model thinks"), prompt.ThinkLevels()...),
	}
}

// planSettings returns the settings of [routing] and [planning], and the profile.
func (o *Options) planSettings() []session.Setting {
	r, c, p := o.file.Routing, o.file.Planning, o.Manner.Prompting
	out := []session.Setting{
		among(quoted("routing.planner", string(o.Routing.Planner), o.sourceOf("planner", r.Planner != ""), "planner of a goal"), event.PlannerKinds()...),
		unquoted("routing.require_tests", r.RequireTests, o.sourceOf("", r.RequireTests), "chains that change files end with the tests"),
	}
	profile := session.Setting{Key: "profile", Value: First(o.Manner.Profile, NoProfile), Source: o.sourceOf("profile", false), About: "the profile of the session; set it at start with --profile NAME"}
	out = append(out, profile)
	for _, s := range []struct {
		key, flag, about string
		given            *bool
		is               bool
	}{
		{"analysis", "", "planning begins with an analysis of the goal", c.Analysis, !p.SkipAnalysis},
		{"review", "", "the analysis is reviewed if it asks for it", c.Review, !p.SkipReview},
		{"plan", "", "an execution plan is written; off: a run ends with its analysis", c.Plan, !p.SkipPlan},
		{"eager", "eager", "steps that read start while the plan is written", c.Eager, !p.Patient},
		{"plan_tools", "plan-tools", "the model may make plans in the chat", c.PlanTools, p.PlanTools},
		{"strict", "strict", "args of another type than a tool asks for are refused", c.Strict, p.Strict},
	} {
		out = append(out, unquoted("planning."+s.key, s.is, o.sourceOf(s.flag, s.given != nil), s.about))
	}
	planner := quoted("planning.planner_model", p.Models.Planner.Name, o.sourceOf("planner-model", c.PlannerModel != ""), "the model that plans; without one, the model that answers")
	out = append(out, planner)
	return out
}

// limitSettings returns the settings of [limits] and [session_limits].
func (o *Options) limitSettings() []session.Setting {
	var out []session.Setting
	add := func(key, flag, value, literal, help string, configured bool) {
		source := o.sourceOf(flag, configured)
		if source == fromDefault {
			switch {
			case o.Changed != nil && o.Changed("limits"):
				source = "flag --limits"
			case o.file.Limits.Preset != "":
				source = fromConfiguration
			}
		}
		out = append(out, session.Setting{Key: key, Value: value, Source: source, Literal: literal, About: help})
	}
	for _, l := range runLimits() {
		n := l.get(&o.Limits)
		value, literal := l.text(n), l.text(n)
		if l.time {
			literal = strconv.Quote(literal)
		}
		if n == 0 {
			value = "no limit"
		}
		if l.name == maxSteps && o.Limits.GrowSteps {
			value += ", grows with the plan"
		}
		_, configured := l.configured(&o.file.Limits)
		add(keyOf(l.name), l.name, value, literal, l.help, configured)
	}
	return out
}

// screenSettings returns the settings of [screen]. Those that flags and the
// environment can change have their own entries; other keys are listed as they
// stand.
func (o *Options) screenSettings() []session.Setting {
	c := o.file.Screen
	color := unquoted("screen.no_color", o.NoColor, o.sourceOf("no-color", c.NoColor), "no colors")
	if o.getenv("NO_COLOR") != "" && color.Source == fromDefault {
		color.Source = fromEnvironment
	}
	motion := unquoted("screen.reduced_motion", o.ReducedMotion, o.sourceOf("reduced-motion", c.ReducedMotion), "nothing spins")
	if o.getenv("REPLAN_REDUCED_MOTION") != "" && motion.Source != "flag --reduced-motion" {
		motion.Source = fromEnvironment
	}
	out := []session.Setting{
		quoted("screen.theme", string(o.ThemeName), o.sourceOf("theme", c.Theme != ""), "colors of the screen"),
		color,
		unquoted("screen.ascii", o.ASCII, o.sourceOf("ascii", c.ASCII != nil), "ASCII only"),
		motion,
		unquoted("screen.review", o.Review, o.sourceOf("review", c.Review), "plans wait for your review before they run"),
		unquoted("screen.chat_width", cmp.Or(o.ChatWidth, tui.UsualShare), o.sourceOf("", c.ChatWidth > 0), "percent of the screen's width for the chat"),
		unquoted("screen.plan_height", cmp.Or(o.PlanHeight, tui.UsualShare), o.sourceOf("", c.PlanHeight > 0), "percent of the height for the plan, above the step"),
		unquoted("screen.show_thinking", o.ShowThinking, o.sourceOf("", c.ShowThinking), "the model's thinking is expanded in the chat"),
	}
	of := reflect.ValueOf(c)
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Type().Field(i).Tag.Get("toml"), ",")
		if slices.ContainsFunc(out, func(s session.Setting) bool { return s.Key == "screen."+name }) {
			continue
		}
		field, configured := of.Field(i), !of.Field(i).IsZero()
		if field.Kind() == reflect.Pointer && configured {
			field = field.Elem()
		}
		setting := session.Setting{Key: "screen." + name, Value: "default", Choices: screenChoices(name), Source: o.sourceOf(strings.ReplaceAll(name, "_", "-"), configured)}
		switch field.Kind() {
		case reflect.String:
			setting.Value = First(field.String(), "default")
			setting.Literal = strconv.Quote(field.String())
		case reflect.Bool, reflect.Int, reflect.Int64:
			setting.Value = fmt.Sprint(field.Interface())
			setting.Literal = setting.Value
		default:
			if configured {
				setting.Value = "as configured"
			}
		}
		out = append(out, setting)
	}
	return append(out, o.keySetting())
}

// screenChoices returns the possible values of a setting of the screen, nil if they
// are not few.
func screenChoices(name string) []string {
	if name == "notify" {
		return []string{string(notify.Auto), string(notify.Bell), string(notify.Off)}
	}
	return nil
}

// keySetting returns how many actions have user-defined keys, and which.
func (o *Options) keySetting() session.Setting {
	if len(o.Keys) == 0 {
		return session.Setting{Key: "keys", Value: "the usual ones", Source: fromDefault, About: "keys of your own go under [keys] in the configuration; ? shows all"}
	}
	changed := slices.Sorted(maps.Keys(o.Keys))
	return session.Setting{Key: "keys", Value: strconv.Itoa(len(changed)) + " changed", Source: fromConfiguration, About: "under [keys]: " + strings.Join(changed, ", ")}
}

// gateSettings returns the settings of the gates.
func (o *Options) gateSettings() []session.Setting {
	trusted := "no"
	if o.Trusted {
		trusted = "yes"
	}
	flags, configured := 0, 0
	for _, r := range o.Rules {
		if r.Source == rule.SourceFlag {
			flags++
		} else {
			configured++
		}
	}
	source := fromDefault
	if flags > 0 {
		source = "flags --allow, --deny"
	}
	trust := fromDefault
	if o.Trusted {
		trust = fromConfiguration
	}
	out := []session.Setting{
		{Key: "gates.trusted", Value: trusted, Source: trust, Literal: "[" + strconv.Quote(o.Workspace) + "]", About: "this folder's tests may run without a gate"},
		{Key: "policy", Value: english.Count(flags, "rule") + " of flags, " + strconv.Itoa(configured) + " of the configuration", Source: source, About: "rules on calls; a always at a gate saves one"},
	}
	held := "no"
	if o.Isolate.On {
		held = "in a copy"
		if o.Isolate.InPlace {
			held = "in place"
		}
		if !o.Isolate.Network {
			held += ", without network"
		}
	}
	isolated := session.Setting{Key: "isolate", Value: held, Source: o.sourceOf("isolate", o.file.Isolate.Enabled), About: "programs change only this folder; under [isolate]"}
	if o.Changed != nil && o.Changed("no-network") {
		isolated.Source = "flag --no-network"
	}
	out = append(out, isolated)
	if configured > 0 && flags == 0 {
		out[1].Source = fromConfiguration
	}
	return out
}
