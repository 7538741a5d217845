package keymap

import (
	tea "charm.land/bubbletea/v2"

	"replan/agent/runner"
)

// Wanted is what a pane asks of the root; its zero value is nothing.
type Wanted struct {
	Send []runner.Command // to the session
	Ask  Query            // of the session
	Do   *Action          // of the place at
	At   Place
	Cmd  tea.Cmd
	Gate bool    // the open gate or question is to be shown
	Step string  // of the run in the plan pane, to be shown
	Told string  // in a notice
	Say  string  // in the footer, until the next key
	Play *Recall // a run to be shown again, once its events are here
}

// Sending sends commands to the session.
func Sending(c ...runner.Command) Wanted { return Wanted{Send: c} }

// Saying puts a word about the last key into the footer.
func Saying(word string) Wanted { return Wanted{Say: word} }

// Recall is a run that is to be shown, once its events are here.
type Recall struct {
	Run   string
	AtEnd bool
}
