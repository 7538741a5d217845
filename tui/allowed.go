package tui

import "replan/tui/dialog"

// showAllowed opens the dialog for the run in the plan pane.
func (m *Model) showAllowed() {
	*m.allowed = dialog.Allowed{Look: m.look, Keys: m.keys, Run: m.shown.run, Open: true}
}

// noRun is why nothing can be shown of a run.
func (m *Model) noRun() string {
	if m.shown.run == nil {
		return "There is no run yet."
	}
	return ""
}
