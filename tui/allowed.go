package tui

import "replan/tui/dialog"

// showAllowed opens the dialog about gated, passed and blocked calls for the
// run in the plan pane.
func (m *Model) showAllowed() {
	*m.allowed = dialog.Allowed{Look: m.look, Keys: m.keys, Run: m.shown.run, Open: true}
}

// noRun returns why there is no run to show.
func (m *Model) noRun() string {
	if m.shown.run == nil {
		return "There is no run yet."
	}
	return ""
}
