package agent

import (
	"slices"

	"replan/agent/event"
	"replan/planning/plan"
)

// Ledger is what a run has done.
type Ledger struct {
	History  []plan.HistoryItem
	Attempts []Attempt // of all steps, in the order in which they began
	Notes    []event.Note
	Warnings []string // of budgets and guards, as text
}

// grow makes room for the steps of a plan.
func (l *Ledger) grow(steps int) {
	l.History = slices.Grow(l.History, steps)
	l.Attempts = slices.Grow(l.Attempts, steps)
}

// attempt returns an attempt by its position. The pointer is valid until the next one begins.
func (l *Ledger) attempt(at int) *Attempt { return &l.Attempts[at] }

// attemptOf returns the newest attempt of a step with a number, nil for none.
func (l *Ledger) attemptOf(step string, number int) *Attempt {
	for i := len(l.Attempts) - 1; i >= 0; i-- {
		if a := &l.Attempts[i]; a.Step == step && a.Number == number {
			return a
		}
	}
	return nil
}

// amend changes the newest item of the history about an attempt of a step, if there is one.
func (l *Ledger) amend(step string, attempt int, change func(*plan.HistoryItem)) {
	for i := len(l.History) - 1; i >= 0; i-- {
		if item := &l.History[i]; item.Index == step && item.Attempt == attempt {
			change(item)
			return
		}
	}
}

// restart begins the history of a plan, and returns that of its drafts.
func (l *Ledger) restart() (early []plan.HistoryItem) {
	early, l.History = l.History, nil
	return early
}

// begun adds an attempt, and returns its place.
func (l *Ledger) begun(a Attempt) (at int) {
	l.Attempts = append(l.Attempts, a)
	return len(l.Attempts) - 1
}

// add adds an item to the history.
func (l *Ledger) add(item plan.HistoryItem) { l.History = append(l.History, item) }

// remove removes the item of an attempt that continues.
func (l *Ledger) remove(index string, attempt int) {
	l.History = slices.DeleteFunc(slices.Clone(l.History), func(h plan.HistoryItem) bool { return h.Index == index && h.Attempt == attempt })
}

// history returns what was done.
func (l *Ledger) history() []plan.HistoryItem { return l.History }

// notes returns the notes to the user.
func (l *Ledger) notes() []event.Note { return l.Notes }

// note adds a note.
func (l *Ledger) note(d event.Note) { l.Notes = append(l.Notes, d) }

// warning adds a warning.
func (l *Ledger) warning(text string) { l.Warnings = append(l.Warnings, text) }
