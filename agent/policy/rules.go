package policy

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"replan/agent"
)

// Section is what the configuration says of rules besides its [[policy]] blocks:
// the tools that never run, and those that pass without a gate.
type Section struct {
	Allow   []string `toml:"allow"`
	Deny    []string `toml:"deny"`
	Trusted []string `toml:"trusted_folders"` // their tests may run without a gate
}

// Rules are the rules of the configuration in the order in which they hold: the
// section's denials, the blocks as they were written, what the section allows.
// here says whether the workspace is a folder or lies below it: blocks of other
// folders are left out.
func Rules(blocks []Block, s Section, here func(folder string) bool) ([]agent.Rule, error) {
	var rules []agent.Rule
	var faults []error
	take := func(key string, rule agent.Rule, err error) {
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", key, err))
			return
		}
		rules = append(rules, rule)
	}
	for _, text := range s.Deny {
		rule, err := Parse(text, agent.VerdictBlock, agent.SourceConfiguration)
		take("gates.deny", rule, err)
	}
	for i, b := range blocks {
		rule, err := b.Rule()
		if err == nil && b.Workspace != "" && !here(b.Workspace) {
			continue
		}
		take(fmt.Sprintf("policy (block %d)", i+1), rule, err)
	}
	for _, text := range s.Allow {
		rule, err := Parse(text, agent.VerdictRun, agent.SourceConfiguration)
		take("gates.allow", rule, err)
	}
	return rules, errors.Join(faults...)
}

// Block is one [[policy]] of the configuration.
type Block struct {
	Tool      string            `toml:"tool"`
	Args      map[string]string `toml:"args,omitempty,inline"`
	Workspace string            `toml:"workspace,omitempty"` // the folder where it holds, and below; "" is everywhere
	Action    string            `toml:"action"`
	Untrusted bool              `toml:"untrusted,omitempty"` // with allow: text from results may be in the call
	Why       string            `toml:"why,omitempty"`
}

// actions are the words for verdicts in a block.
var actions = map[string]agent.Verdict{"ask": agent.VerdictAsk, "allow": agent.VerdictRun, "deny": agent.VerdictBlock}

// Rule is the rule that the block stands for.
func (b Block) Rule() (agent.Rule, error) {
	verdict, known := actions[b.Action]
	if !known {
		return agent.Rule{}, fmt.Errorf("action takes ask, allow or deny, not %q", b.Action)
	}
	if strings.TrimSpace(b.Tool) == "" {
		return agent.Rule{}, errors.New(`tool is missing: name one, such as "fs.patch", or a pattern such as "files:*"`)
	}
	if b.Workspace != "" && !filepath.IsAbs(b.Workspace) && !strings.HasPrefix(b.Workspace, "~/") {
		return agent.Rule{}, fmt.Errorf("workspace takes the path of a folder from / or ~/ on, not %q", b.Workspace)
	}
	return newRule(agent.Rule{Tool: b.Tool, Args: b.Args, Verdict: verdict, Untrusted: b.Untrusted, Source: agent.SourceConfiguration, Why: b.Why})
}

// Parse reads a rule as a flag has it: a tool, bare or server:tool, in which *
// stands for any text, and ARG=PATTERN for each condition. A pattern with blanks
// stands in double quotes or backticks.
func Parse(text string, verdict agent.Verdict, source string) (agent.Rule, error) {
	tool, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	rule := agent.Rule{Tool: tool, Verdict: verdict, Source: source}
	for rest = strings.TrimSpace(rest); rest != ""; rest = strings.TrimSpace(rest) {
		name, value, found := strings.Cut(rest, "=")
		if !found || name == "" || strings.ContainsAny(name, " \t") {
			word, _, _ := strings.Cut(rest, " ")
			return agent.Rule{}, fmt.Errorf("in the rule %q, %q is no condition: write ARG=PATTERN, as in path=docs/**", text, word)
		}
		pattern, after, err := nextPattern(value)
		if err != nil {
			return agent.Rule{}, fmt.Errorf("in the rule %q, the pattern of %s %w", text, name, err)
		}
		if name == untrustedWord {
			if rule.Untrusted, err = yesOrNo(pattern); err != nil {
				return agent.Rule{}, fmt.Errorf("in the rule %q, %w", text, err)
			}
			rest = after
			continue
		}
		if _, twice := rule.Args[name]; twice {
			return agent.Rule{}, fmt.Errorf("the rule %q has two conditions on %s: write a rule for each", text, name)
		}
		if rule.Args == nil {
			rule.Args = map[string]string{}
		}
		rule.Args[name], rest = pattern, after
	}
	return newRule(rule)
}

// untrustedWord is no argument in a rule: with yes the rule lets text from results
// pass.
const untrustedWord = "untrusted"

func yesOrNo(word string) (bool, error) {
	switch word {
	case "yes", "true":
		return true, nil
	case "no", "false":
		return false, nil
	default:
		return false, fmt.Errorf("%s takes yes or no, not %q", untrustedWord, word)
	}
}

// nextPattern reads the pattern that a text begins with.
func nextPattern(text string) (pattern, rest string, err error) {
	if !strings.HasPrefix(text, `"`) && !strings.HasPrefix(text, "`") {
		pattern, rest, _ = strings.Cut(text, " ")
		return pattern, rest, nil
	}
	quoted, err := strconv.QuotedPrefix(text)
	if err == nil {
		pattern, err = strconv.Unquote(quoted)
	}
	if rest = strings.TrimPrefix(text, quoted); err != nil || rest != "" && rest[0] != ' ' {
		return "", "", errors.New("has a quote that does not close before the next blank")
	}
	return pattern, rest, nil
}

// newRule checks a rule and says in words what it is.
func newRule(rule agent.Rule) (agent.Rule, error) {
	rule.Tool = strings.TrimSpace(rule.Tool)
	if rule.Tool == "" {
		return agent.Rule{}, errors.New("an empty rule matches nothing: name a tool, such as fs.patch or files:*")
	}
	if _, err := path.Match(rule.Tool, ""); err != nil {
		return agent.Rule{}, fmt.Errorf("the rule %q is not a pattern: %w", rule.Tool, err)
	}
	if _, empty := rule.Args[""]; empty {
		return agent.Rule{}, fmt.Errorf("the rule for %s has a condition on an argument without a name", rule.Tool)
	}
	if rule.Untrusted && rule.Verdict != agent.VerdictRun {
		return agent.Rule{}, fmt.Errorf("the rule for %s does not allow anything, so it says nothing of untrusted text", rule.Tool)
	}
	rule.Why = cmp.Or(strings.TrimSpace(rule.Why), "your "+rule.Source+" says so: "+rule.String())
	return rule, nil
}
