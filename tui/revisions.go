package tui

import "replan/tui/draw"

// noRevisions returns why there are no revisions to browse.
func (m *Model) noRevisions() string {
	if m.shown.run == nil || m.shown.run.Revision == 0 {
		return "There is no plan yet whose revisions could be looked at."
	}
	return ""
}

// openRevisions opens the dialog at the current plan, or at the revision chosen
// in the plan.
func (m *Model) openRevisions() {
	d := m.revisions
	d.Open, d.Top, d.At = true, draw.SheetSpot{}, len(m.shown.run.Revisions)
	if r := m.dag.Chosen(); r != nil && r.Revision != nil {
		d.At = r.Revision.Number - 1
	}
}
