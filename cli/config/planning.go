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

	"github.com/spf13/pflag"

	"replan/agent/event"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/cli/help"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/intent"
	"replan/planning/prompt"
)

// planningSection configures planning: the section [planning], and the same keys
// in each profile. Missing values of a profile come from the section, those of
// the section from the program's defaults.
type planningSection struct {
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

// profileSection is a section [profiles.NAME]: a sub-agent that a plan may name,
// and a profile for the session.
type profileSection struct {
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

	planningSection
}

// NoProfile in place of a name selects no profile for the session.
const NoProfile = "none"

// explorer returns the built-in profile. Its tool names include the server, so
// that they match no other server's tools.
func explorer() profileSection {
	return profileSection{
		Description: "reads and searches this folder; changes nothing",
		Tools: []string{
			"workspace:fs.read", "workspace:fs.list", "workspace:fs.search", "workspace:fs.stat", "workspace:code.*",
			"workspace:vcs.diff", "workspace:vcs.log", "workspace:vcs.show", "workspace:vcs.status",
		},
	}
}

// Planning says who plans a goal, and how.
type Planning struct {
	Routing   event.Routing
	Prompting prompt.Prompting // without the project's instructions
	Profiles  []runner.Profile // sorted by name; also without the instructions
	Profile   string           // the initial one of Profiles; "" is none

	flags planningFlags
}

// planningFlags holds the flags of planning.
type planningFlags struct {
	planner, profile, think, plannerModel string
	forcePlan, planTools, eager, strict   bool

	level *prompt.ThinkLevel // of --think; nil if not given
	given func(flag string) bool
}

// routingSection is the section [routing] of the configuration: who plans a goal, and how
// words alone plan one.
type routingSection struct {
	Planner      string   `toml:"planner"`
	PreferTools  []string `toml:"prefer_tools"`
	RequireTests bool     `toml:"require_tests"`
}

// register declares the flags of goals.
func (p *Planning) register(f *pflag.FlagSet) {
	f.StringVar(&p.flags.planner, "planner", "", "let `PLANNER` plan: auto (rules for clear orders, else a model), phases (a model), router (rules only) or none")
	f.StringVar(&p.flags.profile, "profile", "", "use the profile `NAME` of the configuration: its prompts, model and tools")
	f.BoolVar(&p.flags.forcePlan, "force-plan", false, "always make a plan, never answer directly")
	f.BoolVar(&p.flags.eager, "eager", true, "start steps that only read while the plan is still being written")
	f.BoolVar(&p.flags.planTools, "plan-tools", true, "let the model make and run plans when it answers in the chat")
	p.registerStrict(f)
	help.Rare(f, "eager", "plan-tools", "strict")
}

// registerModel declares the flags of planning that stand among those of the model in
// --help.
func (p *Planning) registerModel(f *pflag.FlagSet) {
	f.StringVar(&p.flags.plannerModel, "planner-model", "", "plan with the model `NAME`; default: the one that answers")
	f.StringVar(&p.flags.think, "think", "", "let the model think before it answers, at `LEVEL` auto, off, on, low, medium or high")
	help.Rare(f, "planner-model")
}

// registerStrict declares --strict.
func (p *Planning) registerStrict(f *pflag.FlagSet) {
	f.BoolVar(&p.flags.strict, "strict", p.flags.strict, "refuse args that a tool accepts only once they are converted, such as \"7\" for 7")
}

// Strict reports whether args that need a conversion are refused.
func (p Planning) Strict() bool { return p.flags.strict || p.Prompting.Strict }

// Think returns the value of --think and the level that it names; nil without the flag.
func (p Planning) Think() (asked string, level *prompt.ThinkLevel) {
	return p.flags.think, p.flags.level
}

// Model returns the model of the initial profile; "" if it has none.
func (p Planning) Model() string {
	if at := p.profileAt(p.Profile); at >= 0 {
		return p.Profiles[at].Model
	}
	return ""
}

// profileAt returns the position of the profile with a name, -1 for none.
func (p Planning) profileAt(name string) int {
	return slices.IndexFunc(p.Profiles, func(profile runner.Profile) bool { return profile.Name == name })
}

// Instructed returns a copy with the project's instructions added to all prompts. trusted
// means that the user trusts the folder of the instructions.
func (p Planning) Instructed(text string, trusted bool) Planning {
	p.Prompting.Instructions, p.Prompting.TrustsNotes = text, trusted && text != ""
	p.Profiles = slices.Clone(p.Profiles)
	for i := range p.Profiles {
		p.Profiles[i].Prompting.Instructions, p.Profiles[i].Prompting.TrustsNotes = text, p.Prompting.TrustsNotes
	}
	return p
}

// readPlanner reads who plans from the flag, else from the configuration.
func (p *Planning) readPlanner(from sources) error {
	c := from.file.Routing
	name := First(p.flags.planner, c.Planner, string(event.PlannerAuto))
	kind, ok := event.ParsePlannerKind(name)
	switch {
	case ok:
		p.Routing = event.Routing{Planner: kind, Policy: intent.Policy{PreferTools: c.PreferTools, RequireTests: c.RequireTests}}
		return nil
	case p.flags.planner != "":
		return fmt.Errorf("--planner takes %s, not %q", english.List(event.PlannerKinds(), "or"), name)
	default:
		return from.file.unusable(fmt.Errorf("routing.planner takes %s, not %q", english.List(event.PlannerKinds(), "or"), name))
	}
}

// read computes how to plan: the configuration file, overridden by flags. The built-in
// profile needs the built-in tools.
func (p *Planning) read(from sources, builtIn bool) error {
	p.flags.given = from.given
	if from.given("think") {
		level, err := ReadThink("--think", p.flags.think)
		if err != nil {
			return err
		}
		p.flags.level = &level
	}
	if err := p.configure(from.file, builtIn); err != nil {
		return from.file.unusable(err)
	}
	return p.chooseProfile()
}

// configure validates and takes the planning keys of the configuration.
func (p *Planning) configure(c file, builtIn bool) error {
	profiles := map[string]profileSection{}
	if builtIn {
		profiles["explorer"] = explorer()
	}
	maps.Copy(profiles, c.Profiles) // the user's own explorer takes the place of the built-in one
	base := prompt.Prompting{ForcePlan: p.flags.forcePlan, PlanTools: true}
	var err error
	for _, name := range slices.Sorted(maps.Keys(profiles)) {
		subagent, err := profiles[name].subagent(name)
		if err != nil {
			return err
		}
		base.Profiles = append(base.Profiles, subagent)
	}
	subagents := base.Profiles
	if base.Think, err = ReadThink("model.think", c.Model.Think); err != nil {
		return err
	}
	if base, err = c.Planning.over(base, "planning."); err != nil {
		return err
	}
	base.Profiles = servedBy(c.Planning.AgentModel, subagents)
	p.Prompting = p.flags.over(base)
	for _, subagent := range subagents {
		profile, err := profiles[subagent.Name].profile(base, subagents, subagent)
		if err != nil {
			return err
		}
		_, configured := c.Profiles[subagent.Name]
		profile.BuiltIn, profile.Prompting = !configured, p.flags.over(profile.Prompting)
		p.Profiles = append(p.Profiles, profile)
	}
	return nil
}

// chooseProfile selects the profile named by --profile. A model given by a flag
// overrides the profile's.
func (p *Planning) chooseProfile() error {
	name := p.flags.profile
	if name == "" || name == NoProfile {
		return nil
	}
	at := p.profileAt(name)
	if at < 0 {
		return p.UnknownProfile(name)
	}
	p.Profile = name
	if p.flags.given("model") {
		p.Profiles[at].Model = ""
	}
	return nil
}

// UnknownProfile returns an error that lists the existing profiles.
func (p Planning) UnknownProfile(name string) error {
	names := p.Prompting.ProfileNames()
	if len(names) == 0 {
		return fmt.Errorf("no profile %q: config.toml has no section [profiles.%s], and no other profile", name, name)
	}
	return fmt.Errorf("there is no profile %q: there is %s", name, strings.Join(names, ", "))
}

// scripted has a script answer, which supports no other settings than flags.
func (p *Planning) scripted() {
	p.Prompting, p.Profiles, p.Profile = p.flags.over(prompt.Prompting{ForcePlan: p.flags.forcePlan}), nil, ""
}

// measured has a model plan as replan fit compares models: with the user's prompts and
// profiles, and without other settings.
func (p *Planning) measured() {
	base := p.Prompting
	p.Prompting, p.Profile = prompt.Prompting{Prompts: base.Prompts, PhaseTimeout: base.PhaseTimeout, Profiles: base.Profiles}, ""
}

// profileName matches valid profile names.
var profileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

// subagent returns the profile as a sub-agent for plans.
func (c profileSection) subagent(name string) (prompt.Profile, error) {
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

// profile returns the profile for the session; its plans may name any of the sub-agents.
func (c profileSection) profile(base prompt.Prompting, subagents []prompt.Profile, of prompt.Profile) (runner.Profile, error) {
	prompting, err := c.over(base, "profiles."+of.Name+".")
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
	return runner.Profile{Name: of.Name, Description: of.Description, Model: of.Model, Tools: of.Tools, Prompting: prompting}, nil
}

// over returns base overridden by the given values. key is the section's name for
// errors.
func (c planningSection) over(base prompt.Prompting, key string) (prompt.Prompting, error) {
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

// over returns base overridden by the flags.
func (f planningFlags) over(base prompt.Prompting) prompt.Prompting {
	if f.level != nil {
		base.Think = *f.level
	}
	if f.given("planner-model") {
		base.Models = prompt.Models{Planner: prompt.PlanModel{Name: f.plannerModel}}
	}
	if f.given("plan-tools") {
		base.PlanTools = f.planTools
	}
	if f.given("eager") {
		base.Patient = !f.eager
	}
	if f.given("strict") {
		base.Strict = f.strict
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

// choose applies a choice of the user on an earlier screen of this process.
func (p *Planning) choose(key, text string) {
	switch key {
	case "planning.planner_model":
		p.Prompting.Models = prompt.Models{Planner: prompt.PlanModel{Name: text}}
	case "model.think":
		if level, ok := prompt.ParseThinkLevel(First(text, "auto")); ok {
			p.Prompting.Think = level
		}
	}
}

// report returns the settings of [routing] and [planning], and the profile.
func (p Planning) report(from sources) []session.Setting {
	r, c, how := from.file.Routing, from.file.Planning, p.Prompting
	out := []session.Setting{
		among(quoted("routing.planner", string(p.Routing.Planner), from.of("planner", r.Planner != ""), "planner of a goal"), event.PlannerKinds()...),
		unquoted("routing.require_tests", r.RequireTests, from.of("", r.RequireTests), "chains that change files end with the tests"),
		{Key: "profile", Value: First(p.Profile, NoProfile), Source: from.of("profile", false), About: "the profile of the session; set it at start with --profile NAME"},
	}
	for _, s := range []struct {
		key, flag, about string
		given            *bool
		is               bool
	}{
		{"analysis", "", "planning begins with an analysis of the goal", c.Analysis, !how.SkipAnalysis},
		{"review", "", "the analysis is reviewed if it asks for it", c.Review, !how.SkipReview},
		{"plan", "", "an execution plan is written; off: a run ends with its analysis", c.Plan, !how.SkipPlan},
		{"eager", "eager", "steps that read start while the plan is written", c.Eager, !how.Patient},
		{"plan_tools", "plan-tools", "the model may make plans in the chat", c.PlanTools, how.PlanTools},
		{"strict", "strict", "args of another type than a tool asks for are refused", c.Strict, how.Strict},
	} {
		out = append(out, unquoted("planning."+s.key, s.is, from.of(s.flag, s.given != nil), s.about))
	}
	return append(out, quoted("planning.planner_model", how.Models.Planner.Name, from.of("planner-model", c.PlannerModel != ""), "the model that plans; without one, the model that answers"))
}

// reportThink returns the setting of how hard the model thinks.
func (p Planning) reportThink(from sources) session.Setting {
	think := First(string(p.Prompting.Think), "auto")
	return among(quoted("model.think", think, from.of("think", from.file.Model.Think != ""), "how hard the model thinks"), prompt.ThinkLevels()...)
}
