package keymap

import (
	"replan/agent"
	"replan/agent/session"
	"replan/themes"
)

// Request is one thing that a pane requests from the root. A session.Command is sent to
// the session, a [Query] asks it, and a tea.Cmd is run; the other kinds are the types below.
// Each kind is a case in the root's route. An empty request requests nothing.
type Request any

// Requests are what a pane requests from the root, which carries them out in order. Those
// that only change what is shown come first.
type Requests []Request

// What is requested from the session and the program.
type (
	Answered    struct{}                    // the commands of the same requests answer an open gate or question
	PreviewUndo struct{ Run agent.Summary } // show what an undo of this run would change; without an id, of the newest that changed files
	Continue    string                      // leave this conversation for the session with this id
	Quit        struct{}                    // leave the program; asks first during a run
	Copy        struct {                    // copy the text to the clipboard
		What string // as the notice names it
		Text string
	}
)

// What is requested from other panes.
type (
	DoAction      string                          // do the action with this id at its own place
	Focus         Place                           // give the keys to the pane of this place; PlaceEverywhere changes nothing
	ShowGate      struct{}                        // show the open gate or question
	ReopenFailure struct{ Step *agent.StepState } // ask how to go on from this failed step of the ended run in the plan pane
	ShowStep      string                          // show the step with this index in the plan pane
	ScrollToEnd   struct{}                        // scroll the chat to its newest line
	Recall        struct {                        // show a run once its events arrive
		Run   string
		AtEnd bool // instead of playing it
	}
)

// What is requested from the screen around the panes.
type (
	Footer           string      // show the words in the footer until the next key
	FooterUntilEvent string      // show the words in the footer until the next key or event
	ShowTheme        themes.Name // show the screen in this theme
	Clicked          struct{}    // a click ran an action, and selects no text
)

// SendCommands returns the requests to send commands to the session.
func SendCommands(commands ...session.Command) Requests {
	var rs Requests
	for _, c := range commands {
		rs = append(rs, c)
	}
	return rs
}

// ShowFooter returns the request to show a message about the last key in the footer.
func ShowFooter(words string) Requests { return Requests{Footer(words)} }

// Of returns the requests of one kind, in order.
func Of[T any](rs Requests) []T {
	var all []T
	for _, r := range rs {
		if of, ok := r.(T); ok {
			all = append(all, of)
		}
	}
	return all
}

// First returns the first request of a kind, or its zero value if there is none.
func First[T any](rs Requests) T {
	var none T
	return append(Of[T](rs), none)[0]
}

// Has reports whether there is a request of a kind.
func Has[T any](rs Requests) bool { return len(Of[T](rs)) > 0 }
