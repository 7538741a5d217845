package dag

import (
	"slices"

	"replan/agent"
	"replan/planning/plan"
	"replan/tui/wording"
)

// Below a step, the list shows the items of its list or the calls of its sub-agent. They
// are collapsed to one line with the newest, or one line for each.

func callsKey(index string) string { return "calls " + index }

// addCalls adds rows for the items or calls of a step below its row, and below an item
// those of its own calls. f tells whose rows are expanded.
func (o *outline) addCalls(of Row, f *folds) {
	s := of.Step
	inner := wording.Inner(s)
	if len(inner) == 0 {
		return
	}
	r := Row{Kind: RowCalls, Key: callsKey(s.Step.Index), owner: s, at: of.at, node: of.node}
	if of.Kind == RowCall {
		r.depth = of.depth + 1
	}
	if of.rails != railsNone {
		r.rails = railsBelow
	}
	o.add(r)
	if !f.showsCalls(s.Step.Index) {
		return
	}
	r.Kind = RowCall
	o.Rows = slices.Grow(o.Rows, len(inner))
	for _, c := range inner {
		r.Key, r.Step = c.Step.Index, c
		o.add(r)
		o.addCalls(r, f)
	}
}

// chatOutline returns an outline of the model's calls in the chat, where there
// is no plan to show.
func chatOutline(chat *agent.Loop) *outline {
	o := &outline{width: 1}
	for _, c := range chat.Calls {
		o.add(Row{Kind: RowCall, Key: c.Step.Index, Step: c})
	}
	o.finish()
	return o
}

// row returns a row. That of a step that changes is brought up to date: collapsed calls show
// the newest one. Collapsed items show one that is under way, otherwise their step.
func (o *outline) row(i int) *Row {
	r := &o.Rows[i]
	if r.Kind != RowCalls {
		return r
	}
	r.Step = wording.Newest(wording.Inner(r.owner))
	if r.owner.Items != nil && (r.Step == nil || r.Step.Status == agent.StepPending || r.Step.Status.Ended() && r.Step.Status != agent.StepInDoubt) {
		r.Step = r.owner
	}
	return r
}

// countCalls returns the number of calls and items that may need rows.
func countCalls(run *agent.Run) int {
	n := 0
	if run.Chat != nil {
		n = len(run.Chat.Calls)
	}
	for _, s := range run.Steps {
		n += len(wording.Inner(s))
		if s.Step.Executor == plan.ExecutorAgent {
			for _, item := range s.Items {
				n += len(wording.Inner(item))
			}
		}
	}
	return n
}

func doneOf(steps []*agent.StepState) int {
	n := 0
	for _, s := range steps {
		if s.Status == agent.StepCompleted && wording.FailureOf(s) == "" {
			n++
		}
	}
	return n
}
