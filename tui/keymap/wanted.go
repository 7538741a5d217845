package keymap

import (
	tea "charm.land/bubbletea/v2"

	"replan/agent/runner"
)

// Wanted is what a pane requests from the root. The zero value requests nothing.
type Wanted struct {
	Send []runner.Command // to the session
	Ask  Query            // to the session
	Do   *Action          // at its own place
	At   Place
	Cmd  tea.Cmd
	Gate bool    // show the open gate or question
	Step string  // show this step of the run in the plan pane
	Told string  // as a notice
	Say  string  // in the footer, until the next key
	Play *Recall // replay a run once its events arrive
}

// Sending returns a request to send commands to the session.
func Sending(c ...runner.Command) Wanted { return Wanted{Send: c} }

// Saying returns a request to show a message about the last key in the footer.
func Saying(word string) Wanted { return Wanted{Say: word} }

// Recall is a run to be shown once its events arrive.
type Recall struct {
	Run   string
	AtEnd bool
}
