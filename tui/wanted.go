package tui

import (
	tea "charm.land/bubbletea/v2"

	"replan/agent/runner"
)

// wanted is what a pane asks of the root; its zero value is nothing.
type wanted struct {
	send []runner.Command // to the session
	ask  query            // of the session
	do   *action          // of the place at
	at   place
	cmd  tea.Cmd
	gate bool    // the open gate or question is to be shown
	step string  // of the run in the plan pane, to be shown
	told string  // in a notice
	say  string  // in the footer, until the next key
	play *recall // a run to be shown again, once its events are here
}

// sending sends commands to the session.
func sending(c ...runner.Command) wanted { return wanted{send: c} }

// saying puts a word about the last key into the footer.
func saying(word string) wanted { return wanted{say: word} }

// recall is a run that is to be shown, once its events are here.
type recall struct {
	run   string
	atEnd bool
}
