package tui

import (
	tea "charm.land/bubbletea/v2"

	"replan/tui/keymap"
)

// replayCommands returns replacements for session actions in a replay. They
// refuse requests to the session.
func (m *Model) replayCommands() keymap.Handlers {
	no := func(why string) keymap.Handler {
		return keymap.Handler{Refuse: func() string { return "This is a replay: " + why }, Do: keymap.Just(func() {})}
	}
	noText := keymap.Handler{Refuse: m.nothingSent, Do: keymap.Just(func() {})}
	notTyped := noText
	notTyped.When = func() bool { return false }
	quit := keymap.Handler{Do: keymap.Command(func() tea.Cmd { return tea.Quit })}
	noModel := no("no model is asked here.")
	return keymap.Handlers{
		"gate":        no("what was asked was answered then, as the chat says."),
		"runs":        no("no run is taken up from here."),
		"review.next": no("no plan is made here."),
		"models":      noModel,
		"look":        noModel,
		"servers":     no("no server is started here."),
		"settings":    no("nothing is set here."),
		"chat.export": no("nothing is written; /export in a chat does that."),
		"plan.cancel": no("nothing runs that could be cancelled."),
		"plan.undo":   no("nothing is put back from here."),

		"chat.send": noText, "chat.history": noText, "chat.editor": noText, "run.steer": noText,
		"chat.new_line": notTyped, "chat.before": notTyped, "chat.after": notTyped,

		"run.stop": {Refuse: m.nothingToLeave, Do: keymap.Just(m.leadBack)},
		"quit":     quit, "replay.quit": quit,
	}
}

// nothingToLeave returns why a replay has no pane to lead back from.
func (m *Model) nothingToLeave() string {
	if m.focus != paneChat {
		return ""
	}
	return "This is a replay: nothing runs that could be stopped; " + m.keys.Name("replay.quit") + " quits."
}

// nothingSent returns why a replay takes no text.
func (m *Model) nothingSent() string {
	return "This is a replay: nothing can be sent; " + m.keys.Name("replay.quit") + " quits."
}
