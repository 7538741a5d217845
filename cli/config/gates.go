package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"replan/agent/policy"
	"replan/agent/rule"
	"replan/agent/session"
	"replan/cli/help"
	"replan/internal/english"
	"replan/mcpclient/builtin"
	"replan/mcpclient/workspace/tree"
	"replan/planning/plan"
)

// Gates says which calls run without the user, and which never.
type Gates struct {
	Approve policy.Approve
	Decided bool // --approve or the command decides about gates, and not the user
	Rules   []rule.Rule
	Trusted bool     // the user trusts the workspace
	Hidden  []string // patterns of files that no operator reads

	flags struct {
		approve     string
		allow, deny []string
	}
	configuration string // name of the file with the other rules
}

// register declares the flags of the gates.
func (g *Gates) register(f *pflag.FlagSet) {
	f.StringVar(&g.flags.approve, "approve", "", "approve `GATES` without asking: none, safe, contained or all; safe is files here and tests, contained what --isolate holds too")
	f.StringArrayVar(&g.flags.allow, "allow", nil, "allow calls that fit `RULE` without a gate: TOOL [ARG=PATTERN], such as 'fs.write path=docs/**'; repeat for more")
	f.StringArrayVar(&g.flags.deny, "deny", nil, "deny calls that fit `RULE`, written as for --allow; repeat for more")
	help.Common(f, "approve")
}

// approveUnasked closes the gates that a user would have to answer.
func (g *Gates) approveUnasked() { g.Approve = policy.ApproveUnasked }

// trust trusts the workspace, which replan made.
func (g *Gates) trust() { g.Trusted = true }

// measured lets only changes of files and tests pass, as replan fit measures a model.
func (g *Gates) measured() {
	g.approve(policy.ApproveSafe)
	g.Rules = nil
}

// approve has a command decide about gates as --approve does.
func (g *Gates) approve(which policy.Approve) { g.Approve, g.Decided = which, true }

// readApprove reads which gates of a workspace are approved without asking.
func (g *Gates) readApprove(workspace string, isolated, byWorkers bool) (err error) {
	if g.Decided = g.flags.approve != ""; !g.Decided {
		return nil
	}
	if g.Approve, err = policy.ParseApprove(g.flags.approve); err != nil {
		return fmt.Errorf("%w", err)
	}
	if g.Approve == policy.ApproveContained && !isolated && !byWorkers {
		return errors.New("--approve contained lets programs pass that --isolate contains: add --isolate")
	}
	home, _ := os.UserHomeDir() // without one there is nothing to protect
	if !byWorkers && (g.Approve == policy.ApproveSafe || g.Approve == policy.ApproveContained) && policy.TooWide(workspace, home) {
		return fmt.Errorf("--approve %s changes files of this folder without asking, and %s is your home folder, or contains it: work in a folder below it, or answer the gates yourself", g.Approve, workspace)
	}
	return nil
}

// readRules reads the rules of the flags and the configuration for a workspace.
func (g *Gates) readRules(from sources, workspace string) error {
	var faults []error
	add := func(flag string, texts []string, verdict rule.Verdict) {
		for _, text := range texts {
			rule, err := policy.Parse(text, verdict, rule.SourceFlag)
			if err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", flag, err))
				continue
			}
			g.Rules = append(g.Rules, rule)
		}
	}
	add("--deny", g.flags.deny, rule.VerdictBlock)
	add("--allow", g.flags.allow, rule.VerdictRun)
	if len(faults) > 0 {
		return fmt.Errorf("%w", errors.Join(faults...))
	}
	c := from.file
	configured, err := policy.Rules(c.Policy, c.Gates, func(folder string) bool { return Within(workspace, folder) })
	if err != nil {
		return c.unusable(err)
	}
	g.Rules = append(g.Rules, configured...)
	g.Hidden, g.Trusted, g.configuration = c.Gates.Hidden, c.trusts(workspace), filepath.Base(c.location())
	for _, pattern := range g.Hidden {
		if _, err := tree.NewGlob(pattern); err != nil {
			return c.unusable(fmt.Errorf("gates.hidden: %w", err))
		}
	}
	return nil
}

// CheckToolNames rejects a flag's rule for a built-in tool that does not exist, and
// warns of one in the configuration. With MCP servers, whose tools are not known yet,
// a bare name may be one of theirs: it is a warning.
func (g Gates) CheckToolNames(servers bool) (warnings []string, err error) {
	for _, r := range g.Rules {
		server, name, qualified := strings.Cut(r.Tool, ":")
		if !qualified {
			server, name = "", r.Tool
		}
		if strings.ContainsAny(r.Tool, `*?[\`) || qualified && server != builtin.ServerName || plan.IsOperator(name) {
			continue
		}
		fault := fmt.Sprintf("there is no built-in tool %q%s", name, english.DidYouMean(name, plan.OperatorNames()))
		where := "a rule in " + g.configuration
		if r.Source == rule.SourceFlag {
			where = map[rule.Verdict]string{rule.VerdictBlock: "--deny", rule.VerdictRun: "--allow"}[r.Verdict]
			if qualified || !servers {
				return nil, fmt.Errorf("%s: %s", where, fault)
			}
		}
		warnings = append(warnings, where+": "+fault)
	}
	return warnings, nil
}

// report returns the settings of the gates of a workspace.
func (g Gates) report(workspace string) []session.Setting {
	trusted := session.Setting{
		Key: "gates.trusted", Value: "no", Source: fromDefault, Literal: "[" + strconv.Quote(workspace) + "]", About: "this folder's tests may run without a gate",
	}
	if g.Trusted {
		trusted.Value, trusted.Source = "yes", fromConfiguration
	}
	flags := 0
	for _, r := range g.Rules {
		if r.Source == rule.SourceFlag {
			flags++
		}
	}
	configured := len(g.Rules) - flags
	rules := session.Setting{
		Key: "policy", Value: english.Count(flags, "rule") + " of flags, " + strconv.Itoa(configured) + " of the configuration", Source: fromDefault, About: "rules on calls; “always” at a gate saves one",
	}
	switch {
	case flags > 0:
		rules.Source = "flags --allow, --deny"
	case configured > 0:
		rules.Source = fromConfiguration
	}
	return []session.Setting{trusted, rules}
}
