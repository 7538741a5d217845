package agent

import (
	"fmt"
	"slices"
	"strings"

	"replan/agent/event"
	"replan/planning/intent"
	"replan/planning/plan"
)

// WithoutModel lists what can be asked without a model.
const WithoutModel = "Without a model you can ask: find X, what is X, where is X used, rename X to Y, run the tests, why does X fail, commit"

// IncompleteGoalError reports that a goal lacks something that its kind of task
// needs, such as a valid new name: a clause each.
type IncompleteGoalError []string

func (missing IncompleteGoalError) Error() string { return strings.Join(missing, "; ") }

// InvalidGoalError reports that a goal is understood and wrong as written, so that no
// model could follow it: a clause each.
type InvalidGoalError []string

func (faults InvalidGoalError) Error() string { return strings.Join(faults, "; ") }

// UnclearGoalError reports that the words of a goal are not understood, or not with certainty,
// without a model.
type UnclearGoalError struct {
	intent.Refusal
}

func (e UnclearGoalError) Error() string { return e.Text }

// Route returns the chain of operators that the words of a goal mean, and whether
// they plan the goal. A command behind an exclamation mark is always one. model says whether a model could plan it. The error says
// why words that were understood do not plan the goal.
func Route(w event.Routing, goal string, tools plan.Catalog, model bool) (chain intent.Chain, ok bool, err error) {
	if !w.Planner.ByWords() && !intent.IsCommandLine(goal) {
		return intent.Chain{}, false, nil
	}
	chain = w.Facts.RouteWords(goal, w.Policy)
	switch {
	case chain.Empty():
		return intent.Chain{}, false, UnclearGoalError{w.Facts.Refuse(goal)}
	case chain.Invalid:
		return chain, false, InvalidGoalError(chain.Missing)
	case !chain.Bound():
		return chain, false, IncompleteGoalError(chain.Missing)
	case !offered(tools, chain):
		return chain, false, fmt.Errorf("this needs tools that are not available: %s", strings.Join(chain.Tools(), ", "))
	}
	// Without a model, unclear words do nothing: any result would pass for an
	// answer.
	if !model && !chain.Confident() {
		return chain, false, UnclearGoalError{w.Facts.Refuse(goal)}
	}
	return chain, chain.Ready() || !model || w.Planner == event.PlannerRouter, nil
}

// offered reports whether the catalog offers every tool of a chain as one of
// the workspace's own operators.
func offered(tools plan.Catalog, chain intent.Chain) bool {
	return !slices.ContainsFunc(chain.Nodes, func(n intent.Node) bool {
		return n.Executor == plan.ExecutorTool && !slices.ContainsFunc(tools, func(t plan.Tool) bool { return t.Trusted && t.Name == n.Tool })
	})
}

// owned qualifies the tool names of a routed plan as the workspace's own if
// another server offers one of the same name. It drops the chain's gates, which
// are up to the rules of the run, and checks whose tools are not on offer.
func owned(p plan.Plan, tools plan.Catalog) plan.Plan {
	for i, s := range p.Steps {
		p.Steps[i].Gate = false
		if s.Executor == plan.ExecutorTool {
			p.Steps[i].Tool, _ = own(s.Tool, tools)
		}
		p.Steps[i].Checks = slices.DeleteFunc(s.Checks, func(c plan.Check) bool {
			_, ok := own(c.Tool, tools)
			return c.Tool != "" && !ok
		})
		for k, c := range p.Steps[i].Checks {
			p.Steps[i].Checks[k].Tool, _ = own(c.Tool, tools)
		}
	}
	return p
}

// own returns the name of the workspace's own tool of a name, and whether there is one.
func own(name string, tools plan.Catalog) (string, bool) {
	at := slices.IndexFunc(tools, func(t plan.Tool) bool { return t.Trusted && t.Name == name })
	if at < 0 {
		return name, false
	}
	if _, err := tools.Find(name); err != nil {
		name = tools[at].QualifiedName()
	}
	return name, true
}

const (
	chooseModel      = "; start Ollama, or choose one with --host and --model"
	needsModelReason = "it needs a model, and there is none" + chooseModel
)

// noModel says that there is no model to do what, and how to get one.
func noModel(what string) string { return "there is no model to " + what + chooseModel }

// wantsWords reports whether a model writes the answer of a routed goal: results
// alone do not answer the question, or a model worked on them.
func wantsWords(d event.RouteMatched) bool {
	return d.Intent.WantsWords() || slices.ContainsFunc(d.Chain, intent.IsModelWork)
}

// answerFromData answers a question about files of data that the looks have read. It asks what
// differs between two of them, or which of them have a key. It also answers a goal that wants
// comments where there are some already.
func answerFromData(goal string, history []plan.HistoryItem) (answer string, ok bool) {
	if answer, ok = intent.Compare(goal, history); ok {
		return answer, true
	}
	if answer, ok = intent.AnswerCommented(goal, history); ok {
		return answer, true
	}
	return intent.AnswerFiltered(goal, history)
}
