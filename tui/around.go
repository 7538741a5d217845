package tui

import (
	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/agent/session"
)

// around is what the screen keeps of what stands around runs: the notices, and
// what is known of the servers.
type around struct {
	toasts  toasts          // short notices
	lost    map[string]bool // servers that were there, or were to be
	quiet   bool            // what is told happened before: nothing of it is worth a notice
	looking bool            // the session looks anew for a model

	player  *player // plays a run in place of this screen; nil where none is played
	control *player // that plays on this screen; nil where none does
	frozen  bool    // nothing moves, since it rests
	again   recall  // what is to be shown again
	due     tea.Cmd // what an event has left to be done; nil for nothing

	settings *settingsDialog
	servers  *serversDialog
	stale    bool // what the servers offer is to be asked for again
}

// begin makes the parts.
func (a *around) begin(m *Model) {
	a.lost = map[string]bool{}
	m.chat.welcome = m.welcome
	m.runs.goOn, m.runs.busy = m.options.GoOn, m.running
	m.runs.wants = func(r recall) { m.again = r }
	a.settings = &settingsDialog{look: m.look, keys: &m.keys, live: m.liveSetting, turn: m.turnSetting, path: m.shortPath, find: m.actionOf, copy: m.copyText}
	a.servers = &serversDialog{look: m.look, keys: &m.keys}
}

// aroundActions are its actions, which work in every pane.
func (m *Model) aroundActions(live func(word string) func() string) []action {
	k := &m.keys
	return []action{
		{id: "look", key: &k.Look, refuse: live("This is a replay: no model is asked here."), do: m.lookAgain},
		{id: "servers", key: &k.Servers, opens: true, refuse: live("This is a replay: no server is started here."), do: m.openServers},
		{id: "settings", key: &k.Settings, opens: true, refuse: live("This is a replay: nothing is set here."), do: m.openSettings},
	}
}

// dialogs are its dialogs, the uppermost first.
func (a *around) dialogs() []overlay { return []overlay{a.servers, a.settings} }

// takeShown gives a dialog what it asked for; it reports what is to be asked
// besides, nil for nothing.
func (m *Model) takeShown(data agent.Data) {
	switch d := data.(type) {
	case session.Servers:
		m.servers.take(d)
	case session.Settings:
		m.settings.take(d)
	case session.Conversations:
		m.runs.takeTalks(d.Talks)
	case session.Journal:
		m.recalled(d)
	}
}

// retheme draws the dialogs anew.
func (a *around) retheme() { a.servers.doc = nil }
