package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"replan/agent"
	"replan/planning"
)

// Offer makes the narrowest rule that lets the call of a gate pass for ever, to
// be shown with the gate. Where there is none, why says so.
func Offer(g agent.GateRequested) (always *agent.Always, why string) {
	switch {
	case g.Step == "":
		return nil, "this is no step of a run"
	case g.Rule.Source == agent.SourcePlan:
		return nil, "the plan itself asks for this gate, and no rule opens it"
	case len(g.Provenance) > 0:
		return nil, "its arguments carry text from an untrusted result, which may be another the next time"
	}
	args, why := conditions(g)
	if why != "" {
		return nil, why
	}
	block := Block{Tool: escapeName(g.QualifiedTool()), Args: args, Action: "allow"}
	rule, err := block.Rule()
	if err != nil {
		return nil, err.Error()
	}
	text, err := block.text()
	switch {
	case err != nil:
		return nil, err.Error()
	case len(text) > longestRule:
		return nil, "the rule would be too long to be read before it is saved"
	case agent.Decide([]agent.Rule{rule}, planning.Tool{Name: g.Tool, Server: g.Server, Trusted: g.Trusted}, g.Args).Verdict != agent.VerdictRun:
		return nil, "no rule can be written that lets this very call pass"
	}
	return &agent.Always{Rule: rule, Text: text}, ""
}

// longestRule bounds the text of a rule that is offered, in bytes: what is not
// read whole must not be said yes to.
const longestRule = 1000

// scopes are the arguments of the workspace's operators that say what a call may
// touch. The others say what it does there, and are free. No entry leaves
// nothing free.
var scopes = map[string][]string{
	"fs.write": {"path"}, "fs.patch": {"path"}, "fs.mkdir": {"path"}, "fs.remove": {"path"}, "fs.move": {"from", "to"},
	"test.run": {}, "test.lint": {}, "vcs.commit": {},
	"proc.run": {"argv", "shell", "dir"}, "vcs.branch": {"name", "create"}, "vcs.push": {"remote", "branch", "set_upstream"},
}

// conditions are those of the narrowest sensible rule for the call of a gate: a
// file operator is bound to its files, a command to its words, and what another
// server offers to every argument.
func conditions(g agent.GateRequested) (args map[string]string, why string) {
	names := slices.Collect(maps.Keys(g.Args))
	if scope, known := scopes[g.Tool]; known && g.Trusted {
		names = scope
	}
	for _, name := range names {
		value, given := g.Args[name]
		if !given || value == nil {
			continue
		}
		text, ok := value.(string)
		if !ok {
			text = planning.CanonicalJSON(value)
		}
		if args == nil {
			args = map[string]string{}
		}
		args[name] = agent.Literal(text)
	}
	if g.Trusted && len(args) == 0 && len(scopes[g.Tool]) > 0 {
		return nil, fmt.Sprintf("a rule binds %s to its %s, which this call does not give", g.Tool, strings.Join(scopes[g.Tool], " or "))
	}
	return args, ""
}

// escapeName is the pattern that fits this name of a tool alone.
func escapeName(name string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(name)
}

// text is the block as it is written into the configuration.
func (b Block) text() (string, error) {
	data, err := toml.Marshal(struct {
		Policy []Block `toml:"policy"`
	}{[]Block{b}})
	if err != nil {
		return "", fmt.Errorf("write the rule as TOML: %w", err)
	}
	return string(data), nil
}
