package intent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"replan/planning/plan"
	"replan/planning/prompt"
)

// Policy changes the chains of the router. A run asks by its own rules, whatever
// the policy says: "allow" lifts a gate of the router, never one of the run.
type Policy struct {
	// PreferTools are operators (code.symbols) or groups of them (code), the
	// dearest first. They decide where an intent has more than one way:
	//
	//	find        fs.search, or code.symbols
	//	references  code.references, or fs.search
	//	definition  code.definition, or fs.search
	//	symbols     code.symbols, or code.parse
	//	explain     fs.search with code.summarize, or code.definition
	//
	// Names that no intent has a choice of decide nothing.
	PreferTools []string `json:"prefer_tools,omitempty"`
	// RequireTests puts test.run into every chain that changes files, after the
	// change, or that commits, before the commit.
	RequireTests bool `json:"require_tests,omitempty"`
	// Gates come before the router's own gating; the first that fits a tool
	// decides.
	Gates []GateRule `json:"gates,omitempty"`
}

// GateRule sets the gate before tools of a name.
type GateRule struct {
	Tool   string     `json:"tool"` // a pattern; * matches any text without a slash
	Action GateAction `json:"action"`
}

// GateAction is the effect of a gate.
type GateAction string

// The effects of a gate.
const (
	GateAsk   GateAction = "ask"
	GateAllow GateAction = "allow"
	GateDeny  GateAction = "deny" // there is no chain with this tool
)

// DeniedError says that the policy denies a tool of the chain.
type DeniedError struct {
	Tool string
	Rule GateRule
}

func (e *DeniedError) Error() string {
	return fmt.Sprintf("the policy denies %s by its gate for %q; take that rule out, or ask for something else", e.Tool, e.Rule.Tool)
}

// DecodePolicy reads a policy from JSON. It refuses unknown fields, so that a
// misspelled rule is not ignored.
func DecodePolicy(data []byte) (Policy, error) {
	var p Policy
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&p)
	if err == nil && decoder.Decode(&struct{}{}) != io.EOF {
		err = errors.New("something follows the object")
	}
	if err != nil {
		reason := strings.TrimPrefix(err.Error(), "json: ")
		return Policy{}, fmt.Errorf(`the policy is not of the form {"prefer_tools":["code"],"require_tests":true,"gates":[{"tool":"fs.*","action":"ask"}]}: %s`, reason)
	}
	return p, p.check()
}

// check returns the first fault in the gates of a policy.
func (p Policy) check() error {
	for i, rule := range p.Gates {
		if _, err := path.Match(rule.Tool, ""); err != nil || rule.Tool == "" {
			return fmt.Errorf("gate %d of the policy names no tool: %q is no pattern such as fs.patch or fs.*", i+1, rule.Tool)
		}
		if !slices.Contains([]GateAction{GateAsk, GateAllow, GateDeny}, rule.Action) {
			return fmt.Errorf("gate %d of the policy must say ask, allow or deny, not %q", i+1, rule.Action)
		}
	}
	return nil
}

// prefers picks one of several ways, which are named by their first operators;
// the first is the usual one.
func (p Policy) prefers(ways ...string) string {
	for _, dear := range p.PreferTools {
		for _, way := range ways {
			if dear == way || dear == groupOf(way) {
				return way
			}
		}
	}
	return ways[0]
}

// Apply puts a chain under the policy: it sets gates, and adds required tests. A
// chain from Route is under its policy already; a chain from a file may not be.
func (p Policy) Apply(c Chain) (Chain, error) {
	if err := p.check(); err != nil {
		return Chain{}, err
	}
	c.Nodes = slices.Clone(c.Nodes)
	if p.RequireTests {
		c.Nodes = withTests(c.Nodes)
	}
	for i := range c.Nodes {
		if err := p.gate(&c.Nodes[i]); err != nil {
			return Chain{}, err
		}
	}
	return c, nil
}

// Asks reports whether a gate of the policy itself asks before a tool.
func (p Policy) Asks(tool string) bool {
	for _, rule := range p.Gates {
		if prompt.MatchName(rule.Tool, tool) {
			return rule.Action == GateAsk
		}
	}
	return false
}

// gate sets the gate of one node.
func (p Policy) gate(n *Node) error {
	if n.Executor != plan.ExecutorTool {
		return nil
	}
	for _, rule := range p.Gates {
		if !prompt.MatchName(rule.Tool, n.Tool) {
			continue
		}
		if rule.Action == GateDeny {
			return &DeniedError{Tool: n.Tool, Rule: rule}
		}
		n.Gate = rule.Action == GateAsk
		return nil
	}
	n.Gate = n.Gate || operators[n.Tool].asks
	return nil
}

// withTests adds missing tests: before each untested commit, and after untested
// changes.
func withTests(nodes []Node) []Node {
	for at := 0; at < len(nodes); at++ {
		if nodes[at].Tool == "vcs.commit" && !slices.ContainsFunc(before(nodes, at), func(i int) bool { return nodes[i].Tool == runTests }) {
			nodes = insertTests(nodes, at)
			at++
		}
	}
	tested := map[int]bool{}
	for at, n := range nodes {
		if n.Tool == runTests {
			for _, i := range before(nodes, at) {
				tested[i] = true
			}
		}
	}
	var untested []int
	for i, n := range nodes {
		if operators[n.Tool].changes && n.Tool != "vcs.commit" && !tested[i] {
			untested = append(untested, i)
		}
	}
	if len(untested) == 0 {
		return nodes
	}
	return append(nodes, changedNode(untested...))
}

// before lists the nodes that a node waits for, directly or not.
func before(nodes []Node, at int) []int {
	ancestors := plan.NewGraph(Chain{Nodes: nodes}.Plan("")).Ancestors(strconv.Itoa(at + 1))
	var all []int
	for i := range nodes {
		if ancestors[strconv.Itoa(i+1)] {
			all = append(all, i)
		}
	}
	return all
}

// insertTests puts the tests at a position; the node there, and the nodes after
// it, wait for them. The tests wait for the changes before that node.
func insertTests(nodes []Node, at int) []Node {
	var changed []int
	for _, i := range before(nodes, at) {
		if operators[nodes[i].Tool].changes {
			if i >= at {
				i++ // it moves up
			}
			changed = append(changed, i)
		}
	}
	slices.Sort(changed)
	for i := range nodes {
		after := slices.Clone(nodes[i].DependsOn)
		for k, position := range after {
			if position >= at {
				after[k]++
			}
		}
		nodes[i].DependsOn = after
	}
	nodes[at].DependsOn = append(nodes[at].DependsOn, at)
	return slices.Insert(nodes, at, testNode(changed...))
}

const runTests = "test.run"

// changedNode runs all tests after a change. It passes if there are none.
func changedNode(after ...int) Node {
	n := testNode(after...)
	n.Args["allow_none"] = true
	return n
}

// testNode runs all tests.
func testNode(after ...int) Node {
	return Node{Title: "Run the tests", Executor: plan.ExecutorTool, Tool: runTests, Args: map[string]any{}, DependsOn: after, ExpectedOutcome: "all tests pass"}
}
