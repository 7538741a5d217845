package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"replan/agent/runner"
	"replan/planning/plan"
	"replan/planning/prompt"

	"github.com/spf13/pflag"
)

// configured returns the options that a configuration and flags come to.
func configured(t *testing.T, toml string, flags ...string) (*Options, error) {
	t.Helper()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(toml), 0o600); err != nil {
		t.Fatal(err)
	}
	return completed(Environment{Workspace: home, Getenv: func(name string) string { return map[string]string{"REPLAN_HOME": home}[name] }}, flags)
}

// completed returns the options that flags come to in an environment.
func completed(env Environment, given []string) (*Options, error) {
	o := &Options{}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	o.Register(flags)
	if err := flags.Parse(given); err != nil {
		return nil, err
	}
	return o, o.Complete(flags, env)
}

// wayOf returns the profile of this name as the session works by it.
func wayOf(t *testing.T, o *Options, name string) runner.Profile {
	t.Helper()
	at := slices.Index(o.Manner.Names(), name)
	if at < 0 {
		t.Fatalf("there is no profile %q among %q", name, o.Manner.Names())
	}
	return o.Manner.Profiles[at]
}

func TestPlanningFollowsTheConfigurationAndFlagsGoOverIt(t *testing.T) {
	const all = `
[model]
think = "Low"
[planning]
analysis = false
review = false
plan = false
eager = false
plan_tools = false
phase_timeout = "90s"
max_repairs = 1
max_reply_tokens = 512
[profiles.bold]
think = "high"
eager = true
review = true
[profiles.plain]
`
	for name, c := range map[string]struct {
		toml  string
		flags []string
		of    string // the profile; "" is the session without one
		want  prompt.Prompting
	}{
		"nothing given is the program's own": {want: prompt.Prompting{PlanTools: true}},
		"the section is followed": {toml: all, want: prompt.Prompting{
			SkipAnalysis: true, SkipReview: true, SkipPlan: true, Patient: true, PhaseTimeout: 90 * time.Second,
			MaxRepairs: 1, MaxTokens: 512, Think: prompt.ThinkLow,
		}},
		"a profile goes over the section": {toml: all, of: "bold", want: prompt.Prompting{
			SkipAnalysis: true, SkipPlan: true, PhaseTimeout: 90 * time.Second, MaxRepairs: 1, MaxTokens: 512, Think: prompt.ThinkHigh,
		}},
		"a profile that says nothing leaves the section": {toml: all, of: "plain", want: prompt.Prompting{
			SkipAnalysis: true, SkipReview: true, SkipPlan: true, Patient: true, PhaseTimeout: 90 * time.Second,
			MaxRepairs: 1, MaxTokens: 512, Think: prompt.ThinkLow,
		}},
		"flags go over the section": {
			toml: all, flags: []string{"--think", "off", "--eager", "--plan-tools", "--force-plan"},
			want: prompt.Prompting{
				SkipAnalysis: true, SkipReview: true, SkipPlan: true, PlanTools: true, ForcePlan: true, PhaseTimeout: 90 * time.Second,
				MaxRepairs: 1, MaxTokens: 512, Think: prompt.ThinkOff,
			},
		},
		"flags go over a profile": {
			toml: all, flags: []string{"--think=auto", "--eager=false"}, of: "bold",
			want: prompt.Prompting{
				SkipAnalysis: true, SkipPlan: true, Patient: true, PhaseTimeout: 90 * time.Second, MaxRepairs: 1, MaxTokens: 512,
			},
		},
		"a flag that says what holds anyway changes nothing": {flags: []string{"--eager=true", "--plan-tools=true"}, want: prompt.Prompting{PlanTools: true}},
		"plan tools are taken away by a flag":                {flags: []string{"--plan-tools=false"}, want: prompt.Prompting{}},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := configured(t, c.toml, c.flags...)
			if err != nil {
				t.Fatal(err)
			}
			got := o.Manner.Prompting
			if c.of != "" {
				got = wayOf(t, o, c.of).Prompting
			}
			got.Profiles = nil
			if g, w := string(plan.CanonicalJSON(got)), string(plan.CanonicalJSON(c.want)); g != w {
				t.Errorf("it plans by %s\nwant %s", g, w)
			}
		})
	}
}

func TestAProfileIsASubAgentAndAWayToWork(t *testing.T) {
	o, err := configured(t, `
[profiles.reviewer]
description = "reads a change\nand judges it"
system = "You judge."
prompts = {synthesis = "One sentence."}
tools = ["fs.read", "vcs.*"]
model = "big"
think = "on"
max_turns = 7
timeout = "1m"
max_tokens = 900
plans = true
`)
	if err != nil {
		t.Fatal(err)
	}
	subagent, ok := o.Manner.Prompting.Profile("reviewer")
	want := prompt.Profile{
		Name: "reviewer", Description: "reads a change and judges it", System: "You judge.", Tools: []string{"fs.read", "vcs.*"},
		Model: "big", Think: prompt.ThinkOn, MaxTurns: 7, Timeout: time.Minute, MaxTokens: 900, Plans: true,
	}
	if g, w := string(plan.CanonicalJSON(subagent)), string(plan.CanonicalJSON(want)); !ok || g != w {
		t.Errorf("the sub-agent is %s\nwant %s", g, w)
	}
	way := wayOf(t, o, "reviewer")
	if way.Model != "big" || !slices.Equal(way.Tools, want.Tools) || way.Description != want.Description {
		t.Errorf("the way to work is %+v", way)
	}
	p := way.Prompting
	if p.System != "You judge." || p.Prompts["synthesis"] != "One sentence." || p.Think != prompt.ThinkOn || !slices.Equal(p.ProfileNames(), []string{"explorer", "reviewer"}) {
		t.Errorf("it is prompted by %+v", p)
	}
	if own := o.Manner.Prompting; own.System != "" || own.Prompts != nil || own.Think != prompt.ThinkAuto {
		t.Errorf("without the profile it is prompted by %+v", own)
	}
}

func TestTheBuiltInProfileOnlyReads(t *testing.T) {
	for name, c := range map[string]struct {
		toml  string
		flags []string
		want  []string // the profiles
	}{
		"it is there":                                  {want: []string{"explorer"}},
		"it is one beside the user's, by name":         {toml: "[profiles.a]\n[profiles.z]\n", want: []string{"a", "explorer", "z"}},
		"it is not there without its tools":            {flags: []string{"--no-workspace-tools"}, want: []string{}},
		"it is not there where its server is left out": {flags: []string{"--server", "docs"}, want: []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := configured(t, c.toml, c.flags...)
			if err != nil || !slices.Equal(o.Manner.Names(), c.want) {
				t.Errorf("there are %q, %v; want %q", o.Manner.Names(), err, c.want)
			}
		})
	}
	o, err := configured(t, "")
	if err != nil {
		t.Fatal(err)
	}
	explorer, _ := o.Manner.Prompting.Profile("explorer")
	for tool, may := range map[string]bool{
		"workspace fs.read": true, "workspace fs.search": true, "workspace code.references": true, "workspace vcs.diff": true,
		"workspace fs.patch": false, "workspace fs.write": false, "workspace test.run": false, "workspace vcs.commit": false,
		"other fs.read": false,
	} {
		server, bare, _ := strings.Cut(tool, " ")
		if explorer.May(plan.Tool{Name: bare, Server: server}) != may {
			t.Errorf("%s: may be called: %v", tool, !may)
		}
	}
	o, err = configured(t, "[profiles.explorer]\ndescription = \"mine\"\n")
	if mine, _ := o.Manner.Prompting.Profile("explorer"); err != nil || mine.Description != "mine" || mine.Tools != nil {
		t.Errorf("the user's own explorer is %+v, %v", mine, err)
	}
}

func TestTheModelOfAFlagGoesBeforeThatOfTheProfileBegunWith(t *testing.T) {
	const profiles = "[model]\nname = \"small\"\n[profiles.a]\nmodel = \"big\"\n[profiles.b]\nmodel = \"bigger\"\n"
	o, err := configured(t, profiles, "--profile", "a", "--model", "mine")
	if err != nil || o.Manner.Profile != "a" || o.Model != "mine" || wayOf(t, o, "a").Model != "" || wayOf(t, o, "b").Model != "bigger" {
		t.Errorf("profile %q, model %q, profiles %+v, %v", o.Manner.Profile, o.Model, o.Manner.Profiles, err)
	}
	o, err = configured(t, profiles, "--profile", "a")
	if err != nil || o.Model != "small" || wayOf(t, o, "a").Model != "big" {
		t.Errorf("model %q, profiles %+v, %v", o.Model, o.Manner.Profiles, err)
	}
	o, err = configured(t, profiles, "--profile", "none")
	if err != nil || o.Manner.Profile != "" {
		t.Errorf("profile %q, %v", o.Manner.Profile, err)
	}
}

func TestHowLongAModelStaysLoaded(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"30m": 30 * time.Minute, "-1": -time.Second, "-1m": -time.Minute, "300": 5 * time.Minute, "90s": 90 * time.Second,
	} {
		o, err := configured(t, "[model]\nkeep_alive = \""+text+"\"\n")
		if err != nil || o.KeepAlive != want {
			t.Errorf("%s is %s, %v; want %s", text, o.KeepAlive, err, want)
		}
	}
}

func TestWhatTheConfigurationOfProfilesCannotBe(t *testing.T) {
	for name, c := range map[string]struct {
		toml  string
		flags []string
		want  string // in the error
	}{
		"a key of a profile that does not exist":  {toml: "[profiles.a]\ntool = [\"x\"]\n", want: "does not exist: profiles.a.tool"},
		"a key of planning that does not exist":   {toml: "[planning]\nreviews = true\n", want: "does not exist: planning.reviews"},
		"a phase that is no yes and no no":        {toml: "[profiles.a]\nreview = \"no\"\n", want: "line 2: profiles.a.review takes true or false"},
		"tools that are no list":                  {toml: "[profiles.a]\ntools = \"fs.read\"\n", want: "profiles.a.tools takes a list of texts"},
		"prompts that are no table":               {toml: "[profiles.a]\nprompts = \"short\"\n", want: "line 2: profiles.a.prompts takes "},
		"a prompt that there is not":              {toml: "[profiles.a.prompts]\nanalyse = \"x\"\n", want: "profiles.a.prompts: there is no prompt \"analyse\" to replace; there are analysis"},
		"a prompt that is no template":            {toml: "[profiles.a.prompts]\nreview = \"{{\"\n", want: "profiles.a.prompts: read the prompt \"review\""},
		"a prompt with a field that is not there": {toml: "[profiles.a.prompts]\nreview = \"{{.Faults}}\"\n", want: "profiles.a.prompts: fill in the prompt \"review\""},
		"a name with a blank":                     {toml: "[profiles.\"a b\"]\n", want: "cannot be called \"a b\""},
		"a name that begins with a dash":          {toml: "[profiles.-a]\n", want: "cannot be called \"-a\""},
		"the name of no profile":                  {toml: "[profiles.none]\n", want: "cannot be called \"none\""},
		"a pattern that is none":                  {toml: "[profiles.a]\ntools = [\"fs.[\"]\n", want: "profiles.a.tools has \"fs.[\""},
		"a level of thinking that is none":        {toml: "[profiles.a]\nthink = \"hard\"\n", want: "profiles.a.think takes auto, off, on, low, medium or high, not \"hard\""},
		"a level of thinking of the model":        {toml: "[model]\nthink = \"max\"\n", want: "model.think takes auto"},
		"a level of thinking of a flag":           {flags: []string{"--think", "hard"}, want: "--think takes auto"},
		"no turns":                                {toml: "[profiles.a]\nmax_turns = 0\n", want: "profiles.a.max_turns must be more than 0"},
		"no time":                                 {toml: "[profiles.a]\ntimeout = \"0s\"\n", want: "profiles.a.timeout must be more than 0"},
		"tokens below 0":                          {toml: "[profiles.a]\nmax_tokens = -1\n", want: "profiles.a.max_tokens is -1"},
		"no time for a phase":                     {toml: "[planning]\nphase_timeout = \"0s\"\n", want: "planning.phase_timeout must be more than 0"},
		"no repairs":                              {toml: "[profiles.a]\nmax_repairs = 0\n", want: "profiles.a.max_repairs must be more than 0"},
		"a reply without a token":                 {toml: "[planning]\nmax_reply_tokens = 0\n", want: "planning.max_reply_tokens must be more than 0"},
		"a time that is none":                     {toml: "[planning]\nphase_timeout = \"soon\"\n", want: "planning.phase_timeout takes a time in quotes"},
		"a model that is unloaded at once":        {toml: "[model]\nkeep_alive = \"0\"\n", want: "model.keep_alive takes a time in quotes such as \"30m\", or \"-1\" for ever"},
		"a stay that is no time":                  {toml: "[model]\nkeep_alive = \"long\"\n", want: "model.keep_alive takes"},
		"a profile that is not there":             {toml: "[profiles.a]\n", flags: []string{"--profile", "b"}, want: "there is no profile \"b\": there is a, explorer"},
		"a profile where there is none":           {flags: []string{"--profile", "b", "--no-workspace-tools"}, want: "no section [profiles.b]"},
		"a window below 0":                        {toml: "[model]\ncontext_window = -1\n", want: "model.context_window must be more than 0"},
		"a limit below 0":                         {toml: "[limits]\nmax_tokens = -1\n", want: "limits.max_tokens is -1"},
		"a limit of the session below 0":          {toml: "[session_limits]\nmax_tokens = -1\n", want: "session_limits.max_tokens is -1"},
		"a preset of limits that is none":         {toml: "[limits]\npreset = \"loose\"\n", want: "limits.preset: there is no preset of limits called \"loose\""},
		"a theme that is none":                    {toml: "[screen]\ntheme = \"pink\"\n", want: "screen.theme: there is no theme \"pink\""},
		"keys of an action that is none":          {toml: "[keys]\n\"plan.fly\" = \"f\"\n", want: "keys: there is no action \"plan.fly\""},
		"a key that is a number":                  {toml: "[keys]\ngate = 7\n", want: "keys.\"gate\" takes a key or a list of keys in quotes"},
		"a key that is taken":                     {toml: "[keys]\ngate = [\"ctrl+r\"]\n", want: "is the key of"},
		"a rule that is no pattern":               {toml: "[gates]\nallow = [\"fs.[\"]\n", want: "the rule \"fs.[\" is not a pattern"},
		"the first of two faults is said, by key": {toml: "[planning]\nmax_repairs = 0\nphase_timeout = \"0s\"\n", want: "planning.max_repairs"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := configured(t, c.toml, c.flags...)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("it says %v, want %q", err, c.want)
			}
			if named := strings.Contains(err.Error(), "config.toml"); len(c.flags) == 0 && !named {
				t.Errorf("it does not say in which file: %v", err)
			}
		})
	}
}

// TestTheConfigurationThatIsDocumentedIsOne holds the page against what reads it.
func TestTheConfigurationThatIsDocumentedIsOne(t *testing.T) {
	page, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(page), "```toml\n")[1:]
	if len(blocks) == 0 {
		t.Fatal("it shows none")
	}
	for i, block := range blocks {
		text, _, _ := strings.Cut(block, "```")
		if _, err := configured(t, text); err != nil {
			t.Errorf("block %d: %v", i+1, err)
		}
	}
}
