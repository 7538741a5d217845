package tui

import (
	tea "charm.land/bubbletea/v2"

	"replan/agent/runner"
)

// wanted is what a dialog wants done because of a key; its zero value is nothing.
type wanted struct {
	send runner.Command // to the session
	ask  query          // of the session
	do   *action        // of the place at
	at   place
	cmd  tea.Cmd
	gate bool   // the open gate or question is to be shown
	told string // in a notice
}
