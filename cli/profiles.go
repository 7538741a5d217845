package cli

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
	"replan/planning/prompt"
)

// planningConfig is how planning goes: the section [planning], and keys of each
// profile. What is not given is left to whoever stands behind it: the section
// behind a profile, the program behind the section.
type planningConfig struct {
	Analysis       *bool     `toml:"analysis"`
	Review         *bool     `toml:"review"`
	Plan           *bool     `toml:"plan"`
	Eager          *bool     `toml:"eager"`
	PlanTools      *bool     `toml:"plan_tools"`
	PhaseTimeout   *duration `toml:"phase_timeout"`
	MaxRepairs     *int      `toml:"max_repairs"`
	MaxReplyTokens *int      `toml:"max_reply_tokens"`
}

// profileConfig is a section [profiles.NAME]: a sub-agent that a plan may name,
// and a way for the session to work.
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

// keepAlive is how long a model stays loaded: a time, or whole seconds. Below 0 is
// for ever, as Ollama has it.
type keepAlive struct{ time.Duration }

// UnmarshalText reads the time.
func (k *keepAlive) UnmarshalText(text []byte) (err error) {
	if seconds, err := strconv.ParseInt(string(text), 10, 32); err == nil {
		k.Duration = time.Duration(seconds) * time.Second
	} else if k.Duration, err = time.ParseDuration(string(text)); err != nil {
		return err
	}
	if k.Duration == 0 {
		return errors.New("at 0 the model would be loaded anew for every request")
	}
	return nil
}

// noProfile is what takes the place of a name where the session is to work by no
// profile.
const noProfile = "none"

// explorer is the profile that there is without any configuration. Its tools are
// named with their server, so that no other server's are meant.
func explorer() profileConfig {
	return profileConfig{
		Description: "reads and searches this folder; changes nothing",
		Tools: []string{
			"workspace:fs.read", "workspace:fs.list", "workspace:fs.search", "workspace:fs.stat", "workspace:code.*",
			"workspace:vcs.diff", "workspace:vcs.log", "workspace:vcs.status",
		},
	}
}

// manner is what the session works by, as far as planning goes.
type manner struct {
	prompting prompt.Prompting // without the project's instructions
	profiles  []runner.Profile // by name; the same
	profile   string           // of these, the one to begin with; "" is none
}

// profileNames lists the profiles by name.
func (m manner) profileNames() []string {
	names := make([]string, len(m.profiles))
	for i, p := range m.profiles {
		names[i] = p.Name
	}
	return names
}

// instructed returns the manner with the project's instructions in all that it
// says to a model.
func (m manner) instructed(text string) manner {
	m.prompting.Instructions = text
	m.profiles = slices.Clone(m.profiles)
	for i := range m.profiles {
		m.profiles[i].Prompting.Instructions = text
	}
	return m
}

// readManner puts together how the session plans: the configuration, the flags
// over it.
func (o *options) readManner() error {
	if o.changed("think") {
		level, err := readThink("--think", o.think)
		if err != nil {
			return err
		}
		o.level = &level
	}
	if err := o.configureManner(); err != nil {
		return o.misconfigured(err)
	}
	return o.chooseProfile()
}

// configureManner checks what the configuration says of it.
func (o *options) configureManner() error {
	profiles := o.profileConfigs()
	base := prompt.Prompting{ForcePlan: o.forcePlan, PlanTools: true}
	var err error
	for _, name := range slices.Sorted(maps.Keys(profiles)) {
		subagent, err := profiles[name].subagent(name)
		if err != nil {
			return err
		}
		base.Profiles = append(base.Profiles, subagent)
	}
	if base.Think, err = readThink("model.think", o.config.Model.Think); err != nil {
		return err
	}
	if base, err = o.config.Planning.over(base, "planning."); err != nil {
		return err
	}
	o.manner = manner{prompting: o.flagged(base)}
	for _, subagent := range base.Profiles {
		way, err := o.way(base, subagent, profiles[subagent.Name])
		if err != nil {
			return err
		}
		o.manner.profiles = append(o.manner.profiles, way)
	}
	return nil
}

// profileConfigs returns the sections of the profiles by name, with the built-in
// one where the user has none of its name and its tools are there.
func (o *options) profileConfigs() map[string]profileConfig {
	profiles := map[string]profileConfig{}
	if !o.noWorkspaceTools && o.wants("workspace") {
		profiles["explorer"] = explorer()
	}
	maps.Copy(profiles, o.config.Profiles)
	return profiles
}

// chooseProfile finds the profile that --profile names. The model that a flag
// names goes before the profile's.
func (o *options) chooseProfile() error {
	if o.profile == "" || o.profile == noProfile {
		return nil
	}
	at := slices.Index(o.manner.profileNames(), o.profile)
	if at < 0 {
		return o.unknownProfile(o.profile)
	}
	o.manner.profile = o.profile
	if o.changed("model") {
		o.manner.profiles[at].Model = ""
	}
	return nil
}

// unknownProfile says which profiles there are.
func (o *options) unknownProfile(name string) error {
	names := o.manner.profileNames()
	if len(names) == 0 {
		return usage("there is no profile %q: config.toml has no section [profiles.%s], and no other", name, name)
	}
	return usage("there is no profile %q: there is %s", name, strings.Join(names, ", "))
}

// profileName is what a profile may be called.
var profileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

// subagent is the profile as a plan may name it.
func (c profileConfig) subagent(name string) (prompt.Profile, error) {
	key := "profiles." + name
	var p prompt.Profile
	if !profileName.MatchString(name) || name == noProfile {
		return p, usage("a profile cannot be called %q: letters, digits, - and _ make a name, and %q stands for no profile", name, noProfile)
	}
	for _, pattern := range c.Tools {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			return p, usage("%s.tools has %q, which is no name of a tool and no pattern such as fs.*", key, pattern)
		}
	}
	for _, text := range slices.Sorted(maps.Keys(c.Prompts)) {
		if err := prompt.CheckPrompt(text, c.Prompts[text]); err != nil {
			return p, usage("%s.prompts: %w", key, err)
		}
	}
	if c.MaxTokens < 0 {
		return p, belowZero(key+".max_tokens", strconv.Itoa(c.MaxTokens))
	}
	p = prompt.Profile{
		Name: name, Description: oneLine(c.Description), System: c.System, Tools: c.Tools, Model: c.Model,
		MaxTokens: c.MaxTokens, Plans: c.Plans,
	}
	var err error
	if p.Think, err = readThink(key+".think", c.Think); err != nil {
		return p, err
	}
	if err := positive(key+".max_turns", c.MaxTurns, &p.MaxTurns); err != nil {
		return p, err
	}
	return p, positiveTime(key+".timeout", c.Timeout, &p.Timeout)
}

// way is the profile as the session works by it.
func (o *options) way(base prompt.Prompting, of prompt.Profile, c profileConfig) (runner.Profile, error) {
	key := "profiles." + of.Name
	prompting, err := c.over(base, key+".")
	if err != nil {
		return runner.Profile{}, err
	}
	prompting.System, prompting.Prompts = c.System, c.Prompts
	if c.Think != "" {
		prompting.Think = of.Think
	}
	_, configured := o.config.Profiles[of.Name]
	return runner.Profile{
		Name: of.Name, Description: of.Description, Model: of.Model, Tools: of.Tools, BuiltIn: !configured,
		Prompting: o.flagged(prompting),
	}, nil
}

// over returns base with what is given in its place. key is the section, to be
// named where something in it is wrong.
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
	} {
		if of.given != nil {
			*of.to = *of.given != of.negate
		}
	}
	return base, errors.Join(
		positive(key+"max_repairs", c.MaxRepairs, &base.MaxRepairs),
		positive(key+"max_reply_tokens", c.MaxReplyTokens, &base.MaxTokens),
		positiveTime(key+"phase_timeout", c.PhaseTimeout, &base.PhaseTimeout),
	)
}

// positive puts a number where it belongs, if it is given.
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

// positiveTime puts a time where it belongs, if it is given.
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

// tooLittle is the failure of a bound that there must be.
func tooLittle(which, what string) error {
	return usage("%s must be more than 0, and is %s: leave it out for the program's own", which, what)
}

// flagged returns base with what the flags say in its place.
func (o *options) flagged(base prompt.Prompting) prompt.Prompting {
	if o.level != nil {
		base.Think = *o.level
	}
	if o.changed("plan-tools") {
		base.PlanTools = o.planTools
	}
	if o.changed("eager") {
		base.Patient = !o.eager
	}
	return base
}

// readThink reads a level of thinking; where says who gives it.
func readThink(where, name string) (prompt.ThinkLevel, error) {
	level, ok := prompt.ParseThinkLevel(strings.ToLower(name))
	if !ok {
		return "", usage("%s takes %s, not %q", where, listed(prompt.ThinkLevels()), name)
	}
	return level, nil
}

// listed joins words as a sentence does: a, b or c.
func listed(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return fmt.Sprintf("%s or %s", strings.Join(words[:last], ", "), words[last])
}
