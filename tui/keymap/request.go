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

// Requests to the session and the program.
type (
	// Answered says that the commands of the same requests answer an open gate or question.
	Answered struct{}
	// PreviewUndo shows what an undo of this run would change, or a redo; without an id, of the
	// newest that changed files, or that was undone last.
	PreviewUndo struct {
		Run  agent.Summary
		Redo bool
	}
	// Continue leaves this conversation for the session with this id.
	Continue string
	// Quit leaves the program. It asks first during a run.
	Quit struct{}
	// Copy copies the text to the clipboard.
	Copy struct {
		What string // as the notice names it
		Text string
	}
)

// Requests to other panes.
type (
	// DoAction does the action with this id at its own place.
	DoAction string
	// Focus gives the keys to the pane of this place; PlaceEverywhere changes nothing.
	Focus Place
	// ShowGate shows the open gate or question.
	ShowGate struct{}
	// LookAround hides the open gate or question, which stays open.
	LookAround struct{}
	// LookBack shows it again, unless something is typed.
	LookBack struct{}
	// ReopenFailure asks how to go on from this failed step of the ended run in the plan pane.
	ReopenFailure struct{ Step *agent.StepState }
	// ShowStep shows the step with this index in the plan pane.
	ShowStep string
	// ShowCited shows the step with this index of a run, or says that the plan pane shows
	// another run.
	ShowCited struct{ Run, Step string }
	// ScrollToEnd scrolls the chat to its newest line.
	ScrollToEnd struct{}
	// Recall shows a run once its events arrive.
	Recall struct {
		Run   string
		AtEnd bool // instead of playing it
	}
)

// Requests to the screen around the panes.
type (
	// Footer shows the words in the footer until the next key.
	Footer string
	// FooterUntilEvent shows the words in the footer until the next key or event.
	FooterUntilEvent string
	// ShowTheme shows the screen in this theme.
	ShowTheme themes.Name
	// Clicked says that a click ran an action, and selects no text.
	Clicked struct{}
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
