package config

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"replan/agent/runner"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/prompt"
)

// planningConfig configures planning: the section [planning], and the same keys
// in each profile. Missing values of a profile come from the section, those of
// the section from the program's defaults.
type planningConfig struct {
	Analysis       *bool     `toml:"analysis"`
	Review         *bool     `toml:"review"`
	Plan           *bool     `toml:"plan"`
	Eager          *bool     `toml:"eager"`
	PlanTools      *bool     `toml:"plan_tools"`
	Strict         *bool     `toml:"strict"`
	PhaseTimeout   *duration `toml:"phase_timeout"`
	MaxRepairs     *int      `toml:"max_repairs"`
	MaxReplyTokens *int      `toml:"max_reply_tokens"`
	PlannerModel   string    `toml:"planner_model"`
	AnalysisModel  string    `toml:"analysis_model"`
	ReviewModel    string    `toml:"review_model"`
	PlanModel      string    `toml:"plan_model"`
	AgentModel     string    `toml:"agent_model"` // of sub-agents whose profile names none
}

// profileConfig is a section [profiles.NAME]: a sub-agent that a plan may name,
// and a profile for the session.
type profileConfig struct {
	Description string            `toml:"description"`
	System      string            `toml:"system"`
	Prompts     map[string]string `toml:"prompts"`
	Tools       []string          `toml:"tools"`
	Model       string            `toml:"model"`
	Think       string            `toml:"think"`
	MaxTurns    *int              `toml:"max_turns"`
	Timeout     *duration         `toml:"timeout"`
	MaxTokens   int               `toml:"max_tokens"`
	Plans       bool              `toml:"plans"`

	planningConfig
}

// keepAlive is how long a model stays loaded: a duration or whole seconds. As in
// Ollama, a negative value means forever.
type keepAlive struct{ time.Duration }

// UnmarshalText parses the time.
func (k *keepAlive) UnmarshalText(text []byte) (err error) {
	if seconds, err := strconv.ParseInt(string(text), 10, 32); err == nil {
		k.Duration = time.Duration(seconds) * time.Second
	} else if k.Duration, err = time.ParseDuration(string(text)); err != nil {
		return err
	}
	if k.Duration == 0 {
		return errors.New("at 0 the model would be loaded again for every request")
	}
	return nil
}

// NoProfile in place of a name selects no profile for the session.
const NoProfile = "none"

// explorer returns the built-in profile. Its tool names include the server, so
// that they match no other server's tools.
func explorer() profileConfig {
	return profileConfig{
		Description: "reads and searches this folder; changes nothing",
		Tools: []string{
			"workspace:fs.read", "workspace:fs.list", "workspace:fs.search", "workspace:fs.stat", "workspace:code.*",
			"workspace:vcs.diff", "workspace:vcs.log", "workspace:vcs.show", "workspace:vcs.status",
		},
	}
}

// Manner is the planning configuration of a session.
type Manner struct {
	Prompting prompt.Prompting // without the project's instructions
	Profiles  []runner.Profile // sorted by name; also without the instructions
	Profile   string           // the initial one of Profiles; "" is none
}

// Names returns the names of the profiles.
func (m Manner) Names() []string {
	names := make([]string, len(m.Profiles))
	for i, p := range m.Profiles {
		names[i] = p.Name
	}
	return names
}

// Instructed returns a copy with the project's instructions added to all prompts. trusted
// means that the user trusts their folder.
func (m Manner) Instructed(text string, trusted bool) Manner {
	m.Prompting.Instructions, m.Prompting.TrustsNotes = text, trusted && text != ""
	m.Profiles = slices.Clone(m.Profiles)
	for i := range m.Profiles {
		m.Profiles[i].Prompting.Instructions, m.Profiles[i].Prompting.TrustsNotes = text, m.Prompting.TrustsNotes
	}
	return m
}

// readManner computes the planning configuration: the configuration file,
// overridden by flags.
func (o *Options) readManner() error {
	if o.Changed("think") {
		level, err := ReadThink("--think", o.Think)
		if err != nil {
			return err
		}
		o.Level = &level
	}
	if err := o.configureManner(); err != nil {
		return o.Misconfigured(err)
	}
	return o.chooseProfile()
}

// configureManner validates and reads the planning keys of the configuration.
func (o *Options) configureManner() error {
	profiles := o.profileConfigs()
	base := prompt.Prompting{ForcePlan: o.ForcePlan, PlanTools: true}
	var err error
	for _, name := range slices.Sorted(maps.Keys(profiles)) {
		subagent, err := profiles[name].subagent(name)
		if err != nil {
			return err
		}
		base.Profiles = append(base.Profiles, subagent)
	}
	subagents := base.Profiles
	if base.Think, err = ReadThink("model.think", o.file.Model.Think); err != nil {
		return err
	}
	if base, err = o.file.Planning.over(base, "planning."); err != nil {
		return err
	}
	base.Profiles = servedBy(o.file.Planning.AgentModel, subagents)
	o.Manner = Manner{Prompting: o.Flagged(base)}
	for _, subagent := range subagents {
		way, err := o.way(base, subagents, subagent, profiles[subagent.Name])
		if err != nil {
			return err
		}
		o.Manner.Profiles = append(o.Manner.Profiles, way)
	}
	return nil
}

// profileConfigs returns the profile sections by name. It includes the built-in
// profile unless the user defines one of that name or its tools are missing.
func (o *Options) profileConfigs() map[string]profileConfig {
	profiles := map[string]profileConfig{}
	if !o.NoWorkspaceTools && o.Wants("workspace") {
		profiles["explorer"] = explorer()
	}
	maps.Copy(profiles, o.file.Profiles)
	return profiles
}

// chooseProfile selects the profile named by --profile. A model given by a flag
// overrides the profile's.
func (o *Options) chooseProfile() error {
	if o.profile == "" || o.profile == NoProfile {
		return nil
	}
	at := slices.Index(o.Manner.Names(), o.profile)
	if at < 0 {
		return o.UnknownProfile(o.profile)
	}
	o.Manner.Profile = o.profile
	if o.Changed("model") {
		o.Manner.Profiles[at].Model = ""
	}
	return nil
}

// UnknownProfile returns an error that lists the existing profiles.
func (o *Options) UnknownProfile(name string) error {
	names := o.Manner.Names()
	if len(names) == 0 {
		return fmt.Errorf("no profile %q: config.toml has no section [profiles.%s], and no other profile", name, name)
	}
	return fmt.Errorf("there is no profile %q: there is %s", name, strings.Join(names, ", "))
}

// profileName matches valid profile names.
var profileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

// subagent returns the profile as a sub-agent for plans.
func (c profileConfig) subagent(name string) (prompt.Profile, error) {
	key := "profiles." + name
	var p prompt.Profile
	if !profileName.MatchString(name) || name == NoProfile {
		return p, fmt.Errorf("%q is not a valid profile name: use letters, digits, - and _, and not %q, which means no profile", name, NoProfile)
	}
	for _, pattern := range c.Tools {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			return p, fmt.Errorf("%s.tools has %q, which is neither the name of a tool nor a pattern such as fs.*", key, pattern)
		}
	}
	for _, text := range slices.Sorted(maps.Keys(c.Prompts)) {
		if err := prompt.CheckPrompt(text, c.Prompts[text]); err != nil {
			return p, fmt.Errorf("%s.prompts: %w", key, err)
		}
	}
	if c.MaxTokens < 0 {
		return p, belowZero(key+".max_tokens", strconv.Itoa(c.MaxTokens))
	}
	p = prompt.Profile{
		Name: name, Description: untrusted.Line(strings.Join(strings.Fields(c.Description), " ")), System: c.System, Tools: c.Tools, Model: c.Model,
		MaxTokens: c.MaxTokens, Plans: c.Plans,
	}
	var err error
	if p.Think, err = ReadThink(key+".think", c.Think); err != nil {
		return p, err
	}
	if err := positive(key+".max_turns", c.MaxTurns, &p.MaxTurns); err != nil {
		return p, err
	}
	return p, positiveTime(key+".timeout", c.Timeout, &p.Timeout)
}

// servedBy returns the sub-agents, with a model for those that name none.
func servedBy(model string, subagents []prompt.Profile) []prompt.Profile {
	subagents = slices.Clone(subagents)
	for i := range subagents {
		subagents[i].Model = First(subagents[i].Model, model)
	}
	return subagents
}

// way returns the profile as a session profile; its plans may name any of the
// sub-agents.
func (o *Options) way(base prompt.Prompting, subagents []prompt.Profile, of prompt.Profile, c profileConfig) (runner.Profile, error) {
	key := "profiles." + of.Name
	prompting, err := c.over(base, key+".")
	if err != nil {
		return runner.Profile{}, err
	}
	if c.AgentModel != "" {
		prompting.Profiles = servedBy(c.AgentModel, subagents)
	}
	prompting.System, prompting.Prompts = c.System, c.Prompts
	if c.Think != "" {
		prompting.Think = of.Think
	}
	_, configured := o.file.Profiles[of.Name]
	return runner.Profile{
		Name: of.Name, Description: of.Description, Model: of.Model, Tools: of.Tools, BuiltIn: !configured,
		Prompting: o.Flagged(prompting),
	}, nil
}

// over returns base overridden by the given values. key is the section's name for
// errors.
func (c planningConfig) over(base prompt.Prompting, key string) (prompt.Prompting, error) {
	for _, of := range []struct {
		given  *bool
		to     *bool
		negate bool
	}{
		{c.Analysis, &base.SkipAnalysis, true},
		{c.Review, &base.SkipReview, true},
		{c.Plan, &base.SkipPlan, true},
		{c.Eager, &base.Patient, true},
		{c.PlanTools, &base.PlanTools, false},
		{c.Strict, &base.Strict, false},
	} {
		if of.given != nil {
			*of.to = *of.given != of.negate
		}
	}
	base.Models.Planner.Name = First(c.PlannerModel, base.Models.Planner.Name)
	base.Models.Analysis.Name = First(c.AnalysisModel, base.Models.Analysis.Name)
	base.Models.Review.Name = First(c.ReviewModel, base.Models.Review.Name)
	base.Models.Plan.Name = First(c.PlanModel, base.Models.Plan.Name)
	return base, errors.Join(
		positive(key+"max_repairs", c.MaxRepairs, &base.MaxRepairs),
		positive(key+"max_reply_tokens", c.MaxReplyTokens, &base.MaxTokens),
		positiveTime(key+"phase_timeout", c.PhaseTimeout, &base.PhaseTimeout),
	)
}

// positive sets a number if it is given; it must be positive.
func positive(key string, given, to *int) error {
	if given == nil {
		return nil
	}
	if *given < 1 {
		return tooLittle(key, strconv.Itoa(*given))
	}
	*to = *given
	return nil
}

// positiveTime sets a time if it is given; it must be positive.
func positiveTime(key string, given *duration, to *time.Duration) error {
	if given == nil {
		return nil
	}
	if given.Duration <= 0 {
		return tooLittle(key, given.String())
	}
	*to = given.Duration
	return nil
}

// tooLittle returns the error for a required limit that is not positive.
func tooLittle(which, what string) error {
	return fmt.Errorf("%s must be more than 0, not %s: omit it for the default", which, what)
}

// Flagged returns base overridden by the flags.
func (o *Options) Flagged(base prompt.Prompting) prompt.Prompting {
	if o.Level != nil {
		base.Think = *o.Level
	}
	if o.Changed("planner-model") {
		base.Models = prompt.Models{Planner: prompt.PlanModel{Name: o.plannerModel}}
	}
	if o.Changed("plan-tools") {
		base.PlanTools = o.planTools
	}
	if o.Changed("eager") {
		base.Patient = !o.eager
	}
	if o.Changed("strict") {
		base.Strict = o.Strict
	}
	return base
}

// ReadThink parses a thinking level; where names its source for errors.
func ReadThink(where, name string) (prompt.ThinkLevel, error) {
	level, ok := prompt.ParseThinkLevel(strings.ToLower(name))
	if !ok {
		return "", fmt.Errorf("%s takes %s, not %q", where, english.List(prompt.ThinkLevels(), "or"), name)
	}
	return level, nil
}
