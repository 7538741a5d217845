package agent

import "replan/planning/plan"

// gateopener opens the gates of calls, before they start.
type gateopener struct {
	tools       toolsView
	steps       stepsView
	permissions permissionsView
	caller      *caller
	guards      *guards
}

// nextGates opens gates after checking the guards, so that no gate opens for a
// call that they refuse.
func (r *gateopener) nextGates(q queuesView, free *slots) (out []Action, blocked bool) {
	var again *slots // files of the calls whose gates open again
	next := q.top(needGate)
	if next == nil {
		return nil, false
	}
	most := gatesFor(next) - len(r.permissions.openGates())
	for _, s := range q.first(needGate, most) {
		facts := r.tools.facts(s.tool())
		if s.gateState().reopenReason() != "" {
			if again == nil {
				again = r.claimed(q, free)
			}
			if again.changes(s.gateState().wasChanging()) {
				continue // its effect may be different after that call
			}
		}
		actions, passes := r.guards.askGuards(s, facts, free)
		if len(actions) > 0 && actions[0].blocks() {
			return actions, true
		}
		out = append(out, actions...)
		if passes {
			free.reserve(facts, 1, s.ofBudget())
			if again != nil {
				again.change(s.gateState().wasChanging())
			}
			out = append(out, Action{Effect: r.caller.gate(s)})
		}
	}
	return out, false
}

// claimed returns the files that running, approved or reopened calls will change.
func (r *gateopener) claimed(q queuesView, free *slots) *slots {
	claimed := free.alsoChanging()
	for _, g := range r.permissions.openGates() {
		if s := r.steps.find(g.index); s != nil && g.again {
			claimed.change(s.gateState().wasChanging())
		}
	}
	for _, s := range q.all(needToolSlot) {
		if s.gateState().allowed() {
			claimed.change(s.gateState().changing())
		}
	}
	return claimed
}

// gatesAtOnce bounds the gates that are open or about to open. It is more than a
// user looks at. It is small enough that a plan of a thousand changes does not do
// a dry run of all before the first answer.
const gatesAtOnce = 16

// gatesFor returns how many gates may be open. Of a step with items, these are those of a usual
// list: the user can answer them together.
func gatesFor(next stepView) int {
	if next.isItem() {
		return plan.DefaultMax
	}
	return gatesAtOnce
}
