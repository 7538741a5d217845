package policy

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// Offer returns the narrowest rule that always allows the call of a gate in this
// workspace, to show with the gate. t is the called tool. If there is none, why
// gives the reason.
func Offer(g event.GateRequested, t plan.Tool, workspace string) (always *event.Always, why untrusted.Text) {
	if why := unsaved(g); why != "" {
		return nil, why
	}
	args, why := conditions(g, t)
	if why != "" {
		return nil, why
	}
	return offer(g, args, workspace)
}

// OfferTool returns the rule that allows every later call of the tool of a gate in this
// workspace, until its server changes the tool. It returns nil for the workspace's own
// tools, whose rules leave free what is harmless. It also does where Offer offers nothing
// because of where the call comes from.
func OfferTool(g event.GateRequested, workspace string) *event.Always {
	if g.Trusted || g.Pin == "" || unsaved(g) != "" {
		return nil
	}
	always, _ := offer(g, nil, workspace)
	return always
}

// unsaved returns why no rule may allow the call of a gate, "" if one may.
func unsaved(g event.GateRequested) untrusted.Text {
	switch {
	case g.Step == "":
		return "this is not a step of a run"
	case g.Changed != "":
		return "its server has changed the tool, and that must be accepted first"
	case g.Planned || g.Rule.Source == rule.SourcePlan:
		return "the plan itself asks for this gate, which no rule opens"
	case slices.ContainsFunc(g.Provenance, func(p rule.Provenance) bool { return !p.Notes }):
		return "the arguments come from a result that can change"
	}
	return ""
}

// offer returns the rule that allows calls with these arguments.
func offer(g event.GateRequested, args map[string]string, workspace string) (always *event.Always, why untrusted.Text) {
	if workspace == "" {
		return nil, "the folder of the rule is not known"
	}
	// Resolve links, so that the rule stays with the folder when a link moves.
	if real, err := filepath.EvalSymlinks(workspace); err == nil {
		workspace = real
	}
	if filepath.Dir(workspace) == workspace {
		return nil, "a rule for this folder would apply to every other one"
	}
	block := Block{Tool: escapeName(g.QualifiedTool()), Args: args, Pin: g.Pin, Contained: g.Contained, Workspace: workspace, Action: "allow"}
	r, err := block.Rule()
	if err != nil {
		return nil, untrusted.Text(err.Error())
	}
	text, err := block.text()
	switch {
	case err != nil:
		return nil, untrusted.Text(err.Error())
	case len(text) > longestRule:
		return nil, "the rule would be too long to read before it is saved"
	case rule.Decide([]rule.Rule{r}, plan.Tool{Name: g.Tool, Server: g.Server, Trusted: g.Trusted, Contained: g.Contained, Pin: g.Pin}, g.Args).Verdict != rule.VerdictRun:
		return nil, "no rule can allow exactly this call"
	}
	return &event.Always{Rule: r, Text: text}, ""
}

// longestRule limits the text of an offered rule in bytes: a user should not agree to
// a rule too long to read.
const longestRule = 1000

// scopes are the arguments of the workspace's operators that determine what a
// call may touch. Other arguments determine what it does there, and stay free. A
// tool without an entry has no free arguments.
var scopes = map[string][]string{
	"fs.write": {"path"}, "fs.patch": {"path"}, "fs.mkdir": {"path"}, "fs.remove": {"path"}, "fs.move": {"from", "to"},
	"code.remove": {"symbol", "path"}, "code.insert": {"symbol", "path"}, "code.comment": {"symbol", "path"}, "data.set": {"path", "key"},
	"test.run": {}, "test.lint": {}, "vcs.commit": {},
	"proc.run": {"argv", "shell", "dir"}, "vcs.branch": {"name", "create"}, "vcs.push": {"remote", "branch", "set_upstream"},
}

// conditions returns the conditions of the narrowest sensible rule for the call
// of a gate. A file operator is bound to its files, a command to its words, and a
// tool of another server to every argument. Arguments that the call omits must
// stay omitted: they could widen the call or turn it into another one.
func conditions(g event.GateRequested, t plan.Tool) (args map[string]string, why untrusted.Text) {
	args = map[string]string{}
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
			text = plan.CanonicalJSON(value)
		}
		args[name] = rule.Literal(text)
	}
	if g.Trusted && len(args) == 0 && len(scopes[g.Tool]) > 0 {
		return nil, untrusted.Text(fmt.Sprintf("a rule binds %s to its %s, which this call does not have", g.Tool, strings.Join(scopes[g.Tool], " or ")))
	}
	taken, err := properties(t)
	if err != nil {
		return nil, untrusted.Text("the schema of " + g.Tool + " cannot be read: " + err.Error())
	}
	for _, name := range slices.Concat(names, taken) {
		if g.Args[name] == nil && (!g.Trusted || !slices.Contains(harmless, name)) {
			args[name] = ""
		}
	}
	return args, ""
}

// harmless are the arguments of the workspace's operators that never extend what
// a call does.
var harmless = []string{"timeout", "allow_failure", "allow_failures", "allow_none", "hashes"}

// properties returns the names of a tool's arguments.
func properties(t plan.Tool) ([]string, error) {
	if len(t.InputSchema) == 0 {
		return nil, nil
	}
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	err := json.Unmarshal(t.InputSchema, &schema)
	return slices.Collect(maps.Keys(schema.Properties)), err
}

// escapeName returns a pattern that matches only this tool name.
func escapeName(name string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(name)
}

// text returns the block as written into the configuration.
func (b Block) text() (string, error) {
	data, err := toml.Marshal(struct {
		Policy []Block `toml:"policy"`
	}{[]Block{b}})
	if err != nil {
		return "", fmt.Errorf("write the rule as TOML: %w", err)
	}
	return string(data), nil
}
