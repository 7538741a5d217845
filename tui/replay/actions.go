package replay

import (
	tea "charm.land/bubbletea/v2"

	"replan/tui/keymap"
)

// controls are the player that the actions control, nil on a screen that is not played on.
type controls struct {
	player *Player
	keys   *keymap.Map
}

// actions are the actions that control the player.
func actions() keymap.Table[controls] {
	t := keymap.Table[controls]{
		{ID: "replay.pause", Keys: "space", Does: "pause or continue", Do: command((*Player).Toggle)},
		{ID: "replay.faster", Keys: "+ = >", Does: "play faster", Do: command(func(p *Player) tea.Cmd { return p.Faster(1) })},
		{ID: "replay.slower", Keys: "- <", Does: "play slower", Do: command(func(p *Player) tea.Cmd { return p.Faster(-1) })},
		{ID: "replay.forth", Keys: "right", Does: "next moment", KeyOnly: true, Do: command(func(p *Player) tea.Cmd { return p.Seek(p.Moment(true)) })},
		{ID: "replay.back", Keys: "left", Does: "previous moment", KeyOnly: true, Do: command(func(p *Player) tea.Cmd { return p.Seek(p.Moment(false)) })},
		{ID: "replay.event_forth", Keys: ".", Does: "next event", KeyOnly: true, Do: command(func(p *Player) tea.Cmd { return p.Seek(p.At + 1) })},
		{ID: "replay.event_back", Keys: ",", Does: "previous event", KeyOnly: true, Do: command(func(p *Player) tea.Cmd { return p.Seek(p.At - 1) })},
		{ID: "replay.start", Keys: "0", Does: "start", KeyOnly: true, Do: command(func(p *Player) tea.Cmd { return p.Seek(0) })},
		{ID: "replay.end", Keys: "end $", Does: "end", KeyOnly: true, Do: command(func(p *Player) tea.Cmd { return p.Seek(len(p.Events)) })},
	}
	for i := range t {
		t[i].When, t[i].Refuse = controls.plays, controls.noReplay
	}
	return t
}

// Lines returns the keys and words of the actions that control a player.
func Lines() keymap.Lines { return actions().Lines() }

// Actions returns the actions that control p, which is nil on a screen that is
// not played on.
func Actions(p *Player, keys *keymap.Map) keymap.Handlers { return actions().For(controls{p, keys}) }

// command makes an action of a method of the player.
func command(f func(*Player) tea.Cmd) func(controls) keymap.Requests {
	return keymap.Runs(func(c controls) tea.Cmd { return f(c.player) })
}

func (c controls) plays() bool { return c.player != nil }

// noReplay returns why nothing can be controlled.
func (c controls) noReplay() string {
	if c.plays() {
		return ""
	}
	return "No replay is active: " + c.keys.Name("runs.play") + " in the list of runs plays one."
}

// Refusals returns the handlers that a replay has in place of those that send
// something to the session, and of the question before the end.
func Refusals() keymap.Handlers {
	return refusals().For(controls{})
}

// refusals are the actions that a replay has in place of those of a session.
func refusals() keymap.Table[controls] {
	return keymap.Table[controls]{
		refused("gate", "gates were answered in the recorded run, as the chat shows."),
		refused("runs", "no run can be resumed here."),
		refused("review.next", "it makes no plans."),
		refused("models", "it uses no model."),
		refused("look", "it uses no model."),
		refused("servers", "no server is started here."),
		refused("settings", "nothing is set here."),
		refused("chat.export", "nothing is written; /export in a chat does that."),
		refused("plan.cancel", "nothing can be canceled."),
		refused("plan.undo", "nothing can be undone here."),
		refused("plan.redo", "nothing can be redone here."),
		{ID: "quit", Do: keymap.Runs(func(controls) tea.Cmd { return tea.Quit })},
	}
}

// refused is the row of an action that a replay never does.
func refused(id, why string) keymap.Row[controls] {
	return keymap.Row[controls]{ID: id, Refuse: func(controls) string { return "This is a replay: " + why }}
}
