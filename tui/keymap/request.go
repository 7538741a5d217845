package keymap

import (
	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/agent/session"
	"replan/themes"
)

// Request is what a pane requests from the root. The zero value requests nothing.
type Request struct {
	// From the session and the program.
	Send     []session.Command // to the session
	Answer   bool              // Send answers an open gate or question
	Ask      Query             // to the session
	Undo     *agent.Summary    // show what an undo of this run would change; without an id, of the newest that changed files
	Continue string            // leave this conversation for another session
	Quit     bool              // leave the program; asks first during a run
	Copy     *Copied           // to the clipboard
	Cmd      tea.Cmd

	// From other panes.
	Action        string           // do the action with this id at its own place
	Focus         Place            // of the pane that takes the keys from now on; PlaceEverywhere changes nothing
	Gate          bool             // show the open gate or question
	ReopenFailure *agent.StepState // ask how to go on from this failed step of the ended run in the plan pane
	Step          string           // show this step of the run in the plan pane
	ScrollToEnd   bool             // scroll the chat to its newest line
	Play          *Recall          // replay a run once its events arrive

	// From the screen around the panes.
	Notice           string      // as a notice
	Footer           string      // in the footer, until the next key
	FooterUntilEvent string      // in the footer, until the next key or event
	Theme            themes.Name // show the screen in this theme
	ActionClicked    bool        // the click ran an action
}

// Copied is text for the clipboard.
type Copied struct {
	What string // as the notice names it
	Text string
}

// SendCommands returns a request to send commands to the session.
func SendCommands(c ...session.Command) Request { return Request{Send: c} }

// ShowFooter returns a request to show a message about the last key in the footer.
func ShowFooter(word string) Request { return Request{Footer: word} }

// Recall is a run to be shown once its events arrive.
type Recall struct {
	Run   string
	AtEnd bool
}
