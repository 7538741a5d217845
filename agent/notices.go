package agent

import (
	"slices"

	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning/prompt"
)

// notices are records that follow from the state of a run alone.
type notices struct {
	terms       termsView
	planning    planningView
	board       boardView
	ledger      ledgerView
	uncommitted uncommittedView
	guards      *guards
}

// nextRecords returns records that follow from the state alone: skipped phases
// and budgets that run low.
func (r *notices) nextRecords() []Action {
	var out []Action
	for _, s := range r.planning.unreportedSkips() {
		if s.Phase > 0 && r.board.revision() == 0 {
			out = append(out, Action{Record: event.PhaseSkipped{Phase: s.Phase, Label: string(prompt.Phases[s.Phase-1]), Reason: untrusted.Text(s.Reason)}})
		}
	}
	out = append(out, r.nextDirty()...)
	return append(out, r.guards.lowBudgets()...)
}

// nextDirty says, once, that the folder held changes before the run makes its
// own.
func (r *notices) nextDirty() []Action {
	text := r.uncommitted.warning()
	if text == "" || r.terms.DryRun() || r.terms.PlanOnly() || slices.ContainsFunc(r.ledger.notes(), func(n event.Note) bool { return string(n.Text) == text }) {
		return nil
	}
	return []Action{{Record: event.Note{Level: "warn", Text: untrusted.Text(text)}}}
}
