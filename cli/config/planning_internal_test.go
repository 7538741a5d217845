package config

import (
	"cmp"
	"fmt"
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

// configured returns the options for a configuration and flags.
func configured(t *testing.T, toml string, flags ...string) (*Options, error) {
	t.Helper()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(toml), 0o600); err != nil {
		t.Fatal(err)
	}
	return completed(Environment{Workspace: home, Getenv: func(name string) string { return map[string]string{"REPLAN_HOME": home}[name] }}, flags)
}

// completed returns the options for flags in an environment.
func completed(env Environment, given []string) (*Options, error) {
	o := &Options{}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	o.Register(flags)
	if err := flags.Parse(given); err != nil {
		return nil, err
	}
	return o, o.Complete(flags, env)
}

// profileOf returns the session's profile of this name.
func profileOf(t *testing.T, o *Options, name string) runner.Profile {
	t.Helper()
	at := slices.Index(o.Planning().Prompting.ProfileNames(), name)
	if at < 0 {
		t.Fatalf("there is no profile %q among %q", name, o.Planning().Prompting.ProfileNames())
	}
	return o.Planning().Profiles[at]
}

func TestFlagsOverrideProfileAndPlanningSection(t *testing.T) {
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
		"defaults": {want: prompt.Prompting{PlanTools: true}},
		"planning section": {toml: all, want: prompt.Prompting{
			SkipAnalysis: true, SkipReview: true, SkipPlan: true, Patient: true, PhaseTimeout: 90 * time.Second,
			MaxRepairs: 1, MaxTokens: 512, Think: prompt.ThinkLow,
		}},
		"profile over section": {toml: all, of: "bold", want: prompt.Prompting{
			SkipAnalysis: true, SkipPlan: true, PhaseTimeout: 90 * time.Second, MaxRepairs: 1, MaxTokens: 512, Think: prompt.ThinkHigh,
		}},
		"empty profile keeps the section": {toml: all, of: "plain", want: prompt.Prompting{
			SkipAnalysis: true, SkipReview: true, SkipPlan: true, Patient: true, PhaseTimeout: 90 * time.Second,
			MaxRepairs: 1, MaxTokens: 512, Think: prompt.ThinkLow,
		}},
		"flags over section": {
			toml: all, flags: []string{"--think", "off", "--eager", "--plan-tools", "--force-plan"},
			want: prompt.Prompting{
				SkipAnalysis: true, SkipReview: true, SkipPlan: true, PlanTools: true, ForcePlan: true, PhaseTimeout: 90 * time.Second,
				MaxRepairs: 1, MaxTokens: 512, Think: prompt.ThinkOff,
			},
		},
		"flags over profile": {
			toml: all, flags: []string{"--think=auto", "--eager=false"}, of: "bold",
			want: prompt.Prompting{
				SkipAnalysis: true, SkipPlan: true, Patient: true, PhaseTimeout: 90 * time.Second, MaxRepairs: 1, MaxTokens: 512,
			},
		},
		"flags that repeat the defaults": {flags: []string{"--eager=true", "--plan-tools=true"}, want: prompt.Prompting{PlanTools: true}},
		"strict section":                 {toml: "[planning]\nstrict = true\n", want: prompt.Prompting{PlanTools: true, Strict: true}},
		"strict flag over section":       {toml: "[planning]\nstrict = true\n", flags: []string{"--strict=false"}, want: prompt.Prompting{PlanTools: true}},
		"strict flag":                    {flags: []string{"--strict"}, want: prompt.Prompting{PlanTools: true, Strict: true}},
		"plan tools disabled by flag":    {flags: []string{"--plan-tools=false"}, want: prompt.Prompting{}},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := configured(t, c.toml, c.flags...)
			if err != nil {
				t.Fatal(err)
			}
			got := o.Planning().Prompting
			if c.of != "" {
				got = profileOf(t, o, c.of).Prompting
			}
			got.Profiles = nil
			if g, w := string(plan.CanonicalJSON(got)), string(plan.CanonicalJSON(c.want)); g != w {
				t.Errorf("it plans by %s\nwant %s", g, w)
			}
		})
	}
}

func TestProfileConfiguresSubAgentAndSession(t *testing.T) {
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
	subagent, ok := o.Planning().Prompting.Profile("reviewer")
	want := prompt.Profile{
		Name: "reviewer", Description: "reads a change and judges it", System: "You judge.", Tools: []string{"fs.read", "vcs.*"},
		Model: "big", Think: prompt.ThinkOn, MaxTurns: 7, Timeout: time.Minute, MaxTokens: 900, Plans: true,
	}
	if g, w := string(plan.CanonicalJSON(subagent)), string(plan.CanonicalJSON(want)); !ok || g != w {
		t.Errorf("got sub-agent %s\nwant %s", g, w)
	}
	profile := profileOf(t, o, "reviewer")
	if profile.Model != "big" || !slices.Equal(profile.Tools, want.Tools) || profile.Description != want.Description {
		t.Errorf("got profile %+v", profile)
	}
	p := profile.Prompting
	if p.System != "You judge." || p.Prompts["synthesis"] != "One sentence." || p.Think != prompt.ThinkOn || !slices.Equal(p.ProfileNames(), []string{"explorer", "reviewer"}) {
		t.Errorf("got prompting %+v", p)
	}
	if own := o.Planning().Prompting; own.System != "" || own.Prompts != nil || own.Think != prompt.ThinkAuto {
		t.Errorf("got prompting %+v without the profile", own)
	}
}

func TestBuiltInProfileOnlyReads(t *testing.T) {
	for name, c := range map[string]struct {
		toml  string
		flags []string
		want  []string // the profiles
	}{
		"no other profiles":          {want: []string{"explorer"}},
		"beside the user's profiles": {toml: "[profiles.a]\n[profiles.z]\n", want: []string{"a", "explorer", "z"}},
		"no workspace tools":         {flags: []string{"--no-workspace-tools"}, want: []string{}},
		"other servers only":         {flags: []string{"--server", "docs"}, want: []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := configured(t, c.toml, c.flags...)
			if err != nil || !slices.Equal(o.Planning().Prompting.ProfileNames(), c.want) {
				t.Errorf("got profiles %q, %v; want %q", o.Planning().Prompting.ProfileNames(), err, c.want)
			}
		})
	}
	o, err := configured(t, "")
	if err != nil {
		t.Fatal(err)
	}
	explorer, _ := o.Planning().Prompting.Profile("explorer")
	for tool, may := range map[string]bool{
		"workspace fs.read": true, "workspace fs.search": true, "workspace code.references": true, "workspace vcs.diff": true,
		"workspace fs.patch": false, "workspace fs.write": false, "workspace test.run": false, "workspace vcs.commit": false,
		"other fs.read": false,
	} {
		server, bare, _ := strings.Cut(tool, " ")
		if explorer.May(plan.Tool{Name: bare, Server: server}) != may {
			t.Errorf("%s: may be called is %v, want %v", tool, !may, may)
		}
	}
	o, err = configured(t, "[profiles.explorer]\ndescription = \"mine\"\n")
	if mine, _ := o.Planning().Prompting.Profile("explorer"); err != nil || mine.Description != "mine" || mine.Tools != nil {
		t.Errorf("got explorer %+v, %v; want the user's own", mine, err)
	}
}

func TestModelFlagOverridesModelOfInitialProfile(t *testing.T) {
	const profiles = "[model]\nname = \"small\"\n[profiles.a]\nmodel = \"big\"\n[profiles.b]\nmodel = \"bigger\"\n"
	o, err := configured(t, profiles, "--profile", "a", "--model", "mine")
	if err != nil || o.Planning().Profile != "a" || o.Model().Name != "mine" || profileOf(t, o, "a").Model != "" || profileOf(t, o, "b").Model != "bigger" {
		t.Errorf("profile %q, model %q, profiles %+v, %v", o.Planning().Profile, o.Model().Name, o.Planning().Profiles, err)
	}
	o, err = configured(t, profiles, "--profile", "a")
	if err != nil || o.Model().Name != "small" || profileOf(t, o, "a").Model != "big" {
		t.Errorf("model %q, profiles %+v, %v", o.Model().Name, o.Planning().Profiles, err)
	}
	o, err = configured(t, profiles, "--profile", "none")
	if err != nil || o.Planning().Profile != "" {
		t.Errorf("profile %q, %v", o.Planning().Profile, err)
	}
}

func TestKeepAliveDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"30m": 30 * time.Minute, "-1": -time.Second, "-1m": -time.Minute, "300": 5 * time.Minute, "90s": 90 * time.Second,
	} {
		o, err := configured(t, "[model]\nkeep_alive = \""+text+"\"\n")
		if err != nil || o.Model().KeepAlive != want {
			t.Errorf("%s: got %s, %v; want %s", text, o.Model().KeepAlive, err, want)
		}
	}
}

func TestInvalidConfigurationIsRejected(t *testing.T) {
	for name, c := range map[string]struct {
		toml  string
		flags []string
		want  string // in the error
	}{
		"unknown key in a profile":             {toml: "[profiles.a]\ntool = [\"x\"]\n", want: "does not exist: profiles.a.tool (line 2; did you mean tools?)"},
		"unknown key in planning":              {toml: "[planning]\nreviews = true\n", want: "does not exist: planning.reviews (line 2; did you mean review?)"},
		"phase that is not a boolean":          {toml: "[profiles.a]\nreview = \"no\"\n", want: "line 2: profiles.a.review takes true or false"},
		"tools that are not a list":            {toml: "[profiles.a]\ntools = \"fs.read\"\n", want: "profiles.a.tools takes a list of texts"},
		"prompts that are not a table":         {toml: "[profiles.a]\nprompts = \"short\"\n", want: "line 2: profiles.a.prompts takes "},
		"unknown prompt":                       {toml: "[profiles.a.prompts]\nanalyse = \"x\"\n", want: "profiles.a.prompts: there is no prompt \"analyse\" to replace; there are analysis"},
		"prompt that is not a template":        {toml: "[profiles.a.prompts]\nreview = \"{{\"\n", want: "profiles.a.prompts: read the prompt \"review\""},
		"prompt with an unknown field":         {toml: "[profiles.a.prompts]\nreview = \"{{.Faults}}\"\n", want: "profiles.a.prompts: fill in the prompt \"review\""},
		"profile name with a blank":            {toml: "[profiles.\"a b\"]\n", want: "\"a b\" is not a valid profile name"},
		"profile name that begins with a dash": {toml: "[profiles.-a]\n", want: "\"-a\" is not a valid profile name"},
		"reserved profile name":                {toml: "[profiles.none]\n", want: "\"none\" is not a valid profile name"},
		"invalid tool pattern":                 {toml: "[profiles.a]\ntools = [\"fs.[\"]\n", want: "profiles.a.tools has \"fs.[\""},
		"unknown think level in a profile":     {toml: "[profiles.a]\nthink = \"hard\"\n", want: "profiles.a.think takes auto, off, on, low, medium or high, not \"hard\""},
		"unknown think level of the model":     {toml: "[model]\nthink = \"max\"\n", want: "model.think takes auto"},
		"unknown think level in a flag":        {flags: []string{"--think", "hard"}, want: "--think takes auto"},
		"zero turns":                           {toml: "[profiles.a]\nmax_turns = 0\n", want: "profiles.a.max_turns must be more than 0"},
		"zero timeout":                         {toml: "[profiles.a]\ntimeout = \"0s\"\n", want: "profiles.a.timeout must be more than 0"},
		"negative tokens":                      {toml: "[profiles.a]\nmax_tokens = -1\n", want: "profiles.a.max_tokens is -1"},
		"zero phase timeout":                   {toml: "[planning]\nphase_timeout = \"0s\"\n", want: "planning.phase_timeout must be more than 0"},
		"zero repairs":                         {toml: "[profiles.a]\nmax_repairs = 0\n", want: "profiles.a.max_repairs must be more than 0"},
		"zero reply tokens":                    {toml: "[planning]\nmax_reply_tokens = 0\n", want: "planning.max_reply_tokens must be more than 0"},
		"invalid phase timeout":                {toml: "[planning]\nphase_timeout = \"soon\"\n", want: "planning.phase_timeout takes a time in quotes"},
		"zero keep_alive":                      {toml: "[model]\nkeep_alive = \"0\"\n", want: "model.keep_alive takes a time in quotes such as \"30m\", or \"-1\" for ever"},
		"invalid keep_alive":                   {toml: "[model]\nkeep_alive = \"long\"\n", want: "model.keep_alive takes"},
		"unknown profile":                      {toml: "[profiles.a]\n", flags: []string{"--profile", "b"}, want: "there is no profile \"b\": there is a, explorer"},
		"profile flag without profiles":        {flags: []string{"--profile", "b", "--no-workspace-tools"}, want: "no section [profiles.b]"},
		"negative context window":              {toml: "[model]\ncontext_window = -1\n", want: "model.context_window must be more than 0"},
		"negative limit":                       {toml: "[limits]\nmax_tokens = -1\n", want: "limits.max_tokens is -1"},
		"negative session limit":               {toml: "[session_limits]\nmax_tokens = -1\n", want: "session_limits.max_tokens is -1"},
		"unknown preset of limits":             {toml: "[limits]\npreset = \"loose\"\n", want: "limits.preset: there is no preset of limits \"loose\""},
		"unknown theme":                        {toml: "[screen]\ntheme = \"pink\"\n", want: "screen.theme: there is no theme \"pink\""},
		"keys of an unknown action":            {toml: "[keys]\n\"plan.fodl\" = \"f\"\n", want: "a key that does not exist: keys.\"plan.fodl\" (line 2; did you mean plan.fold?)"},
		"every unknown key and action":         {toml: "[model]\nnmae = \"x\"\n[zzzzzz]\n[keys]\ngtae = \"f\"\n", want: "keys that do not exist: model.nmae (line 2; did you mean name?), zzzzzz (line 3) and keys.\"gtae\" (line 5; did you mean gate?)"},
		"key that is a number":                 {toml: "[keys]\ngate = 7\n", want: "keys.\"gate\" takes a key or a list of keys in quotes"},
		"key that is taken":                    {toml: "[keys]\ngate = [\"ctrl+r\"]\n", want: "is the key of"},
		"rule that is not a pattern":           {toml: "[gates]\nallow = [\"fs.[\"]\n", want: "the rule \"fs.[\" is not a pattern"},
		"key that was never released":          {toml: "[planning]\ndrafts = 3\n", want: "does not exist: planning.drafts (line 2)"},
		"first of two faults in order of keys": {toml: "[planning]\nmax_repairs = 0\nphase_timeout = \"0s\"\n", want: "planning.max_repairs"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := configured(t, c.toml, c.flags...)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got error %v, want %q in it", err, c.want)
			}
			if named := strings.Contains(err.Error(), "config.toml"); len(c.flags) == 0 && !named {
				t.Errorf("the error does not name the file: %v", err)
			}
		})
	}
}

func TestRuleMustNameAToolThatExists(t *testing.T) {
	const meant = `there is no built-in tool "fs.lst"; did you mean fs.list?`
	for name, c := range map[string]struct {
		toml          string
		flags         []string
		servers       bool
		warning, want string
	}{
		"known tools":                        {toml: "[gates]\ndeny = [\"fs.list\"]\n", flags: []string{"--deny", "workspace:fs.list", "--allow", "fs.write path=a"}},
		"pattern with a wildcard":            {flags: []string{"--deny", "fs.lst*"}},
		"denied":                             {flags: []string{"--deny", "fs.lst"}, want: "--deny: " + meant},
		"allowed":                            {flags: []string{"--allow", "fs.lst path=a"}, want: "--allow: " + meant},
		"tool of the workspace":              {flags: []string{"--deny", "workspace:fs.lst"}, servers: true, want: "--deny: " + meant},
		"tool of another server":             {flags: []string{"--deny", "files:fs.lst"}, servers: true},
		"tool that another server may offer": {flags: []string{"--deny", "fs.lst"}, servers: true, warning: "--deny: " + meant},
		"configured rule":                    {toml: "[[policy]]\ntool = \"fs.lst\"\naction = \"deny\"\n", warning: "a rule in config.toml: " + meant},
		"configured gate":                    {toml: "[gates]\nallow = [\"fs.lst\"]\n", warning: "a rule in config.toml: " + meant},
	} {
		o, err := configured(t, c.toml, c.flags...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		warnings, err := o.Gates().CheckToolNames(c.servers)
		if got := strings.Join(warnings, "\n"); got != c.warning || fmt.Sprint(err) != cmp.Or(c.want, "<nil>") {
			t.Errorf("%s: warns of %q and fails with %v; want %q and %q", name, got, err, c.warning, c.want)
		}
	}
}

func TestDocumentedConfigurationIsValid(t *testing.T) {
	page, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(page), "```toml\n")[1:]
	if len(blocks) == 0 {
		t.Fatal("the page has no TOML blocks")
	}
	for i, block := range blocks {
		text, _, _ := strings.Cut(block, "```")
		if _, err := configured(t, text); err != nil {
			t.Errorf("block %d: %v", i+1, err)
		}
	}
}
