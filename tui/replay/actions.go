package replay

import (
	tea "charm.land/bubbletea/v2"

	"replan/tui/keymap"
)

// Actions returns the actions that control p, which is nil on a screen that is
// not played on.
func Actions(p *Player, keys *keymap.Map) keymap.Handlers {
	handle := func(do func() tea.Cmd) keymap.Handler {
		h := keymap.Handler{When: func() bool { return p != nil }, Do: keymap.Command(do)}
		if p == nil {
			h.Refuse = func() string {
				return "No replay is active: " + keys.Name("runs.play") + " in the list of runs plays one."
			}
		}
		return h
	}
	return keymap.Handlers{
		"replay.pause":       handle(func() tea.Cmd { return p.Toggle() }),
		"replay.faster":      handle(func() tea.Cmd { return p.Faster(1) }),
		"replay.slower":      handle(func() tea.Cmd { return p.Faster(-1) }),
		"replay.forth":       handle(func() tea.Cmd { return p.Seek(p.Moment(true)) }),
		"replay.back":        handle(func() tea.Cmd { return p.Seek(p.Moment(false)) }),
		"replay.event_forth": handle(func() tea.Cmd { return p.Seek(p.At + 1) }),
		"replay.event_back":  handle(func() tea.Cmd { return p.Seek(p.At - 1) }),
		"replay.start":       handle(func() tea.Cmd { return p.Seek(0) }),
		"replay.end":         handle(func() tea.Cmd { return p.Seek(len(p.Events)) }),
	}
}

// Refusals returns the handlers that a replay has in place of those that send
// something to the session, and of those that quit.
func Refusals() keymap.Handlers {
	refuse := func(why string) keymap.Handler {
		why = "This is a replay: " + why
		return keymap.Handler{Refuse: func() string { return why }, Do: keymap.Just(func() {})}
	}
	noModel := refuse("it uses no model.")
	quit := keymap.Handler{Do: keymap.Command(func() tea.Cmd { return tea.Quit })}
	return keymap.Handlers{
		"gate":        refuse("gates were answered in the recorded run, as the chat shows."),
		"runs":        refuse("no run can be resumed here."),
		"review.next": refuse("it makes no plans."),
		"models":      noModel,
		"look":        noModel,
		"servers":     refuse("no server is started here."),
		"settings":    refuse("nothing is set here."),
		"chat.export": refuse("nothing is written; /export in a chat does that."),
		"plan.cancel": refuse("nothing can be canceled."),
		"plan.undo":   refuse("nothing can be undone here."),
		"quit":        quit,
		"replay.quit": quit,
	}
}
