package policy

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// Section holds the configured rules outside [[policy]] blocks: tools that never
// run, and tools that pass without a gate.
type Section struct {
	Allow   []string `toml:"allow"`
	Deny    []string `toml:"deny"`
	Hidden  []string `toml:"hidden"`          // files that no operator of the workspace reads or changes
	Trusted []string `toml:"trusted_folders"` // folders whose tests may run without a gate
}

// Rules returns the rules of the configuration in order: the section's denials, the
// blocks as written, the section's permissions. here
// reports whether the workspace is a folder or lies below it; blocks for other
// folders are left out.
func Rules(blocks []Block, s Section, here func(folder string) bool) ([]rule.Rule, error) {
	var rules []rule.Rule
	var faults []error
	take := func(key string, rule rule.Rule, err error) {
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", key, err))
			return
		}
		rules = append(rules, rule)
	}
	for _, text := range s.Deny {
		rule, err := Parse(text, rule.VerdictBlock, rule.SourceConfiguration)
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
		rule, err := Parse(text, rule.VerdictRun, rule.SourceConfiguration)
		take("gates.allow", rule, err)
	}
	return rules, errors.Join(faults...)
}

// Block is a [[policy]] block of the configuration.
type Block struct {
	Tool      string            `toml:"tool"`
	Args      map[string]string `toml:"args,omitempty,inline"`
	Pin       string            `toml:"pin,omitempty"`       // hash of all that its server says of the tool; the rule no longer applies once that changes
	Workspace string            `toml:"workspace,omitempty"` // the folder to which it applies, with its subfolders; "" is everywhere
	Action    string            `toml:"action"`
	Untrusted bool              `toml:"untrusted,omitempty"` // with allow: the call may contain text from results
	Contained plan.Containment  `toml:"contained,omitempty"` // files or offline: only calls whose programs run in such a box
	Why       string            `toml:"why,omitempty"`
}

// actions maps the words in a block to verdicts.
var actions = map[string]rule.Verdict{"ask": rule.VerdictAsk, "allow": rule.VerdictRun, "deny": rule.VerdictBlock}

// Rule returns the rule that the block defines.
func (b Block) Rule() (rule.Rule, error) {
	verdict, known := actions[b.Action]
	if !known {
		return rule.Rule{}, fmt.Errorf("action takes ask, allow or deny, not %q", b.Action)
	}
	if strings.TrimSpace(b.Tool) == "" {
		return rule.Rule{}, errors.New(`tool is missing: name one, such as "fs.patch", or a pattern such as "files:*"`)
	}
	if b.Workspace != "" && !filepath.IsAbs(b.Workspace) && !strings.HasPrefix(b.Workspace, "~/") {
		return rule.Rule{}, fmt.Errorf("workspace takes the path of a folder from / or ~/ on, not %q", b.Workspace)
	}
	return newRule(rule.Rule{Tool: b.Tool, Args: b.Args, Pin: b.Pin, Verdict: verdict, Untrusted: b.Untrusted, Contained: b.Contained, Source: rule.SourceConfiguration, Why: untrusted.Text(b.Why)})
}

// Parse parses a rule as given in a flag: a tool, bare or server:tool, in which *
// matches any text, and ARG=PATTERN for each condition. A pattern with blanks
// must be in double quotes or backticks.
func Parse(text string, verdict rule.Verdict, source string) (rule.Rule, error) {
	tool, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	r := rule.Rule{Tool: tool, Verdict: verdict, Source: source}
	for rest = strings.TrimSpace(rest); rest != ""; rest = strings.TrimSpace(rest) {
		name, value, found := strings.Cut(rest, "=")
		if !found || name == "" || strings.ContainsAny(name, " \t") {
			word, _, _ := strings.Cut(rest, " ")
			return rule.Rule{}, fmt.Errorf("in the rule %q, %q is not a condition: write ARG=PATTERN, such as path=docs/**", text, word)
		}
		pattern, after, err := nextPattern(value)
		if err != nil {
			return rule.Rule{}, fmt.Errorf("in the rule %q, the pattern of %s %w", text, name, err)
		}
		if name == untrustedWord {
			if r.Untrusted, err = yesOrNo(pattern); err != nil {
				return rule.Rule{}, fmt.Errorf("in the rule %q, %w", text, err)
			}
			rest = after
			continue
		}
		if name == containedWord {
			r.Contained, rest = plan.Containment(pattern), after
			continue
		}
		if _, twice := r.Args[name]; twice {
			return rule.Rule{}, fmt.Errorf("the rule %q has two conditions on %s: write a rule for each", text, name)
		}
		if r.Args == nil {
			r.Args = map[string]string{}
		}
		r.Args[name], rest = pattern, after
	}
	return newRule(r)
}

// untrustedWord is not an argument in a rule: set to yes, it lets text from
// results pass.
const untrustedWord = "untrusted"

// containedWord is not an argument in a rule either: it names the box that the rule
// asks for.
const containedWord = "contained"

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

// nextPattern returns the pattern at the start of a text, and the rest.
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
		return "", "", errors.New("has a quote that is not closed before the next blank")
	}
	return pattern, rest, nil
}

// newRule checks a rule and adds its description.
func newRule(r rule.Rule) (rule.Rule, error) {
	r.Tool = strings.TrimSpace(r.Tool)
	if r.Tool == "" {
		return rule.Rule{}, errors.New("an empty rule matches nothing: name a tool, such as fs.patch or files:*")
	}
	if _, err := path.Match(r.Tool, ""); err != nil {
		return rule.Rule{}, fmt.Errorf("the rule %q is not a pattern: %w", r.Tool, err)
	}
	if _, empty := r.Args[""]; empty {
		return rule.Rule{}, fmt.Errorf("the rule for %s has a condition on an argument without a name", r.Tool)
	}
	if r.Untrusted && r.Verdict != rule.VerdictRun {
		return rule.Rule{}, fmt.Errorf("the rule for %s does not allow calls, so it cannot allow untrusted text", r.Tool)
	}
	switch r.Contained {
	case plan.NotContained, plan.ContainedFiles, plan.ContainedOffline:
	default:
		return rule.Rule{}, fmt.Errorf("in the rule for %s, contained takes files or offline, not %q", r.Tool, r.Contained)
	}
	r.Why = untrusted.Text(cmp.Or(strings.TrimSpace(string(r.Why)), "your "+r.Source+" says so: "+r.String()))
	return r, nil
}
