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
