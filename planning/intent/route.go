package intent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"replan/internal/untrusted"
	"replan/planning/plan"
)

// Chain carries out an intent: operators and model steps, and the dependencies
// between them. The chain of an unknown intent is empty.
type Chain struct {
	Intent Intent
	Goal   string // the words themselves, where they are known
	Nodes  []Node
	// Missing lists open questions of the words, a clause each. While there is
	// one, the chain shows the work, and cannot be run.
	Missing []string
	// Invalid means that one of them is wrong as written: no model could follow it.
	Invalid bool
}

// Node is one step of a chain. Others name it by its position, from 0.
type Node struct {
	Tool string `json:"tool"` // an operator; of a model step the word for the work: fix, edit, add_tests
	// Args are JSON values with ${variable} references, numbers as json.Number.
	// They are nil if a model fills them in from the steps before the node.
	Args            map[string]any `json:"args"`
	Gate            bool           `json:"gate"`
	Title           string         `json:"title"`
	Executor        plan.Executor  `json:"executor"`   // ExecutorTool, or ExecutorSelf for a model's work
	DependsOn       []int          `json:"depends_on"` // in rising order
	ResultVariable  string         `json:"result_variable,omitempty"`
	ExpectedOutcome string         `json:"expected_outcome,omitempty"`
}

// MarshalJSON writes the chain as `route` prints it. DecodeChain reads it back.
func (c Chain) MarshalJSON() ([]byte, error) {
	c.Nodes = slices.Clone(c.Nodes)
	for i, n := range c.Nodes {
		c.Nodes[i].DependsOn = orEmpty(n.DependsOn)
	}
	return plan.EncodeJSON(struct {
		Intent         Intent   `json:"intent"`
		Goal           string   `json:"goal,omitempty"`
		Nodes          []Node   `json:"nodes"`
		PolicyGates    []int    `json:"policy_gates"`
		EstimatedSteps int      `json:"estimated_steps"`
		NeedsModel     bool     `json:"needs_model"`
		Missing        []string `json:"missing,omitempty"`
	}{c.Intent, c.Goal, orEmpty(c.Nodes), c.PolicyGates(), len(c.Nodes), c.Empty() || c.NeedsModel(), c.Missing})
}

// orEmpty is a list that is never null in JSON.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// Empty reports whether there is nothing to do.
func (c Chain) Empty() bool { return len(c.Nodes) == 0 }

// Bound reports whether every value that the chain needs is there: it does
// something, and the words left nothing open.
func (c Chain) Bound() bool { return !c.Empty() && len(c.Missing) == 0 }

// NeedsModel reports whether a step of the chain is a model's work, or args of one
// are.
func (c Chain) NeedsModel() bool {
	return slices.ContainsFunc(c.Nodes, func(n Node) bool { return n.Executor != plan.ExecutorTool || n.Args == nil })
}

// Confident reports whether the intent is read well enough to act on it.
func (c Chain) Confident() bool { return c.Intent.Confidence >= Confident }

// Ready reports whether the chain may run at once, without planning by a model. Then it is
// bound, confident, needs no model, and is surely about this workspace.
func (c Chain) Ready() bool {
	return c.Bound() && c.Confident() && !c.NeedsModel() && !c.general()
}

// general reports whether the words ask for the meaning of a plain word, or for the place
// of several, or give a file a text without quotes. They do not ask for a name in the code. A
// model, if there is one, knows better.
func (c Chain) general() bool {
	switch c.Intent.Action {
	case create: // the text may describe what is to be written
		return c.Intent.Params["text"] != "" && c.Intent.Params["exact"] == ""
	case explain:
		return !looksLikeName(token{text: c.Intent.Target})
	case find:
		return shapeOf(c.Intent.Target) == someWords && c.Intent.Params["exact"] == ""
	default:
		return false
	}
}

// PolicyGates are the positions of the nodes that ask.
func (c Chain) PolicyGates() []int {
	gates := []int{}
	for i, n := range c.Nodes {
		if n.Gate {
			gates = append(gates, i)
		}
	}
	return gates
}

// Plan is the chain as a plan: steps with indices from 1. A model's work is a
// step of the executor self, and has no tool. Without a goal the chain's own
// serves, and without that the title.
func (c Chain) Plan(goal string) plan.Plan {
	p := plan.Plan{Title: untrusted.Text(c.title()), Goal: untrusted.Text(cmp.Or(goal, c.Goal, c.title()))}
	if c.Intent.Category == validate || c.Intent.Category == vcs || c.Intent.Category == project {
		p.OnFailure = plan.OnFailureAbort // red tests are the answer, and no reason for a new plan
	}
	for i, n := range c.Nodes {
		s := plan.Step{
			Index: strconv.Itoa(i + 1), Title: untrusted.Text(n.Title), Executor: n.Executor, Tool: n.Tool, Args: n.Args, Gate: n.Gate,
			ResultVariable: n.ResultVariable, Checks: c.checks(n), ExpectedOutcome: untrusted.Text(n.ExpectedOutcome), Timeout: operators[n.Tool].limit,
		}
		if n.Executor != plan.ExecutorTool {
			s.Tool, s.Args = "", nil
		}
		for _, d := range n.DependsOn {
			s.DependsOn = append(s.DependsOn, strconv.Itoa(d+1))
		}
		p.Steps = append(p.Steps, s)
	}
	return p
}

// title is the chain in one line.
func (c Chain) title() string {
	about := cmp.Or(plan.OneLine(c.Intent.Target, 60), "what was meant")
	known := chains[c.Intent.Action]
	switch {
	case c.Intent.Action == rename && c.Intent.Params["new_name"] != "":
		return fmt.Sprintf("Rename %s to %s", about, plan.OneLine(c.Intent.Params["new_name"], 60))
	case c.Intent.Params["remove"] != "":
		return "Remove " + about
	case c.Intent.Action == countLines:
		return "Count the lines of code"
	case c.Intent.Action == dependencies:
		return "List the dependencies"
	case c.Intent.Params["how"] != "":
		return "Say how the project is built"
	case c.Intent.Params["raised"] != "":
		return "Find what raises " + about
	case c.Intent.Action == references && c.Intent.Params["of"] == "tests":
		return "Find the tests of " + about
	case c.Intent.Params["kinds"] != "" && len(c.Nodes) == 1:
		return c.Nodes[0].Title
	case c.Intent.Params["since"] != "":
		return "Show what changed since " + plan.OneLine(c.Intent.Params["since"], 60)
	case known.about != "" && (c.Intent.Target != "" || known.ask != "" && c.Intent.Params["of"] == ""):
		return strings.Replace(known.about, "X", about, 1)
	case known.build != nil && len(c.Nodes) > 0:
		return c.Nodes[len(c.Nodes)-1].Title
	default:
		return "Carry out a chain of operators"
	}
}

// number is a whole number as JSON values hold it.
func number(n int) json.Number { return json.Number(strconv.Itoa(n)) }

// Tools names the tools of the nodes in order; for a model's work, the word for
// it.
func (c Chain) Tools() []string {
	names := make([]string, len(c.Nodes))
	for i, n := range c.Nodes {
		names[i] = n.Tool
	}
	return names
}

// IsModelWork reports whether a name among the tools of a chain is a word for a
// model's work.
func IsModelWork(name string) bool { return works[name].title != "" }

// WantsWords reports whether results alone do not answer the question: a model, if
// there is one, explains them.
func (in Intent) WantsWords() bool { return in.Category == explain || in.Category == debug }

// AsksForTests reports whether the user's own words ask for tests to be run, or
// for why they fail, and say so clearly. "Check NAME" does not: the name may be that
// of no package.
func (in Intent) AsksForTests() bool {
	return in.Params["folder"] == "" && (in.Category == validate || in.Category == debug || in.Params["runs"] == "tests") && in.Confidence >= Confident
}
