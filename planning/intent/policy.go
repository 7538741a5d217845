package intent

import (
	"fmt"
	"slices"
	"strings"

	"replan/planning/plan"
)

// Policy changes the chains of the router. The gates are up to the rules of the
// run.
type Policy struct {
	// PreferTools are operators (code.symbols) or groups of them (code), the
	// dearest first. They decide where an intent has more than one way:
	//
	//	find        fs.search, or code.symbols
	//	references  code.references, or fs.search
	//	definition  code.definition, or fs.search
	//	explain     fs.search with code.summarize, or code.definition
	//
	// Names that no intent has a choice of decide nothing.
	PreferTools []string `json:"prefer_tools,omitempty"`
	// RequireTests puts test.run into every chain that changes files, after the
	// change, or that commits, before the commit.
	RequireTests bool `json:"require_tests,omitempty"`
}

// DecodePolicy reads a policy from JSON. It refuses unknown fields, so that a
// misspelled rule is not ignored.
func DecodePolicy(data []byte) (p Policy, err error) {
	if err = readFields(data, &p, true); err != nil {
		return Policy{}, fmt.Errorf(`the policy is not of the form {"prefer_tools":["code"],"require_tests":true}: %w`, err)
	}
	return p, nil
}

// prefers picks one of several ways, which are named by their first operators;
// the first is the usual one.
func (p Policy) prefers(ways ...string) string {
	for _, dear := range p.PreferTools {
		for _, way := range ways {
			if dear == way || strings.HasPrefix(way, dear+".") {
				return way
			}
		}
	}
	return ways[0]
}

// Apply puts a chain under the policy: it sets the gates of operators that ask,
// and adds required tests. A chain from Route is under its policy already.
func (p Policy) Apply(c Chain) Chain {
	c.Nodes = slices.Clone(c.Nodes)
	if p.RequireTests {
		c.Nodes = withTests(c.Nodes)
	}
	for i, n := range c.Nodes {
		c.Nodes[i].Gate = n.Gate || n.Executor == plan.ExecutorTool && operators[n.Tool].asks
	}
	return c
}

// withTests adds the tests to a chain that does not run them: before its commit,
// else after its changes.
func withTests(nodes []Node) []Node {
	var changes []int
	for at, n := range nodes {
		switch {
		case n.Tool == runTests:
			return nodes
		case n.Tool == "vcs.commit":
			return insertTests(nodes, at, changes)
		case operators[n.Tool].changes:
			changes = append(changes, at)
		}
	}
	if len(changes) == 0 {
		return nodes
	}
	return append(nodes, changedNode(changes...))
}

// insertTests puts the tests at a position; the node there waits for them.
func insertTests(nodes []Node, at int, after []int) []Node {
	for i, n := range nodes {
		nodes[i].DependsOn = slices.Clone(n.DependsOn)
		for k, position := range n.DependsOn {
			if position >= at {
				nodes[i].DependsOn[k]++
			}
		}
	}
	nodes[at].DependsOn = append(nodes[at].DependsOn, at)
	return slices.Insert(nodes, at, testNode(after...))
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
